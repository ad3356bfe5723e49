//! Raw LZMA streams: no header and no end mark, since the index knows the size.

use std::io::{self, Read, Write};

use lzma_rust2::{EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType};

use super::Decoded;

/// lc 0, lp 3, pb 3: keys are words of eight bytes.
pub(super) const KEY_PROPERTIES: u8 = 162;
/// lc 0, lp 1, pb 1: moves are words of two bytes.
pub(super) const WORD_PROPERTIES: u8 = 54;

pub(super) fn pack(bytes: &[u8], properties: u8, dictionary: u32) -> io::Result<Vec<u8>> {
    let properties = u32::from(properties);
    let options = LzmaOptions::new(
        dictionary,
        properties % 9,
        properties / 9 % 5,
        properties / 45,
        EncodeMode::Normal,
        LzmaOptions::NICE_LEN_MAX,
        MfType::Bt4,
        0,
    );
    let mut writer = LzmaWriter::new_no_header(Vec::new(), &options, false)?;
    writer.write_all(bytes)?;
    writer.finish()
}

/// The bound of the memory used is `len` plus 6 MiB for the widest literal contexts.
pub(super) fn unpack(
    payload: &[u8],
    properties: u8,
    dictionary: u32,
    len: usize,
) -> Decoded<Vec<u8>> {
    let broken = |_: io::Error| "its LZMA stream is broken";
    let mut reader = LzmaReader::new_with_props(payload, len as u64, properties, dictionary, None)
        .map_err(broken)?;
    reader.set_relaxed_end_condition(false);
    let mut bytes = vec![0; len];
    reader.read_exact(&mut bytes).map_err(broken)?;
    let (behind, buffered) = reader.into_parts();
    if behind.is_empty() && buffered.is_empty() {
        Ok(bytes)
    } else {
        Err("bytes follow its LZMA stream")
    }
}
