//! `tabiya config`, usage errors, and what a configuration is refused for.

use expect_test::expect;
use serde_json::Value;

use crate::util::{Folder, root};

#[test]
fn the_default_file_is_printed_and_checks_as_it_is() {
    let folder = Folder::new();
    let text = folder.run(["config", "init"]).ok();
    assert_eq!(text, std::fs::read_to_string(root().join("pipeline.toml")).unwrap());

    folder.write("pipeline.toml", &text);
    let effective = folder.run(["config", "check"]).ok();
    folder.write("effective.toml", &effective);
    assert_eq!(folder.run(["config", "check", "-c", "effective.toml"]).ok(), effective);

    let json: Value =
        serde_json::from_str(&folder.run(["config", "check", "--json"]).ok()).unwrap();
    assert_eq!(json["filter"]["plies"], 24);
    let schema: Value = serde_json::from_str(&folder.run(["config", "schema"]).ok()).unwrap();
    assert_eq!(schema["title"], "Config");
}

#[test]
fn misspelt_and_unknown_keys_are_refused() {
    let folder = Folder::new();
    let sample = std::fs::read_to_string(root().join("pipeline.toml")).unwrap();
    folder.write("misspelt.toml", sample.replace("win_min_cp", "win_mni_cp"));
    folder.write("key.toml", format!("frobnicate = true\n{sample}"));
    folder.write("table.toml", format!("{sample}\n[frobnicator]\nspeed = 3\n"));
    let refused = |name| folder.run(["config", "check", "--config", name]).failed(2);
    let misspelt = refused("misspelt.toml");
    let line = 1 + sample.lines().position(|line| line.starts_with("win_min_cp")).unwrap();
    let place = format!("misspelt.toml:{line}: threshold.win_mni_cp: unknown key");
    assert!(misspelt.contains(&place), "{misspelt}");
    assert!(misspelt.contains("did you mean win_min_cp?"), "{misspelt}");
    assert!(refused("key.toml").contains("key.toml:1: frobnicate: unknown key"));
    assert!(refused("table.toml").contains(": frobnicator: unknown key"));
}

#[test]
fn units_are_never_guessed() {
    let folder = Folder::new();
    folder.write("pipeline.toml", folder.run(["config", "init"]).ok());
    let check = |set: &str| folder.run(["config", "check", "--set", set]);
    expect![[r#"
        error: the configuration has a problem
          --set threshold.win_min_cp: 0.5 is not a whole number: it is in centipawns, 100 to a pawn
    "#]]
    .assert_eq(&check("threshold.win_min_cp=0.5").failed(2));
    check("threshold.win_min_cp=50").ok();
    expect![[r#"
        warning: --set threshold.win_min_cp: 5000 centipawns are 50 pawns: is that meant? 100 is one pawn
    "#]]
    .assert_eq(&check("threshold.win_min_cp=5000").failed(0));
    for (set, effective) in [("filter.plies=12", "plies = 12"), ("filter.plies=24", "plies = 24")] {
        assert!(check(set).ok().lines().any(|line| line == effective), "{set}");
    }
    for bare in ["score.limit.movetime=1", "score.limit.movetime=1000"] {
        assert!(check(bare).failed(2).contains("write a whole number and its unit"), "{bare}");
    }
    assert!(check("score.limit.movetime=1s").ok().contains("movetime = \"1s\""));
}

#[test]
fn the_least_is_enough_and_paths_start_at_the_file() {
    let folder = Folder::new();
    let least = "input.files = [\"a.pgn\"]\n[[book]]\nformat = \"polyglot\"\npath = \"a.bin\"\n";
    folder.write("x/config.toml", least);
    folder.write("y/nothing", "");
    let mut command = folder.command(["config", "check", "--json", "--config", "../x/config.toml"]);
    let output = command.current_dir(folder.path("y")).output().unwrap();
    let config: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(config["input"]["files"][0], "../x/a.pgn");
    assert_eq!(config["book"][0]["path"], "../x/a.bin");
    assert_eq!(config["checkpoint"]["dir"], "../x/work");

    folder.write("no-book.toml", "input.files = [\"a.pgn\"]\n");
    let refused = folder.run(["config", "check", "-c", "no-book.toml"]).failed(2);
    assert!(refused.contains("no-book.toml: book: no book to write"), "{refused}");
}

#[test]
fn nonsense_on_the_command_line_is_a_usage_error() {
    let folder = Folder::new();
    for args in [&["frobnicate"][..], &[], &["probe"], &["config", "check", "-c", "none.toml"]] {
        folder.run(args).failed(2);
    }
    assert!(folder.run(["--version"]).ok().starts_with("tabiya "));
    assert!(folder.run(["completions", "bash"]).ok().contains("_tabiya"));
}

#[test]
fn the_built_in_engine_speaks_uci() {
    let folder = Folder::new();
    let script = folder.write("script", "uci\nposition startpos\ngo depth 2\nquit\n");
    let mut command = folder.command(["engine"]);
    let output = command.stdin(std::fs::File::open(script).unwrap()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("uciok\n") && text.contains("bestmove "), "{text}");
    assert!(output.status.success());
}
