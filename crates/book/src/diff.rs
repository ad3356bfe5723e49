//! What one book has and another has not, along play from the start of the game.

use std::collections::{HashSet, VecDeque};

use serde::Serialize;
use shakmaty::{Chess, Move, san::SanPlus};
use tabiya_model::{PositionKey, uci};

use crate::{BookMove, Choice, Entries, sob_ranks, walk::play};

/// A move that is not the same in both books.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The shortest line of either book to the position, in SAN without numbers.
    pub line: Vec<String>,
    /// The position.
    #[serde(serialize_with = "as_text")]
    pub key: PositionKey,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI.
    pub uci: String,
    /// Its weight in the first book; `None`: it is new.
    pub before: Option<u32>,
    /// Its weight in the second book; `None`: it is gone.
    pub after: Option<u32>,
}

fn as_text<S: serde::Serializer>(key: &PositionKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

/// The differences of two books.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// All of them, the nearest to the start of the game first.
    pub changes: Vec<Change>,
    /// Positions that were compared.
    pub positions: u64,
    /// Moves that are the same.
    pub same: u64,
    /// Entries of either book in no line of the two: not compared.
    pub unreached: [u64; 2],
}

/// Compares two books in all positions that the moves of both together lead to.
///
/// If `by_order`, weights count as the same if they rank the moves of a position in the same way:
/// for books of two formats, whose weights say different things.
pub fn diff(before: &Entries, after: &Entries, by_order: bool) -> Diff {
    let mut diff = Diff::default();
    let mut reached = [0_u64; 2];
    let mut seen = HashSet::from([PositionKey::of(&Chess::default())]);
    let mut waiting = VecDeque::from([(Chess::default(), Vec::new())]);
    while let Some((position, line)) = waiting.pop_front() {
        let sides = [before, after].map(|book| {
            let mut moves = Vec::new();
            book.probe(&position, &mut moves);
            moves
        });
        for (count, moves) in reached.iter_mut().zip(&sides) {
            *count += moves.len() as u64;
        }
        let [old, new] = &sides;
        if old.is_empty() && new.is_empty() {
            continue;
        }
        diff.positions += 1;
        diff.compare(&position, &line, [old, new], by_order);
        let added = new.iter().filter(|found| weight(old, found.m).is_none());
        for found in old.iter().chain(added) {
            let next = play(&position, found.m);
            if seen.insert(PositionKey::of(&next)) {
                let mut line = line.clone();
                line.push(SanPlus::from_move(position.clone(), found.m).to_string());
                waiting.push_back((next, line));
            }
        }
    }
    let all = [before, after].map(|book| book.items().len() as u64);
    diff.unreached = [0, 1].map(|book: usize| {
        let of = |counts: [u64; 2]| counts.get(book).copied().unwrap_or_default();
        of(all).saturating_sub(of(reached))
    });
    diff
}

impl Diff {
    fn compare(
        &mut self,
        position: &Chess,
        line: &[String],
        [old, new]: [&[BookMove]; 2],
        by_order: bool,
    ) {
        let [old_ranks, new_ranks] = [old, new].map(ranks);
        let rank = |ranks: &[(Move, u8)], m| {
            ranks.iter().find(|&&(known, _)| known == m).map(|&(_, rank)| rank)
        };
        let added = new.iter().filter(|found| weight(old, found.m).is_none());
        for m in old.iter().chain(added).map(|found| found.m) {
            let (before, after) = (weight(old, m), weight(new, m));
            let same = match by_order {
                true => rank(&old_ranks, m) == rank(&new_ranks, m),
                false => before == after,
            };
            if same {
                self.same += 1;
                continue;
            }
            self.changes.push(Change {
                line: line.to_vec(),
                key: PositionKey::of(position),
                san: SanPlus::from_move(position.clone(), m).to_string(),
                uci: uci(m),
                before,
                after,
            });
        }
    }
}

fn weight(moves: &[BookMove], m: Move) -> Option<u32> {
    moves.iter().find(|found| found.m == m).map(|found| found.weight)
}

/// The moves as a `.sob` would rank them, whatever their weights mean.
fn ranks(moves: &[BookMove]) -> Vec<(Move, u8)> {
    let choice = |found: &BookMove| Choice {
        mv: tabiya_model::PackedMove::new(found.m),
        value: found.weight.into(),
        tally: tabiya_model::Tally::default(),
    };
    let ranks = sob_ranks(&moves.iter().map(choice).collect::<Vec<_>>());
    moves.iter().map(|found| found.m).zip(ranks).collect()
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;
    use tabiya_model::PackedMove;

    use super::*;
    use crate::Item;

    fn book(moves: &[(&str, u32)]) -> Entries {
        let item = |&(line, weight): &(&str, u32)| {
            let mut position = Chess::default();
            let mut last = None;
            for m in line.split(' ') {
                let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
                let item = Item::new(PositionKey::of(&position), PackedMove::new(m), weight);
                last = Some(item);
                position = play(&position, m);
            }
            last.unwrap()
        };
        Entries::new(moves.iter().map(item).collect())
    }

    #[test]
    fn gained_lost_and_changed_moves_are_told_with_their_lines() {
        let before = book(&[("e2e4", 5), ("d2d4", 3), ("e2e4 e7e5", 1), ("d2d4 d7d5", 1)]);
        let after = book(&[("e2e4", 6), ("c2c4", 3), ("e2e4 e7e5", 1), ("e2e4 c7c5", 2)]);
        let found = diff(&before, &after, false);
        let told: Vec<_> = found
            .changes
            .iter()
            .map(|change| (change.line.join(" "), &*change.san, change.before, change.after))
            .collect();
        let root = String::new();
        assert_eq!(
            told,
            [
                (root.clone(), "e4", Some(5), Some(6)),
                (root.clone(), "d4", Some(3), None),
                (root, "c4", None, Some(3)),
                ("e4".into(), "c5", None, Some(2)),
                ("d4".into(), "d5", Some(1), None),
            ]
        );
        assert_eq!((found.positions, found.same, found.unreached), (3, 1, [0, 0]));
    }

    #[test]
    fn books_of_two_formats_are_compared_by_order() {
        let before = book(&[("e2e4", 65_535), ("d2d4", 70), ("c2c4 c7c5", 1)]);
        let after = book(&[("e2e4", 15), ("d2d4", 1)]);
        let found = diff(&before, &after, true);
        assert_eq!((found.changes.len(), found.same, found.unreached), (0, 2, [1, 0]));
        assert_eq!(diff(&before, &after, false).changes.len(), 2);
    }
}
