//! What travels between the stages.

use shakmaty::Chess;
use tabiya_model::{Census, Evaluation, Line, Reject, Span};

use crate::pgn::{Chunk, Resume};

/// Whole records of one source, as text.
#[derive(Debug)]
pub(crate) struct SourceChunk {
    pub(crate) source: usize,
    pub(crate) chunk: Chunk,
    /// The source ends with it.
    pub(crate) end: Option<SourceEnd>,
}

/// What is known once a source has been read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceEnd {
    /// Something to say about it.
    pub(crate) warning: Option<String>,
    /// A hash of the file as it is on disk.
    pub(crate) content: u128,
}

/// What became of one chunk, as it goes down the stages: `T` is what is known of each line.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    pub(crate) span: Span,
    pub(crate) lines: Vec<T>,
    /// What makes the game of each line the same as another; empty if nobody wants to know.
    pub(crate) identities: Vec<u128>,
    pub(crate) rejects: Vec<Reject>,
    pub(crate) census: Census,
    /// Bytes of text that belong to no game.
    pub(crate) stray: u64,
    /// Accepted games whose result stands in the tag alone.
    pub(crate) unmarked: u64,
    /// How the text behind it is to be taken.
    pub(crate) then: Resume,
    /// The source ends with it.
    pub(crate) end: Option<SourceEnd>,
}

impl<T> Batch<T> {
    /// The same batch with other lines.
    pub(crate) fn with<U>(self, lines: Vec<U>) -> Batch<U> {
        let Batch { span, lines: _, identities, rejects, census, stray, unmarked, then, end } =
            self;
        Batch { span, lines, identities, rejects, census, stray, unmarked, then, end }
    }
}

/// A line that waits for its score.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) line: Line,
    /// Where it ends.
    pub(crate) end: Chess,
}

/// A line and what the engine said where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scored {
    pub(crate) line: Line,
    pub(crate) verdict: LineVerdict,
}

/// What is known of the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineVerdict {
    /// Nobody was asked.
    Unasked,
    /// The score and, if the engine said them, the chances, from White's view.
    Score(Evaluation),
    /// No engine could score it.
    SetAside,
}
