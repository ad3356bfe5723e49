//! A run, seen from outside.

use serde::Serialize;

use crate::Census;

/// What a run has done so far: for progress lines, and for whoever watches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Bytes of input taken from disk so far, compressed as they are there.
    pub bytes_read: u64,
    /// Of those, taken by earlier runs.
    pub bytes_skipped: u64,
    /// Bytes of all inputs; 0 when it cannot be known, as for standard input.
    pub bytes_total: u64,
    /// Games, by what became of them.
    pub games: Census,
    /// Distinct positions asked for a score.
    pub positions: u64,
    /// Of those, answered by an engine.
    pub scored: u64,
    /// Of those, set aside: no engine could score them.
    pub set_aside: u64,
    /// Lines that passed the threshold.
    pub kept: u64,
    /// Entries written to books so far.
    pub entries: u64,
}
