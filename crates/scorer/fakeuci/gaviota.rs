//! The prompt of Gaviota 1.0, which may not be handed on, to the letter.
//!
//! Five lines and an empty one to begin with, and a complaint about its book. `setboard` says
//! nothing when all is well; when it is not, it says so twice, and the next `score` is that of the
//! position before. There is no prompt to see.

use std::io::{self, BufRead};

use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen};

use super::{UNBEARABLE, say};

pub(super) fn run(record: impl Fn(&str)) {
    for line in [
        "",
        "# Gaviota v1.0",
        "# Copyright (c) 2000-2015 Miguel A. Ballicora",
        "# There is NO WARRANTY of any kind",
        "# Type 'help' for a list of useful commands",
        "",
        "tellusererror Opening book file missing: book.bin",
    ] {
        say(line);
    }
    let mut position = Chess::default();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        record(&line);
        match line.split_once(' ') {
            Some(("setboard", fen)) => match read(fen) {
                Some(read) => position = read,
                None => {
                    say(&format!("Error (wrong FEN or EPD): {fen}"));
                    say("tellusererror Error (wrong FEN or EPD)");
                }
            },
            _ if line == "score" => {
                let score = value(&position);
                say(&format!("===> {:.2} ({score})", f64::from(score) / 256.0));
            }
            _ if line == "quit" => return,
            _ => say(&format!("Error (unknown command): {line}")),
        }
    }
}

/// One position is as good as wrong, for the tests.
fn read(fen: &str) -> Option<Chess> {
    let read: Fen = fen.parse().ok().filter(|_| !fen.starts_with(UNBEARABLE))?;
    read.into_position(CastlingMode::Standard).ok()
}

/// In 1/256 pawn, for the side to move: a queen for each piece more, and 27.
fn value(position: &Chess) -> i32 {
    if position.is_checkmate() {
        return -32_100;
    }
    let board = position.board();
    let balance = board.white().count() as i32 - board.black().count() as i32;
    27 + 3165 * if position.turn() == Color::White { balance } else { -balance }
}
