//! Whole books: exact bytes, round trips, sizes, and damage of every kind.

use std::{collections::BTreeMap, fs, path::Path};

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use shakmaty::{Chess, Position, uci::UciMove};
use tabiya_model::{PackedMove, PositionKey, Tally, uci};

use super::*;
use crate::{Book, BookWriter, Choice, Error, Probe, Written, open};

const CODECS: [Codec; 5] =
    [Codec::Stored, Codec::Lzma, Codec::Zstd, Codec::ZstdPlanes, Codec::Compact];

/// Keys with moves and their ranks.
type Truth = BTreeMap<u64, Vec<(PackedMove, u8)>>;

fn write(folder: &Path, options: Options, truth: &Truth) -> Written {
    let mut writer = Box::new(Writer::create(folder, options).unwrap());
    for (&key, moves) in truth {
        writer.ranked(PositionKey(key), moves).unwrap();
    }
    writer.finish().unwrap()
}

fn mv(text: &str) -> PackedMove {
    let UciMove::Normal { from, to, promotion } = text.parse().unwrap() else { panic!("{text}") };
    PackedMove::from_parts(from, to, promotion)
}

fn after(moves: &str) -> Chess {
    let mut position = Chess::default();
    for text in moves.split_whitespace() {
        let m = text.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        position.play_unchecked(m);
    }
    position
}

fn golden() -> Truth {
    Truth::from([
        (PositionKey::of(&after("")).0, vec![(mv("d2d4"), 8), (mv("e2e4"), 15)]),
        (PositionKey::of(&after("e2e4")).0, vec![(mv("e7e5"), 15)]),
    ])
}

fn sha256(path: &Path) -> String {
    Sha256::digest(fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn walk(book: &dyn Book) -> Result<Vec<(u64, u16)>, Error> {
    let mut entries = Vec::new();
    book.walk(&mut |entry| {
        entries.push((entry.key.0, entry.word));
        Ok(())
    })?;
    Ok(entries)
}

fn words_of(truth: &Truth) -> Vec<(u64, u16)> {
    let mut entries = Vec::new();
    for (&key, moves) in truth {
        let mut words: Vec<Word> =
            moves.iter().map(|&(mv, rank)| Word::new(mv, rank).unwrap()).collect();
        words.sort_by_key(|word| (std::cmp::Reverse(word.rank()), word.squares()));
        entries.extend(words.iter().map(|word| (key, word.0)));
    }
    entries
}

#[test]
fn golden_books_are_byte_exact() {
    for (codec, hashes, moves, sizes) in [
        (
            Codec::Stored,
            "226597a39fa4e067247d8db5241e4e76569f76892c2ffe5e7f33be9cf1dce27e",
            "2a63a175c8383f79afd22690e065175e7b2f2a333d345c4a18508c1d4bb32e3e",
            [432, 352],
        ),
        (
            Codec::Compact,
            "c71be877eba829ddc5298911969cebe5abc8b465a8867ac6d64e6e4a8448a8a9",
            "14bf6a668f9eb2f058232c28dd62b170261eb83b76e8b3a465e7240c08039484",
            [432, 416],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let written = write(folder.path(), Options::new(codec), &golden());
        assert_eq!([written.files[0].1, written.files[1].1], sizes);
        assert_eq!(sha256(&written.files[0].0), hashes, "{codec}");
        assert_eq!(sha256(&written.files[1].0), moves, "{codec}");
        let info = Reader::open(folder.path()).unwrap().info();
        assert_eq!(info.id.as_deref(), Some("59301ef7b4f78486bfae2766ffffd571"));
    }
}

#[test]
fn opening_reads_no_block_and_a_look_up_one_of_each_file() {
    let many: Truth = (0..40_000).map(|key| (key << 40, vec![(mv("e2e4"), 9)])).collect();
    for codec in CODECS {
        let folder = tempfile::tempdir().unwrap();
        let meta = serde_json::json!({ "long": "x".repeat(50_000) });
        let written = write(folder.path(), Options { meta, ..Options::new(codec) }, &many);
        let files: u64 = written.files.iter().map(|(_, bytes)| bytes).sum();
        let book = Reader::open(folder.path()).unwrap();
        let (blocks, all) = book.bytes_read();
        assert_eq!(blocks, 0, "{codec}");
        // Two headers, 40 indexed blocks of 40 bytes, the table of codes.
        assert!(all < 2 * 256 + 41 * 40 + 100, "{codec}: {all} of {files}");
        assert!(book.words(PositionKey(5)).unwrap().is_empty());
        let keys = book.bytes_read().0;
        assert!(keys > 0 && keys <= 1024 * 8, "{codec}: {keys}");
        assert_eq!(book.words(PositionKey(7 << 40)).unwrap().len(), 1);
        let both = book.bytes_read().0;
        assert!(both > keys && both <= 1024 * 10, "{codec}: {both}");
        assert_eq!(book.words(PositionKey(9 << 40)).unwrap().len(), 1);
        assert_eq!(book.bytes_read().0, both, "{codec}");
    }
}

#[test]
fn every_codec_answers_alike() {
    for codec in CODECS {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Options::new(codec), &golden());
        for path in [folder.path().into(), folder.path().join(HASHES), folder.path().join(MOVES)] {
            let book = open(path).unwrap();
            let moves = book.moves(&after("")).unwrap();
            let moves: Vec<_> = moves.iter().map(|found| (uci(found.m), found.rank)).collect();
            assert_eq!(moves, [("e2e4".into(), Some(15)), ("d2d4".into(), Some(8))]);
            assert_eq!(book.moves(&after("e2e4")).unwrap().len(), 1);
            assert!(book.moves(&after("e2e4 e7e5")).unwrap().is_empty());
            assert!(book.verify().unwrap().is_sound());
            assert_eq!(book.info().codec, Some(codec));
        }
    }
}

#[test]
fn values_become_ranks_castling_and_promotions_survive() {
    let folder = tempfile::tempdir().unwrap();
    let castling = after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5");
    let lasker = after("d2d4 d7d5 c2c4 e7e5 d4e5 d5d4 e2e3 f8b4 c1d2 d4e3 d2b4 e3f2 e1e2");
    let play = |position: &Chess, text: &str| {
        PackedMove::new(text.parse::<UciMove>().unwrap().to_move(position).unwrap())
    };
    let choice = |mv, value| Choice { mv, value, tally: Tally::default() };
    let mut positions = [
        (PositionKey::of(&castling), vec![choice(play(&castling, "e1g1"), 9)]),
        (
            PositionKey::of(&lasker),
            vec![choice(play(&lasker, "f2g1q"), 0), choice(play(&lasker, "f2g1n"), 70_000)],
        ),
    ];
    positions.sort_by_key(|&(key, _)| key);
    let mut writer = Box::new(Writer::create(folder.path(), Options::new(Codec::Compact)).unwrap());
    positions.iter().for_each(|(key, choices)| writer.position(*key, choices).unwrap());
    writer.finish().unwrap();

    let reader = Reader::open(folder.path()).unwrap();
    let told = |position| {
        let moves = reader.moves(position).unwrap();
        moves.iter().map(|found| (uci(found.m), found.weight)).collect::<Vec<_>>()
    };
    assert_eq!(told(&castling), [("e1g1".into(), 15)]);
    assert_eq!(told(&lasker), [("f2g1n".into(), 15), ("f2g1q".into(), 0)]);
    assert_eq!(reader.dropped(), 0);
    let features = fs::read(folder.path().join(HASHES)).unwrap()[16];
    assert_eq!(features, 1);
}

#[test]
fn an_empty_book_is_a_book() {
    for codec in CODECS {
        let folder = tempfile::tempdir().unwrap();
        let written = write(&folder.path().join("a/b"), Options::new(codec), &Truth::new());
        assert_eq!((written.entries, written.positions), (0, 0));
        let reader = Reader::open(folder.path().join("a/b")).unwrap();
        assert!(reader.moves(&Chess::default()).unwrap().is_empty());
        assert!(reader.words(PositionKey(0)).unwrap().is_empty());
        assert!(reader.verify().unwrap().is_sound());
    }
}

#[test]
fn the_writer_refuses_what_it_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new(Codec::Stored);
    for wrong in [
        Options { target: 255, ..options.clone() },
        Options { target: 32_769, ..options.clone() },
        Options { meta: serde_json::Value::Null, ..options.clone() },
        Options { meta: serde_json::json!({ "a": "x".repeat(1 << 20) }), ..options.clone() },
    ] {
        assert!(matches!(Writer::create(folder.path(), wrong), Err(Error::Option(_))));
    }
    let mut writer = Writer::create(folder.path(), options).unwrap();
    let key = PositionKey(5);
    writer.ranked(key, &[(mv("e2e4"), 1)]).unwrap();
    let again = writer.ranked(key, &[(mv("e2e4"), 1)]);
    assert!(matches!(again, Err(Error::OutOfOrder { .. })));
    let twice = writer.ranked(PositionKey(6), &[(mv("e2e4"), 1), (mv("e2e4"), 2)]);
    assert!(matches!(twice, Err(Error::DuplicateMove { .. })));
    let wrong = writer.ranked(PositionKey(6), &[(mv("e2e4q"), 1)]);
    assert!(matches!(wrong, Err(Error::NotAMove { .. })));
    let words = (0..4096u16).filter(|word| word & 63 != word >> 6);
    let many: Vec<_> = words.take(257).map(|word| (PackedMove(word), 1)).collect();
    let many = writer.ranked(PositionKey(6), &many);
    assert!(matches!(many, Err(Error::TooManyMoves { moves: 257, .. })), "{many:?}");
    // What failed would be missing.
    assert!(Box::new(writer).finish().is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn an_unfinished_book_leaves_nothing_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), Options::new(Codec::Stored), &golden());
    let before = sha256(&folder.path().join(HASHES));
    let mut writer = Writer::create(folder.path(), Options::new(Codec::Lzma)).unwrap();
    writer.ranked(PositionKey(5), &[(mv("e2e4"), 1)]).unwrap();
    drop(writer);
    drop(Writer::create(folder.path().join("new/book"), Options::new(Codec::Lzma)).unwrap());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    assert_eq!(sha256(&folder.path().join(HASHES)), before);
    assert!(Reader::open(folder.path()).is_ok());
}

#[test]
fn halves_of_two_books_are_refused() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut other = golden();
    other.values_mut().next().unwrap()[0].1 = 7;
    write(folders[0].path(), Options::new(Codec::Compact), &golden());
    write(folders[1].path(), Options::new(Codec::Compact), &other);
    fs::copy(folders[1].path().join(MOVES), folders[0].path().join(MOVES)).unwrap();
    assert!(matches!(Reader::open(folders[0].path()), Err(Error::PairMismatch { .. })));
    fs::copy(folders[0].path().join(HASHES), folders[0].path().join(MOVES)).unwrap();
    assert!(matches!(Reader::open(folders[0].path()), Err(Error::PairMismatch { .. })));
    fs::remove_file(folders[0].path().join(MOVES)).unwrap();
    assert!(matches!(open(folders[0].path()), Err(Error::NotABook { .. })));
}

#[test]
fn other_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(HASHES);
    assert!(matches!(open(folder.path()), Err(Error::NotABook { .. })));
    let mut text_mode = vec![0; 300];
    text_mode[..7].copy_from_slice(b"SOBH\n\x1a\n");
    let mut archive = vec![0; 300];
    archive[..6].copy_from_slice(b"7z\xbc\xaf\x27\x1c");
    for (bytes, part) in [
        (vec![], "not even a header"),
        (vec![0; 255], "not even a header"),
        (archive, "7-Zip"),
        (vec![1; 300], "PolyGlot"),
        (text_mode, "binary mode"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = open(&path).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// Rewrites header fields and makes the checksum right again.
fn patch(path: &Path, at: usize, bytes: &[u8]) {
    let mut file = fs::read(path).unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let crc = crc32c::crc32c(&file[..252]);
    file[252..256].copy_from_slice(&crc.to_le_bytes());
    fs::write(path, file).unwrap();
}

#[test]
fn newer_books_are_refused_by_name() {
    for (at, bytes, part) in [
        (8, &[2][..], "version 2"),
        (16, &[2], "features 0x2"),
        (56, &[9], "codec 9"),
        (57, &[1], "codec 3.1"),
        (112, &[3], "numbers"),
        (113, &[3], "en passant"),
        (115, &[48], "48-bit"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Options::new(Codec::Compact), &golden());
        patch(&folder.path().join(HASHES), at, bytes);
        let error = Reader::open(folder.path()).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn hostile_headers_are_corrupt_and_cost_nothing() {
    let huge = u64::MAX.to_le_bytes();
    for (at, bytes) in [
        (12, &[1][..]),
        (32, &huge),
        (40, &huge),
        (48, &huge[..4]),
        (52, &huge[..4]),
        (120, &huge),
        (128, &huge),
        (144, &huge),
        (152, &[0; 8]),
        (160, &huge),
        (168, &[64; 8]),
        (176, &[1]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Options::new(Codec::Compact), &golden());
        patch(&folder.path().join(HASHES), at, bytes);
        let error = Reader::open(folder.path()).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "byte {at}: {error}");
    }
}

#[test]
fn own_numbers_are_asked_for_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), Options::new(Codec::Stored), &golden());
    let hashes = folder.path().join(HASHES);
    let zobrist = crate::Zobrist::polyglot();
    patch(&hashes, 112, &[2]);
    let reader = Reader::open(folder.path()).unwrap();
    assert!(matches!(reader.moves(&Chess::default()), Err(Error::NeedsTable { .. })));
    assert_eq!(reader.words(PositionKey::of(&Chess::default())).unwrap().len(), 2);
    let mut wrong = zobrist.numbers().to_vec();
    wrong[0] ^= 1;
    let wrong = crate::Zobrist::from_numbers(wrong).unwrap();
    assert!(matches!(reader.with_zobrist(wrong), Err(Error::WrongTable { .. })));
    let reader = Reader::open(folder.path()).unwrap().with_zobrist(zobrist).unwrap();
    assert_eq!(reader.moves(&Chess::default()).unwrap().len(), 2);
    // Announced as embedded, but not there.
    patch(&hashes, 112, &[1]);
    assert!(matches!(Reader::open(folder.path()), Err(Error::Corrupt { .. })));
}

#[test]
fn a_bad_block_spares_the_others() {
    let truth: Truth =
        (1..=1000).map(|key| (key << 40, vec![(mv("e2e4"), 9), (mv("d2d4"), 3)])).collect();
    for (name, codec) in CODECS.into_iter().flat_map(|codec| [(HASHES, codec), (MOVES, codec)]) {
        let folder = tempfile::tempdir().unwrap();
        let meta = serde_json::json!({ "by": "hand" });
        write(folder.path(), Options { target: 256, meta, ..Options::new(codec) }, &truth);
        let reader = Reader::open(folder.path()).unwrap();
        assert_eq!(reader.info().blocks, Some(8));
        assert_eq!(reader.info().meta.unwrap()["by"], "hand");

        let path = folder.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        let data = u64::from_le_bytes(bytes[152..160].try_into().unwrap()) as usize;
        bytes[data] ^= 1;
        fs::write(&path, bytes).unwrap();
        let reader = Reader::open(folder.path()).unwrap();
        let bad = reader.words(PositionKey(1 << 40)).unwrap_err();
        assert!(matches!(bad, Error::BadBlock { block: 0, .. }), "{bad}");
        assert_eq!(reader.words(PositionKey(1000 << 40)).unwrap().len(), 2);
        assert_eq!(reader.words(PositionKey(500 << 40)).unwrap().len(), 2);
        let verified = reader.verify().unwrap();
        assert_eq!((verified.entries, verified.problems.len()), (2000 - 256, 2));
    }
}

/// Whatever a damaged book answers is the truth or an error.
fn check_damaged(folder: &Path, truth: &Truth, expected: &[(u64, u16)], what: &str) {
    let Ok(reader) = Reader::open(folder) else { return };
    let verified = reader.verify().unwrap();
    assert!(!verified.is_sound(), "{what}: not noticed");
    for &key in truth.keys() {
        if let Ok(words) = reader.words(PositionKey(key)) {
            let stored = expected.iter().filter(|entry| entry.0 == key).map(|entry| Word(entry.1));
            assert!(words.into_iter().eq(stored), "{what}: other moves at {key:016x}");
        }
    }
    if let Ok(entries) = walk(&reader) {
        assert_eq!(entries, expected, "{what}");
    }
}

/// Two blocks of real moves.
fn small_book() -> Truth {
    let mut truth = Truth::new();
    let mut position = Chess::default();
    for round in 0..60 {
        let legal = position.legal_moves();
        if legal.is_empty() {
            position = Chess::default();
            continue;
        }
        let moves = legal.iter().take(6).zip(1..).map(|(&m, rank)| (PackedMove::new(m), rank));
        truth.insert(PositionKey::of(&position).0, moves.collect());
        position.play_unchecked(legal[(round * 7) % legal.len()]);
    }
    truth
}

#[test]
fn every_flipped_byte_is_noticed() {
    let truth = small_book();
    let expected = words_of(&truth);
    for codec in CODECS {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Options { target: 256, ..Options::new(codec) }, &truth);
        assert_eq!(Reader::open(folder.path()).unwrap().info().blocks, Some(2));
        for name in [HASHES, MOVES] {
            let path = folder.path().join(name);
            let sound = fs::read(&path).unwrap();
            for at in 0..sound.len() {
                let mut damaged = sound.clone();
                damaged[at] ^= 1 << (at % 8);
                fs::write(&path, &damaged).unwrap();
                check_damaged(folder.path(), &truth, &expected, &format!("{codec} {name} {at}"));
            }
            fs::write(&path, &sound).unwrap();
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    for codec in CODECS {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Options::new(codec), &golden());
        for name in [HASHES, MOVES] {
            let path = folder.path().join(name);
            let sound = fs::read(&path).unwrap();
            for len in 0..sound.len() {
                fs::write(&path, &sound[..len]).unwrap();
                assert!(Reader::open(folder.path()).is_err(), "{codec} {name} {len}");
                assert!(open(&path).is_err(), "{codec} {name} {len}");
            }
            fs::write(&path, [&sound[..], &[0]].concat()).unwrap();
            assert!(matches!(Reader::open(folder.path()), Err(Error::TrailingData { .. })));
            fs::write(&path, &sound).unwrap();
        }
    }
}

/// Damage that an attacker hides behind right checksums.
#[test]
fn decoders_stand_bytes_with_right_checksums() {
    let truth = small_book();
    for codec in CODECS {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Options { target: 256, ..Options::new(codec) }, &truth);
        for (name, record) in [(HASHES, 8), (MOVES, 0)] {
            let path = folder.path().join(name);
            let sound = fs::read(&path).unwrap();
            let field =
                |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap()) as usize;
            let (data, index, index_len) = (field(152), field(168), field(176));
            let record_len = if name == HASHES { 24 } else { 16 };
            let second = index + record_len + record;
            let len = field(second);
            for at in 0..len {
                let mut damaged = sound.clone();
                damaged[data + at] ^= 1 << (at % 8);
                let crc = crc32c::crc32c(&damaged[data..data + len]);
                damaged[index + record + 8..][..4].copy_from_slice(&crc.to_le_bytes());
                let crc = crc32c::crc32c(&damaged[index..index + index_len]);
                damaged[200..204].copy_from_slice(&crc.to_le_bytes());
                fs::write(&path, &damaged).unwrap();
                patch(&path, 0, &[]);
                let reader = Reader::open(folder.path()).unwrap();
                assert!(!reader.verify().unwrap().is_sound(), "{codec} {name} {at}");
                let _ = walk(&reader);
            }
            fs::write(&path, &sound).unwrap();
        }
    }
}

fn truths() -> impl Strategy<Value = Truth> {
    let word = (0..4096u16).prop_filter("moves", |word| word & 63 != word >> 6);
    let moves = prop::collection::btree_map(word, 0..16u8, 1..20)
        .prop_map(|moves| moves.into_iter().map(|(word, rank)| (PackedMove(word), rank)).collect());
    let keys = prop_oneof![0..2000u64, any::<u64>(), Just(0), Just(u64::MAX)];
    prop::collection::btree_map(keys, moves, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_read(truth in truths(), target in 256..600u32) {
        let expected = words_of(&truth);
        for codec in CODECS {
            let folder = tempfile::tempdir().unwrap();
            let options = Options { target, ..Options::new(codec) };
            let written = write(folder.path(), options, &truth);
            prop_assert_eq!(written.entries, expected.len() as u64);
            prop_assert_eq!(written.positions, truth.len() as u64);
            let reader = Reader::open(folder.path()).unwrap();
            prop_assert!(reader.verify().unwrap().is_sound());
            prop_assert_eq!(&walk(&reader).unwrap(), &expected);
            for &key in truth.keys() {
                for key in [key.wrapping_sub(1), key, key.wrapping_add(1)] {
                    let words = reader.words(PositionKey(key)).unwrap();
                    let stored = expected.iter().filter(|entry| entry.0 == key);
                    prop_assert!(words.into_iter().eq(stored.map(|entry| Word(entry.1))));
                }
            }
        }
    }
}

/// A book of the shape of real ones: random keys, 1.54 moves a key, few moves that are frequent.
fn realistic_book(entries: usize) -> Truth {
    let mut seed = 42u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed ^ seed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ seed >> 32
    };
    // Real moves by how often they come up in play at random, drawn from the front.
    let mut frequencies: BTreeMap<u16, u64> = BTreeMap::new();
    for _ in 0..300 {
        let mut position = Chess::default();
        for _ in 0..24 {
            let legal = position.legal_moves();
            if legal.is_empty() {
                break;
            }
            let m = legal[random() as usize % legal.len()];
            *frequencies.entry(PackedMove::new(m).polyglot()).or_default() += 1;
            position.play_unchecked(m);
        }
    }
    let mut moves: Vec<(u64, u16)> = frequencies.into_iter().map(|(m, n)| (n, m)).collect();
    moves.sort_unstable_by(|a, b| b.cmp(a));
    let mut truth = Truth::new();
    let mut written = 0;
    while written < entries {
        let count =
            if random() % 100 < 70 { 1 } else { 2 + random() % 2 + random() % 2 * (random() % 2) };
        let mut picked = BTreeMap::new();
        while (picked.len() as u64) < count {
            let uniform = (random() >> 11) as f64 / (1u64 << 53) as f64;
            let index = (moves.len().min(600) as f64).powf(uniform) as usize - 1;
            picked.insert(moves[index].1, 1 + random() % 500);
        }
        written += picked.len();
        let choice = |(m, value)| Choice { mv: PackedMove(m), value, tally: Tally::default() };
        let picked: Vec<Choice> = picked.into_iter().map(choice).collect();
        let ranks = crate::sob_ranks(&picked);
        truth.insert(random(), picked.iter().map(|choice| choice.mv).zip(ranks).collect());
    }
    truth
}

#[test]
fn a_large_book_is_as_small_as_promised() {
    let truth = realistic_book(300_000);
    let folder = tempfile::tempdir().unwrap();
    let written = write(folder.path(), Options::new(Codec::Compact), &truth);
    let per_key = written.entries as f64 / written.positions as f64;
    assert!((1.50..1.58).contains(&per_key), "{per_key}");
    let bytes: u64 = written.files.iter().map(|file| file.1).sum();
    let per_entry = bytes as f64 / written.entries as f64;
    assert!((per_entry / 5.13 - 1.0).abs() < 0.04, "{per_entry} bytes an entry");
    assert!(bytes * 10 <= written.entries * 16 * 4);
    assert!(Reader::open(folder.path()).unwrap().verify().unwrap().is_sound());
}

#[test]
fn own_numbers_in_the_book_are_used() {
    let numbers = crate::Zobrist::polyglot().numbers().iter().map(|n| n.rotate_left(7)).collect();
    let zobrist = crate::Zobrist::from_numbers(numbers).unwrap();
    let position = after("e2e4");
    let key = zobrist.key(&position, crate::EpRule::Always);
    let folder = tempfile::tempdir().unwrap();
    let truth = Truth::from([(key.0, vec![(mv("e7e5"), 15)])]);
    write(folder.path(), Options::new(Codec::Compact), &truth);

    // Sections may stand in any order, so the table can go behind everything else.
    let path = folder.path().join(HASHES);
    let mut file = fs::read(&path).unwrap();
    file.resize(file.len().next_multiple_of(64), 0);
    let offset = file.len() as u64;
    let table: Vec<u8> = zobrist.numbers().iter().flat_map(|n| n.to_be_bytes()).collect();
    file.extend_from_slice(&table);
    fs::write(&path, &file).unwrap();
    patch(&path, 136, &offset.to_le_bytes());
    patch(&path, 144, &(table.len() as u64).to_le_bytes());
    patch(&path, 184, &(file.len() as u64).to_le_bytes());
    patch(&path, 196, &crc32c::crc32c(&table).to_le_bytes());
    patch(&path, 80, &zobrist.sha256());
    patch(&path, 112, &[1, 1]);

    let reader = Reader::open(folder.path()).unwrap();
    assert_eq!(reader.moves(&position).unwrap().len(), 1);
    assert!(reader.moves(&Chess::default()).unwrap().is_empty());
    assert!(reader.verify().unwrap().is_sound());
    patch(&path, 80, &[0; 32]);
    assert!(matches!(Reader::open(folder.path()), Err(Error::Corrupt { .. })));
}
