//! What makes a move heavy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the moves of a position are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// By mean score.
    Score,
    /// By games.
    Games,
    /// By 2·wins + draws.
    Wins,
    /// All alike.
    Uniform,
}
