//! The engine as a library, for programs that play with it rather than talk to it.

use shakmaty::{Chess, Move};

use super::{
    search::{self, Limits, Listener, Report, Search},
    table::Table,
};

/// Scores the moves of one position after the other; like the engine, it remembers nothing from
/// one to the next.
pub struct Ranking {
    table: Table,
}

impl Ranking {
    /// Takes about a mebibyte.
    pub fn new() -> Ranking {
        Ranking { table: Table::new(1) }
    }

    /// The moves with their scores in centipawns, best first. Scores are from the view of the
    /// side that moves, and those of mates lie far beyond all others. Each move is followed by a
    /// search of `depth` plies, at 0 by quiescence alone. Moves of equal score keep their order.
    ///
    /// All of `moves` must be legal in `pos`.
    pub fn rank(&mut self, pos: &Chess, moves: &[Move], depth: u32) -> Vec<(Move, i32)> {
        let path = vec![search::hash(pos)];
        let mut nobody = Nobody;
        Search::new(pos, path, Limits::NONE, &mut self.table, &mut nobody).rank(moves, depth)
    }
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking::new()
    }
}

struct Nobody;

impl Listener for Nobody {
    fn interrupted(&mut self) -> bool {
        false
    }

    fn finished(&mut self, _: &Report) {}
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, Position, fen::Fen};

    use super::*;

    #[test]
    fn mate_is_best_and_a_lost_queen_worst() {
        let fen: Fen = "6k1/5ppp/8/3p4/8/1Q6/5PPP/3R2K1 w - - 0 1".parse().unwrap();
        let pos: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        for depth in 0..3 {
            let ranked = Ranking::new().rank(&pos, &pos.legal_moves(), depth);
            assert_eq!(ranked.len(), pos.legal_moves().len());
            assert!(ranked.is_sorted_by_key(|&(_, score)| -score), "{ranked:?}");
            assert_eq!(ranked[0].0.to_uci(CastlingMode::Standard).to_string(), "b3b8");
            assert!(ranked[0].1 > 20_000, "{ranked:?}");
        }
    }
}
