//! The work folder from one run to the next: plan, status, sweep, clean, and the service.

use std::{
    fs::{self, File},
    io::Write,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tabiya_testkit::{Mix, Style, generate, render};

use crate::util::Folder;

const CONFIG: &str = "[input]\nfiles = [\"games\"]\n\
     [score]\nlimit = { depth = 1 }\n\
     [checkpoint]\ndir = \"work\"\npublish_every = \"1s\"\n\
     [[book]]\nformat = \"sob\"\npath = \"out/book\"\n\
     [[book]]\nformat = \"polyglot\"\npath = \"out/book.bin\"\n";

fn games(seed: u64) -> Vec<u8> {
    render(&generate(seed, 200, Mix::ALL), Style::Plain)
}

fn fresh() -> Folder {
    let folder = Folder::new();
    folder.write("pipeline.toml", CONFIG);
    folder.write("games/1.pgn", games(1));
    folder
}

fn json<const N: usize>(folder: &Folder, args: [&str; N]) -> Value {
    serde_json::from_str(&folder.run(args).ok()).unwrap()
}

#[test]
fn a_plan_says_what_a_run_does() {
    let folder = fresh();
    let plan = json(&folder, ["plan", "--json"]);
    assert_eq!((&plan["lines"], plan["read"][0]["why"].as_str()), (&0.into(), Some("new")));
    assert!(plan["engines"].as_u64().unwrap() > 0);
    let first = json(&folder, ["run", "--json"]);
    let plan = json(&folder, ["plan", "--json", "--set", "threshold.win_min_cp=37"]);
    assert_eq!(plan["lines"], first["games"]["accepted"]);
    assert_eq!((&plan["engines"], plan["read"].as_array().unwrap().len()), (&0.into(), 0));
    assert_eq!(plan["changed"][0], "threshold.win_min_cp: 100 → 37");

    folder.write("games/2.pgn", games(2));
    let plan = json(&folder, ["plan", "--json"]);
    assert_eq!(plan["read"].as_array().unwrap().len(), 1);
    assert!(plan["read"][0]["source"].as_str().unwrap().ends_with("2.pgn"));
    let plan = json(&folder, ["plan", "--json", "--set", "filter.plies=20"]);
    assert_eq!((&plan["lines"], plan["read"].as_array().unwrap().len()), (&0.into(), 2));
}

#[test]
fn a_sweep_tells_what_runs_would_keep() {
    let folder = fresh();
    assert!(folder.run(["sweep"]).failed(1).contains("tabiya run"));
    json(&folder, ["run", "--json"]);
    let sweep = json(&folder, ["sweep", "--json", "--win-min", "-50,0,100"]);
    for (row, cp) in sweep.as_array().unwrap().iter().zip([-50, 0, 100]) {
        let set = format!("threshold.win_min_cp={cp}");
        let run = json(&folder, ["run", "--json", "--set", &set]);
        assert_eq!(row["win_min_cp"], cp);
        assert_eq!(row["lines"], run["lines"]);
        assert_eq!(row["entries"], run["books"][0]["entries"]);
        let bytes: u64 = run["books"][0]["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["bytes"].as_u64().unwrap())
            .sum();
        assert!(row["books"][0]["bytes"].as_u64().unwrap().abs_diff(bytes) < 100, "{row}");
    }
    let left = fs::read_dir(folder.path("work")).unwrap().flatten();
    assert!(left.into_iter().all(|it| !it.file_name().to_string_lossy().starts_with("sweep")));
}

#[test]
fn status_and_rejects_tell_what_is_there_and_clean_removes_the_rest() {
    let folder = fresh();
    let run = json(&folder, ["run", "--json"]);
    folder.run(["run", "--set", "filter.plies=20"]).ok();
    let status = json(&folder, ["status", "--json"]);
    let journals = status["journals"].as_array().unwrap();
    let current = journals.iter().find(|it| it["current"] == true).unwrap();
    assert_eq!((journals.len(), &current["games"]), (2, &run["games"]));
    let rejects = json(&folder, ["rejects", "--json"]);
    assert_eq!(rejects["rejected"], run["games"]["rejected"]);

    let would = folder.run(["clean", "--dry-run"]).ok();
    assert!(would.contains("would remove"), "{would}");
    let removed = folder.run(["clean"]).ok();
    assert_eq!(would.replace("would remove", "removed"), removed);
    assert_eq!(json(&folder, ["status", "--json"])["journals"].as_array().unwrap().len(), 1);
    assert_eq!(json(&folder, ["run", "--json"])["replayed"], run["games"]["accepted"]);
}

#[test]
fn a_service_takes_up_files_and_configurations() {
    let folder = fresh();
    folder.write("games/2.pgn", games(2));
    let log = File::create(folder.path("log")).unwrap();
    let mut service = folder
        .command(["run", "--watch", "--log-format", "json"])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let log = || fs::read_to_string(folder.path("log")).unwrap();
    let wait = |what: &str, times: usize| {
        let begun = Instant::now();
        while log().matches(what).count() < times {
            assert!(begun.elapsed() < Duration::from_secs(60), "no {what}: {}", log());
            thread::sleep(Duration::from_millis(50));
        }
    };
    wait("books replaced", 1);
    // Half a file, one that is broken, and a configuration that is none.
    let third = games(3);
    let mut half = File::create(folder.path("games/3.pgn")).unwrap();
    half.write_all(&third[..third.len() / 2]).unwrap();
    folder.write("games/4.pgn.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03abc");
    folder.write("pipeline.toml", CONFIG.replace("[score]", "[scores]"));
    wait("refused", 1);
    wait("left out until it changes", 1);
    half.write_all(&third[third.len() / 2..]).unwrap();
    drop(half);
    wait("books replaced", 2);
    folder
        .write("pipeline.toml", CONFIG.replace("[score]", "[threshold]\nwin_min_cp = 20\n[score]"));
    wait("the configuration has changed", 1);
    let begun = Instant::now();
    let books = ["out/book/hashes.sob", "out/book/moves.sob", "out/book.bin"];
    let made = || books.map(|book| fs::read(folder.path(book)).unwrap());

    fs::remove_file(folder.path("games/4.pgn.gz")).unwrap();
    let expected = {
        let again = Folder::new();
        again.write("pipeline.toml", fs::read(folder.path("pipeline.toml")).unwrap());
        for file in ["games/1.pgn", "games/2.pgn", "games/3.pgn"] {
            again.write(file, fs::read(folder.path(file)).unwrap());
        }
        again.run(["run"]).ok();
        books.map(|book| fs::read(again.path(book)).unwrap())
    };
    while made() != expected {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", log());
        thread::sleep(Duration::from_millis(50));
    }
    let locked = folder.run(["run"]).failed(1);
    assert!(locked.contains("LOCKED") && locked.contains(&service.id().to_string()), "{locked}");
    kill_process(Pid::from_raw(service.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(service.wait().unwrap().code(), Some(0), "{}", log());
    for line in log().lines().filter(|line| line.starts_with('{')) {
        assert!(serde_json::from_str::<Value>(line).unwrap()["level"].is_string(), "{line}");
    }
}

/// The games that earlier rules let through need no engine under narrower ones, nor do earlier
/// rules when they come back.
#[test]
fn an_engine_is_started_for_new_positions_alone() {
    let folder = fresh();
    let engine =
        folder.write("engine.sh", "#!/bin/sh\necho x >> starts\nexec \"$TABIYA\" engine\n");
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let starts = || fs::read_to_string(folder.path("starts")).unwrap_or_default().lines().count();
    let run = |set: &str| -> Value {
        let args = ["run", "--json", "--set", r#"score.engine=["./engine.sh"]"#, "--set", set];
        let output =
            folder.command(args).env("TABIYA", env!("CARGO_BIN_EXE_tabiya")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let first = run("filter.plies=24");
    let begun = starts();
    assert!(begun > 0 && first["positions"]["engine"].as_u64().unwrap() > 0);
    let narrower = run(r#"filter.outcomes=["white"]"#);
    assert!(
        narrower["bytes"].as_u64().unwrap() > 0 && narrower["lines"]["seen"].as_u64() > Some(0)
    );
    assert_eq!((&narrower["positions"]["engine"], starts()), (&0.into(), begun));
    let other = run("filter.plies=20");
    assert!(other["positions"]["engine"].as_u64().unwrap() > 0 && starts() > begun);
    let begun = starts();
    let back = run("filter.plies=24");
    assert_eq!((&back["bytes"], starts()), (&0.into(), begun));
    assert_eq!(back["lines"], first["lines"]);
}
