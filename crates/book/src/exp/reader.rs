//! Reading experience files: all records in memory, sorted, 16 bytes each.

use std::{
    cmp::Reverse,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use shakmaty::{Chess, Move};
use tabiya_model::PositionKey;

use super::{RECORD, Record, keys, looks_like_records};
use crate::{
    Book, BookFile, BookMove, Error, Format, Info, Probe, RawEntry, Verified, Walk, book::sort,
    source::Source, walk,
};

/// An experience file open for reading.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    /// By key, then move: of a move that was searched several times the deepest search.
    records: Vec<Record>,
    positions: u64,
    /// Records that the engine cannot have written.
    odd: u64,
    dropped: AtomicU64,
}

impl Reader {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::NotABook`] if it does not begin with records: the format has no mark.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let source = Source::open(path.as_ref())?;
        let mut head = vec![0; source.len().min(512) as usize];
        source.read(0, &mut head)?;
        if !looks_like_records(&head) {
            let looks = "it does not begin with records of BrainLearn's experience".to_owned();
            return Err(Error::NotABook { path: source.path().to_owned(), looks });
        }
        let mut records = Vec::new();
        let mut odd = 0;
        let mut rest = Vec::new();
        source.stream(0, source.len(), |piece| {
            rest.extend_from_slice(piece);
            let (whole, torn) = rest.as_chunks();
            for bytes in whole {
                match Record::from_bytes(bytes) {
                    Some(record) => records.push(record),
                    None => odd += 1,
                }
            }
            rest = torn.to_vec();
            Ok(())
        })?;
        records.sort_unstable_by_key(|record| {
            (record.key, record.word, Reverse(record.depth), Reverse(record.value))
        });
        records.dedup_by_key(|record| (record.key, record.word));
        let positions = records.chunk_by(|a, b| a.key == b.key).count() as u64;
        Ok(Reader { source, records, positions, odd, dropped: AtomicU64::new(0) })
    }

    fn of(&self, key: u64) -> &[Record] {
        let start = self.records.partition_point(|record| record.key < key);
        let rest = self.records.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|record| record.key == key)).unwrap_or_default()
    }

    /// Plays from the start of the game: how many positions that leads to, and how many of their
    /// moves are illegal.
    fn survey(&self) -> (u64, u64) {
        let (mut reached, mut illegal) = (0, 0);
        walk::explore(
            |key| !self.of(key.0).is_empty(),
            |position| PositionKey(keys::of(position)),
            |position, key| {
                reached += 1;
                let records = self.of(key.0);
                let moves: Vec<Move> =
                    records.iter().filter_map(|record| legal(*record, position)).collect();
                illegal += (records.len() - moves.len()) as u64;
                moves
            },
        );
        (reached, illegal)
    }
}

fn legal(record: Record, position: &Chess) -> Option<Move> {
    record.packed()?.to_move(position)
}

impl Probe for Reader {
    /// The weight is what the engine hoped for, 1 to 999.
    fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> Result<(), Error> {
        moves.clear();
        for &record in self.of(keys::of(position)) {
            let Some(m) = legal(record, position) else {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            let weight = record.weight();
            moves.push(BookMove { m, weight, rank: None, learn: None, games: None });
        }
        sort(moves);
        Ok(())
    }
}

impl Walk for Reader {
    /// By key, and these are Stockfish's.
    fn walk(&self, each: &mut dyn FnMut(RawEntry) -> Result<(), Error>) -> Result<(), Error> {
        for &record in &self.records {
            let Some(mv) = record.packed() else { continue };
            each(RawEntry {
                key: PositionKey(record.key),
                word: mv.polyglot(),
                uci: mv.to_string(),
                weight: record.weight(),
                learn: None,
                rank: None,
                priority: None,
                nag: None,
                games: None,
            })?;
        }
        Ok(())
    }
}

impl Book for Reader {
    fn format(&self) -> Format {
        Format::Exp
    }

    fn key(&self, position: &Chess) -> Option<PositionKey> {
        Some(PositionKey(keys::of(position)))
    }

    fn has_polyglot_keys(&self) -> bool {
        false
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn damage(&self) -> Vec<String> {
        let torn = self.source.len() % RECORD as u64;
        let mut damage = Vec::new();
        if torn > 0 {
            damage.push(format!("bytes after the last whole record: {torn}"));
        }
        if self.odd > 0 {
            damage.push(format!("{} records are none that the engine writes: left out", self.odd));
        }
        damage
    }

    fn info(&self) -> Info {
        let mut warnings = self.damage();
        let unreached = self.positions.saturating_sub(self.survey().0);
        if unreached > 0 {
            warnings.push(format!(
                "{unreached} positions are in no line from the start of the game: conversions \
                 leave them out"
            ));
        }
        Info {
            format: self.format(),
            files: vec![BookFile { path: self.source.path().to_owned(), bytes: self.source.len() }],
            bytes: self.source.len(),
            entries: self.records.len() as u64,
            positions: self.positions,
            codec: None,
            blocks: None,
            id: None,
            meta: None,
            warnings,
        }
    }

    fn verify(&self) -> Result<Verified, Error> {
        let mut problems = self.damage();
        let (_, illegal) = self.survey();
        if illegal > 0 {
            problems.push(format!("{illegal} moves are illegal in their position"));
        }
        let (entries, positions) = (self.records.len() as u64, self.positions);
        Ok(Verified { entries, positions, problems, unlisted: 0 })
    }
}
