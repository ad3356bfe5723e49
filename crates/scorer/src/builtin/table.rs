//! What the running search already knows about positions it has met.
//!
//! Entries of earlier searches are never seen, so that a score depends on nothing but its own
//! search; they are told apart by a number rather than wiped, which would cost more than a
//! shallow search itself.

use shakmaty::Move;

/// On which side of the true score a stored one lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The result of searching one position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) depth: i32,
    pub(super) score: i32,
    pub(super) bound: Bound,
    pub(super) best: Option<Move>,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u64,
    search: u32,
    known: Known,
}

/// A table of fixed size; a new result takes the place of an old one.
pub(super) struct Table {
    slots: Vec<Option<Slot>>,
    search: u32,
}

impl Table {
    /// A table of about so many mebibytes.
    pub(super) fn new(mebibytes: usize) -> Table {
        let n_slots = (mebibytes << 20) / size_of::<Option<Slot>>();
        Table { slots: vec![None; n_slots.max(1)], search: 0 }
    }

    /// Forgets everything.
    pub(super) fn begin_search(&mut self) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.slots.fill(None);
        }
    }

    pub(super) fn get(&self, hash: u64) -> Option<Known> {
        let slot = self.slots.get(self.idx(hash)).copied().flatten()?;
        (slot.hash == hash && slot.search == self.search).then_some(slot.known)
    }

    pub(super) fn put(&mut self, hash: u64, known: Known) {
        let idx = self.idx(hash);
        if let Some(slot) = self.slots.get_mut(idx) {
            *slot = Some(Slot { hash, search: self.search, known });
        }
    }

    fn idx(&self, hash: u64) -> usize {
        (hash % self.slots.len() as u64) as usize
    }
}
