//! Arena's `.abk`: a tree of moves from the start of the game, in records of 28 bytes.
//!
//! All numbers are little-endian. The first 900 records are the header: the mark `03 "ABK"` or
//! `03 "AB2"`, where the records begin and how long they are (both 0 in some books), a comment, an
//! author, and settings. Each record after it is a move with its results, the index of the first
//! reply and the index of the next alternative, counted in records from the start of the file.
//!
//! A tree knows no positions: lines that transpose stand in it twice. The reader plays all lines
//! and adds up what they say about one move of one position; the writer lays a book out as lines.
//! Links are never trusted: every record is visited once, whatever they say.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Laid, write};

/// Bytes of a record.
const RECORD: usize = 28;

/// Index of the first move; all before it is the header.
const FIRST: u32 = 900;

/// Where the first move is.
const START: u64 = FIRST as u64 * RECORD as u64;

/// Neither more moves in a position nor longer lines are believed.
const MAX_SIBLINGS: usize = 218;
const MAX_DEPTH: u32 = 1000;

/// Where the texts of the header are, and how long they can be.
const COMMENT: (usize, usize) = (12, 120);
const AUTHOR: (usize, usize) = (133, 80);

/// Half-moves of the longest line, and moves that are not switched off.
const DEPTH: usize = 214;
const ACTIVE: usize = 218;

/// The settings of the header are numbers up to here; what follows is filler.
const HEADER: usize = 254;

const OFF: u32 = 1;
const OFF_HIGH: u32 = 1 << 24;

/// A record as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    from: u8,
    to: u8,
    /// 0 none, 1 rook, 2 knight, 3 bishop, 4 queen. Some writers negate it for White.
    promotion: i8,
    /// 1 to 9, 9 best; 0 never to be played.
    priority: u8,
    games: u32,
    /// Games that White won, whoever plays the move; and that White lost.
    won: u32,
    lost: u32,
    /// See [`Record::is_off`].
    flags: u32,
    child: i32,
    sibling: i32,
}

impl Record {
    fn from_bytes(bytes: &[u8; RECORD]) -> Record {
        let [from, to, promotion, priority, rest @ ..] = *bytes;
        let mut words = rest.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        let mut word = || words.next().unwrap_or_default();
        Record {
            from,
            to,
            promotion: promotion.cast_signed(),
            priority,
            games: word(),
            won: word(),
            lost: word(),
            flags: word(),
            child: word().cast_signed(),
            sibling: word().cast_signed(),
        }
    }

    /// Whether Arena has the move switched off. Books marked `ABK` say so by 1, books marked `AB2`
    /// by the highest byte and use the lowest for marks of moves; the counts in their headers
    /// agree with that.
    fn is_off(&self) -> bool {
        self.flags == OFF || self.flags & OFF_HIGH != 0
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![self.from, self.to, self.promotion.cast_unsigned(), self.priority];
        for word in [self.games, self.won, self.lost, self.flags] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&self.child.to_le_bytes());
        bytes.extend_from_slice(&self.sibling.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::PathBuf};

    use proptest::prelude::*;
    use shakmaty::{Chess, Position, uci::UciMove};
    use tabiya_model::{PackedMove, PositionKey, uci};

    use super::*;
    use crate::{Book, Entries, Error, Games, Item, Probe};

    fn play(moves: &str) -> Chess {
        let mut position = Chess::default();
        for m in moves.split_whitespace() {
            let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
        }
        position
    }

    fn record(m: &str, links: [i32; 2]) -> Record {
        let UciMove::Normal { from, to, .. } = m.parse().unwrap() else { panic!("{m}") };
        Record {
            from: from.into(),
            to: to.into(),
            promotion: 0,
            priority: 5,
            games: 10,
            won: 6,
            lost: 3,
            flags: 0,
            child: links[0],
            sibling: links[1],
        }
    }

    fn file(records: &[Record]) -> Vec<u8> {
        let mut bytes = b"\x03AB2".to_vec();
        bytes.resize(START as usize, 0);
        records.iter().for_each(|record| bytes.extend(record.to_bytes()));
        bytes
    }

    fn open(bytes: &[u8]) -> (tempfile::TempDir, Result<Reader, Error>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.abk");
        fs::write(&path, bytes).unwrap();
        let reader = Reader::open(&path);
        (folder, reader)
    }

    fn moves(reader: &Reader, line: &str) -> Vec<(String, u32)> {
        let moves = reader.moves(&play(line)).unwrap();
        moves.into_iter().map(|found| (uci(found.m), found.weight)).collect()
    }

    #[test]
    fn lines_that_transpose_are_added_up_from_the_movers_view() {
        let records = [
            record("d2d4", [901, 903]),
            record("d7d5", [902, -1]),
            record("c2c4", [906, -1]),
            record("c2c4", [904, -1]),
            Record { flags: 0x0100_00fa, ..record("d7d5", [905, -1]) },
            record("d2d4", [907, -1]),
            Record { flags: 0xfa, ..record("e7e6", [-1, -1]) },
            Record { games: 1, won: 1, lost: 0, ..record("e7e6", [-1, 908]) },
            Record { games: 0, won: 0, lost: 0, ..record("c7c6", [-1, -1]) },
        ];
        let (_folder, reader) = open(&file(&records));
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, ""), [("c2c4".into(), 13), ("d2d4".into(), 13)]);
        // White won 7 of 11, Black 3.
        let expected = [("e7e6".into(), 7), ("c7c6".into(), 5)];
        assert_eq!(moves(&reader, "d2d4 d7d5 c2c4"), expected);
        // Switched off.
        assert_eq!(moves(&reader, "c2c4"), [("d7d5".into(), 0)]);
        let games = reader.moves(&play("d2d4 d7d5 c2c4")).unwrap()[0].games;
        assert_eq!(games, Some(Games { wins: 3, draws: 1, losses: 7 }));
        let info = reader.info();
        assert_eq!((info.entries, info.positions), (8, 6));
        assert_eq!(info.meta.unwrap()["longest_line"], 4);
        assert!(reader.verify().unwrap().is_sound());
    }

    #[test]
    fn links_in_a_circle_and_out_of_the_book_are_reported_and_not_followed() {
        let circle =
            [record("e2e4", [902, 901]), record("d2d4", [-1, 900]), record("e7e5", [900, -1])];
        let (_folder, reader) = open(&file(&circle));
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, "").len(), 2);
        assert_eq!(moves(&reader, "e2e4").len(), 1);
        assert!(reader.damage()[0].starts_with("2 links lead to a record that is in a line"));
        let outside = [record("e2e4", [1 << 30, 901]), record("d2d4", [-7, 899])];
        let (_folder, reader) = open(&file(&outside));
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, "").len(), 2);
        assert!(reader.damage()[0].starts_with("3 links lead out"), "{:?}", reader.damage());
    }

    #[test]
    fn what_is_no_legal_move_is_left_out_with_what_follows_it() {
        let records = [
            Record { from: 200, ..record("e2e4", [-1, 901]) },
            Record { promotion: 9, ..record("e2e4", [-1, 902]) },
            record("e2e5", [904, 903]),
            record("d2d4", [-1, -1]),
            record("e7e5", [-1, -1]),
        ];
        let (_folder, reader) = open(&file(&records));
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, ""), [("d2d4".into(), 13)]);
        let damage = reader.damage().join("\n");
        assert!(damage.contains("2 records name no squares"), "{damage}");
        assert!(damage.contains("1 moves are illegal"), "{damage}");
        assert!(reader.info().warnings.iter().any(|text| text.contains("in no line")));
    }

    #[test]
    fn promotions_are_read_with_either_sign() {
        let line = "h2h4 g7g5 h4g5 h7h6 g5h6 f8g7 h6g7 a7a6";
        for (code, expected) in [(4, "g7h8q"), (-4, "g7h8q"), (2, "g7h8n"), (-1, "g7h8r")] {
            let mut records: Vec<Record> =
                line.split(' ').zip(901..).map(|(m, next)| record(m, [next, -1])).collect();
            records.push(Record { promotion: code, ..record("g7h8", [-1, -1]) });
            let (_folder, reader) = open(&file(&records));
            assert_eq!(moves(&reader.unwrap(), line)[0].0, expected);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let refuse = |bytes: &[u8]| open(bytes).1.unwrap_err();
        assert!(matches!(refuse(b"\x03ABX"), Error::NotABook { .. }));
        assert!(matches!(refuse(b"\x03ABK"), Error::Truncated { stated: START, .. }));
        let mut other = file(&[]);
        other[8] = 32;
        assert!(matches!(refuse(&other), Error::Corrupt { .. }));
        let (_folder, empty) = open(&file(&[]));
        assert_eq!(empty.unwrap().info().entries, 0);
    }

    #[test]
    fn no_damage_gives_a_panic_or_an_illegal_move() {
        let records =
            [record("e2e4", [901, 902]), record("e7e5", [-1, -1]), record("d2d4", [-1, -1])];
        let sound = file(&records);
        for at in (0..HEADER).chain(START as usize..sound.len()) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = sound.clone();
                bytes[at] ^= flip;
                let (_folder, Ok(reader)) = open(&bytes) else { continue };
                let _ = (reader.info(), reader.verify().unwrap(), moves(&reader, ""));
            }
        }
        for len in START as usize..sound.len() {
            let (_folder, reader) = open(&sound[..len]);
            assert_eq!(reader.unwrap().damage().is_empty(), len % RECORD == 0 && len == 25200);
        }
    }

    fn item(line: &str, m: &str, weight: u32) -> Item {
        let position = play(line);
        let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        Item::new(PositionKey::of(&position), PackedMove::new(m), weight)
    }

    fn written(book: &Entries) -> (tempfile::TempDir, PathBuf, Laid) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/book.abk");
        let laid = write(&path, book, "a comment").unwrap();
        (folder, path, laid)
    }

    #[test]
    fn a_book_comes_back_with_its_weights() {
        let items = vec![
            item("", "d2d4", 7),
            item("", "c2c4", 0),
            item("d2d4", "d7d5", 65535),
            item("c2c4", "d7d5", 1),
            item("d2d4 d7d5", "c2c4", 1),
            item("c2c4 d7d5", "d2d4", 1),
            item("d2d4 d7d5 c2c4", "e7e6", 3),
            item("d2d4 d7d5 c2c4", "c7c6", 2),
            // No moves of the book lead there.
            item("a2a3 a7a6", "b2b3", 9),
        ];
        let book = Entries::new(items);
        let (_folder, path, laid) = written(&book);
        assert_eq!((laid.unreached, laid.illegal, laid.cut), (1, 0, 0));
        // The replies to the Queen's Gambit stand in both lines to it.
        assert_eq!((laid.written.entries, laid.records), (8, 10));
        let reader = Reader::open(&path).unwrap();
        assert!(reader.verify().unwrap().is_sound(), "{:?}", reader.verify());
        let of = |list: &[Item]| -> BTreeSet<_> {
            list.iter().map(|item| (item.key, item.mv.0, item.weight)).collect()
        };
        assert_eq!(of(reader.entries().items()), {
            let mut all = of(book.items());
            all.retain(|&(key, ..)| key != PositionKey::of(&play("a2a3 a7a6")));
            all
        });
        assert_eq!(reader.info().meta.unwrap()["comment"], "a comment");
    }

    #[test]
    fn moves_to_and_fro_end() {
        let fro = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let items = (0..4).map(|at| item(&fro[..at].join(" "), fro[at], 1)).collect();
        let (_folder, path, laid) = written(&Entries::new(items));
        assert_eq!((laid.records, laid.cut), (4, 1));
        assert!(Reader::open(&path).unwrap().verify().unwrap().is_sound());
    }

    proptest! {
        #[test]
        fn every_reachable_move_survives(choices in prop::collection::vec(any::<u8>(), 0..120)) {
            let mut items = std::collections::BTreeMap::new();
            let mut position = Chess::default();
            for choice in choices {
                let moves = position.legal_moves();
                if choice < 20 || moves.is_empty() {
                    position = Chess::default();
                    continue;
                }
                // Few different moves, so that lines meet.
                let m = moves[usize::from(choice) % moves.len().min(3)];
                let (key, mv) = (PositionKey::of(&position), PackedMove::new(m));
                let weight = u32::from(choice) % 5;
                let item = Item::new(key, mv, weight);
                items.entry((key, mv)).or_insert(item);
                position.play_unchecked(m);
            }
            let book = Entries::new(items.into_values().collect());
            let (_folder, path, laid) = written(&book);
            prop_assert_eq!((laid.unreached, laid.illegal), (0, 0));
            let reader = Reader::open(&path).unwrap();
            prop_assert!(reader.verify().unwrap().is_sound());
            let of = |list: &[Item]| -> Vec<_> {
                list.iter().map(|item| (item.key, item.mv, item.weight)).collect()
            };
            prop_assert_eq!(of(reader.entries().items()), of(book.items()));
        }
    }
}
