//! The stages from games to books, and the one function that joins them.
//!
//! [`run`] is the whole path: ingest, parse, score, journal, threshold, aggregate, write. A stage
//! is a function on bounded channels; closing a channel is the only end of a stream. Pipes and
//! timers are asynchronous, chess and files are on blocking threads, and order is kept, so that
//! the number of either changes the speed and never a byte.

mod aggregate;
mod batch;
pub mod config;
mod container;
pub mod crash;
mod error;
mod filter;
mod game;
mod ingest;
mod journal;
mod ordered;
mod parse;
mod pgn;
mod progress;
mod score;
mod source;
mod threshold;
mod topology;
mod work;
mod write;

pub use error::{Error, InputFailure};
pub use filter::{RuleError, Rules};
pub use ingest::input_paths;
pub use journal::{
    FoundJournal, Journal, JournalInfo, Plan, SetAside, Strangers, ToRead, Why, engine_fingerprint,
    journals,
};
pub use progress::Progress;
pub use source::{Found, Source, SourceError, find, resolve};
pub use threshold::Lines;
pub use topology::{Context, Rebuilt, Report, ScanReport, rebuild, run, scan};
pub use work::Work;
pub use write::WrittenBook;
