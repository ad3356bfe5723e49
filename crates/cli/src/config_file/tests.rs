//! What is said about configurations, good and bad.

use std::{collections::BTreeSet, path::PathBuf};

use expect_test::{Expect, expect};

use super::*;

/// The least a run needs, on two lines.
const LEAST: &str = "input.files = [\"a.pgn\"]\nbook = [{ format = \"sob\", path = \"out\" }]\n";

fn load_text(text: &str, options: &[&str]) -> Result<Loaded, Refusal> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    std::fs::write(&file, text).unwrap();
    let options: Vec<OsString> = options.iter().map(OsString::from).collect();
    load(Some(&file), &options, Purpose::Run)
}

/// The problems of a configuration, or its warnings, without the folder.
fn said(text: &str, options: &[&str]) -> String {
    let lines = match load_text(text, options) {
        Ok(loaded) => loaded.warnings.join("\n"),
        Err(refusal) => refusal.to_string().lines().skip(1).collect::<Vec<_>>().join("\n"),
    };
    let short = |line: &str| match line.find("c.toml:") {
        Some(start) => line[start..].to_owned(),
        None => line.trim().to_owned(),
    };
    lines.lines().map(short).collect::<Vec<_>>().join("\n")
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&said(&format!("{LEAST}{text}"), &[]));
}

fn check_options(options: &[&str], expected: Expect) {
    expected.assert_eq(&said(LEAST, options));
}

#[test]
fn unknown_keys_come_with_the_nearest() {
    check(
        r#"
        frobnicate = true
        [filter]
        plise = 24
        pool = 3
        [inptu]
        files = []
        [score.limit]
        dept = 3
        "#,
        expect![[r#"
            c.toml:4: frobnicate: unknown key: there are aggregate, book, checkpoint, filter, input, score and threshold
            c.toml:6: filter.plise: unknown key: did you mean plies?
            c.toml:7: filter.pool: unknown key here: it belongs in [score]
            c.toml:8: inptu: unknown key: did you mean input?
            c.toml:11: score.limit.dept: unknown key: did you mean depth?"#]],
    );
}

#[test]
fn wrong_values_are_told_what_is_right() {
    check(
        r#"
        [filter]
        plies = "24"
        short = "mat"
        line_end = 3
        dedupe = "yes"
        outcomes = "white"
        since = 1990.06
        min_elo = 9000
        time_control = ["rapid", "blits"]
        [score]
        engine = "stockfish"
        limit = 8
        options = { Hash = [1] }
        cache = 99999999999999999999
        pool = -1
        [threshold]
        win_min_cp = 0.5
        draw_min_cp = 1000000
        "#,
        expect![[r#"
            c.toml:5: filter.plies: "24" is not a whole number: it is in half-moves, 24 for twelve moves of each side
            c.toml:6: filter.short: "mat" is not "mate", "drop" or "keep": did you mean "mate"?
            c.toml:7: filter.line_end: 3 is not "winner-to-move" or "fixed"
            c.toml:8: filter.dedupe: "yes" is not true or false
            c.toml:9: filter.outcomes: "white" is not an array: write ["white"]
            c.toml:10: filter.since: 1990.06 is not text in quotes: write "1990.06"
            c.toml:11: filter.min_elo: 9000 is out of range: write from 0 to 4000, in rating points
            c.toml:12: filter.time_control.1: "blits" is not "bullet", "blitz", "rapid", "classical" or "correspondence": did you mean "blitz"?
            c.toml:14: score.engine: "stockfish" is not "builtin", "none" or an array: a command is written ["stockfish"]
            c.toml:15: score.limit: 8 is not a table
            c.toml:16: score.options.Hash: an array is not true or false, a whole number or text in quotes
            c.toml:17: score.cache: 99999999999999999999 is too large
            c.toml:18: score.pool: -1 is out of range: write from 0 to 1024
            c.toml:20: threshold.win_min_cp: 0.5 is not a whole number: it is in centipawns, 100 to a pawn
            c.toml:21: threshold.draw_min_cp: 1000000 is out of range: write from 0 to 100000, in centipawns, 100 to a pawn"#]],
    );
}

#[test]
fn values_carry_their_unit() {
    check(
        r#"
        input.chunk = "1 parsec"
        checkpoint.every = 10
        score.timeout = "1000"
        score.limit.movetime = 1.5
        aggregate.memory = "99999999999GiB"
        "#,
        expect![[r#"
            c.toml:4: input.chunk: "1 parsec" is not a size: write a whole number and its unit, as in "512MiB"
            c.toml:5: checkpoint.every: "10" is not a time: write a whole number and its unit, as in "30s" or "50ms"
            c.toml:6: score.timeout: "1000" is not a time: write a whole number and its unit, as in "30s" or "50ms"
            c.toml:7: score.limit.movetime: "1.5" is not a time: write a whole number and its unit, as in "30s" or "50ms"
            c.toml:8: aggregate.memory: "99999999999GiB" is not a size: write a whole number and its unit, as in "512MiB""#]],
    );
}

#[test]
fn what_is_missing_or_at_odds_is_said() {
    expect![[r#"
        c.toml: book: no book to write: add a [[book]] table with format = "sob" and path = "out/book"
        c.toml: input.files: no games to read: name files, folders, globs or "-""#]].assert_eq(&said("", &[]));
    expect![[r#"
        c.toml:2: input.files: no games to read: name files, folders, globs or "-"
        c.toml:3: book.0.path: missing: it must be text in quotes"#]]
    .assert_eq(&said("[input]\nfiles = []\n[[book]]\nformat = \"sob\"\n", &[]));
    check(
        r#"
        filter.outcomes = ["white", "white"]
        filter.since = "1990.13"
        filter.until = "199"
        filter.where = ["WhiteElo >= 2200", "Event"]
        score.engine = []
        score.limit = { depth = 8, nodes = 100 }
        score.timeout = "0s"
        threshold.win_max_cp = 100
        "#,
        expect![[r#"
            c.toml:4: filter.outcomes: an outcome stands twice: name each once
            c.toml:5: filter.since: "1990.13" is no date: write "1990", "1990.06" or "1990.06.15"
            c.toml:6: filter.until: "199" is no date: write "1990", "1990.06" or "1990.06.15"
            c.toml:7: filter.where.1: "Event" is no condition: write a tag, one of = != < <= > >= ~ !~, and a value, as in "WhiteElo >= 2200"
            c.toml:8: score.engine: no program named: write ["stockfish"] or "builtin"
            c.toml:9: score.limit: exactly one of depth, nodes and movetime ends a search: write { depth = 8 }
            c.toml:10: score.timeout: no time at all is not enough: write a time, as in "10s"
            c.toml:11: threshold.win_max_cp: 100 centipawns are not above win_min_cp, 100 centipawns: no line would be kept"#]],
    );
    check(
        "score.limit = {}\nfilter.since = '1991.02'\nfilter.until = '1990'\nfilter.outcomes = []",
        expect![[r#"
            c.toml:3: score.limit: exactly one of depth, nodes and movetime ends a search: write { depth = 8 }
            c.toml:5: filter.until: "1990" is before filter.since: no game would count
            c.toml:6: filter.outcomes: no game would count: write ["white", "black"]"#]],
    );
    expect![[r#"
        c.toml:2: input.files.0: an empty name: write "." for this folder
        c.toml:8: book.1.path: out//x is another book's path too: give each its own"#]]
    .assert_eq(&said(
        r#"
        input.files = ["", "b.pgn"]
        [[book]]
        format = "sob"
        path = "out/x"
        [[book]]
        format = "polyglot"
        path = "out//x"
        "#,
        &[],
    ));
    expect![[r#"
        c.toml:1: input.files: "-" is not an array: write ["-"]
        c.toml:2: book: a table is not an array of tables, each under [[double brackets]]"#]]
    .assert_eq(&said("input.files = '-'\n[book]\nformat = 'bin'", &[]));
}

#[test]
fn a_dialect_that_cannot_be_is_said() {
    check(
        r#"
        score.engine = ["engine"]
        score.console.preset = "gavoita"
        score.console.per_pawn = 0
        "#,
        expect![[r#"
            c.toml:5: score.console.preset: "gavoita" is not "gaviota" or "phalanx"
            c.toml:6: score.console.per_pawn: 0 is out of range: write from 1 to 1000000"#]],
    );
    check(
        r#"
        score.console = { query = ["score"], result = "(\\d+)" }
        "#,
        expect![[r#"
            c.toml:4: score.console: only a command has a prompt: write engine = ["gaviota"], or leave it out
            c.toml:4: score.console.query: no line has {fen} in it"#]],
    );
    check(
        r#"
        score.engine = ["engine"]
        score.console = { preset = "phalanx", result = "(" }
        "#,
        expect![[r#"c.toml:5: score.console.result: "(": unclosed group"#]],
    );
}

#[test]
fn chances_need_somebody_who_says_them_and_a_band_two_ends() {
    check(
        r#"
        threshold.win_min_wdl = 600
        threshold.win_max_wdl = 600
        threshold.win_max_cp = 300
        "#,
        expect![[r#"
            c.toml:4: threshold.win_min_wdl: the built-in engine says no chances: take one that does, as score.engine = ["stockfish"]
            c.toml:5: threshold.win_max_wdl: 600 is not above win_min_wdl, 600: no line would be kept
            c.toml:6: threshold.win_max_cp: won lines are judged by win_min_wdl, not by centipawns: leave one out"#]],
    );
    check(
        r#"
        score.engine = ["engine"]
        threshold.win_max_wdl = 600
        "#,
        expect![
            "c.toml:5: threshold.win_max_wdl: the upper end of a band: write win_min_wdl, too, if only 0"
        ],
    );
    check(
        r#"
        score.engine = ["gaviota"]
        score.console.preset = "gaviota"
        score.cp_scale = 0.5
        score.mate_threshold = 30000
        score.tag = "two\nlines"
        threshold.win_min_wdl = 1000
        "#,
        expect![[r#"
            c.toml:6: score.cp_scale: is for UCI: at a prompt it is score.console.per_pawn
            c.toml:7: score.mate_threshold: is for UCI: at a prompt it is score.console.mate_from
            c.toml:8: score.tag: more than one line: any words on one line will do
            c.toml:9: threshold.win_min_wdl: a prompt says no chances: take one that does, as score.engine = ["stockfish"]
            c.toml:9: threshold.win_min_wdl: nobody expects more than 1000 per mille: no line would be kept"#]],
    );
    check(
        r#"
        score.engine = ["engine"]
        score.cp_scale = 0
        threshold.win_min_wdl = 0.6
        threshold.win_max_wdl = 1001
        "#,
        expect![[r#"
            c.toml:5: score.cp_scale: 0 is out of range: write from 0.0001 to 10000
            c.toml:6: threshold.win_min_wdl: 0.6 is not a whole number: it is in expected score per mille, 500 for even
            c.toml:7: threshold.win_max_wdl: 1001 is out of range: write from 0 to 1000, in expected score per mille, 500 for even"#]],
    );
}

#[test]
fn doubtful_values_are_warned_of() {
    check(
        "filter.plies = 200\nthreshold.win_min_cp = 5000\nscore.engine = 'none'",
        expect![[r#"
        c.toml:2: book.0.weight: "score" needs scores, and score.engine is "none": write weight = "wins"
        c.toml:3: filter.plies: 200 half-moves are 100 moves of each side: few would call that an opening
        c.toml:4: threshold.win_min_cp: 5000 centipawns are 50 pawns: is that meant? 100 is one pawn"#]],
    );
}

#[test]
fn broken_syntax_does_not_hide_the_rest() {
    check(
        "[filter]\nplise = 3\nplies = \nshort = keep\n[filter]\n[threshold\nwin_min_cp = 0.5\n",
        expect![[r#"
            c.toml:4: filter.plise: unknown key: did you mean plies?
            c.toml:5: string values must be quoted, expected literal string, in `plies =`
            c.toml:6: string values must be quoted, expected literal string, in `short = keep`
            c.toml:7: duplicate key, in `[filter]`
            c.toml:8: unclosed table, expected `]`, in `[threshold`
            c.toml:9: win_min_cp: unknown key here: it belongs in [threshold]"#]],
    );
}

#[test]
fn options_are_named_when_they_are_wrong() {
    check_options(
        &[
            "plies",
            "filter.plise=3",
            "filter.plies=0",
            "filter.short=kep",
            "book.codec=lzma",
            "book.7.codec=lzma",
            "filter.dedupe.x=1",
            "score.limit.depth=8",
            "score.limit.nodes=8",
        ],
        expect![[r#"
            --set book.7.codec: "7" is no place in an array of 1: write a number, 0 for the first and 1 to add one
            --set book.codec: "codec" is no place in an array of 1: write a number, 0 for the first and 1 to add one
            --set filter.dedupe: a table is not true or false
            --set filter.plies: 0 is out of range: write from 1 to 1000, in half-moves, 24 for twelve moves of each side
            --set filter.plise: unknown key: did you mean plies?
            --set filter.short: "kep" is not "mate", "drop" or "keep": did you mean "keep"?
            --set plies: no value: write --set key=value, as in --set filter.plies=24
            --set score.limit: exactly one of depth, nodes and movetime ends a search: write { depth = 8 }"#]],
    );
}

#[test]
fn options_lie_over_the_file() {
    let options = [
        "filter.plies=30",
        "filter.short=drop",
        "filter.since=1990.06",
        "score.engine=[\"stockfish\", \"-x\"]",
        "score.limit.nodes=5000",
        "score.options.Skill Level=3",
        "book.0.codec=lzma",
        "book.1.format=polyglot",
        "book.1.path=b.bin",
        "input.files=[\"x.pgn\"]",
    ];
    let text = format!("{LEAST}score.limit.depth = 3\n");
    let config = load_text(&text, &options).unwrap().config;
    let mut wanted: Config = toml::from_str(
        r#"
        input.files = ["x.pgn"]
        [filter]
        plies = 30
        short = "drop"
        since = "1990.06"
        [score]
        engine = ["stockfish", "-x"]
        limit.nodes = 5000
        options = { "Skill Level" = 3 }
        [[book]]
        format = "sob"
        path = ""
        codec = "lzma"
        [[book]]
        format = "polyglot"
        path = "b.bin"
        "#,
    )
    .unwrap();
    wanted.checkpoint.dir = config.checkpoint.dir.clone();
    wanted.book[0].path = config.book[0].path.clone();
    assert_eq!(config, wanted);
}

#[test]
fn paths_start_at_the_file_and_those_of_options_here() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(
        at("c.toml"),
        "input.files = [\"a.pgn\", \"-\", \"/b.pgn\"]\nbook = [{ format = \"sob\", path = \"o\" }]",
    )
    .unwrap();
    let loaded = |options: &[&str]| {
        let options: Vec<OsString> = options.iter().map(OsString::from).collect();
        load(Some(&at("c.toml")), &options, Purpose::Run).unwrap().config
    };
    let config = loaded(&[]);
    assert_eq!(config.input.files, [at("a.pgn").to_str().unwrap(), "-", "/b.pgn"]);
    assert_eq!(config.checkpoint.dir, at("work"));
    assert_eq!(config.book[0].path, at("o"));

    let config = loaded(&["input.files=[\"a.pgn\"]", "checkpoint.dir=w", "book.0.path=p"]);
    assert_eq!(config.input.files, ["a.pgn"]);
    assert_eq!(config.checkpoint.dir, Path::new("w"));
    assert_eq!(config.book[0].path, Path::new("p"));
}

#[test]
fn a_scan_needs_neither_inputs_nor_books() {
    let config = load(None, &["filter.plies=30".into()], Purpose::Scan).unwrap().config;
    assert_eq!(config.filter.plies, 30);
    let refusal = load(None, &["filter.plies=x".into()], Purpose::Scan).unwrap_err();
    expect![[r#"
        the configuration has a problem
          --set filter.plies: "x" is not a whole number: it is in half-moves, 24 for twelve moves of each side"#]].assert_eq(&refusal.to_string());
}

#[cfg(unix)]
#[test]
fn text_that_is_not_utf8_is_refused_with_a_way_out() {
    use std::os::unix::ffi::OsStringExt;

    let latin1 = |text: &str| -> Vec<u8> { text.chars().map(|c| c as u8).collect() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    std::fs::write(&file, latin1("[input]\nfiles = [\"partida-é.pgn\"]")).unwrap();
    let refusal = load(Some(&file), &[], Purpose::Run).unwrap_err().to_string();
    assert!(refusal.contains("c.toml:2: not UTF-8: save the file as UTF-8"), "{refusal}");

    let option = OsString::from_vec(latin1("input.files=[\"é.pgn\"]"));
    let refusal = load(None, &[option], Purpose::Scan).unwrap_err().to_string();
    assert!(refusal.contains("--set input.files=[\"\u{fffd}.pgn\"]: not UTF-8"), "{refusal}");

    let odd = folder.path().join(OsString::from_vec(latin1("é")));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("c.toml"), LEAST).unwrap();
    let refusal = load(Some(&odd.join("c.toml")), &[], Purpose::Run).unwrap_err().to_string();
    assert!(refusal.contains("start the program in that folder"), "{refusal}");
}

#[test]
fn a_missing_file_says_how_to_make_one() {
    let refusal = load(Some(Path::new("nowhere.toml")), &[], Purpose::Run).unwrap_err();
    expect![[r#"
        the configuration has a problem
          nowhere.toml: there is no such file: name yours with --config, or make one with `tabiya config init > pipeline.toml`"#]].assert_eq(&refusal.to_string());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_default_file_says_what_the_defaults_are() {
    let loaded = load(Some(&root().join("pipeline.toml")), &[], Purpose::Run).unwrap();
    assert_eq!(loaded.warnings, [""; 0]);

    let config: Config = toml::from_str(DEFAULT_TEXT).unwrap();
    let inputs_and_books =
        Config { input: config.input.clone(), book: config.book.clone(), ..Config::default() };
    assert_eq!(config, inputs_and_books);
    assert_eq!(config.input.files, ["tests/data/sample.pgn.zst"]);
    let mut input = config.input;
    input.files = Vec::new();
    assert_eq!(input, Config::default().input);

    let least: Config = toml::from_str(
        "book = [{ format = 'sob', path = 'out/book' }, { format = 'polyglot', path = 'out/book.bin' }]",
    )
    .unwrap();
    assert_eq!(config.book, least.book);
}

#[test]
fn the_default_file_has_every_key() {
    let schema = schema::of_config();
    let (tree, problems) = Node::parse(DEFAULT_TEXT);
    assert_eq!(problems, []);
    let commented_out: BTreeSet<&str> = DEFAULT_TEXT
        .lines()
        .filter_map(|line| line.strip_prefix("# ")?.split_once(" = "))
        .map(|(key, _)| key)
        .collect();
    for (section, _) in schema["properties"].as_object().unwrap() {
        let part = schema::at(&schema, section).unwrap();
        let part = schema::at(&schema, &format!("{section}.0"))
            .filter(|_| section == "book")
            .unwrap_or(part);
        let (at, keys) = match section.as_str() {
            "book" => ("book.0".to_owned(), part["properties"].as_object().unwrap()),
            name => (name.to_owned(), part["properties"].as_object().unwrap()),
        };
        for (key, about) in keys {
            let optional = about.get("default").is_none();
            let there = tree.get(&format!("{at}.{key}")).is_some();
            assert!(there || (optional && commented_out.contains(key.as_str())), "{section}.{key}");
        }
    }
    for key in ["limit.nodes", "limit.movetime"] {
        assert!(commented_out.contains(key), "score.{key}");
    }
}

#[test]
fn the_presets_are_sound() {
    let presets = std::fs::read_dir(root().join("config")).unwrap();
    let mut names: Vec<String> = presets
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let loaded = load(Some(&path), &[], Purpose::Run);
            assert_eq!(loaded.unwrap().warnings, [""; 0], "{}", path.display());
            path.file_stem().unwrap().to_str().unwrap().to_owned()
        })
        .collect();
    names.sort();
    assert_eq!(names, ["gaviota", "lichess", "plain", "pwned"]);
}
