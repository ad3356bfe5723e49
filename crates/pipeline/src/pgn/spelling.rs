//! Spellings of moves that files have and SAN has not.

use shakmaty::san::San;

/// Reads one word as a move: SAN, with or without suffixes, and the spellings beside it
/// (`0-0`, `Ng1-f3`, `e2e4`, `e8=q`, `exd6e.p.`).
pub(crate) fn read_san(word: &[u8]) -> Option<San> {
    if let Ok(san) = San::from_ascii(word) {
        return Some(san);
    }
    let word = word.strip_suffix(b"e.p.").unwrap_or(word);
    let core = word.iter().rposition(|byte| !b"+#!?".contains(byte)).map_or(0, |last| last + 1);
    match &word[..core] {
        b"0-0" | b"o-o" | b"OO" | b"00" => San::from_ascii(b"O-O").ok(),
        b"0-0-0" | b"o-o-o" | b"OOO" | b"000" => San::from_ascii(b"O-O-O").ok(),
        core => San::from_ascii(core).or_else(|_| San::from_ascii(&plain(core))).ok(),
    }
}

/// The move without hyphens and brackets, captures as `x`, the promoted piece in upper case.
fn plain(core: &[u8]) -> Vec<u8> {
    let mut plain: Vec<u8> = core
        .iter()
        .filter(|byte| !matches!(byte, b'-' | b'(' | b')' | b'/'))
        .map(|byte| if matches!(byte, b':' | b'X') { b'x' } else { *byte })
        .collect();
    // `e8q`, `e8Q` and `e8=q` all name the piece behind the last rank.
    if let [.., rank @ (b'1' | b'8' | b'='), piece] = plain.as_mut_slice()
        && piece.is_ascii_alphabetic()
    {
        piece.make_ascii_uppercase();
        if *rank != b'=' {
            plain.insert(plain.len() - 1, b'=');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_real_files_are_read() {
        for (text, san) in [
            ("Nf3", "Nf3"),
            ("Nf3+!?", "Nf3"),
            ("0-0", "O-O"),
            ("O-O?!", "O-O"),
            ("O-O-O+!", "O-O-O"),
            ("0-0-0+", "O-O-O"),
            ("o-o", "O-O"),
            ("Ng1-f3", "Ng1f3"),
            ("e2-e4", "e2e4"),
            ("e2e4", "e2e4"),
            ("e8=q", "e8=Q"),
            ("e8q", "e8=Q"),
            ("fxg1N+", "fxg1=N"),
            ("e8(Q)", "e8=Q"),
            ("exd6e.p.", "exd6"),
            ("N:f3", "Nxf3"),
        ] {
            assert_eq!(
                read_san(text.as_bytes()).map(|san| san.to_string()).as_deref(),
                Some(san),
                "{text}"
            );
        }
    }

    #[test]
    fn other_words_are_not_moves() {
        for text in ["", "XYZ", "Sf3", "}", "e9", "1-0", "!", "e4e5e6", "Nf33", "\u{bd}"] {
            assert_eq!(read_san(text.as_bytes()), None, "{text}");
        }
    }
}
