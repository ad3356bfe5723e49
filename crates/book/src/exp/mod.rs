//! BrainLearn's experience (`.exp`), read only: what the engine remembers of its own searches.
//!
//! A file is records of 24 bytes without mark or order, little-endian: Stockfish's key of the
//! position (8), the depth of the search (4), its value for the side to move, in the engine's own
//! units (4), Stockfish's move word (4), and the engine's percentage for the outcome (4). Nobody
//! specifies it; this is what the engine's published source writes. A key cannot be turned into
//! another book's without its position, so conversions keep what play from the start leads to.

mod keys;
mod reader;

pub use reader::Reader;

use shakmaty::{Role, Square};
use tabiya_model::PackedMove;

const RECORD: usize = 24;

/// One result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    key: u64,
    depth: u8,
    value: i16,
    word: u16,
}

/// A mate on the board.
const MAX_VALUE: i32 = 32_001;

const PROMOTION: u16 = 1;
const CASTLING: u16 = 3;

impl Record {
    /// `None` if the engine cannot have written this.
    fn from_bytes(bytes: &[u8; RECORD]) -> Option<Record> {
        let (key, rest) = bytes.split_first_chunk::<8>()?;
        let [depth, value, word, percent] = [0, 4, 8, 12].map(|at| {
            let field = rest.get(at..).and_then(|rest| rest.first_chunk());
            u32::from_le_bytes(field.copied().unwrap_or_default())
        });
        let value = value as i32;
        let record = Record {
            key: u64::from_le_bytes(*key),
            depth: u8::try_from(depth).ok()?,
            value: i16::try_from(value).ok()?,
            word: u16::try_from(word).ok()?,
        };
        let sound = value.abs() <= MAX_VALUE && percent <= 100 && record.packed().is_some();
        sound.then_some(record)
    }

    /// The move in PolyGlot's word; `None` if it is none.
    fn packed(self) -> Option<PackedMove> {
        let square = |number: u16| Square::try_from(number as u8 & 63).ok();
        let (to, from) = (square(self.word)?, square(self.word >> 6)?);
        let piece = (self.word >> 12 & 3) as usize;
        let promotion = match self.word >> 14 {
            PROMOTION => [Role::Knight, Role::Bishop, Role::Rook, Role::Queen].get(piece).copied(),
            // Squares of king and rook, as in PolyGlot's word.
            0..=CASTLING if piece == 0 => None,
            _ => return None,
        };
        (from != to).then(|| PackedMove::from_parts(from, to, promotion))
    }

    /// What the side to move may hope for, 1 to 999: 500 at even, three quarters at two pawns of
    /// the engine's. Another curve would give the same order.
    fn weight(self) -> u32 {
        const TWO_PAWNS: i32 = 416;
        let value = i32::from(self.value);
        let hope = 500 + 500 * value / (value.abs() + TWO_PAWNS);
        hope.clamp(1, 999).unsigned_abs()
    }
}

/// Whether the beginning of a file is records: some of them, and all sound.
pub(crate) fn looks_like_records(head: &[u8]) -> bool {
    let (records, _) = head.as_chunks::<RECORD>();
    !records.is_empty() && records.iter().all(|record| Record::from_bytes(record).is_some())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use shakmaty::{Chess, Position, uci::UciMove};
    use tabiya_model::uci;

    use super::*;
    use crate::{Book, Error, Probe, convert};

    fn record(key: u64, depth: u32, value: i32, word: u32) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let fields = [depth, value as u32, word, 100].map(u32::to_le_bytes);
        bytes[..8].copy_from_slice(&key.to_le_bytes());
        bytes[8..].copy_from_slice(fields.as_flattened());
        bytes
    }

    fn word(from: Square, to: Square) -> u32 {
        u32::from(to) | u32::from(from) << 6
    }

    fn after(line: &str) -> Chess {
        let mut position = Chess::default();
        for m in line.split_whitespace() {
            let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
        }
        position
    }

    fn book(records: &[[u8; RECORD]], tail: &[u8]) -> (tempfile::TempDir, Result<Reader, Error>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("experience.exp");
        fs::write(&path, [records.as_flattened(), tail].concat()).unwrap();
        let reader = Reader::open(&path);
        (folder, reader)
    }

    fn sample() -> Vec<[u8; RECORD]> {
        let castle = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5";
        let before_castling = keys::of(&after(castle));
        let mut records = vec![
            record(keys::of(&after("")), 10, 20, word(Square::D2, Square::D4)),
            record(keys::of(&after("")), 12, 90, word(Square::E2, Square::E4)),
            // Searched again, deeper: this is what counts.
            record(keys::of(&after("")), 20, 40, word(Square::E2, Square::E4)),
            record(before_castling, 9, -5, word(Square::E1, Square::H1) | 3 << 14),
            record(0x1234, 9, 7, word(Square::A2, Square::A3)),
        ];
        let line: Vec<&str> = castle.split(' ').collect();
        for ply in 1..line.len() {
            let m: UciMove = line[ply].parse().unwrap();
            let UciMove::Normal { from, to, .. } = m else { panic!() };
            let key = keys::of(&after(&line[..ply].join(" ")));
            records.push(record(key, 8, 0, word(from, to)));
        }
        records
    }

    #[test]
    fn moves_come_best_first_and_castling_is_castling() {
        let (_folder, reader) = book(&sample(), &[]);
        let reader = reader.unwrap();
        let moves = reader.moves(&Chess::default()).unwrap();
        let moves: Vec<(String, u32)> =
            moves.iter().map(|found| (uci(found.m), found.weight)).collect();
        assert_eq!(moves, [("e2e4".to_owned(), 543), ("d2d4".to_owned(), 522)]);
        let castle = reader.moves(&after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5")).unwrap();
        assert_eq!(uci(castle[0].m), "e1g1");
        assert!(reader.moves(&after("a2a4")).unwrap().is_empty());
        let info = reader.info();
        assert_eq!((info.entries, info.positions), (9, 8));
        assert!(info.warnings[0].starts_with("1 positions are in no line"), "{:?}", info.warnings);
        assert!(reader.verify().unwrap().is_sound());
    }

    #[test]
    fn what_play_leads_to_gets_polyglots_keys() {
        let (folder, _) = book(&sample(), &[]);
        let loaded = convert::load(folder.path().join("experience.exp")).unwrap();
        assert_eq!(loaded.entries.items().len(), 8);
        let lost = "1 entries are in no line from the start: they cannot get new keys";
        assert!(loaded.losses.iter().any(|loss| loss == lost), "{:?}", loaded.losses);
        let (moves, start) = (&loaded.entries, tabiya_model::PositionKey::of(&Chess::default()));
        assert_eq!(moves.of(start).len(), 2);
    }

    #[test]
    fn damage_is_told_or_refused() {
        let (_folder, reader) = book(&sample(), b"tail");
        let problems = reader.unwrap().verify().unwrap().problems;
        assert_eq!(problems, ["bytes after the last whole record: 4"]);
        // Behind what is looked at first.
        let mut records = vec![record(1, 9, 0, word(Square::A2, Square::A3)); 30];
        records.push(record(5, 9000, 0, word(Square::A2, Square::A3)));
        let (_folder, reader) = book(&records, &[]);
        let problems = reader.unwrap().verify().unwrap().problems;
        assert_eq!(problems, ["1 records are none that the engine writes: left out"]);
        let (_folder, reader) = book(&[], &[]);
        assert!(matches!(reader, Err(Error::NotABook { .. })));
    }
}
