//! The pipeline as a whole: against the naive oracle, under any concurrency, and in trouble.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod bench;
mod journal;
mod oracle;
mod trouble;
