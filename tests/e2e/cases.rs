//! Inputs as people have them, each with what is true of it: `tests/cases/*/expected.json`.
//!
//! One test a kind of case. Counts come from `tabiya scan --json`; books from `tabiya run` without
//! an engine, all moves of both sides, read back by `tabiya probe` and `tabiya book dump`.

#![allow(clippy::unwrap_used, clippy::panic)] // what does not parse fails the test

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tabiya_model::PackedMove;
use tempfile::TempDir;

/// 24 plies of decisive games that have them: the profile of `tests/cases/README.md`.
const D24: [&str; 3] = ["filter.plies=24", "filter.line_end=fixed", "filter.short=drop"];

/// The longest line that can be asked for.
const MOST_PLIES: u64 = 1000;

struct Case {
    id: String,
    folder: PathBuf,
    expected: Value,
}

fn cases_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").canonicalize().unwrap()
}

fn case(id: &str) -> Case {
    let folder = cases_folder().join(id);
    let text = fs::read_to_string(folder.join("expected.json")).unwrap();
    Case { id: id.to_owned(), folder, expected: serde_json::from_str(&text).unwrap() }
}

/// All cases whose names begin with `kind`, in order.
fn cases(kind: &str) -> Vec<Case> {
    let mut ids: Vec<String> = fs::read_dir(cases_folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(kind))
        .collect();
    ids.sort();
    assert!(!ids.is_empty(), "no case of kind {kind}");
    ids.iter().map(|id| case(id)).collect()
}

impl Case {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The one input of most cases: `games.pgn`, compressed or not.
    fn games(&self) -> PathBuf {
        let mut names: Vec<PathBuf> =
            fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.retain(|path| file_name(path).starts_with("games.pgn"));
        assert_eq!(names.len(), 1, "{}: {names:?}", self.id);
        names.remove(0)
    }

    fn number(&self, fact: &str) -> u64 {
        self.expected[fact].as_u64().unwrap_or_else(|| panic!("{}: no number {fact}", self.id))
    }

    fn text(&self, fact: &str) -> &str {
        self.expected[fact].as_str().unwrap_or_else(|| panic!("{}: no text {fact}", self.id))
    }

    fn has(&self, fact: &str) -> bool {
        self.expected.get(fact).is_some()
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn tabiya() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tabiya"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn scan(files: &[PathBuf], settings: &[&str]) -> Output {
    let mut command = tabiya();
    command.args(["scan", "--json"]);
    for setting in D24.iter().chain(settings) {
        command.args(["--set", setting]);
    }
    command.args(files).output().unwrap()
}

fn json(output: &Output, what: &str) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{what}: {error} in {:?}; {}", output.stdout, stderr(output))
    })
}

/// The counts of a scan that must succeed.
fn counts(path: &Path, settings: &[&str]) -> Value {
    let what = path.display().to_string();
    let output = scan(&[path.to_owned()], settings);
    assert!(output.status.success(), "{what}: {}", stderr(&output));
    json(&output, &what)
}

/// Reasons with the number of games, whichever way the games were left out.
fn left_out(counts: &Value) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for kind in ["filtered", "rejected"] {
        for (reason, games) in counts[kind].as_object().unwrap() {
            *all.entry(reason.clone()).or_default() += games.as_u64().unwrap();
        }
    }
    all
}

/// What a reason of the cases may be called here: they leave some open.
fn names<'a>(case: &Case, reason: &'a str) -> Vec<&'a str> {
    match (case.id.as_str(), reason) {
        (_, "VARIANT_OR_SETUP") => vec!["VARIANT", "SETUP_POSITION"],
        // Two of its four games have no result either.
        ("PGN-11", "NO_MOVES") => vec!["NO_MOVES", "NOT_DECISIVE"],
        ("PRO-01", "ILLEGAL_MOVE") => vec!["ILLEGAL_MOVE", "SYNTAX"],
        _ => vec![reason],
    }
}

/// Checks all numbers that every case of games states.
fn check_counts(case: &Case, path: &Path) {
    let what = format!("{} {}", case.id, file_name(path));
    let counts = counts(path, &[]);
    assert_eq!(counts["read"], case.number("records"), "{what}: {counts}");
    let accepted = counts["accepted"].as_u64().unwrap();
    let out = left_out(&counts);
    assert_eq!(accepted + out.values().sum::<u64>(), case.number("records"), "{what}: {counts}");
    if let Some(either) = case.expected.get("accepted_d24_either") {
        assert!(either.as_array().unwrap().contains(&accepted.into()), "{what}: {counts}");
        return;
    }
    assert_eq!(accepted, case.number("accepted_d24"), "{what}: {counts}");
    for (reason, games) in case.expected["rejected"].as_object().unwrap() {
        let found = names(case, reason).iter().filter_map(|&name| out.get(name)).sum::<u64>();
        assert_eq!(found, games.as_u64().unwrap(), "{what} {reason}: {counts}");
    }
}

fn accepted_of_length(case: &Case, plies: u64) -> u64 {
    let setting = format!("filter.plies={plies}");
    counts(&case.games(), &[&setting])["accepted"].as_u64().unwrap()
}

/// The length of a game shows in the longest line it still has.
fn check_lengths(case: &Case) {
    if case.has("record1_plies") {
        let plies = case.number("record1_plies");
        let asked = plies.min(MOST_PLIES);
        let so_long = accepted_of_length(case, asked);
        assert!(so_long >= 1, "{}", case.id);
        if plies < MOST_PLIES {
            assert!(accepted_of_length(case, plies + 1) < so_long, "{}", case.id);
        }
    }
    if case.has("plies_each") {
        let plies = case.number("plies_each");
        assert_eq!(accepted_of_length(case, plies), case.number("records"), "{}", case.id);
        assert_eq!(accepted_of_length(case, plies + 1), 0, "{}", case.id);
    }
}

/// A run without an engine over one file: books weighted by games and by wins.
struct Run {
    what: String,
    folder: TempDir,
    output: Output,
}

fn run(case: &Case, settings: &[&str]) -> Run {
    let folder = TempDir::new().unwrap();
    // A literal TOML string: no escapes to think of.
    let config = format!(
        r#"
[input]
files = ['{}']
[score]
engine = "none"
[aggregate]
sides = "both"
[checkpoint]
dir = "work"
[[book]]
format = "polyglot"
path = "games.bin"
weight = "games"
[[book]]
format = "polyglot"
path = "wins.bin"
weight = "wins"
[[book]]
format = "sob"
path = "book"
weight = "games"
"#,
        case.games().display()
    );
    let file = folder.path().join("pipeline.toml");
    fs::write(&file, config).unwrap();
    let mut command = tabiya();
    command.args(["run", "--json", "-c"]).arg(&file);
    for setting in D24.iter().chain(settings) {
        command.args(["--set", setting]);
    }
    let output = command.output().unwrap();
    Run { what: format!("{} {settings:?}", case.id), folder, output }
}

impl Run {
    fn succeeded(self) -> Run {
        assert!(self.output.status.success(), "{}: {}", self.what, stderr(&self.output));
        self
    }

    fn book(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What was written down about bad games.
    fn rejects(&self) -> Vec<Value> {
        let mut folders = vec![self.folder.path().to_owned()];
        let mut rejects = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if file_name(&path).ends_with("rejects.jsonl") {
                    let text = fs::read_to_string(path).unwrap();
                    rejects.extend(
                        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()),
                    );
                }
            }
        }
        rejects
    }
}

fn probe(book: &Path, place: [&str; 2]) -> Value {
    let output = tabiya().args(["probe", "--json"]).arg(book).args(place).output().unwrap();
    let what = format!("probe {} {place:?}", book.display());
    assert!(output.status.success(), "{what}: {}", stderr(&output));
    json(&output, &what)
}

/// The moves of a position as SAN with their weights.
fn moves_at(book: &Path, place: [&str; 2]) -> BTreeMap<String, u64> {
    probe(book, place)["moves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["san"].as_str().unwrap().to_owned(), m["weight"].as_u64().unwrap()))
        .collect()
}

/// All entries, one JSON object a line.
fn dump(book: &Path) -> Vec<Value> {
    let output = tabiya().args(["book", "dump", "--json"]).arg(book).output().unwrap();
    assert!(output.status.success(), "dump {}: {}", book.display(), stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn has_key(entries: &[Value], key: &str) -> bool {
    entries.iter().any(|entry| entry["key"] == key)
}

/// All games have the same first 24 plies: 24 entries, each with all games.
fn check_one_line(case: &Case) {
    let run = run(case, &[]).succeeded();
    let entries = dump(&run.book("games.bin"));
    assert_eq!(entries.len(), 24, "{}", case.id);
    for entry in entries {
        assert_eq!(entry["weight"], case.number("records"), "{}: {entry}", case.id);
    }
    assert_eq!(dump(&run.book("book")).len(), 24, "{}", case.id);
}

/// The record of a bad game names the ply and what stood there.
fn check_reject(case: &Case, run: &Run, game: Option<u64>, ply: u64, token: Option<&str>) {
    let rejects = run.rejects();
    let found = rejects.iter().find(|reject| {
        let detail = reject["detail"].as_str().unwrap();
        let mut numbers = detail.split(|c: char| !c.is_ascii_digit());
        game.is_none_or(|game| reject["game"] == game)
            && numbers.any(|number| number == ply.to_string())
            && token.is_none_or(|token| detail.contains(token))
    });
    let found = found.unwrap_or_else(|| {
        panic!("{}: no reject at ply {ply} of game {game:?}: {rejects:?}", case.id)
    });
    assert!(!found["raw"].as_str().unwrap().is_empty(), "{}", case.id);
}

#[test]
fn every_case_belongs_to_a_test() {
    let kinds = [
        "PGN-", "ENC-", "RES-", "LEN-", "SAN-", "FEN-", "VAR-", "CMP-", "AGG-", "EPK-", "CAS-",
        "PRO-", "WGT-", "BIG-", "BK-", "OPS-", "ENG-",
    ];
    for entry in fs::read_dir(cases_folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || kinds.iter().any(|kind| name.starts_with(kind)), "{name}");
    }
}

#[test]
fn pgn_grammar() {
    for case in cases("PGN-") {
        check_counts(&case, &case.games());
        check_lengths(&case);
        if case.has("distinct_lines") {
            check_one_line(&case);
        }
        if case.has("fen_after_ply5") {
            let run = run(&case, &[]).succeeded();
            let moves = moves_at(&run.book("games.bin"), ["--fen", case.text("fen_after_ply5")]);
            let counted = case.expected["counted"].as_array().unwrap();
            assert_eq!(moves.len(), counted.len(), "{}: {moves:?}", case.id);
            for san in counted {
                assert!(moves.contains_key(san.as_str().unwrap()), "{}: {moves:?}", case.id);
            }
        }
    }
}

#[test]
fn encodings() {
    for case in cases("ENC-") {
        check_counts(&case, &case.games());
    }
}

#[test]
fn results() {
    for case in cases("RES-") {
        check_counts(&case, &case.games());
    }
}

#[test]
fn short_games() {
    for case in cases("LEN-") {
        check_counts(&case, &case.games());
        let nothing = run(&case, &[]).output;
        let told = stderr(&nothing).contains("empty");
        assert!(!nothing.status.success() || told, "{}: {}", case.id, stderr(&nothing));

        let facts = &case.expected["min_plies_off"];
        let all = run(&case, &["filter.short=keep"]).succeeded();
        let counts = counts(&case.games(), &["filter.short=keep"]);
        assert_eq!(counts["accepted"], facts["accepted"], "{}: {counts}", case.id);
        assert_eq!(facts["pairs"], dump(&all.book("games.bin")).len(), "{}", case.id);
        let start = moves_at(&all.book("games.bin"), ["--moves", ""]);
        assert_eq!(facts["start_e2e4"], start["e4"], "{}: {start:?}", case.id);
        assert_eq!(facts["start_f2f3"], start["f3"], "{}: {start:?}", case.id);
    }
}

#[test]
fn illegal_and_odd_moves() {
    for case in cases("SAN-") {
        check_counts(&case, &case.games());
        check_lengths(&case);
        if case.has("distinct_lines") {
            check_one_line(&case);
        }
        let run = run(&case, &[]).succeeded();
        // A fault beyond the line may go unseen.
        if case.has("first_bad_ply") && !case.has("accepted_d24_either") {
            let ply = case.number("first_bad_ply");
            check_reject(&case, &run, None, ply, Some(case.text("bad_token")));
        }
        for (game, ply) in case.expected["bad"].as_object().into_iter().flatten() {
            check_reject(&case, &run, game.parse().ok(), ply.as_u64().unwrap(), None);
        }
    }
}

#[test]
fn set_up_positions() {
    for case in cases("FEN-") {
        check_counts(&case, &case.games());
        let plain = run(&case, &[]).succeeded();
        if case.has("fen_cleaned") {
            let found = probe(&plain.book("games.bin"), ["--fen", case.text("fen_cleaned")]);
            assert_eq!(found["key"], case.text("key"), "{}: {found}", case.id);
        }
        if !case.has("accepted_if_setup_allowed") {
            continue;
        }
        let settings = ["filter.setup_positions=true"];
        let counts = counts(&case.games(), &settings);
        assert_eq!(counts["accepted"], case.number("accepted_if_setup_allowed"), "{}", case.id);
        let allowed = run(&case, &settings).succeeded();
        let book = allowed.book("games.bin");
        let key = if case.has("key") { case.text("key") } else { case.text("key_with") };
        let found = probe(&book, ["--fen", case.text("fen")]);
        assert_eq!(found["key"], key, "{}: {found}", case.id);
        assert!(has_key(&dump(&book), key), "{}", case.id);
        assert!(!has_key(&dump(&plain.book("games.bin")), key), "{}", case.id);
        let first = if case.has("first_move") { case.text("first_move") } else { "fxe6" };
        let moves = moves_at(&book, ["--fen", case.text("fen")]);
        assert_eq!(moves.keys().collect::<Vec<_>>(), [first], "{}", case.id);
        if case.has("key_without") {
            assert!(!has_key(&dump(&book), case.text("key_without")), "{}", case.id);
            let after = moves_at(&book, ["--fen", case.text("fen_after")]);
            assert_eq!(after.len(), 1, "{}: {after:?}", case.id);
        }
    }
}

#[test]
fn variants() {
    for case in cases("VAR-") {
        check_counts(&case, &case.games());
    }
}

#[test]
fn sound_compressed_files() {
    for case in [case("CMP-01"), case("CMP-04"), case("CMP-13")] {
        let path = if case.id == "CMP-13" { case.file("long.pgn.zst") } else { case.games() };
        check_counts(&case, &path);
    }
    let padded = case("CMP-07");
    for name in ["garbage.pgn.gz", "zeros.pgn.gz"] {
        let output = scan(&[padded.file(name)], &[]);
        let counts = json(&output, name);
        assert_eq!(counts["read"], padded.number("records"), "{name}: {counts}");
        assert_eq!(counts["accepted"], padded.number("accepted_d24"), "{name}: {counts}");
        if name == "garbage.pgn.gz" {
            assert!(stderr(&output).contains(name), "{}", stderr(&output));
        }
    }
    let misnamed = case("CMP-09");
    for name in ["plain-text.pgn.gz", "gzip-data.pgn", "zstd-data.pgn.bz2", "xz-data"] {
        check_counts(&misnamed, &misnamed.file(name));
    }
}

#[test]
fn broken_compressed_files() {
    let cut = case("CMP-05");
    let sound = case("CMP-11").file("good.pgn");
    for (name, facts) in
        [("one-stream.pgn.bz2", "one_stream"), ("two-streams.pgn.bz2", "two_streams")]
    {
        for files in [vec![cut.file(name)], vec![cut.file(name), sound.clone()]] {
            let output = scan(&files, &[]);
            let told = stderr(&output);
            assert!(!output.status.success(), "{name}");
            assert!(told.contains(name) && told.contains("TRUNCATED"), "{name}: {told}");
            let counts = json(&output, name);
            let sound_games = if files.len() > 1 { 2 } else { 0 };
            let rescued = cut.expected[facts]["records"].as_u64().unwrap();
            let read = counts["read"].as_u64().unwrap();
            assert!([sound_games, sound_games + rescued].contains(&read), "{name}: {counts}");
            assert_eq!(counts["accepted"], read, "{name}: {counts}");
        }
    }
}

#[test]
fn empty_files() {
    let case = case("CMP-11");
    let failed: Vec<&str> = case.expected["failed_inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let mut files: Vec<PathBuf> = failed.iter().map(|name| case.file(name)).collect();
    files.extend([case.file("empty.pgn"), case.file("good.pgn")]);
    let output = scan(&files, &[]);
    let told = stderr(&output);
    assert!(!output.status.success(), "{told}");
    for name in failed {
        let line = told.lines().find(|line| line.contains(name));
        let line = line.unwrap_or_else(|| panic!("{name} goes unnamed: {told}"));
        assert!(line.contains("TRUNCATED") || line.contains("EMPTY"), "{line}");
    }
    let warned = |line: &str| line.contains("empty.pgn") && !line.contains("empty.pgn.");
    assert!(told.lines().any(warned), "{told}");
    let counts = json(&output, "CMP-11");
    assert_eq!(counts["read"], case.number("records"), "{counts}");
    assert_eq!(counts["accepted"], case.number("accepted_d24"), "{counts}");
}

#[test]
fn transpositions() {
    let case = case("AGG-01");
    check_counts(&case, &case.games());
    let run = run(&case, &[]).succeeded();
    let place = ["--fen", case.text("fen")];
    let by_uci = |book: &str| -> BTreeMap<String, u64> {
        probe(&run.book(book), place)["moves"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| (m["uci"].as_str().unwrap().to_owned(), m["weight"].as_u64().unwrap()))
            .collect()
    };
    let (games, wins) = (by_uci("games.bin"), by_uci("wins.bin"));
    assert_eq!(probe(&run.book("games.bin"), place)["key"], case.text("key"));
    let facts = case.expected["moves"].as_object().unwrap();
    assert_eq!(games.len(), facts.len(), "{games:?}");
    for (uci, numbers) in facts {
        let number = |index: usize| numbers[index].as_u64().unwrap();
        assert_eq!(games[uci], number(0), "{uci}: {games:?}");
        // White is to move; a move that won nothing is not in a book by wins.
        assert_eq!(wins.get(uci).copied().unwrap_or(0), 2 * number(1), "{uci}: {wins:?}");
    }
}

#[test]
fn duplicates() {
    let case = case("AGG-03");
    let off = counts(&case.games(), &[]);
    assert_eq!(off["accepted"], case.number("accepted_dedupe_off"), "{off}");
    let on = counts(&case.games(), &["filter.dedupe=true"]);
    assert_eq!(on["read"], case.number("records"), "{on}");
    assert_eq!(on["accepted"], case.number("accepted_dedupe_on"), "{on}");
    assert_eq!(left_out(&on)["DUPLICATE"], case.number("duplicates"), "{on}");
}

#[test]
fn en_passant_keys() {
    let case = case("EPK-01");
    check_counts(&case, &case.games());
    let book = case.file("book.bin");
    for fact in case.expected["keys"].as_array().unwrap() {
        for place in ["moves", "fen"] {
            let found = probe(&book, [&format!("--{place}"), fact[place].as_str().unwrap()]);
            assert_eq!(found["key"], fact["key"], "{fact}");
        }
    }
    let entry = &case.expected["book.bin"];
    let found = probe(&book, ["--moves", "c4 a6 c5 b5"]);
    assert_eq!(found["key"], entry["key"]);
    assert_eq!(found["moves"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["moves"][0]["uci"], entry["move"], "{found}");
    assert_eq!(found["moves"][0]["weight"], entry["weight"], "{found}");
    let run = run(&case, &[]).succeeded();
    assert!(has_key(&dump(&run.book("games.bin")), entry["key"].as_str().unwrap()));
}

#[test]
fn castling() {
    let case = case("CAS-01");
    check_counts(&case, &case.games());
    let run = run(&case, &[]).succeeded();
    let book = run.book("games.bin");
    let entries = dump(&book);
    for fact in case.expected["castlings"].as_array().unwrap() {
        let found = probe(&book, ["--fen", fact["fen"].as_str().unwrap()]);
        assert_eq!(found["key"], fact["key"], "{fact}");
        let moves = found["moves"].as_array().unwrap();
        assert!(moves.iter().any(|m| m["san"] == fact["san"]), "{found}");
        let word = squares(fact["raw"].as_str().unwrap());
        let stored = |entry: &&Value| entry["key"] == fact["key"] && entry["move"] == word;
        assert!(entries.iter().any(|entry| stored(&entry)), "{fact}");
    }
}

/// The squares in a move word, as a dump prints them.
fn squares(hex: &str) -> String {
    PackedMove(u16::from_str_radix(hex.trim_start_matches("0x"), 16).unwrap()).to_string()
}

#[test]
fn old_castling() {
    let case = case("CAS-03");
    let book = case.file("book.bin");
    let place = ["--moves", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6"];
    assert_eq!(probe(&book, place)["key"], case.text("key"));
    let moves = moves_at(&book, place);
    assert_eq!(moves, BTreeMap::from([("O-O".to_owned(), 5), ("d3".to_owned(), 3)]));
    let entries = dump(&book);
    for fact in case.expected["entries"].as_array().unwrap() {
        let word = squares(fact["raw"].as_str().unwrap());
        let stored =
            entries.iter().any(|entry| entry["move"] == word && entry["weight"] == fact["weight"]);
        assert!(stored, "{fact}");
    }
}

#[test]
fn promotions() {
    let case = case("PRO-01");
    check_counts(&case, &case.games());
    let run = run(&case, &[]).succeeded();
    for (game, ply) in case.expected["first_bad_ply"].as_object().unwrap() {
        check_reject(&case, &run, game.parse().ok(), ply.as_u64().unwrap(), None);
    }
}

#[test]
fn weights_beyond_sixteen_bits() {
    let case = case("WGT-01");
    check_counts(&case, &case.games());
    let run = run(&case, &[]).succeeded();
    let start = moves_at(&run.book("games.bin"), ["--moves", ""]);
    let (e4, d4) = (start["e4"], start["d4"]);
    assert!((60_000..=65_535).contains(&e4), "{start:?}");
    let ratio = e4 as f64 / d4 as f64;
    assert!((ratio / case.expected["ratio"].as_f64().unwrap() - 1.0).abs() < 0.01, "{start:?}");
}

#[test]
fn a_very_long_game() {
    let case = case("BIG-01");
    check_counts(&case, &case.games());
    check_lengths(&case);
    let run = run(&case, &[]).succeeded();
    let entries = dump(&run.book("games.bin"));
    assert!((24..=2 * 24).contains(&entries.len()), "{}", entries.len());
}

#[test]
fn damaged_books() {
    let case = case("BK-01");
    let empty = case.file("empty.bin");
    let info = tabiya().args(["book", "info", "--json"]).arg(&empty).output().unwrap();
    assert!(info.status.success(), "{}", stderr(&info));
    assert_eq!(json(&info, "empty.bin")["entries"], case.expected["empty"]["entries"]);
    assert!(moves_at(&empty, ["--moves", ""]).is_empty());

    let torn = case.file("torn.bin");
    let verify = tabiya().args(["book", "verify"]).arg(&torn).output().unwrap();
    assert!(!verify.status.success());
    let info = tabiya().args(["book", "info", "--json"]).arg(&torn).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&info.stdout), stderr(&info));
    assert!(said.contains("55") || said.contains("16"), "{said}");
    let whole = case.expected["torn"]["whole_entries"].as_u64().unwrap();
    let dump = tabiya().args(["book", "dump", "--json"]).arg(&torn).output().unwrap();
    let lines = String::from_utf8_lossy(&dump.stdout).lines().count() as u64;
    assert!(lines == whole || (!dump.status.success() && lines == 0), "{lines}");
}
