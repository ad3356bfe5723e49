//! The opening of one game.

use shakmaty::{Chess, Color, Position, zobrist::Zobrist64};

use crate::{Outcome, PackedMove, PositionKey, key::EN_PASSANT};

/// Where a line begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The ordinary start position.
    Standard,
    /// A position that the game set up.
    Position(Box<Chess>),
}

/// The first plies of one game, each legal when it was packed, and how the game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The position before the first move.
    pub start: Start,
    /// The moves, in order.
    pub moves: Box<[PackedMove]>,
    /// How the whole game ended.
    pub outcome: Outcome,
}

/// The key of the ordinary start position.
const START_KEY: u64 = 0x463b_9618_1691_fc9c;

/// One half-move of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The position the move was played in.
    pub key: PositionKey,
    /// The move.
    pub mv: PackedMove,
    /// Who played it.
    pub by: Color,
}

impl Line {
    /// Replays the line, calling `each` for every ply, and returns the position at its end.
    pub fn replay(&self, mut each: impl FnMut(Ply)) -> Chess {
        let (mut position, mut hash) = match &self.start {
            // Nearly all lines start here: hashed once.
            Start::Standard => (Chess::default(), Zobrist64(START_KEY)),
            Start::Position(position) => {
                (position.as_ref().clone(), position.zobrist_hash::<Zobrist64>(EN_PASSANT))
            }
        };
        for &mv in &self.moves {
            each(Ply { key: PositionKey(hash.0), mv, by: position.turn() });
            let Some(m) = mv.to_trusted_move(&position) else { break };
            let updated = position.update_zobrist_hash(hash, m, EN_PASSANT);
            position.play_unchecked(m);
            hash = updated.unwrap_or_else(|| position.zobrist_hash(EN_PASSANT));
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The incremental keys equal those computed from scratch, with castling, promotion and
        /// en passant on the way.
        #[test]
        fn replay_gives_the_keys_of_the_positions(choices in prop::collection::vec(any::<u16>(), 0..120)) {
            let mut position = Chess::default();
            let (mut moves, mut keys) = (Vec::new(), Vec::new());
            for choice in choices {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                let m = legal[usize::from(choice) % legal.len()];
                keys.push(PositionKey::of(&position));
                moves.push(PackedMove::new(m));
                position.play_unchecked(m);
            }
            let line = Line { start: Start::Standard, moves: moves.into(), outcome: Outcome::White };
            let mut seen = Vec::new();
            let end = line.replay(|ply| seen.push(ply.key));
            prop_assert_eq!(seen, keys);
            prop_assert_eq!(end, position);
        }
    }
}
