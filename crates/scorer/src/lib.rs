//! A position in, a score out.

pub mod builtin;
