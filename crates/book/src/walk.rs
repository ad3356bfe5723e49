//! Which positions a book's keys are, as far as play from the start of the game tells.

use std::collections::HashSet;

use shakmaty::{Chess, Move, Position};
use tabiya_model::PositionKey;

/// Visits every position of the book once that play leads to.
///
/// All moves between two positions of the book are played, whether the book has them or not. Where
/// the book's move leads out of it, so are all replies that lead back: a book for one side has
/// no positions of the other.
pub(crate) fn explore(
    contains: impl Fn(PositionKey) -> bool,
    key_of: impl Fn(&Chess) -> PositionKey,
    mut visit: impl FnMut(&Chess, PositionKey) -> Vec<Move>,
) {
    let mut seen = HashSet::new();
    let mut waiting = Vec::new();
    let start = Chess::default();
    if contains(key_of(&start)) {
        seen.insert(key_of(&start));
        waiting.push(start);
    } else {
        let mut found = between(&start, &contains, &key_of);
        // A book for Black, whose moves begin after any of White's.
        found.retain(|&(_, key)| seen.insert(key));
        waiting.extend(found.into_iter().map(|(position, _)| position));
    }
    while let Some(position) = waiting.pop() {
        let mut found = between(&position, &contains, &key_of);
        for m in visit(&position, key_of(&position)) {
            let after = play(&position, m);
            if !contains(key_of(&after)) {
                found.extend(between(&after, &contains, &key_of));
            }
        }
        found.retain(|&(_, key)| seen.insert(key));
        waiting.extend(found.into_iter().map(|(position, _)| position));
    }
}

/// The positions of the book one move away.
fn between(
    position: &Chess,
    contains: &impl Fn(PositionKey) -> bool,
    key_of: &impl Fn(&Chess) -> PositionKey,
) -> Vec<(Chess, PositionKey)> {
    let after = |m: Move| {
        let after = play(position, m);
        let key = key_of(&after);
        (after, key)
    };
    position.legal_moves().into_iter().map(after).filter(|&(_, key)| contains(key)).collect()
}

pub(crate) fn play(position: &Chess, m: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(m);
    after
}
