//! How a game ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

/// The result of a finished game. `*` is not one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// 1-0
    White,
    /// 0-1
    Black,
    /// 1/2-1/2
    Draw,
}

impl Outcome {
    /// The side that won, if any.
    pub fn winner(self) -> Option<Color> {
        match self {
            Outcome::White => Some(Color::White),
            Outcome::Black => Some(Color::Black),
            Outcome::Draw => None,
        }
    }
}
