//! `[threshold]`: what is good enough.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[threshold]`, asked only when there is an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Threshold {
    /// A won line is kept if its score, seen by the winner, is above this many centipawns.
    #[schemars(range(min = -100_000, max = 100_000))]
    pub win_min_cp: i32,
    /// And not above this many, for a band. With it, mate scores are outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -100_000, max = 100_000))]
    pub win_max_cp: Option<i32>,
    /// In place of centipawns: a won line is kept if the winner's expected score (chances of a win
    /// and half of those of a draw, per mille) is above this. Needs an engine that says chances
    /// (UCI_ShowWDL); a mate counts 1000 for who mates and 0 for who is mated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub win_min_wdl: Option<u16>,
    /// And not above this, for a band.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub win_max_wdl: Option<u16>,
    /// Drawn lines, when `filter.outcomes` has "draw": "better-side" credits the side that
    /// stands better, "balanced" keeps the lines where neither does.
    pub draws: Draws,
    /// For "better-side": how much better, in centipawns.
    #[schemars(range(min = 0, max = 100_000))]
    pub draw_min_cp: i32,
    /// For "balanced": how far from even at the most, in centipawns.
    #[schemars(range(min = 0, max = 100_000))]
    pub draw_max_cp: i32,
}

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold {
            win_min_cp: 100,
            win_max_cp: None,
            win_min_wdl: None,
            win_max_wdl: None,
            draws: Draws::BetterSide,
            draw_min_cp: 100,
            draw_max_cp: 50,
        }
    }
}

impl Threshold {
    /// Whether won lines are judged by their chances, which each score then needs.
    pub fn needs_chances(&self) -> bool {
        self.win_min_wdl.is_some()
    }

    /// The rule for won lines as one says it: `> +100 cp`, `-50 to +50 cp`, `> 600 ‰`.
    pub fn rule(&self) -> String {
        match (self.win_min_wdl, self.win_max_wdl) {
            (Some(min), None) => format!("> {min} ‰"),
            (Some(min), Some(max)) => format!("{min} to {max} ‰"),
            (None, _) => match self.win_max_cp {
                None => format!("> {:+} cp", self.win_min_cp),
                Some(max) => format!("{:+} to {max:+} cp", self.win_min_cp),
            },
        }
    }
}

/// What becomes of drawn lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Draws {
    /// Credited to the side that stands better.
    BetterSide,
    /// Kept for both sides if the line ends even.
    Balanced,
}
