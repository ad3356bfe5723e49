//! A scorer that answers at once and always the same.

use shakmaty::Chess;
use tabiya_model::{PositionKey, Score, Wdl};

use crate::rng::mix;

/// A score that looks like an engine's and is a hash of the position: −400 to 400 centipawns from
/// the view of the side to move.
///
/// It depends on the position's key alone, so it can stand in for an engine that is asked in any
/// order, or from a cache.
pub fn pseudo_score(position: &Chess) -> Score {
    let hash = mix(PositionKey::of(position).0);
    Score::Cp((hash % 801) as i32 - 400)
}

/// Chances that go with a score of [`pseudo_score`].
pub fn pseudo_chances(score: Score) -> Wdl {
    let cp = score.to_mean_cp().clamp(-400, 400);
    let (win, loss) = (100 + cp.max(0), 100 + (-cp).max(0));
    let part = |part: i32| part as u16;
    Wdl::new(part(win), part(1000 - win - loss), part(loss)).unwrap()
}

#[cfg(test)]
mod tests {
    use shakmaty::{Position, san::San};

    use super::*;

    #[test]
    fn scores_spread_over_the_whole_range() {
        let mut position = Chess::default();
        let mut scores = Vec::new();
        for san in ["Nf3", "Nf6", "Ng1", "Ng8"].iter().cycle().take(8) {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            scores.push(pseudo_score(&position));
        }
        assert_eq!(scores[0], scores[4], "a position that comes again scores the same");

        let (mut least, mut most) = (0, 0);
        for first in Chess::default().legal_moves() {
            let mut position = Chess::default();
            position.play_unchecked(first);
            for second in position.legal_moves() {
                let mut position = position.clone();
                position.play_unchecked(second);
                let Score::Cp(cp) = pseudo_score(&position) else { panic!("no centipawns") };
                assert!((-400..=400).contains(&cp));
                (least, most) = (least.min(cp), most.max(cp));
            }
        }
        assert!(least < -350 && most > 350, "{least} to {most}");
    }
}
