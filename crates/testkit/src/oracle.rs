//! The whole job, from games to the entries of a book, as slowly and plainly as possible.
//!
//! A game is left out for the first reason that holds, in this order: variant, set-up position,
//! conflicting results, no or an unwanted result, no moves, a fault in the moves, too short, seen
//! before. Each game has at most one flaw, so any sensible order of the faults gives the same
//! counts.

use std::collections::{BTreeMap, BTreeSet};

use shakmaty::{Chess, Color, Move, Position};
use tabiya_model::{Census, Outcome as Result, PackedMove, PositionKey, Reason, Score, Tally};

use crate::{Flaw, Game, pseudo_chances};

/// What is wanted: the sections of the configuration that change a book, as plain fields.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Results that count.
    pub outcomes: Vec<Result>,
    /// Length of a line in plies.
    pub plies: usize,
    /// Where a line ends.
    pub line_end: LineEnd,
    /// What becomes of shorter games.
    pub short: Short,
    /// Count the same game once.
    pub dedupe: bool,
    /// Use games from set-up positions.
    pub setup_positions: bool,
    /// A won line must score more, seen by the winner.
    pub win_min_cp: i32,
    /// And not more than this, in centipawns.
    pub win_max_cp: Option<i32>,
    /// In place of centipawns: the winner's expected score per mille must be more.
    pub win_min_wdl: Option<u16>,
    /// And not more than this.
    pub win_max_wdl: Option<u16>,
    /// What becomes of drawn lines.
    pub draws: Draws,
    /// For [`Draws::BetterSide`]: must be better by more.
    pub draw_min_cp: i32,
    /// For [`Draws::Balanced`]: from even by no more.
    pub draw_max_cp: i32,
    /// Take both sides' moves of every kept line.
    pub both_sides: bool,
}

/// Where a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// So that the winner is to move.
    WinnerToMove,
    /// After the same number of plies in every game.
    Fixed,
}

/// What becomes of games that end before their line would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// Kept if they end in mate.
    Mate,
    /// Left out.
    Drop,
    /// Kept.
    Keep,
}

/// What becomes of drawn lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Credited to the side that stands better.
    BetterSide,
    /// Kept for both sides if the line ends even.
    Balanced,
}

/// The defaults of the configuration.
impl Default for Rules {
    fn default() -> Rules {
        Rules {
            outcomes: vec![Result::White, Result::Black],
            plies: 24,
            line_end: LineEnd::WinnerToMove,
            short: Short::Mate,
            dedupe: false,
            setup_positions: false,
            win_min_cp: 100,
            win_max_cp: None,
            win_min_wdl: None,
            win_max_wdl: None,
            draws: Draws::BetterSide,
            draw_min_cp: 100,
            draw_max_cp: 50,
            both_sides: false,
        }
    }
}

/// What each move of each position achieved.
pub type Book = BTreeMap<(PositionKey, PackedMove), Tally>;

/// What comes of the games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Games, by what became of them.
    pub census: Census,
    /// Lines that passed the threshold, won by White, won by Black, drawn.
    pub kept: [u64; 3],
    /// All moves that count, before any filter on the way out.
    pub book: Book,
}

/// Does the whole job. `score` is from the view of the side to move, and is never asked about a
/// mate, a stalemate or a dead position. Without it nothing is scored, the threshold is off, and
/// draws count for both sides.
pub fn oracle(games: &[Game], rules: &Rules, score: Option<&dyn Fn(&Chess) -> Score>) -> Outcome {
    let mut result = Outcome::default();
    let mut seen = BTreeSet::new();
    for game in games {
        let line = match line_of(game, rules) {
            Ok(line) => line,
            Err(reason) => {
                result.census.leave_out(reason);
                continue;
            }
        };
        let outcome = game.outcome.unwrap();
        if rules.dedupe && !seen.insert(identity(game)) {
            result.census.leave_out(Reason::Duplicate);
            continue;
        }
        result.census.accept(outcome);
        let end = after(&game.start, line);
        let white_score = score.map(|score| {
            let score = on_board(&end).unwrap_or_else(|| score(&end));
            if end.turn() == Color::White { score } else { -score }
        });
        let Some(credited) = threshold(outcome, white_score, rules) else { continue };
        result.kept[outcome as usize] += 1;
        let sides = if rules.both_sides { vec![Color::White, Color::Black] } else { credited };
        count(&mut result.book, game, line, &sides, white_score);
    }
    assert!(result.census.adds_up());
    result
}

/// The line of a game, or why it has none.
fn line_of<'a>(game: &'a Game, rules: &Rules) -> std::result::Result<&'a [Move], Reason> {
    let flaw = game.flaw;
    if flaw == Some(Flaw::Variant) {
        return Err(Reason::Variant);
    }
    if flaw == Some(Flaw::SetUp) && !rules.setup_positions {
        return Err(Reason::SetupPosition);
    }
    if flaw == Some(Flaw::ResultConflict) {
        return Err(Reason::ResultConflict);
    }
    let Some(outcome) = game.outcome.filter(|outcome| rules.outcomes.contains(outcome)) else {
        return Err(Reason::NotDecisive);
    };
    if game.moves.is_empty() {
        return Err(Reason::NoMoves);
    }
    if let Some(Flaw::IllegalMove(_) | Flaw::UnreadableToken(_) | Flaw::UnterminatedComment(_)) =
        flaw
    {
        return Err(flaw.unwrap().reason().unwrap());
    }
    let length = line_length(&game.start, outcome, rules);
    if game.moves.len() >= length {
        return Ok(&game.moves[..length]);
    }
    let keep = match rules.short {
        Short::Keep => true,
        Short::Drop => false,
        Short::Mate => after(&game.start, &game.moves).is_checkmate(),
    };
    if keep { Ok(&game.moves) } else { Err(Reason::TooShort) }
}

/// One ply less where the loser would be to move.
fn line_length(start: &Chess, outcome: Result, rules: &Rules) -> usize {
    let to_move = if rules.plies.is_multiple_of(2) { start.turn() } else { !start.turn() };
    match (rules.line_end, outcome.winner()) {
        (LineEnd::WinnerToMove, Some(winner)) if winner != to_move => rules.plies - 1,
        _ => rules.plies,
    }
}

fn after(start: &Chess, moves: &[Move]) -> Chess {
    let mut position = start.clone();
    for &m in moves {
        position.play_unchecked(m);
    }
    position
}

/// Same moves, players, date and result.
fn identity(game: &Game) -> impl Ord + use<> {
    let tag = |name| game.tag(name).unwrap_or_default().to_owned();
    let moves: Vec<PackedMove> = game.moves.iter().map(|&m| PackedMove::new(m)).collect();
    (tag("White"), tag("Black"), tag("Date"), game.outcome, PositionKey::of(&game.start), moves)
}

/// The score of a position where the game is over, seen by the side to move.
fn on_board(position: &Chess) -> Option<Score> {
    if position.is_checkmate() {
        return Some(Score::MatedIn(0));
    }
    (position.is_stalemate() || position.is_insufficient_material()).then_some(Score::DRAWN)
}

/// The sides a line is credited to, or `None` if it is not kept.
fn threshold(outcome: Result, white: Option<Score>, rules: &Rules) -> Option<Vec<Color>> {
    let both = vec![Color::White, Color::Black];
    let Some(white) = white else {
        return Some(outcome.winner().map_or(both, |winner| vec![winner]));
    };
    match (outcome.winner(), rules.draws) {
        (Some(winner), _) => {
            let score = if winner == Color::White { white } else { -white };
            let in_band = match (rules.win_max_cp, score) {
                (None, _) => true,
                (Some(max), Score::Cp(cp)) => cp <= max,
                (Some(_), _) => false,
            };
            let good = match rules.win_min_wdl {
                None => in_band && score > Score::Cp(rules.win_min_cp),
                Some(min) => {
                    let expected = expected(score);
                    expected > min && rules.win_max_wdl.is_none_or(|max| expected <= max)
                }
            };
            good.then(|| vec![winner])
        }
        (None, Draws::BetterSide) if white > Score::Cp(rules.draw_min_cp) => {
            Some(vec![Color::White])
        }
        (None, Draws::BetterSide) if -white > Score::Cp(rules.draw_min_cp) => {
            Some(vec![Color::Black])
        }
        (None, Draws::BetterSide) => None,
        (None, Draws::Balanced) => {
            let even = matches!(white, Score::Cp(cp) if cp.abs() <= rules.draw_max_cp);
            even.then_some(both)
        }
    }
}

/// What the mover of a position with this score may expect, per mille.
fn expected(score: Score) -> u16 {
    match score {
        Score::MateIn(_) => 1000,
        Score::MatedIn(_) => 0,
        score @ Score::Cp(_) => pseudo_chances(score).expected(),
    }
}

/// Adds one game to the book. A move that a game repeats in the same position counts once.
fn count(book: &mut Book, game: &Game, line: &[Move], sides: &[Color], white: Option<Score>) {
    let mut counted = BTreeSet::new();
    let mut position = game.start.clone();
    for &m in line {
        let mover = position.turn();
        let place = (PositionKey::of(&position), PackedMove::new(m));
        if sides.contains(&mover) && counted.insert(place) {
            let score = white.map(|white| if mover == Color::White { white } else { -white });
            let tally = Tally::one(game.outcome.unwrap(), mover, score);
            book.entry(place).or_default().add(&tally);
        }
        position.play_unchecked(m);
    }
}

/// What makes a move heavy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The mean score.
    Score,
    /// Games.
    Games,
    /// Two for a win, one for a draw.
    Wins,
    /// All alike.
    Uniform,
}

impl Weight {
    /// How heavy a move is, on no particular scale: only the order and, for `Games` and `Wins`,
    /// the ratio have a meaning.
    pub fn of(self, tally: &Tally) -> i64 {
        match self {
            Weight::Score => i64::from(tally.mean_cp().unwrap_or(0)),
            Weight::Games => tally.games() as i64,
            Weight::Wins => (2 * tally.wins + tally.draws) as i64,
            Weight::Uniform => 1,
        }
    }
}

/// The filters on the way out: moves of fewer games than `min_games`, or of less than `min_share`
/// percent of the position's games, are dropped, and under `Wins` those that lost every game; of
/// the rest the heaviest `max_moves` stay (0:
/// all), of equally heavy ones those with the smaller move.
pub fn select(
    book: &Book,
    weight: Weight,
    min_games: u64,
    min_share: f64,
    max_moves: usize,
) -> Book {
    let mut positions: BTreeMap<PositionKey, Vec<(PackedMove, Tally)>> = BTreeMap::new();
    for (&(key, mv), &tally) in book {
        positions.entry(key).or_default().push((mv, tally));
    }
    let mut selected = Book::new();
    for (key, mut moves) in positions {
        let all: u64 = moves.iter().map(|(_, tally)| tally.games()).sum();
        let share = |games: u64| 100.0 * games as f64 / all as f64;
        moves.retain(|(_, tally)| tally.games() >= min_games && share(tally.games()) >= min_share);
        moves.retain(|(_, tally)| weight != Weight::Wins || weight.of(tally) > 0);
        moves.sort_by_key(|(mv, tally)| (-weight.of(tally), mv.polyglot()));
        if max_moves > 0 {
            moves.truncate(max_moves);
        }
        selected.extend(moves.into_iter().map(|(mv, tally)| ((key, mv), tally)));
    }
    selected
}

#[cfg(test)]
mod tests {
    use shakmaty::san::San;

    use super::*;
    use crate::{Mix, generate, pseudo_score};

    fn game(sans: &str, outcome: Result) -> Game {
        let mut position = Chess::default();
        let mut moves = Vec::new();
        for san in sans.split_whitespace() {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            moves.push(m);
        }
        Game {
            tags: Vec::new(),
            start: Chess::default(),
            moves,
            outcome: Some(outcome),
            marker: Some(String::new()),
            flaw: None,
        }
    }

    fn entry<'a>(result: &'a Outcome, before: &str, san: &str) -> Option<&'a Tally> {
        let position = after(&Chess::default(), &game(before, Result::White).moves);
        let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
        result.book.get(&(PositionKey::of(&position), PackedMove::new(m)))
    }

    fn short_lines(plies: usize) -> Rules {
        Rules { plies, win_min_cp: 0, ..Rules::default() }
    }

    #[test]
    fn the_winners_moves_enter_with_the_winners_score() {
        let games = [
            game("e4 e5 Nf3 Nc6 Bb5 a6", Result::White),
            game("e4 e5 Nf3 Nc6 Bc4 Bc5", Result::White),
            game("e4 e5 Nf3 Nc6 Bb5 a6", Result::Black),
        ];
        // Black wins end after three plies, with Black to move and seven centipawns up.
        let result = oracle(
            &games,
            &short_lines(4),
            Some(&|position| match position.turn() {
                Color::White => Score::Cp(30),
                Color::Black => Score::Cp(7),
            }),
        );
        assert_eq!(result.kept, [2, 1, 0]);
        let e4 = entry(&result, "", "e4").unwrap();
        assert_eq!((e4.wins, e4.losses, e4.mean_cp()), (2, 0, Some(30)));
        let e5 = entry(&result, "e4", "e5").unwrap();
        assert_eq!((e5.wins, e5.losses, e5.mean_cp()), (1, 0, Some(7)));
        assert_eq!(entry(&result, "e4 e5 Nf3", "Nc6"), None);
        assert_eq!(entry(&result, "e4 e5 Nf3 Nc6", "Bb5"), None);
        assert_eq!(result.book.len(), 3);
    }

    #[test]
    fn the_threshold_is_strict_and_a_band_has_no_mates() {
        let games = [game("e4 e5", Result::White)];
        let kept = |min, max, score: Score| {
            let rules = Rules { win_min_cp: min, win_max_cp: max, ..short_lines(2) };
            oracle(&games, &rules, Some(&|_| score)).kept[0] == 1
        };
        assert!(!kept(100, None, Score::Cp(100)));
        assert!(kept(100, None, Score::Cp(101)));
        assert!(kept(100, None, Score::MateIn(3)));
        assert!(!kept(-100, None, Score::MatedIn(3)));
        assert!(kept(100, Some(200), Score::Cp(200)));
        assert!(!kept(100, Some(200), Score::Cp(201)));
        assert!(!kept(100, Some(200), Score::MateIn(3)));
    }

    #[test]
    fn draws_go_to_the_better_side_or_to_both() {
        let games = [game("e4 e5", Result::Draw)];
        let credited = |draws, score: Score| {
            let rules = Rules { draws, outcomes: vec![Result::Draw], ..short_lines(2) };
            let result = oracle(&games, &rules, Some(&|_| score));
            (entry(&result, "", "e4").is_some(), entry(&result, "e4", "e5").is_some())
        };
        assert_eq!(credited(Draws::BetterSide, Score::Cp(101)), (true, false));
        assert_eq!(credited(Draws::BetterSide, Score::Cp(-101)), (false, true));
        assert_eq!(credited(Draws::BetterSide, Score::MatedIn(2)), (false, true));
        assert_eq!(credited(Draws::BetterSide, Score::Cp(100)), (false, false));
        assert_eq!(credited(Draws::Balanced, Score::Cp(-50)), (true, true));
        assert_eq!(credited(Draws::Balanced, Score::Cp(51)), (false, false));
        assert_eq!(credited(Draws::Balanced, Score::MateIn(1)), (false, false));
    }

    #[test]
    fn a_move_repeated_in_one_game_counts_once() {
        let games = [game("Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", Result::White)];
        let rules = Rules { both_sides: true, ..short_lines(8) };
        let result = oracle(&games, &rules, Some(&|_| Score::Cp(5)));
        assert_eq!(result.book.len(), 4);
        assert!(result.book.values().all(|tally| tally.games() == 1));
        let loser = entry(&result, "Nf3", "Nf6").unwrap();
        assert_eq!((loser.losses, loser.mean_cp()), (1, Some(-5)));
    }

    #[test]
    fn mate_on_the_board_needs_no_engine() {
        let games = [game("f3 e5 g4 Qh4", Result::Black), game("f3 e5", Result::White)];
        let result = oracle(&games, &Rules::default(), Some(&|_| panic!("asked about a mate")));
        assert_eq!(result.kept, [0, 1, 0]);
        assert_eq!(result.census.filtered[&Reason::TooShort], 1);
        let mate = entry(&result, "f3 e5 g4", "Qh4").unwrap();
        assert_eq!(mate.scores.unwrap().best, Score::MateIn(0));
    }

    #[test]
    fn each_flaw_is_counted_under_its_reason() {
        let games = generate(11, 600, Mix::ALL);
        let rules = Rules { line_end: LineEnd::Fixed, short: Short::Drop, ..Rules::default() };
        let census = oracle(&games, &rules, None).census;
        let left_out = |reason| {
            census.filtered.get(&reason).or(census.rejected.get(&reason)).copied().unwrap_or(0)
        };
        for reason in [
            Reason::IllegalMove,
            Reason::Syntax,
            Reason::ResultConflict,
            Reason::NoMoves,
            Reason::SetupPosition,
            Reason::Variant,
        ] {
            let flawed =
                games.iter().filter(|game| game.flaw.and_then(Flaw::reason) == Some(reason));
            assert_eq!(left_out(reason), flawed.count() as u64, "{reason}");
            assert!(left_out(reason) > 0, "{reason}");
        }
        assert!(left_out(Reason::TooShort) > 0 && left_out(Reason::NotDecisive) > 0);
        assert!(census.accepted > 200);
    }

    #[test]
    fn duplicates_are_those_that_were_repeated() {
        let games = generate(12, 600, Mix { flawed: 0, ..Mix::ALL });
        let once = Rules { dedupe: true, short: Short::Keep, ..Rules::default() };
        let census = oracle(&games, &once, None).census;
        let repeated = games.iter().filter(|game| {
            game.tag("Event") == Some("The same, once more") && game.outcome != Some(Result::Draw)
        });
        assert_eq!(census.filtered[&Reason::Duplicate], repeated.count() as u64);
    }

    #[test]
    fn selection_looks_at_true_counts() {
        let games = generate(13, 300, Mix::CLEAN);
        let result = oracle(&games, &Rules::default(), Some(&pseudo_score));
        assert_eq!(select(&result.book, Weight::Games, 1, 0.0, 0), result.book);
        let frequent = select(&result.book, Weight::Wins, 2, 0.0, 0);
        assert!(!frequent.is_empty() && frequent.len() < result.book.len());
        assert!(frequent.values().all(|tally| tally.games() >= 2));
        let best = select(&result.book, Weight::Wins, 1, 0.0, 1);
        let positions: BTreeSet<PositionKey> = result.book.keys().map(|&(key, _)| key).collect();
        assert_eq!(best.len(), positions.len());
        let shares = select(&result.book, Weight::Score, 1, 50.1, 0);
        assert!(shares.len() < positions.len());
    }
}
