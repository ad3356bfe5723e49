//! What the tests of the pipeline are made of: seeded games, clean and broken; the same games as
//! text in every dress that PGN is seen in; and the naive oracle, which computes a book from the
//! games, not from the text, as slowly and plainly as it can.
//!
//! Everything follows from its seed, so a failure is repeated by its number.

// This crate runs inside tests only: a broken assumption should stop them where it stands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod double;
mod games;
mod oracle;
mod render;
mod rng;

pub use double::{pseudo_chances, pseudo_score};
pub use games::{FLAW_PLIES, Flaw, Game, Mix, generate};
pub use oracle::{Book, Draws, LineEnd, Outcome, Rules, Short, Weight, oracle, select};
pub use render::{Style, render};
pub use rng::Rng;
