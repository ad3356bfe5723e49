//! `.sob`: a book as two files, `hashes.sob` with the keys and `moves.sob` with the moves.
//!
//! Both files have a header of 256 bytes, JSON about the book (hashes only), a table, blocks of
//! entries and an index of the blocks; every part has a checksum, and an identity made from all
//! entries says which two files belong together. Block i of both files covers the same entries,
//! and a position never spans two blocks, so a look-up decodes one block of keys and, if the
//! position is there, one block of moves.

mod blocks;
mod codec;
mod header;
mod reader;
mod word;
mod writer;

pub use codec::Codec;
pub use reader::Reader;
pub use word::Word;
pub use writer::{Options, Writer};

/// The name of the file with the keys.
pub const HASHES: &str = "hashes.sob";
/// The name of the file with the moves.
pub const MOVES: &str = "moves.sob";

/// Entries a block aims at unless the options say otherwise.
pub const DEFAULT_TARGET: u32 = 1024;

#[cfg(test)]
mod tests;
