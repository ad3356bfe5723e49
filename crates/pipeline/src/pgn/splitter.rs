//! Cutting a stream of text into records.
//!
//! A record is a tag section, if any, and the moves after it. It ends with its result marker,
//! with the next tag section, or with the text. Where one ends depends on the text alone, never
//! on the pieces in which it arrives.
//!
//! A `{` without its `}` would swallow all games that follow. It is taken for unclosed when a
//! line that begins a tag pair comes first and then another `{`, or no `}` at all; the record
//! then ends where that line begins.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Marker, is_newline, line_end, read_san,
    tag::{self, TagEvent, TagSection},
};

/// One game as it stands in the text of its chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// All of it.
    pub(crate) text: Range<usize>,
    /// Where the moves begin.
    pub(crate) moves: usize,
    /// The result marker at its end.
    pub(crate) marker: Option<Marker>,
    /// It is longer than a game may be, and `text` only its beginning.
    pub(crate) too_long: bool,
}

/// A piece of one source that holds whole records.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) text: Vec<u8>,
    pub(crate) records: Vec<Record>,
    /// Where `text` begins in the source.
    pub(crate) offset: u64,
    /// Number of the first record in its source, from 0.
    pub(crate) first_game: u64,
    /// Bytes of words that belong to no game.
    pub(crate) stray: u64,
    /// How the text behind it is to be taken.
    pub(crate) then: Resume,
}

/// What a cut between two chunks has to remember, so that reading may begin there another day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Resume {
    /// At the start of a line, or of tags.
    #[default]
    LineStart,
    /// Behind a result, or where moves begin.
    Fresh,
    /// In a line that no moves can begin in.
    Stale,
    /// At the start of a line behind the beginning of a record that is too long.
    Overlong,
    /// In the middle of such a line.
    OverlongLine,
}

/// Where reading begins in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// Bytes of text before it.
    pub(crate) offset: u64,
    /// Games before it.
    pub(crate) game: u64,
    pub(crate) resume: Resume,
}

/// Takes text in pieces and gives it back as chunks of whole records. Holds at most one chunk and
/// one record of the longest size.
pub(crate) struct Splitter {
    chunk: Chunk,
    state: State,
    /// Everything before this is decided.
    at: usize,
    eof: bool,
    longest: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// Outside any record. `fresh`: moves may begin here, at the start of a line or behind a
    /// result; `line_start`: nothing but blanks stands before it in the line.
    Between {
        fresh: bool,
        line_start: bool,
    },
    Tags {
        start: usize,
        section: TagSection,
        names: Vec<Range<usize>>,
    },
    Moves {
        start: usize,
        moves: usize,
        depth: u32,
    },
    /// Behind the beginning of a record that is too long.
    Overlong {
        mid_line: bool,
    },
}

/// More text is needed to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    /// To see the end of a line or word.
    Line,
    /// To see whether a comment ends. Asks for no more than the longest game.
    Comment,
}

type Step = Result<(), More>;

impl Splitter {
    /// `longest` is the longest text taken for one game.
    pub(crate) fn new(longest: usize, start: Start) -> Splitter {
        let state = match start.resume {
            Resume::LineStart => State::Between { fresh: true, line_start: true },
            Resume::Fresh => State::Between { fresh: true, line_start: false },
            Resume::Stale => State::Between { fresh: false, line_start: false },
            Resume::Overlong => State::Overlong { mid_line: false },
            Resume::OverlongLine => State::Overlong { mid_line: true },
        };
        let chunk = Chunk { offset: start.offset, first_game: start.game, ..Chunk::default() };
        Splitter { chunk, state, at: 0, eof: false, longest }
    }

    /// Where text is to be appended. [`Splitter::split`] must follow.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.chunk.text
    }

    /// Finds the records that are whole. `eof`: the text ends here.
    pub(crate) fn split(&mut self, eof: bool) {
        self.eof = eof;
        while self.at < self.chunk.text.len() {
            let step = self.step();
            if !self.cut_overlong(step) && step.is_err() {
                break;
            }
        }
        if eof {
            self.end_of_text();
        }
    }

    /// Finds the records that are whole in a text that broke off: the last one is, if its result
    /// is there.
    pub(crate) fn split_damaged(&mut self) {
        self.split(true);
        let end = self.chunk.text.len();
        let cut = |record: &mut Record| record.marker.is_none() && record.text.end == end;
        self.chunk.records.pop_if(cut);
    }

    /// Bytes held.
    pub(crate) fn len(&self) -> usize {
        self.chunk.text.len()
    }

    /// The whole records found so far, with their text; what follows them stays.
    pub(crate) fn take(&mut self) -> Option<Chunk> {
        let cut = match self.state {
            State::Between { .. } | State::Overlong { .. } => self.at,
            State::Tags { start, .. } | State::Moves { start, .. } => start,
        };
        if cut == 0 {
            return None;
        }
        let rest = self.chunk.text.split_off(cut);
        let next = Chunk {
            text: rest,
            records: Vec::new(),
            offset: self.chunk.offset + cut as u64,
            first_game: self.chunk.first_game + self.chunk.records.len() as u64,
            ..Chunk::default()
        };
        self.chunk.then = self.resume();
        self.at -= cut;
        match &mut self.state {
            State::Between { .. } | State::Overlong { .. } => {}
            State::Tags { start, section, names } => {
                *start -= cut;
                section.shift(cut);
                for name in names {
                    *name = name.start - cut..name.end - cut;
                }
            }
            State::Moves { start, moves, .. } => {
                *start -= cut;
                *moves -= cut;
            }
        }
        Some(std::mem::replace(&mut self.chunk, next))
    }

    /// What is left when the text has ended: the last chunk, which may be empty.
    pub(crate) fn finish(mut self) -> Chunk {
        self.take().unwrap_or(self.chunk)
    }

    fn resume(&self) -> Resume {
        match self.state {
            State::Between { line_start: true, .. } | State::Tags { .. } => Resume::LineStart,
            // The record is read again from its start, which may be tags.
            State::Moves { start, moves, .. } if start < moves => Resume::LineStart,
            State::Between { fresh: true, .. } | State::Moves { .. } => Resume::Fresh,
            State::Between { .. } => Resume::Stale,
            State::Overlong { mid_line: false } => Resume::Overlong,
            State::Overlong { mid_line: true } => Resume::OverlongLine,
        }
    }

    fn step(&mut self) -> Step {
        match self.state {
            State::Between { fresh, line_start } => self.step_between(fresh, line_start),
            State::Tags { .. } => self.step_tags(),
            State::Moves { .. } => self.step_moves(),
            State::Overlong { mid_line } => self.step_overlong(mid_line),
        }
    }

    fn step_between(&mut self, fresh: bool, line_start: bool) -> Step {
        match self.chunk.text[self.at] {
            b'\n' | b'\r' => self.between(self.at + 1, true, true),
            b' ' | b'\t' | 0 => self.between(self.at + 1, fresh, line_start),
            b'%' if line_start => self.between(self.skip_line()?, false, false),
            b';' => self.between(self.skip_line()?, false, false),
            b'{' => {
                let end = self.comment_end(self.at)?;
                self.between(end, fresh, false);
            }
            b'[' => match self.is_tag_start()? || (line_start && self.is_broken_tag()) {
                true => self.start_tags(self.at),
                false => self.stray(1),
            },
            0xef if line_start => {
                self.need(3)?;
                match self.chunk.text[self.at..].starts_with(b"\xef\xbb\xbf") {
                    true => self.between(self.at + 3, true, true),
                    false => self.stray(1),
                }
            }
            _ => {
                let length = self.word_length()?;
                match fresh && self.begins_moves(length)? {
                    true => {
                        let start = self.at;
                        self.state = State::Moves { start, moves: start, depth: 0 };
                    }
                    false => self.stray(length),
                }
            }
        }
        Ok(())
    }

    fn step_tags(&mut self) -> Step {
        let State::Tags { start, mut section, .. } = self.state else { return Ok(()) };
        match section.next(&self.chunk.text, self.eof) {
            TagEvent::Incomplete => return Err(More::Line),
            TagEvent::Tag { start: tag_start, name_at, name, after_blank, .. } => {
                let name = name_at..name_at + name.len();
                if self.repeats(&name, after_blank) {
                    if self.end_record(start, tag_start, tag_start, None) {
                        self.start_tags(tag_start);
                    }
                } else {
                    self.go_on_in_tags(section, Some(name));
                }
            }
            TagEvent::End(end) => {
                let comment = self.chunk.text.get(end) == Some(&b'{');
                let close = if comment { self.comment_end(end)? } else { end };
                if comment && self.chunk.text.get(close - 1) == Some(&b'}') {
                    section.jump(close);
                    self.go_on_in_tags(section, None);
                } else {
                    self.at = end;
                    self.state = State::Moves { start, moves: end, depth: 0 };
                }
            }
        }
        Ok(())
    }

    /// Whether a tag begins another record: one without moves is followed by the next.
    fn repeats(&self, name: &Range<usize>, after_blank: bool) -> bool {
        let State::Tags { names, .. } = &self.state else { return false };
        let text = &self.chunk.text;
        let same = |known: &Range<usize>| text[known.clone()] == text[name.clone()];
        (after_blank || &text[name.clone()] == b"Event") && names.iter().any(same)
    }

    fn go_on_in_tags(&mut self, moved: TagSection, name: Option<Range<usize>>) {
        if let State::Tags { section, names, .. } = &mut self.state {
            *section = moved;
            names.extend(name);
            self.at = moved.position();
        }
    }

    fn step_moves(&mut self) -> Step {
        let State::Moves { start, moves, depth } = self.state else { return Ok(()) };
        let text = &self.chunk.text;
        let rest = &text[self.at..];
        let plain = rest.iter().position(|&byte| TELLING[usize::from(byte)]);
        let Some(plain) = plain else {
            self.at = text.len();
            return Ok(());
        };
        self.at += plain;
        match text[self.at] {
            b'{' => self.at = self.comment_end(self.at)?,
            b';' => self.at = self.skip_line()?,
            b'(' => {
                self.at += 1;
                self.state = State::Moves { start, moves, depth: depth.saturating_add(1) };
            }
            b')' => {
                self.at += 1;
                self.state = State::Moves { start, moves, depth: depth.saturating_sub(1) };
            }
            b'%' if starts_line_exactly(text, self.at) => self.at = self.skip_line()?,
            b'[' if tag::starts_line(text, self.at) => {
                if self.is_tag_start()? {
                    let end = self.at;
                    if self.end_record(start, moves, end, None) {
                        self.start_tags(end);
                    }
                } else {
                    self.at += 1;
                }
            }
            b'-' | b'/' | b'*' | 0xbd if depth == 0 => {
                match Marker::around(text, self.at, self.eof).map_err(|()| More::Line)? {
                    Some((marker, end)) => {
                        if self.end_record(start, moves, end, Some(marker)) {
                            self.between(end, true, false);
                        }
                    }
                    None => self.at += 1,
                }
            }
            _ => self.at += 1,
        }
        Ok(())
    }

    /// Passes to the next line that begins a tag pair.
    fn step_overlong(&mut self, mid_line: bool) -> Step {
        let text = &self.chunk.text;
        if mid_line {
            match line_end(text, self.at) {
                Some(end) => {
                    self.at = end + 1;
                    self.state = State::Overlong { mid_line: false };
                }
                None => self.at = text.len(),
            }
            return Ok(());
        }
        let blanks = text[self.at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.at += blanks;
        self.need(3)?;
        if self.chunk.text[self.at..].starts_with(b"\xef\xbb\xbf") {
            self.at += 3;
        }
        match self.chunk.text.get(self.at) {
            None => {}
            Some(b'[') if self.is_tag_start()? => self.start_tags(self.at),
            Some(_) => self.state = State::Overlong { mid_line: true },
        }
        Ok(())
    }

    /// Cuts off a record that has become too long, ended or not.
    fn cut_overlong(&mut self, step: Step) -> bool {
        let (start, moves) = match self.state {
            State::Tags { start, .. } => (start, usize::MAX),
            State::Moves { start, moves, .. } => (start, moves),
            State::Between { .. } | State::Overlong { .. } => return false,
        };
        let reached = match step {
            // What is looked for begins within the bytes that tell a tag.
            Err(More::Line) => self.chunk.text.len().saturating_sub(tag::TAG_START),
            _ => self.at,
        };
        let end = start + self.longest;
        if reached > end {
            self.end_record(start, moves, reached, None);
        }
        reached > end
    }

    /// Behind the `}` of the comment at `from`, or where the text goes on if it has none.
    fn comment_end(&self, from: usize) -> Result<usize, More> {
        let text = &self.chunk.text;
        let window = text.len().min(from + 1 + self.longest);
        let whole = self.eof || window < text.len();
        let mut at = from + 1;
        while let Some(length) = memchr::memchr2(b'{', b'}', &text[at..window]) {
            let found = at + length;
            if text[found] == b'}' {
                return Ok(found + 1);
            }
            if let Some(tags) = tag::find_tag_line(&text[..found], from + 1) {
                return Ok(tags);
            }
            at = found + 1;
        }
        if !whole {
            return Err(More::Comment);
        }
        Ok(tag::find_tag_line(&text[..window], from + 1).unwrap_or(window))
    }

    fn is_tag_start(&self) -> Result<bool, More> {
        let text = &self.chunk.text;
        let enough = text.len() - self.at >= tag::TAG_START;
        match enough || self.eof || line_end(text, self.at).is_some() {
            true => Ok(tag::is_tag_start(text, self.at)),
            false => Err(More::Line),
        }
    }

    /// Outside of games a line that begins like a tag is meant for one.
    fn is_broken_tag(&self) -> bool {
        self.chunk.text.get(self.at + 1).is_some_and(u8::is_ascii_alphabetic)
    }

    fn start_tags(&mut self, start: usize) {
        self.at = start;
        self.state = State::Tags { start, section: TagSection::new(start), names: Vec::new() };
    }

    fn between(&mut self, at: usize, fresh: bool, line_start: bool) {
        self.at = at;
        self.state = State::Between { fresh, line_start };
    }

    /// Passes over a word that belongs to no game.
    fn stray(&mut self, length: usize) {
        self.chunk.stray += length as u64;
        self.between(self.at + length, false, false);
    }

    /// Adds a record; `false` when it is too long, and what follows its beginning is passed over.
    fn end_record(
        &mut self,
        start: usize,
        moves: usize,
        end: usize,
        marker: Option<Marker>,
    ) -> bool {
        let limit = start + self.longest;
        let too_long = end > limit;
        let end = end.min(limit);
        let record = Record { text: start..end, moves: moves.min(end), marker, too_long };
        self.chunk.records.push(record);
        if too_long {
            self.at = end;
            self.state = State::Overlong { mid_line: !starts_line_exactly(&self.chunk.text, end) };
        }
        !too_long
    }

    fn end_of_text(&mut self) {
        let end = self.chunk.text.len();
        if let State::Tags { start, .. } | State::Moves { start, .. } = self.state {
            let moves = match self.state {
                State::Moves { moves, .. } => moves,
                _ => end,
            };
            if !self.end_record(start, moves, end, None) {
                return self.split(true);
            }
        }
        self.between(end, true, true);
    }

    fn skip_line(&self) -> Result<usize, More> {
        line_end(&self.chunk.text, self.at)
            .or(self.eof.then_some(self.chunk.text.len()))
            .ok_or(More::Line)
    }

    /// The length of the word here; a word longer than any move or number is cut.
    fn word_length(&self) -> Result<usize, More> {
        const LONGEST_WORD: usize = 64;
        let rest = &self.chunk.text[self.at..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b';' | b'[');
        match rest.iter().take(LONGEST_WORD).skip(1).position(ends) {
            Some(length) => Ok(length + 1),
            None if rest.len() >= LONGEST_WORD => Ok(LONGEST_WORD),
            None if self.eof => Ok(rest.len()),
            None => Err(More::Line),
        }
    }

    /// Whether the word here begins the moves of a record without tags: a move, or a number and
    /// its dot, with or without blanks between.
    fn begins_moves(&self, length: usize) -> Result<bool, More> {
        let (word, rest) = self.chunk.text[self.at..].split_at(length);
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Ok(read_san(word).is_some());
        }
        let next = word[digits..].iter().chain(rest).find(|byte| !byte.is_ascii_whitespace());
        match next {
            None if !self.eof => Err(More::Line),
            next => Ok(next == Some(&b'.')),
        }
    }

    fn need(&self, bytes: usize) -> Step {
        let there = self.eof || self.chunk.text.len() >= self.at + bytes;
        if there { Ok(()) } else { Err(More::Line) }
    }
}

/// Bytes that tell something about where a record ends.
const TELLING: [bool; 256] = {
    let mut telling = [false; 256];
    let bytes = b"{;()%[-/*\xbd";
    let mut index = 0;
    while index < bytes.len() {
        telling[bytes[index] as usize] = true;
        index += 1;
    }
    telling
};

fn starts_line_exactly(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| is_newline(text[before]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The records, whatever the pieces. With pieces of an odd length, every chunk is followed by
    /// a splitter that knows of the ones before only what a cut remembers.
    fn split(text: &[u8], piece: usize, chunk: usize, longest: usize) -> Vec<(u64, String, usize)> {
        let mut splitter = Splitter::new(longest, Start::default());
        let mut records = Vec::new();
        let mut keep = |chunk: &Chunk| {
            for record in &chunk.records {
                let start = chunk.offset + record.text.start as u64;
                let text = String::from_utf8_lossy(&chunk.text[record.text.clone()]).into_owned();
                records.push((start, text, record.moves - record.text.start));
            }
        };
        for part in text.chunks(piece) {
            splitter.buffer().extend_from_slice(part);
            splitter.split(false);
            if splitter.len() >= chunk
                && let Some(chunk) = splitter.take()
            {
                keep(&chunk);
                if piece % 2 == 1 {
                    let start = Start {
                        offset: chunk.offset + chunk.text.len() as u64,
                        game: chunk.first_game + chunk.records.len() as u64,
                        resume: chunk.then,
                    };
                    let rest = std::mem::take(splitter.buffer());
                    splitter = Splitter::new(longest, start);
                    splitter.buffer().extend(rest);
                    splitter.split(false);
                }
            }
        }
        splitter.split(true);
        keep(&splitter.finish());
        records
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let records = split(text.as_bytes(), usize::MAX, usize::MAX, 1 << 20);
        let found: Vec<&str> = records.iter().map(|(_, text, _)| text.trim()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn records_end_with_their_result() {
        check(
            "[A \"1\"]\n\n1. e4 1-0\n\n[A \"2\"]\n\n1. d4 0-1\n",
            &["[A \"1\"]\n\n1. e4 1-0", "[A \"2\"]\n\n1. d4 0-1"],
        );
        check(
            "[A \"1\"]\n1. e4 1-0[A \"2\"]\n1. d4 0-1",
            &["[A \"1\"]\n1. e4 1-0", "[A \"2\"]\n1. d4 0-1"],
        );
        check("1. e4 1-0 1. d4 e5 1/2-1/2\n1. c4 *", &["1. e4 1-0", "1. d4 e5 1/2-1/2", "1. c4 *"]);
        check("e4 e5 1-0 {won}\n d4 d5 0-1", &["e4 e5 1-0", "d4 d5 0-1"]);
        check("d4!? e5 1-0", &["d4!? e5 1-0"]);
        check("1 . e4 1-0\n1\n. d4 0-1", &["1 . e4 1-0", "1\n. d4 0-1"]);
    }

    #[test]
    fn records_without_a_result_end_with_the_next_tags() {
        check(
            "[A \"1\"]\n\n1. e4\n\n[A \"2\"]\n1. d4",
            &["[A \"1\"]\n\n1. e4", "[A \"2\"]\n1. d4"],
        );
        check("[A \"1\"]\n\n[B \"2\"]\n\n1. e4 *", &["[A \"1\"]\n\n[B \"2\"]\n\n1. e4 *"]);
        check("[A \"1\"]\n\n[A \"2\"]\n1. e4 *", &["[A \"1\"]", "[A \"2\"]\n1. e4 *"]);
        check(
            "[Event \"1\"]\n[Event \"2\"]\n1. e4 *",
            &["[Event \"1\"]", "[Event \"2\"]\n1. e4 *"],
        );
    }

    #[test]
    fn comments_and_variations_hide_results_and_tags() {
        for game in [
            "1. e4 {1-0\n[A \"2\"]\n} e5 1-0",
            "1. e4 ; 1-0 {\n e5 1-0",
            "1. e4\n% 1-0 {\ne5 1-0",
            "1. e4 (1. d4 1-0 (1. c4 *)) e5 1-0",
            "1. e4\n[%clk 1] e5 0-0 0-0-0 1-0",
        ] {
            check(&format!("[A \"1\"]\n\n{game}\n"), &[&format!("[A \"1\"]\n\n{game}")]);
        }
    }

    #[test]
    fn an_unclosed_comment_costs_one_game() {
        let lost = "[A \"1\"]\n\n1. e4 {oh e5 1-0";
        let next = "[A \"2\"]\n\n1. d4 {fine} d5 1-0";
        let last = "[A \"3\"]\n\n1. c4 1-0";
        check(&format!("{lost}\n\n{next}\n\n{last}"), &[lost, next, last]);
        check(&format!("{lost}\n\n{last}"), &[lost, last]);
    }

    #[test]
    fn text_between_games_is_no_game() {
        check(
            "Week 1599 [news]\nthe 1.e4 issue\n\n[A \"1\"]\n1. e4 1-0\nbye",
            &["[A \"1\"]\n1. e4 1-0"],
        );
        check(
            "\u{feff}[A \"1\"]\n1. e4 1-0\n\u{feff}[A \"2\"]\n1. e4 1-0",
            &["[A \"1\"]\n1. e4 1-0", "[A \"2\"]\n1. e4 1-0"],
        );
        check("", &[]);
        check("\n\n", &[]);
    }

    #[test]
    fn reading_begins_again_at_broken_tags() {
        let text = b"[A \"1\"]1-0\n[O-O[B \"2\"]\n1. e4 e5 1-0";
        let whole = split(text, usize::MAX - 1, usize::MAX, 1 << 20);
        assert_eq!(whole.len(), 2);
        for piece in (1..text.len()).step_by(2) {
            assert_eq!(split(text, piece, 1, 1 << 20), whole, "{piece}");
        }
    }

    #[test]
    fn a_record_that_is_too_long_is_cut_and_passed_over() {
        let long = format!("[A \"1\"]\n\n{}", "e4 ".repeat(100));
        let text = format!("{long}\n\n[A \"2\"]\n1. e4 1-0");
        for (piece, chunk) in [(1000, 1000), (1, 1), (7, 50)] {
            let records = split(text.as_bytes(), piece, chunk, 64);
            assert_eq!(records.len(), 2, "{records:?}");
            assert_eq!(records[0].1.len(), 64);
            assert_eq!(records[1].1, "[A \"2\"]\n1. e4 1-0");
        }
    }

    /// Pieces of text that matter to the splitter, in any order.
    fn soup() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "[Event \"x\"]\n",
            "[A \"y\"]",
            "[",
            "]",
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            " ",
            "1. e4 ",
            "e5 ",
            "1-0",
            "0-1",
            "1/2",
            "1/2-1/2",
            "½-½",
            "\u{bd}",
            "*",
            "{",
            "}",
            "{x}",
            "(",
            ")",
            ";",
            "%",
            "\u{feff}",
            "O-O",
            "0-0-0",
            "word ",
            "-",
            "/",
            "\"",
            "[%clk 1]",
            "\0",
            "\\",
        ]);
        prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_pieces_give_the_same_records(text in soup(), piece in 1..40usize, chunk in 1..60usize, longest in 20..400usize) {
            let whole = split(text.as_bytes(), usize::MAX, usize::MAX, longest);
            prop_assert_eq!(split(text.as_bytes(), piece, chunk, longest), whole);
        }

        #[test]
        fn any_bytes_are_split(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1..40usize) {
            let whole = split(&bytes, usize::MAX, usize::MAX, 1 << 20);
            prop_assert_eq!(split(&bytes, piece, 1, 1 << 20), whole);
        }
    }
}
