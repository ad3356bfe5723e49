//! The entries of a book in memory, sorted: what is read from formats that are no sorted lists,
//! and what conversions and merges work on.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Move, Square};
use tabiya_model::{PackedMove, PositionKey};

use crate::{BookMove, Error, RawEntry, sob::Word};

/// How games went in which a move was played, seen by the side that played it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Games {
    /// Games the mover won.
    pub wins: u64,
    /// Games drawn, or without a known result.
    pub draws: u64,
    /// Games the mover lost.
    pub losses: u64,
}

impl Games {
    /// All of them.
    pub fn count(&self) -> u64 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// `2 * wins + draws`, the weight that PolyGlot gives; as much of it as fits.
    pub fn half_points(&self) -> u32 {
        let points = self.wins.saturating_mul(2).saturating_add(self.draws);
        u32::try_from(points).unwrap_or(u32::MAX)
    }

    pub(crate) fn add(&mut self, other: &Games) {
        self.wins = self.wins.saturating_add(other.wins);
        self.draws = self.draws.saturating_add(other.draws);
        self.losses = self.losses.saturating_add(other.losses);
    }
}

/// One move of one position, with all that some format says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The position.
    pub key: PositionKey,
    /// The move. Where the source has words and the position is not known, castling is not marked.
    pub mv: PackedMove,
    /// How good, in the measure of the source.
    pub weight: u32,
    /// The rank of a `.sob`.
    pub rank: Option<u8>,
    /// PolyGlot's learn field.
    pub learn: Option<u32>,
    /// Arena's priority.
    pub priority: Option<u8>,
    /// The mark of a ChessBase book.
    pub nag: Option<u8>,
    /// Results, where the format has them.
    pub games: Option<Games>,
    /// Whether a board has shown what the word means.
    pub(crate) settled: bool,
}

impl Item {
    /// A move with a weight, and nothing else.
    pub fn new(key: PositionKey, mv: PackedMove, weight: u32) -> Item {
        Item {
            key,
            mv,
            weight,
            rank: None,
            learn: None,
            priority: None,
            nag: None,
            games: None,
            settled: false,
        }
    }

    /// The entry of a file; `None` if it is no move of any piece.
    pub(crate) fn of(entry: &RawEntry) -> Option<Item> {
        let mv = match entry.rank {
            Some(_) => {
                let word = Word(entry.word);
                PackedMove::from_parts(word.from(), word.to(), None)
            }
            None => PackedMove(entry.word),
        };
        let is_move = mv.from() != mv.to() && mv.0 >> 12 <= 4;
        is_move.then_some(Item {
            rank: entry.rank,
            learn: entry.learn,
            priority: entry.priority,
            nag: entry.nag,
            games: entry.games,
            ..Item::new(entry.key, mv, entry.weight)
        })
    }

    /// Makes the word the legal move it is in its position, if it is one.
    pub(crate) fn settle(&mut self, position: &Chess) -> Option<Move> {
        let m = match self.rank {
            Some(_) => self.sob_word()?.to_move(position, true),
            None => self.mv.to_move(position),
        }?;
        self.key = PositionKey::of(position);
        self.mv = PackedMove::new(m);
        self.settled = true;
        Some(m)
    }

    /// The word of which [`Item::of`] took the squares.
    fn sob_word(&self) -> Option<Word> {
        let square = |square: Square| u16::from(square.flip_vertical());
        let squares = square(self.mv.from()) | square(self.mv.to()) << 6;
        (!self.settled).then_some(Word(squares))
    }

    fn order(&self) -> impl Ord + use<> {
        (self.key, Reverse(self.weight), self.mv.polyglot())
    }

    /// The entry as the formats without a board show it.
    pub(crate) fn raw(&self) -> RawEntry {
        RawEntry {
            key: self.key,
            word: self.mv.polyglot(),
            uci: self.mv.to_string(),
            weight: self.weight,
            learn: self.learn,
            rank: self.rank,
            priority: self.priority,
            nag: self.nag,
            games: self.games,
        }
    }
}

/// Entries in memory: by key ascending, weight descending, PolyGlot's word ascending. Some 80
/// bytes an entry.
#[derive(Clone, Debug, Default)]
pub struct Entries(Vec<Item>);

impl Entries {
    /// Sorts `items`. Moves that a position has twice stay as they are.
    pub fn new(mut items: Vec<Item>) -> Entries {
        items.sort_by_cached_key(Item::order);
        Entries(items)
    }

    /// All entries in order.
    pub fn items(&self) -> &[Item] {
        &self.0
    }

    /// The entries of one position.
    pub fn of(&self, key: PositionKey) -> &[Item] {
        let start = self.0.partition_point(|item| item.key < key);
        let rest = self.0.get(start..).unwrap_or_default();
        let len = rest.partition_point(|item| item.key == key);
        rest.get(..len).unwrap_or_default()
    }

    /// Position after position, in ascending order of keys.
    pub fn positions(&self) -> impl Iterator<Item = &[Item]> {
        self.0.chunk_by(|a, b| a.key == b.key)
    }

    /// Gives the legal moves of a position, best first, and returns how many entries are none.
    pub(crate) fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> u64 {
        moves.clear();
        let mut dropped = 0;
        for item in self.of(PositionKey::of(position)) {
            match item.mv.to_move(position) {
                Some(m) if moves.iter().any(|known| known.m == m) => {}
                Some(m) => moves.push(BookMove {
                    m,
                    weight: item.weight,
                    rank: item.rank,
                    learn: item.learn,
                    games: item.games,
                }),
                None => dropped += 1,
            }
        }
        dropped
    }

    pub(crate) fn walk(
        &self,
        each: &mut dyn FnMut(RawEntry) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.0.iter().try_for_each(|item| each(item.raw()))
    }
}
