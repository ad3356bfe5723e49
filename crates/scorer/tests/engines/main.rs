//! The pool against real processes: one that misbehaves on demand, and Stockfish.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]

mod fake;
mod misbehaviour;
mod stockfish;
mod stored;
