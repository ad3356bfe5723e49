//! Runs that die, and the ones after them.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::util::{Folder, root};

const MADE: [&str; 4] =
    ["out/book/hashes.sob", "out/book/moves.sob", "out/book.bin", "work/rejects.jsonl"];

/// The sample games in small pieces: many segments, many sorted runs.
fn fresh() -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("tests/data")).unwrap();
    fs::copy(root().join("tests/data/sample.pgn.zst"), folder.path("sample.pgn.zst")).unwrap();
    folder.write(
        "pipeline.toml",
        "[input]\nfiles = [\"sample.pgn.zst\"]\nchunk = \"64KiB\"\n\
         [filter]\nshort = \"keep\"\n\
         [score]\nlimit = { depth = 1 }\n\
         [threshold]\nwin_min_cp = 0\n\
         [aggregate]\nsides = \"both\"\nmemory = \"64KiB\"\n\
         [checkpoint]\ndir = \"work\"\nevery = \"1ms\"\n\
         [[book]]\nformat = \"sob\"\npath = \"out/book\"\n\
         [[book]]\nformat = \"polyglot\"\npath = \"out/book.bin\"\n",
    );
    folder
}

/// Runs to the end; the counts, and every file made.
fn outcome(folder: &Folder) -> (Value, Vec<Vec<u8>>) {
    let report: Value = serde_json::from_str(&folder.run(["run", "--json"]).ok()).unwrap();
    let counts = serde_json::json!([report["games"], report["lines"], report["books"]]);
    (counts, MADE.iter().map(|name| fs::read(folder.path(name)).unwrap()).collect())
}

#[test]
fn a_crash_at_any_point_leaves_no_trace() {
    let expected = outcome(&fresh());
    for point in tabiya_pipeline::crash::POINTS {
        let mut died = 0;
        for passes in [0, 1, 5] {
            let folder = fresh();
            let mut run = folder.command(["run"]);
            run.env("TABIYA_CRASH_AT", format!("{point}:{passes}"));
            let status = run.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            died += u32::from(status.code().is_none());
            assert!(outcome(&folder) == expected, "after {point}, pass {passes}");
        }
        assert!(died > 0, "{point} is never passed");
    }
}

#[test]
fn kills_at_random_moments_leave_no_trace() {
    let reference = fresh();
    let begun = Instant::now();
    let expected = outcome(&reference);
    let whole = begun.elapsed().as_millis() as u64;
    let folder = fresh();
    // Other moments each time the tests run: they need not be the same to be right.
    let mut seed = u64::from(std::process::id());
    for _ in 0..12 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut run =
            folder.command(["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis((seed >> 33) % (whole + 1)));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    assert!(outcome(&folder) == expected);
}

#[test]
fn damage_is_named_and_a_fresh_start_is_the_way_out() {
    let folder = fresh();
    let expected = outcome(&folder);
    let journal = folder.journal();
    let manifest = journal.join("manifest.json");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[100] ^= 4;
    fs::write(&manifest, bytes).unwrap();
    for command in [["run"], ["plan"], ["sweep"]] {
        let told = folder.run(command).failed(1);
        assert!(told.contains("DAMAGED") && told.contains("manifest.json"), "{told}");
        assert!(told.contains("--fresh"), "{told}");
    }
    let told = folder.run(["run", "--fresh"]);
    assert!(told.code == Some(0) && told.stderr.contains("starting over"), "{}", told.stderr);
    assert!(outcome(&folder) == expected);
}
