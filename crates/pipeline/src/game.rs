//! What a game is: from the text of a record to its line, or to the reason it has none.
//!
//! The checks come in this order, and the first that fails is the reason: variant, set-up
//! position, result, wanted result, tags, moves, length. Moves are read up to the end of the line
//! and no further, so faults behind it do not matter.

use std::{borrow::Cow, ops::ControlFlow};

use pgn_reader::{Reader, SanPlus, Skip, Visitor};
use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, Position, PositionError, Role, Square,
    fen::Fen,
    san::{San, SanError},
    uci::UciMove,
};
use tabiya_model::{Line, Outcome, PackedMove, Reason, Start};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    config::{LineEnd, Short},
    filter::{Rules, Tags},
    pgn::{Fault, Marker, Record, TagEvent, TagSection, Words, read_san, unescape},
};

/// A game whose line counts.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) line: Line,
    /// Where the line ends.
    pub(crate) end: Chess,
    /// What makes it the same game as another: players, date, result and all moves. 0 unless
    /// duplicates are asked for.
    pub(crate) identity: u128,
    /// The result stands in the tag alone.
    pub(crate) unmarked: bool,
}

/// A game left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
}

impl LeftOut {
    fn new(reason: Reason, detail: impl Into<String>) -> LeftOut {
        LeftOut { reason, detail: detail.into() }
    }
}

/// Reads games one after the other, keeping its buffers.
#[derive(Default)]
pub(crate) struct GameReader {
    sans: Vec<San>,
    moves: Vec<PackedMove>,
}

/// What the tags of a record say.
#[derive(Default)]
struct Header<'a> {
    result: Option<Cow<'a, [u8]>>,
    fen: Option<Cow<'a, [u8]>>,
    variant: Option<Cow<'a, [u8]>>,
    tags: Tags,
}

impl GameReader {
    /// Reads one record of `text`.
    pub(crate) fn read(
        &mut self,
        text: &[u8],
        record: &Record,
        rules: &Rules,
    ) -> Result<Accepted, LeftOut> {
        if record.too_long {
            let detail = format!("longer than {} bytes (input.max_game)", record.text.len());
            return Err(LeftOut::new(Reason::Syntax, detail));
        }
        let header = read_header(&text[record.text.start..record.moves], rules.ask_tags());
        if let Some(variant) = header.variant.as_deref().filter(|value| !is_standard(value)) {
            return Err(LeftOut::new(Reason::Variant, String::from_utf8_lossy(variant)));
        }
        let start = start_position(header.fen.as_deref(), rules)?;
        let outcome = outcome(header.result.as_deref(), record.marker)?;
        let Some(outcome) = outcome.filter(|&outcome| rules.wants(outcome)) else {
            return Err(LeftOut::new(Reason::NotDecisive, ""));
        };
        if let Some(reason) = rules.refuse(&header.tags) {
            return Err(LeftOut::new(reason, ""));
        }
        let movetext = &text[record.moves..record.text.end];
        let (line, end) = self.read_line(movetext, start, outcome, rules)?;
        let identity = match rules.dedupe {
            true => identity(&header.tags, outcome, &line.start, movetext),
            false => 0,
        };
        Ok(Accepted { line, end, identity, unmarked: record.marker.is_none() })
    }

    fn read_line(
        &mut self,
        movetext: &[u8],
        start: Start,
        outcome: Outcome,
        rules: &Rules,
    ) -> Result<(Line, Chess), LeftOut> {
        let mut position = position_of(&start);
        let plies = line_plies(rules, outcome, position.turn());
        self.read_sans(movetext, plies)?;
        self.moves.clear();
        for &san in &self.sans {
            let m = resolve(san, &position)
                .map_err(|error| illegal(self.moves.len() + 1, san, &error))?;
            self.moves.push(PackedMove::new(m));
            position.play_unchecked(m);
        }
        if self.moves.is_empty() {
            return Err(LeftOut::new(Reason::NoMoves, ""));
        }
        if position.is_checkmate() && outcome.winner() != Some(!position.turn()) {
            let detail = "the side that is mated on the board did not lose";
            return Err(LeftOut::new(Reason::ResultConflict, detail));
        }
        let complete = self.moves.len() == plies;
        let kept = match rules.short {
            Short::Drop => complete,
            Short::Keep => true,
            Short::Mate => complete || position.is_checkmate(),
        };
        if !kept {
            let detail = format!("{} of {plies} plies", self.moves.len());
            return Err(LeftOut::new(Reason::TooShort, detail));
        }
        Ok((Line { start, moves: self.moves.as_slice().into(), outcome }, position))
    }

    /// Reads the first `plies` moves of the main line into `self.sans`.
    fn read_sans(&mut self, movetext: &[u8], plies: usize) -> Result<(), LeftOut> {
        self.sans.clear();
        let mut collector = Collector { sans: &mut self.sans, plies };
        let mut reader = Reader::new(movetext);
        // A blank line among the moves looks like the end of the game to the reader.
        let read = loop {
            match reader.read_game(&mut collector) {
                Ok(Some(())) if collector.sans.len() < plies => {}
                Ok(_) => break true,
                Err(_) => break false,
            }
        };
        if read && readable(movetext, self.sans.len(), plies) {
            return Ok(());
        }
        self.spell_out(movetext, plies)
    }

    /// Reads the moves word by word, the odd spellings too; the way for files that need it.
    fn spell_out(&mut self, movetext: &[u8], plies: usize) -> Result<(), LeftOut> {
        self.sans.clear();
        let mut words = Words::new(movetext);
        for word in words.by_ref().take(plies) {
            let ply = self.sans.len() + 1;
            let san = read_san(word).ok_or_else(|| {
                let reason = if names_square(word) { Reason::IllegalMove } else { Reason::Syntax };
                let word = String::from_utf8_lossy(&word[..word.len().min(40)]);
                LeftOut::new(reason, format!("ply {ply}: {word:?} is no move"))
            })?;
            self.sans.push(san);
        }
        match words.fault() {
            Some(fault) if self.sans.len() < plies => {
                let what = match fault {
                    Fault::UnclosedComment => "a comment without its }",
                    Fault::UnclosedVariation => "a variation without its )",
                };
                let detail = format!("{what} after ply {}", self.sans.len());
                Err(LeftOut::new(Reason::Syntax, detail))
            }
            _ => Ok(()),
        }
    }
}

/// Whether each of the first words is a move that the reader can read. It passes over others in
/// silence, and a line without them may be playable, and wrong.
fn readable(movetext: &[u8], read: usize, plies: usize) -> bool {
    let mut words = Words::new(movetext);
    let found = words.by_ref().take(plies).take_while(|word| is_san(word)).count();
    found == read && (found == plies || (words.fault().is_none() && words.next().is_none()))
}

/// Whether a word is meant for a move: `Qh9`, `Sf3`.
fn names_square(word: &[u8]) -> bool {
    word.windows(2).any(|pair| matches!(pair, [b'a'..=b'h', b'0'..=b'9']))
}

fn is_san(word: &[u8]) -> bool {
    let core = word.iter().rposition(|byte| !b"!?+#".contains(byte)).map_or(0, |last| last + 1);
    let core = &word[..core];
    San::from_ascii(core).is_ok() || core == b"0-0" || core == b"0-0-0"
}

/// Collects the moves of the main line up to a number.
struct Collector<'a> {
    sans: &'a mut Vec<San>,
    plies: usize,
}

impl Visitor for Collector<'_> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        if self.sans.len() < self.plies {
            self.sans.push(san.san);
        }
        match self.sans.len() < self.plies {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, (): ()) {}
}

fn read_header(text: &[u8], all: bool) -> Header<'_> {
    let mut header = Header::default();
    let mut section = TagSection::new(0);
    loop {
        match section.next(text, true) {
            TagEvent::Tag { name, value: Some(value), .. } => {
                let field = match name {
                    b"Result" => Some(&mut header.result),
                    b"FEN" => Some(&mut header.fen),
                    b"Variant" => Some(&mut header.variant),
                    _ => None,
                };
                if let Some(field) = field {
                    *field = Some(unescape(value.trim_ascii()));
                }
                if all {
                    header.tags.push(name, &unescape(value));
                }
            }
            TagEvent::Tag { .. } => {}
            TagEvent::End(end) if text.get(end) == Some(&b'{') => {
                match memchr::memchr(b'}', &text[end..]) {
                    Some(length) => section.jump(end + length + 1),
                    None => return header,
                }
            }
            TagEvent::End(_) | TagEvent::Incomplete => return header,
        }
    }
}

/// Names under which ordinary chess goes, set-up positions included.
fn is_standard(variant: &[u8]) -> bool {
    const NAMES: [&str; 9] =
        ["", "?", "-", "standard", "chess", "normal", "orthodox", "from position", "fromposition"];
    let name = String::from_utf8_lossy(variant).trim().to_ascii_lowercase();
    NAMES.contains(&name.as_str())
}

fn start_position(fen: Option<&[u8]>, rules: &Rules) -> Result<Start, LeftOut> {
    let Some(text) = fen.filter(|text| !text.is_empty()) else { return Ok(Start::Standard) };
    let refuse = |detail: String| LeftOut::new(Reason::SetupPosition, detail);
    let shown = String::from_utf8_lossy(text).into_owned();
    let fen = Fen::from_ascii(text).map_err(|error| refuse(format!("FEN {shown:?}: {error}")))?;
    let position: Chess = fen
        .into_position(CastlingMode::Standard)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .map_err(|error| refuse(format!("FEN {shown:?}: {error}")))?;
    let same = |a: &Chess, b: &Chess| {
        Fen::from_position(a, EnPassantMode::Legal) == Fen::from_position(b, EnPassantMode::Legal)
    };
    if same(&position, &Chess::default()) {
        return Ok(Start::Standard);
    }
    match rules.setup_positions {
        true => Ok(Start::Position(Box::new(position))),
        false => Err(refuse(String::new())),
    }
}

/// What tag and marker say together; `None` for a game that is not over.
fn outcome(tag: Option<&[u8]>, marker: Option<Marker>) -> Result<Option<Outcome>, LeftOut> {
    let tag = tag.filter(|tag| !matches!(*tag, b"" | b"?"));
    let said = match (tag, marker) {
        (None, None) => return Ok(None),
        (None, Some(marker)) => marker,
        (Some(tag), marker) => {
            let known = Marker::from_tag(tag);
            if marker.is_some() && marker != known {
                let tag = String::from_utf8_lossy(tag);
                let detail = format!("the Result tag says {tag:?}, the end of the game another");
                return Err(LeftOut::new(Reason::ResultConflict, detail));
            }
            match known {
                Some(known) => known,
                None => return Ok(None),
            }
        }
    };
    Ok(match said {
        Marker::Finished(outcome) => Some(outcome),
        Marker::Unfinished => None,
    })
}

/// How long the line is: of full length, or one less where the loser would be to move.
fn line_plies(rules: &Rules, outcome: Outcome, first: Color) -> usize {
    let plies = usize::from(rules.plies);
    let to_move = if plies.is_multiple_of(2) { first } else { !first };
    match (rules.line_end, outcome.winner()) {
        (LineEnd::WinnerToMove, Some(winner)) if winner != to_move => plies - 1,
        _ => plies,
    }
}

/// The legal move. Its `x` need not be right, and `g1f3` may be a move of any piece.
fn resolve(san: San, position: &Chess) -> Result<shakmaty::Move, SanError> {
    san.to_move(position).or_else(|error| {
        let San::Normal { role, file, rank, capture, to, promotion } = san else {
            return Err(error);
        };
        let other = San::Normal { role, file, rank, capture: !capture, to, promotion };
        other.to_move(position).or_else(|_| match (role, file, rank) {
            (Role::Pawn, Some(file), Some(rank)) => {
                let from = Square::from_coords(file, rank);
                let coordinates = UciMove::Normal { from, to, promotion };
                coordinates.to_move(position).map_err(|_| error)
            }
            _ => Err(error),
        })
    })
}

fn illegal(ply: usize, san: San, error: &SanError) -> LeftOut {
    let why = match error {
        SanError::AmbiguousSan => "could be several moves",
        SanError::IllegalSan => "cannot be played",
    };
    LeftOut::new(Reason::IllegalMove, format!("ply {ply}: {san} {why}"))
}

/// Hashes what makes two records the same game: players, date, result, and all moves of the whole
/// game, however they are spelled.
fn identity(tags: &Tags, outcome: Outcome, start: &Start, movetext: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    for name in [b"White".as_slice(), b"Black", b"Date"] {
        hash.update(tags.get(name));
        hash.update(&[0]);
    }
    hash.update(&[outcome as u8]);
    let mut position = Some(position_of(start));
    for word in Words::new(movetext) {
        let m = position.as_ref().zip(read_san(word)).and_then(|(at, san)| resolve(san, at).ok());
        match (m, &mut position) {
            (Some(m), Some(position)) => {
                hash.update(&PackedMove::new(m).0.to_le_bytes());
                position.play_unchecked(m);
            }
            // Behind a move that cannot be played there is only text to go by.
            _ => {
                position = None;
                hash.update(word);
                hash.update(&[0]);
            }
        }
    }
    hash.digest128()
}

fn position_of(start: &Start) -> Chess {
    match start {
        Start::Standard => Chess::default(),
        Start::Position(position) => position.as_ref().clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Filter, pgn::Splitter};

    /// The moves of the first game, or why there are none.
    fn read(text: &str, filter: Filter) -> Result<String, (Reason, String)> {
        let mut splitter = Splitter::new(1 << 20, Default::default());
        splitter.buffer().extend_from_slice(text.as_bytes());
        splitter.split(true);
        let chunk = splitter.take().unwrap();
        let rules = Rules::compile(&filter).unwrap();
        let game = GameReader::default().read(&chunk.text, &chunk.records[0], &rules);
        let moves = |game: Accepted| {
            let moves: Vec<String> = game.line.moves.iter().map(ToString::to_string).collect();
            moves.join(" ")
        };
        game.map(moves).map_err(|left_out| (left_out.reason, left_out.detail))
    }

    fn all() -> Filter {
        Filter { short: Short::Keep, line_end: LineEnd::Fixed, ..Filter::default() }
    }

    #[test]
    fn moves_may_be_spelled_in_many_ways() {
        let expected = Ok("e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1h1 f6e4".to_owned());
        for text in [
            "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O Nxe4 1-0",
            "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1 f6e4 1-0",
            "e2-e4 e7-e5 Ng1-f3 Nb8c6 Bb5+ Nf6 0-0 Ne4 1-0",
            "1.e4!? e5 ;x\n 2.Nf3 (2. f4) Nc6 $1 \n\n 3.Bb5 {y} Nf6 4.0-0 Nxe4 N 1-0",
        ] {
            let text = format!("[Result \"1-0\"]\n\n{text}");
            assert_eq!(read(&text, all()), expected, "{text}");
        }
    }

    #[test]
    fn no_move_is_passed_over() {
        let reason = |text: &str| {
            let text = format!("[Result \"1-0\"]\n\n{text}");
            read(&text, all()).map_err(|(reason, _)| reason)
        };
        assert_eq!(reason("1. Nf3 d5 2. XYZ d4 3. e3 1-0"), Err(Reason::Syntax));
        assert_eq!(reason("1. Nf3 d5 2. Qh9 d4 3. e3 1-0"), Err(Reason::IllegalMove));
        assert_eq!(reason("1. Nf3 d5 2. Ka5 d4 3. e3 1-0"), Err(Reason::IllegalMove));
        assert_eq!(reason("1. Nf3 d5 2. -- d4 1-0"), Err(Reason::IllegalMove));
        assert_eq!(reason("1. Nf3 (1. d4 d5 2. e3 1-0"), Err(Reason::Syntax));
        assert_eq!(reason("{x} 1-0"), Err(Reason::NoMoves));
    }

    #[test]
    fn the_result_is_what_tag_and_marker_agree_on() {
        let reason = |tag: &str, marker: &str| {
            read(&format!("[Result \"{tag}\"]\n\n1. e4 {marker}"), all()).err().map(|it| it.0)
        };
        assert_eq!(reason("1-0", "1-0"), None);
        assert_eq!(reason("1-0", ""), None);
        assert_eq!(reason("?", "0-1"), None);
        assert_eq!(reason("1-0", "0-1"), Some(Reason::ResultConflict));
        assert_eq!(reason("*", "0-1"), Some(Reason::ResultConflict));
        assert_eq!(reason("White wins", "1-0"), Some(Reason::ResultConflict));
        assert_eq!(reason("*", "*"), Some(Reason::NotDecisive));
        assert_eq!(reason("", ""), Some(Reason::NotDecisive));
        let mated = "[Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 1-0";
        assert_eq!(read(mated, all()).err().map(|it| it.0), Some(Reason::ResultConflict));
    }

    #[test]
    fn the_winner_is_to_move_at_the_end_of_a_line() {
        let plies = |outcome, plies, first| {
            let rules = Rules::compile(&Filter { plies, ..Filter::default() }).unwrap();
            line_plies(&rules, outcome, first)
        };
        assert_eq!(plies(Outcome::White, 24, Color::White), 24);
        assert_eq!(plies(Outcome::Black, 24, Color::White), 23);
        assert_eq!(plies(Outcome::Draw, 24, Color::White), 24);
        assert_eq!(plies(Outcome::White, 23, Color::White), 22);
        assert_eq!(plies(Outcome::Black, 23, Color::White), 23);
        assert_eq!(plies(Outcome::White, 24, Color::Black), 23);
    }
}
