//! How good a move is: one number from its tally, and what the formats make of that number.

use std::{cmp::Reverse, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabiya_model::{Entry, PackedMove, Tally};

use crate::Error;

/// What makes one move better than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The mean score of its lines.
    Score,
    /// The number of its games.
    Games,
    /// `2 * wins + draws` of the side that plays it, as `polyglot make-book` counts; a move that
    /// lost every game is left out.
    Wins,
    /// Nothing: all moves are equal.
    Uniform,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Policy::Score => "score",
            Policy::Games => "games",
            Policy::Wins => "wins",
            Policy::Uniform => "uniform",
        })
    }
}

/// A move with its final value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The move.
    pub mv: PackedMove,
    /// How good it is, higher is better. [`choices`] gives no 0; in a book it says "known, never
    /// to be played".
    pub value: u64,
    /// What the move achieved.
    pub tally: Tally,
}

/// Values the moves of one position, best first: by value descending, then PolyGlot's word
/// ascending.
///
/// Under [`Policy::Score`] the value is the mean score in centipawns. If the lowest of the
/// position is below 1, all are shifted so that it is 1: the differences stay.
///
/// # Errors
///
/// [`Error::NoScore`] if scores are asked for and a move has none: another policy is never chosen
/// in silence. [`Error::TwoPositions`] if the keys differ.
pub fn choices(policy: Policy, entries: &[Entry]) -> Result<Vec<Choice>, Error> {
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].key != pair[1].key) {
        return Err(Error::TwoPositions { first: pair[0].key, second: pair[1].key });
    }
    let values = match policy {
        Policy::Score => by_score(entries)?,
        Policy::Games => entries.iter().map(|entry| entry.tally.games()).collect(),
        Policy::Wins => entries.iter().map(|entry| half_points(&entry.tally)).collect(),
        Policy::Uniform => vec![1; entries.len()],
    };
    let mut choices: Vec<Choice> = entries
        .iter()
        .zip(values)
        .filter(|&(_, value)| value > 0)
        .map(|(entry, value)| Choice { mv: entry.mv, value, tally: entry.tally })
        .collect();
    choices.sort_by_key(|choice| (Reverse(choice.value), choice.mv.polyglot()));
    Ok(choices)
}

fn by_score(entries: &[Entry]) -> Result<Vec<u64>, Error> {
    let means: Vec<i64> = entries.iter().map(mean).collect::<Result<_, _>>()?;
    let lowest = means.iter().copied().min().unwrap_or(1);
    let shift = (1 - lowest).max(0);
    Ok(means.into_iter().map(|mean| (mean + shift).unsigned_abs()).collect())
}

fn mean(entry: &Entry) -> Result<i64, Error> {
    let no_score = || Error::NoScore { key: entry.key, mv: entry.mv.to_string() };
    entry.tally.mean_cp().map(i64::from).ok_or_else(no_score)
}

fn half_points(tally: &Tally) -> u64 {
    tally.wins.saturating_mul(2).saturating_add(tally.draws)
}

/// PolyGlot's weights for the moves of one position, in their order.
///
/// Values that fit in 16 bits stay as they are. If one does not, all are scaled by the same factor
/// so that the greatest is 65,535; none falls to 0 by that, and the order stays.
pub fn polyglot_weights(choices: &[Choice]) -> Vec<u16> {
    const LIMIT: u128 = u16::MAX as u128;
    let greatest = choices.iter().map(|choice| u128::from(choice.value)).max().unwrap_or(0);
    let scaled = |value: u64| match u128::from(value) {
        0 => 0,
        value if greatest <= LIMIT => value,
        value => ((2 * value * LIMIT + greatest) / (2 * greatest)).max(1),
    };
    let fits = |weight| u16::try_from(weight).unwrap_or(u16::MAX);
    choices.iter().map(|choice| fits(scaled(choice.value))).collect()
}

/// The ranks of a `.sob` for the moves of one position, in their order: 15 for the best value, 1
/// for the worst, equal values equal; 0 for the value 0.
pub fn sob_ranks(choices: &[Choice]) -> Vec<u8> {
    let mut distinct: Vec<u64> =
        choices.iter().map(|choice| choice.value).filter(|&value| value > 0).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let steps = distinct.len().saturating_sub(1);
    let rank = |value: u64| match distinct.binary_search(&value) {
        Err(_) => 0,
        Ok(_) if steps == 0 => 15,
        Ok(below) => 1 + (28 * below + steps) / (2 * steps),
    };
    choices.iter().map(|choice| rank(choice.value) as u8).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_model::{PositionKey, Score, Scores};

    use super::*;

    fn entry(mv: u16, wins: u64, draws: u64, losses: u64, mean: Option<i64>) -> Entry {
        let games = (wins + draws + losses) as i64;
        let scores = mean.map(|mean| Scores {
            worst: Score::Cp(mean as i32),
            best: Score::Cp(mean as i32),
            sum_cp: mean * games,
        });
        Entry {
            key: PositionKey(7),
            mv: PackedMove(mv),
            tally: Tally { wins, draws, losses, scores },
        }
    }

    fn values(policy: Policy, entries: &[Entry]) -> Vec<(u16, u64)> {
        let choices = choices(policy, entries).unwrap();
        choices.iter().map(|choice| (choice.mv.0, choice.value)).collect()
    }

    #[test]
    fn each_policy_values_by_its_own_number() {
        let entries =
            [entry(3, 1, 0, 9, Some(40)), entry(2, 0, 0, 5, Some(90)), entry(1, 2, 3, 5, Some(40))];
        assert_eq!(values(Policy::Games, &entries), [(1, 10), (3, 10), (2, 5)]);
        assert_eq!(values(Policy::Wins, &entries), [(1, 7), (3, 2)]);
        assert_eq!(values(Policy::Uniform, &entries), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(values(Policy::Score, &entries), [(2, 90), (1, 40), (3, 40)]);
    }

    #[test]
    fn scores_below_one_lift_the_whole_position() {
        let entries = [entry(1, 1, 0, 0, Some(-30)), entry(2, 1, 0, 0, Some(20))];
        assert_eq!(values(Policy::Score, &entries), [(2, 51), (1, 1)]);
        let entries = [entry(1, 1, 0, 0, Some(0)), entry(2, 1, 0, 0, Some(20))];
        assert_eq!(values(Policy::Score, &entries), [(2, 21), (1, 1)]);
    }

    #[test]
    fn a_missing_score_is_an_error_and_not_another_policy() {
        let entries = [entry(1, 1, 0, 0, Some(5)), entry(2, 1, 0, 0, None)];
        assert!(matches!(choices(Policy::Score, &entries), Err(Error::NoScore { .. })));
        assert_eq!(values(Policy::Games, &entries).len(), 2);
    }

    #[test]
    fn policies_are_written_in_lower_case() {
        for policy in [Policy::Score, Policy::Games, Policy::Wins, Policy::Uniform] {
            assert_eq!(serde_json::to_value(policy).unwrap(), policy.to_string());
        }
    }

    fn valued(values: &[u64]) -> Vec<Choice> {
        let choice = |&value| Choice { mv: PackedMove(1), value, tally: Tally::default() };
        values.iter().map(choice).collect()
    }

    #[test]
    fn weights_are_scaled_and_never_wrapped() {
        assert_eq!(polyglot_weights(&valued(&[70_000, 35_000, 1])), [65_535, 32_768, 1]);
        assert_eq!(polyglot_weights(&valued(&[65_535, 3, 0])), [65_535, 3, 0]);
        assert_eq!(polyglot_weights(&valued(&[u64::MAX, u64::MAX / 2])), [65_535, 32_767]);
    }

    #[test]
    fn ranks_spread_over_the_distinct_values() {
        assert_eq!(sob_ranks(&valued(&[9])), [15]);
        assert_eq!(sob_ranks(&valued(&[9, 9])), [15, 15]);
        assert_eq!(sob_ranks(&valued(&[9, 1])), [15, 1]);
        assert_eq!(sob_ranks(&valued(&[9, 5, 5, 1, 0])), [15, 8, 8, 1, 0]);
    }

    proptest! {
        #[test]
        fn order_and_range_stay(values in prop::collection::vec(1..=u64::MAX, 1..40)) {
            let choices = valued(&values);
            let (weights, ranks) = (polyglot_weights(&choices), sob_ranks(&choices));
            for i in 0..values.len() {
                prop_assert!(weights[i] >= 1 && (1..=15).contains(&ranks[i]));
                for j in 0..values.len() {
                    if values[i] <= values[j] {
                        prop_assert!(weights[i] <= weights[j] && ranks[i] <= ranks[j]);
                    }
                }
            }
        }
    }
}
