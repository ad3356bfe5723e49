//! `tabiya uci`: an engine that plays from a book.

use std::{collections::BTreeMap, io::Write, process::Stdio};

use shakmaty::{Chess, Position, uci::UciMove};
use tabiya_book::{BookWriter, polyglot};
use tabiya_model::{PackedMove, PositionKey};

use crate::util::{Folder, root};

const LINES: [(&str, u16); 9] = [
    ("e2e4", 3),
    ("d2d4", 2),
    ("a2a3", 0),
    ("e2e4 e7e5", 1),
    ("d2d4 d7d5", 1),
    ("e2e4 e7e5 g1f3", 2),
    ("e2e4 e7e5 f1c4", 1),
    ("e2e4 e7e5 g1f3 b8c6", 1),
    ("e2e4 e7e5 g1f3 b8c6 f1b5", 1),
];

fn book(folder: &Folder) {
    let mut entries = BTreeMap::<PositionKey, Vec<(PackedMove, u16, u32)>>::new();
    for (line, weight) in LINES {
        let mut position = Chess::default();
        let mut last = (PositionKey(0), PackedMove(0));
        for m in line.split(' ') {
            let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            last = (PositionKey::of(&position), PackedMove::new(m));
            position.play_unchecked(m);
        }
        entries.entry(last.0).or_default().push((last.1, weight, 0));
    }
    let mut writer = Box::new(polyglot::Writer::create(folder.path("book.bin")).unwrap());
    for (key, moves) in entries {
        writer.weighted(key, &moves).unwrap();
    }
    writer.finish().unwrap();
}

/// What the program answers to these lines.
fn talk(folder: &Folder, args: &[&str], lines: &[&str]) -> String {
    let mut command = folder.command(["uci", "--book", "book.bin"].iter().chain(args));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn best_moves(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("bestmove ")).collect()
}

#[test]
fn a_book_alone_plays_as_long_as_it_can() {
    let folder = Folder::new();
    book(&folder);
    let lines = [
        "uci",
        "isready",
        "position startpos",
        "go movetime 10",
        "position startpos moves e2e4 e7e5",
        "go wtime 1000 btime 1000",
        "setoption name Tabiya Depth value 2",
        "go depth 3",
        "setoption name Tabiya Depth value 9",
        "go infinite",
        "stop",
        "setoption name Tabiya Book value false",
        "go depth 1",
        "position startpos moves e2e5",
        "go depth 1",
        "quit",
    ];
    let text = talk(&folder, &[], &lines);
    assert!(text.starts_with("id name book (tabiya, book only)\n"), "{text}");
    assert!(text.contains("uciok\nreadyok\n"), "{text}");
    assert_eq!(best_moves(&text), ["e2e4", "g1f3", "0000", "g1f3", "0000", "0000"], "{text}");
    assert!(text.contains("info string out of book, and there is no engine"), "{text}");
}

#[test]
fn chance_follows_the_seed_and_never_plays_what_is_not_to_be_played() {
    let folder = Folder::new();
    book(&folder);
    let lines: Vec<&str> = ["position startpos", "go nodes 1"].repeat(60);
    let with = |seed: &str| talk(&folder, &["--pick", "weight", "--seed", seed], &lines);
    let (one, again, two) = (with("1"), with("1"), with("2"));
    assert_eq!(one, again);
    assert_ne!(one, two);
    let count = |m: &str| best_moves(&one).iter().filter(|&&found| found == m).count();
    assert!(count("e2e4") > 20 && count("d2d4") > 10, "{one}");
    assert_eq!(count("e2e4") + count("d2d4"), 60);
}

#[test]
fn the_engine_behind_goes_on_where_the_book_ends() {
    let folder = Folder::new();
    book(&folder);
    let engine = env!("CARGO_BIN_EXE_tabiya");
    let lines = [
        "uci",
        "isready",
        "position startpos moves e2e4",
        "go depth 1",
        "position startpos moves h2h3",
        "go depth 1",
    ];
    let text = talk(&folder, &["--engine", engine, "--", "engine"], &lines);
    let moves = best_moves(&text);
    assert!(moves.len() == 2 && moves[0] == "e7e5", "{text}");
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(place("id name") < place("option name Tabiya Book"), "{text}");
    assert!(place("option name Tabiya Pick") < place("uciok"), "{text}");
    assert!(text.contains(" with book\n"), "{text}");
    let missing = folder.run(["uci", "--book", "book.bin", "--engine", "./none"]).failed(1);
    assert!(missing.contains("./none"), "{missing}");
}

#[test]
fn twenty_games_under_a_match_runner() {
    let folder = Folder::new();
    book(&folder);
    let mut moves = BTreeMap::<&str, Vec<&str>>::new();
    for (line, _) in LINES.iter().filter(|(_, weight)| *weight > 0) {
        let (before, last) = line.rsplit_once(' ').unwrap_or(("", line));
        moves.entry(before).or_default().push(last);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let output = std::process::Command::new("python3")
        .arg(root().join("tests/e2e/uci_games.py"))
        .arg(env!("CARGO_BIN_EXE_tabiya"))
        .arg(folder.path("book.bin"))
        .arg(serde_json::to_string(&moves).unwrap())
        .arg("4")
        // Where Debian puts Stockfish.
        .env("PATH", format!("{path}:/usr/games"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(!errors.to_lowercase().contains("warning"), "{errors}");
}
