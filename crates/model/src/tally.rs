//! What a move achieved in a position, over all games that played it.

use crate::{Outcome, PackedMove, PositionKey, Score};
use shakmaty::Color;

/// Games that played a move, seen by the side that played it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games the mover won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games the mover lost.
    pub losses: u64,
    /// Scores at the ends of the lines; `None` when nothing was scored.
    pub scores: Option<Scores>,
}

/// The scores behind a tally, one a game, seen by the mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scores {
    /// The worst of them.
    pub worst: Score,
    /// The best of them.
    pub best: Score,
    /// Their sum as [`Score::to_mean_cp`].
    pub sum_cp: i64,
}

impl Tally {
    /// One game, in which `mover` played the move; `score` is from the mover's view.
    pub fn one(outcome: Outcome, mover: Color, score: Option<Score>) -> Tally {
        let winner = outcome.winner();
        Tally {
            wins: u64::from(winner == Some(mover)),
            draws: u64::from(winner.is_none()),
            losses: u64::from(winner == Some(!mover)),
            scores: score.map(|score| Scores {
                worst: score,
                best: score,
                sum_cp: i64::from(score.to_mean_cp()),
            }),
        }
    }

    /// How many games there are.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The mean score in centipawns, rounded to the nearest; `None` when nothing was scored.
    pub fn mean_cp(&self) -> Option<i32> {
        let games = i64::try_from(self.games()).ok().filter(|&games| games > 0)?;
        let doubled = 2 * self.scores?.sum_cp + games;
        i32::try_from(doubled.div_euclid(2 * games)).ok()
    }

    /// Adds the games of `other`. The order of additions does not matter.
    pub fn add(&mut self, other: &Tally) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        self.scores = match (self.scores, other.scores) {
            (Some(a), Some(b)) => Some(Scores {
                worst: a.worst.min(b.worst),
                best: a.best.max(b.best),
                sum_cp: a.sum_cp + b.sum_cp,
            }),
            (a, b) => a.or(b),
        };
    }
}

/// One move of one position with its tally: what a book is made of. Entries order by key, then
/// move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position.
    pub key: PositionKey,
    /// The move.
    pub mv: PackedMove,
    /// What it achieved.
    pub tally: Tally,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_game_counts_for_its_mover() {
        let black_win = Tally::one(Outcome::Black, Color::White, Some(Score::Cp(-30)));
        assert_eq!((black_win.wins, black_win.draws, black_win.losses), (0, 0, 1));
        assert_eq!(black_win.mean_cp(), Some(-30));
        assert_eq!(Tally::one(Outcome::Draw, Color::Black, None).mean_cp(), None);
    }

    #[test]
    fn means_round_to_the_nearest() {
        let mean = |cps: &[i32]| {
            let mut tally = Tally::default();
            for &cp in cps {
                tally.add(&Tally::one(Outcome::White, Color::White, Some(Score::Cp(cp))));
            }
            tally.mean_cp()
        };
        assert_eq!(mean(&[1, 2]), Some(2));
        assert_eq!(mean(&[-1, -2]), Some(-1));
        assert_eq!(mean(&[10, 10, 11]), Some(10));
        assert_eq!(mean(&[]), None);
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same_tally(games in prop::collection::vec((0..3u8, -2000..2000i32), 1..40), cut in 0..40usize) {
            let one = |&(kind, cp): &(u8, i32)| {
                let outcome = [Outcome::White, Outcome::Black, Outcome::Draw][usize::from(kind)];
                Tally::one(outcome, Color::White, Some(Score::Cp(cp)))
            };
            let total = |games: &[(u8, i32)]| games.iter().fold(Tally::default(), |mut sum, game| {
                sum.add(&one(game));
                sum
            });
            let (left, right) = games.split_at(cut.min(games.len()));
            let mut parts = total(right);
            parts.add(&total(left));
            prop_assert_eq!(parts, total(&games));
        }
    }
}
