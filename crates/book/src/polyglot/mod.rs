//! PolyGlot's `.bin`: entries of 16 bytes, sorted by key, without mark, header or checksum.
//!
//! An entry is, big-endian, the key (8 bytes), the move (2), the weight (2) and a learn field (4)
//! that builders leave 0. Entries with key 0 in front of all others carry text
//! (the `@PG@` extension), so a position whose key is 0 is never in a book.
//!
//! The writer sorts by key ascending, weight descending, move ascending: equal books are equal
//! files. The reader depends on the order of keys only.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Writer, restore};
pub(crate) use writer::{check_moves, check_order};

const ENTRY: usize = 16;

/// An entry as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    key: u64,
    word: u16,
    weight: u16,
    learn: u32,
}

impl Stored {
    fn to_bytes(self) -> [u8; ENTRY] {
        let mut number = u128::from(self.key) << 64;
        number |= u128::from(self.word) << 48 | u128::from(self.weight) << 32;
        (number | u128::from(self.learn)).to_be_bytes()
    }

    fn from_bytes(bytes: [u8; ENTRY]) -> Stored {
        let number = u128::from_be_bytes(bytes);
        Stored {
            key: (number >> 64) as u64,
            word: (number >> 48) as u16,
            weight: (number >> 32) as u16,
            learn: number as u32,
        }
    }

    /// The eight bytes that carry text if the key is 0.
    fn text(self) -> [u8; 8] {
        let [.., a, b, c, d, e, f, g, h] = self.to_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// Whether some piece might move like this. The null move counts: books end with it.
    fn is_plausible(self) -> bool {
        self.word == 0 || (self.word >> 12 <= 4 && self.word & 63 != self.word >> 6 & 63)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use proptest::prelude::*;
    use shakmaty::{CastlingMode, Chess, fen::Fen};
    use tabiya_model::{PackedMove, PositionKey, Tally, uci};

    use super::*;
    use crate::{Book, BookWriter, Choice, Error, Probe, RawEntry, Walk};

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    fn entry(key: PositionKey, word: u16, weight: u16, learn: u32) -> Stored {
        Stored { key: key.0, word, weight, learn }
    }

    /// A file of these entries, as they are, and a folder that keeps it alive.
    fn book(entries: &[Stored], tail: &[u8]) -> (tempfile::TempDir, Result<Reader, Error>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.bin");
        let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        bytes.extend_from_slice(tail);
        fs::write(&path, bytes).unwrap();
        let reader = Reader::open(&path);
        (folder, reader)
    }

    fn moves(reader: &Reader, position: &Chess) -> Vec<(String, u32)> {
        let moves = reader.moves(position).unwrap();
        moves.into_iter().map(|found| (uci(found.m), found.weight)).collect()
    }

    fn walk(reader: &Reader) -> Vec<RawEntry> {
        let mut entries = Vec::new();
        reader
            .walk(&mut |entry| {
                entries.push(entry);
                Ok(())
            })
            .unwrap();
        entries
    }

    const START: PositionKey = PositionKey(0x463b_9618_1691_fc9c);

    #[test]
    fn an_empty_file_is_an_empty_book() {
        let (_folder, reader) = book(&[], &[]);
        let reader = reader.unwrap();
        assert_eq!(reader.info().entries, 0);
        assert!(reader.moves(&Chess::default()).unwrap().is_empty());
        assert!(reader.verify().unwrap().is_sound());
    }

    #[test]
    fn bytes_after_the_last_entry_are_reported_and_never_an_entry() {
        let entries = [entry(START, 0x031c, 5, 0), entry(START, 0x02db, 3, 0)];
        let (_folder, reader) = book(&entries, &[0xff; 7]);
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, &Chess::default()), [("e2e4".into(), 5), ("d2d4".into(), 3)]);
        let info = reader.info();
        assert_eq!((info.entries, info.positions, info.bytes), (2, 1, 39));
        assert!(info.warnings[0].contains("whole entry: 7"), "{:?}", info.warnings);
        assert!(!reader.verify().unwrap().is_sound());
    }

    #[test]
    fn castling_is_read_in_both_forms_and_told_once() {
        let castling =
            position("r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 2 5");
        let key = PositionKey::of(&castling);
        let (_folder, reader) = book(&[entry(key, 0x0106, 5, 0), entry(key, 0x02d3, 3, 0)], &[]);
        let found = moves(&reader.unwrap(), &castling);
        assert_eq!(found, [("e1g1".into(), 5), ("d2d3".into(), 3)]);

        let both = [entry(key, 0x0106, 5, 1), entry(key, 0x0107, 7, 2)];
        let (_folder, reader) = book(&both, &[]);
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, &castling), [("e1g1".into(), 12)]);
        assert_eq!(reader.moves(&castling).unwrap()[0].learn, Some(1));
        assert_eq!(walk(&reader)[1].uci, "e1h1");
    }

    #[test]
    fn en_passant_is_found_under_polyglots_key() {
        let capture = position("rnbqkbnr/2pppppp/p7/1pP5/8/8/PP1PPPPP/RNBQKBNR w KQkq b6 0 3");
        let (_folder, reader) =
            book(&[entry(PositionKey(0xf563_13b7_d806_c51d), 0x08a9, 77, 0)], &[]);
        assert_eq!(moves(&reader.unwrap(), &capture), [("c5b6".into(), 77)]);
    }

    #[test]
    fn what_is_no_legal_move_is_left_out_and_counted() {
        let words = [0x031c, 0x831c, 0x131c, 0x031d, 0];
        let entries: Vec<Stored> = words.map(|word| entry(START, word, 1, 0)).into();
        // Among enough sound entries, or this would be taken for no book at all.
        let sound = (0..40).map(|key| entry(PositionKey(u64::MAX - 40 + key), 0x031c, 1, 0));
        let (_folder, reader) = book(&entries.into_iter().chain(sound).collect::<Vec<_>>(), &[]);
        let reader = reader.unwrap();
        assert_eq!(moves(&reader, &Chess::default()), [("e2e4".into(), 1)]);
        assert_eq!(reader.dropped(), 4);
        assert_eq!(reader.verify().unwrap().problems.len(), 1);
    }

    #[test]
    fn weight_zero_is_marked_as_never_to_be_played() {
        let (_folder, reader) =
            book(&[entry(START, 0x031c, 0, 0), entry(START, 0x02db, 1, 0)], &[]);
        let found = reader.unwrap().moves(&Chess::default()).unwrap();
        let playable: Vec<bool> = found.iter().map(|found| found.is_playable()).collect();
        assert_eq!(playable, [true, false]);
    }

    #[test]
    fn text_in_front_is_told_and_never_looked_up() {
        let mut entries: Vec<Stored> = "@PG@\n1.0\n1\n1\nnormal\nby hand"
            .as_bytes()
            .chunks(8)
            .map(|chunk| {
                let mut bytes = [0; ENTRY];
                bytes[8..8 + chunk.len()].copy_from_slice(chunk);
                Stored::from_bytes(bytes)
            })
            .collect();
        entries.push(entry(START, 0x031c, 9, 0));
        let (_folder, reader) = book(&entries, &[]);
        let reader = reader.unwrap();
        let info = reader.info();
        assert_eq!((info.entries, info.positions), (1, 1));
        assert_eq!(info.meta.unwrap()["header"], "@PG@\n1.0\n1\n1\nnormal\nby hand");
        assert!(reader.verify().unwrap().is_sound());
        assert_eq!(walk(&reader).len(), 1);
        assert_eq!(moves(&reader, &Chess::default()), [("e2e4".into(), 9)]);
    }

    #[test]
    fn an_unsorted_file_does_not_pass() {
        let mut entries: Vec<Stored> =
            (0..100).map(|key| entry(PositionKey(key * 1000 + 5), 0x031c, 1, 0)).collect();
        entries.swap(30, 60);
        let (_folder, reader) = book(&entries, &[]);
        let verified = reader.unwrap().verify().unwrap();
        assert!(verified.problems[0].contains("not in order"), "{:?}", verified.problems);
    }

    #[test]
    fn other_bytes_are_refused() {
        let noise: Vec<u8> =
            (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for (tail, part) in [
            (noise.as_slice(), "16 bytes"),
            (&[0; 4096], "16 bytes"),
            (&[1; 15], "shorter"),
            (b"[Event \"?\"]\n\n1. e4 *\n", "PGN"),
            (b"\x03ABK2\0\0\0\0\0\0\0\0\0\0\0", "Arena"),
        ] {
            let (_folder, reader) = book(&[], tail);
            let error = reader.unwrap_err();
            assert!(matches!(error, Error::NotABook { .. }), "{error}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn the_writer_sorts_and_scales() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/book.bin");
        let mut writer = Box::new(Writer::create(&path).unwrap());
        let choice = |word, value| Choice { mv: PackedMove(word), value, tally: Tally::default() };
        // Readers would take it for a header.
        writer.position(PositionKey(0), &[choice(0x031c, 1)]).unwrap();
        writer
            .position(START, &[choice(0x02db, 35_000), choice(0x0153, 7), choice(0x031c, 70_000)])
            .unwrap();
        writer.position(PositionKey(u64::MAX), &[choice(0x8107, 3)]).unwrap();
        let written = writer.finish().unwrap();
        assert_eq!(written.files, [(path.clone(), 64)]);
        assert_eq!((written.entries, written.positions), (4, 2));
        let hex: String =
            fs::read(&path).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = "463b96181691fc9c031cffff00000000463b96181691fc9c02db800000000000\
                        463b96181691fc9c0153000700000000ffffffffffffffff0107000300000000";
        assert_eq!(hex, expected);
    }

    #[test]
    fn the_writer_refuses_what_it_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.bin");
        let mut writer = Writer::create(&path).unwrap();
        writer.weighted(START, &[(PackedMove(0x031c), 1, 0)]).unwrap();
        let again = writer.weighted(START, &[(PackedMove(0x02db), 1, 0)]);
        assert!(matches!(again, Err(Error::OutOfOrder { previous: START, got: START })));
        let last = PositionKey(u64::MAX);
        let twice = [(PackedMove(0x0107), 1, 0), (PackedMove(0x8107), 2, 0)];
        assert!(matches!(writer.weighted(last, &twice), Err(Error::DuplicateMove { .. })));
        let none = [(PackedMove(0x5107), 1, 0)];
        assert!(matches!(writer.weighted(last, &none), Err(Error::NotAMove { .. })));
        // What failed would be missing.
        assert!(Box::new(writer).finish().is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn an_unfinished_book_leaves_nothing_and_harms_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.bin");
        fs::write(&path, "old").unwrap();
        let mut writer = Writer::create(&path).unwrap();
        writer.weighted(START, &[(PackedMove(0x031c), 1, 0)]).unwrap();
        drop(writer);
        drop(Writer::create(folder.path().join("a/b/book.bin")).unwrap());
        let names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["book.bin"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn drafts_of_killed_writers_are_cleared_and_living_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.bin");
        fs::write(folder.path().join(".book.bin.x1.tmp"), "left").unwrap();
        let first = Box::new(Writer::create(&path).unwrap());
        let second = Box::new(Writer::create(&path).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        first.finish().unwrap();
        second.finish().unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    type Truth = BTreeMap<u64, BTreeMap<u16, (u16, u32)>>;

    fn truths() -> impl Strategy<Value = Truth> {
        let word = (0..4096u16).prop_filter("moves", |word| word & 63 != word >> 6);
        let moves = prop::collection::btree_map(word, any::<(u16, u32)>(), 1..6);
        prop::collection::btree_map(1..=u64::MAX, moves, 0..60)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(truth in truths()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("book.bin");
            let mut writer = Box::new(Writer::create(&path).unwrap());
            for (&key, moves) in &truth {
                let moves: Vec<_> = moves
                    .iter()
                    .map(|(&word, &(weight, learn))| (PackedMove(word), weight, learn))
                    .collect();
                writer.weighted(PositionKey(key), &moves).unwrap();
            }
            writer.finish().unwrap();
            let reader = Reader::open(&path).unwrap();
            let mut read = Truth::new();
            for entry in walk(&reader) {
                let value = (entry.weight as u16, entry.learn.unwrap());
                read.entry(entry.key.0).or_default().insert(entry.word, value);
            }
            prop_assert_eq!(&read, &truth);
            prop_assert!(reader.verify().unwrap().is_sound());
            for (&key, moves) in &truth {
                prop_assert_eq!(reader.stored(PositionKey(key)).unwrap().len(), moves.len());
                let absent = PositionKey(key.wrapping_add(1));
                let expected = truth.get(&absent.0).map_or(0, BTreeMap::len);
                prop_assert_eq!(reader.stored(absent).unwrap().len(), expected);
            }
        }
    }

    #[test]
    fn no_damage_gives_an_illegal_move_or_touches_other_positions() {
        let start = Chess::default();
        let entries: Vec<Stored> = (1..=20)
            .map(|i| entry(PositionKey(i << 58), 0x031c, 1, 0))
            .chain([entry(START, 0x031c, 5, 0), entry(START, 0x02db, 3, 0)])
            .collect();
        let mut entries = entries;
        entries.sort_by_key(|entry| entry.key);
        let first = entries.iter().position(|entry| entry.key == START.0).unwrap() * ENTRY;
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.bin");
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                fs::write(&path, &damaged).unwrap();
                let Ok(reader) = Reader::open(&path) else { continue };
                let found = moves(&reader, &start);
                let own = (first..first + 2 * ENTRY).contains(&at);
                let key_hit = at % ENTRY < 8;
                if !own && !key_hit {
                    assert_eq!(found, [("e2e4".into(), 5), ("d2d4".into(), 3)]);
                }
                let _ = (reader.info(), reader.verify().unwrap(), walk(&reader));
            }
        }
        for len in 0..bytes.len() {
            fs::write(&path, &bytes[..len]).unwrap();
            let Ok(reader) = Reader::open(&path) else { continue };
            assert_eq!(reader.verify().unwrap().is_sound(), len % ENTRY == 0);
            let whole = len / ENTRY * ENTRY;
            let kept = whole.saturating_sub(first).min(2 * ENTRY) / ENTRY;
            assert_eq!(moves(&reader, &start).len(), kept);
        }
    }
}
