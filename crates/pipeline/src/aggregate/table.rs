//! The table in memory.

use tabiya_model::{Entry, PackedMove, PositionKey, Tally};

/// A hash table of entries that grows to a fixed size and sorts in place, so that counting and
/// sorting need no memory beyond it. Open addressing with linear probing: an entry is one cache
/// line, and so is a look-up, mostly.
///
/// An entry's place follows from the high bits of its key, which is a hash already. So the slots
/// are all but sorted at any time: growing walks old and new slots from front to back, and
/// sorting moves entries by a few places.
pub(super) struct Table {
    /// A power of two of them; one without games is free.
    slots: Vec<Entry>,
    used: usize,
    max_slots: usize,
}

const FREE: Entry = Entry {
    key: PositionKey(0),
    mv: PackedMove(0),
    tally: Tally { wins: 0, draws: 0, losses: 0, scores: None },
};

const FIRST_SLOTS: usize = 1 << 12;

impl Table {
    /// A table within `memory` bytes. While it grows the old slots are there beside the new ones,
    /// so it stops at two thirds.
    pub(super) fn new(memory: usize) -> Table {
        let fitting = memory / 3 * 2 / size_of::<Entry>();
        let max_slots = 1 << fitting.max(FIRST_SLOTS).ilog2();
        Table { slots: vec![FREE; FIRST_SLOTS], used: 0, max_slots }
    }

    /// Whether another entry might not fit.
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() == self.max_slots && self.used >= limit(self.slots.len())
    }

    /// Counts an entry.
    pub(super) fn add(&mut self, entry: &Entry) {
        if self.used >= limit(self.slots.len()) && self.slots.len() < self.max_slots {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = home(entry, self.slots.len());
        // Ends, since some slots are always free.
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.tally.games() == 0 {
                *slot = *entry;
                self.used += 1;
                return;
            }
            if slot.key == entry.key && slot.mv == entry.mv {
                slot.tally.add(&entry.tally);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives the entries, in order, and forgets them; the table stays as large as it is.
    pub(super) fn drain_sorted<E>(
        &mut self,
        take: impl FnOnce(&[Entry]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.used = 0;
        let used = sort(&mut self.slots);
        let (entries, _) = self.slots.split_at_mut(used);
        take(entries)?;
        entries.fill(FREE);
        Ok(())
    }

    /// The entries in order.
    pub(super) fn into_sorted(mut self) -> Vec<Entry> {
        let used = sort(&mut self.slots);
        self.slots.truncate(used);
        self.slots
    }

    fn grow(&mut self) {
        let larger = vec![FREE; self.slots.len() * 2];
        let entries = std::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for entry in entries.iter().filter(|entry| entry.tally.games() > 0) {
            self.add(entry);
        }
    }
}

/// Entries in so many slots: three in four, beyond which probes get long.
fn limit(slots: usize) -> usize {
    slots / 4 * 3
}

/// Where the search for an entry begins. The moves of a position begin at up to eight places, so
/// that those of the first plies, which every game has, do not queue behind each other.
fn home(entry: &Entry, slots: usize) -> usize {
    let bits = slots.trailing_zeros();
    let spread = entry.mv.0.wrapping_mul(0x9e37) >> 13;
    ((entry.key.0 >> (u64::BITS - bits)) as usize + usize::from(spread)) & (slots - 1)
}

/// Moves the entries to the front, in order, and says how many there are.
fn sort(slots: &mut [Entry]) -> usize {
    let taken = |slot: &Entry| slot.tally.games() > 0;
    // Some whose place is at the end found one at the front only.
    let total = slots.len();
    let wraps = |slot: &Entry| home(slot, total) > total / 2;
    let front = slots.iter().take_while(|slot| taken(slot)).count();
    let (front, _) = slots.split_at_mut(front);
    front.sort_by_key(|slot| !wraps(slot));
    let wrapped = front.iter().take_while(|slot| wraps(slot)).count();

    let mut used = 0;
    for at in 0..total {
        if slots.get(at).is_some_and(taken) {
            slots.swap(at, used);
            used += 1;
        }
    }
    let (entries, _) = slots.split_at_mut(used);
    entries.rotate_left(wrapped);
    sort_almost_sorted(entries);
    used
}

/// Insertion sort, while entries stand near their places.
fn sort_almost_sorted(entries: &mut [Entry]) {
    /// Places an entry moves on average before another way is better.
    const NEAR: usize = 16;
    let mut moves = 0;
    for at in 1..entries.len() {
        let mut to = at;
        while let Some([left, right]) = to.checked_sub(1).and_then(|left| entries.get(left..=to)) {
            if super::order(left) <= super::order(right) {
                break;
            }
            entries.swap(to - 1, to);
            to -= 1;
        }
        moves += at - to;
        if moves > NEAR * entries.len() {
            return entries.sort_unstable_by_key(super::order);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use shakmaty::Color;
    use tabiya_model::{Outcome, Score};

    use super::*;

    #[test]
    fn it_counts_like_a_map_while_it_grows() {
        let mut table = Table::new(3 << 20);
        let mut map: BTreeMap<(PositionKey, PackedMove), Tally> = BTreeMap::new();
        let mut state = 1u64;
        for n in 0..20_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Keys are hashes; a few at both ends, so that the last ones wrap around.
            let key = match (state >> 33) % 3000 {
                low @ 0..20 => PositionKey(low),
                high @ 20..60 => PositionKey(u64::MAX - high),
                n => PositionKey(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            };
            let mv = PackedMove((state >> 20) as u16 % 3);
            let tally = Tally::one(Outcome::White, Color::White, Some(Score::Cp(n % 200)));
            assert!(!table.is_full());
            table.add(&Entry { key, mv, tally });
            map.entry((key, mv)).or_default().add(&tally);
        }
        let sorted = table.into_sorted();
        let expected: Vec<Entry> =
            map.into_iter().map(|((key, mv), tally)| Entry { key, mv, tally }).collect();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn it_stays_within_its_memory() {
        let memory = 3 << 20;
        let table = Table::new(memory);
        assert!(table.max_slots * size_of::<Entry>() * 3 / 2 <= memory);
        assert_eq!(size_of::<Entry>(), 64);
    }
}
