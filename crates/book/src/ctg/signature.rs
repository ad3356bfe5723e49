//! A position as bits, the same for both colours and both wings.
//!
//! The side to move is made White, and if nobody may castle its king is brought to the files e to
//! h. Then, most significant bit first: the squares from file a to h, in each from rank 1 to 8;
//! zeros up to the end of a byte less the flags, at least one if there are none; the file of a pawn
//! that can be taken en passant; and the rights to castle.

use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, File, Move, Piece,
    Position, Rank, Role, Setup, Square,
};
use tabiya_model::PackedMove;

use super::codes::{self, Code};

const EN_PASSANT: u8 = 0x20;
const CASTLING: u8 = 0x40;
const LENGTH: u8 = 0x1f;

/// Code and length of each piece; an empty square is one 0.
const PIECES: [(Role, u16, u32); 6] = [
    (Role::Pawn, 0b110, 3),
    (Role::Knight, 0b10010, 5),
    (Role::Bishop, 0b10100, 5),
    (Role::Rook, 0b10110, 5),
    (Role::Queen, 0b100010, 6),
    (Role::King, 0b100000, 6),
];

/// Rights in the order of the bits.
const RIGHTS: [(Color, CastlingSide); 4] = [
    (Color::Black, CastlingSide::KingSide),
    (Color::Black, CastlingSide::QueenSide),
    (Color::White, CastlingSide::KingSide),
    (Color::White, CastlingSide::QueenSide),
];

/// A position seen as the format sees it.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    board: Board,
    rights: [bool; 4],
    en_passant: Option<File>,
    /// Whether Black is to move, and so ranks and colours are swapped.
    black: bool,
    /// Whether the files are swapped.
    mirrored: bool,
}

impl Normal {
    pub(super) fn new(position: &Chess, mode: EnPassantMode) -> Normal {
        let black = position.turn().is_black();
        let own = |color: Color| if black { !color } else { color };
        let rights = RIGHTS.map(|(color, side)| position.castles().has(own(color), side));
        let king = position.board().king_of(position.turn());
        let west = king.is_some_and(|king| king.file() < File::E);
        let mirrored = west && rights == [false; 4];
        let mut normal =
            Normal { board: Board::empty(), rights, en_passant: None, black, mirrored };
        for (square, piece) in position.board() {
            let piece = Piece { color: own(piece.color), role: piece.role };
            normal.board.set_piece_at(normal.turned(square), piece);
        }
        normal.en_passant = position.ep_square(mode).map(|square| normal.turned(square).file());
        normal
    }

    /// There and back: turning twice is not turning.
    fn turned(&self, square: Square) -> Square {
        let square = if self.black { square.flip_vertical() } else { square };
        if self.mirrored { square.flip_horizontal() } else { square }
    }

    pub(super) fn signature(&self) -> Vec<u8> {
        let mut bits = Bits::default();
        for file in File::ALL {
            for rank in Rank::ALL {
                let piece = self.board.piece_at(Square::from_coords(file, rank));
                let (code, len) = piece.map_or((0, 1), piece_code);
                bits.push(code, len);
            }
        }
        let castling = self.rights.contains(&true);
        let flags = 3 * u32::from(self.en_passant.is_some()) + 4 * u32::from(castling);
        bits.pad(flags);
        if let Some(file) = self.en_passant {
            bits.push(file as u16, 3);
        }
        if castling {
            self.rights.iter().for_each(|&right| bits.push(right.into(), 1));
        }
        let mut first = (bits.bytes.len() + 1) as u8 & LENGTH;
        if self.en_passant.is_some() {
            first |= EN_PASSANT;
        }
        if castling {
            first |= CASTLING;
        }
        bits.bytes.insert(0, first);
        bits.bytes
    }

    /// The legal move that a code stands for in `position`, of which this was made.
    pub(super) fn to_move(&self, code: u8, position: &Chess) -> Option<Move> {
        let Code { role, nth, files, ranks } = codes::code(code)?;
        let from = File::ALL
            .into_iter()
            .flat_map(|file| Rank::ALL.map(|rank| Square::from_coords(file, rank)))
            .filter(|&square| self.board.piece_at(square) == Some(role.of(Color::White)))
            .nth(usize::from(nth).checked_sub(1)?)?;
        let around = |from: u32, steps: i8| (from as i32 + i32::from(steps)).rem_euclid(8) as u32;
        let file = File::new(around(from.file() as u32, files));
        let rank = Rank::new(around(from.rank() as u32, ranks));
        let promotion = (role == Role::Pawn && rank == Rank::Eighth).then_some(Role::Queen);
        let to = Square::from_coords(file, rank);
        PackedMove::from_parts(self.turned(from), self.turned(to), promotion).to_move(position)
    }
}

/// The position with White to move that has a signature; `None` if it is no legal one.
pub(super) fn decode(signature: &[u8]) -> Option<Chess> {
    let (&first, bytes) = signature.split_first()?;
    let mut bits = Taken { bytes, at: 0 };
    let mut setup = Setup::empty();
    for file in File::ALL {
        for rank in Rank::ALL {
            if let Some(piece) = bits.piece()? {
                setup.board.set_piece_at(Square::from_coords(file, rank), piece);
            }
        }
    }
    let castling = first & CASTLING != 0;
    let en_passant = first & EN_PASSANT != 0;
    bits.at =
        (bytes.len() * 8).checked_sub(4 * usize::from(castling) + 3 * usize::from(en_passant))?;
    if en_passant {
        let file = (0..3).try_fold(0, |file, _| Some(file << 1 | u32::from(bits.bit()?)))?;
        setup.ep_square = Some(Square::from_coords(File::new(file), Rank::Sixth));
    }
    if castling {
        for (color, side) in RIGHTS {
            if bits.bit()? {
                let rook = Square::from_coords(
                    if side.is_king_side() { File::H } else { File::A },
                    color.backrank(),
                );
                setup.castling_rights |= Bitboard::from_square(rook);
            }
        }
    }
    setup.position(CastlingMode::Standard).ok()
}

fn piece_code(piece: Piece) -> (u16, u32) {
    let known = PIECES.iter().find(|&&(role, ..)| role == piece.role);
    let &(_, code, len) = known.unwrap_or(&(Role::Pawn, 0, 1));
    (code | u16::from(piece.color.is_black()), len)
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Bits used of the last byte; 0 if it is full.
    used: u32,
}

impl Bits {
    fn push(&mut self, code: u16, len: u32) {
        for shift in (0..len).rev() {
            if self.used == 0 {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((code >> shift & 1) as u8) << (7 - self.used);
            }
            self.used = (self.used + 1) % 8;
        }
    }

    fn pad(&mut self, flags: u32) {
        let zeros = (16 - self.used - flags) % 8;
        self.push(0, if zeros == 0 && flags == 0 { 8 } else { zeros });
    }
}

struct Taken<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Taken<'_> {
    fn bit(&mut self) -> Option<bool> {
        let byte = self.bytes.get(self.at / 8)?;
        let bit = byte >> (7 - self.at % 8) & 1;
        self.at += 1;
        Some(bit == 1)
    }

    /// What stands on the next square; `None` for bits that are no piece.
    fn piece(&mut self) -> Option<Option<Piece>> {
        if !self.bit()? {
            return Some(None);
        }
        let mut code = 1;
        for len in 2..=6 {
            code = code << 1 | u16::from(self.bit()?);
            let known = PIECES.iter().find(|&&(_, known, bits)| bits == len && known == code & !1);
            if let Some(&(role, ..)) = known {
                return Some(Some(Piece { color: Color::from_white(code & 1 == 0), role }));
            }
        }
        None
    }
}
