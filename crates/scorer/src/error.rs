//! Why nothing can be scored.

use std::{fmt, io, path::PathBuf, process::ExitStatus, time::Duration};

use crate::StoreError;

/// The scorer cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ScorerError {
    /// The engine does not start, or never gets ready.
    #[error("cannot start the engine `{command}`: {failure}{}", said(.stderr))]
    EngineStart {
        /// The command as it was given.
        command: String,
        /// What happened.
        failure: StartFailure,
        /// The end of what it wrote to its error stream.
        stderr: String,
    },
    /// An option that the engine does not have.
    #[error("the engine {engine} has no option {option:?}{}", suggestion(.nearest))]
    UnknownOption {
        /// What the engine calls itself.
        engine: String,
        /// The option as it was given.
        option: String,
        /// The option that was probably meant.
        nearest: Option<String>,
    },
    /// A value that an option does not take.
    #[error("the option {option:?} of {engine} cannot be {value:?}: it takes {expected}")]
    OptionValue {
        /// What the engine calls itself.
        engine: String,
        /// The option.
        option: String,
        /// The value as it was given.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// A dialect that cannot be.
    #[error("score.console.{key}: {why}")]
    Console {
        /// What in it.
        key: &'static str,
        /// Why not.
        why: String,
    },
    /// The limit is a number of nodes, and the engine searches on.
    #[error(
        "the engine {engine} searches on after `go nodes {asked}`; limit it by depth or movetime"
    )]
    NodesIgnored {
        /// What the engine calls itself.
        engine: String,
        /// The nodes it was asked for.
        asked: u64,
    },
    /// Chances are needed, and the engine says none.
    #[error(
        "the engine {engine} says no chances of a win, a draw and a loss (UCI_ShowWDL), which \
         threshold.win_min_wdl needs: take an engine that does, such as Stockfish, or judge by \
         threshold.win_min_cp"
    )]
    NoChances {
        /// What the engine calls itself.
        engine: String,
    },
    /// The engine is not what it was when its stored scores were made.
    #[error(
        "the engine is another one than in the last run ({now}, not {before}): run again, and it \
         is taken for what it is now"
    )]
    AnotherEngine {
        /// What it was.
        before: String,
        /// What it is.
        now: String,
    },
    /// Position after position was set aside.
    #[error(
        "the engine `{command}` scored none of the last {positions} positions; \
         try it by hand with `go {limit}`, or give it more time"
    )]
    GaveUp {
        /// The command as it was given.
        command: String,
        /// How many were set aside with no score in between.
        positions: u32,
        /// The limit as it was sent.
        limit: String,
    },
    /// The file of scores cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The scorer was shut down.
    #[error("the engines were shut down before every position was scored; run again to go on")]
    Closed,
}

impl ScorerError {
    /// The class of the error in reports.
    pub fn name(&self) -> &'static str {
        match self {
            ScorerError::EngineStart { .. } => "ENGINE_START",
            ScorerError::AnotherEngine { .. } => "ENGINE_CHANGED",
            ScorerError::UnknownOption { .. }
            | ScorerError::OptionValue { .. }
            | ScorerError::Console { .. }
            | ScorerError::NoChances { .. }
            | ScorerError::NodesIgnored { .. } => "CONFIG",
            ScorerError::GaveUp { .. } => "NO_SCORE",
            ScorerError::Store(_) => "SCORES",
            ScorerError::Closed => "CLOSED",
        }
    }
}

/// What happened instead of a start.
#[derive(Debug)]
pub enum StartFailure {
    /// The command names no program.
    NoCommand,
    /// No such program.
    NotFound {
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// The system refused.
    Spawn {
        /// The program that was found.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It ended.
    Ended {
        /// How; not known when it only closed its output.
        status: Option<ExitStatus>,
        /// What it should have said first.
        before: &'static str,
    },
    /// It runs but does not get ready.
    Silent {
        /// What it should have said.
        before: &'static str,
        /// How long it had.
        waited: Duration,
    },
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartFailure::NoCommand => write!(f, "no program is named; give a path or a name"),
            StartFailure::NotFound { tried } => {
                let tried: Vec<_> = tried.iter().map(|path| path.display().to_string()).collect();
                write!(
                    f,
                    "no such program; install it or give its path (tried {})",
                    tried.join(", ")
                )
            }
            StartFailure::Spawn { program, error } => {
                write!(
                    f,
                    "{}: {error}; check that it is a program for this machine",
                    program.display()
                )
            }
            StartFailure::Ended { status: Some(status), before } => match status.code() {
                Some(code) => write!(f, "it ended with exit code {code} before `{before}`"),
                None => write!(f, "it ended ({status}) before `{before}`"),
            },
            StartFailure::Ended { status: None, before } => {
                write!(f, "it closed its output before `{before}`")
            }
            StartFailure::Silent { before, waited } => write!(
                f,
                "no `{before}` within {} s; check that it is an engine, and of the kind it is taken \
                 for",
                waited.as_secs_f32()
            ),
        }
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {stderr}") }
}

fn suggestion(option: &Option<String>) -> String {
    match option {
        Some(option) => format!("; did you mean {option:?}?"),
        None => String::new(),
    }
}
