//! What a file is, judged by its first bytes.

use std::{fs::File, io::Read, path::Path};

use crate::{Error, exp, source::Source};

/// The first impression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// A file of a `.sob` pair, whole or damaged.
    Sob,
    /// An Arena book.
    Abk,
    /// A ChessBase book.
    Ctg,
    /// BrainLearn's experience, as far as its first records tell.
    Exp,
    /// Something known that is no readable book.
    Other(&'static str),
    /// Bytes without a mark. PolyGlot files are such.
    Unmarked,
}

const SIGNATURES: [(&[u8], &str); 13] = [
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive (unpack it first)"),
    (b"PK\x03\x04", "a zip archive (unpack it first)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive (unpack it first)"),
    (b"\x1f\x8b", "gzip data (unpack it first)"),
    (b"BZh", "bzip2 data (unpack it first)"),
    (b"\xfd7zXZ\0", "xz data (unpack it first)"),
    (b"\x28\xb5\x2f\xfd", "zstd data (unpack it first)"),
    (b"\x04\x22\x4d\x18", "lz4 data (unpack it first)"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\x89PNG", "a picture"),
];

/// Looks at the first bytes of a file.
pub(crate) fn look(path: &Path) -> Result<Looks, Error> {
    Source::open(path)?;
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(512).read_to_end(&mut head))
        .map_err(Error::io("read", path))?;
    Ok(judge(&head))
}

pub(crate) fn judge(head: &[u8]) -> Looks {
    if head.starts_with(b"SOBH") || head.starts_with(b"SOBM") {
        return Looks::Sob;
    }
    if head.starts_with(b"\x03ABK") || head.starts_with(b"\x03AB2") {
        return Looks::Abk;
    }
    if head.starts_with(b"\0\x20\x10\0\0\x01\0\x01\0\0\x10\0") {
        return Looks::Ctg;
    }
    if let Some((_, name)) = SIGNATURES.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Looks::Other(name);
    }
    match text(head) {
        Some(name) => Looks::Other(name),
        None if exp::looks_like_records(head) => Looks::Exp,
        None => Looks::Unmarked,
    }
}

/// Entries of a PolyGlot book hold control bytes, so a head without any is text.
fn text(head: &[u8]) -> Option<&'static str> {
    let control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r\x0c".contains(byte);
    if head.is_empty() || head.iter().any(control) || !mostly_ascii(head) {
        return None;
    }
    let begin = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    Some(if begin.starts_with(b"[") { "text, probably PGN" } else { "text" })
}

fn mostly_ascii(head: &[u8]) -> bool {
    head.iter().filter(|byte| byte.is_ascii()).count() * 10 >= head.len() * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_files_are_named() {
        assert_eq!(judge(b"SOBH\r\n\x1a\n"), Looks::Sob);
        assert_eq!(judge(b"\x03ABK\0"), Looks::Abk);
        assert_eq!(judge(b"\n[Event \"?\"]\n"), Looks::Other("text, probably PGN"));
        assert_eq!(judge(b"e4 e5"), Looks::Other("text"));
        assert_eq!(judge(b"caf\xe9 au lait, in Latin-1"), Looks::Other("text"));
        assert_eq!(judge(b""), Looks::Unmarked);
        assert_eq!(
            judge(b"\x46\x3b\x96\x18\x16\x91\xfc\x9c\x03\x1c\0\x01\0\0\0\0"),
            Looks::Unmarked
        );
    }
}
