//! A move in two bytes.

use std::fmt;

use shakmaty::{Chess, File, Move, Position, Rank, Role, Square, uci::UciMove};

/// A move in PolyGlot's encoding: `to | from << 6 | promotion << 12`, squares a1 = 0, promotion
/// 1 knight to 4 queen, castling as the king taking its own rook; and bit 15, which PolyGlot
/// leaves clear, marks castling, so that formats that write it as `e1g1` need no board.
///
/// Any 16 bits can stand in a file; only [`PackedMove::to_move`] says whether they are a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedMove(pub u16);

const CASTLING: u16 = 1 << 15;

const PROMOTIONS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

impl PackedMove {
    /// Packs a move. Drops (`Put`) do not occur in chess and give the null move.
    pub fn new(m: Move) -> PackedMove {
        match m {
            Move::Normal { from, to, promotion, .. } => PackedMove::from_parts(from, to, promotion),
            Move::EnPassant { from, to } => PackedMove::from_parts(from, to, None),
            Move::Castle { king, rook } => {
                PackedMove(PackedMove::from_parts(king, rook, None).0 | CASTLING)
            }
            Move::Put { .. } => PackedMove(0),
        }
    }

    /// Packs squares and a promotion as they stand.
    pub fn from_parts(from: Square, to: Square, promotion: Option<Role>) -> PackedMove {
        let code = promotion
            .and_then(|role| PROMOTIONS.iter().position(|&known| known == role))
            .map_or(0, |index| index as u16 + 1);
        PackedMove(u16::from(to) | u16::from(from) << 6 | code << 12)
    }

    /// The word as PolyGlot stores it.
    pub fn polyglot(self) -> u16 {
        self.0 & !CASTLING
    }

    /// Whether this was packed from a castling move. Words read from a file do not say.
    pub fn is_castling(self) -> bool {
        self.0 & CASTLING != 0
    }

    /// Where the piece starts.
    pub fn from(self) -> Square {
        square(self.0 >> 6)
    }

    /// Where the piece lands; for castling the rook's square.
    pub fn to(self) -> Square {
        square(self.0)
    }

    /// The piece a pawn becomes. Codes that PolyGlot does not define give `None`.
    pub fn promotion(self) -> Option<Role> {
        PROMOTIONS.get(usize::from(self.polyglot() >> 12).checked_sub(1)?).copied()
    }

    /// The legal move this stands for in `position`, if there is one.
    ///
    /// Accepts castling written as the king's two-square step too, since old books have it.
    pub fn to_move(self, position: &Chess) -> Option<Move> {
        if self.polyglot() >> 12 > 4 {
            return None;
        }
        let uci = UciMove::Normal { from: self.from(), to: self.to(), promotion: self.promotion() };
        let m = uci.to_move(position).ok()?;
        (!self.is_castling() || m.is_castle()).then_some(m)
    }

    /// The move this stands for in `position`, taken on trust: it was legal when it was packed.
    ///
    /// Checks only that a piece stands on the origin, and is some ten times faster for it.
    pub(crate) fn to_trusted_move(self, position: &Chess) -> Option<Move> {
        let (from, to) = (self.from(), self.to());
        let board = position.board();
        let role = board.role_at(from)?;
        if role == Role::King && position.us().contains(to) {
            return Some(Move::Castle { king: from, rook: to });
        }
        let capture = board.role_at(to);
        if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
            return Some(Move::EnPassant { from, to });
        }
        Some(Move::Normal { role, from, capture, to, promotion: self.promotion() })
    }
}

fn square(low_bits: u16) -> Square {
    Square::from_coords(File::new(u32::from(low_bits & 7)), Rank::new(u32::from(low_bits >> 3 & 7)))
}

/// The squares as UCI writes them, castling as stored (`e1h1`): a book has no board at hand.
impl fmt::Display for PackedMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())?;
        match self.promotion() {
            Some(role) => write!(f, "{}", role.char()),
            None => Ok(()),
        }
    }
}

/// The move as UCI writes it in standard chess: castling is `e1g1`.
pub fn uci(m: Move) -> String {
    UciMove::from_standard(m).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    #[test]
    fn codes_are_polyglots() {
        assert_eq!(PackedMove::from_parts(Square::E2, Square::E4, None).0, 0x031c);
        assert_eq!(PackedMove::from_parts(Square::E7, Square::E5, None).0, 0x0d24);
        assert_eq!(PackedMove::from_parts(Square::E1, Square::H1, None).0, 0x0107);
        assert_eq!(PackedMove::from_parts(Square::A7, Square::A8, Some(Role::Queen)).0 >> 12, 4);
    }

    #[test]
    fn castling_is_king_takes_rook_and_the_old_form_is_understood() {
        let castling = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        let short = Move::Castle { king: Square::E1, rook: Square::H1 };
        assert_eq!(PackedMove::new(short).polyglot(), 0x0107);
        assert!(PackedMove::new(short).is_castling());
        assert_eq!(PackedMove::new(short).to_move(&castling), Some(short));
        assert_eq!(PackedMove(0x0107).to_move(&castling), Some(short));
        assert_eq!(PackedMove(0x0106).to_move(&castling), Some(short));
        assert_eq!(uci(short), "e1g1");

        let rook_on_e1 = position("1k6/8/8/8/8/8/8/K3R3 w - - 0 1");
        assert_eq!(PackedMove(0x0107).to_move(&rook_on_e1).unwrap().role(), Role::Rook);
    }

    #[test]
    fn only_moves_are_moves() {
        let start = Chess::default();
        for word in [0, 0x031d, 0x131c, 0x831c, 0xffff] {
            assert_eq!(PackedMove(word).to_move(&start), None, "{word:04x}");
        }
    }

    proptest! {
        #[test]
        fn legal_moves_survive_packing(choices in prop::collection::vec(any::<u16>(), 0..200)) {
            let mut position = Chess::default();
            for choice in choices {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                for &m in &moves {
                    let packed = PackedMove::new(m);
                    prop_assert_eq!(packed.to_move(&position), Some(m));
                    prop_assert_eq!(packed.to_trusted_move(&position), Some(m));
                }
                position.play_unchecked(moves[usize::from(choice) % moves.len()]);
            }
        }

        #[test]
        fn any_word_decodes_without_panic(word: u16) {
            let packed = PackedMove(word);
            let _ = (packed.to_string(), packed.to_move(&Chess::default()));
        }
    }
}
