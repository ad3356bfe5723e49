//! One book of several.

use std::collections::BTreeMap;

use tabiya_model::PositionKey;

use crate::{Entries, Item};

/// What becomes of the weights of a move that several books have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Their sum.
    Add,
    /// The greatest.
    Max,
    /// That of the first book that has the position; all moves of the position are that book's.
    First,
    /// The mean over the books that have the position, a missing move counting as 0. A move that
    /// any of them plays is never rounded down to 0.
    Average,
}

/// Merges books, each with the factor by which its weights count in sums and means.
///
/// Results of games are added up, whatever the policy but [`Merge::First`]; of the learn field,
/// the priority and the mark the first book's stay. Ranks become weights. A weight beyond 32 bits
/// scales down all of its position by the same factor, so nothing wraps.
pub fn merge(books: &[(&Entries, u32)], policy: Merge) -> Entries {
    let mut keys: Vec<PositionKey> =
        books.iter().flat_map(|(book, _)| book.positions()).filter_map(key_of).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut items = Vec::new();
    for key in keys {
        let groups = books.iter().map(|&(book, factor)| (book.of(key), u64::from(factor)));
        let groups: Vec<(&[Item], u64)> = groups.filter(|(items, _)| !items.is_empty()).collect();
        items.extend(position(&groups, policy));
    }
    Entries::new(items)
}

fn key_of(items: &[Item]) -> Option<PositionKey> {
    items.first().map(|item| item.key)
}

fn position(groups: &[(&[Item], u64)], policy: Merge) -> Vec<Item> {
    if policy == Merge::First {
        let first = groups.first().map_or(&[][..], |&(items, _)| items);
        return first.iter().map(|&item| Item { rank: None, ..item }).collect();
    }
    let mut merged: BTreeMap<u16, (Item, u128)> = BTreeMap::new();
    for &(items, factor) in groups {
        for &item in items {
            let weight = u128::from(item.weight);
            let weight = if policy == Merge::Max { weight } else { weight * u128::from(factor) };
            match merged.get_mut(&item.mv.polyglot()) {
                None => _ = merged.insert(item.mv.polyglot(), (item, weight)),
                Some((known, sum)) => {
                    *sum = if policy == Merge::Max { weight.max(*sum) } else { *sum + weight };
                    known.join(&item);
                }
            }
        }
    }
    if policy == Merge::Average {
        let factors = groups.iter().map(|&(_, factor)| u128::from(factor)).sum::<u128>().max(1);
        for (_, sum) in merged.values_mut().filter(|(_, sum)| *sum > 0) {
            *sum = ((2 * *sum + factors) / (2 * factors)).max(1);
        }
    }
    fitted(merged.into_values().collect())
}

/// Scales what does not fit.
fn fitted(moves: Vec<(Item, u128)>) -> Vec<Item> {
    const LIMIT: u128 = u32::MAX as u128;
    let greatest = moves.iter().map(|&(_, weight)| weight).max().unwrap_or(0);
    let fit = |weight: u128| match weight {
        0 => 0,
        weight if greatest <= LIMIT => weight,
        weight => (weight * LIMIT / greatest).max(1),
    };
    let item = |(item, weight)| Item {
        rank: None,
        weight: u32::try_from(fit(weight)).unwrap_or(u32::MAX),
        ..item
    };
    moves.into_iter().map(item).collect()
}

impl Item {
    /// Adds what another book says about the same move, but for its weight.
    fn join(&mut self, other: &Item) {
        match (&mut self.games, &other.games) {
            (Some(games), Some(more)) => games.add(more),
            (games @ None, more) => *games = *more,
            (Some(_), None) => {}
        }
        self.learn = self.learn.or(other.learn);
        self.priority = self.priority.or(other.priority);
        self.nag = self.nag.or(other.nag);
        // The mark of castling is known wherever one book's position was.
        if other.settled && !self.settled {
            (self.mv, self.settled) = (other.mv, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use tabiya_model::PackedMove;

    use super::*;

    fn book(items: &[(u64, u16, u32)]) -> Entries {
        let item = |&(key, mv, weight)| Item::new(PositionKey(key), PackedMove(mv), weight);
        Entries::new(items.iter().map(item).collect())
    }

    fn merged(policy: Merge, books: &[(&Entries, u32)]) -> Vec<(u64, u16, u32)> {
        let entries = merge(books, policy);
        entries.items().iter().map(|item| (item.key.0, item.mv.0, item.weight)).collect()
    }

    #[test]
    fn each_policy_does_what_it_says() {
        let a = book(&[(1, 10, 6), (1, 11, 2), (2, 20, 5)]);
        let b = book(&[(1, 10, 1), (1, 12, 3), (3, 30, 7)]);
        let both = [(&a, 1), (&b, 1)];
        let rest = [(2, 20, 5), (3, 30, 7)];
        let with = |moves: &[(u64, u16, u32)]| [moves, &rest].concat();
        assert_eq!(merged(Merge::Add, &both), with(&[(1, 10, 7), (1, 12, 3), (1, 11, 2)]));
        assert_eq!(merged(Merge::Max, &both), with(&[(1, 10, 6), (1, 12, 3), (1, 11, 2)]));
        assert_eq!(merged(Merge::First, &both), with(&[(1, 10, 6), (1, 11, 2)]));
        // Halves go up, and nothing that is played falls to 0.
        assert_eq!(merged(Merge::Average, &both), with(&[(1, 10, 4), (1, 12, 2), (1, 11, 1)]));
        let uneven = merged(Merge::Average, &[(&a, 3), (&b, 1)]);
        assert_eq!(uneven[..3], [(1, 10, 5), (1, 11, 2), (1, 12, 1)]);
    }

    #[test]
    fn sums_never_wrap_and_keep_their_proportion() {
        let a = book(&[(1, 10, u32::MAX), (1, 11, u32::MAX / 2), (1, 12, 1), (1, 13, 0)]);
        let sums = merged(Merge::Add, &[(&a, u32::MAX), (&a, u32::MAX)]);
        let expected = [(1, 10, u32::MAX), (1, 11, u32::MAX / 2), (1, 12, 1), (1, 13, 0)];
        assert_eq!(sums, expected);
    }
}
