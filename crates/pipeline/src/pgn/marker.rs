//! Results, as tags and as the marker that ends a game.

use tabiya_model::Outcome;

/// How a record says the game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// `1-0`, `0-1`, `1/2-1/2` and the like.
    Finished(Outcome),
    /// `*`
    Unfinished,
}

const SPELLINGS: [(&[u8], Marker); 8] = [
    (b"1-0", Marker::Finished(Outcome::White)),
    (b"0-1", Marker::Finished(Outcome::Black)),
    (b"1/2-1/2", Marker::Finished(Outcome::Draw)),
    (b"1/2", Marker::Finished(Outcome::Draw)),
    ("½-½".as_bytes(), Marker::Finished(Outcome::Draw)),
    ("½".as_bytes(), Marker::Finished(Outcome::Draw)),
    (b"\xbd-\xbd", Marker::Finished(Outcome::Draw)),
    (b"\xbd", Marker::Finished(Outcome::Draw)),
];

/// Bytes a marker can be recognised by once one of its inner bytes is found.
const LONGEST: usize = 7;

impl Marker {
    /// Reads the value of a Result tag; `None` when it says nothing or nothing known.
    pub(crate) fn from_tag(value: &[u8]) -> Option<Marker> {
        let same = |text: &[u8]| text.iter().eq(value.iter().filter(|byte| **byte != b' '));
        match same(b"*") {
            true => Some(Marker::Unfinished),
            false => SPELLINGS.iter().find(|(text, _)| same(text)).map(|&(_, marker)| marker),
        }
    }

    /// Finds a marker around the telling byte at `at` (one of `-`, `/`, `*` and the half sign),
    /// as a word of its own; gives it with its end. `Err` when more text is needed to say.
    pub(crate) fn around(text: &[u8], at: usize, eof: bool) -> Result<Option<(Marker, usize)>, ()> {
        if !eof && text.len() < at + LONGEST {
            return Err(());
        }
        if text.get(at) == Some(&b'*') {
            return Ok(Some((Marker::Unfinished, at + 1)));
        }
        let start = match text.get(at) {
            Some(b'-' | b'/') => at.checked_sub(1),
            // The half sign is one byte in Latin-1 and the second of two in UTF-8.
            _ => match at.checked_sub(1).and_then(|before| text.get(before)) {
                Some(0xc2) => at.checked_sub(1),
                Some(0x80..) => None,
                _ => Some(at),
            },
        };
        let Some(start) = start else { return Ok(None) };
        if start.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|&b| in_word(b)) {
            return Ok(None);
        }
        let rest = text.get(start..).unwrap_or_default();
        let known = SPELLINGS.iter().find(|(spelling, _)| rest.starts_with(spelling));
        Ok(known.and_then(|&(spelling, marker)| {
            let end = start + spelling.len();
            let whole = !text.get(end).is_some_and(|&byte| in_word(byte));
            whole.then_some((marker, end))
        }))
    }
}

/// Whether a byte beside a result would make it part of a longer word, as in `0-0-0`.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_words_of_their_own() {
        let find = |text: &str| {
            let text = text.as_bytes();
            (0..text.len())
                .filter(|&at| matches!(text[at], b'-' | b'/' | b'*' | 0xbd))
                .find_map(|at| Marker::around(text, at, true).unwrap())
                .map(|(marker, end)| (marker, text.len() - end))
        };
        let white = Marker::Finished(Outcome::White);
        let draw = Marker::Finished(Outcome::Draw);
        assert_eq!(find("e4 1-0"), Some((white, 0)));
        assert_eq!(find("Qh5#1-0[Event"), Some((white, 6)));
        assert_eq!(find("0-1"), Some((Marker::Finished(Outcome::Black), 0)));
        assert_eq!(find(" 1/2-1/2 "), Some((draw, 1)));
        assert_eq!(find(" 1/2\n"), Some((draw, 1)));
        assert_eq!(find(" ½-½"), Some((draw, 0)));
        assert_eq!(find("*"), Some((Marker::Unfinished, 0)));
        for none in ["0-0", "0-0-0", "O-O", "11-0", "1-01", "a1/2", "e2-e4", "ý"] {
            assert_eq!(find(none), None, "{none}");
        }
    }

    #[test]
    fn tags_are_read_with_blanks() {
        assert_eq!(Marker::from_tag(b" 1-0 "), Some(Marker::Finished(Outcome::White)));
        assert_eq!(Marker::from_tag(b"1/2 - 1/2"), Some(Marker::Finished(Outcome::Draw)));
        assert_eq!(Marker::from_tag(b"?"), None);
        assert_eq!(Marker::from_tag(b"White wins"), None);
    }
}
