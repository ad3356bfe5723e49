//! Which inputs were read before, and whether they still are what they were.
//!
//! A file is known by its size and hashes of its first and last 64 KiB, so that it may be renamed
//! or moved. Where its time has changed, too, all of it is held against the hash of what was read.
//! Two inputs of the same content are told apart by their order.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::{
    Strangers, hex,
    manifest::{Manifest, SourceRecord},
};
use crate::{Error, Source, pgn::Start, source::Found};

/// What a file is known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digest {
    size: u64,
    head: String,
    tail: String,
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.size, self.head, self.tail)
    }
}

const ENDS: u64 = 64 << 10;

/// Looks at both ends of a file.
pub(super) fn digest(path: &Path) -> io::Result<Digest> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut piece = |from: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        (&mut file).take(ENDS).read_to_end(&mut bytes)?;
        io::Result::Ok(hex(xxh3_128(&bytes)))
    };
    let head = piece(0)?;
    let tail = piece(size.saturating_sub(ENDS))?;
    Ok(Digest { size, head, tail })
}

/// Size and time of a file, as far as there are any.
fn stamp(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.metadata().ok()?;
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((metadata.len(), since.as_nanos() as u64))
}

/// How the inputs of this run stand to those of the journal.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// For each input, what it is known by and the source it is in the manifest.
    inputs: Vec<Input>,
    /// Sources of the manifest that were replaced before they were finished.
    retired: Vec<usize>,
    /// The journal cannot be gone on with, and begins anew.
    pub(super) anew: bool,
    /// One line each.
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Default)]
struct Input {
    digest: Option<Digest>,
    modified: Option<u64>,
    known: Option<usize>,
}

impl Matched {
    /// Where reading of an input begins; `None` when it was read to its end.
    pub(super) fn start(&self, manifest: &Manifest, input: usize) -> Option<Start> {
        let known = self.inputs.get(input).and_then(|input| input.known);
        match known.filter(|_| !self.anew) {
            Some(source) if manifest.sources.get(source)?.finished => None,
            Some(source) => Some(manifest.end_of(source)),
            None => Some(Start::default()),
        }
    }

    /// Whether sources of the journal do not count any more.
    pub(super) fn retires(&self) -> bool {
        !self.retired.is_empty()
    }

    /// The source of the manifest that an input is, once it was entered.
    fn source(&self, manifest: &Manifest, input: usize) -> usize {
        let new_before =
            self.inputs.iter().take(input).filter(|input| self.anew || input.known.is_none());
        let new = self.inputs.iter().filter(|input| self.anew || input.known.is_none()).count();
        let known = self.inputs.get(input).and_then(|input| input.known);
        known
            .filter(|_| !self.anew)
            .unwrap_or_else(|| manifest.sources.len() - new + new_before.count())
    }
}

/// Holds the inputs against the sources of the manifest.
///
/// # Errors
///
/// An input that was read to its end was altered or dropped: the lines of the journal are not
/// those of the inputs any more.
pub(super) fn matched(
    manifest: &Manifest,
    found: &Found,
    strangers: &Strangers,
    journal: &Path,
) -> Result<Matched, Error> {
    let mut matched = Matched::default();
    for source in &found.sources {
        matched.inputs.push(input(source, manifest)?);
    }
    let from_pipe = |digest: &Option<Digest>| digest.is_none();
    matched.anew = manifest.sources.iter().any(|source| from_pipe(&source.digest))
        || found.sources.contains(&Source::Stdin);
    if matched.anew {
        found.all()?;
        return Ok(matched);
    }
    match_up(&mut matched, manifest, found);
    let mut gone = Vec::new();
    for (index, source) in manifest.sources.iter().enumerate() {
        let is_input = matched.inputs.iter().any(|input| input.known == Some(index));
        if is_input || source.retired {
            continue;
        }
        let exists = Path::new(&source.name).exists();
        let (retire, settling) = match strangers {
            Strangers::Refuse => (false, false),
            Strangers::Retire { settling } => (true, settling.contains(&source.name)),
        };
        if source.finished && settling {
            continue;
        }
        if !source.finished || (exists && retire) {
            matched.retired.push(index);
            continue;
        }
        if found.sources.iter().any(|input| input.name() == source.name) {
            return Err(Error::AlteredInput { name: source.name.clone(), journal: journal.into() });
        }
        if exists {
            return Err(Error::DroppedInput { name: source.name.clone(), journal: journal.into() });
        }
        matched.warnings.push(format!(
            "{} is gone; its games stay in the book (`tabiya run --fresh` leaves them out)",
            source.name
        ));
        gone.push(source.name.as_str());
    }
    found.all_but(&gone)?;
    Ok(matched)
}

fn input(source: &Source, manifest: &Manifest) -> Result<Input, Error> {
    let Source::File(path) = source else { return Ok(Input::default()) };
    let stamp = stamp(path);
    let modified = stamp.map(|(_, modified)| modified);
    let name = source.name();
    let same = |known: &&SourceRecord| {
        let size = known.digest.as_ref().map(|digest| digest.size);
        known.name == name && !known.retired && stamp == size.zip(known.modified)
    };
    let digest = match manifest.sources.iter().find(same) {
        Some(known) => known.digest.clone(),
        None => Some(digest(path).map_err(Error::io(path))?),
    };
    Ok(Input { digest, modified, known: None })
}

/// Each input is at most one source, and each source at most one input: the one of the same name
/// if there is one, else the first of the same content.
fn match_up(matched: &mut Matched, manifest: &Manifest, found: &Found) {
    let mut taken = vec![false; manifest.sources.len()];
    for by_name in [true, false] {
        for (input, source) in matched.inputs.iter_mut().zip(&found.sources) {
            let name = source.name();
            let mut candidates = manifest.sources.iter().zip(&mut taken).enumerate();
            let fits = |(_, (known, taken)): &(usize, (&SourceRecord, &mut bool))| {
                !**taken
                    && !known.retired
                    && known.digest == input.digest
                    && (!by_name || known.name == name)
                    && (known.modified == input.modified || is_same(known, source))
            };
            if input.known.is_none()
                && let Some((index, (_, taken))) = candidates.find(fits)
            {
                *taken = true;
                input.known = Some(index);
            }
        }
    }
}

/// Whether a file of the same size and ends is the same all through. One that was not read to its
/// end is read again rather than trusted.
fn is_same(known: &SourceRecord, source: &Source) -> bool {
    let (Source::File(path), Some(content)) = (source, &known.content) else { return false };
    let hash = || {
        let mut file = File::open(path)?;
        let mut hash = Xxh3::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            match file.read(&mut buffer)? {
                0 => return io::Result::Ok(hex(hash.digest128())),
                bytes => hash.update(buffer.get(..bytes).unwrap_or_default()),
            }
        }
    };
    hash().is_ok_and(|found| found == *content)
}

/// Enters the inputs that are new into the manifest, and what else was found out.
pub(super) fn enter(manifest: &mut Manifest, sources: &[Source], matched: &Matched) {
    for &index in &matched.retired {
        if let Some(source) = manifest.sources.get_mut(index) {
            source.retired = true;
        }
    }
    for (input, source) in matched.inputs.iter().zip(sources) {
        match input.known.filter(|_| !matched.anew).and_then(|it| manifest.sources.get_mut(it)) {
            Some(known) => {
                known.name = source.name();
                known.modified = input.modified;
            }
            None => manifest.sources.push(SourceRecord {
                name: source.name(),
                digest: input.digest.clone(),
                modified: input.modified,
                finished: false,
                content: None,
                retired: false,
                warning: None,
            }),
        }
    }
}

/// For each input the source it is in the manifest, after [`enter`].
pub(super) fn indices(manifest: &Manifest, matched: &Matched) -> Vec<usize> {
    (0..matched.inputs.len()).map(|input| matched.source(manifest, input)).collect()
}
