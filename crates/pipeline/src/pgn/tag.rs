//! Tag pairs.

use std::borrow::Cow;

use super::{is_newline, line_end};

/// What stands next in a tag section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagEvent<'a> {
    /// A tag pair. `after_blank`: an empty line stands before it. The value is as written, and
    /// absent when the pair is malformed.
    Tag { start: usize, name_at: usize, name: &'a [u8], value: Option<&'a [u8]>, after_blank: bool },
    /// No tag begins at this index: moves do, or a comment, or the text ends.
    End(usize),
    /// More text is needed to say.
    Incomplete,
}

/// A cursor over the tags before the moves. Blank lines and escaped lines between tags are passed
/// over; a comment ends the section, and [`TagSection::jump`] goes on behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagSection {
    at: usize,
    line_start: bool,
    after_blank: bool,
}

impl TagSection {
    /// Starts at the first tag.
    pub(crate) fn new(at: usize) -> TagSection {
        TagSection { at, line_start: true, after_blank: false }
    }

    /// How far it has come.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Goes on at `at`, behind something that is neither tag nor move.
    pub(crate) fn jump(&mut self, at: usize) {
        self.at = at;
    }

    /// Takes account of `cut` bytes gone from the front of the text.
    pub(crate) fn shift(&mut self, cut: usize) {
        self.at -= cut;
    }

    /// The next tag. `eof` says that no text will be added; after `Incomplete` the same call can
    /// be made again with more.
    pub(crate) fn next<'a>(&mut self, text: &'a [u8], eof: bool) -> TagEvent<'a> {
        loop {
            let Some(&byte) = text.get(self.at) else {
                return if eof { TagEvent::End(self.at) } else { TagEvent::Incomplete };
            };
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\r' if text.get(self.at + 1).is_none() && !eof => return TagEvent::Incomplete,
                b'\r' if text.get(self.at + 1) == Some(&b'\n') => self.at += 1,
                b'\n' | b'\r' => {
                    self.after_blank |= self.line_start;
                    self.line_start = true;
                    self.at += 1;
                }
                b'%' if self.line_start => match skip_line(text, self.at, eof) {
                    Some(end) => self.at = end,
                    None => return TagEvent::Incomplete,
                },
                b';' => match skip_line(text, self.at, eof) {
                    Some(end) => self.at = end,
                    None => return TagEvent::Incomplete,
                },
                b'[' => return self.tag(text, eof),
                _ => return TagEvent::End(self.at),
            }
        }
    }

    fn tag<'a>(&mut self, text: &'a [u8], eof: bool) -> TagEvent<'a> {
        let start = self.at;
        let end = match line_end(text, start) {
            Some(end) => end,
            None if eof => text.len(),
            None => return TagEvent::Incomplete,
        };
        let line = &text[start..end];
        let Some((name_at, name)) = tag_name(line) else { return TagEvent::End(start) };
        let value = tag_value(line, name_at + name.len());
        let (value, length) = match value {
            Some((value, length)) => (Some(value), length),
            None => (None, line.len()),
        };
        self.at = start + length;
        self.line_start = false;
        let after_blank = std::mem::take(&mut self.after_blank);
        TagEvent::Tag { start, name_at: start + name_at, name, value, after_blank }
    }
}

/// The line break after `from`, or the end of the text; `None` when neither is there yet.
fn skip_line(text: &[u8], from: usize, eof: bool) -> Option<usize> {
    line_end(text, from).or(eof.then_some(text.len()))
}

/// The name in `[Name "value"]` and where it is, if the line begins so.
fn tag_name(line: &[u8]) -> Option<(usize, &[u8])> {
    let rest = line.strip_prefix(b"[")?;
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let rest = &rest[blanks..];
    let name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':');
    let length = rest.iter().position(|byte| !name_byte(byte)).unwrap_or(rest.len());
    rest.first().filter(|byte| byte.is_ascii_alphabetic() || **byte == b'_')?;
    Some((1 + blanks, &rest[..length]))
}

/// The value after the name, and where the tag ends. The closing quote is the first that is not
/// escaped and has the bracket behind it, so that quotes within a value do no harm.
fn tag_value(line: &[u8], from: usize) -> Option<(&[u8], usize)> {
    let blanks = line[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = from + blanks + 1;
    if line.get(start - 1) != Some(&b'"') {
        return None;
    }
    memchr::memchr_iter(b'"', &line[start..]).find_map(|length| {
        let value = &line[start..start + length];
        let after = start + length + 1;
        let blanks = line[after..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let backslashes = value.iter().rev().take_while(|byte| **byte == b'\\').count();
        let closes = line.get(after + blanks) == Some(&b']') && backslashes % 2 == 0;
        closes.then_some((value, after + blanks + 1))
    })
}

/// Whether a tag pair begins at `at`: what tells the next game from a bracket in the moves.
pub(super) fn is_tag_start(text: &[u8], at: usize) -> bool {
    let line = &text[at..line_end(text, at).unwrap_or(text.len())];
    tag_name(line).is_some_and(|(name_at, name)| {
        let rest = &line[name_at + name.len()..];
        let value = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
        value.is_some_and(|value| value > 0 && rest[value] == b'"')
    })
}

/// Bytes that are enough to decide [`is_tag_start`]: a name is not longer.
pub(super) const TAG_START: usize = 300;

/// Where a tag line begins at or after `from`, at the start of a line.
pub(super) fn find_tag_line(text: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'[', text.get(from..)?)
        .map(|length| from + length)
        .find(|&at| starts_line(text, at) && is_tag_start(text, at))
}

/// Whether only blanks and a byte-order mark stand before `at` in its line.
pub(super) fn starts_line(text: &[u8], at: usize) -> bool {
    let blanks = text[..at].iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let before = &text[..at - blanks];
    let before = before.strip_suffix(b"\xef\xbb\xbf").unwrap_or(before);
    before.last().is_none_or(|&byte| is_newline(byte))
}

/// The value with `\"` and `\\` resolved.
pub(crate) fn unescape(value: &[u8]) -> Cow<'_, [u8]> {
    if !value.contains(&b'\\') {
        return Cow::Borrowed(value);
    }
    let mut plain = Vec::with_capacity(value.len());
    let mut bytes = value.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match bytes.peek() {
            Some(&next @ (b'"' | b'\\')) if byte == b'\\' => {
                plain.push(next);
                bytes.next();
            }
            _ => plain.push(byte),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Vec<(String, Option<String>)> {
        let mut section = TagSection::new(0);
        let mut tags = Vec::new();
        while let TagEvent::Tag { name, value, .. } = section.next(text.as_bytes(), true) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            tags.push((text(name), value.map(|value| text(&unescape(value)))));
        }
        tags
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<(String, Option<String>)> =
            expected.iter().map(|&(name, value)| (name.into(), Some(value.into()))).collect();
        assert_eq!(tags(text), expected);
    }

    #[test]
    fn values_hold_any_character() {
        check(r#"[A "x"]"#, &[("A", "x")]);
        check("[ A  \"x\" ]\n[\tB\t\"y\"]", &[("A", "x"), ("B", "y")]);
        check("[A \"x\"]\r\n[B \"\"]\r\n\r\n1. e4", &[("A", "x"), ("B", "")]);
        check(r#"[A "say \"hi\" \\"]"#, &[("A", r#"say "hi" \"#)]);
        check(r#"[A "a "quoted" name"]"#, &[("A", r#"a "quoted" name"#)]);
        check(r#"[A "[b] (c) {d}"]  [B "y"] 1. e4"#, &[("A", "[b] (c) {d}"), ("B", "y")]);
        check("[A \"x\"]\n\n% no\n; no\n[B \"y\"]", &[("A", "x"), ("B", "y")]);
    }

    #[test]
    fn a_malformed_tag_ends_with_its_line() {
        assert_eq!(tags("[A x]\n[B \"y\"]"), [("A".into(), None), ("B".into(), Some("y".into()))]);
        assert_eq!(tags("[A \"x\n[B \"y\"]").len(), 2);
    }

    #[test]
    fn commands_are_not_tags() {
        assert!(is_tag_start(b"[Event \"x\"]", 0));
        for text in ["[%clk 0:01]", "[Event]", "[]", "[Event x]"] {
            assert!(!is_tag_start(text.as_bytes(), 0), "{text}");
        }
    }
}
