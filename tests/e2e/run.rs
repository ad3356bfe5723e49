//! `tabiya run` and `tabiya scan` with the configuration and the games that come with them.

use std::{fs, process::Stdio, thread, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::util::{Folder, root};

/// A folder with the default configuration and its sample games.
fn fresh() -> Folder {
    let folder = Folder::new();
    for file in ["pipeline.toml", "tests/data/sample.pgn.zst"] {
        folder.write(file, fs::read(root().join(file)).unwrap());
    }
    folder
}

#[test]
fn the_defaults_make_both_books_and_the_same_again() {
    let folder = fresh();
    let books = ["out/book/hashes.sob", "out/book/moves.sob", "out/book.bin"];
    let mut made = Vec::new();
    for pool in ["score.pool=1", "score.pool=2"] {
        let args = ["run", "--json", "--set", "score.limit.depth=1", "--set", pool];
        let report: Value = serde_json::from_str(&folder.run(args).ok()).unwrap();
        let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap();
        let sum = |pointer: &str| -> u64 {
            let counts = report.pointer(pointer).and_then(Value::as_object).unwrap();
            counts.values().filter_map(Value::as_u64).sum()
        };
        let left_out = sum("/games/filtered") + sum("/games/rejected");
        assert!(number("/games/read") > 3000);
        assert_eq!(number("/games/read"), number("/games/accepted") + left_out);
        assert!(number("/lines/kept") > 100, "{report}");
        assert_eq!(number("/books/0/entries"), number("/books/1/entries"));
        made.push(books.map(|book| fs::read(folder.path(book)).unwrap()));
    }
    assert!(made[0] == made[1], "the books of two runs differ");
    let rejects = fs::read_to_string(folder.path("work/rejects.jsonl")).unwrap();
    assert!(rejects.lines().count() > 5);
    for line in rejects.lines() {
        let reject: Value = serde_json::from_str(line).unwrap();
        assert!(reject["offset"].is_u64() && reject["reason"].is_string(), "{line}");
    }
}

#[test]
fn a_signal_ends_a_run_and_leaves_the_book_alone() {
    let folder = fresh();
    folder.write("out/book.bin", "");
    let mut run = folder
        .command(["run", "--set", "score.limit.depth=9"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_secs(1));
    let pid = Pid::from_raw(run.id().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read(folder.path("out/book.bin")).unwrap(), b"");
    assert!(!folder.path("out/book").exists());
}

#[test]
fn an_engine_that_is_not_there_is_said_once() {
    let folder = fresh();
    let told = folder.run(["run", "--set", r#"score.engine=["/no/such"]"#]).failed(1);
    assert!(told.contains("ENGINE_START"), "{told}");
    assert_eq!(told.matches("/no/such").count(), 2, "the command, and what was tried: {told}");
}

#[test]
fn scan_reads_standard_input_and_names_that_are_not_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = fresh();
    let name = std::ffi::OsStr::from_bytes(b"partida-\xe9.pgn.zst");
    fs::copy(folder.path("tests/data/sample.pgn.zst"), folder.path(name)).unwrap();
    let by_name = folder.run(["scan".as_ref(), "--json".as_ref(), name]).ok();
    let input = fs::File::open(folder.path(name)).unwrap();
    let output = folder.command(["scan", "--json", "-"]).stdin(input).output().unwrap();
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap()["read"].clone();
    assert!(read(&by_name).as_u64().unwrap() > 3000);
    assert_eq!(read(&by_name), read(&String::from_utf8(output.stdout).unwrap()));
}

#[test]
fn a_second_run_asks_the_engine_nothing() {
    let folder = fresh();
    let run = || -> Value {
        // The games are read again; what was scored stays.
        let args = ["run", "--json", "--fresh", "--set", "score.limit.depth=1"];
        serde_json::from_str(&folder.run(args).stdout).unwrap()
    };
    let (first, second) = (run(), run());
    let number =
        |report: &Value, name: &str| report["positions"][name].as_u64().unwrap_or(u64::MAX);
    assert_eq!(number(&first, "from_store"), 0);
    assert!(number(&first, "engine") > 1000, "{first}");
    assert_eq!(number(&second, "engine"), 0);
    assert_eq!(number(&second, "from_store"), number(&first, "engine"));
    for name in ["to_score", "over_on_the_board", "from_memory", "set_aside"] {
        assert_eq!(number(&second, name), number(&first, name), "{name}");
    }
    // Scores are worth more than a guess: whoever damages them is told.
    folder.write("work/scores.db", "no scores");
    let told = folder.run(["run"]).failed(1);
    assert!(told.contains("SCORES") && told.contains("work/scores.db"), "{told}");
}
