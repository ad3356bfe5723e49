//! The stages from games to books, and the one function that joins them.

pub mod config;
mod filter;
mod game;
mod pgn;

pub use filter::{RuleError, Rules};
