//! `tabiya scores` with the scores of a real run, and with damaged ones.

use std::{fs, process::Stdio};

use serde_json::Value;

use crate::util::{Done, Folder, root};

/// A folder in which a run has just scored the sample games.
fn scored() -> Folder {
    let folder = Folder::new();
    for file in ["pipeline.toml", "tests/data/sample.pgn.zst"] {
        folder.write(file, fs::read(root().join(file)).unwrap());
    }
    folder.run(["run", "--json", "--set", "score.limit.depth=1"]).ok();
    folder
}

fn json(done: Done) -> Value {
    serde_json::from_str(&done.ok()).unwrap()
}

fn scores(folder: &Folder, args: &[&str]) -> Done {
    folder.run(["scores", "--json"].iter().chain(args))
}

fn count(folder: &Folder, db: &str) -> u64 {
    let stats = json(scores(folder, &["stats", "--db", db]));
    stats["engines"].as_array().unwrap().iter().filter_map(|of| of["scores"].as_u64()).sum()
}

#[test]
fn scores_travel_and_a_run_elsewhere_asks_nothing() {
    let folder = scored();
    let exported = scores(&folder, &["export"]).ok();
    let lines = exported.lines().count() as u64;
    assert!(lines > 2000);
    assert_eq!(count(&folder, "work/scores.db"), lines);
    assert_eq!(scores(&folder, &["export", "--engine", "no such"]).ok(), "");

    folder.write("scores.jsonl", &exported);
    let import = ["import", "scores.jsonl", "--db", "elsewhere/scores.db"];
    let added = json(scores(&folder, &import));
    assert_eq!((added["new"].as_u64(), added["known"].as_u64()), (Some(lines), Some(0)));
    let added = json(scores(&folder, &import));
    assert_eq!((added["new"].as_u64(), added["known"].as_u64()), (Some(0), Some(lines)));
    assert_eq!(scores(&folder, &["export", "--db", "elsewhere/scores.db"]).ok(), exported);

    let args =
        ["run", "--json", "--set", "score.limit.depth=1", "--set", "checkpoint.dir=elsewhere"];
    let report = json(folder.run(args));
    assert_eq!(report["positions"]["engine"], 0);
    assert_eq!(report["positions"]["from_store"], lines);

    let merged = json(scores(&folder, &["merge", "work/scores.db", "--db", "third/scores.db"]));
    assert_eq!(merged["new"], lines);
    assert_eq!(json(scores(&folder, &["check"]))["sound"], lines);
    let people = folder.run(["scores", "stats"]).ok();
    assert!(people.contains("uci ucinewgame; tabiya") && people.contains("depth 1"), "{people}");
}

#[test]
fn a_bad_line_is_named_and_what_stood_before_it_is_kept() {
    let folder = Folder::new();
    let good = r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w K -","mate":9}"#;
    let table = [
        ("no json", "expected"),
        (r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w K -"}"#, "one of cp, mate"),
        (r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w K -","cp":1,"mate":2}"#, "one of cp"),
        (r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w KQ -","cp":1}"#, "no position"),
        (r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w K - 0 1","cp":1}"#, "without clocks"),
        (
            r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w K -","cp":1,"wdl":[1,2,3]}"#,
            "add up to 1000",
        ),
        (r#"{"engine":"E","position":"4k3/8/8/8/8/8/8/4K2R w K -","cp":99999999999}"#, "invalid"),
    ];
    for (bad, why) in table {
        folder.write("in.jsonl", format!("{good}\n\n{bad}\n{good}\n"));
        let told = scores(&folder, &["import", "in.jsonl", "--db", "s.db"]).failed(1);
        assert!(told.contains("in.jsonl:2") && told.contains(why), "{told}");
        assert_eq!(count(&folder, "s.db"), 1);
    }
    folder.write("in.jsonl", vec![b'x'; 1_000_000]);
    assert!(scores(&folder, &["import", "in.jsonl"]).failed(1).contains("in.jsonl:1"));
}

#[test]
fn damage_is_told_and_the_rest_is_saved() {
    let folder = scored();
    let all = count(&folder, "work/scores.db");
    let mut bytes = fs::read(folder.path("work/scores.db")).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    folder.write("work/scores.db", &bytes);
    let told = folder.run(["run", "--fresh"]).failed(1);
    assert!(told.contains("SCORES") && told.contains("--salvage"), "{told}");
    let told = scores(&folder, &["check"]).failed(1);
    assert!(told.contains("work/scores.db: damaged"), "{told}");

    fs::rename(folder.path("work/scores.db"), folder.path("old.db")).unwrap();
    let refused = scores(&folder, &["merge", "old.db"]).failed(1);
    assert!(refused.contains("old.db: damaged"), "{refused}");
    scores(&folder, &["merge", "--salvage", "old.db"]).ok();
    let saved = count(&folder, "work/scores.db");
    assert!(saved > all / 2 && saved < all, "{saved} of {all}");
    assert_eq!(json(scores(&folder, &["check"]))["sound"], saved);
}

#[test]
fn looking_at_nothing_makes_nothing() {
    let folder = Folder::new();
    for task in ["stats", "export", "check"] {
        let told = scores(&folder, &[task]).failed(1);
        assert!(told.contains("work/scores.db: no such file"), "{told}");
    }
    assert!(!folder.path("work").exists());
}

/// The answers of a batch are kept as they come, so even the end of the process costs but a moment.
#[test]
fn what_was_scored_before_a_kill_is_scored_for_good() {
    let folder = Folder::new();
    for file in ["pipeline.toml", "tests/data/sample.pgn.zst"] {
        folder.write(file, fs::read(root().join(file)).unwrap());
    }
    // Two thousand positions would take minutes.
    let slow = ["run", "--set", r#"score.engine=["stockfish"]"#, "--set", "score.limit.depth=14"];
    let mut run = folder.command(slow).stderr(Stdio::null()).spawn().unwrap();
    let start = std::time::Instant::now();
    let kept = || {
        let stats = scores(&folder, &["stats"]);
        let stats: Value = serde_json::from_str(&stats.stdout).unwrap_or_default();
        stats.pointer("/engines/0/scores").and_then(Value::as_u64).unwrap_or(0)
    };
    while kept() < 10 {
        assert!(start.elapsed().as_secs() < 120, "nothing is stored");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    // As `kill -9` does.
    run.kill().unwrap();
    run.wait().unwrap();
    assert!((10..1000).contains(&kept()));
    assert_eq!(json(scores(&folder, &["check"]))["sound"], kept());
}

/// The dialect for engines at a prompt, with a real one.
#[test]
fn phalanx_scores_at_its_prompt() {
    let folder = Folder::new();
    for file in ["pipeline.toml", "tests/data/sample.pgn.zst"] {
        folder.write(file, fs::read(root().join(file)).unwrap());
    }
    let run = ["run", "--json", "--set", r#"score.engine=["phalanx"]"#];
    let preset = ["--set", r#"score.console={preset="phalanx"}"#];
    let report = json(folder.run(run.iter().chain(&preset)));
    assert!(report["positions"]["engine"].as_u64().unwrap() > 2000, "{report}");
    assert_eq!(report["positions"]["set_aside"], 0);
    let stats = folder.run(["scores", "stats"]).ok();
    assert!(stats.contains("console") && stats.contains("Phalanx"), "{stats}");
}
