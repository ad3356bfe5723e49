//! Reading PolyGlot books: the file stays on disk, a look-up is a binary search in it.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use shakmaty::Chess;
use tabiya_model::{PackedMove, PositionKey};

use super::{ENTRY, Stored};
use crate::{
    Book, BookFile, BookMove, Error, Format, Info, Probe, RawEntry, Verified, Walk,
    book::sort,
    sniff::{self, Looks},
    source::{Pages, Source},
};

/// A PolyGlot book open for reading.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    pages: Mutex<Pages>,
    /// Whole entries, the header's among them.
    stored: u64,
    /// Entries in front that carry text.
    header: u64,
    text: Option<String>,
    dropped: AtomicU64,
}

const HEADER_MARK: &str = "@PG@";

/// Longer texts are cut: no known header has more than a few hundred bytes.
const HEADER_TEXT: u64 = 1 << 15;

impl Reader {
    /// Opens a file and takes samples of it.
    ///
    /// Bytes after the last whole entry are never read as one; [`Book::info`] reports them.
    ///
    /// # Errors
    ///
    /// [`Error::NotABook`] if the samples are not in order or do not look like moves: the format
    /// has no mark to tell it by.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let path = path.as_ref();
        let not_a_book = |looks: String| Error::NotABook { path: path.to_owned(), looks };
        match sniff::look(path)? {
            Looks::Sob => return Err(not_a_book("it looks like half of a .sob pair".to_owned())),
            Looks::Abk => return Err(not_a_book("it looks like an Arena book (.abk)".to_owned())),
            Looks::Ctg => {
                return Err(not_a_book("it looks like a ChessBase book (.ctg)".to_owned()));
            }
            Looks::Exp => {
                return Err(not_a_book("it looks like BrainLearn's experience".to_owned()));
            }
            Looks::Other(name) => return Err(not_a_book(format!("it looks like {name}"))),
            Looks::Unmarked => {}
        }
        let source = Source::open(path)?;
        let mut reader = Reader {
            pages: Mutex::new(Pages::new(&source)),
            stored: source.len() / ENTRY as u64,
            source,
            header: 0,
            text: None,
            dropped: AtomicU64::new(0),
        };
        if reader.stored == 0 && reader.source.len() > 0 {
            let text = "it is shorter than one entry of a PolyGlot book, the only format \
                        without a mark";
            return Err(not_a_book(text.to_owned()));
        }
        reader.read_header()?;
        if !reader.samples_are_plausible()? {
            let text = "it has no mark of any format, and read as entries of 16 bytes, as a \
                        PolyGlot book has them, it is unsorted or holds no moves";
            return Err(not_a_book(text.to_owned()));
        }
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), Error> {
        let header = self.lower_bound(1)?;
        let mut text = Vec::new();
        for index in 0..header.min(HEADER_TEXT / 8) {
            text.extend_from_slice(&self.entry(index)?.text());
        }
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        if text.starts_with(HEADER_MARK.as_bytes()) {
            self.header = header;
            self.text = Some(String::from_utf8_lossy(text).into_owned());
        }
        Ok(())
    }

    /// Looks at up to 256 pairs of neighbours, spread over the file: nine of ten must be moves in
    /// ascending order, so that a damaged book is still one and noise is not.
    fn samples_are_plausible(&self) -> Result<bool, Error> {
        const SAMPLES: u64 = 256;
        let moves = self.stored - self.header;
        let samples = moves.min(SAMPLES);
        let mut faults = 0;
        for sample in 0..samples {
            let index =
                self.header + (u128::from(sample) * u128::from(moves) / u128::from(samples)) as u64;
            let entry = self.entry(index)?;
            let unsorted = index + 1 < self.stored && self.entry(index + 1)?.key < entry.key;
            faults += u64::from(unsorted || entry.key == 0 || !entry.is_plausible());
        }
        Ok(faults * 10 <= samples)
    }

    fn entry(&self, index: u64) -> Result<Stored, Error> {
        self.entries().at(index)
    }

    fn entries(&self) -> Entries<'_> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Entries { source: &self.source, pages }
    }

    /// Index of the first entry whose key is not below `key`.
    fn lower_bound(&self, key: u64) -> Result<u64, Error> {
        let mut entries = self.entries();
        let (mut low, mut high) = (0, self.stored);
        while low < high {
            let middle = low + (high - low) / 2;
            if entries.at(middle)?.key < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Hands on the moves stored under a key with their weights, in the order of the file, whether
    /// they are legal or not.
    pub fn each_move(
        &self,
        key: PositionKey,
        mut each: impl FnMut(PackedMove, u16),
    ) -> Result<(), Error> {
        self.each_of(key, |entry| each(PackedMove(entry.word), entry.weight))
    }

    fn each_of(&self, key: PositionKey, mut each: impl FnMut(Stored)) -> Result<(), Error> {
        // Key 0 marks text, not a position.
        if key.0 == 0 {
            return Ok(());
        }
        for index in self.lower_bound(key.0)?..self.stored {
            let entry = self.entry(index)?;
            if entry.key != key.0 {
                break;
            }
            each(entry);
        }
        Ok(())
    }

    /// Every entry but the header's, in the order of the file.
    fn scan(&self, mut each: impl FnMut(Stored) -> Result<(), Error>) -> Result<(), Error> {
        let start = self.header * ENTRY as u64;
        let len = self.stored * ENTRY as u64 - start;
        self.source.stream(start, len, |piece| {
            piece.as_chunks().0.iter().copied().map(Stored::from_bytes).try_for_each(&mut each)
        })
    }

    /// Reads everything once.
    fn survey(&self) -> Result<Survey, Error> {
        let mut survey = Survey::default();
        self.scan(|entry| {
            survey.add(entry);
            Ok(())
        })?;
        survey.damage = self.damage();
        Ok(survey)
    }

    #[cfg(test)]
    pub(crate) fn stored(&self, key: PositionKey) -> Result<Vec<Stored>, Error> {
        let mut entries = Vec::new();
        self.each_of(key, |entry| entries.push(entry))?;
        Ok(entries)
    }
}

/// The file while nobody else reads it.
struct Entries<'a> {
    source: &'a Source,
    pages: MutexGuard<'a, Pages>,
}

impl Entries<'_> {
    fn at(&mut self, index: u64) -> Result<Stored, Error> {
        self.pages.read(self.source, index * ENTRY as u64).map(Stored::from_bytes)
    }
}

impl Probe for Reader {
    /// Entries that mean the same move are one: their weights are added, the first learn field
    /// stays.
    fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> Result<(), Error> {
        moves.clear();
        self.each_of(PositionKey::of(position), |entry| {
            // PolyGlot never sets bit 15; inside this program it means castling.
            let legal = match entry.word >> 15 {
                0 => PackedMove(entry.word).to_move(position),
                _ => None,
            };
            let Some(m) = legal else {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                return;
            };
            let weight = u32::from(entry.weight);
            match moves.iter_mut().find(|known| known.m == m) {
                Some(known) => known.weight = known.weight.saturating_add(weight),
                None => moves.push(BookMove {
                    m,
                    weight,
                    rank: None,
                    learn: Some(entry.learn),
                    games: None,
                }),
            }
        })?;
        sort(moves);
        Ok(())
    }
}

impl Walk for Reader {
    fn walk(&self, each: &mut dyn FnMut(RawEntry) -> Result<(), Error>) -> Result<(), Error> {
        self.scan(|entry| each(raw(entry)))
    }
}

impl Book for Reader {
    fn format(&self) -> Format {
        Format::Polyglot
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn text_entries(&self) -> Result<Vec<RawEntry>, Error> {
        (0..self.header).map(|index| Ok(raw(self.entry(index)?))).collect()
    }

    fn damage(&self) -> Vec<String> {
        let torn = self.source.len() % ENTRY as u64;
        let found = || {
            format!(
                "bytes after the last whole entry: {torn} (the file is cut short or has a tail)"
            )
        };
        (torn > 0).then(found).into_iter().collect()
    }

    fn info(&self) -> Info {
        let (survey, failure) = match self.survey() {
            Ok(survey) => (survey, None),
            Err(error) => (Survey::default(), Some(error.to_string())),
        };
        let mut warnings = survey.problems();
        warnings.extend(failure);
        Info {
            format: self.format(),
            files: vec![BookFile { path: self.source.path().to_owned(), bytes: self.source.len() }],
            bytes: self.source.len(),
            entries: self.stored - self.header,
            positions: survey.positions,
            codec: None,
            blocks: None,
            id: None,
            meta: self.text.as_ref().map(|text| serde_json::json!({ "header": text })),
            warnings,
        }
    }

    fn verify(&self) -> Result<Verified, Error> {
        let survey = self.survey()?;
        Ok(Verified {
            entries: survey.entries,
            positions: survey.positions,
            problems: survey.problems(),
            unlisted: 0,
        })
    }
}

fn raw(entry: Stored) -> RawEntry {
    RawEntry {
        key: PositionKey(entry.key),
        word: entry.word,
        uci: PackedMove(entry.word).to_string(),
        weight: u32::from(entry.weight),
        learn: Some(entry.learn),
        rank: None,
        priority: None,
        nag: None,
        games: None,
    }
}

/// What a pass over all entries finds.
#[derive(Debug, Default)]
struct Survey {
    entries: u64,
    positions: u64,
    damage: Vec<String>,
    descents: u64,
    first_descent: u64,
    implausible: u64,
    repeated: u64,
    keys_zero: u64,
    /// The key of the last entry, and the moves it had so far.
    key: Option<u64>,
    words: BTreeSet<u16>,
}

impl Survey {
    fn add(&mut self, entry: Stored) {
        if self.key != Some(entry.key) {
            if self.key.is_some_and(|key| key > entry.key) {
                self.descents += 1;
                if self.descents == 1 {
                    self.first_descent = self.entries;
                }
            }
            self.key = Some(entry.key);
            self.positions += 1;
            self.words.clear();
        }
        self.entries += 1;
        self.implausible += u64::from(!entry.is_plausible());
        self.keys_zero += u64::from(entry.key == 0);
        self.repeated += u64::from(!self.words.insert(entry.word));
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = self.damage.clone();
        if self.descents > 0 {
            problems.push(format!(
                "the keys are not in order in {} places, first at entry {}: look-ups miss \
                 positions; sort the book by writing it again",
                self.descents, self.first_descent
            ));
        }
        for (count, text) in [
            (self.implausible, "are no move of any piece"),
            (self.repeated, "repeat a move of their position: weights are added"),
            (self.keys_zero, "have the key 0: they are never found"),
        ] {
            if count > 0 {
                problems.push(format!("{count} entries {text}"));
            }
        }
        problems
    }
}
