//! Sorted runs on disk.
//!
//! A run is a row of fixed-size records and ends with the XXH3 checksum of them all: a spill
//! folder may be on another disk than the work, and a wrong byte there must not reach a book.

use std::{
    fs::{self, File},
    io::{BufReader, BufWriter, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use tabiya_model::{Entry, PackedMove, PositionKey, Score, Scores, Tally};
use xxhash_rust::xxh3::Xxh3;

use crate::Error;

const RECORD: usize = 53;

/// Bytes read or written at a time; a merge holds one such buffer a run.
const BUFFER: usize = 64 << 10;

/// Writes a run.
pub(super) struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    hash: Xxh3,
}

impl RunWriter {
    pub(super) fn create(path: PathBuf) -> Result<RunWriter, Error> {
        let file = File::create(&path).map_err(Error::io(&path))?;
        Ok(RunWriter { path, file: BufWriter::with_capacity(BUFFER, file), hash: Xxh3::new() })
    }

    pub(super) fn push(&mut self, entry: &Entry) -> Result<(), Error> {
        let record = encode(entry);
        self.hash.update(&record);
        self.file.write_all(&record).map_err(Error::io(&self.path))
    }

    pub(super) fn finish(mut self) -> Result<PathBuf, Error> {
        let checksum = self.hash.digest().to_le_bytes();
        let written = self.file.write_all(&checksum).and_then(|()| self.file.flush());
        written.map_err(Error::io(&self.path))?;
        Ok(self.path)
    }
}

/// Reads a run. An error ends it.
pub(super) struct RunReader {
    path: PathBuf,
    file: BufReader<File>,
    records: u64,
    hash: Xxh3,
}

impl RunReader {
    pub(super) fn open(path: &Path) -> Result<RunReader, Error> {
        let file = File::open(path).map_err(Error::io(path))?;
        let bytes = file.metadata().map_err(Error::io(path))?.len();
        let records = bytes.saturating_sub(8);
        if !records.is_multiple_of(RECORD as u64) {
            return Err(Error::DamagedRun { path: path.to_owned() });
        }
        Ok(RunReader {
            path: path.to_owned(),
            file: BufReader::with_capacity(BUFFER, file),
            records: records / RECORD as u64,
            hash: Xxh3::new(),
        })
    }

    /// The next entry; after the last one the checksum is compared.
    pub(super) fn next(&mut self) -> Result<Option<Entry>, Error> {
        if self.records == 0 {
            let mut checksum = [0; 8];
            self.fill(&mut checksum)?;
            return match u64::from_le_bytes(checksum) == self.hash.digest() {
                true => Ok(None),
                false => Err(self.damaged()),
            };
        }
        let mut record = [0; RECORD];
        self.fill(&mut record)?;
        self.hash.update(&record);
        self.records -= 1;
        decode(&record).map(Some).ok_or_else(|| self.damaged())
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.damaged(),
            _ => Error::io(&self.path)(error),
        })
    }

    fn damaged(&self) -> Error {
        Error::DamagedRun { path: self.path.clone() }
    }
}

pub(super) fn remove(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(Error::io(path))
}

fn encode(entry: &Entry) -> [u8; RECORD] {
    let tally = &entry.tally;
    let (flag, scores) = match tally.scores {
        Some(scores) => (1, scores),
        None => (0, Scores { worst: Score::DRAWN, best: Score::DRAWN, sum_cp: 0 }),
    };
    let mut record = [0; RECORD];
    let mut free = record.as_mut_slice();
    let fields: [&[u8]; 9] = [
        &entry.key.0.to_le_bytes(),
        &entry.mv.0.to_le_bytes(),
        &tally.wins.to_le_bytes(),
        &tally.draws.to_le_bytes(),
        &tally.losses.to_le_bytes(),
        &[flag],
        &encode_score(scores.worst),
        &encode_score(scores.best),
        &scores.sum_cp.to_le_bytes(),
    ];
    for field in fields {
        // Fits: the fields are RECORD bytes together, as the test below says.
        let _ = free.write_all(field);
    }
    record
}

fn decode(record: &[u8; RECORD]) -> Option<Entry> {
    let mut fields = record.as_slice();
    let entry = Entry {
        key: PositionKey(u64::from_le_bytes(take(&mut fields)?)),
        mv: PackedMove(u16::from_le_bytes(take(&mut fields)?)),
        tally: Tally {
            wins: u64::from_le_bytes(take(&mut fields)?),
            draws: u64::from_le_bytes(take(&mut fields)?),
            losses: u64::from_le_bytes(take(&mut fields)?),
            scores: None,
        },
    };
    let [flag] = take(&mut fields)?;
    let scores = Scores {
        worst: decode_score(take(&mut fields)?)?,
        best: decode_score(take(&mut fields)?)?,
        sum_cp: i64::from_le_bytes(take(&mut fields)?),
    };
    let tally = Tally { scores: (flag == 1).then_some(scores), ..entry.tally };
    Some(Entry { tally, ..entry })
}

fn take<const N: usize>(fields: &mut &[u8]) -> Option<[u8; N]> {
    let (field, rest) = fields.split_first_chunk::<N>()?;
    *fields = rest;
    Some(*field)
}

fn encode_score(score: Score) -> [u8; 5] {
    let (kind, [a, b, c, d]) = match score {
        Score::Cp(cp) => (0, cp.to_le_bytes()),
        Score::MateIn(moves) => (1, moves.to_le_bytes()),
        Score::MatedIn(moves) => (2, moves.to_le_bytes()),
    };
    [kind, a, b, c, d]
}

fn decode_score([kind, a, b, c, d]: [u8; 5]) -> Option<Score> {
    let bytes = [a, b, c, d];
    match kind {
        0 => Some(Score::Cp(i32::from_le_bytes(bytes))),
        1 => Some(Score::MateIn(u32::from_le_bytes(bytes))),
        2 => Some(Score::MatedIn(u32::from_le_bytes(bytes))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let scores = |worst, best| Some(Scores { worst, best, sum_cp: -7 });
        [
            None,
            scores(Score::MatedIn(3), Score::Cp(-5)),
            scores(Score::Cp(i32::MIN), Score::MateIn(u32::MAX)),
        ]
        .into_iter()
        .enumerate()
        .map(|(n, scores)| Entry {
            key: PositionKey(u64::MAX - 9 + n as u64),
            mv: PackedMove(0x8107),
            tally: Tally { wins: 1, draws: u64::MAX, losses: 3, scores },
        })
        .collect()
    }

    fn read(path: &Path) -> Result<Vec<Entry>, Error> {
        let mut run = RunReader::open(path)?;
        let mut entries = Vec::new();
        while let Some(entry) = run.next()? {
            entries.push(entry);
        }
        Ok(entries)
    }

    #[test]
    fn a_run_reads_back_and_a_wrong_byte_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut run = RunWriter::create(dir.path().join("1.run")).unwrap();
        for entry in entries() {
            run.push(&entry).unwrap();
        }
        let path = run.finish().unwrap();
        assert_eq!(read(&path).unwrap(), entries());

        let sound = fs::read(&path).unwrap();
        assert_eq!(sound.len(), 3 * RECORD + 8);
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            fs::write(&path, damaged).unwrap();
            assert!(matches!(read(&path), Err(Error::DamagedRun { .. })), "byte {at}");
        }
        for length in 0..sound.len() {
            fs::write(&path, &sound[..length]).unwrap();
            assert!(matches!(read(&path), Err(Error::DamagedRun { .. })), "length {length}");
        }
    }
}
