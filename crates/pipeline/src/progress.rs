//! What a run has done so far, for whoever looks.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use tabiya_model::{Census, Snapshot};

/// Counters that stages add to and anyone may read. Reading never holds up a stage for longer
/// than a copy.
#[derive(Debug, Default)]
pub struct Progress {
    games: Mutex<Census>,
    bytes_read: AtomicU64,
    bytes_skipped: AtomicU64,
    bytes_total: AtomicU64,
    positions: AtomicU64,
    kept: AtomicU64,
    entries: AtomicU64,
}

impl Progress {
    /// The state of things, but for what the scorer alone knows.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            bytes_read: self.bytes_read.load(Relaxed),
            bytes_skipped: self.bytes_skipped.load(Relaxed),
            bytes_total: self.bytes_total.load(Relaxed),
            games: self.games.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            positions: self.positions.load(Relaxed),
            kept: self.kept.load(Relaxed),
            entries: self.entries.load(Relaxed),
            scored: 0,
            set_aside: 0,
        }
    }

    pub(crate) fn add_games(&self, census: &Census) {
        self.games.lock().unwrap_or_else(PoisonError::into_inner).add(census);
    }

    pub(crate) fn set_bytes_read(&self, bytes: u64) {
        self.bytes_read.store(bytes, Relaxed);
    }

    /// What was read so far was read by earlier runs.
    pub(crate) fn skip_bytes(&self, bytes: u64) {
        self.bytes_skipped.store(bytes, Relaxed);
        self.bytes_read.store(bytes, Relaxed);
    }

    pub(crate) fn set_bytes_total(&self, bytes: u64) {
        self.bytes_total.store(bytes, Relaxed);
    }

    pub(crate) fn add_positions(&self, positions: u64) {
        self.positions.fetch_add(positions, Relaxed);
    }

    pub(crate) fn add_kept(&self, lines: u64) {
        self.kept.fetch_add(lines, Relaxed);
    }

    pub(crate) fn add_entries(&self, entries: u64) {
        self.entries.fetch_add(entries, Relaxed);
    }
}
