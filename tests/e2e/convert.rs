//! `tabiya book convert|restore|merge|diff`: books made of books.

use std::fs;

use expect_test::expect;
use serde_json::Value;
use shakmaty::{Chess, Position, uci::UciMove};
use tabiya_book::{BookWriter, polyglot};
use tabiya_model::{PackedMove, PositionKey};

use crate::util::{Folder, root};

/// A PolyGlot book of lines, each with the weight of its last move.
fn book(folder: &Folder, name: &str, lines: &[(&str, u16)]) {
    let mut entries: Vec<(PositionKey, PackedMove, u16)> = lines
        .iter()
        .map(|&(line, weight)| {
            let mut position = Chess::default();
            let mut entry = None;
            for m in line.split(' ') {
                let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
                entry = Some((PositionKey::of(&position), PackedMove::new(m), weight));
                position.play_unchecked(m);
            }
            entry.unwrap()
        })
        .collect();
    entries.sort_by_key(|&(key, ..)| key);
    let mut writer = Box::new(polyglot::Writer::create(folder.path(name)).unwrap());
    for group in entries.chunk_by(|a, b| a.0 == b.0) {
        let moves: Vec<_> = group.iter().map(|&(_, mv, weight)| (mv, weight, 7)).collect();
        writer.weighted(group[0].0, &moves).unwrap();
    }
    writer.finish().unwrap();
}

/// Castling in it, and two ways to the same position.
const ITALIAN: [(&str, u16); 9] = [
    ("e2e4", 9),
    ("g1f3", 4),
    ("e2e4 e7e5", 3),
    ("g1f3 e7e5", 2),
    ("e2e4 e7e5 g1f3", 5),
    ("g1f3 e7e5 e2e4", 5),
    ("e2e4 e7e5 g1f3 b8c6", 1),
    ("e2e4 e7e5 g1f3 b8c6 f1c4", 1),
    ("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1", 1),
];

#[test]
fn a_polyglot_book_comes_back_from_json_lines_byte_for_byte() {
    let folder = Folder::new();
    book(&folder, "a.bin", &ITALIAN);
    let mut bytes = fs::read(folder.path("a.bin")).unwrap();
    // Equal keys in another order, a word that is no move, and text in front.
    let key = bytes.get(..8).unwrap().to_vec();
    bytes.splice(..0, [&key[..], b"\xf3\x1c\0\x02\0\0\0\x01"].concat());
    bytes.splice(..0, *b"\0\0\0\0\0\0\0\0@PG@\n1.0\0\0\0\0\0\0\0\0\n0\n0\0\0\0\0");
    fs::write(folder.path("odd.bin"), &bytes).unwrap();
    let rows = folder.run(["book", "dump", "--json", "odd.bin"]).ok();
    folder.write("odd.jsonl", rows);
    folder.run(["book", "restore", "odd.jsonl", "again.bin"]).ok();
    assert_eq!(fs::read(folder.path("again.bin")).unwrap(), bytes);
}

#[test]
fn conversions_keep_what_the_formats_hold_and_say_what_they_lose() {
    let folder = Folder::new();
    book(&folder, "a.bin", &ITALIAN);
    let done = folder.run(["book", "convert", "a.bin", "sob", "--codec", "compact"]);
    expect![[r#"
        note: 9 weights became ranks from 15 to 1: their order stays
        note: 9 learn fields have no place: left out
    "#]]
    .assert_eq(&done.failed(0));
    expect![[r#"
        note: 9 ranks became weights: 15 is 65,535, and so on down
    "#]]
    .assert_eq(&folder.run(["book", "convert", "sob", "b.bin"]).failed(0));
    let squares = |book: &str| -> Vec<String> {
        let text = folder.run(["book", "dump", book]).ok();
        text.lines().map(|line| line.get(..23).unwrap_or(line).to_owned()).collect()
    };
    assert_eq!(squares("a.bin"), squares("b.bin"));

    // One entry is beyond the lines of the book: the reply before it is missing.
    expect![[r#"
        note: 1 entries are of positions that no moves of the book lead to from the start: left out
        note: 9 weights became numbers of drawn games: Arena stores nothing else
        note: 9 learn fields have no place: left out
    "#]]
    .assert_eq(&folder.run(["book", "convert", "a.bin", "c.abk"]).failed(0));
    folder.run(["book", "verify", "c.abk"]).ok();
    folder.run(["book", "convert", "c.abk", "d", "--to", "polyglot"]).failed(0);
    let diff = folder.run(["book", "diff", "c.abk", "d"]);
    expect![[r#"
        0 gained, 0 lost, 0 changed, 8 the same, in 7 positions
    "#]]
    .assert_eq(&diff.stdout);
    folder.run(["book", "convert", "c.abk", "e.jsonl"]).ok();
    folder.run(["book", "convert", "e.jsonl", "f.abk"]).ok();
    assert_eq!(fs::read(folder.path("c.abk")).unwrap(), fs::read(folder.path("f.abk")).unwrap());

    let refused = folder.run(["book", "convert", "a.bin", "x.ctg"]).failed(1);
    assert!(refused.contains("--to"), "{refused}");
}

#[test]
fn books_are_merged_and_compared() {
    let folder = Folder::new();
    book(&folder, "a.bin", &[("e2e4", 65_535), ("d2d4", 3), ("e2e4 e7e5", 1)]);
    book(&folder, "b.bin", &[("e2e4", 65_535), ("c2c4", 5), ("e2e4 c7c5", 2)]);
    expect![[r#"
        - 1. d4  3
        + 1. c4  5
        - 1. e4 e5  1
        + 1. e4 c5  2
        2 gained, 2 lost, 0 changed, 1 the same, in 2 positions
    "#]]
    .assert_eq(&folder.run(["book", "diff", "a.bin", "b.bin"]).ok());
    let diff = folder.run(["book", "diff", "--json", "a.bin", "b.bin"]).ok();
    let diff: Value = serde_json::from_str(&diff).unwrap();
    assert_eq!((&diff["changes"][3]["line"][0], &diff["same"]), (&"e4".into(), &1.into()));

    // The sum is scaled to 16 bits, and nothing falls to 0.
    let add = ["book", "merge", "a.bin", "b.bin", "-o", "add.bin"];
    let said = folder.run(add).failed(0);
    assert!(said.contains("1 positions had weights above 65,535"), "{said}");
    expect![[r#"
        move  uci   weight   share
        e4    e2e4   65535  100.0%
        c4    c2c4       3    0.0%
        d4    d2d4       2    0.0%
    "#]]
    .assert_eq(&folder.run(["probe", "add.bin"]).ok());
    let first = ["book", "merge", "b.bin", "a.bin", "-o", "first.bin", "--policy", "first"];
    folder.run(first).ok();
    expect![[r#"
        0 gained, 0 lost, 0 changed, 3 the same, in 2 positions
    "#]]
    .assert_eq(&folder.run(["book", "diff", "b.bin", "first.bin"]).ok());
    let average =
        ["book", "merge", "a.bin", "b.bin", "-o", "c.abk", "--policy", "average", "--factors"];
    let refused = folder.run(average.into_iter().chain(["1,2,3"])).failed(1);
    assert!(refused.contains("3 numbers for 2 books"), "{refused}");
    folder.run(average.into_iter().chain(["3,1"])).failed(0);
}

#[test]
fn arena_books_with_wild_links_are_read_as_far_as_they_go() {
    let folder = Folder::new();
    let case = root().join("tests/cases/BK-03");
    let expected: Value =
        serde_json::from_slice(&fs::read(case.join("expected.json")).unwrap()).unwrap();
    for (name, said) in [("cycle", "in a line already"), ("range", "name no squares")] {
        let path = case.join(name).with_extension("abk");
        let path = path.to_str().unwrap();
        let probed = folder.run(["probe", path, "--json"]);
        assert!(probed.stderr.contains(said), "{}", probed.stderr);
        let answer: Value = serde_json::from_str(&probed.stdout).unwrap();
        let moves: Vec<&Value> =
            answer["moves"].as_array().unwrap().iter().map(|row| &row["uci"]).collect();
        let wanted: Vec<&Value> = expected[name]["start"].as_array().unwrap().iter().collect();
        assert_eq!(moves, wanted, "{name}");
        assert!(folder.run(["book", "info", path]).failed(1).contains(said));
        assert!(folder.run(["book", "verify", path]).failed(1).contains(said));
        let said_again = folder.run(["book", "convert", path, "out"]).failed(0);
        assert!(said_again.contains(said), "{said_again}");
        folder.run(["book", "verify", "out"]).ok();
    }
}

#[test]
fn readers_are_written_for_other_languages() {
    let folder = Folder::new();
    folder.run(["book", "readers", "made/here"]).ok();
    for name in ["OpeningBook.cs", "opening_book.h", "opening_book.py"] {
        let text = fs::read_to_string(folder.path("made/here").join(name)).unwrap();
        assert!(text.contains("0x9d39247e33776d41") && !text.contains("@TABLE@"), "{name}");
    }
}
