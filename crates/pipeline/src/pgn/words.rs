//! The moves of a record as text: the words of its main line.

use super::{Marker, is_newline, line_end};

/// Something other than a move that keeps the main line from being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A `{` without its `}`.
    UnclosedComment,
    /// A `(` without its `)`.
    UnclosedVariation,
}

/// Walks the words that should be moves: comments, variations, glyphs, move numbers and results
/// are passed over. Ends at the end of the text, or at a fault.
pub(crate) struct Words<'a> {
    text: &'a [u8],
    at: usize,
    fault: Option<Fault>,
}

/// Words that annotate and are no moves, in files of older databases.
const REMARKS: [&[u8]; 7] = [b"e.p.", b"ep", b"N", b"D", b"mate", b"ch", b"dis"];

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Words<'a> {
        Words { text, at: 0, fault: None }
    }

    /// What ended the walk before the text did.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    fn skip_comment(&mut self) {
        match memchr::memchr(b'}', &self.text[self.at..]) {
            Some(length) => self.at += length + 1,
            None => self.stop(Fault::UnclosedComment),
        }
    }

    fn skip_line(&mut self) {
        self.at = line_end(self.text, self.at).unwrap_or(self.text.len());
    }

    /// From a `(` to behind its `)`.
    fn skip_variation(&mut self) {
        let mut depth = 0usize;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'{' => {
                    self.skip_comment();
                    continue;
                }
                b';' => self.skip_line(),
                b'%' if self.starts_line() => self.skip_line(),
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
        self.fault.get_or_insert(Fault::UnclosedVariation);
    }

    fn starts_line(&self) -> bool {
        self.at.checked_sub(1).is_none_or(|before| is_newline(self.text[before]))
    }

    fn stop(&mut self, fault: Fault) {
        self.fault = Some(fault);
        self.at = self.text.len();
    }

    /// One word, up to white space or the start of something else.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let ends = |byte: &u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'{' | b'(' | b')' | b';' | b'$' | 0)
        };
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += length.max(1);
        &rest[..length.max(1)]
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.text.get(self.at)? {
                b'{' => self.skip_comment(),
                b'(' => self.skip_variation(),
                b';' => self.skip_line(),
                b'%' if self.starts_line() => self.skip_line(),
                b'$' => {
                    self.at += 1;
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                }
                byte if byte.is_ascii_whitespace() || matches!(byte, b')' | 0) => self.at += 1,
                _ => {
                    if let Some(word) = without_number(self.word()).filter(|word| is_move(word)) {
                        return Some(word);
                    }
                }
            }
        }
    }
}

/// The word behind its move number: `12.`, `12...`, `12.Nf3`; nothing when that is all.
fn without_number(word: &[u8]) -> Option<&[u8]> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let dots = word[digits..].iter().take_while(|byte| **byte == b'.').count();
    let is_number = dots > 0 || digits == word.len();
    let rest = if is_number { &word[digits + dots..] } else { word };
    // The ellipsis of some editors, in place of dots.
    let rest = rest.strip_prefix("…".as_bytes()).unwrap_or(rest);
    (!rest.is_empty()).then_some(rest)
}

fn is_move(word: &[u8]) -> bool {
    // Most words: the spellings of results begin with something else.
    if word.first().is_some_and(u8::is_ascii_alphabetic) {
        return !REMARKS.contains(&word);
    }
    let is_null_move = word.starts_with(b"--");
    let symbols_only = word.iter().all(|byte| !byte.is_ascii_alphanumeric() && *byte != b'@');
    (is_null_move || !symbols_only) && Marker::from_tag(word).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, fault: Option<Fault>) {
        let mut words = Words::new(text.as_bytes());
        let found: Vec<String> =
            words.by_ref().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        assert_eq!(found.join(" "), expected, "{text}");
        assert_eq!(words.fault(), fault, "{text}");
    }

    #[test]
    fn only_moves_are_words() {
        check("1. e4 e5 2. Nf3 1-0", "e4 e5 Nf3", None);
        check("1.e4 1...e5 2 . Nf3 2. ... Nc6 3....", "e4 e5 Nf3 Nc6", None);
        check("1. e4! $1 e5?! $14 (1... c5 {a ) b} (2. x)) 2. d4 *", "e4! e5?! d4", None);
        check("e4 ; no 1-0 {\ne5\r\n% no\nd4{x}d5 =  +- N ½-½", "e4 e5 d4 d5", None);
        check("1. e4 XYZ } 0-0 0-0-0 -- Z0", "e4 XYZ 0-0 0-0-0 -- Z0", None);
    }

    #[test]
    fn faults_end_the_walk() {
        check("e4 {e5", "e4", Some(Fault::UnclosedComment));
        check("e4 (e5 {", "e4", Some(Fault::UnclosedComment));
        check("e4 (e5 (d5) d4", "e4", Some(Fault::UnclosedVariation));
    }
}
