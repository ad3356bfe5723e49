//! The durable cut: left of it is dear and resumes, right of it is cheap, pure, and runs again.
//!
//! ```text
//! work/journal-FINGERPRINT/  manifest.json   what is published: sources, segments, counts
//!                            000001.seg      lines with their scores
//!                            000001.rejects.jsonl
//! ```
//!
//! What the manifest names is complete; what it does not name is removed. A first run, a run that
//! goes on after a crash, and one that makes other books of the same lines are the same: published
//! segments are replayed, then what is new is appended and handed on.

mod durable;
mod fingerprint;
mod folder;
mod manifest;
mod plan;
mod segment;
mod sources;
mod stage;

pub use fingerprint::engine_fingerprint;
pub use folder::{FoundJournal, JournalInfo, SetAside, journals};
pub use plan::{Plan, ToRead, Why};
pub(crate) use stage::{Journaled, replay, run};

use std::path::{Path, PathBuf};

use crate::{Error, Source, config::Config, pgn::Start, source::Found};
use fingerprint::Fingerprint;
use folder::Folder;
use manifest::{Manifest, SegmentRecord, hex};
use sources::Matched;

/// The journal that belongs to a configuration, and how the inputs stand to it.
#[derive(Debug)]
pub struct Journal {
    folder: Folder,
    manifest: Manifest,
    sources: Vec<Source>,
    matched: Matched,
    warnings: Vec<String>,
    effective: serde_json::Value,
}

/// What becomes of inputs that are not what they were when they were read, or are not wanted any
/// more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strangers {
    /// They are an error: nobody should lose games by a slip.
    Refuse,
    /// Their lines do not count any more, and altered ones are read again: for a service, which has
    /// nobody to ask.
    Retire {
        /// Names of files that are being changed: what was read of them counts until they are
        /// complete again.
        settling: Vec<String>,
    },
}

/// A source of which something is left to read.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Its index in the order of the inputs.
    pub(crate) index: usize,
    pub(crate) source: Source,
    pub(crate) start: Start,
}

impl Journal {
    /// Looks at the journal of `config` under its work folder and holds the inputs against it.
    /// Changes nothing.
    ///
    /// # Errors
    ///
    /// The journal is damaged, or an input was altered or dropped since it was read.
    pub fn open(config: &Config, found: Found, strangers: Strangers) -> Result<Journal, Error> {
        let fingerprint = Fingerprint::of(config)?;
        let folder = Folder::new(&config.checkpoint.dir, &fingerprint);
        let manifest = folder.load()?.unwrap_or_else(|| Manifest::new(&fingerprint));
        let mut matched = sources::matched(&manifest, &found, &strangers, folder.path())?;
        // What was left out as a duplicate of a retired game is not in any segment.
        matched.anew |= config.filter.dedupe && matched.retires();
        let warnings = matched.warnings.clone();
        let effective = fingerprint::effective(config);
        Ok(Journal { folder, manifest, sources: found.sources, matched, warnings, effective })
    }

    /// Whether games are left to read, so that somebody may have to score them.
    pub fn has_unread(&self) -> bool {
        !self.pending().is_empty()
    }

    /// What a run would do, and why.
    pub fn plan(&self) -> Plan {
        plan::plan(self)
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Lines in it.
    pub fn lines(&self) -> u64 {
        self.manifest.live_spans().map(|(_, span)| span.lines).sum()
    }

    /// Puts the journal of `config` out of the way, so that a run starts over. Stored scores stay.
    pub fn set_aside(config: &Config) -> Result<Option<SetAside>, Error> {
        let fingerprint = Fingerprint::of(config)?;
        Folder::new(&config.checkpoint.dir, &fingerprint).set_aside()
    }

    /// Removes what a crash left, and makes the folder ready to be written to.
    pub(crate) fn prepare(&mut self) -> Result<(), Error> {
        if self.matched.anew {
            self.manifest.segments.clear();
            self.manifest.sources.clear();
        }
        self.folder.prepare(&self.manifest)?;
        self.manifest.config = self.effective.clone();
        sources::enter(&mut self.manifest, &self.sources, &self.matched);
        self.folder.publish_manifest(&self.manifest)
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where the rejects of all sources are put together.
    pub(crate) fn rejects_path(work: &Path) -> PathBuf {
        work.join("rejects.jsonl")
    }

    /// What is left to read, in the order of the inputs.
    pub(crate) fn pending(&self) -> Vec<Pending> {
        let pending = |(index, source): (usize, &Source)| {
            let start = self.matched.start(&self.manifest, index)?;
            Some(Pending { index, source: source.clone(), start })
        };
        self.sources.iter().enumerate().filter_map(pending).collect()
    }

    /// Bytes on disk of the sources that need not be read any more.
    pub(crate) fn finished_size(&self) -> u64 {
        let finished =
            |&(index, _): &(usize, &Source)| self.matched.start(&self.manifest, index).is_none();
        self.sources.iter().enumerate().filter(finished).filter_map(|(_, it)| it.size()).sum()
    }

    /// The identities of all games in it, for telling duplicates of them.
    pub(crate) fn identities(&self) -> Result<Vec<u128>, Error> {
        let mut identities = Vec::new();
        for record in &self.manifest.segments {
            self.read_segment(record, |_, line, identity| {
                identities.extend(identity);
                drop(line);
                Ok(())
            })?;
        }
        Ok(identities)
    }

    /// Calls `each` for the lines of a segment, but for those of sources that are not counted any
    /// more.
    fn read_segment(
        &self,
        record: &SegmentRecord,
        mut each: impl FnMut(usize, crate::batch::Scored, Option<u128>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let bytes = self.folder.read_segment(record)?;
        let damaged = || self.folder.damaged(&record.name());
        let mut reader = segment::Reader::new(&bytes).ok_or_else(damaged)?;
        for span in &record.spans {
            let counted = self.manifest.is_counted(span.source);
            for _ in 0..span.lines {
                let (line, identity) = reader.next().ok_or_else(damaged)?;
                if counted {
                    each(span.source, line, identity)?;
                }
            }
        }
        if reader.is_at_end() { Ok(()) } else { Err(damaged()) }
    }
}
