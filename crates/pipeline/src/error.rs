//! What ends a run.

use std::{io, path::PathBuf};

use tabiya_scorer::ScorerError;

use crate::source::SourceError;

/// Why a run could not go on. Each message says what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input does not exist or cannot be looked at.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Inputs that could not be read to their end.
    #[error("{}", unread(.0))]
    Unread(Vec<InputFailure>),
    /// More bad games than allowed.
    #[error(
        "{rejected} of {read} games are bad, more than {percent} percent \
         (input.max_reject_percent): see {rejects} for what is wrong with them"
    )]
    TooManyRejects {
        /// Bad games.
        rejected: u64,
        /// All games.
        read: u64,
        /// The limit.
        percent: f64,
        /// Where they are written down.
        rejects: String,
    },
    /// The memory for telling duplicates is used up.
    #[error(
        "filter.dedupe remembers {games} games and has no memory for more: raise \
         filter.dedupe_memory"
    )]
    DedupeFull {
        /// Games remembered.
        games: usize,
    },
    /// No game was accepted, so there is no book to write.
    #[error(
        "no game of {read} read was accepted, and no book is written: `tabiya scan` shows why \
         games are left out"
    )]
    NoGames {
        /// All games.
        read: u64,
    },
    /// No line passed the threshold.
    #[error(
        "no line of {lines} passed the threshold ({rule}; {set_aside} set aside), and no book is \
         written: lower threshold.{key}"
    )]
    NothingKept {
        /// Lines looked at.
        lines: u64,
        /// Those whose end no engine could score.
        set_aside: u64,
        /// The threshold for won lines.
        rule: String,
        /// The key that says it.
        key: &'static str,
    },
    /// Lines are to be judged by chances that nobody said when they were scored.
    #[error(
        "threshold.win_min_wdl needs chances of a win, a draw and a loss, and the journal has scores \
         without: the engine says none, or was not asked for them then; `tabiya run --fresh` asks \
         for those that are missing (stored scores are kept), or judge by threshold.win_min_cp"
    )]
    NoChances,
    /// The filters of a book left nothing of it.
    #[error("{path}: no move passes its filters (min_games, min_share), and it is not written")]
    EmptyBook {
        /// The book.
        path: PathBuf,
    },
    /// An engine failed.
    #[error("{class}: {error}", class = .0.name(), error = .0)]
    Scorer(ScorerError),
    /// A book could not be written.
    #[error("{}{error}{}", class(full(.0)), hint(full(.0)), error = .0)]
    Book(tabiya_book::Error),
    /// A book could not be written, found out before anything was done.
    #[error("OUTPUT_NOT_WRITABLE: {0}")]
    Output(tabiya_book::Error),
    /// A file or folder of ours failed.
    #[error("{}{path}: {error}{}", class(is_full(.error)), hint(is_full(.error)))]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A spilled run does not read back as it was written.
    #[error("{path}: damaged on disk (checksum): run again; if it happens again, check the disk")]
    DamagedRun {
        /// The run.
        path: PathBuf,
    },
    /// The counts of games do not add up: a fault of this program.
    #[error("games read and games accounted for differ ({0}): please report this")]
    DoesNotAddUp(String),
    /// A book would take the place of something else.
    #[error("OUTPUT_IN_USE: {path} is {what}: name another path for the book")]
    OutputInUse {
        /// The book.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// A file of the journal is not as it was written.
    #[error(
        "DAMAGED: {path} is not as it was written: check the disk; `tabiya run --fresh` puts this \
         journal aside and reads the games again (stored scores are kept)"
    )]
    DamagedJournal {
        /// The file.
        path: PathBuf,
    },
    /// An input is not what it was when it was read.
    #[error(
        "ALTERED: {name} has changed since it was read into {journal}: put the old file back, or \
         start over with `tabiya run --fresh` (stored scores are kept)"
    )]
    AlteredInput {
        /// The input.
        name: String,
        /// The journal.
        journal: PathBuf,
    },
    /// An input that was read is not wanted any more.
    #[error(
        "DROPPED: {name} was read into {journal} and is not among the inputs any more: name it \
         again, start over with `tabiya run --fresh` (stored scores are kept), or name another \
         checkpoint.dir"
    )]
    DroppedInput {
        /// The input.
        name: String,
        /// The journal.
        journal: PathBuf,
    },
    /// A stage panicked: a fault of this program.
    #[error("stage {stage} failed: {message}: please report this")]
    Panicked {
        /// Which one.
        stage: &'static str,
        /// What it said.
        message: String,
    },
    /// Another process works there.
    #[error(
        "LOCKED: {dir} is in use by process {pid}: wait for it, or name another checkpoint.dir"
    )]
    Locked {
        /// The work folder.
        dir: PathBuf,
        /// The other process.
        pid: String,
    },
    /// A signal asked for the end.
    #[error("interrupted")]
    Interrupted,
}

/// Not by `#[from]`: the message holds the cause already.
impl From<ScorerError> for Error {
    fn from(error: ScorerError) -> Error {
        Error::Scorer(error)
    }
}

/// Not by `#[from]`, likewise.
impl From<tabiya_book::Error> for Error {
    fn from(error: tabiya_book::Error) -> Error {
        Error::Book(error)
    }
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |error| Error::Io { path, error }
    }
}

/// One input that could not be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFailure {
    /// The input as it was named.
    pub source: String,
    /// Its class: TRUNCATED, FORMAT_MISMATCH, LIMIT, CORRUPT, CHANGED or IO.
    pub class: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
}

impl std::fmt::Display for InputFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.source, self.class, self.message)
    }
}

/// Whether there is no room for what was to be written.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

fn full(error: &tabiya_book::Error) -> bool {
    matches!(error, tabiya_book::Error::Io { error, .. } if is_full(error))
}

fn class(full: bool) -> &'static str {
    if full { "IO_FULL: " } else { "" }
}

/// What to do about a full disk.
fn hint(full: bool) -> &'static str {
    match full {
        true => ": make room; nothing is harmed, and the same command goes on from here",
        false => "",
    }
}

fn unread(failures: &[InputFailure]) -> String {
    let list: Vec<String> = failures.iter().map(InputFailure::to_string).collect();
    match failures.len() {
        1 => format!("an input could not be read whole: {}", list.concat()),
        n => format!("{n} inputs could not be read whole:\n  {}", list.join("\n  ")),
    }
}
