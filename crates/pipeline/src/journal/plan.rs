//! What a run would do, and why.

use serde::Serialize;

use super::{Journal, fingerprint::differences};

/// What a run would do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The folder of the journal.
    pub journal: String,
    /// Published segments that would be replayed.
    pub segments: usize,
    /// Lines in them.
    pub lines: u64,
    /// Games behind them.
    pub games: u64,
    /// Inputs that would be read.
    pub read: Vec<ToRead>,
    /// Inputs that need not be read any more.
    pub finished: usize,
    /// Keys of the configuration that differ from the last run's, with both values.
    pub changed: Vec<String>,
    /// One line each.
    pub warnings: Vec<String>,
}

/// An input that would be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToRead {
    /// The input.
    pub source: String,
    /// Games of it that are in the journal already.
    pub games_done: u64,
    /// Why it would be read.
    pub why: Why,
}

/// Why an input would be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It was never read under these rules.
    New,
    /// Reading ended before its end.
    Unfinished,
}

pub(super) fn plan(journal: &Journal) -> Plan {
    let kept = !journal.matched.anew;
    let spans = || journal.manifest.live_spans().filter(|_| kept);
    let read: Vec<ToRead> = journal
        .pending()
        .into_iter()
        .map(|pending| ToRead {
            source: pending.source.name(),
            games_done: pending.start.game,
            why: if pending.start.offset > 0 { Why::Unfinished } else { Why::New },
        })
        .collect();
    let changed = match &journal.manifest.config {
        serde_json::Value::Null => Vec::new(),
        last => differences(last, &journal.effective),
    };
    Plan {
        journal: journal.path().display().to_string(),
        segments: if kept { journal.manifest.segments.len() } else { 0 },
        lines: spans().map(|(_, span)| span.lines).sum(),
        games: spans().map(|(_, span)| span.census.read).sum(),
        finished: journal.sources.len() - read.len(),
        read,
        changed,
        warnings: journal.warnings.clone(),
    }
}
