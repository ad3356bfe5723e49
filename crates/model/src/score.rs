//! Who stands better, and by how much.

use std::{cmp::Ordering, fmt, ops::Neg};

/// An engine's verdict on a position, from one side's view; the context says whose.
///
/// Mates are never numbers of centipawns. The order is total: mate in 1, mate in 9, any
/// centipawns, mated in 9, mated in 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Score {
    /// Hundredths of a pawn, as the engine counts them.
    Cp(i32),
    /// This side mates in so many moves; 0: the mate is on the board.
    MateIn(u32),
    /// This side is mated in so many moves; 0: the mate is on the board.
    MatedIn(u32),
}

/// What a mate, or any score beyond it, counts in a mean of scores: ten pawns.
///
/// Were it more, one short mate would outweigh a hundred sound games.
const MEAN_LIMIT: i32 = 1000;

impl Score {
    /// A score of nothing at all: the position is drawn.
    pub const DRAWN: Score = Score::Cp(0);

    /// Reads UCI's `mate N`: negative when this side is mated, and `mate 0` when it is mated now.
    pub fn from_uci_mate(moves: i32) -> Score {
        match u32::try_from(moves) {
            Ok(0) | Err(_) => Score::MatedIn(moves.unsigned_abs()),
            Ok(moves) => Score::MateIn(moves),
        }
    }

    /// The score as one number for files that have room for nothing else: mate in m is
    /// `32767 - m`, mated in m is `m - 32767`, centipawns are held within ±32000.
    pub fn to_number(self) -> i32 {
        let distance = |moves: u32| 32_767 - moves.min(766) as i32;
        match self {
            Score::Cp(cp) => cp.clamp(-32_000, 32_000),
            Score::MateIn(moves) => distance(moves),
            Score::MatedIn(moves) => -distance(moves),
        }
    }

    /// The score as it enters a mean: held within ±1000 centipawns, a mate at the limit.
    pub fn to_mean_cp(self) -> i32 {
        match self {
            Score::Cp(cp) => cp.clamp(-MEAN_LIMIT, MEAN_LIMIT),
            Score::MateIn(_) => MEAN_LIMIT,
            Score::MatedIn(_) => -MEAN_LIMIT,
        }
    }

    /// Band first, then the place within it.
    fn order(self) -> (i8, i64) {
        match self {
            Score::MateIn(moves) => (1, -i64::from(moves)),
            Score::Cp(cp) => (0, i64::from(cp)),
            Score::MatedIn(moves) => (-1, i64::from(moves)),
        }
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The same verdict from the other side's view.
impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        match self {
            Score::Cp(cp) => Score::Cp(cp.saturating_neg()),
            Score::MateIn(moves) => Score::MatedIn(moves),
            Score::MatedIn(moves) => Score::MateIn(moves),
        }
    }
}

/// As UCI writes it: `cp 31`, `mate 5`, `mate -3`; a mate delivered on the board is `mate +0`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Score::Cp(cp) => write!(f, "cp {cp}"),
            Score::MateIn(0) => write!(f, "mate +0"),
            Score::MateIn(moves) => write!(f, "mate {moves}"),
            Score::MatedIn(moves) => write!(f, "mate -{moves}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_stand_outside_all_centipawns() {
        let ascending = [
            Score::MatedIn(0),
            Score::MatedIn(1),
            Score::MatedIn(9),
            Score::Cp(i32::MIN),
            Score::Cp(-3),
            Score::Cp(5),
            Score::Cp(i32::MAX),
            Score::MateIn(9),
            Score::MateIn(1),
            Score::MateIn(0),
        ];
        assert!(ascending.is_sorted());
        let mut negated: Vec<Score> = ascending.iter().map(|&score| -score).collect();
        negated.reverse();
        assert!(negated.is_sorted());
        let numbers: Vec<i32> = ascending.iter().map(|score| score.to_number()).collect();
        assert!(numbers.is_sorted());
    }

    #[test]
    fn uci_mate_zero_is_mated_now() {
        assert_eq!(Score::from_uci_mate(5), Score::MateIn(5));
        assert_eq!(Score::from_uci_mate(-3), Score::MatedIn(3));
        assert_eq!(Score::from_uci_mate(0), Score::MatedIn(0));
        assert_eq!(Score::from_uci_mate(i32::MIN).to_number(), -32_001);
    }

    #[test]
    fn a_mate_counts_ten_pawns_in_a_mean() {
        assert_eq!(Score::MateIn(3).to_mean_cp(), 1000);
        assert_eq!(Score::Cp(-4000).to_mean_cp(), -1000);
        assert_eq!(Score::Cp(120).to_mean_cp(), 120);
    }
}
