//! `tabiya probe` and `tabiya book`, on small books made with the library.

use std::{io::Read, path::PathBuf, process::Stdio};

use expect_test::expect;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Chess, Position, fen::Fen, uci::UciMove};
use tabiya_book::{BookWriter, polyglot, sob};
use tabiya_model::{PackedMove, PositionKey};

use crate::util::Folder;

/// Four knights, ready to castle.
const CASTLE: &str = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5";

/// Positions and their moves with weights, in the order of their keys.
fn contents() -> Vec<(PositionKey, Vec<(PackedMove, u16)>)> {
    let start = Chess::default();
    let castle: Chess =
        CASTLE.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
    let after_e4 = start.clone().play(uci(&start, "e2e4")).unwrap();
    let pack = |position: &Chess, moves: &[(&str, u16)]| {
        let packed = |&(text, weight): &(&str, u16)| (PackedMove::new(uci(position, text)), weight);
        (PositionKey::of(position), moves.iter().map(packed).collect())
    };
    let mut contents = vec![
        pack(&start, &[("e2e4", 12), ("d2d4", 9), ("g1f3", 3)]),
        pack(&after_e4, &[("c7c5", 7)]),
        pack(&castle, &[("e1g1", 5), ("d2d3", 1)]),
    ];
    contents.sort_by_key(|&(key, _)| key);
    contents
}

fn uci(position: &Chess, text: &str) -> shakmaty::Move {
    text.parse::<UciMove>().unwrap().to_move(position).unwrap()
}

fn polyglot(folder: &Folder) -> PathBuf {
    let path = folder.path("book.bin");
    let mut writer = polyglot::Writer::create(&path).unwrap();
    for (key, moves) in contents() {
        let moves: Vec<_> = moves.into_iter().map(|(mv, weight)| (mv, weight, 0)).collect();
        writer.weighted(key, &moves).unwrap();
    }
    Box::new(writer).finish().unwrap();
    path
}

fn sob(folder: &Folder) -> PathBuf {
    let path = folder.path("book");
    let mut writer = sob::Writer::create(&path, sob::Options::new(sob::Codec::Compact)).unwrap();
    for (key, moves) in contents() {
        let moves: Vec<_> =
            moves.into_iter().map(|(mv, weight)| (mv, u8::try_from(weight).unwrap())).collect();
        writer.ranked(key, &moves).unwrap();
    }
    Box::new(writer).finish().unwrap();
    path
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn probe_shows_a_table() {
    let folder = Folder::new();
    polyglot(&folder);
    expect![[r#"
        move  uci   weight  share
        e4    e2e4      12  50.0%
        d4    d2d4       9  37.5%
        Nf3   g1f3       3  12.5%
    "#]]
    .assert_eq(&folder.run(["probe", "book.bin"]).ok());
    expect![[r#"
        move  uci   weight   share
        c5    c7c5       7  100.0%
    "#]]
    .assert_eq(&folder.run(["probe", "book.bin", "--moves", "1. e4"]).ok());
    expect![[r#"
        position 830eb9b20758d1de is not in the book
    "#]]
    .assert_eq(&folder.run(["probe", "book.bin", "--moves", "d4"]).failed(0));
}

#[test]
fn probe_answers_alike_in_every_format() {
    let folder = Folder::new();
    polyglot(&folder);
    sob(&folder);
    let moves = json!([["e1g1", "O-O", 5], ["d2d3", "d3", 1]]);
    for book in ["book.bin", "book", "book/hashes.sob", "book/moves.sob"] {
        let answer = json(&folder.run(["probe", book, "--json", "--fen", CASTLE]).ok());
        assert_eq!(answer["key"], contents_key(CASTLE), "{book}");
        let rows = answer["moves"].as_array().unwrap().iter();
        let rows: Vec<Value> =
            rows.map(|row| json!([row["uci"], row["san"], row["weight"]])).collect();
        assert_eq!(Value::Array(rows), moves, "{book}");

        let castled = ["probe", book, "--json", "--fen", CASTLE, "--moves", "5.O-O d7d6"];
        assert_eq!(json(&folder.run(castled).ok())["moves"], json!([]), "{book}");
    }
}

fn contents_key(fen: &str) -> String {
    let position: Chess =
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
    PositionKey::of(&position).to_string()
}

#[test]
fn probe_refuses_nonsense() {
    let folder = Folder::new();
    polyglot(&folder);
    for args in [["--fen", "what"], ["--moves", "e4 e4"], ["--fen", "8/8/8/8/8/8/8/8 w - - 0 1"]] {
        let message = folder.run(["probe", "book.bin"].into_iter().chain(args)).failed(2);
        assert!(message.contains(args[0]), "{message}");
    }
    let message = folder.run(["probe", "none.bin"]).failed(1);
    assert!(message.contains("none.bin"), "{message}");
}

#[test]
fn dump_gives_every_entry_in_order() {
    let folder = Folder::new();
    polyglot(&folder);
    sob(&folder);
    for book in ["book.bin", "book"] {
        let text = folder.run(["book", "dump", book, "--json"]).ok();
        let rows: Vec<Value> = text.lines().map(json).collect();
        assert_eq!(rows.len(), 6, "{text}");
        assert!(rows.is_sorted_by_key(|row| row["key"].as_str().unwrap().to_owned()), "{text}");
        let has = |mv: &str, weight: u64| {
            rows.iter().any(|row| row["move"] == mv && row["weight"] == weight)
        };
        assert!(has("e2e4", 12) && has("c7c5", 7) && has("d2d3", 1), "{text}");
    }
    expect![[r#"
        161a7b2a9aea82f4  e1h1       5
        161a7b2a9aea82f4  d2d3       1
        463b96181691fc9c  e2e4      12
        463b96181691fc9c  d2d4       9
        463b96181691fc9c  g1f3       3
        823c9b50fd114196  c7c5       7
    "#]]
    .assert_eq(&folder.run(["book", "dump", "book.bin"]).ok());
}

#[test]
fn info_and_verify_describe_sound_books() {
    let folder = Folder::new();
    polyglot(&folder);
    sob(&folder);
    expect![[r#"
        format          polyglot
        file            book.bin  96
        bytes           96
        entries         6
        positions       3
        bytes an entry  16.00
    "#]]
    .assert_eq(&folder.run(["book", "info", "book.bin"]).ok());
    let info = json(&folder.run(["book", "info", "book", "--json"]).ok());
    assert_eq!((&info["format"], &info["entries"]), (&json!("sob"), &json!(6)));
    assert_eq!(info["positions"], 3);
    expect![[r#"
        book.bin: sound, 6 entries of 3 positions
    "#]]
    .assert_eq(&folder.run(["book", "verify", "book.bin"]).ok());
    expect![[r#"
        book: sound, 6 entries of 3 positions
    "#]]
    .assert_eq(&folder.run(["book", "verify", "book"]).ok());
    let verdict = json(&folder.run(["book", "verify", "book", "--json"]).ok());
    assert_eq!(verdict["sound"], true);
}

#[test]
fn an_empty_book_is_a_book() {
    let folder = Folder::new();
    folder.write("empty.bin", "");
    let info = json(&folder.run(["book", "info", "--json", "empty.bin"]).ok());
    assert_eq!((&info["entries"], &info["positions"]), (&json!(0), &json!(0)));
    assert_eq!(json(&folder.run(["probe", "--json", "empty.bin"]).ok())["moves"], json!([]));
}

#[test]
fn torn_books_are_never_shown_as_sound() {
    let folder = Folder::new();
    let mut bytes = std::fs::read(polyglot(&folder)).unwrap();
    bytes.truncate(3 * 16 + 7);
    folder.write("torn.bin", &bytes);
    let torn = folder.run(["book", "info", "--json", "torn.bin"]);
    assert_eq!(json(&torn.stdout)["entries"], 3);
    expect![[r#"
        warning: torn.bin: bytes after the last whole entry: 7 (the file is cut short or has a tail)
    "#]]
    .assert_eq(&torn.failed(1));
    expect![[r#"
        torn.bin: bytes after the last whole entry: 7 (the file is cut short or has a tail)
    "#]]
    .assert_eq(&folder.run(["book", "verify", "torn.bin"]).failed(1));

    let warning = folder.run(["probe", "torn.bin"]).failed(0);
    assert!(warning.contains("after the last whole entry: 7"), "{warning}");
    assert_eq!(folder.run(["book", "dump", "--json", "torn.bin"]).stdout.lines().count(), 3);
    folder.run(["book", "dump", "torn.bin"]).failed(1);

    let moves = sob(&folder).join("moves.sob");
    let mut bytes = std::fs::read(&moves).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&moves, bytes).unwrap();
    let message = folder.run(["book", "verify", "book"]).failed(1);
    assert!(message.contains("moves.sob"), "{message}");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    polyglot(&folder);
    let bytes = std::fs::read(folder.path("book.bin")).unwrap();
    // More than any pipe holds.
    folder.write(
        "long.bin",
        bytes.chunks(16).flat_map(|entry| entry.repeat(10_000)).collect::<Vec<u8>>(),
    );
    let mut command = folder.command(["book", "dump", "long.bin"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_work() {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt};

    let folder = Folder::new();
    let name = OsString::from_vec(b"libro-\xe9.bin".to_vec());
    std::fs::rename(polyglot(&folder), folder.path(&name)).unwrap();
    let args = |words: [&str; 2]| words.map(OsString::from).into_iter().chain([name.clone()]);
    folder.run(args(["book", "info"])).ok();
    let verified = folder.run(args(["book", "verify"])).ok();
    assert!(verified.starts_with("libro-\u{fffd}.bin: sound"), "{verified}");
    folder.run(args(["book", "info"]).chain(["--json".into()])).ok();
    folder.run(args(["book", "verify"]).chain(["--json".into()])).ok();
}
