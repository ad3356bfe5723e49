//! The words of the domain.
//!
//! A *line* is the opening of one game; a *score* says who stands better where it ends; a *tally*
//! says what a move achieved in a position. Everything else in the workspace is about making
//! these, keeping them, or writing them down. This crate does no I/O.

mod census;
mod evaluation;
mod key;
mod line;
mod outcome;
mod packed_move;
mod reject;
mod score;
mod snapshot;
mod span;
mod tally;
mod wdl;

pub use census::Census;
pub use evaluation::Evaluation;
pub use key::{ParseKeyError, PositionKey};
pub use line::{Line, Ply, Start};
pub use outcome::Outcome;
pub use packed_move::{PackedMove, uci};
pub use reject::{Kind, Reason, Reject};
pub use score::Score;
pub use snapshot::Snapshot;
pub use span::Span;
pub use tally::{Entry, Scores, Tally};
pub use wdl::Wdl;
