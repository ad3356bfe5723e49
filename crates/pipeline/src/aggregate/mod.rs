//! What counts as one: lines to the tally of every move of every position.
//!
//! ```text
//! fits:          lines ─► table ─► sorted entries ─► books
//! does not fit:  lines ─► table ─► sorted run ┐
//!                         table ─► sorted run ┼► merge ─► books
//!                         table ─► sorted     ┘
//! ```
//!
//! A move counts once a game, however often the game comes back to the position.

mod run;
mod sorted;
mod table;

use std::path::PathBuf;

use shakmaty::Color;
use tabiya_model::{Entry, PackedMove, PositionKey, Tally};
use tokio::sync::mpsc;

pub(crate) use sorted::Sorted;

use crate::{
    Error,
    config::{Aggregate, Sides},
    threshold::{Credit, Kept},
};
use table::Table;

/// Runs on disk before they are merged into one: bounds the open files and their buffers.
const RUNS: usize = 64;

/// Counts the moves of the lines. Blocks; for a thread of its own. `spill` is an empty folder.
pub(crate) fn run(
    section: &Aggregate,
    spill: PathBuf,
    mut rx: mpsc::Receiver<Vec<Kept>>,
) -> Result<Sorted, Error> {
    let mut table = Table::new(section.memory.to_usize());
    let mut sorted = Sorted::new(spill);
    let mut game = Vec::new();
    while let Some(lines) = rx.blocking_recv() {
        for kept in &lines {
            moves(kept, section.sides, &mut game);
            for entry in &game {
                if table.is_full() {
                    table.drain_sorted(|entries| sorted.spill(entries, RUNS))?;
                }
                table.add(entry);
            }
        }
    }
    sorted.finish(table.into_sorted());
    Ok(sorted)
}

/// The moves that a line brings into the book, each once.
fn moves(kept: &Kept, sides: Sides, game: &mut Vec<Entry>) {
    game.clear();
    let counts = |by: Color| match (sides, kept.credit) {
        (Sides::Both, _) | (Sides::Winner, Credit::Both) => true,
        (Sides::Winner, Credit::One(winner)) => by == winner,
    };
    kept.line.replay(|ply| {
        let known = |entry: &Entry| entry.key == ply.key && entry.mv == ply.mv;
        if counts(ply.by) && !game.iter().any(known) {
            let score = kept.score.map(|score| ply.by.fold_wb(score, -score));
            let tally = Tally::one(kept.line.outcome, ply.by, score);
            game.push(Entry { key: ply.key, mv: ply.mv, tally });
        }
    });
}

/// The order of entries in every book.
fn order(entry: &Entry) -> (PositionKey, PackedMove) {
    (entry.key, entry.mv)
}
