//! Games as PGN text, in the dress they are seen in.
//!
//! Whatever the dress, a reader that follows the standard finds exactly the given games. What it
//! may rely on, beyond the standard:
//!
//! * a record ends with its marker, or where the next tag section begins, not at a blank line;
//! * free text before a tag section belongs to no game;
//! * a comment that never closes ends at the next blank line that an `[Event "` line follows.
//!   Comments that do close may hold `[Event "` lines, and blank lines, but never one after the
//!   other.

use shakmaty::{
    Chess, Color, Move, Position, Role,
    san::{San, SanPlus},
};

use crate::{Flaw, Game, Rng};

/// How the text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The standard's export format: what a careful program writes.
    Plain,
    /// Everything that occurs, chosen by the seed.
    Wild(u64),
}

/// Writes the games down.
///
/// # Panics
///
/// When a game without tags follows one that does not end itself: nobody could tell them apart.
pub fn render(games: &[Game], style: Style) -> Vec<u8> {
    for pair in games.windows(2) {
        let apart = pair[0].ends_itself() || !pair[1].tags.is_empty();
        assert!(apart, "no reader could tell {:?} from {:?}", pair[0], pair[1]);
    }
    let (wild, seed) = match style {
        Style::Plain => (false, 0),
        Style::Wild(seed) => (true, seed),
    };
    let mut writer = Writer { rng: Rng::new(seed), wild, text: String::new() };
    for (index, game) in games.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &games[before]);
        writer.between(before, game);
        writer.tags(game);
        writer.movetext(game);
    }
    writer.last_newline(games.last());
    writer.into_bytes()
}

struct Writer {
    rng: Rng,
    wild: bool,
    text: String,
}

/// A piece of movetext.
enum Token {
    /// Stands anywhere between blanks.
    Word(String),
    /// Ends its line: a `;` comment.
    ToLineEnd(String),
    /// Has a line of its own and begins it: a `%` escape.
    OwnLine(String),
}

/// How moves are numbered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// `1. e4 e5`
    Usual,
    /// `1.e4 e5`
    Tight,
    /// `1. e4 1... e5`
    Each,
    /// `1.e4 1....e5`
    EachTight,
    /// `1 . e4 e5`
    Apart,
    /// `1. e4 1. ... e5`
    Dots,
    /// `e4 e5`
    None,
}

/// The habits of whoever wrote one game.
struct Dress {
    numbers: Numbers,
    columns: usize,
    extras: u32,
    castling_zeros: bool,
    loose_san: bool,
}

impl Writer {
    /// True in `percent` of 100 cases, and never in plain text.
    fn sometimes(&mut self, percent: u32) -> bool {
        self.wild && self.rng.chance(percent)
    }

    fn dress(&mut self) -> Dress {
        if !self.wild {
            return Dress {
                numbers: Numbers::Usual,
                columns: 80,
                extras: 0,
                castling_zeros: false,
                loose_san: false,
            };
        }
        let numbers = [
            Numbers::Usual,
            Numbers::Tight,
            Numbers::Each,
            Numbers::EachTight,
            Numbers::Apart,
            Numbers::Dots,
            Numbers::None,
        ];
        Dress {
            numbers: self.rng.pick(&numbers),
            columns: self.rng.pick(&[1, 40, 80, 80, 255, usize::MAX]),
            extras: self.rng.pick(&[0, 0, 3, 10, 30]),
            castling_zeros: self.rng.chance(15),
            loose_san: self.rng.chance(25),
        }
    }

    /// What stands between two games, or before the first.
    fn between(&mut self, before: Option<&Game>, game: &Game) {
        let Some(before) = before else {
            self.prologue(game);
            return;
        };
        if !self.wild {
            self.text.push_str("\n\n");
            return;
        }
        if !before.ends_itself() {
            // The only sign of the end must be plain to see.
            self.text.push_str("\n\n");
            return;
        }
        if self.rng.chance(10) {
            // The next record on the line of the marker.
            let gap = if game.tags.is_empty() { " " } else { self.rng.pick(&["", " "]) };
            self.text.push_str(gap);
            return;
        }
        if self.rng.chance(10) {
            self.text.push_str(" {Adjourned; 0-1 was expected.\n[Result \"0-1\"]}");
        }
        self.text.push_str(self.rng.pick(&["\n", "\n\n", "\n\n", "\n\n\n\n", "\n \t\n"]));
        self.junk(game);
    }

    fn prologue(&mut self, game: &Game) {
        if self.sometimes(20) {
            self.text.push_str(self.rng.pick(&["\n\n", "; made for a test 1-0\n", "{ a note }\n"]));
        }
        if self.wild {
            self.junk(game);
        }
    }

    /// Lines that belong to no game.
    fn junk(&mut self, game: &Game) {
        if self.rng.chance(10) {
            self.text.push_str("% 1-0 [Event \"escaped\"] { not a comment\n");
        }
        if !game.tags.is_empty() && self.rng.chance(10) {
            self.text.push_str("Our report from the hall, with all games of this round:\n\n");
        }
    }

    fn tags(&mut self, game: &Game) {
        for (index, (name, value)) in game.tags.iter().enumerate() {
            if index > 0 && self.sometimes(1) {
                self.text.push('\n');
            }
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            // A first tag must be seen for what it is: see the rule for open comments.
            let (open, gap) =
                if index > 0 && self.sometimes(5) { ("[ ", "  ") } else { ("[", " ") };
            self.text.push_str(&format!("{open}{name}{gap}\"{value}\"]\n"));
        }
        if !game.tags.is_empty() && self.sometimes(3) {
            let long = "A long story about (this) game; with 1-0 in it. ".repeat(40);
            self.text.push_str(&format!("[Story \"{long}\"]\n"));
        }
        if !game.tags.is_empty() && !self.sometimes(15) {
            self.text.push('\n');
        }
    }

    fn movetext(&mut self, game: &Game) {
        let dress = self.dress();
        let tokens = self.tokens(game, &dress);
        let mut column = 0;
        let mut at_line_start = true;
        for token in tokens {
            let (text, own_line, ends_line) = match token {
                Token::Word(text) => (text, false, false),
                Token::ToLineEnd(text) => (text, false, true),
                Token::OwnLine(text) => (text, true, true),
            };
            if !at_line_start {
                let full = column + 1 + text.len() > dress.columns;
                self.text.push(if full || own_line { '\n' } else { ' ' });
                column = if full || own_line { 0 } else { column + 1 };
            }
            self.text.push_str(&text);
            column += text.len();
            at_line_start = ends_line;
            if ends_line {
                self.text.push('\n');
                column = 0;
            }
        }
    }

    fn tokens(&mut self, game: &Game, dress: &Dress) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut position = game.start.clone();
        let mut closed = true;
        for (ply, &m) in game.moves.iter().enumerate() {
            closed &= game.flaw != Some(Flaw::UnterminatedComment(ply));
            self.flaw(game, ply, &position, &mut tokens);
            number(&position, ply == 0, dress.numbers, &mut tokens);
            let mut san = self.san(&position, m, dress);
            if self.sometimes(dress.extras) {
                san.push_str(self.rng.pick(&["!?", "?!", "!", "??"]));
            }
            tokens.push(Token::Word(san));
            if closed && self.sometimes(dress.extras) {
                self.extra(&position, m, &mut tokens);
            }
            position.play_unchecked(m);
        }
        if game.moves.is_empty() && self.sometimes(30) {
            tokens.push(Token::Word("{not played: 1/2-1/2}".to_owned()));
        }
        tokens.extend(game.marker.clone().map(Token::Word));
        tokens
    }

    /// What is wrong with the movetext before the move of this ply.
    fn flaw(&mut self, game: &Game, ply: usize, position: &Chess, tokens: &mut Vec<Token>) {
        match game.flaw {
            Some(Flaw::IllegalMove(at)) if at == ply => {
                tokens.push(Token::Word(illegal_san(position).to_owned()));
            }
            Some(Flaw::UnreadableToken(at)) if at == ply => {
                tokens.push(Token::Word("XYZ".to_owned()));
            }
            Some(Flaw::UnterminatedComment(at)) if at == ply => {
                tokens.push(Token::Word("{ this was".to_owned()));
            }
            _ => {}
        }
    }

    /// A move as sloppily as `dress` has it.
    fn san(&mut self, position: &Chess, m: Move, dress: &Dress) -> String {
        let mut san = SanPlus::from_move(position.clone(), m).to_string();
        if dress.castling_zeros {
            san = san.replace('O', "0");
        }
        if dress.loose_san && self.rng.chance(20) {
            san = over_specified(m).unwrap_or(san);
        }
        if dress.loose_san && self.rng.chance(50) {
            san = san.replace(['+', '#', '='], "");
        }
        san
    }

    /// Something that is no move of the main line, after `m`.
    fn extra(&mut self, position: &Chess, m: Move, tokens: &mut Vec<Token>) {
        let comments = [
            "{A quiet move.}",
            "{[%clk 0:09:58] [%eval 0.31]}",
            "{as in\n[Event \"Another one\"]\n[Result \"0-1\"]\n1. d4 d5 0-1\n}",
            "{White could resign: 0-1}",
            "{ :-) ; % ( [ }",
            "{two lines\n\nwith a gap, 1-0}",
            "{}",
        ];
        match self.rng.below(10) {
            0..4 => tokens.push(Token::Word(self.rng.pick(&comments).to_owned())),
            4 => tokens.push(Token::ToLineEnd("; to the end { of the line ( 1/2-1/2".to_owned())),
            5 => tokens.push(Token::OwnLine("% 0-1 [Event \"escaped line\"] {".to_owned())),
            6 => tokens.push(Token::Word("$14".to_owned())),
            // A line that is empty: no end of anything.
            7 => tokens.push(Token::OwnLine(String::new())),
            _ => self.variation(position, m, 0, tokens),
        }
    }

    /// Another move in the place of `m`, with comments and side lines of its own.
    fn variation(&mut self, position: &Chess, m: Move, depth: usize, tokens: &mut Vec<Token>) {
        let others = position.legal_moves().into_iter().filter(|&other| other != m);
        let mut moves: Vec<Move> = others.collect();
        let mut line = position.clone();
        let mut first = true;
        tokens.push(Token::Word("(".to_owned()));
        for _ in 0..1 + self.rng.below(4) {
            if moves.is_empty() {
                break;
            }
            let next = self.rng.pick(&moves);
            number(&line, first, Numbers::Usual, tokens);
            tokens.push(Token::Word(SanPlus::from_move(line.clone(), next).to_string()));
            if depth < 2 && self.rng.chance(25) {
                self.variation(&line, next, depth + 1, tokens);
            }
            if self.rng.chance(20) {
                tokens.push(Token::Word("{not ) the end}".to_owned()));
            }
            line.play_unchecked(next);
            moves = line.legal_moves().to_vec();
            first = false;
        }
        tokens.push(Token::Word(")".to_owned()));
    }

    fn last_newline(&mut self, last: Option<&Game>) {
        if last.is_some() && !self.sometimes(30) {
            self.text.push('\n');
        }
    }

    /// Line ends, byte-order mark and character set are the same in the whole file, except where
    /// files were joined.
    fn into_bytes(mut self) -> Vec<u8> {
        if self.sometimes(25) {
            self.text = self.text.replace('\n', "\r\n");
        } else if self.sometimes(20) {
            let lines: Vec<&str> = self.text.split('\n').collect();
            let mut mixed = String::new();
            for (index, line) in lines.iter().enumerate() {
                if index > 0 {
                    mixed.push_str(self.rng.pick(&["\n", "\r\n"]));
                }
                mixed.push_str(line);
            }
            self.text = mixed;
        }
        if self.sometimes(25) {
            return self.text.chars().flat_map(latin1).collect();
        }
        let mark = if self.sometimes(20) { "\u{feff}" } else { "" };
        format!("{mark}{}", self.text).into_bytes()
    }
}

/// Letters as ISO 8859-1 has them. `½` stays as it is in UTF-8: it is part of results, and files
/// that were joined have both.
fn latin1(letter: char) -> Vec<u8> {
    match u8::try_from(letter) {
        Ok(byte) if letter != '½' => vec![byte],
        _ => letter.to_string().into_bytes(),
    }
}

/// The move number, as far as it is written before a move.
fn number(position: &Chess, first: bool, numbers: Numbers, tokens: &mut Vec<Token>) {
    let n = position.fullmoves();
    let black = position.turn() == Color::Black;
    let word = |text: String| Token::Word(text);
    match numbers {
        Numbers::None => {}
        Numbers::Usual | Numbers::Tight | Numbers::Apart if black && !first => {}
        Numbers::Apart => {
            tokens.push(word(n.to_string()));
            tokens.push(word(if black { "..." } else { "." }.to_owned()));
        }
        Numbers::Dots if black => {
            tokens.push(word(format!("{n}.")));
            tokens.push(word("...".to_owned()));
        }
        Numbers::EachTight if black => tokens.push(word(format!("{n}...."))),
        _ if black => tokens.push(word(format!("{n}..."))),
        _ => tokens.push(word(format!("{n}."))),
    }
}

/// A move that reads well and cannot be played. One of these always is such.
fn illegal_san(position: &Chess) -> &'static str {
    let candidates = ["Ka5", "Kh4", "Qd5", "Rd4", "Bb6", "O-O-O"];
    let illegal = |san: &&&str| san.parse::<San>().unwrap().to_move(position).is_err();
    candidates.iter().find(illegal).unwrap()
}

/// The move with its whole origin, where that is usual.
fn over_specified(m: Move) -> Option<String> {
    match m {
        Move::Normal { role, from, to, capture, promotion: None } if role != Role::Pawn => {
            let takes = if capture.is_some() { "x" } else { "" };
            Some(format!("{}{from}{takes}{to}", role.upper_char()))
        }
        _ => None,
    }
}
