//! What can go wrong with a book, in words that say where it is and what to do.

use std::{fmt, io, path::PathBuf};

use tabiya_model::PositionKey;

/// A book that cannot be read or written.
///
/// The texts are complete: they hold the path and the cause, so [`std::error::Error::source`] is
/// always `None`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The disk or its file system failed, or the file is not there.
    #[error("cannot {action} {path}: {error}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// The file is something else.
    #[error("{path} is not a book that can be read: {looks}")]
    NotABook {
        /// The file or folder.
        path: PathBuf,
        /// What it looks like.
        looks: String,
    },
    /// Line ends were changed on the way, as by a transfer in text mode.
    #[error(
        "{path} was damaged by a transfer that treats files as text: copy it again in binary mode"
    )]
    TextModeDamage {
        /// The file.
        path: PathBuf,
    },
    /// A part that everything else depends on is damaged.
    #[error("{path} is damaged: its {part} is wrong ({detail}): copy or build the book again")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Which part.
        part: Part,
        /// What was found.
        detail: String,
    },
    /// The file is sound but asks for something this version does not know.
    #[error("{path} needs a newer version: {what}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it asks for.
        what: String,
    },
    /// The end of the file is missing.
    #[error("{path} is cut short: {actual} of {stated} bytes are there: copy it again")]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes according to its header.
        stated: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// Something follows the end of the file.
    #[error("{path} has {actual} bytes where its header says {stated}: copy it again")]
    TrailingData {
        /// The file.
        path: PathBuf,
        /// Bytes according to its header.
        stated: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// `hashes.sob` and `moves.sob` come from two books.
    #[error(
        "{hashes} and {moves} do not belong together ({detail}): take both from one book, or try \
         again if the book is just being replaced"
    )]
    PairMismatch {
        /// The file of keys.
        hashes: PathBuf,
        /// The file of moves.
        moves: PathBuf,
        /// What differs.
        detail: String,
    },
    /// The book's keys are made with random numbers that are not in it.
    #[error(
        "{path} uses its own random numbers (SHA-256 {sha256}): give the file of numbers to look \
         positions up"
    )]
    NeedsTable {
        /// The file.
        path: PathBuf,
        /// The digest the numbers must have, in hex.
        sha256: String,
    },
    /// The random numbers given are not those of the book.
    #[error("the numbers given have SHA-256 {given}, but {path} is made with {sha256}")]
    WrongTable {
        /// The file.
        path: PathBuf,
        /// The digest the numbers must have, in hex.
        sha256: String,
        /// The digest they have, in hex.
        given: String,
    },
    /// One block is damaged. All other blocks stay usable.
    #[error("block {block} of {path} is damaged ({detail}): copy or build the book again")]
    BadBlock {
        /// The file.
        path: PathBuf,
        /// Which block, from 0.
        block: u32,
        /// What was found.
        detail: String,
    },
    /// Positions were not written in ascending order of keys.
    #[error("position {got} comes after {previous}: a book is written in ascending order of keys")]
    OutOfOrder {
        /// The key before.
        previous: PositionKey,
        /// The key that is not above it.
        got: PositionKey,
    },
    /// One position has the same move twice.
    #[error("position {key} has the move {mv} twice: merge its entries before writing")]
    DuplicateMove {
        /// The position.
        key: PositionKey,
        /// The move.
        mv: String,
    },
    /// More moves than any position has.
    #[error("position {key} has {moves} moves: no position of chess has more than 218")]
    TooManyMoves {
        /// The position.
        key: PositionKey,
        /// How many were given.
        moves: usize,
    },
    /// A word that stands for no move of any piece.
    #[error("position {key} has {word:04x} for a move: no piece moves like that")]
    NotAMove {
        /// The position.
        key: PositionKey,
        /// The word as PolyGlot stores it.
        word: u16,
    },
    /// Moves are to be valued by scores, but one has none.
    #[error(
        "the move {mv} of position {key} has no score: choose the weight \"games\", \"wins\" or \
         \"uniform\", or score the lines"
    )]
    NoScore {
        /// The position.
        key: PositionKey,
        /// The move.
        mv: String,
    },
    /// The entries of two positions were mixed.
    #[error("entries of the positions {first} and {second} were given as one position")]
    TwoPositions {
        /// The key of the first entry.
        first: PositionKey,
        /// Another one.
        second: PositionKey,
    },
    /// A line of a text is no entry.
    #[error("line {line} of {path} is no entry of a book: {detail}")]
    BadRow {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// An option of a writer is out of its range.
    #[error("{0}")]
    Option(String),
}

/// The parts of a `.sob` file that are checked when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first 256 bytes.
    Header,
    /// Where the header says the sections are.
    Layout,
    /// The list of blocks.
    Index,
    /// The table of random numbers or of move codes.
    Table,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "header",
            Part::Layout => "layout",
            Part::Index => "index",
            Part::Table => "table",
        })
    }
}

impl Error {
    /// Says of an I/O error what was tried on which file.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Error {
        // Later, because it takes memory.
        move |error| Error::Io { action, path: path.into(), error }
    }
}
