//! Opening positions of real games, and which games are held out.
//!
//! The split is by game, not by position: a game is held out if a hash of its first moves says
//! so, which makes all copies of it agree, whatever their tags. What happens in a held-out game
//! is for measuring only: [`Openings::held_out`] has every such position, and none of them is
//! trained on, even where other games reach it, too.

use std::{
    collections::HashSet,
    fs,
    io::BufReader,
    ops::{ControlFlow, RangeInclusive},
    path::PathBuf,
};

use anyhow::{Context, Result};
use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{Chess, Color, EnPassantMode, KnownOutcome, Outcome, Position, zobrist::Zobrist64};
use tabiya_testkit::Rng;

/// The plies whose positions are labelled and learned from.
const PLIES: RangeInclusive<usize> = 8..=32;
/// One game in so many is held out.
const HELD_OUT: u64 = 40;

/// What is taken from the games.
#[derive(Default)]
pub(crate) struct Openings {
    /// Ends of lines won in games that are held out.
    pub(crate) to_judge: Vec<Chess>,
    /// Ends of lines and positions at random of the other games.
    pub(crate) to_train: Vec<Chess>,
    /// The hashes of all positions of the games held out.
    pub(crate) held_out: HashSet<u64>,
}

/// Takes positions from plain files of PGN, each once, and shuffles them. `random` is how many of
/// a game are taken besides the end of its line.
pub(crate) fn read(files: &[PathBuf], random: usize, seed: u64) -> Result<Openings> {
    let mut rng = Rng::new(seed);
    let mut openings = Openings::default();
    for path in files {
        let file =
            fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut reader = Reader::new(BufReader::new(file));
        while let Some(game) = reader.read_game(&mut Opening::default())? {
            if let Some(game) = game {
                openings.add(&game, random, &mut rng);
            }
        }
    }
    let Openings { to_judge, to_train, held_out } = &mut openings;
    to_train.retain(|position| !held_out.contains(&hash(position)));
    for positions in [to_judge, to_train] {
        let mut seen = HashSet::new();
        positions.retain(|position| !position.legal_moves().is_empty());
        positions.retain(|position| seen.insert(hash(position)));
        shuffle(positions, &mut rng);
    }
    Ok(openings)
}

/// The hash by which positions are told apart.
pub(crate) fn hash(position: &Chess) -> u64 {
    let Zobrist64(hash) = position.zobrist_hash(EnPassantMode::Legal);
    hash
}

/// Puts things into an order that only the seed decides.
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for end in (1..items.len()).rev() {
        items.swap(end, rng.below(end + 1));
    }
}

impl Openings {
    fn add(&mut self, game: &Game, random: usize, rng: &mut Rng) {
        let line_end = match game.winner {
            // Where the winner is to move.
            Some(Color::Black) => 23,
            _ => 24,
        };
        let Some(end) = game.positions.get(line_end) else {
            return;
        };
        if game.is_held_out() {
            let opening = game.positions.iter().skip(*PLIES.start());
            self.held_out.extend(opening.map(hash));
            if game.winner.is_some() {
                self.to_judge.push(end.clone());
            }
            return;
        }
        self.to_train.push(end.clone());
        let last = (*PLIES.end()).min(game.positions.len() - 1);
        for _ in 0..random {
            let ply = PLIES.start() + rng.below(last - PLIES.start() + 1);
            self.to_train.extend(game.positions.get(ply).cloned());
        }
    }
}

/// The opening of a game from the usual position.
struct Game {
    winner: Option<Color>,
    /// The position before each ply, and after the last one.
    positions: Vec<Chess>,
}

impl Game {
    /// Decided by the position after 24 plies, so that copies that end early agree, too.
    fn is_held_out(&self) -> bool {
        self.positions
            .get(24)
            .is_some_and(|position| Rng::new(hash(position)).bits().is_multiple_of(HELD_OUT))
    }
}

/// Reads the beginning of a game.
#[derive(Default)]
struct Opening {
    winner: Option<Color>,
    unusual: bool,
}

impl Visitor for Opening {
    type Tags = ();
    type Movetext = Vec<Chess>;
    type Output = Option<Game>;

    fn begin_tags(&mut self) -> ControlFlow<Option<Game>> {
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Option<Game>> {
        match name {
            b"FEN" | b"SetUp" => self.unusual = true,
            b"Variant" => self.unusual |= !value.as_bytes().eq_ignore_ascii_case(b"standard"),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Option<Game>, Vec<Chess>> {
        match self.unusual {
            true => ControlFlow::Break(None),
            false => ControlFlow::Continue(vec![Chess::default()]),
        }
    }

    fn san(&mut self, positions: &mut Vec<Chess>, san: SanPlus) -> ControlFlow<Option<Game>> {
        let Some(position) = positions.last().filter(|_| positions.len() <= *PLIES.end()) else {
            return ControlFlow::Continue(());
        };
        let Ok(m) = san.san.to_move(position) else { return ControlFlow::Break(None) };
        let mut next = position.clone();
        next.play_unchecked(m);
        positions.push(next);
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Vec<Chess>) -> ControlFlow<Option<Game>, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, _: &mut Vec<Chess>, outcome: Outcome) -> ControlFlow<Option<Game>> {
        if let Outcome::Known(KnownOutcome::Decisive { winner }) = outcome {
            self.winner = Some(winner);
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, positions: Vec<Chess>) -> Option<Game> {
        Some(Game { winner: self.winner, positions })
    }
}
