//! What a game is in a stream of PGN text.
//!
//! [`Splitter`] cuts the stream into records, [`TagSection`] reads a record's tags, [`words`]
//! reads its moves as text. All three go by bytes: real files mix encodings and line ends.

mod marker;
mod spelling;
mod splitter;
mod tag;
mod words;

pub(crate) use marker::Marker;
pub(crate) use spelling::read_san;
pub(crate) use splitter::{Chunk, Record, Resume, Splitter, Start};
pub(crate) use tag::{TagEvent, TagSection, unescape};
pub(crate) use words::{Fault, Words};

fn is_newline(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// The end of the line that `from` is in: the index of its line break, if there is one.
fn line_end(text: &[u8], from: usize) -> Option<usize> {
    memchr::memchr2(b'\n', b'\r', text.get(from..)?).map(|length| from + length)
}
