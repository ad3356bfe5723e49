//! Where in the input something came from.

use std::ops::Range;

/// A piece of one source. Spans of a source chain: each begins where the last one ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Index of the source in the order of the inputs.
    pub source: usize,
    /// Bytes of the decompressed text.
    pub bytes: Range<u64>,
    /// Games, counted from 0 within the source.
    pub games: Range<u64>,
}
