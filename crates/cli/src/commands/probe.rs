//! `tabiya probe BOOK`

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use shakmaty::{Chess, san::SanPlus};
use tabiya_book::BookMove;
use tabiya_model::{PositionKey, uci};

use super::book;
use crate::{DONE, args::Probe, output::table, position::position};

#[derive(Serialize)]
struct Answer {
    key: String,
    moves: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    uci: String,
    san: String,
    weight: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    learn: Option<u32>,
}

/// Prints the moves the book has for the position, best first.
pub(crate) fn run(args: &Probe) -> Result<u8> {
    let position = position(args.fen.as_deref(), args.moves.as_deref())?;
    let book = tabiya_book::open(&args.book)?;
    book::warn_of_damage(&*book, &args.book);
    let moves = book.moves(&position)?;
    let dropped = book.dropped();
    if dropped > 0 {
        eprintln!("warning: {dropped} of the position's entries are no legal moves: left out");
    }
    let answer = Answer {
        key: PositionKey::of(&position).to_string(),
        moves: moves.iter().map(|entry| row(&position, entry)).collect(),
    };
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
    } else if answer.moves.is_empty() {
        eprintln!("position {} is not in the book", answer.key);
    } else {
        print(&mut out, &answer.moves)?;
    }
    Ok(DONE)
}

fn row(position: &Chess, entry: &BookMove) -> Row {
    Row {
        uci: uci(entry.m),
        san: SanPlus::from_move(position.clone(), entry.m).to_string(),
        weight: entry.weight,
        rank: entry.rank,
        learn: entry.learn,
    }
}

fn print(out: &mut dyn Write, moves: &[Row]) -> io::Result<()> {
    let total: u64 = moves.iter().map(|row| u64::from(row.weight)).sum();
    let share = |weight: u32| match total {
        0 => "-".to_owned(),
        total => format!("{:.1}%", 100.0 * f64::from(weight) / total as f64),
    };
    let rows: Vec<[String; 4]> = moves
        .iter()
        .map(|row| [row.san.clone(), row.uci.clone(), row.weight.to_string(), share(row.weight)])
        .collect();
    table(out, 2, ["move", "uci", "weight", "share"], &rows)
}
