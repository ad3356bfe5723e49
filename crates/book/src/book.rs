//! What every book can do, whatever its format.

use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
};

use serde::Serialize;
use shakmaty::{Chess, Move};
use tabiya_model::{PackedMove, PositionKey};

use crate::{Choice, Error, Games, sob::Codec};

/// The moves of a position: all that playing from a book needs.
pub trait Probe {
    /// Puts the moves of a position in place of what is in `moves`, best first: by weight
    /// descending, then PolyGlot's word ascending.
    ///
    /// Only moves that are legal in `position` are given, each once; entries that are none, which
    /// come from damage or from two positions with one key, are left out and counted in
    /// [`Book::dropped`]. No moves say that the position is not in the book. With a list that is
    /// used again, a look-up allocates nothing, unless it is in a ChessBase book or has LZMA or
    /// Zstandard unpack a block.
    ///
    /// # Errors
    ///
    /// When the disk fails, and if the part of the book that would hold the position is damaged.
    fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> Result<(), Error>;

    /// The moves of a position, as [`Probe::probe`] gives them.
    fn moves(&self, position: &Chess) -> Result<Vec<BookMove>, Error> {
        let mut moves = Vec::new();
        self.probe(position, &mut moves)?;
        Ok(moves)
    }
}

/// All entries of a book: what conversions need.
pub trait Walk {
    /// Hands every entry to `each`, in the order of the file, and stops at the first error.
    fn walk(&self, each: &mut dyn FnMut(RawEntry) -> Result<(), Error>) -> Result<(), Error>;
}

/// A book open for reading.
///
/// A book may be shared between threads by wrapping it in a lock. What was read last stays in
/// memory, at most 8 MiB of it; Arena books and experience are in memory whole.
pub trait Book: Probe + Walk {
    /// Entries that [`Probe::probe`] has left out so far because they are no legal moves.
    fn dropped(&self) -> u64;

    /// What opening the book showed to be damaged; the rest of it can be used. [`Book::verify`]
    /// looks at everything.
    fn damage(&self) -> Vec<String>;

    /// The format.
    fn format(&self) -> Format;

    /// The key under which the book has a position; `None` if the random numbers for it are not
    /// there.
    fn key(&self, position: &Chess) -> Option<PositionKey> {
        Some(PositionKey::of(position))
    }

    /// Whether keys are PolyGlot's, and so the same in all such books.
    fn has_polyglot_keys(&self) -> bool {
        true
    }

    /// Entries in front that carry text and that [`Walk::walk`] passes over; only a PolyGlot book
    /// has them, and only an exact copy needs them.
    fn text_entries(&self) -> Result<Vec<RawEntry>, Error> {
        Ok(Vec::new())
    }

    /// What the last [`Walk::walk`] could not give, in words.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// What there is to say about the book. PolyGlot and ChessBase files are
    /// read through once for it.
    fn info(&self) -> Info;

    /// Reads everything and checks all that can be checked.
    ///
    /// # Errors
    ///
    /// Only when the disk fails; what is wrong with the book is in [`Verified::problems`].
    fn verify(&self) -> Result<Verified, Error>;
}

/// A legal move from a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move.
    pub m: Move,
    /// How good, in the book's own measure: PolyGlot's weight, or the rank. 0: known, but never
    /// to be played.
    pub weight: u32,
    /// The rank, 15 best to 1, if the format has ranks.
    pub rank: Option<u8>,
    /// PolyGlot's learn field, if the format has one.
    pub learn: Option<u32>,
    /// How the games with the move went, if the format has that.
    pub games: Option<Games>,
}

impl BookMove {
    /// Whether the book wants this move played at all.
    pub fn is_playable(&self) -> bool {
        self.weight > 0
    }
}

/// Best first, equal weights by PolyGlot's word.
pub(crate) fn sort(moves: &mut [BookMove]) {
    // Unstable, because that needs no memory; no two are equal.
    moves
        .sort_unstable_by_key(|found| (Reverse(found.weight), PackedMove::new(found.m).polyglot()));
}

/// One entry as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RawEntry {
    /// The position.
    #[serde(serialize_with = "as_text")]
    pub key: PositionKey,
    /// The move as stored, in the format's own encoding.
    pub word: u16,
    /// The squares as the format stores them: castling may read `e1h1`, and `.sob` says of a
    /// promotion only what its word says without a board.
    pub uci: String,
    /// PolyGlot's weight, or the rank.
    pub weight: u32,
    /// PolyGlot's learn field.
    pub learn: Option<u32>,
    /// The rank of a `.sob` entry.
    pub rank: Option<u8>,
    /// Arena's priority.
    pub priority: Option<u8>,
    /// The mark of a move in a ChessBase book, a number as in PGN: 1 `!`, 2 `?`, and so on.
    pub nag: Option<u8>,
    /// How the games with the move went, if the format has that.
    pub games: Option<Games>,
}

fn as_text<S: serde::Serializer>(key: &PositionKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

/// A book format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A pair of `hashes.sob` and `moves.sob`.
    Sob,
    /// PolyGlot's `.bin`.
    Polyglot,
    /// Arena's `.abk`.
    Abk,
    /// ChessBase's `.ctg`.
    Ctg,
    /// BrainLearn's `.exp`.
    Exp,
}

/// A file of a book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BookFile {
    /// Where it is. As JSON it is text, with what is not UTF-8 replaced.
    #[serde(serialize_with = "as_shown")]
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
}

fn as_shown<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// What there is to say about a book.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Info {
    /// The format.
    pub format: Format,
    /// All files.
    pub files: Vec<BookFile>,
    /// Their size together.
    pub bytes: u64,
    /// Moves in it, over all positions.
    pub entries: u64,
    /// Distinct positions.
    pub positions: u64,
    /// How the blocks of a `.sob` are packed.
    pub codec: Option<Codec>,
    /// Blocks of a `.sob`.
    pub blocks: Option<u32>,
    /// The identity of a `.sob`, in hex: equal for books with equal entries.
    pub id: Option<String>,
    /// What the builder wrote about the book: JSON of a `.sob`; the text in front of a PolyGlot
    /// book as `{"header": text}`; comment, author and the shape of the tree of an Arena book; what
    /// the header of a ChessBase book says.
    pub meta: Option<serde_json::Value>,
    /// What is wrong with it, as far as that was seen.
    pub warnings: Vec<String>,
}

/// The result of reading everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Entries that could be read.
    pub entries: u64,
    /// Distinct positions among them.
    pub positions: u64,
    /// What is wrong, the first hundred findings in the order of the file.
    pub problems: Vec<String>,
    /// How many findings are not listed.
    pub unlisted: u64,
}

const LISTED_PROBLEMS: usize = 100;

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn problem(&mut self, text: impl ToString) {
        if self.problems.len() < LISTED_PROBLEMS {
            self.problems.push(text.to_string());
        } else {
            self.unlisted += 1;
        }
    }
}

/// A book being written.
///
/// The files appear under their names when [`BookWriter::finish`] returns, whole and on disk. A
/// writer that is dropped before leaves nothing behind, and never harms the book that was there.
pub trait BookWriter {
    /// Adds a position with its moves, in any order; the position of an empty list is not stored.
    ///
    /// Keys must ascend strictly. The value 0 says "known, never to be played".
    ///
    /// # Errors
    ///
    /// Once a call has failed, drop the writer: [`BookWriter::finish`] would publish a book that
    /// lacks what failed, so it fails too.
    fn position(&mut self, key: PositionKey, choices: &[Choice]) -> Result<(), Error>;

    /// Writes what is left, makes all of it durable and moves the files to their names.
    fn finish(self: Box<Self>) -> Result<Written, Error>;
}

/// A finished book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The files and their sizes in bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// Moves, over all positions.
    pub entries: u64,
    /// Positions.
    pub positions: u64,
}
