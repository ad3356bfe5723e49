//! `cargo xtask sample`: the sample games of this repository.
//!
//! Players of different strength, who are the built-in engine with mistakes, meet in well-known
//! openings. A few broken and unusual records stand among the games, of the kinds that real
//! collections have. Everything follows from the seed.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    num::NonZero,
    path::PathBuf,
    thread,
    time::Instant,
};

use anyhow::{Context, Result, anyhow, ensure};
use shakmaty::{
    Chess, Color, EnPassantMode, Move, Position,
    fen::Fen,
    san::{San, SanPlus},
    zobrist::Zobrist64,
};
use tabiya_model::Outcome;
use tabiya_scorer::builtin::Ranking;
use tabiya_testkit::{Flaw, Game, Rng, Style, render};

use crate::program;

/// What to make.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file to write, by default the one of this repository.
    file: Option<PathBuf>,
    /// How many games are played.
    #[arg(short, long, default_value_t = 3_400)]
    n: usize,
    /// The same seed gives the same games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Plays the games and writes them.
pub(crate) fn run(args: &Args) -> Result<()> {
    let started = Instant::now();
    let openings = openings()?;
    let records = play_all(args.n, args.seed, &openings)?;
    let (text, counts) = collection(&records)?;
    let packed = zstd::encode_all(&*text, 19)?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => program::root().join("tests/data/sample.pgn.zst"),
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&file, &packed).with_context(|| format!("cannot write {}", file.display()))?;
    for (what, n) in counts {
        println!("{n:>9} {what}");
    }
    println!("{:>9} bytes of text, {} packed", text.len(), packed.len());
    println!("{:>9.0} seconds", started.elapsed().as_secs_f64());
    Ok(())
}

/// An opening line and how often it is chosen, relative to the others.
struct Opening {
    weight: usize,
    moves: Vec<Move>,
}

fn openings() -> Result<Vec<Opening>> {
    let lines = include_str!("sample_openings.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(opening).collect()
}

fn opening(line: &str) -> Result<Opening> {
    let (head, sans) = line.split_once(": ").with_context(|| format!("no colon in {line:?}"))?;
    let (weight, _) = head.split_once(' ').with_context(|| format!("no weight in {line:?}"))?;
    Ok(Opening { weight: weight.parse()?, moves: moves(sans)? })
}

/// The moves of a line from the start of a game.
fn moves(sans: &str) -> Result<Vec<Move>> {
    let mut position = Chess::default();
    let mut moves = Vec::new();
    for san in sans.split(' ') {
        let m = san
            .parse::<San>()
            .ok()
            .and_then(|san| san.to_move(&position).ok())
            .with_context(|| format!("{san:?} cannot be played in {sans:?}"))?;
        position.play_unchecked(m);
        moves.push(m);
    }
    Ok(moves)
}

fn pick_opening<'a>(rng: &mut Rng, openings: &'a [Opening]) -> &'a [Move] {
    let mut roll = rng.below(openings.iter().map(|opening| opening.weight).sum());
    for opening in openings {
        match roll.checked_sub(opening.weight) {
            Some(rest) => roll = rest,
            None => return &opening.moves,
        }
    }
    &[]
}

/// A game and its movetext if that is annotated.
struct Record {
    game: Game,
    annotated: Option<String>,
}

impl Record {
    fn text(&self) -> Vec<u8> {
        let Some(movetext) = &self.annotated else {
            return render(std::slice::from_ref(&self.game), Style::Plain);
        };
        let header = Game { moves: Vec::new(), marker: None, ..self.game.clone() };
        let mut text = render(&[header], Style::Plain);
        text.truncate(text.trim_ascii_end().len());
        text.extend_from_slice(b"\n\n");
        text.extend_from_slice(movetext.as_bytes());
        text
    }
}

/// Plays `n` games on all cores; which core plays which makes no difference.
fn play_all(n: usize, seed: u64, openings: &[Opening]) -> Result<Vec<Record>> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let play = |first: usize| -> Vec<Record> {
        let mut ranking = Ranking::new();
        let numbers = (first..n).step_by(workers);
        numbers.map(|number| record(number, seed, openings, &mut ranking)).collect()
    };
    let mut shares = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|first| scope.spawn(move || play(first))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("a game could not be played")))
            .map(|share| share.map(Vec::into_iter))
            .collect::<Result<Vec<_>>>()
    })?;
    Ok((0..n).filter_map(|number| shares[number % workers].next()).collect())
}

fn record(number: usize, seed: u64, openings: &[Opening], ranking: &mut Ranking) -> Record {
    let mut rng = Rng::new(seed << 32 | number as u64);
    let white = player(&mut rng);
    let black = loop {
        let other = player(&mut rng);
        if other.name != white.name {
            break other;
        }
    };
    let opening = pick_opening(&mut rng, openings);
    // White thinks a little harder, as it were.
    let strengths = [white.elo + 200, black.elo];
    let played = Play::new(&mut rng, ranking, strengths).play(opening);

    let result = marker(played.outcome);
    let tags = tags(&mut rng, &white, &black, result, played.termination);
    let annotated = rng.chance(12).then(|| annotated(&mut rng, ranking, &played.plies, result));
    let game = Game {
        tags,
        start: Chess::default(),
        moves: played.plies.iter().map(|ply| ply.m).collect(),
        outcome: Some(played.outcome),
        marker: Some(result.to_owned()),
        flaw: None,
    };
    Record { game, annotated }
}

fn marker(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::White => "1-0",
        Outcome::Black => "0-1",
        Outcome::Draw => "1/2-1/2",
    }
}

struct Player {
    name: String,
    elo: usize,
}

const SURNAMES: [&str; 24] = [
    "Aldermann",
    "Barrowby",
    "Castellane",
    "Dobrovin",
    "Eskelund",
    "Farkasdi",
    "Grünhagen",
    "Halvorsby",
    "Ivanishin",
    "Jasperini",
    "Kestrelov",
    "Lindqvest",
    "Marchetto",
    "Norwick",
    "Ottensen",
    "Petrossov",
    "Quintela",
    "Rademakker",
    "Szalonta",
    "Tarrega",
    "Ulvestadt",
    "Vanderhoek",
    "Wexcombe",
    "Zylberman",
];
const FIRST_NAMES: [&str; 12] = [
    "Anna", "Boris", "Clara", "Dmitri", "Elena", "Felix", "Greta", "Henrik", "Irena", "Jonas",
    "Katia", "Leo",
];

/// One of the players; each has one rating for ever.
fn player(rng: &mut Rng) -> Player {
    let (surname, first) = (rng.below(SURNAMES.len()), rng.below(FIRST_NAMES.len()));
    let name = format!("{}, {}", SURNAMES[surname], FIRST_NAMES[first]);
    let elo = 1_500 + Rng::new((surname * FIRST_NAMES.len() + first) as u64).below(1_200);
    Player { name, elo }
}

/// An event, its site and its time control.
const EVENTS: [(&str, &str, &str); 10] = [
    ("Harbour Open", "Norhaven", "40/7200:3600"),
    ("Harbour Open", "Norhaven", "40/7200:3600"),
    ("City Championship", "Westmark", "5400+30"),
    ("Team League", "Lake Bellis", "5400+30"),
    ("Invitation Tournament", "Sankt Orlan", "40/7200"),
    ("Summer Rapid", "Westmark", "900+10"),
    ("Winter Rapid", "Norhaven", "600+5"),
    ("Blitz Evening", "Lake Bellis", "180+2"),
    ("Bullet Night", "Sankt Orlan", "60+1"),
    ("Postal Cup", "Correspondence", "1/259200"),
];

fn tags(
    rng: &mut Rng,
    white: &Player,
    black: &Player,
    result: &str,
    termination: &str,
) -> Vec<(String, String)> {
    let (event, site, time_control) = rng.pick(&EVENTS);
    let year = 1965 + rng.below(60);
    let date = match rng.below(20) {
        0 => format!("{year}.??.??"),
        _ => format!("{year}.{:02}.{:02}", 1 + rng.below(12), 1 + rng.below(28)),
    };
    let round = 1 + rng.below(11);
    let mut tags = vec![
        ("Event", format!("{event} {year}")),
        ("Site", site.to_owned()),
        ("Date", date),
        ("Round", round.to_string()),
        ("White", white.name.clone()),
        ("Black", black.name.clone()),
        ("Result", result.to_owned()),
    ];
    if year > 1975 && rng.chance(92) {
        tags.push(("WhiteElo", white.elo.to_string()));
        tags.push(("BlackElo", black.elo.to_string()));
    }
    if year > 1995 {
        tags.push(("TimeControl", time_control.to_owned()));
    }
    if year > 1995 || termination != "normal" {
        tags.push(("Termination", termination.to_owned()));
    }
    tags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A move as played.
struct Ply {
    m: Move,
    /// Centipawns after it, for White.
    score: i32,
    /// What else was thought of.
    other: Option<Move>,
}

struct Played {
    plies: Vec<Ply>,
    outcome: Outcome,
    termination: &'static str,
}

/// Games that last longer are given to the side that is ahead.
const MOST_PLIES: usize = 120;
/// Moves that are thought about more than the others.
const CANDIDATES: usize = 4;

/// A game being played.
struct Play<'a> {
    rng: &'a mut Rng,
    ranking: &'a mut Ranking,
    /// Of White and Black: mistakes in a hundred moves.
    mistakes: [u32; 2],
    /// Who resigns this far behind.
    hopeless: i32,
    /// When a flag falls, if one does.
    flag_falls: Option<usize>,
    position: Chess,
    seen: HashMap<Zobrist64, u32>,
    plies: Vec<Ply>,
}

impl<'a> Play<'a> {
    fn new(rng: &'a mut Rng, ranking: &'a mut Ranking, strengths: [usize; 2]) -> Play<'a> {
        let mistakes = strengths.map(|elo| 1 + (2_800 - elo.min(2_800)) as u32 / 75);
        let hopeless = 400 + 100 * rng.below(5) as i32;
        let flag_falls = rng.chance(4).then(|| 16 + rng.below(84));
        Play {
            rng,
            ranking,
            mistakes,
            hopeless,
            flag_falls,
            position: Chess::default(),
            seen: HashMap::new(),
            plies: Vec::new(),
        }
    }

    fn play(mut self, opening: &[Move]) -> Played {
        let known = opening.len() / 3 + self.rng.below(opening.len() * 2 / 3 + 1);
        for &m in &opening[..known] {
            self.make(Ply { m, score: 0, other: None });
        }
        let off_book = known + self.rng.below(5);
        loop {
            if let Some((outcome, termination)) = self.end() {
                return Played { plies: self.plies, outcome, termination };
            }
            let ply = self.think(off_book);
            self.make(ply);
        }
    }

    fn make(&mut self, ply: Ply) {
        self.position.play_unchecked(ply.m);
        *self.seen.entry(self.position.zobrist_hash(EnPassantMode::Legal)).or_default() += 1;
        self.plies.push(ply);
    }

    /// Chooses a move: any plausible one just after the opening, then mostly the best.
    fn think(&mut self, off_book: usize) -> Ply {
        let turn = self.position.turn();
        let legal = self.position.legal_moves();
        let ranked = self.ranking.rank(&self.position, &legal, 0);
        let first: Vec<Move> = ranked.iter().take(CANDIDATES).map(|&(m, _)| m).collect();
        let best = self.ranking.rank(&self.position, &first, 2);
        let (mut m, mut score) = best[0];
        if self.plies.len() < off_book {
            (m, score) = self.one_within(&best, 40);
        } else if self.rng.chance(self.mistakes[turn.fold_wb(0, 1)]) {
            let worse = self.rng.pick(&[80, 150, 250, 400]);
            (m, score) = self.one_within(&ranked, worse);
        } else {
            (m, score) = if self.rng.chance(50) { self.one_within(&best, 12) } else { (m, score) };
        }
        let other = best.iter().map(|&(other, _)| other).find(|&other| other != m);
        Ply { m, score: turn.fold_wb(score, -score), other }
    }

    /// One of the moves that are at most `worse` centipawns behind the first.
    fn one_within(&mut self, ranked: &[(Move, i32)], worse: i32) -> (Move, i32) {
        let n = ranked.iter().take_while(|(_, score)| score + worse >= ranked[0].1).count();
        ranked[self.rng.below(n)]
    }

    /// How the game ends, if it does here.
    fn end(&mut self) -> Option<(Outcome, &'static str)> {
        let outcome = self.position.outcome();
        if outcome.is_known() {
            return Some((outcome.winner().map_or(Outcome::Draw, win), "normal"));
        }
        let hash: Zobrist64 = self.position.zobrist_hash(EnPassantMode::Legal);
        if self.seen.get(&hash).is_some_and(|&n| n >= 3) || self.position.halfmoves() >= 100 {
            return Some((Outcome::Draw, "normal"));
        }
        let n = self.plies.len();
        if self.flag_falls.is_some_and(|at| n >= at) {
            return Some((win(!self.position.turn()), "time forfeit"));
        }
        if self.last_scores(5).all(|score| score >= self.hopeless) {
            return Some((Outcome::White, "normal"));
        }
        if self.last_scores(5).all(|score| score <= -self.hopeless) {
            return Some((Outcome::Black, "normal"));
        }
        let dull = n >= 30 && self.last_scores(8).all(|score| score.abs() <= 70);
        if dull && self.rng.chance(if n < 60 { 5 } else { 25 }) {
            return Some((Outcome::Draw, "normal"));
        }
        (n >= MOST_PLIES).then(|| match self.plies.last().map_or(0, |ply| ply.score) {
            250.. => (Outcome::White, "normal"),
            ..=-250 => (Outcome::Black, "normal"),
            _ => (Outcome::Draw, "normal"),
        })
    }

    /// The last `n` scores for White; the moves of the opening have 0.
    fn last_scores(&self, n: usize) -> impl Iterator<Item = i32> {
        let scores = self.plies.iter().rev().map(|ply| ply.score);
        scores.chain(std::iter::repeat(0)).take(n)
    }
}

fn win(side: Color) -> Outcome {
    side.fold_wb(Outcome::White, Outcome::Black)
}

const REMARKS: [&str; 8] = [
    "A new idea.",
    "Played at once.",
    "With the idea of doubling the rooks.",
    "Black is comfortable here.",
    "The critical moment (both were short of time).",
    "Better was the other rook; now it gets difficult.",
    "After long thought.",
    "White has the easier game.",
];

/// The movetext with scores and clocks, or with remarks, glyphs and variations.
fn annotated(rng: &mut Rng, ranking: &mut Ranking, plies: &[Ply], result: &str) -> String {
    let by_program = rng.chance(40);
    let mut clocks = [5_400, 5_400];
    let mut words = Vec::new();
    let mut position = Chess::default();
    let mut numbered = true;
    for Ply { m, score, other } in plies {
        if numbered || position.turn().is_white() {
            words.push(number(&position));
        }
        numbered = false;
        words.push(SanPlus::from_move(position.clone(), *m).to_string());
        let clock = &mut clocks[position.turn().fold_wb(0, 1)];
        *clock -= rng.below(80);
        if by_program {
            let score = f64::from((*score).clamp(-2_000, 2_000)) / 100.0;
            let (h, m, s) = (*clock / 3_600, *clock / 60 % 60, *clock % 60);
            words.extend(
                format!("{{[%eval {score:.2}] [%clk {h}:{m:02}:{s:02}]}}")
                    .split(' ')
                    .map(str::to_owned),
            );
            numbered = true;
        } else if rng.chance(12) {
            words.push(format!("${}", rng.pick(&[1, 2, 3, 5, 6, 10, 14, 16])));
            if rng.chance(50) {
                let remark = format!("{{{}}}", rng.pick(&REMARKS));
                words.extend(remark.split(' ').map(str::to_owned));
                numbered = true;
            }
            if let Some(other) = other.filter(|_| rng.chance(50)) {
                variation(rng, ranking, &position, other, &mut words);
                numbered = true;
            }
        }
        position.play_unchecked(*m);
    }
    words.push(result.to_owned());
    wrapped(&words)
}

fn number(position: &Chess) -> String {
    let dots = position.turn().fold_wb(".", "...");
    format!("{}{dots}", position.fullmoves())
}

/// Another move and what might have followed.
fn variation(
    rng: &mut Rng,
    ranking: &mut Ranking,
    position: &Chess,
    m: Move,
    words: &mut Vec<String>,
) {
    let mut position = position.clone();
    let mut next = Some(m);
    let mut open = format!("({}", number(&position));
    for _ in 0..2 + rng.below(4) {
        let Some(m) = next else { break };
        if open.is_empty() && position.turn().is_white() {
            open = number(&position);
        }
        if !open.is_empty() {
            words.push(std::mem::take(&mut open));
        }
        words.push(SanPlus::from_move(position.clone(), m).to_string());
        position.play_unchecked(m);
        next = ranking.rank(&position, &position.legal_moves(), 0).first().map(|&(m, _)| m);
    }
    if let Some(last) = words.last_mut() {
        last.push(')');
    }
}

/// The words in lines of at most 80 columns.
fn wrapped(words: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        if column + 1 + word.len() > 80 {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push('\n');
    text
}

/// What makes a record different from what a reader expects.
#[derive(Clone, Copy)]
enum Oddity {
    /// One that the renderer knows how to write.
    Flawed(Flaw),
    /// Begins in the middle of the game, with a FEN tag.
    SetUp,
    /// The Variant tag has this value.
    Variant(&'static str),
    /// The game as it was, in another event.
    Duplicate,
    /// These moves, won by that side.
    Mate(&'static str, Outcome),
    /// Lines between two games.
    Stray(&'static str),
    /// Lines end as on Windows.
    CrLf,
    /// White's name is in ISO 8859-1.
    Latin1,
}

use Oddity::{CrLf, Duplicate, Flawed, Latin1, Mate, SetUp, Stray, Variant};

/// All of them, in the order they come.
const ODDITIES: [(&str, Oddity); 29] = [
    ("unfinished", Flawed(Flaw::Unfinished)),
    ("illegal move", Flawed(Flaw::IllegalMove(9))),
    ("stray text", Stray("Our report from the hall, with all games of this round:")),
    ("scholar's mate", Mate("e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7", Outcome::White)),
    ("duplicate", Duplicate),
    ("set-up position", SetUp),
    ("no moves", Flawed(Flaw::NoMoves)),
    ("missing marker", Flawed(Flaw::MissingMarker)),
    ("variant", Variant("Chess960")),
    ("result conflict", Flawed(Flaw::ResultConflict)),
    ("unfinished", Flawed(Flaw::Unfinished)),
    ("unreadable token", Flawed(Flaw::UnreadableToken(14))),
    ("CRLF", CrLf),
    ("Latin-1", Latin1),
    ("unterminated comment", Flawed(Flaw::UnterminatedComment(6))),
    ("duplicate", Duplicate),
    ("fool's mate", Mate("f3 e5 g4 Qh4", Outcome::Black)),
    ("variant", Variant("Atomic")),
    ("stray text", Stray("% exported twice a year\n; checked by the tournament office")),
    ("set-up position", SetUp),
    ("illegal move", Flawed(Flaw::IllegalMove(21))),
    ("no moves", Flawed(Flaw::NoMoves)),
    ("missing Result tag", Flawed(Flaw::MissingResultTag)),
    ("other draw", Flawed(Flaw::OtherDraw)),
    ("unfinished", Flawed(Flaw::Unfinished)),
    ("result conflict", Flawed(Flaw::ResultConflict)),
    ("stray text", Stray("--- end of the second file ---")),
    ("duplicate", Duplicate),
    ("unreadable token", Flawed(Flaw::UnreadableToken(3))),
];

/// All records as text, some of them made odd, and how many there are of what.
fn collection(records: &[Record]) -> Result<(Vec<u8>, BTreeMap<String, usize>)> {
    let mut text = Vec::new();
    let mut counts = BTreeMap::new();
    let mut count = |what: String| *counts.entry(what).or_insert(0) += 1;
    let gap = records.len() / (ODDITIES.len() + 1);
    let mut oddities = ODDITIES.iter().enumerate().peekable();
    let mut ordinary: Option<&Record> = None;
    for (idx, record) in records.iter().enumerate() {
        let due = |(nth, _): &(usize, &(&str, Oddity))| idx >= (nth + 1) * gap;
        let oddity = if is_model(record) { oddities.next_if(due) } else { None };
        if let Some((_, (name, oddity))) = oddity {
            count(format!("odd: {name}"));
            let earlier = ordinary.context("an odd record comes first")?;
            text.extend(odd(*oddity, record, earlier)?);
        } else {
            count(format!("games, {}", record.game.marker.as_deref().unwrap_or("*")));
            if record.annotated.is_some() {
                count("of these with annotations".to_owned());
            }
            text.extend(record.text());
            ordinary = Some(record);
        }
        text.push(b'\n');
    }
    ensure!(oddities.next().is_none(), "there are not enough games to make odd ones of");
    Ok((text, counts))
}

/// Whether a record can be made odd in every way.
fn is_model(record: &Record) -> bool {
    let Record { game, annotated } = record;
    annotated.is_none() && game.moves.len() >= 50 && game.outcome != Some(Outcome::Draw)
}

/// A record made odd; `earlier` stands before it.
fn odd(oddity: Oddity, record: &Record, earlier: &Record) -> Result<Vec<u8>> {
    let mut game = record.game.clone();
    match oddity {
        Flawed(flaw) => {
            game.flaw = Some(flaw);
            write_flaw(&mut game, flaw);
        }
        SetUp => {
            for m in game.moves.drain(..20) {
                game.start.play_unchecked(m);
            }
            let fen = Fen::from_position(&game.start, EnPassantMode::Legal).to_string();
            game.tags.push(("SetUp".to_owned(), "1".to_owned()));
            game.tags.push(("FEN".to_owned(), fen));
        }
        Variant(name) => game.tags.push(("Variant".to_owned(), name.to_owned())),
        Duplicate => {
            game = earlier.game.clone();
            set_tag(&mut game, "Event", "Best Games of the Year");
        }
        Mate(sans, outcome) => {
            game.moves = moves(sans)?;
            game.marker = Some(marker(outcome).to_owned());
            set_tag(&mut game, "Result", marker(outcome));
        }
        Stray(lines) => {
            let mut text = format!("{lines}\n\n").into_bytes();
            text.extend(record.text());
            return Ok(text);
        }
        CrLf => {
            let text = String::from_utf8(record.text())?;
            return Ok(text.replace('\n', "\r\n").into_bytes());
        }
        Latin1 => {
            set_tag(&mut game, "White", "Sjöström, Åke");
            let text = String::from_utf8(render(&[game], Style::Plain))?;
            let bytes = text.chars().map(|letter| u8::try_from(letter).map_err(Into::into));
            return bytes.collect();
        }
    }
    Ok(render(&[game], Style::Plain))
}

/// What the renderer does not do about a flaw.
fn write_flaw(game: &mut Game, flaw: Flaw) {
    match flaw {
        Flaw::ResultConflict => {
            let other = if game.outcome == Some(Outcome::White) { "0-1" } else { "1/2-1/2" };
            game.marker = Some(other.to_owned());
        }
        Flaw::NoMoves => game.moves.clear(),
        Flaw::Unfinished => {
            game.marker = Some("*".to_owned());
            set_tag(game, "Result", "*");
            set_tag(game, "Termination", "unterminated");
        }
        Flaw::MissingMarker => game.marker = None,
        Flaw::MissingResultTag => game.tags.retain(|(name, _)| name != "Result"),
        Flaw::OtherDraw => {
            game.marker = Some("1/2".to_owned());
            set_tag(game, "Result", "1/2-1/2");
        }
        _ => {}
    }
}

fn set_tag(game: &mut Game, name: &str, value: &str) {
    match game.tags.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => value.clone_into(old),
        None => game.tags.push((name.to_owned(), value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_can_be_played() {
        let openings = openings().unwrap();
        assert!(openings.len() > 60);
        assert!(openings.iter().all(|opening| opening.weight > 0 && opening.moves.len() >= 8));
    }

    #[test]
    fn the_same_seed_gives_the_same_games() {
        let openings = openings().unwrap();
        let text = |records: Vec<Record>| -> Vec<u8> {
            records.iter().flat_map(|record| record.text()).collect()
        };
        let together = play_all(3, 5, &openings).unwrap();
        let alone = (0..3).map(|number| record(number, 5, &openings, &mut Ranking::new()));
        assert_eq!(text(together), text(alone.collect()));
    }
}
