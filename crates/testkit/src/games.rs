//! Games from a seed.

use shakmaty::{CastlingMode, Chess, Color, Move, Position, fen::Fen, san::San};
use tabiya_model::{Outcome, PackedMove, Reason};

use crate::rng::{Rng, mix};

/// A game as it was played, and how its record says so.
#[derive(Clone, Debug)]
pub struct Game {
    /// The tag section, in order, without quoting.
    pub tags: Vec<(String, String)>,
    /// The position before the first move.
    pub start: Chess,
    /// The main line: every move legal.
    pub moves: Vec<Move>,
    /// How the game ended; `None` is `*`.
    pub outcome: Option<Outcome>,
    /// The result at the end of the movetext, as written there.
    pub marker: Option<String>,
    /// The one thing that is odd about the record.
    pub flaw: Option<Flaw>,
}

/// What is odd about a record. Plies count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A move that cannot be played stands before the move of this ply.
    IllegalMove(usize),
    /// `XYZ` stands before the move of this ply; without it the line is legal.
    UnreadableToken(usize),
    /// A comment opens before the move of this ply and never closes.
    UnterminatedComment(usize),
    /// Tag and marker name different results.
    ResultConflict,
    /// Tags and a marker, but not a move.
    NoMoves,
    /// `*`: the game did not end.
    Unfinished,
    /// A FEN tag that names another position than the ordinary start.
    SetUp,
    /// A Variant tag that names another game than ordinary chess.
    Variant,
    /// The text ends without a marker: the tag decides.
    MissingMarker,
    /// No Result tag, or one that is empty or `?`: the marker decides.
    MissingResultTag,
    /// No tag at all: the marker decides.
    NoTags,
    /// A draw written `1/2` or `½-½`.
    OtherDraw,
}

/// Faults in the movetext stand within so many plies: before the end of any line worth a test.
pub const FLAW_PLIES: usize = 10;

impl Flaw {
    /// All kinds, each with a ply where it takes one.
    fn all(ply: usize) -> [Flaw; 12] {
        [
            Flaw::IllegalMove(ply),
            Flaw::UnreadableToken(ply),
            // Without a move before it, nothing would part the tags from the next game's.
            Flaw::UnterminatedComment(ply.max(1)),
            Flaw::ResultConflict,
            Flaw::NoMoves,
            Flaw::Unfinished,
            Flaw::SetUp,
            Flaw::Variant,
            Flaw::MissingMarker,
            Flaw::MissingResultTag,
            Flaw::NoTags,
            Flaw::OtherDraw,
        ]
    }

    /// Why a game is left out for it, if it is. Drawn games with [`Flaw::OtherDraw`] are drawn
    /// games like others, and set-up positions can be allowed: see the oracle.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Flaw::IllegalMove(_) => Some(Reason::IllegalMove),
            Flaw::UnreadableToken(_) | Flaw::UnterminatedComment(_) => Some(Reason::Syntax),
            Flaw::ResultConflict => Some(Reason::ResultConflict),
            Flaw::NoMoves => Some(Reason::NoMoves),
            Flaw::Unfinished => Some(Reason::NotDecisive),
            Flaw::SetUp => Some(Reason::SetupPosition),
            Flaw::Variant => Some(Reason::Variant),
            Flaw::MissingMarker | Flaw::MissingResultTag | Flaw::NoTags | Flaw::OtherDraw => None,
        }
    }
}

impl Game {
    /// The value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the text alone says where the record ends. If not, the next one needs tags.
    pub fn ends_itself(&self) -> bool {
        self.marker.is_some() && !matches!(self.flaw, Some(Flaw::UnterminatedComment(_)))
    }

    fn set_tag(&mut self, name: &str, value: &str) {
        match self.tags.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => value.clone_into(old),
            None => self.tags.push((name.to_owned(), value.to_owned())),
        }
    }
}

/// How many of 100 games are of which kind.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Games with a [`Flaw`].
    pub flawed: u32,
    /// Drawn games among the others.
    pub drawn: u32,
    /// Games that end within a few moves, in mate, stalemate or for no reason.
    pub short: u32,
    /// Games that occurred before, with the same players and date, in another event.
    pub repeated: u32,
}

impl Mix {
    /// Nothing wrong with any record.
    pub const CLEAN: Mix = Mix { flawed: 0, drawn: 25, short: 15, repeated: 0 };
    /// Everything that occurs.
    pub const ALL: Mix = Mix { flawed: 30, drawn: 25, short: 15, repeated: 10 };
}

/// Makes `n` games.
pub fn generate(seed: u64, n: usize, mix: Mix) -> Vec<Game> {
    let mut rng = Rng::new(seed);
    let mut games: Vec<Game> = Vec::with_capacity(n);
    while games.len() < n {
        let number = games.len() + 1;
        let game = match rng.below(100) as u32 {
            roll if roll < mix.flawed => flawed(&mut rng, number),
            roll if roll < mix.flawed + mix.repeated => {
                repeated(&mut rng, &games).unwrap_or_else(|| clean(&mut rng, number, mix))
            }
            _ => clean(&mut rng, number, mix),
        };
        let readable = !game.tags.is_empty() || games.last().is_none_or(Game::ends_itself);
        if readable {
            games.push(game);
        }
    }
    games
}

/// A game that was there before, as another collection would have it.
fn repeated(rng: &mut Rng, games: &[Game]) -> Option<Game> {
    if games.is_empty() {
        return None;
    }
    let mut game = rng.pick(games);
    game.set_tag("Event", "The same, once more");
    game.flaw.is_none().then_some(game)
}

fn clean(rng: &mut Rng, number: usize, mix: Mix) -> Game {
    let moves = if rng.chance(mix.short) {
        short_game(rng)
    } else {
        let plies = 24 + rng.below(50);
        play(rng, Chess::default(), plies)
    };
    let end = after(&Chess::default(), &moves);
    let outcome = board_result(&end)
        .unwrap_or_else(|| if rng.chance(mix.drawn) { Outcome::Draw } else { decisive(rng) });
    record(rng, number, Chess::default(), moves, Some(outcome))
}

fn flawed(rng: &mut Rng, number: usize) -> Game {
    let ply = rng.below(FLAW_PLIES);
    let flaw = rng.pick(&Flaw::all(ply));
    let start = if flaw == Flaw::SetUp { set_up(rng) } else { Chess::default() };
    let moves = long_game(rng, &start);
    let outcome = match flaw {
        Flaw::Unfinished => None,
        Flaw::OtherDraw => Some(Outcome::Draw),
        _ => Some(board_result(&after(&start, &moves)).unwrap_or_else(|| decisive(rng))),
    };
    let mut game = record(rng, number, start, moves, outcome);
    game.flaw = Some(flaw);
    write_flaw(rng, &mut game, flaw);
    game
}

/// Changes the record, not the game, so that it shows the flaw.
fn write_flaw(rng: &mut Rng, game: &mut Game, flaw: Flaw) {
    match flaw {
        Flaw::IllegalMove(_) | Flaw::UnreadableToken(_) | Flaw::UnterminatedComment(_) => {}
        Flaw::ResultConflict => {
            let others: Vec<&str> = ["1-0", "0-1", "1/2-1/2"]
                .into_iter()
                .filter(|&text| game.marker.as_deref() != Some(text))
                .collect();
            game.marker = Some(rng.pick(&others).to_owned());
        }
        Flaw::NoMoves => game.moves.clear(),
        Flaw::Unfinished => {}
        Flaw::SetUp => {
            let fen = Fen::from_position(&game.start, shakmaty::EnPassantMode::Legal).to_string();
            if rng.chance(70) {
                game.set_tag("SetUp", "1");
            }
            game.set_tag("FEN", &fen);
        }
        Flaw::Variant => {
            game.set_tag("Variant", rng.pick(&["Chess960", "Atomic", "Crazyhouse"]));
        }
        Flaw::MissingMarker => game.marker = None,
        Flaw::MissingResultTag => match rng.below(3) {
            0 => game.tags.retain(|(name, _)| name != "Result"),
            1 => game.set_tag("Result", ""),
            _ => game.set_tag("Result", "?"),
        },
        Flaw::NoTags => game.tags.clear(),
        Flaw::OtherDraw => {
            let text = rng.pick(&["1/2", "½-½"]);
            game.marker = Some(text.to_owned());
            if rng.chance(50) {
                game.set_tag("Result", text);
            }
        }
    }
}

/// The record of a game, without a flaw. Players differ from game to game.
fn record(
    rng: &mut Rng,
    number: usize,
    start: Chess,
    moves: Vec<Move>,
    outcome: Option<Outcome>,
) -> Game {
    let result = match outcome {
        Some(Outcome::White) => "1-0",
        Some(Outcome::Black) => "0-1",
        Some(Outcome::Draw) => "1/2-1/2",
        None => "*",
    };
    let names = ["Cedar", "Dogwood", "Müller", "O\"Neill", "Fir [jr]", "Göß (sen)", "Back\\slash"];
    let date =
        format!("{}.{:02}.{:02}", 1950 + rng.below(70), 1 + rng.below(12), 1 + rng.below(28));
    let mut tags = vec![
        ("Event", format!("Test cup {}", rng.below(20))),
        ("Site", "Testville".to_owned()),
        ("Date", date),
        ("Round", (1 + rng.below(11)).to_string()),
        ("White", format!("{}, {number}", rng.pick(&names))),
        ("Black", format!("{}, {}", rng.pick(&names), number + 1)),
        ("Result", result.to_owned()),
    ];
    if rng.chance(30) {
        tags.push(("WhiteElo", (1200 + rng.below(1600)).to_string()));
        tags.push(("BlackElo", (1200 + rng.below(1600)).to_string()));
    }
    if rng.chance(10) {
        tags.push(("Variant", "Standard".to_owned()));
    }
    let tags = tags.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Game { tags, start, moves, outcome, marker: Some(result.to_owned()), flaw: None }
}

fn decisive(rng: &mut Rng) -> Outcome {
    rng.pick(&[Outcome::White, Outcome::Black])
}

/// The result that the board itself dictates.
fn board_result(end: &Chess) -> Option<Outcome> {
    match end.outcome() {
        shakmaty::Outcome::Unknown => None,
        known => Some(match known.winner() {
            Some(Color::White) => Outcome::White,
            Some(Color::Black) => Outcome::Black,
            None => Outcome::Draw,
        }),
    }
}

fn after(start: &Chess, moves: &[Move]) -> Chess {
    let mut position = start.clone();
    for &m in moves {
        position.play_unchecked(m);
    }
    position
}

/// Plies in which only few moves are played, so that games meet.
const BOOKISH: usize = 10;

/// Plays up to `plies` moves from `position`.
fn play(rng: &mut Rng, mut position: Chess, plies: usize) -> Vec<Move> {
    let mut moves = Vec::with_capacity(plies);
    let knights_at = if rng.chance(10) { 2 * rng.below(6) } else { usize::MAX };
    while moves.len() < plies && !position.is_game_over() {
        if moves.len() == knights_at {
            knights_out_and_back(rng, &mut position, &mut moves);
        }
        let m = if moves.len() < BOOKISH {
            bookish_move(rng, &position)
        } else {
            rng.pick(&position.legal_moves())
        };
        position.play_unchecked(m);
        moves.push(m);
    }
    moves
}

/// One of the three moves that all games like best. What is liked does not depend on the
/// position, so the same moves come in many orders: lines transpose.
fn bookish_move(rng: &mut Rng, position: &Chess) -> Move {
    let mut moves = position.legal_moves();
    moves.sort_by_key(|&m| mix(u64::from(PackedMove::new(m).polyglot())));
    let rank = [0, 0, 0, 1, 1, 2][rng.below(6)];
    moves[rank.min(moves.len() - 1)]
}

/// Knights leave and return, once or twice, where they can: the position repeats.
fn knights_out_and_back(rng: &mut Rng, position: &mut Chess, moves: &mut Vec<Move>) {
    let lap = ["Nf3", "Nf6", "Ng1", "Ng8"];
    for _ in 0..1 + rng.below(2) {
        let Some((end, played)) = try_line(position, &lap) else { return };
        *position = end;
        moves.extend(played);
    }
}

/// Plays the moves if all of them are legal.
fn try_line(position: &Chess, sans: &[&str]) -> Option<(Chess, Vec<Move>)> {
    let mut position = position.clone();
    let mut moves = Vec::new();
    for san in sans {
        let m = san.parse::<San>().ok()?.to_move(&position).ok()?;
        position.play_unchecked(m);
        moves.push(m);
    }
    Some((position, moves))
}

/// Games that end early: four mates, a stalemate, or simply a few moves.
fn short_game(rng: &mut Rng) -> Vec<Move> {
    let known = [
        "f3 e5 g4 Qh4",
        "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7",
        "e4 e5 Nf3 d6 Bc4 Bg4 Nc3 g6 Nxe5 Bxd1 Bxf7 Ke7 Nd5",
        "d4 Nf6 c4 e5 dxe5 Ng4 Bf4 Nc6 Nf3 Bb4 Nbd2 Qe7 a3 Ngxe5 axb4 Nd3",
        "e3 a5 Qh5 Ra6 Qxa5 h5 h4 Rah6 Qxc7 f6 Qxd7 Kf7 Qxb7 Qd3 Qxb8 Qh7 Qxc8 Kg6 Qe6",
    ];
    if rng.chance(50) {
        let sans: Vec<&str> = rng.pick(&known).split(' ').collect();
        try_line(&Chess::default(), &sans).unwrap().1
    } else {
        let plies = 1 + rng.below(23);
        play(rng, Chess::default(), plies)
    }
}

/// A game of more plies than any line of the tests has, unless its start forbids that.
fn long_game(rng: &mut Rng, start: &Chess) -> Vec<Move> {
    if start.board().occupied().count() < 8 {
        return play(rng, start.clone(), 40);
    }
    loop {
        let plies = 40 + rng.below(20);
        let moves = play(rng, start.clone(), plies);
        if moves.len() >= 40 {
            return moves;
        }
    }
}

/// Either side to move, castling rights on one side, en passant at once, and one that can become
/// a dead position with the first move.
fn set_up(rng: &mut Rng) -> Chess {
    let fens = [
        "r3kbnr/1pqb1p1p/p1npp1p1/2pN4/2P1P3/PP3NPP/1BQP1P2/R3KB1R b KQkq - 3 11",
        "rnbqkbr1/pppppp1p/5np1/8/8/5NP1/PPPPPP1P/RNBQKBR1 w Qq - 0 4",
        "rnbqkbnr/ppp2ppp/8/3ppP2/8/8/PPPPP1PP/RNBQKBNR w KQkq e6 0 3",
        "8/8/8/4k3/8/3n4/4K3/8 w - - 0 1",
    ];
    rng.pick(&fens).parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashSet};

    use tabiya_model::PositionKey;

    use super::*;

    fn keys(game: &Game) -> Vec<PositionKey> {
        let mut position = game.start.clone();
        let mut keys = vec![PositionKey::of(&position)];
        for &m in &game.moves {
            position.play_unchecked(m);
            keys.push(PositionKey::of(&position));
        }
        keys
    }

    #[test]
    fn games_are_legal_and_follow_from_the_seed() {
        let games = generate(1, 300, Mix::ALL);
        for game in &games {
            let mut position = game.start.clone();
            for &m in &game.moves {
                assert!(position.is_legal(m), "{game:?}");
                position.play_unchecked(m);
            }
        }
        let again = generate(1, 300, Mix::ALL);
        assert!(games.iter().zip(&again).all(|(a, b)| a.moves == b.moves && a.tags == b.tags));
        assert_ne!(games[0].moves, generate(2, 1, Mix::ALL)[0].moves);
    }

    #[test]
    fn every_flaw_and_every_end_occurs() {
        let games = generate(3, 1_000, Mix::ALL);
        let flaws: BTreeSet<String> = games
            .iter()
            .filter_map(|game| game.flaw)
            .map(|flaw| format!("{flaw:?}").split('(').next().unwrap().to_owned())
            .collect();
        assert_eq!(flaws.len(), Flaw::all(0).len(), "{flaws:?}");

        let ends: Vec<Chess> = games.iter().map(|game| after(&game.start, &game.moves)).collect();
        assert!(ends.iter().any(Chess::is_checkmate));
        assert!(ends.iter().any(Chess::is_stalemate));
        assert!(ends.iter().any(Chess::is_insufficient_material));
        let short = |game: &&Game| (1..24).contains(&game.moves.len());
        assert!(games.iter().filter(short).count() > 50);
    }

    #[test]
    fn clean_games_have_no_flaw_and_no_twin() {
        let games = generate(4, 500, Mix::CLEAN);
        assert!(games.iter().all(|game| game.flaw.is_none() && game.outcome.is_some()));
        let players: BTreeSet<_> = games.iter().map(|game| game.tag("White").unwrap()).collect();
        assert_eq!(players.len(), games.len());
    }

    #[test]
    fn openings_repeat_transpose_and_return() {
        let games = generate(5, 500, Mix::CLEAN);
        let mut paths: BTreeMap<PositionKey, HashSet<&[Move]>> = BTreeMap::new();
        let mut returning = 0;
        for game in &games {
            let keys = keys(game);
            let line = &keys[..keys.len().min(24)];
            returning += usize::from(line.iter().collect::<BTreeSet<_>>().len() < line.len());
            for (ply, &key) in line.iter().enumerate().take(8) {
                paths.entry(key).or_default().insert(&game.moves[..ply]);
            }
        }
        let transposed = paths.values().filter(|paths| paths.len() > 1).count();
        assert!(transposed > 50, "{transposed}");
        assert!(returning > 20, "{returning}");
        assert!(paths.len() < 3_000, "openings hardly repeat: {}", paths.len());
    }
}
