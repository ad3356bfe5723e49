//! What happens to runs on real machines: full disks, signals, output that cannot be written.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tabiya_testkit::{Mix, Style, generate, render};

use crate::util::{Folder, root};

fn games(n: usize) -> Vec<u8> {
    render(&generate(1, n, Mix::CLEAN), Style::Plain)
}

/// The plain book, all moves.
fn fresh(n: usize) -> Folder {
    let folder = Folder::new();
    folder.write("games.pgn", games(n));
    folder.write(
        "pipeline.toml",
        "[input]\nfiles = [\"games.pgn\"]\n[score]\nengine = \"none\"\n\
         [aggregate]\nsides = \"both\"\n\
         [[book]]\nformat = \"sob\"\npath = \"out/book\"\nweight = \"games\"\n\
         [[book]]\nformat = \"polyglot\"\npath = \"out/book.bin\"\nweight = \"games\"\n",
    );
    folder
}

const BOOKS: [&str; 3] = ["out/book/hashes.sob", "out/book/moves.sob", "out/book.bin"];

fn books(folder: &Folder) -> Vec<Vec<u8>> {
    BOOKS.iter().map(|book| fs::read(folder.path(book)).unwrap()).collect()
}

#[test]
fn a_disk_that_fills_up_harms_nothing() {
    let folder = fresh(100);
    folder.run(["run"]).ok();
    let before = books(&folder);
    let whole = fresh(2000);
    whole.run(["run"]).ok();
    let after = books(&whole);
    folder.write("games.pgn", games(2000));
    // Files may not grow beyond so many blocks: too few for the journal, or for a book.
    for blocks in [8, 64, 300] {
        let told = Command::new("sh")
            .args(["-c", "ulimit -f $1; exec \"$2\" run --fresh", "sh", &blocks.to_string()])
            .arg(env!("CARGO_BIN_EXE_tabiya"))
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&told.stderr).into_owned();
        assert_eq!(told.status.code(), Some(1), "{blocks}: {message}");
        assert!(message.contains("IO_FULL") && message.contains("File too large"), "{message}");
        assert!(message.contains("work/") || message.contains("out/"), "{message}");
        // Each book is the old one or the new one, and the last is the old one still.
        let made = books(&folder);
        assert!(made[..2] == before[..2] || made[..2] == after[..2], "{blocks}");
        assert!(made[2] == before[2], "{blocks}");
    }
    folder.run(["run"]).ok();
    assert!(books(&folder) == after);
    let left: Vec<_> = fs::read_dir(folder.path("out")).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "nothing half-made is left: {left:?}");
}

#[test]
fn a_million_positions_need_little_memory() {
    let capped = fresh(20_000);
    let run = Command::new("sh")
        .args(["-c", "ulimit -v 600000; exec \"$1\" run --set aggregate.memory=1MiB", "sh"])
        .arg(env!("CARGO_BIN_EXE_tabiya"))
        // The limit counts addresses, of which glibc takes 64 MiB a thread and uses few.
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir(capped.path(""))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let whole = fresh(20_000);
    whole.run(["run"]).ok();
    assert!(books(&capped) == books(&whole));
}

#[test]
fn a_signal_is_heard_while_engines_think() {
    for signals in [1, 2] {
        let folder = fresh(500);
        let set = [r#"score.engine=["stockfish"]"#, "score.limit.movetime=10s"];
        let mut run = folder
            .command(["run", "--set", set[0], "--set", set[1]])
            .stderr(File::create(folder.path("log")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_secs(3));
        let begun = Instant::now();
        for _ in 0..signals {
            kill_process(Pid::from_raw(run.id().cast_signed()).unwrap(), Signal::INT).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(run.wait().unwrap().code(), Some(130));
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
        let log = fs::read_to_string(folder.path("log")).unwrap();
        assert!(signals == 2 || log.contains("the same command goes on"), "{log}");
        assert!(!log.contains('\x1b'), "{log:?}");
        assert!(folder.run(["plan", "--set", set[0], "--set", set[1]]).code == Some(0));
    }
}

#[test]
fn output_that_cannot_be_written_is_found_before_the_first_game() {
    let folder = fresh(100);
    folder.write("file", "");
    let told = folder.run(["run", "--set", "book.1.path=file/book.bin"]).failed(1);
    assert!(told.contains("OUTPUT_NOT_WRITABLE") && told.contains("file"), "{told}");
    assert!(!folder.path("out").exists(), "nothing is left of the attempt");
}

#[test]
fn other_limits_give_other_books_and_no_other_searches() {
    let folder = Folder::new();
    let case = root().join("tests/cases/OPS-15");
    for file in ["engine.py", "games.pgn"] {
        fs::copy(case.join(file), folder.path(file)).unwrap();
    }
    folder.write(
        "pipeline.toml",
        "[input]\nfiles = [\"games.pgn\"]\n\
         [filter]\nplies = 1\nline_end = \"fixed\"\nshort = \"drop\"\n\
         [score]\nengine = [\"python3\", \"engine.py\"]\nlimit = { depth = 8 }\npool = 1\n\
         [aggregate]\nsides = \"both\"\n\
         [[book]]\nformat = \"polyglot\"\npath = \"book.bin\"\nweight = \"games\"\n",
    );
    let build = |limit: i32| -> (Vec<String>, Vec<u8>) {
        let set = [
            format!("threshold.win_min_cp={}", -limit - 1),
            format!("threshold.win_max_cp={limit}"),
        ];
        let run = folder.run(["run", "--set", &set[0], "--set", &set[1]]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let book: Value =
            serde_json::from_str(&folder.run(["probe", "--json", "book.bin"]).ok()).unwrap();
        let moves = book["moves"].as_array().unwrap().iter();
        let mut moves: Vec<String> = moves.map(|it| it["uci"].as_str().unwrap().into()).collect();
        moves.sort();
        (moves, fs::read(folder.path("book.bin")).unwrap())
    };
    let text = fs::read_to_string(case.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let wanted = |key: &str| -> Vec<String> {
        let mut moves: Vec<String> = serde_json::from_value(expected[key].clone()).unwrap();
        moves.sort();
        moves
    };
    let narrow = build(50);
    assert_eq!(narrow.0, wanted("limit50"));
    let calls = |path: &Path| fs::read_to_string(path.join("engine-calls.log")).unwrap();
    let asked = calls(&folder.path(""));
    assert_eq!(build(100).0, wanted("limit100"));
    assert!(build(50) == narrow);
    assert_eq!(calls(&folder.path("")), asked, "an engine was asked again");
}
