//! Opening book formats.

pub mod weight;
