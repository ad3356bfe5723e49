//! The 781 random numbers behind a position's key.

use std::fmt;

use sha2::{Digest, Sha256};
use shakmaty::{
    CastlingSide, Chess, Color, EnPassantMode, File, Piece, Position, Role, Square,
    zobrist::{Zobrist64, ZobristValue},
};
use tabiya_model::PositionKey;

/// Numbers in PolyGlot's order: pieces, castling rights, en passant files, White's turn.
#[derive(Clone, PartialEq, Eq)]
pub struct Zobrist(Vec<u64>);

/// When the file of a pawn that just advanced two squares enters the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpRule {
    /// When an enemy pawn stands beside it: PolyGlot's rule.
    Neighbour,
    /// Always.
    Always,
    /// When it can legally be captured.
    Legal,
}

const KINDS: [Role; 6] =
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King];
const CASTLING: usize = 64 * 12;
const EN_PASSANT: usize = CASTLING + 4;
const TURN: usize = EN_PASSANT + 8;

impl Zobrist {
    /// How many numbers there are.
    pub const NUMBERS: usize = TURN + 1;

    /// PolyGlot's own numbers.
    pub fn polyglot() -> Zobrist {
        let mut numbers = Vec::with_capacity(Zobrist::NUMBERS);
        for role in KINDS {
            for color in [Color::Black, Color::White] {
                let number = |square| Zobrist64::zobrist_for_piece(square, Piece { color, role }).0;
                numbers.extend(Square::ALL.map(number));
            }
        }
        for color in [Color::White, Color::Black] {
            for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
                numbers.push(Zobrist64::zobrist_for_castling_right(color, side).0);
            }
        }
        numbers.extend(File::ALL.map(|file| Zobrist64::zobrist_for_en_passant_file(file).0));
        numbers.push(Zobrist64::zobrist_for_white_turn().0);
        Zobrist(numbers)
    }

    /// Takes numbers in PolyGlot's order; `None` unless there are [`Zobrist::NUMBERS`].
    pub fn from_numbers(numbers: Vec<u64>) -> Option<Zobrist> {
        (numbers.len() == Zobrist::NUMBERS).then_some(Zobrist(numbers))
    }

    /// The numbers in PolyGlot's order.
    pub fn numbers(&self) -> &[u64] {
        &self.0
    }

    /// SHA-256 of the numbers as big-endian 64-bit words.
    pub fn sha256(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        for number in &self.0 {
            hasher.update(number.to_be_bytes());
        }
        hasher.finalize().into()
    }

    /// The key of a position under these numbers.
    pub fn key(&self, position: &Chess, rule: EpRule) -> PositionKey {
        let number = |index: usize| self.0.get(index).copied().unwrap_or_default();
        let mut key = 0;
        for (square, piece) in position.board() {
            let kind = 2 * (piece.role as usize - 1) + usize::from(piece.color.is_white());
            key ^= number(64 * kind + usize::from(square));
        }
        for (index, (color, side)) in [
            (Color::White, CastlingSide::KingSide),
            (Color::White, CastlingSide::QueenSide),
            (Color::Black, CastlingSide::KingSide),
            (Color::Black, CastlingSide::QueenSide),
        ]
        .into_iter()
        .enumerate()
        {
            if position.castles().has(color, side) {
                key ^= number(CASTLING + index);
            }
        }
        if let Some(square) = position.ep_square(rule.mode()) {
            key ^= number(EN_PASSANT + usize::from(square.file()));
        }
        if position.turn().is_white() {
            key ^= number(TURN);
        }
        PositionKey(key)
    }
}

/// Nobody wants to read 781 numbers.
impl fmt::Debug for Zobrist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zobrist").finish_non_exhaustive()
    }
}

impl EpRule {
    fn mode(self) -> EnPassantMode {
        match self {
            EpRule::Neighbour => EnPassantMode::PseudoLegal,
            EpRule::Always => EnPassantMode::Always,
            EpRule::Legal => EnPassantMode::Legal,
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    #[test]
    fn the_numbers_are_polyglots() {
        let hex: String =
            Zobrist::polyglot().sha256().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "9aee840377ba74c9a7fe8e254958ad312aa15766257d18823f866b070cbcc9e8");
    }

    #[test]
    fn keys_from_the_numbers_are_polyglots() {
        let zobrist = Zobrist::polyglot();
        for (fen, legal) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", None),
            ("r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1", None),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", None),
            ("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", Some(0xf023_eeef_eaa8_28b6)),
        ] {
            let position: Chess =
                fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
            let key = zobrist.key(&position, EpRule::Neighbour);
            assert_eq!(key, PositionKey::of(&position), "{fen}");
            let legal = legal.map_or(key, PositionKey);
            assert_eq!(zobrist.key(&position, EpRule::Legal), legal, "{fen}");
        }
        let mut position = Chess::default();
        let e4 = "e2e4".parse::<shakmaty::uci::UciMove>().unwrap().to_move(&position).unwrap();
        position.play_unchecked(e4);
        let always = zobrist.key(&position, EpRule::Always);
        assert_eq!(always, PositionKey(0x4d0d_de8e_f7cc_031f));
    }
}
