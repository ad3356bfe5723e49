//! What an engine thinks of a position.

use std::ops::Neg;

use crate::{Score, Wdl};

/// What an engine thinks of a position, from one side's view; the context says whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Evaluation {
    /// The score.
    pub score: Score,
    /// The chances of a win, a draw and a loss, from engines that say them.
    pub wdl: Option<Wdl>,
}

impl Evaluation {
    /// The game is over and drawn.
    pub const DRAWN: Evaluation = Evaluation { score: Score::DRAWN, wdl: Some(Wdl::DRAWN) };

    /// This side's expected score per mille. A mate is certain, whatever chances stand beside it:
    /// 1000 for who mates, 0 for who is mated. `None`: centipawns, and nobody said chances.
    pub fn expected(self) -> Option<u16> {
        match self.score {
            Score::MateIn(_) => Some(1000),
            Score::MatedIn(_) => Some(0),
            Score::Cp(_) => self.wdl.map(Wdl::expected),
        }
    }
}

/// The same from the other side's view.
impl Neg for Evaluation {
    type Output = Evaluation;

    fn neg(self) -> Evaluation {
        Evaluation { score: -self.score, wdl: self.wdl.map(Neg::neg) }
    }
}

/// From an engine that says no chances.
impl From<Score> for Evaluation {
    fn from(score: Score) -> Evaluation {
        Evaluation { score, wdl: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mate_is_certain_and_centipawns_need_chances() {
        let wdl = Wdl::new(120, 800, 80);
        let expected = |score, wdl| Evaluation { score, wdl }.expected();
        assert_eq!(expected(Score::MateIn(40), wdl), Some(1000));
        assert_eq!(expected(Score::MatedIn(0), None), Some(0));
        assert_eq!(expected(Score::Cp(3000), None), None);
        assert_eq!(expected(Score::Cp(-30), wdl), Some(520));
        assert_eq!((-Evaluation { score: Score::Cp(-30), wdl }).expected(), Some(480));
        assert_eq!(Evaluation::DRAWN.expected(), Some(500));
        assert_eq!(-Evaluation::DRAWN, Evaluation::DRAWN);
    }
}
