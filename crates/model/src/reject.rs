//! Why a game is not in the book.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The one reason a game was left out. The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// The result is not among the wanted outcomes, or there is none.
    NotDecisive,
    /// The game ends before the line does.
    TooShort,
    /// A record without a single move.
    NoMoves,
    /// A move that cannot be played where it stands.
    IllegalMove,
    /// Text that is no move, no comment and no result.
    Syntax,
    /// The game starts from a set-up position.
    SetupPosition,
    /// The game is not ordinary chess.
    Variant,
    /// Result tag and final marker disagree.
    ResultConflict,
    /// The same game was counted before.
    Duplicate,
    /// Ratings outside the wanted range, or absent.
    Elo,
    /// Date outside the wanted range, or absent.
    Date,
    /// Another class of time control than the wanted ones.
    TimeControl,
    /// A condition of `filter.where` does not hold.
    Where,
}

/// Whether a game was left out by wish or for its faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By a rule the user chose.
    Filtered,
    /// For bad data.
    Rejected,
}

impl Reason {
    /// Whether the game was unwanted or faulty.
    pub fn kind(self) -> Kind {
        match self {
            Reason::NoMoves | Reason::IllegalMove | Reason::Syntax | Reason::ResultConflict => {
                Kind::Rejected
            }
            _ => Kind::Filtered,
        }
    }

    /// The name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NotDecisive => "NOT_DECISIVE",
            Reason::TooShort => "TOO_SHORT",
            Reason::NoMoves => "NO_MOVES",
            Reason::IllegalMove => "ILLEGAL_MOVE",
            Reason::Syntax => "SYNTAX",
            Reason::SetupPosition => "SETUP_POSITION",
            Reason::Variant => "VARIANT",
            Reason::ResultConflict => "RESULT_CONFLICT",
            Reason::Duplicate => "DUPLICATE",
            Reason::Elo => "ELO",
            Reason::Date => "DATE",
            Reason::TimeControl => "TIME_CONTROL",
            Reason::Where => "WHERE",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A game with bad data, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The input as it was named.
    pub source: String,
    /// Where the game begins, in bytes of the decompressed text.
    pub offset: u64,
    /// Number of the game in its source, from 1.
    pub game: u64,
    /// What is wrong.
    pub reason: Reason,
    /// What exactly, with ply and token where there is one.
    pub detail: String,
    /// The first 2 KiB of the game.
    pub raw: String,
}
