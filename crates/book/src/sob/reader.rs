//! Reading a `.sob` pair: headers and indexes on opening, one block at a time after that.

use std::{
    cmp::Reverse,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use sha2::{Digest, Sha256};
use shakmaty::Chess;
use tabiya_model::PositionKey;

use super::{
    Codec, HASHES, MOVES, Word,
    blocks::Blocks,
    codec::{self, compact::Codes},
    header::{self, Fields, Header, Section, Side, TableSource, UNDERPROMOTIONS},
    writer::MAX_META,
};
use crate::{
    Book, BookFile, BookMove, EpRule, Error, Format, Info, Part, Probe, RawEntry, Verified, Walk,
    Zobrist, book::sort, source::Source,
};

/// A `.sob` pair open for reading.
///
/// Opening it reads headers, indexes and tables. Memory holds 48 bytes a block of either file and
/// the blocks decoded last: see [`Reader::with_memory`].
#[derive(Debug)]
pub struct Reader {
    hashes: Half,
    moves: Half,
    codes: Option<Codes>,
    zobrist: Option<Zobrist>,
    decoded: Mutex<Decoded>,
    dropped: AtomicU64,
}

/// What look-ups keep. Words of a block are decoded when a key of it is found.
#[derive(Debug)]
struct Decoded {
    keys: Blocks<u64>,
    words: Blocks<u16>,
    /// The bytes of the block that is being decoded.
    payload: Vec<u8>,
}

/// As much as PolyGlot's reader keeps.
const MEMORY: usize = 8 << 20;

impl Reader {
    /// Opens a pair, given its folder or either of its files.
    ///
    /// Everything but the blocks is checked; text about the book that is damaged is a warning.
    ///
    /// # Errors
    ///
    /// [`Error::NotABook`], [`Error::TextModeDamage`], [`Error::Corrupt`], [`Error::Unsupported`],
    /// [`Error::Truncated`], [`Error::TrailingData`] for either file, and [`Error::PairMismatch`]
    /// if the two come from different books.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let (hashes, moves) = open_halves(path.as_ref())?;
        check_pair(&hashes, &moves)?;
        let table = moves.table()?;
        let codes = match moves.header.packing.codec {
            Codec::Compact => Some(moves.codes(&table)?),
            _ => None,
        };
        let zobrist = hashes.zobrist(&hashes.table()?)?;
        Ok(Reader {
            decoded: Mutex::new(Decoded::new(&hashes.records, MEMORY)),
            hashes,
            moves,
            codes,
            zobrist,
            dropped: AtomicU64::new(0),
        })
    }

    /// Sets how many bytes of decoded blocks are kept: 8 MiB unless this says something else, and
    /// never less than one block. An entry takes ten.
    pub fn with_memory(mut self, bytes: usize) -> Reader {
        self.decoded = Mutex::new(Decoded::new(&self.hashes.records, bytes));
        self
    }

    /// Gives the random numbers of a book that has its own but does not contain them.
    ///
    /// # Errors
    ///
    /// [`Error::WrongTable`] if they are not those the book was made with.
    pub fn with_zobrist(mut self, zobrist: Zobrist) -> Result<Reader, Error> {
        let (given, wanted) = (zobrist.sha256(), self.hashes.header.table_sha256);
        if given != wanted {
            return Err(Error::WrongTable {
                path: self.hashes.source.path().to_owned(),
                sha256: hex(&wanted),
                given: hex(&given),
            });
        }
        self.zobrist = Some(zobrist);
        Ok(self)
    }

    /// The words stored under a key, in the order of the file. Works without random numbers.
    ///
    /// # Errors
    ///
    /// [`Error::BadBlock`] if the block that the key would be in is damaged; the others stay
    /// usable.
    pub fn words(&self, key: PositionKey) -> Result<Vec<Word>, Error> {
        let mut words = Vec::new();
        self.each_word(key, |word| words.push(word))?;
        Ok(words)
    }

    /// Hands on the words stored under a key, as [`Reader::words`] has them, without a list.
    pub fn each_word(&self, key: PositionKey, each: impl FnMut(Word)) -> Result<(), Error> {
        let Some(block) = self.hashes.block_of(key.0) else { return Ok(()) };
        let len = self.hashes.entries_of(block);
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let Decoded { keys, words, payload } = &mut *decoded;
        let keys = keys.get(block, len, |keys| self.read_keys(block, payload, keys))?;
        let start = keys.partition_point(|&stored| stored < key.0);
        let rest = keys.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|&&stored| stored == key.0).count();
        if count > 0 {
            let words = words.get(block, len, |words| self.read_words(block, payload, words))?;
            let found = words.get(start..start + count).unwrap_or_default();
            found.iter().copied().map(Word).for_each(each);
        }
        Ok(())
    }

    fn read_keys(
        &self,
        block: usize,
        payload: &mut Vec<u8>,
        keys: &mut [u64],
    ) -> Result<(), Error> {
        self.hashes.decode(block, payload, |payload, record| {
            self.hashes.header.packing.decode_keys(payload, record.first, keys)?;
            let after = self.hashes.records.get(block + 1).map(|next| next.first);
            let last = keys.last().copied().unwrap_or_default();
            let within = match after {
                Some(after) => last < after,
                None => last == self.hashes.last_key,
            };
            if keys.first() != Some(&record.first) || !within || !keys.is_sorted() {
                return Err("its keys are not those of the index, or not in order");
            }
            Ok(())
        })
    }

    fn read_words(
        &self,
        block: usize,
        payload: &mut Vec<u8>,
        words: &mut [u16],
    ) -> Result<(), Error> {
        self.moves.decode(block, payload, |payload, _| {
            self.moves.header.packing.decode_words(payload, self.codes.as_ref(), words)
        })
    }

    fn keys(&self, block: usize) -> Result<Vec<u64>, Error> {
        let mut keys = vec![0; self.hashes.entries_of(block)];
        self.read_keys(block, &mut Vec::new(), &mut keys).map(|()| keys)
    }

    fn block_words(&self, block: usize) -> Result<Vec<u16>, Error> {
        let mut words = vec![0; self.moves.entries_of(block)];
        self.read_words(block, &mut Vec::new(), &mut words).map(|()| words)
    }

    fn blocks(&self) -> usize {
        self.hashes.records.len()
    }
}

#[cfg(test)]
impl Reader {
    /// How many bytes were read of the sections that look-ups need, and of all of both files.
    pub(super) fn bytes_read(&self) -> (u64, u64) {
        let (mut blocks, mut all) = (0, 0);
        for half in [&self.hashes, &self.moves] {
            let data = half.header.sections.data;
            for &(offset, len) in half.source.reads.lock().unwrap().iter() {
                let end = (offset + len).min(data.offset + data.len);
                blocks += end.saturating_sub(offset.max(data.offset));
                all += len;
            }
        }
        (blocks, all)
    }
}

impl Decoded {
    fn new(records: &[Record], memory: usize) -> Decoded {
        let room = records.iter().map(|record| record.entries).max().unwrap_or(0);
        let blocks = records.len();
        // Two bytes of ten are words.
        let words = memory / 5;
        Decoded {
            keys: Blocks::new(room, blocks, memory - words),
            words: Blocks::new(room, blocks, words),
            payload: Vec::with_capacity(MAX_PAYLOAD * room + 64),
        }
    }
}

impl Probe for Reader {
    fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> Result<(), Error> {
        moves.clear();
        let header = &self.hashes.header;
        let Some(zobrist) = &self.zobrist else {
            return Err(Error::NeedsTable {
                path: self.hashes.source.path().to_owned(),
                sha256: hex(&header.table_sha256),
            });
        };
        let underpromotions = self.moves.header.required & UNDERPROMOTIONS != 0;
        self.each_word(zobrist.key(position, header.ep_rule), |word| {
            match word.to_move(position, underpromotions) {
                None => _ = self.dropped.fetch_add(1, Ordering::Relaxed),
                Some(m) if moves.iter().any(|known| known.m == m) => {}
                Some(m) => {
                    let rank = word.rank();
                    moves.push(BookMove {
                        m,
                        weight: u32::from(rank),
                        rank: Some(rank),
                        learn: None,
                        games: None,
                    });
                }
            }
        })?;
        sort(moves);
        Ok(())
    }
}

impl Walk for Reader {
    fn walk(&self, each: &mut dyn FnMut(RawEntry) -> Result<(), Error>) -> Result<(), Error> {
        for block in 0..self.blocks() {
            for (key, word) in self.keys(block)?.into_iter().zip(self.block_words(block)?) {
                let word = Word(word);
                each(RawEntry {
                    key: PositionKey(key),
                    word: word.0,
                    uci: word.to_string(),
                    weight: u32::from(word.rank()),
                    learn: None,
                    rank: Some(word.rank()),
                    priority: None,
                    nag: None,
                    games: None,
                })?;
            }
        }
        Ok(())
    }
}

impl Book for Reader {
    fn format(&self) -> Format {
        Format::Sob
    }

    fn key(&self, position: &Chess) -> Option<PositionKey> {
        let zobrist = self.zobrist.as_ref()?;
        Some(zobrist.key(position, self.hashes.header.ep_rule))
    }

    fn has_polyglot_keys(&self) -> bool {
        let own = self.zobrist.as_ref().is_some_and(|own| *own == Zobrist::polyglot());
        own && self.hashes.header.ep_rule == EpRule::Neighbour
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn damage(&self) -> Vec<String> {
        self.hashes.meta().err().into_iter().collect()
    }

    fn info(&self) -> Info {
        let files: Vec<BookFile> = [&self.hashes, &self.moves]
            .map(|half| BookFile { path: half.source.path().to_owned(), bytes: half.source.len() })
            .into();
        let header = &self.hashes.header;
        let (meta, mut warnings) = match self.hashes.meta() {
            Ok(meta) => (Some(meta), vec![]),
            Err(warning) => (None, vec![warning]),
        };
        if self.zobrist.is_none() {
            warnings.push("positions can only be looked up with its own random numbers".to_owned());
        }
        Info {
            format: self.format(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            files,
            entries: header.entries,
            positions: header.keys,
            codec: Some(header.packing.codec),
            blocks: Some(header.blocks),
            id: Some(hex(&header.id)),
            meta,
            warnings,
        }
    }

    fn verify(&self) -> Result<Verified, Error> {
        let mut verified = Verified::default();
        self.damage().iter().for_each(|warning| verified.problem(warning));
        for half in [&self.hashes, &self.moves] {
            half.verify_sections(&mut verified)?;
        }
        let mut id = Some(Sha256::new());
        for block in 0..self.blocks() {
            match (readable(self.keys(block))?, readable(self.block_words(block))?) {
                (Ok(keys), Ok(words)) => {
                    let text = self.moves.source.path().display();
                    check_words(&keys, &words).unwrap_or_else(|detail| {
                        verified.problem(format!("block {block} of {text}: {detail}"));
                    });
                    verified.entries += keys.len() as u64;
                    verified.positions += keys.chunk_by(|a, b| a == b).count() as u64;
                    if let Some(id) = &mut id {
                        keys.iter().zip(&words).for_each(|(key, word)| {
                            id.update(key.to_be_bytes());
                            id.update(word.to_be_bytes());
                        });
                    }
                }
                (keys, words) => {
                    id = None;
                    keys.err().into_iter().chain(words.err()).for_each(|bad| verified.problem(bad));
                }
            }
        }
        // What bad blocks held is not known, so only a whole book can be compared.
        if let Some(id) = id {
            let header = &self.hashes.header;
            if !id.finalize().starts_with(&header.id) {
                verified.problem("the identity in the header is not that of the entries");
            }
            if verified.positions != header.keys {
                verified.problem(format!(
                    "{} positions are there, the header says {}",
                    verified.positions, header.keys
                ));
            }
        }
        Ok(verified)
    }
}

/// Parts bad blocks, which are findings, from a disk that fails.
fn readable<T>(block: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match block {
        Err(bad @ Error::BadBlock { .. }) => Ok(Err(bad)),
        other => other.map(Ok),
    }
}

/// The moves of a position are sorted, best first, and each is there once.
fn check_words(keys: &[u64], words: &[u16]) -> codec::Decoded<()> {
    let mut rest = words;
    for group in keys.chunk_by(|a, b| a == b) {
        let (words, after) = rest.split_at_checked(group.len()).ok_or("words are missing")?;
        rest = after;
        let order = |word: &u16| (Reverse(Word(*word).rank()), Word(*word).squares());
        if !words.is_sorted_by(|a, b| order(a) < order(b)) {
            return Err("the moves of a position are not in order");
        }
        let mut squares: Vec<u16> = words.iter().map(|&word| Word(word).squares()).collect();
        squares.sort_unstable();
        squares.dedup();
        if squares.len() != words.len() {
            return Err("a position has a move twice");
        }
    }
    Ok(())
}

fn open_halves(path: &Path) -> Result<(Half, Half), Error> {
    if path.is_dir() {
        let hashes = path.join(HASHES);
        if !hashes.exists() {
            let looks = format!("it is a folder without {HASHES}");
            return Err(Error::NotABook { path: path.to_owned(), looks });
        }
        return Ok((Half::open(&hashes)?, open_partner(&path.join(MOVES))?));
    }
    let half = Half::open(path)?;
    match half.header.side {
        Side::Hashes => open_partner(&path.with_file_name(MOVES)).map(|moves| (half, moves)),
        Side::Moves => open_partner(&path.with_file_name(HASHES)).map(|hashes| (hashes, half)),
    }
}

fn open_partner(path: &Path) -> Result<Half, Error> {
    if !path.exists() {
        let looks = "it is missing, and its partner is of no use alone".to_owned();
        return Err(Error::NotABook { path: path.to_owned(), looks });
    }
    Half::open(path)
}

fn check_pair(hashes: &Half, moves: &Half) -> Result<(), Error> {
    let (h, m) = (&hashes.header, &moves.header);
    let differing = if (h.side, m.side) != (Side::Hashes, Side::Moves) {
        "they are not one of each kind"
    } else if h.id != m.id {
        "their identities differ"
    } else if (h.entries, h.keys, h.blocks) != (m.entries, m.keys, m.blocks) {
        "their numbers of entries differ"
    } else if hashes.records.iter().zip(&moves.records).any(|(h, m)| h.entries != m.entries) {
        "their blocks differ"
    } else {
        return Ok(());
    };
    Err(Error::PairMismatch {
        hashes: hashes.source.path().to_owned(),
        moves: moves.source.path().to_owned(),
        detail: differing.to_owned(),
    })
}

/// One file of the pair, with its header and index.
#[derive(Debug)]
struct Half {
    source: Source,
    header: Header,
    records: Vec<Record>,
    /// Of the whole book; hashes only.
    last_key: u64,
}

/// A block, as the index has it.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Its first key; hashes only.
    first: u64,
    /// From the start of the data.
    offset: u64,
    len: u64,
    crc: u32,
    entries: usize,
}

/// Most bytes that an entry takes in either file, but for some at the beginning of a block.
const MAX_PAYLOAD: usize = 16;

/// Longest table there can be: one of codes with every move in it.
const MAX_TABLE: u64 = 2 + 3 * 4096 + 16;

impl Half {
    fn open(path: &Path) -> Result<Half, Error> {
        let source = Source::open(path)?;
        let mut bytes = [0; header::LEN];
        if source.len() < header::LEN as u64 {
            let looks = format!("its {} bytes are not even a header", source.len());
            return Err(Error::NotABook { path: path.to_owned(), looks });
        }
        source.read(0, &mut bytes)?;
        let header = Header::parse(path, &bytes, source.len())?;
        let mut half = Half { source, header, records: Vec::new(), last_key: 0 };
        half.read_index()?;
        Ok(half)
    }

    fn corrupt(&self, part: Part, detail: &str) -> Error {
        let path = self.source.path().to_owned();
        Error::Corrupt { path, part, detail: detail.to_owned() }
    }

    /// All bytes of a section. The layout is checked: it lies within the file.
    fn section(&self, section: Section) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; section.len as usize];
        self.source.read(section.offset, &mut bytes)?;
        Ok(bytes)
    }

    fn read_index(&mut self) -> Result<(), Error> {
        let corrupt = |detail| self.corrupt(Part::Index, detail);
        let sections = &self.header.sections;
        let keyed = self.header.side == Side::Hashes;
        let record_len = if keyed { 24 } else { 16 };
        if sections.index.len != (u64::from(self.header.blocks) + 1) * record_len {
            return Err(corrupt("its length is not that of its blocks"));
        }
        let bytes = self.section(sections.index)?;
        if crc32c::crc32c(&bytes) != sections.index_crc {
            return Err(corrupt("checksum"));
        }
        let (records, last) = parse_index(&bytes, keyed).map_err(corrupt)?;
        check_index(&records, last, &self.header).map_err(corrupt)?;
        self.last_key = last.first;
        self.records = records;
        Ok(())
    }

    fn table(&self) -> Result<Vec<u8>, Error> {
        let sections = &self.header.sections;
        if sections.table.len > MAX_TABLE {
            return Err(self.corrupt(Part::Table, "it is too long"));
        }
        let table = self.section(sections.table)?;
        if crc32c::crc32c(&table) != sections.table_crc {
            return Err(self.corrupt(Part::Table, "checksum"));
        }
        Ok(table)
    }

    fn codes(&self, table: &[u8]) -> Result<Codes, Error> {
        Codes::from_table(table).map_err(|detail| self.corrupt(Part::Table, detail))
    }

    /// `None` if the numbers are elsewhere.
    fn zobrist(&self, table: &[u8]) -> Result<Option<Zobrist>, Error> {
        let zobrist = match self.header.table_source {
            TableSource::External => return Ok(None),
            TableSource::Polyglot => Zobrist::polyglot(),
            TableSource::Embedded => {
                let (numbers, rest) = table.as_chunks();
                let numbers: Vec<u64> = numbers.iter().copied().map(u64::from_be_bytes).collect();
                Zobrist::from_numbers(numbers)
                    .filter(|_| rest.is_empty())
                    .ok_or_else(|| self.corrupt(Part::Table, "it does not hold 781 numbers"))?
            }
        };
        if zobrist.sha256() == self.header.table_sha256 {
            return Ok(Some(zobrist));
        }
        match self.header.table_source {
            TableSource::Embedded => {
                Err(self.corrupt(Part::Table, "its numbers are not those of the header"))
            }
            _ => Ok(None),
        }
    }

    /// Nothing a look-up needs, so damage is a warning.
    fn meta(&self) -> Result<serde_json::Value, String> {
        let sections = &self.header.sections;
        let warning = |detail: &str| {
            let path = self.source.path().display();
            format!("the text about the book in {path} cannot be read ({detail})")
        };
        if sections.meta.len > MAX_META {
            return Err(warning("it is longer than 1 MiB"));
        }
        let bytes = self.section(sections.meta).map_err(|error| error.to_string())?;
        if crc32c::crc32c(&bytes) != sections.meta_crc {
            return Err(warning("checksum"));
        }
        match serde_json::from_slice(&bytes) {
            Ok(meta @ serde_json::Value::Object(_)) => Ok(meta),
            Ok(_) => Err(warning("it is no JSON object")),
            Err(error) => Err(warning(&error.to_string())),
        }
    }

    /// The block that holds `key` if the book does.
    fn block_of(&self, key: u64) -> Option<usize> {
        let after = self.records.partition_point(|record| record.first <= key);
        after.checked_sub(1).filter(|_| key <= self.last_key)
    }

    fn entries_of(&self, block: usize) -> usize {
        self.records.get(block).map_or(0, |record| record.entries)
    }

    fn decode(
        &self,
        block: usize,
        payload: &mut Vec<u8>,
        decode: impl FnOnce(&[u8], &Record) -> codec::Decoded<()>,
    ) -> Result<(), Error> {
        let bad = |detail: &str| Error::BadBlock {
            path: self.source.path().to_owned(),
            block: block as u32,
            detail: detail.to_owned(),
        };
        let record = self.records.get(block).ok_or_else(|| bad("there is no such block"))?;
        // No codec needs as much, so memory is bounded before the checksum is known.
        if record.len > (MAX_PAYLOAD * record.entries + 64) as u64 {
            return Err(bad("it is longer than its entries can be"));
        }
        payload.resize(record.len as usize, 0);
        self.source.read(self.header.sections.data.offset + record.offset, payload)?;
        if crc32c::crc32c(payload) != record.crc {
            return Err(bad("checksum"));
        }
        decode(payload, record).map_err(bad)
    }

    /// Checks what no look-up touches.
    fn verify_sections(&self, verified: &mut Verified) -> Result<(), Error> {
        let (path, sections) = (self.source.path().display(), &self.header.sections);
        for (name, section, stated) in
            [("text", sections.meta, sections.meta_crc), ("data", sections.data, sections.data_crc)]
        {
            let mut crc = 0;
            self.source.stream(section.offset, section.len, |piece| {
                crc = crc32c::crc32c_append(crc, piece);
                Ok(())
            })?;
            if crc != stated {
                verified.problem(format!("the checksum of the {name} of {path} is wrong"));
            }
        }
        let mut end = header::LEN as u64;
        let file_end = Section { offset: self.header.file_len, len: 0 };
        for section in self.header.in_order().into_iter().chain([file_end]) {
            let mut zeros = true;
            self.source.stream(end, section.offset.saturating_sub(end), |piece| {
                zeros &= piece.iter().all(|&byte| byte == 0);
                Ok(())
            })?;
            if !zeros {
                verified.problem(format!("the gap at byte {end} of {path} is not empty"));
            }
            end = section.offset + section.len;
        }
        Ok(())
    }
}

/// The blocks and, apart, the record that ends the list.
fn parse_index(bytes: &[u8], keyed: bool) -> codec::Decoded<(Vec<Record>, Record)> {
    let mut fields = Fields(bytes);
    let mut record = || {
        let first = if keyed { fields.u64()? } else { 0 };
        let (offset, crc, entries) = (fields.u64()?, fields.u32()?, fields.u16()?);
        let _reserved = fields.u16()?;
        Some(Record { first, offset, len: 0, crc, entries: usize::from(entries) })
    };
    let mut records: Vec<Record> = std::iter::from_fn(&mut record).collect();
    let mut after = u64::MAX;
    for record in records.iter_mut().rev() {
        record.len = after.checked_sub(record.offset).ok_or("its offsets do not ascend")?;
        after = record.offset;
    }
    let last = records.pop().ok_or("it is empty")?;
    Ok((records, last))
}

fn check_index(records: &[Record], last: Record, header: &Header) -> codec::Decoded<()> {
    let begins = records.first().map_or(last.offset, |first| first.offset);
    if begins != 0 || last.offset != header.sections.data.len {
        return Err("its blocks are not the data");
    }
    if records.iter().any(|record| record.len == 0 || record.entries == 0) {
        return Err("it has an empty block");
    }
    let firsts = records.iter().map(|record| record.first);
    if header.side == Side::Hashes {
        let greatest = records.last().map_or(0, |record| record.first);
        if !firsts.is_sorted_by(|a, b| a < b) || last.first < greatest {
            return Err("its keys do not ascend");
        }
    }
    let entries: u64 = records.iter().map(|record| record.entries as u64).sum();
    let keys = records.len() as u64..=entries;
    if entries != header.entries || !keys.contains(&header.keys) {
        return Err("its counts do not add up");
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
