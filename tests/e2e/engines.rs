//! Runs with engines that hang, die or are interrupted, and with some that say their chances.

use std::{
    fs,
    os::unix::process::CommandExt,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tabiya_testkit::{Mix, Style, generate, render};

use crate::util::{Folder, root};

/// Games to be scored after one ply by the engine of a case.
fn case(id: &str) -> Folder {
    let folder = Folder::new();
    let engine = root().join("tests/cases").join(id).join("engine.py");
    folder.write("engine.py", fs::read(engine).unwrap());
    let game = |first: &str| format!("[Result \"1-0\"]\n\n{first} 1-0\n\n");
    folder.write("games.pgn", ["1. e4", "1. d4"].map(game).concat());
    folder.write(
        "pipeline.toml",
        "[input]\nfiles = [\"games.pgn\"]\n\
         [filter]\nplies = 1\nline_end = \"fixed\"\nshort = \"drop\"\n\
         [score]\nengine = [\"python3\", \"engine.py\"]\nlimit = { depth = 4 }\npool = 2\n\
         timeout = \"300ms\"\n\
         [[book]]\nformat = \"polyglot\"\npath = \"book.bin\"\n",
    );
    folder
}

#[test]
fn a_run_with_an_engine_that_hangs_ends_by_itself_and_counts() {
    let folder = case("ENG-01");
    let told = folder.run(["run"]).failed(1);
    for part in ["position set aside, ENGINE_TIMEOUT: rnbqkbnr/pppppppp/8/8/4P3/", "2 set aside"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!folder.path("book.bin").exists());
}

#[test]
fn an_engine_that_cannot_start_ends_a_run_before_it_begins() {
    let folder = case("ENG-03");
    let told = folder.run(["run"]).failed(1);
    for part in ["ENGINE_START", "engine.py", "exit code 127", "cannot run on this machine"] {
        assert!(told.contains(part), "{told}");
    }
    let journals = fs::read_dir(folder.path("work")).unwrap().flatten();
    assert!(journals.into_iter().all(|it| !it.file_name().to_string_lossy().contains("journal")));
}

/// Ctrl-C in a terminal reaches the whole group, while engines are tried out or while they search.
#[test]
fn an_interrupted_run_starts_nothing_and_blames_no_engine() {
    for timeout in ["60s", "500ms"] {
        let folder = case("ENG-17");
        // It says when it is started, and when it is told to search.
        let script = "tee -a said | python3 engine.py";
        let engine = format!("score.engine=[\"sh\", \"-c\", {script:?}]");
        let timeout = format!("score.timeout={timeout}");
        let mut run = folder
            .command(["run", "--set", &engine, "--set", &timeout])
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let said = |command: fn(&&str) -> bool| {
            let said = fs::read_to_string(folder.path("said")).unwrap_or_default();
            said.lines().filter(command).count()
        };
        let starts = || said(|line| *line == "uci");
        // The first search is the probe's, and the engine is lost over it.
        let searches = if timeout.contains("60s") { 1 } else { 2 };
        let begun = Instant::now();
        while said(|line| line.starts_with("go")) < searches {
            assert!(begun.elapsed() < Duration::from_secs(60), "no search");
            thread::sleep(Duration::from_millis(20));
        }
        let started = starts();
        let interrupted = Instant::now();
        let group = Pid::from_raw(run.id().cast_signed()).unwrap();
        kill_process_group(group, Signal::INT).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(130));
        assert!(interrupted.elapsed() < Duration::from_secs(20), "an engine thinks for 30 s");
        assert_eq!(starts(), started, "an engine was started after the signal");
        let told = std::io::read_to_string(run.stderr.take().unwrap()).unwrap();
        assert!(!told.contains("ENGINE_CRASH"), "{told}");
        assert_eq!(json(&folder, &["scores", "stats", "--json"])["engines"], Value::Array(vec![]));
    }
}

fn generated(settings: &str) -> Folder {
    let folder = Folder::new();
    folder.write("games.pgn", render(&generate(5, 150, Mix::CLEAN), Style::Plain));
    folder.write(
        "pipeline.toml",
        format!(
            "[input]\nfiles = [\"games.pgn\"]\n\
             [score]\nengine = [\"stockfish\"]\nlimit = {{ depth = 1 }}\n\
             {settings}\n\
             [[book]]\nformat = \"polyglot\"\npath = \"book.bin\"\n"
        ),
    );
    folder
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    serde_json::from_str(&folder.run(args).ok()).unwrap()
}

#[test]
fn lines_are_judged_by_chances_and_other_chances_ask_no_engine() {
    let folder = generated("[threshold]\nwin_min_wdl = 600");
    let first = json(&folder, &["run", "--json"]);
    assert!(first["positions"]["engine"].as_u64().unwrap() > 20, "{first}");
    assert!(folder.run(["run"]).ok().contains("lines kept (> 600 ‰)"));
    let sweep = json(&folder, &["sweep", "--json", "--win-min-wdl", "0,300,600,999"]);
    let kept = |row: &Value| row["lines"]["kept"].as_u64().unwrap();
    assert!(sweep.as_array().unwrap().is_sorted_by_key(|row| std::cmp::Reverse(kept(row))));
    assert_eq!((&sweep[2]["win_min_wdl"], &sweep[2]["lines"]), (&600.into(), &first["lines"]));
    // Another threshold, of either kind, is a rebuild.
    for (set, row) in
        [("threshold.win_min_wdl=300", &sweep[1]), ("threshold.win_min_wdl=600", &sweep[2])]
    {
        let again = json(&folder, &["run", "--json", "--set", set]);
        assert_eq!((&again["bytes"], &again["positions"]), (&0.into(), &Value::Null));
        assert_eq!(again["lines"], row["lines"], "{set}");
    }
    let by_cp = json(&folder, &["sweep", "--json", "--win-min", "0"]);
    assert_eq!(by_cp[0]["win_min_cp"], 0);
    assert!(kept(&by_cp[0]) > kept(&first));
    let of_its_kind = folder.run(["sweep"]).ok();
    assert!(of_its_kind.contains("550 ‰"), "{of_its_kind}");
}

#[test]
fn who_says_no_chances_is_found_out_before_anything_is_scored() {
    let folder = generated("");
    let chances = ["run", "--set", "threshold.win_min_wdl=600", "--set"];
    let with = |set: &str| folder.run(chances.iter().copied().chain([set]));
    let told = with("score.engine=builtin").failed(2);
    assert!(told.contains("threshold.win_min_wdl: the built-in engine says no chances"), "{told}");
    let toga = r#"score.engine=["toga2"]"#;
    let told = with(toga).failed(1);
    for part in ["CONFIG", "Toga II", "UCI_ShowWDL", "threshold.win_min_wdl"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!folder.path("book.bin").exists());
    // By centipawns it will do; what it has scored then has no chances.
    folder.run(["run", "--set", toga]).ok();
    let told = with(toga).failed(1);
    assert!(told.contains("threshold.win_min_wdl") && told.contains("--fresh"), "{told}");
    let told = folder.run(["sweep", "--set", toga, "--win-min-wdl", "600"]).failed(1);
    assert!(told.contains("threshold.win_min_wdl"), "{told}");
}
