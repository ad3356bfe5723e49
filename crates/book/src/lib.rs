//! Opening books on disk: what the formats can hold, and how their files come and go.
//!
//! Three formats are read and written: [`sob`], a compressed and checksummed pair of files,
//! [`polyglot`], the `.bin` that most engines read, and [`abk`], Arena's tree; two are read only:
//! [`ctg`], ChessBase's pages, and [`exp`], BrainLearn's experience. A builder turns tallies into
//! values ([`choices`]) and hands position after position, in ascending order of keys, to a
//! [`BookWriter`]; each format takes from the values what it can hold. A reader opens a file by
//! what is in it ([`open`]): as a [`Probe`] it gives the moves of a position, as a [`Walk`] all
//! entries, and as a [`Book`] it tells about itself.
//!
//! Bytes from a disk are never trusted: whatever they are, a book answers with legal moves or
//! with an [`Error`].
//!
//! To play from a book of any format:
//!
//! ```no_run
//! use shakmaty::{Chess, Position};
//!
//! let book = tabiya_book::open("book.bin")?;
//! let mut position = Chess::default();
//! for _ in 0..24 {
//!     // Best first; a weight of 0 says "never".
//!     let moves = book.moves(&position)?;
//!     let Some(best) = moves.iter().find(|found| found.is_playable()) else { break };
//!     println!("{}", tabiya_model::uci(best.m));
//!     position.play_unchecked(best.m);
//! }
//! # Ok::<(), tabiya_book::Error>(())
//! ```

pub mod abk;
mod book;
mod convert;
pub mod ctg;
mod diff;
mod entries;
mod error;
pub mod exp;
mod merge;
mod output;
pub mod polyglot;
pub mod readers;
pub mod rows;
mod sniff;
pub mod sob;
mod source;
mod walk;
mod weight;
mod zobrist;

use std::path::Path;

pub use book::{
    Book, BookFile, BookMove, BookWriter, Format, Info, Probe, RawEntry, Verified, Walk, Written,
};
pub use convert::{Converted, Loaded, Target, load, save};
pub use diff::{Change, Diff, diff};
pub use entries::{Entries, Games, Item};
pub use error::{Error, Part};
pub use merge::{Merge, merge};
pub use weight::{Choice, Policy, choices, polyglot_weights, sob_ranks};
pub use zobrist::{EpRule, Zobrist};

use sniff::Looks;

/// Opens a book of any readable format, told by its content and not by its name.
///
/// `path` is a folder with a `.sob` pair, either file of the pair, an Arena book, a ChessBase
/// book (the `.ctg`), BrainLearn's experience, or a PolyGlot file. The last two have no mark of
/// their own: a file is taken for one if its entries look as they must. The name counts for one
/// thing only: a file that calls itself `.sob` is never taken for anything else.
///
/// # Errors
///
/// [`Error::NotABook`] says what the file looks like instead; see [`sob::Reader::open`] and
/// [`polyglot::Reader::open`], [`abk::Reader::open`], [`ctg::Reader::open`] and
/// [`exp::Reader::open`] for the rest.
pub fn open(path: impl AsRef<Path>) -> Result<Box<dyn Book + Send>, Error> {
    let path = path.as_ref();
    let named_sob = path.extension().is_some_and(|extension| extension == "sob");
    if path.is_dir() || named_sob {
        return Ok(Box::new(sob::Reader::open(path)?));
    }
    Ok(match sniff::look(path)? {
        Looks::Sob => Box::new(sob::Reader::open(path)?),
        Looks::Ctg => Box::new(ctg::Reader::open(path)?),
        Looks::Abk => Box::new(abk::Reader::open(path)?),
        Looks::Exp => Box::new(exp::Reader::open(path)?),
        // PolyGlot's reader says what a file of another kind looks like.
        Looks::Unmarked | Looks::Other(_) => Box::new(polyglot::Reader::open(path)?),
    })
}
