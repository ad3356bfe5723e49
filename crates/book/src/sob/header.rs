//! The first 256 bytes of either file.

use std::path::Path;

use super::{Codec, codec::Packing};
use crate::{
    EpRule, Error, Part,
    sniff::{self, Looks},
};

pub(super) const LEN: usize = 256;
/// Sections begin at multiples of this.
pub(super) const ALIGNMENT: u64 = 64;
/// Set in the required features if a word may be an underpromotion.
pub(super) const UNDERPROMOTIONS: u64 = 1;
pub(super) const MIN_TARGET: u32 = 256;
pub(super) const MAX_TARGET: u32 = 32_768;
pub(super) const MAX_BLOCKS: u32 = 1 << 31;

const MARK_TAIL: [u8; 4] = *b"\r\n\x1a\n";
const KEY_BITS: u8 = 64;
/// 1 is Chess960, whose words differ only in castling; either form is read.
const STANDARD_CHESS: u8 = 0;

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Hashes,
    Moves,
}

impl Side {
    fn mark(self) -> [u8; 4] {
        match self {
            Side::Hashes => *b"SOBH",
            Side::Moves => *b"SOBM",
        }
    }
}

/// Where the random numbers behind the keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableSource {
    Polyglot,
    Embedded,
    External,
}

/// Bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// The sections with their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sections {
    pub(super) meta: Section,
    pub(super) table: Section,
    pub(super) data: Section,
    pub(super) index: Section,
    pub(super) meta_crc: u32,
    pub(super) table_crc: u32,
    pub(super) index_crc: u32,
    pub(super) data_crc: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) side: Side,
    pub(super) required: u64,
    pub(super) entries: u64,
    pub(super) keys: u64,
    pub(super) blocks: u32,
    pub(super) target: u32,
    pub(super) packing: Packing,
    pub(super) id: [u8; 16],
    pub(super) table_sha256: [u8; 32],
    pub(super) table_source: TableSource,
    pub(super) ep_rule: EpRule,
    pub(super) sections: Sections,
    pub(super) file_len: u64,
}

impl Header {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LEN);
        let mut put = |field: &[u8]| bytes.extend_from_slice(field);
        put(&self.side.mark());
        put(&MARK_TAIL);
        put(&1u16.to_le_bytes());
        put(&0u16.to_le_bytes());
        put(&(LEN as u32).to_le_bytes());
        put(&self.required.to_le_bytes());
        put(&[0; 8]);
        put(&self.entries.to_le_bytes());
        put(&self.keys.to_le_bytes());
        put(&self.blocks.to_le_bytes());
        put(&self.target.to_le_bytes());
        let (codec, filter) = self.packing.codec.to_bytes();
        put(&[codec, filter, self.packing.lzma_properties, 0]);
        put(&self.packing.dictionary.to_le_bytes());
        put(&self.id);
        put(&self.table_sha256);
        put(&[self.table_source as u8, self.ep_rule as u8, STANDARD_CHESS, KEY_BITS]);
        put(&[0; 4]);
        let sections = &self.sections;
        for section in [sections.meta, sections.table, sections.data, sections.index] {
            put(&section.offset.to_le_bytes());
            put(&section.len.to_le_bytes());
        }
        put(&self.file_len.to_le_bytes());
        for crc in [sections.meta_crc, sections.table_crc, sections.index_crc, sections.data_crc] {
            put(&crc.to_le_bytes());
        }
        put(&[0; 44]);
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header and checks it against the size of its file.
    pub(super) fn parse(path: &Path, bytes: &[u8; LEN], actual: u64) -> Result<Header, Error> {
        let (side, rest) = check_mark(path, bytes)?;
        let corrupt = |detail: &str| Error::Corrupt {
            path: path.to_owned(),
            part: Part::Header,
            detail: detail.to_owned(),
        };
        let Some((body, crc)) = bytes.split_last_chunk::<4>() else {
            return Err(corrupt("too short"));
        };
        if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
            return Err(corrupt("checksum"));
        }
        let raw = Raw::take(rest).ok_or_else(|| corrupt("too short"))?;
        let header = raw.check(path, side)?;
        let stated = header.file_len;
        match actual {
            _ if actual < stated => Err(Error::Truncated { path: path.to_owned(), stated, actual }),
            _ if actual > stated => {
                Err(Error::TrailingData { path: path.to_owned(), stated, actual })
            }
            _ => header.check_layout(path).map(|()| header),
        }
    }

    /// Sections lie within the file, aligned, and apart from each other.
    fn check_layout(&self, path: &Path) -> Result<(), Error> {
        let corrupt = |detail: &str| Error::Corrupt {
            path: path.to_owned(),
            part: Part::Layout,
            detail: detail.to_owned(),
        };
        let mut end = LEN as u64;
        for section in self.in_order() {
            let after = section.offset.checked_add(section.len);
            if section.offset % ALIGNMENT != 0 {
                return Err(corrupt("a section is not aligned"));
            }
            if section.offset < end {
                return Err(corrupt("sections overlap"));
            }
            end = after
                .filter(|&after| after <= self.file_len)
                .ok_or_else(|| corrupt("a section ends behind the file"))?;
        }
        Ok(())
    }

    /// The sections that are not empty, as they follow each other in the file.
    pub(super) fn in_order(&self) -> Vec<Section> {
        let sections = &self.sections;
        let all = [sections.meta, sections.table, sections.data, sections.index];
        let mut all: Vec<Section> = all.into_iter().filter(|section| section.len > 0).collect();
        all.sort_by_key(|section| section.offset);
        all
    }
}

/// Tells a damaged book from another file. Gives what follows the mark.
fn check_mark<'a>(path: &Path, bytes: &'a [u8; LEN]) -> Result<(Side, &'a [u8]), Error> {
    let side = [Side::Hashes, Side::Moves].into_iter().find(|side| bytes.starts_with(&side.mark()));
    let Some(side) = side else {
        let looks = match sniff::judge(bytes) {
            Looks::Other(name) => format!("it looks like {name}"),
            _ => {
                "it has not the mark of a .sob file, a PolyGlot book has none: rename it if it is \
                  one"
                .to_owned()
            }
        };
        return Err(Error::NotABook { path: path.to_owned(), looks });
    };
    let rest = bytes.get(4..).and_then(|rest| rest.strip_prefix(&MARK_TAIL));
    match rest {
        Some(rest) => Ok((side, rest)),
        None => Err(Error::TextModeDamage { path: path.to_owned() }),
    }
}

/// The fields as they stand.
struct Raw {
    major: u16,
    header_len: u32,
    required: u64,
    entries: u64,
    keys: u64,
    blocks: u32,
    target: u32,
    codec: [u8; 4],
    dictionary: u32,
    id: [u8; 16],
    table_sha256: [u8; 32],
    rules: [u8; 4],
    sections: Sections,
    file_len: u64,
}

impl Raw {
    fn take(bytes: &[u8]) -> Option<Raw> {
        let mut fields = Fields(bytes);
        let major = fields.u16()?;
        let _minor = fields.u16()?;
        let header_len = fields.u32()?;
        let required = fields.u64()?;
        let _optional = fields.u64()?;
        let (entries, keys) = (fields.u64()?, fields.u64()?);
        let (blocks, target) = (fields.u32()?, fields.u32()?);
        let codec = fields.take()?;
        let dictionary = fields.u32()?;
        let (id, table_sha256) = (fields.take()?, fields.take()?);
        let rules = fields.take()?;
        let _reserved = fields.u32()?;
        let mut section = || Some(Section { offset: fields.u64()?, len: fields.u64()? });
        let (meta, table, data, index) = (section()?, section()?, section()?, section()?);
        let file_len = fields.u64()?;
        let sections = Sections {
            meta,
            table,
            data,
            index,
            meta_crc: fields.u32()?,
            table_crc: fields.u32()?,
            index_crc: fields.u32()?,
            data_crc: fields.u32()?,
        };
        Some(Raw {
            major,
            header_len,
            required,
            entries,
            keys,
            blocks,
            target,
            codec,
            dictionary,
            id,
            table_sha256,
            rules,
            sections,
            file_len,
        })
    }

    fn check(self, path: &Path, side: Side) -> Result<Header, Error> {
        let unsupported = |what: String| Error::Unsupported { path: path.to_owned(), what };
        let corrupt = |detail: &str| Error::Corrupt {
            path: path.to_owned(),
            part: Part::Header,
            detail: detail.to_owned(),
        };
        if self.major != 1 {
            return Err(unsupported(format!("it has format version {}", self.major)));
        }
        if self.required & !UNDERPROMOTIONS != 0 {
            return Err(unsupported(format!("it requires the features {:#x}", self.required)));
        }
        let [codec, filter, lzma_properties, _] = self.codec;
        let codec = Codec::from_bytes(codec, filter)
            .ok_or_else(|| unsupported(format!("it is packed with codec {codec}.{filter}")))?;
        let [source, ep_rule, variant, key_bits] = self.rules;
        let table_source = match source {
            0 => TableSource::Polyglot,
            1 => TableSource::Embedded,
            2 => TableSource::External,
            _ => return Err(unsupported(format!("its random numbers are at place {source}"))),
        };
        let ep_rule = match ep_rule {
            0 => EpRule::Neighbour,
            1 => EpRule::Always,
            2 => EpRule::Legal,
            _ => return Err(unsupported(format!("it has en passant rule {ep_rule}"))),
        };
        if variant > 1 || key_bits != KEY_BITS {
            return Err(unsupported(format!(
                "it is of variant {variant} with {key_bits}-bit keys"
            )));
        }
        if self.header_len != LEN as u32 {
            return Err(corrupt("its own length"));
        }
        if !(MIN_TARGET..=MAX_TARGET).contains(&self.target) || self.blocks > MAX_BLOCKS {
            return Err(corrupt("size or number of blocks"));
        }
        if codec == Codec::Lzma && lzma_properties >= 225 {
            return Err(corrupt("LZMA properties"));
        }
        Ok(Header {
            side,
            required: self.required,
            entries: self.entries,
            keys: self.keys,
            blocks: self.blocks,
            target: self.target,
            packing: Packing { codec, lzma_properties, dictionary: self.dictionary },
            id: self.id,
            table_sha256: self.table_sha256,
            table_source,
            ep_rule,
            sections: self.sections,
            file_len: self.file_len,
        })
    }
}

/// Little-endian fields, one after the other.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}
