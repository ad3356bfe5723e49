//! The pool against real processes: one that misbehaves on demand, and engines that people use.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]

mod cases;
mod console;
mod fake;
mod misbehaviour;
mod real;
mod stockfish;
mod stored;
