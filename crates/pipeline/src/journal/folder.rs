//! The folder of a journal: what is in it, and how it gets there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::xxh3_128;

use super::{
    durable,
    fingerprint::Fingerprint,
    hex,
    manifest::{Manifest, SegmentRecord, SpanRecord, rejects_name, segment_name},
};
use crate::{Error, crash};

const PREFIX: &str = "journal-";
const MANIFEST: &str = "manifest.json";

/// The folder of one journal.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    fingerprint: String,
}

/// A journal that was put out of the way.
#[derive(Clone, Debug)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// Lines in it.
    pub lines: u64,
    /// Segments in it.
    pub segments: usize,
}

/// A journal that was found under a work folder.
#[derive(Debug)]
pub struct FoundJournal {
    /// Its folder.
    pub path: PathBuf,
    /// What it holds, or why that cannot be said.
    pub info: Result<JournalInfo, Error>,
}

/// What a journal holds.
#[derive(Clone, Debug)]
pub struct JournalInfo {
    /// Bytes on disk.
    pub bytes: u64,
    /// Its sources: name, games read, whether it was read to its end.
    pub sources: Vec<(String, u64, bool)>,
    /// Segments.
    pub segments: usize,
    /// Lines that count.
    pub lines: u64,
    /// Games, by what became of them.
    pub games: tabiya_model::Census,
    /// The configuration of its last run.
    pub config: serde_json::Value,
}

impl Folder {
    pub(super) fn new(work: &Path, fingerprint: &Fingerprint) -> Folder {
        let path = work.join(format!("{PREFIX}{}", fingerprint.0));
        Folder { path, fingerprint: fingerprint.0.clone() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn damaged(&self, name: &str) -> Error {
        Error::DamagedJournal { path: self.path.join(name) }
    }

    /// The manifest, if there is one.
    pub(super) fn load(&self) -> Result<Option<Manifest>, Error> {
        let manifest = load(&self.path)?;
        match manifest.as_ref().is_none_or(|found| found.fingerprint == self.fingerprint) {
            true => Ok(manifest),
            false => Err(self.damaged(MANIFEST)),
        }
    }

    /// Makes the folder, and removes what no manifest names.
    pub(super) fn prepare(&self, manifest: &Manifest) -> Result<(), Error> {
        fs::create_dir_all(&self.path).map_err(Error::io(&self.path))?;
        let mut named = vec![MANIFEST.to_owned()];
        for segment in &manifest.segments {
            named.extend([segment.name(), segment.rejects_name()]);
        }
        for entry in fs::read_dir(&self.path).map_err(Error::io(&self.path))? {
            let path = entry.map_err(Error::io(&self.path))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !named.iter().any(|known| *known == name) {
                tracing::debug!(file = %path.display(), "removing what a crash left");
                fs::remove_file(&path).map_err(Error::io(&path))?;
            }
        }
        crash::point("journal-prepared");
        if let Some(work) = self.path.parent() {
            durable::sync_folder(work)?;
        }
        Ok(())
    }

    /// Puts a segment and its rejects on disk, then the manifest that names them.
    pub(super) fn publish(
        &self,
        manifest: &mut Manifest,
        lines: &[u8],
        rejects: &[u8],
        spans: Vec<SpanRecord>,
    ) -> Result<(), Error> {
        let number = manifest.next_number();
        durable::write(&self.path.join(segment_name(number)), lines)?;
        if !rejects.is_empty() {
            durable::write(&self.path.join(rejects_name(number)), rejects)?;
        }
        crash::point("segment-written");
        manifest.segments.push(SegmentRecord {
            number,
            bytes: lines.len() as u64,
            checksum: hex(xxh3_128(lines)),
            rejects: rejects.len() as u64,
            rejects_checksum: hex(xxh3_128(rejects)),
            spans,
        });
        self.publish_manifest(manifest)?;
        crash::point("segment-published");
        Ok(())
    }

    pub(super) fn publish_manifest(&self, manifest: &Manifest) -> Result<(), Error> {
        let path = self.path.join(MANIFEST);
        // The names that it mentions come before it.
        durable::sync_folder(&self.path)?;
        let bytes = manifest.encode().map_err(|error| Error::io(&path)(error.into()))?;
        durable::write(&path, &bytes)?;
        durable::sync_folder(&self.path)
    }

    /// The bytes of a segment, if they are as they were written.
    pub(super) fn read_segment(&self, record: &SegmentRecord) -> Result<Vec<u8>, Error> {
        self.read(&record.name(), record.bytes, &record.checksum)
    }

    pub(super) fn read_rejects(&self, record: &SegmentRecord) -> Result<Vec<u8>, Error> {
        match record.rejects {
            0 => Ok(Vec::new()),
            bytes => self.read(&record.rejects_name(), bytes, &record.rejects_checksum),
        }
    }

    fn read(&self, name: &str, size: u64, checksum: &str) -> Result<Vec<u8>, Error> {
        let path = self.path.join(name);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.damaged(name));
            }
            bytes => bytes.map_err(Error::io(&path))?,
        };
        match bytes.len() as u64 == size && hex(xxh3_128(&bytes)) == checksum {
            true => Ok(bytes),
            false => Err(self.damaged(name)),
        }
    }

    /// Renames the folder to one that no run looks for.
    pub(super) fn set_aside(&self) -> Result<Option<SetAside>, Error> {
        if !self.path.exists() {
            return Ok(None);
        }
        // A damaged one is put aside as well: this is the way out of damage.
        let manifest = self.load().ok().flatten();
        let free = (1..).map(|n| self.path.with_added_extension(format!("old-{n}")));
        let Some(path) = free.into_iter().find(|path| !path.exists()) else { return Ok(None) };
        fs::rename(&self.path, &path).map_err(Error::io(&self.path))?;
        let lines = manifest
            .as_ref()
            .map_or(0, |manifest| manifest.live_spans().map(|(_, span)| span.lines).sum());
        let segments = manifest.map_or(0, |manifest| manifest.segments.len());
        Ok(Some(SetAside { path, lines, segments }))
    }
}

fn load(journal: &Path) -> Result<Option<Manifest>, Error> {
    let path = journal.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(&path)(error)),
    };
    match Manifest::decode(&bytes) {
        Ok(manifest) => Ok(Some(manifest)),
        Err(reason) => {
            tracing::debug!(%reason, "the manifest is damaged");
            Err(Error::DamagedJournal { path })
        }
    }
}

/// All journals under a work folder, those that were put aside too, by name. Damaged ones are
/// errors of their own.
pub fn journals(work: &Path) -> Result<Vec<FoundJournal>, Error> {
    let entries = match fs::read_dir(work) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(work))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io(work))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(PREFIX) && path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.into_iter().map(|path| FoundJournal { info: info(&path), path }).collect())
}

fn info(path: &Path) -> Result<JournalInfo, Error> {
    let bytes = fs::read_dir(path)
        .map_err(Error::io(path))?
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|file| file.len())
        .sum();
    let Some(manifest) = load(path)? else {
        return Err(Error::DamagedJournal { path: path.join(MANIFEST) });
    };
    let mut games = tabiya_model::Census::default();
    let mut lines = 0;
    for (_, span) in manifest.live_spans() {
        games.add(&span.census);
        lines += span.lines;
    }
    let counted = manifest.sources.iter().enumerate().filter(|(_, source)| !source.retired);
    let sources = counted
        .map(|(index, source)| (source.name.clone(), manifest.end_of(index).game, source.finished))
        .collect();
    let segments = manifest.segments.len();
    Ok(JournalInfo { bytes, sources, segments, lines, games, config: manifest.config })
}
