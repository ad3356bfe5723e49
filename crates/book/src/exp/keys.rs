//! The keys that Stockfish gives positions.

use std::sync::LazyLock;

use shakmaty::{CastlingSide, Chess, Color, EnPassantMode, Position};

/// Stockfish's random numbers, in the order in which it draws them.
struct Numbers {
    /// By piece, White's first, pawn to king, then by square.
    pieces: [[u64; 64]; 12],
    en_passant: [u64; 8],
    /// By the set of rights: White's short 1 and long 2, Black's short 4 and long 8.
    castling: [u64; 16],
    black: u64,
}

static NUMBERS: LazyLock<Numbers> = LazyLock::new(|| {
    let mut state = 1_070_372_u64;
    // xorshift64*.
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(2_685_821_657_736_338_717)
    };
    let mut numbers =
        Numbers { pieces: [[0; 64]; 12], en_passant: [0; 8], castling: [0; 16], black: 0 };
    numbers.pieces.as_flattened_mut().fill_with(&mut next);
    numbers.en_passant.fill_with(&mut next);
    numbers.castling.fill_with(&mut next);
    numbers.black = next();
    numbers
});

/// The key of a position.
pub(super) fn of(position: &Chess) -> u64 {
    let numbers = &*NUMBERS;
    let at = |list: &[u64], index: usize| list.get(index).copied().unwrap_or_default();
    let pieces = numbers.pieces.as_flattened();
    let mut key = 0;
    for (square, piece) in position.board() {
        let kind = piece.role as usize - 1 + if piece.color.is_white() { 0 } else { 6 };
        key ^= at(pieces, 64 * kind + usize::from(square));
    }
    if let Some(square) = position.ep_square(EnPassantMode::PseudoLegal) {
        key ^= at(&numbers.en_passant, usize::from(square.file()));
    }
    let rights = [
        (Color::White, CastlingSide::KingSide, 1),
        (Color::White, CastlingSide::QueenSide, 2),
        (Color::Black, CastlingSide::KingSide, 4),
        (Color::Black, CastlingSide::QueenSide, 8),
    ];
    let set: usize = rights
        .into_iter()
        .filter(|&(color, side, _)| position.castles().has(color, side))
        .map(|(_, _, bit)| bit)
        .sum();
    key ^= at(&numbers.castling, set);
    if position.turn().is_black() {
        key ^= numbers.black;
    }
    key
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    /// What Stockfish says to `d`.
    #[test]
    fn keys_are_stockfishs() {
        for (fen, key) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0x8f8f_01d4_562f_59fb),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1", 0x1964_ba51_4e14_80cc),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                0xade7_fe48_1dd0_d8fa,
            ),
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", 0xb460_2246_9e3d_d31b),
        ] {
            let fen: Fen = fen.parse().unwrap();
            let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
            assert_eq!(of(&position), key);
        }
    }
}
