//! A position in, a score out.
//!
//! [`Pool`] drives UCI engines, which are untrusted children: they hang, crash, babble and lie,
//! and none of that may stop a run or invent a score. [`Stored`] keeps every score in
//! `scores.db`, [`Cached`] remembers what was asked lately. What they are to the rest of the
//! workspace is the trait [`Scorer`].
//!
//! [`builtin`] is the engine that needs nothing installed: a UCI engine like any other.
//!
//! This is the only crate that starts processes.

pub mod builtin;
mod cache;
mod console;
mod engine;
mod error;
mod fen;
mod late;
mod lines;
mod options;
mod pool;
mod probe;
mod resolve;
mod scorer;
mod spec;
mod stderr;
mod store;
mod stored;
mod uci;
mod units;

pub use cache::Cached;
pub use console::Console;
pub use error::{ScorerError, StartFailure};
pub use late::Late;
pub use pool::Pool;
pub use resolve::files_of_command;
pub use scorer::{Health, Scorer, Unscored, Verdict};
pub use spec::{EngineSpec, Identity, Limit, Pov};
pub use store::{Added, Entry, Flaws, Holdings, ScoreStore, StoreError, StoredPosition};
pub use stored::Stored;
pub use tabiya_model::Evaluation;
pub use units::Units;
