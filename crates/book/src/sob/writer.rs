//! Writing a `.sob` pair in one pass over its positions.
//!
//! Keys are packed and written block by block. Move words wait in a nameless file, since their
//! codes depend on all of them, and are packed at the end. Memory holds one block, 40 bytes of
//! index a block, and the frequencies of moves.

use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use shakmaty::Role;
use tabiya_model::{PackedMove, PositionKey};

use super::{
    Codec, DEFAULT_TARGET, HASHES, MOVES, Word,
    codec::{
        Packing,
        compact::{Codes, Frequencies},
    },
    header::{
        self, ALIGNMENT, Header, MAX_BLOCKS, MAX_TARGET, MIN_TARGET, Section, Sections, Side,
        TableSource, UNDERPROMOTIONS,
    },
};
use crate::{
    BookWriter, Choice, EpRule, Error, Written, Zobrist,
    output::{Draft, Folder, Scratch},
    polyglot::{check_moves, check_order},
    sob_ranks,
};

/// How a `.sob` is written.
#[derive(Clone, Debug)]
pub struct Options {
    /// How blocks are packed.
    pub codec: Codec,
    /// Entries a block aims at, 256 to 32,768: fewer are faster to look up, more pack better.
    pub target: u32,
    /// What to say about the book: a JSON object of at most 1 MiB. Leave out what differs between
    /// equal runs, or equal books will be different files.
    pub meta: serde_json::Value,
}

impl Options {
    /// Blocks of [`DEFAULT_TARGET`] entries, and nothing to say.
    pub fn new(codec: Codec) -> Options {
        Options { codec, target: DEFAULT_TARGET, meta: serde_json::json!({}) }
    }
}

/// Longest text about a book, in bytes.
pub(super) const MAX_META: u64 = 1 << 20;

/// As many as fit in the smallest block; no position has more than 218.
const MAX_MOVES: usize = MIN_TARGET as usize;

/// Writes a `.sob` pair.
#[derive(Debug)]
pub struct Writer {
    hashes: HalfWriter,
    scratch: Scratch,
    moves_path: PathBuf,
    // Behind the drafts, since it can only be removed after them.
    folder: Folder,
    packing: Packing,
    target: u32,
    /// Keys of the block being filled.
    keys: Vec<u64>,
    blocks: Vec<Block>,
    frequencies: Frequencies,
    underpromotions: bool,
    id: Sha256,
    previous: Option<PositionKey>,
    /// The greatest key that has moves; 0 without any.
    last: u64,
    entries: u64,
    positions: u64,
    failed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    first: u64,
    offset: u64,
    crc: u32,
    entries: u16,
}

impl Writer {
    /// Starts a book in `folder`, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] if the target or the text is out of its range.
    pub fn create(folder: impl AsRef<Path>, options: Options) -> Result<Writer, Error> {
        let Options { codec, target, meta } = options;
        if !(MIN_TARGET..=MAX_TARGET).contains(&target) {
            return Err(Error::Option(format!(
                "a block cannot aim at {target} entries: choose {MIN_TARGET} to {MAX_TARGET}"
            )));
        }
        let meta = meta_text(&meta)?;
        let path = folder.as_ref();
        let folder = Folder::create(path)?;
        Ok(Writer {
            hashes: HalfWriter::begin(&path.join(HASHES), meta.as_bytes(), &[])?,
            scratch: folder.scratch()?,
            moves_path: path.join(MOVES),
            folder,
            packing: Packing::of_keys(codec, target),
            target,
            keys: Vec::new(),
            blocks: Vec::new(),
            frequencies: Frequencies::default(),
            underpromotions: false,
            id: Sha256::new(),
            previous: None,
            last: 0,
            entries: 0,
            positions: 0,
            failed: false,
        })
    }

    /// Adds a position with ranks, 0 to 15, as they are to stand in the file: for copies of books.
    /// The moves may come in any order.
    pub fn ranked(&mut self, key: PositionKey, moves: &[(PackedMove, u8)]) -> Result<(), Error> {
        let result = self.try_ranked(key, moves);
        self.failed |= result.is_err();
        result
    }

    fn try_ranked(&mut self, key: PositionKey, moves: &[(PackedMove, u8)]) -> Result<(), Error> {
        check_order(self.previous, key)?;
        check_moves(key, moves.iter().map(|&(mv, _)| mv))?;
        if moves.len() > MAX_MOVES {
            return Err(Error::TooManyMoves { key, moves: moves.len() });
        }
        let words = words(key, moves)?;
        self.previous = Some(key);
        if self.keys.len() + words.len() > self.target as usize {
            self.close_block()?;
        }
        for &word in &words {
            self.keys.push(key.0);
            self.last = key.0;
            self.scratch.write(&word.0.to_be_bytes())?;
            self.frequencies.count(word);
            self.id.update(key.0.to_be_bytes());
            self.id.update(word.0.to_be_bytes());
        }
        self.entries += words.len() as u64;
        self.positions += u64::from(!words.is_empty());
        self.underpromotions |= moves.iter().any(|&(mv, _)| is_underpromotion(mv));
        Ok(())
    }

    fn close_block(&mut self) -> Result<(), Error> {
        let Some(&first) = self.keys.first() else { return Ok(()) };
        if self.blocks.len() as u64 >= u64::from(MAX_BLOCKS) {
            return Err(Error::Option("a book cannot have more than 2^31 blocks".to_owned()));
        }
        let payload = self.packing.encode_keys(&self.keys);
        let payload = payload.map_err(Error::io("pack a block of", self.hashes.draft.path()))?;
        let (offset, crc) = self.hashes.block(&payload)?;
        let entries = self.keys.len() as u16;
        self.blocks.push(Block { first, offset, crc, entries });
        self.keys.clear();
        Ok(())
    }

    /// Packs the words that wait, in the blocks that the keys have.
    fn write_moves(&mut self) -> Result<HalfWriter, Error> {
        let header = self.header(Side::Moves);
        let codes = Codes::new(&self.frequencies);
        let table = if header.packing.codec == Codec::Compact { codes.to_table() } else { vec![] };
        let mut half = HalfWriter::begin(&self.moves_path, &[], &table)?;
        self.scratch.rewind()?;
        let mut index = Vec::new();
        for block in &self.blocks {
            let mut bytes = vec![0; usize::from(block.entries) * 2];
            self.scratch.read(&mut bytes)?;
            let words: Vec<u16> =
                bytes.as_chunks().0.iter().copied().map(u16::from_be_bytes).collect();
            let payload = header.packing.encode_words(&words, &codes);
            let payload = payload.map_err(Error::io("pack a block of", &self.moves_path))?;
            let (offset, crc) = half.block(&payload)?;
            put_record(&mut index, offset, crc, block.entries);
        }
        put_record(&mut index, half.data_len(), 0, 0);
        half.end(&index, header)?;
        Ok(half)
    }

    fn hashes_index(&self) -> Vec<u8> {
        let mut index = Vec::new();
        for block in &self.blocks {
            index.extend_from_slice(&block.first.to_le_bytes());
            put_record(&mut index, block.offset, block.crc, block.entries);
        }
        index.extend_from_slice(&self.last.to_le_bytes());
        put_record(&mut index, self.hashes.data_len(), 0, 0);
        index
    }

    /// All of the header but the sections, which the file itself knows.
    fn header(&self, side: Side) -> Header {
        let mut id = [0; 16];
        id.iter_mut().zip(self.id.clone().finalize()).for_each(|(byte, digest)| *byte = digest);
        let codec = self.packing.codec;
        Header {
            side,
            required: if self.underpromotions { UNDERPROMOTIONS } else { 0 },
            entries: self.entries,
            keys: self.positions,
            blocks: self.blocks.len() as u32,
            target: self.target,
            packing: match side {
                Side::Hashes => self.packing,
                Side::Moves => Packing::of_words(codec, self.target),
            },
            id,
            table_sha256: Zobrist::polyglot().sha256(),
            table_source: TableSource::Polyglot,
            ep_rule: EpRule::Neighbour,
            sections: Sections::default(),
            file_len: 0,
        }
    }
}

impl BookWriter for Writer {
    fn position(&mut self, key: PositionKey, choices: &[Choice]) -> Result<(), Error> {
        let ranks = sob_ranks(choices);
        let moves: Vec<(PackedMove, u8)> =
            choices.iter().zip(ranks).map(|(choice, rank)| (choice.mv, rank)).collect();
        self.ranked(key, &moves)
    }

    /// The moves get their name first. Killed between the two, the pair does not match, which
    /// every reader notices.
    fn finish(mut self: Box<Self>) -> Result<Written, Error> {
        self.hashes.draft.refuse_if(self.failed)?;
        self.close_block()?;
        let (index, header) = (self.hashes_index(), self.header(Side::Hashes));
        self.hashes.end(&index, header)?;
        let moves = self.write_moves()?;

        // Bound first, so dropped last, when nothing of ours is in it any more.
        let Writer { folder, hashes, entries, positions, .. } = *self;
        let moves = moves.draft.publish()?;
        let hashes = hashes.draft.publish()?;
        folder.keep()?;
        Ok(Written { files: vec![hashes, moves], entries, positions })
    }
}

/// Best first, equal ranks by move: the order of the file.
fn words(key: PositionKey, moves: &[(PackedMove, u8)]) -> Result<Vec<Word>, Error> {
    let word = |&(mv, rank): &(PackedMove, u8)| {
        Word::new(mv, rank).ok_or(Error::NotAMove { key, word: mv.polyglot() })
    };
    let mut words: Vec<Word> = moves.iter().map(word).collect::<Result<_, _>>()?;
    words.sort_unstable_by_key(|word| (Reverse(word.rank()), word.squares()));
    Ok(words)
}

fn is_underpromotion(mv: PackedMove) -> bool {
    mv.promotion().is_some_and(|role| role != Role::Queen)
}

fn meta_text(meta: &serde_json::Value) -> Result<String, Error> {
    let text = meta.to_string();
    if !meta.is_object() {
        return Err(Error::Option("what is said about a book must be a JSON object".to_owned()));
    }
    if text.len() as u64 > MAX_META {
        let len = text.len();
        return Err(Error::Option(format!(
            "what is said about a book has {len} bytes of JSON: no more than {MAX_META} fit"
        )));
    }
    Ok(text)
}

/// A record of the index, after the key that hashes have in front.
fn put_record(index: &mut Vec<u8>, offset: u64, crc: u32, entries: u16) {
    index.extend_from_slice(&offset.to_le_bytes());
    index.extend_from_slice(&crc.to_le_bytes());
    index.extend_from_slice(&entries.to_le_bytes());
    index.extend_from_slice(&[0; 2]);
}

/// One of the two files, written from front to back but for its header.
#[derive(Debug)]
struct HalfWriter {
    draft: Draft,
    sections: Sections,
}

impl HalfWriter {
    fn begin(path: &Path, meta: &[u8], table: &[u8]) -> Result<HalfWriter, Error> {
        let mut half = HalfWriter { draft: Draft::create(path)?, sections: Sections::default() };
        half.draft.write(&[0; header::LEN])?;
        half.sections.meta = half.section(meta)?;
        half.sections.meta_crc = crc32c::crc32c(meta);
        half.sections.table = half.section(table)?;
        half.sections.table_crc = crc32c::crc32c(table);
        half.sections.data = half.section(&[])?;
        Ok(half)
    }

    fn section(&mut self, bytes: &[u8]) -> Result<Section, Error> {
        self.draft.align(ALIGNMENT)?;
        let section = Section { offset: self.draft.len(), len: bytes.len() as u64 };
        self.draft.write(bytes)?;
        Ok(section)
    }

    /// Appends a block; gives its offset in the data and its checksum.
    fn block(&mut self, payload: &[u8]) -> Result<(u64, u32), Error> {
        let offset = self.data_len();
        self.draft.write(payload)?;
        let sections = &mut self.sections;
        sections.data.len += payload.len() as u64;
        sections.data_crc = crc32c::crc32c_append(sections.data_crc, payload);
        Ok((offset, crc32c::crc32c(payload)))
    }

    fn data_len(&self) -> u64 {
        self.sections.data.len
    }

    /// Writes the index and the header, and puts the file on disk.
    fn end(&mut self, index: &[u8], mut header: Header) -> Result<(), Error> {
        self.sections.index = self.section(index)?;
        self.sections.index_crc = crc32c::crc32c(index);
        header.sections = self.sections;
        header.file_len = self.draft.len();
        self.draft.rewrite_start(&header.to_bytes())?;
        self.draft.sync()
    }
}
