//! The name of a position in a book.

use std::{fmt, str::FromStr};

use shakmaty::{Chess, EnPassantMode, Position, zobrist::Zobrist64};

/// The PolyGlot hash of a position: placement, castling rights, side to move, and the en passant
/// file if a pawn of the side to move stands beside the pawn that just advanced two squares.
///
/// Keys order as unsigned numbers, which is the order of entries in every book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PositionKey(pub u64);

/// PolyGlot ignores whether the en passant capture is legal, so `Legal` would be wrong here.
pub(crate) const EN_PASSANT: EnPassantMode = EnPassantMode::PseudoLegal;

impl PositionKey {
    /// Hashes a position from scratch.
    pub fn of(position: &Chess) -> PositionKey {
        PositionKey(position.zobrist_hash::<Zobrist64>(EN_PASSANT).0)
    }
}

/// Sixteen hex digits.
impl fmt::Display for PositionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text is not sixteen hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a position key is 16 hex digits, not {0:?}")]
pub struct ParseKeyError(String);

impl FromStr for PositionKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<PositionKey, ParseKeyError> {
        let hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u64::from_str_radix(text, 16) {
            Ok(key) if hex => Ok(PositionKey(key)),
            _ => Err(ParseKeyError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    /// The nine published vectors, and the one that tells pseudo-legal from legal en passant.
    const PUBLISHED: [(&str, &str); 10] = [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "463b96181691fc9c"),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "823c9b50fd114196"),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2", "0756b94461c50fb0"),
        ("rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2", "662fafb965db29d4"),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", "22a48b5a8e47ff78"),
        ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3", "652a607ca3f242c1"),
        ("rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4", "00fdd303c946bdd9"),
        ("rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3", "3c8123ea7b067637"),
        ("rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4", "5c3f9b829b279560"),
        ("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "ecba303cd610b817"),
    ];

    #[test]
    fn keys_are_the_published_ones() {
        for (fen, key) in PUBLISHED {
            let position: Chess =
                fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
            assert_eq!(PositionKey::of(&position).to_string(), key, "{fen}");
        }
    }

    #[test]
    fn text_round_trips_and_is_strict() {
        let key = PositionKey(0x00fd_d303_c946_bdd9);
        assert_eq!(key.to_string().parse(), Ok(key));
        for text in
            ["", "463b96181691fc9", "+63b96181691fc9c", "463b96181691fc9cc", "g63b96181691fc9c"]
        {
            assert!(text.parse::<PositionKey>().is_err(), "{text}");
        }
    }
}
