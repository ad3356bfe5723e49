//! The FEN that is sent.
//!
//! One position, one FEN, one score: the en passant square stands only where the capture is
//! legal, and the clocks always say `0 1`. The halfmove clock alone changes nearly half of an
//! engine's scores.

use std::num::NonZeroU32;

use shakmaty::{
    Chess, EnPassantMode, Position,
    fen::{Fen, LossyFenError},
};

/// The FEN by which engines get to know the position.
pub(crate) fn fen(position: &Chess) -> String {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.halfmoves = 0;
    setup.fullmoves = NonZeroU32::MIN;
    // A legal position of ordinary chess loses nothing.
    Fen::try_from_setup(setup).unwrap_or_else(LossyFenError::ignore).to_string()
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn clocks_are_reset_and_en_passant_is_legal() {
        let table = [
            // Nobody can capture.
            (
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
            ),
            // White captures on f6.
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 1",
            ),
            // The capture would open the rank to the queen.
            ("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1"),
            ("8/8/8/8/k2Pp3/8/7Q/3K4 w - - 37 90", "8/8/8/8/k2Pp3/8/7Q/3K4 w - - 0 1"),
        ];
        for (given, sent) in table {
            let position: Chess =
                given.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
            assert_eq!(fen(&position), sent);
        }
    }
}
