//! A move and its rank in two bytes, as `moves.sob` stores them.

use std::fmt;

use shakmaty::{Chess, Color, File, Move, Position, Rank, Role, Square};
use tabiya_model::PackedMove;

/// `from | to << 6 | rank << 12`, squares a8 = 0 to h1 = 63, castling as the king's two-square
/// step.
///
/// A pawn that reaches the last row becomes a queen. Other pieces are said by the row of `to`,
/// which the pawn's side implies: 2 knight, 3 bishop, 4 rook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(pub u16);

const UNDERPROMOTIONS: [(Role, u16); 3] = [(Role::Knight, 2), (Role::Bishop, 3), (Role::Rook, 4)];

impl Word {
    /// Packs a move with its rank, 0 to 15. `None` if no piece moves like that: a promotion that
    /// is not from the seventh row to the eighth, or a move that stays.
    pub(crate) fn new(mv: PackedMove, rank: u8) -> Option<Word> {
        let (from, to) = (mv.from(), destination(mv));
        if from == to || mv.polyglot() >> 12 > 4 || rank > 15 {
            return None;
        }
        let mut row = row(to);
        if let Some(role) = mv.promotion() {
            let last = matches!(
                (from.rank(), to.rank()),
                (Rank::Seventh, Rank::Eighth) | (Rank::Second, Rank::First)
            );
            if !last {
                return None;
            }
            row = UNDERPROMOTIONS
                .iter()
                .find(|&&(known, _)| known == role)
                .map_or(row, |&(_, code)| code);
        }
        let to = u16::from(to.file()) | row << 3;
        let from = u16::from(from.flip_vertical());
        Some(Word(from | to << 6 | u16::from(rank) << 12))
    }

    /// How good the move is: 15 best, 1 worst, 0 known but never to be played.
    pub fn rank(self) -> u8 {
        (self.0 >> 12) as u8
    }

    /// From and to without the rank.
    pub(crate) fn squares(self) -> u16 {
        self.0 & 0xfff
    }

    /// Where the piece starts.
    pub fn from(self) -> Square {
        square(self.0)
    }

    /// Where the piece lands, unless the word is an underpromotion.
    pub fn to(self) -> Square {
        square(self.0 >> 6)
    }

    /// The legal move this stands for in `position`, if there is one. Underpromotions are read
    /// only if the book's header announces them.
    pub(crate) fn to_move(self, position: &Chess, underpromotions: bool) -> Option<Move> {
        let (seventh, eighth) = match position.turn() {
            Color::White => (Rank::Seventh, Rank::Eighth),
            Color::Black => (Rank::Second, Rank::First),
        };
        let from = self.from();
        let pawn = position.board().role_at(from) == Some(Role::Pawn);
        let (to, promotion) = if pawn && from.rank() == seventh {
            let row = self.0 >> 9 & 7;
            let role = match UNDERPROMOTIONS.iter().find(|&&(_, code)| code == row) {
                Some(&(role, _)) if underpromotions => role,
                None if self.to().rank() == eighth => Role::Queen,
                _ => return None,
            };
            (Square::from_coords(self.to().file(), eighth), Some(role))
        } else {
            (self.to(), None)
        };
        PackedMove::from_parts(from, to, promotion).to_move(position)
    }
}

/// For castling the king's square in standard chess, which is what the format stores.
fn destination(mv: PackedMove) -> Square {
    if !mv.is_castling() {
        return mv.to();
    }
    let file = if mv.to().file() > mv.from().file() { File::G } else { File::C };
    Square::from_coords(file, mv.from().rank())
}

fn row(square: Square) -> u16 {
    u16::from(square.flip_vertical()) >> 3
}

fn square(low_bits: u16) -> Square {
    let (file, row) = (u32::from(low_bits & 7), u32::from(low_bits >> 3 & 7));
    Square::from_coords(File::new(file), Rank::new(7 - row))
}

/// The squares as the word has them.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
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
    fn words_are_the_old_ones() {
        let e4 = PackedMove::from_parts(Square::E2, Square::E4, None);
        let e5 = PackedMove::from_parts(Square::E7, Square::E5, None);
        assert_eq!(Word::new(e4, 15), Some(Word(0xf934)));
        assert_eq!(Word::new(e5, 0), Some(Word(0x070c)));
        assert_eq!(Word(0xf934).to_string(), "e2e4");
        let castling = PackedMove::new(Move::Castle { king: Square::E1, rook: Square::H1 });
        assert_eq!(Word::new(castling, 3).unwrap().to_string(), "e1g1");
    }

    #[test]
    fn every_promotion_comes_back() {
        for fen in ["1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/7p/4K1N1 b - - 0 1"] {
            let position = position(fen);
            let promotions = position.legal_moves().into_iter().filter(|m| m.is_promotion());
            let mut words = Vec::new();
            for m in promotions {
                let word = Word::new(PackedMove::new(m), 7).unwrap();
                assert_eq!(word.to_move(&position, true), Some(m));
                let queen = m.promotion() == Some(Role::Queen);
                assert_eq!(word.to_move(&position, false), queen.then_some(m));
                words.push(word);
            }
            words.dedup();
            assert_eq!(words.len(), 8);
        }
    }

    #[test]
    fn what_no_piece_does_has_no_word() {
        assert_eq!(Word::new(PackedMove(0), 1), None);
        assert_eq!(Word::new(PackedMove(0x731c), 1), None);
        assert_eq!(Word::new(PackedMove(0x131c), 1), None);
    }

    proptest! {
        #[test]
        fn legal_moves_survive(choices in prop::collection::vec(any::<u16>(), 0..200)) {
            let mut position = Chess::default();
            for choice in choices {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                for &m in &moves {
                    let word = Word::new(PackedMove::new(m), 9).unwrap();
                    prop_assert_eq!(word.to_move(&position, true), Some(m));
                }
                position.play_unchecked(moves[usize::from(choice) % moves.len()]);
            }
        }

        #[test]
        fn any_word_is_legal_or_nothing(word: u16) {
            let start = Chess::default();
            if let Some(m) = Word(word).to_move(&start, true) {
                prop_assert!(start.is_legal(m));
            }
        }
    }
}
