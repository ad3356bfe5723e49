//! How a block of keys or of move words becomes bytes, and back.
//!
//! Decoders see only bytes whose checksum is right, and still take nothing for granted: they give
//! exactly the number of values asked for, or say what is wrong.

mod bits;
pub(super) mod compact;
mod huffman;
mod lzma;
mod zstd;

use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use compact::Codes;

/// Values, or what is wrong with the bytes.
pub(super) type Decoded<T> = Result<T, &'static str>;

/// How the blocks of a book are packed. All codecs hold the same entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// As they are: 10 bytes an entry.
    Stored,
    /// LZMA: about 5.9 bytes an entry of a real book, decoded in a millisecond.
    Lzma,
    /// Zstandard: about 6.7 bytes an entry, decoded fast. Other readers may not have it.
    Zstd,
    /// Zstandard over byte planes: better than plain Zstandard where keys hardly repeat.
    ZstdPlanes,
    /// Rice and Huffman codes: about 5.1 bytes an entry, decoded in microseconds.
    Compact,
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Codec::Stored => "stored",
            Codec::Lzma => "lzma",
            Codec::Zstd => "zstd",
            Codec::ZstdPlanes => "zstd-planes",
            Codec::Compact => "compact",
        })
    }
}

impl Codec {
    /// The header's codec and filter.
    pub(super) fn to_bytes(self) -> (u8, u8) {
        match self {
            Codec::Stored => (0, 0),
            Codec::Lzma => (1, 0),
            Codec::Zstd => (2, 0),
            Codec::ZstdPlanes => (2, 1),
            Codec::Compact => (3, 0),
        }
    }

    pub(super) fn from_bytes(codec: u8, filter: u8) -> Option<Codec> {
        Some(match (codec, filter) {
            (0, 0) => Codec::Stored,
            (1, 0) => Codec::Lzma,
            (2, 0) => Codec::Zstd,
            (2, 1) => Codec::ZstdPlanes,
            (3, 0) => Codec::Compact,
            _ => return None,
        })
    }
}

/// A codec with what the header says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packing {
    pub(super) codec: Codec,
    /// LZMA's own properties byte, below 225; 0 for other codecs.
    pub(super) lzma_properties: u8,
    /// LZMA's dictionary in bytes; 0 for other codecs.
    pub(super) dictionary: u32,
}

impl Packing {
    /// For keys.
    pub(super) fn of_keys(codec: Codec, target: u32) -> Packing {
        Packing::new(codec, lzma::KEY_PROPERTIES, target)
    }

    /// For move words.
    pub(super) fn of_words(codec: Codec, target: u32) -> Packing {
        Packing::new(codec, lzma::WORD_PROPERTIES, target)
    }

    fn new(codec: Codec, properties: u8, target: u32) -> Packing {
        match codec {
            Codec::Lzma => {
                let dictionary = (8 * target).max(4096);
                Packing { codec, lzma_properties: properties, dictionary }
            }
            _ => Packing { codec, lzma_properties: 0, dictionary: 0 },
        }
    }

    pub(super) fn encode_keys(&self, keys: &[u64]) -> std::io::Result<Vec<u8>> {
        match self.codec {
            Codec::Compact => Ok(compact::encode_keys(keys)),
            _ => self.pack::<8>(keys.iter().flat_map(|key| key.to_be_bytes()).collect()),
        }
    }

    pub(super) fn encode_words(&self, words: &[u16], codes: &Codes) -> std::io::Result<Vec<u8>> {
        match self.codec {
            Codec::Compact => Ok(codes.encode(words)),
            _ => self.pack::<2>(words.iter().flat_map(|word| word.to_be_bytes()).collect()),
        }
    }

    /// Fills `keys`; `first` is the first of them, which the index has.
    pub(super) fn decode_keys(&self, payload: &[u8], first: u64, keys: &mut [u64]) -> Decoded<()> {
        if self.codec == Codec::Compact {
            return compact::decode_keys(payload, first, keys);
        }
        let bytes = self.unpack::<8>(payload, keys.len())?;
        let values = bytes.as_chunks().0.iter().copied().map(u64::from_be_bytes);
        keys.iter_mut().zip(values).for_each(|(key, value)| *key = value);
        Ok(())
    }

    /// Fills `words`; `codes` are those of the table, which only [`Codec::Compact`] has.
    pub(super) fn decode_words(
        &self,
        payload: &[u8],
        codes: Option<&Codes>,
        words: &mut [u16],
    ) -> Decoded<()> {
        if self.codec == Codec::Compact {
            return codes.ok_or("there is no table of codes")?.decode(payload, words);
        }
        let bytes = self.unpack::<2>(payload, words.len())?;
        let values = bytes.as_chunks().0.iter().copied().map(u16::from_be_bytes);
        words.iter_mut().zip(values).for_each(|(word, value)| *word = value);
        Ok(())
    }

    fn pack<const WIDTH: usize>(&self, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
        match self.codec {
            Codec::Lzma => lzma::pack(&bytes, self.lzma_properties, self.dictionary),
            Codec::Zstd => zstd::pack(&bytes),
            Codec::ZstdPlanes => zstd::pack(&zstd::to_planes::<WIDTH>(&bytes)),
            Codec::Stored | Codec::Compact => Ok(bytes),
        }
    }

    fn unpack<'a, const WIDTH: usize>(
        &self,
        payload: &'a [u8],
        entries: usize,
    ) -> Decoded<Cow<'a, [u8]>> {
        let len = entries * WIDTH;
        let bytes = match self.codec {
            Codec::Lzma => {
                lzma::unpack(payload, self.lzma_properties, self.dictionary, len)?.into()
            }
            Codec::Zstd => zstd::unpack(payload, len)?.into(),
            Codec::ZstdPlanes => zstd::from_planes::<WIDTH>(&zstd::unpack(payload, len)?).into(),
            Codec::Stored | Codec::Compact => Cow::Borrowed(payload),
        };
        if bytes.len() == len { Ok(bytes) } else { Err("its length is not that of its entries") }
    }
}
