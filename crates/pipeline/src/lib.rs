//! The stages from games to books, and the one function that joins them.

pub mod config;
#[allow(dead_code)]
mod pgn;
