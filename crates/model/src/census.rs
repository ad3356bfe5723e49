//! How many games went where.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Kind, Outcome, Reason};

/// Counts of games. Every game read is accepted, filtered or rejected, for exactly one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// All games.
    pub read: u64,
    /// Games whose line is used.
    pub accepted: u64,
    /// Of those, won by White.
    pub accepted_white: u64,
    /// Won by Black.
    pub accepted_black: u64,
    /// Drawn.
    pub accepted_draw: u64,
    /// Games that a chosen rule left out.
    pub filtered: BTreeMap<Reason, u64>,
    /// Games with bad data.
    pub rejected: BTreeMap<Reason, u64>,
}

impl Census {
    /// Counts one game that is used.
    pub fn accept(&mut self, outcome: Outcome) {
        self.read += 1;
        self.accepted += 1;
        match outcome {
            Outcome::White => self.accepted_white += 1,
            Outcome::Black => self.accepted_black += 1,
            Outcome::Draw => self.accepted_draw += 1,
        }
    }

    /// Counts one game that is left out.
    pub fn leave_out(&mut self, reason: Reason) {
        self.read += 1;
        let counts = match reason.kind() {
            Kind::Filtered => &mut self.filtered,
            Kind::Rejected => &mut self.rejected,
        };
        *counts.entry(reason).or_default() += 1;
    }

    /// Turns an accepted game into one that is left out after all.
    pub fn reconsider(&mut self, outcome: Outcome, reason: Reason) {
        self.read -= 1;
        self.accepted -= 1;
        match outcome {
            Outcome::White => self.accepted_white -= 1,
            Outcome::Black => self.accepted_black -= 1,
            Outcome::Draw => self.accepted_draw -= 1,
        }
        self.leave_out(reason);
    }

    /// Adds the games of `other`.
    pub fn add(&mut self, other: &Census) {
        self.read += other.read;
        self.accepted += other.accepted;
        self.accepted_white += other.accepted_white;
        self.accepted_black += other.accepted_black;
        self.accepted_draw += other.accepted_draw;
        for (mine, theirs) in
            [(&mut self.filtered, &other.filtered), (&mut self.rejected, &other.rejected)]
        {
            for (&reason, &games) in theirs {
                *mine.entry(reason).or_default() += games;
            }
        }
    }

    /// Games left out by wish.
    pub fn filtered_games(&self) -> u64 {
        self.filtered.values().sum()
    }

    /// Games with bad data.
    pub fn rejected_games(&self) -> u64 {
        self.rejected.values().sum()
    }

    /// Whether every game is accounted for.
    pub fn adds_up(&self) -> bool {
        let by_outcome = self.accepted_white + self.accepted_black + self.accepted_draw;
        by_outcome == self.accepted
            && self.accepted + self.filtered_games() + self.rejected_games() == self.read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_is_in_one_place() {
        let mut census = Census::default();
        census.accept(Outcome::White);
        census.accept(Outcome::Draw);
        census.leave_out(Reason::TooShort);
        census.leave_out(Reason::Syntax);
        census.reconsider(Outcome::Draw, Reason::Duplicate);
        assert!(census.adds_up());
        assert_eq!((census.read, census.accepted, census.accepted_draw), (4, 1, 0));
        assert_eq!((census.filtered_games(), census.rejected_games()), (2, 1));

        let mut twice = census.clone();
        twice.add(&census);
        assert!(twice.adds_up());
        assert_eq!(twice.read, 8);
    }
}
