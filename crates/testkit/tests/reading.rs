//! The text of the renderer, read back by a slow reader that knows nothing of the renderer.

#![allow(clippy::expect_used)] // a text that breaks the rules fails the test

use shakmaty::{Chess, Move, Position, san::San};
use tabiya_testkit::{Flaw, Game, Mix, Style, generate, render};

#[derive(Debug, Default)]
struct Record {
    tags: Vec<(String, String)>,
    words: Vec<String>,
    marker: Option<String>,
}

/// Reads one letter after the other. Letters are bytes, each the letter of its number.
struct Reader {
    text: Vec<char>,
    at: usize,
    records: Vec<Record>,
    current: Record,
}

const MARKERS: [&str; 6] = ["1-0", "0-1", "1/2-1/2", "*", "1/2", "½-½"];

fn read(bytes: &[u8]) -> Vec<Record> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let text = text.replace("\r\n", "\n").replace("Â½", "½");
    let mut reader = Reader {
        text: text.chars().collect(),
        at: 0,
        records: Vec::new(),
        current: Record::default(),
    };
    while reader.at < reader.text.len() {
        reader.step();
    }
    reader.finish();
    reader.records
}

impl Reader {
    fn rest_starts_with(&self, what: &str) -> bool {
        self.text[self.at..].iter().copied().take(what.chars().count()).eq(what.chars())
    }

    fn line_start(&self) -> bool {
        self.at == 0 || self.text[self.at - 1] == '\n'
    }

    fn step(&mut self) {
        match self.text[self.at] {
            '%' if self.line_start() => self.skip_line(),
            ';' => self.skip_line(),
            '{' => self.comment(),
            '(' => self.variation(),
            '[' => self.tag(),
            letter if letter.is_whitespace() => self.at += 1,
            _ => self.word(),
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.text[self.at] != '\n' {
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        while self.at < self.text.len() && self.text[self.at] != '}' {
            if self.rest_starts_with("\n\n[Event \"") {
                return;
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn variation(&mut self) {
        self.at += 1;
        while self.text[self.at] != ')' {
            match self.text[self.at] {
                '(' => self.variation(),
                '{' => self.comment(),
                _ => self.at += 1,
            }
        }
        self.at += 1;
    }

    fn tag(&mut self) {
        if !self.current.words.is_empty() {
            self.finish();
        }
        let open = (self.at..self.text.len()).find(|&at| self.text[at] == '"');
        let open = open.expect("a tag has a value");
        let name: String = self.text[self.at + 1..open].iter().collect();
        let mut value = String::new();
        self.at = open + 1;
        while self.text[self.at] != '"' {
            self.at += usize::from(self.text[self.at] == '\\');
            value.push(self.text[self.at]);
            self.at += 1;
        }
        assert_eq!(self.text[self.at + 1], ']');
        self.at += 2;
        self.current.tags.push((name.trim().to_owned(), value));
    }

    fn word(&mut self) {
        let from = self.at;
        while self.at < self.text.len()
            && !self.text[self.at].is_whitespace()
            && !"{}();[".contains(self.text[self.at])
        {
            self.at += 1;
        }
        let word: String = self.text[from..self.at].iter().collect();
        if MARKERS.contains(&word.as_str()) {
            self.current.marker = Some(word);
            self.finish();
            return;
        }
        let numbered = word.contains('.') || word.chars().all(|c| c.is_ascii_digit());
        if !numbered && !word.starts_with('$') {
            self.current.words.push(word.trim_end_matches(['!', '?']).to_owned());
        }
    }

    /// Ends the record; text without tags and marker was none.
    fn finish(&mut self) {
        let record = std::mem::take(&mut self.current);
        if !record.tags.is_empty() || record.marker.is_some() {
            self.records.push(record);
        }
    }
}

/// The moves that the words name; the words that name none; stops after an open comment.
fn moves_of(record: &Record, start: &Chess) -> (Vec<Move>, Vec<String>) {
    let (mut moves, mut others) = (Vec::new(), Vec::new());
    let mut position = start.clone();
    for word in &record.words {
        let mut san = word.replace('0', "O").replace(['+', '#'], "");
        if san.ends_with(['N', 'B', 'R', 'Q']) && !san.contains('=') {
            san.insert(san.len() - 1, '=');
        }
        match san.parse::<San>().ok().and_then(|san| san.to_move(&position).ok()) {
            Some(m) => {
                position.play_unchecked(m);
                moves.push(m);
            }
            None => others.push(word.clone()),
        }
    }
    (moves, others)
}

/// A tag value as bytes, or the same in ISO 8859-1.
fn same_text(read: &str, meant: &str) -> bool {
    let as_utf8: String = meant.bytes().map(char::from).collect();
    read == meant || read == as_utf8 || read == as_utf8.replace("Â½", "½")
}

fn check(record: &Record, game: &Game, place: &str) {
    let tags: Vec<_> = record.tags.iter().filter(|(name, _)| name != "Story").collect();
    assert_eq!(tags.len(), game.tags.len(), "{place} {record:?}");
    for ((name, value), (meant_name, meant)) in tags.into_iter().zip(&game.tags) {
        assert!(name == meant_name && same_text(value, meant), "{place} {value:?} {meant:?}");
    }
    let (moves, others) = moves_of(record, &game.start);
    let (read_moves, read_marker): (&[Move], _) = match game.flaw {
        Some(Flaw::UnterminatedComment(ply)) => (&game.moves[..ply], &None),
        _ => (&game.moves, &game.marker),
    };
    assert!(moves == read_moves, "{place} {record:?} {:?}", game.flaw);
    assert_eq!(&record.marker, read_marker, "{place} {record:?}");
    let bad_words = match game.flaw {
        Some(Flaw::IllegalMove(_) | Flaw::UnreadableToken(_)) => 1,
        _ => 0,
    };
    assert_eq!(others.len(), bad_words, "{place} {others:?}");
}

fn read_back(games: &[Game], style: Style) {
    let text = render(games, style);
    let records = read(&text);
    for (index, (record, game)) in records.iter().zip(games).enumerate() {
        check(record, game, &format!("{style:?} game {index}"));
    }
    assert_eq!(records.len(), games.len(), "{style:?}");
}

#[test]
fn plain_text_holds_the_games() {
    read_back(&generate(1, 300, Mix::CLEAN), Style::Plain);
    read_back(&generate(2, 300, Mix::ALL), Style::Plain);
    assert!(render(&[], Style::Plain).is_empty());
}

#[test]
fn wild_text_holds_the_games() {
    for seed in 0..60 {
        read_back(&generate(seed, 100, Mix::ALL), Style::Wild(seed));
    }
}

#[test]
fn every_kind_of_dress_occurs() {
    let texts: Vec<Vec<u8>> =
        (0..20).map(|seed| render(&generate(seed, 100, Mix::ALL), Style::Wild(seed))).collect();
    let occurs = |what: &[u8]| {
        texts.iter().any(|text| text.windows(what.len()).any(|window| window == what))
    };
    for what in [
        "\r\n",
        "\u{feff}",
        "1-0[Event",
        "1-0 [Event",
        "XYZ",
        "{ this was",
        "\n% 0-1",
        "0-0",
        "$14",
        "( ",
        "\n\n\n",
        "Our report",
        "½-½",
        "1/2\n",
        "M\u{fc}ller",
        "\\\"",
        "\\\\",
        "!?",
        "1....",
        "1 . ",
        "1. ...",
        "[Result \"\"]",
        "[Result \"?\"]",
        "[Story",
        "; to the end",
    ] {
        assert!(occurs(what.as_bytes()), "{what:?}");
    }
    assert!(occurs(b"M\xfcller"), "ISO 8859-1");
    assert!(texts.iter().any(|text| !text.ends_with(b"\n")), "no newline at the end");
}

#[test]
#[should_panic(expected = "no reader could tell")]
fn games_that_nobody_could_tell_apart_are_refused() {
    let mut games = generate(1, 2, Mix::CLEAN);
    games[0].marker = None;
    games[1].tags.clear();
    render(&games, Style::Plain);
}
