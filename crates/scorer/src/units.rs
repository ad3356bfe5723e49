//! What an engine's numbers mean, where they are not centipawns.

use serde::{Deserialize, Serialize};
use tabiya_model::Score;

/// The distance of a mate that an engine shows only by a huge number.
pub(crate) const SOME_MATE: u32 = 100;

/// How the centipawns of a UCI engine are to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// What one of its centipawns counts: 0.01 for an engine that says a hundred times too much.
    pub cp_scale: f64,
    /// Numbers from here on, either way, are mates at a distance that nobody said; 0: none are.
    pub mate_threshold: u32,
}

/// As UCI has it.
impl Default for Units {
    fn default() -> Units {
        Units { cp_scale: 1.0, mate_threshold: 0 }
    }
}

impl Units {
    /// The score that is meant.
    pub(crate) fn read(self, said: Score) -> Score {
        let Score::Cp(number) = said else { return said };
        if self.mate_threshold > 0 && number.unsigned_abs() >= self.mate_threshold {
            let mate = Score::MateIn(SOME_MATE);
            return if number > 0 { mate } else { -mate };
        }
        Score::Cp((f64::from(number) * self.cp_scale).round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scaled_and_huge_ones_are_mates() {
        let plain = Units::default();
        let hundredfold = Units { cp_scale: 0.01, ..plain };
        let pawns = Units { cp_scale: 100.0, ..plain };
        let old = Units { cp_scale: 0.5, mate_threshold: 29_000 };
        let table = [
            (plain, Score::Cp(-77), Score::Cp(-77)),
            (plain, Score::Cp(31_990), Score::Cp(31_990)),
            (hundredfold, Score::Cp(3_149), Score::Cp(31)),
            (hundredfold, Score::Cp(-3_150), Score::Cp(-32)),
            (hundredfold, Score::MateIn(300), Score::MateIn(300)),
            (pawns, Score::Cp(i32::MAX), Score::Cp(i32::MAX)),
            (old, Score::Cp(28_999), Score::Cp(14_500)),
            (old, Score::Cp(29_000), Score::MateIn(SOME_MATE)),
            (old, Score::Cp(-29_995), Score::MatedIn(SOME_MATE)),
            (old, Score::Cp(i32::MIN), Score::MatedIn(SOME_MATE)),
            (old, Score::MatedIn(3), Score::MatedIn(3)),
        ];
        for (units, said, meant) in table {
            assert_eq!(units.read(said), meant, "{said} in {units:?}");
        }
    }
}
