//! `cargo xtask polyglot-check`

use std::{collections::BTreeMap, fs, path::Path, process::Stdio};

use anyhow::{Context, Result, ensure};

use crate::{
    corpus::{self, Games, file_name},
    program,
    sift::sift,
    tabiya::{self, Book, PlainRun},
};

/// Moves of a position with their weights.
type Position = BTreeMap<u16, u16>;

/// polyglot halves the counts of a position whenever a move of it reaches so many games.
const HALVED_AT: u16 = 16_384;

/// Builds the plain book twice and compares every entry.
pub(crate) fn run(games: &Games) -> Result<()> {
    let text = readable(games)?;
    let tabiya = tabiya::build()?;
    let book = |path, weight| Book { format: "polyglot", path, weight, codec: "" };
    let books = [book("wins.bin", "wins"), book("games.bin", "games")];
    let run = PlainRun::new("polyglot-check", &text, &books)?;
    program::run(&mut run.command(&tabiya))?;
    let theirs = run.book("polyglot.bin");
    ensure!(make_book(&text, &theirs)?, "polyglot wrote no book of {}", text.display());
    let found =
        compare(&read(&run.book("wins.bin"))?, &read(&theirs)?, &read(&run.book("games.bin"))?);
    println!(
        "{} entries are equal, {} more are there in positions whose weights polyglot halves",
        found.equal, found.halved
    );
    for difference in found.differences.iter().take(20) {
        println!("{difference}");
    }
    ensure!(found.differences.is_empty(), "{} entries differ", found.differences.len());
    ensure!(found.equal > 0, "there is nothing to compare");
    Ok(())
}

/// One file of the games that polyglot reads; says what it leaves out.
pub(crate) fn readable(games: &Games) -> Result<std::path::PathBuf> {
    let mut parts = Vec::new();
    let book = program::bench_folder()?.join("trial.bin");
    for file in games.plain_files()? {
        let sifted = sift(&file)?;
        let name = file_name(&file);
        if sifted.kept > 0 && make_book(&sifted.path, &book)? {
            println!("{name}: {} of {} games suit polyglot", sifted.kept, sifted.read);
            parts.push(sifted.path);
        } else {
            println!("{name}: left out, polyglot stops in it");
        }
    }
    ensure!(!parts.is_empty(), "polyglot reads none of the files");
    corpus::join(&parts, "readable.pgn")
}

/// The command of polyglot for the plain book.
pub(crate) fn polyglot(games: &Path, book: &Path) -> Result<std::process::Command> {
    let mut polyglot = program::command("polyglot", "polyglot")?;
    polyglot.args(["make-book", "-max-ply", "24", "-min-game", "1", "-pgn"]).arg(games);
    polyglot.arg("-bin").arg(book).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(polyglot)
}

/// Whether polyglot wrote a book. Its exit status does not say.
fn make_book(games: &Path, book: &Path) -> Result<bool> {
    if book.exists() {
        fs::remove_file(book)?;
    }
    polyglot(games, book)?.status().context("cannot run polyglot")?;
    Ok(fs::metadata(book).is_ok_and(|meta| meta.len() > 0))
}

/// A whole book: 16 bytes an entry, numbers with the high byte first.
fn read(path: &Path) -> Result<BTreeMap<u64, Position>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(bytes.len().is_multiple_of(16), "{} ends inside an entry", path.display());
    let mut book: BTreeMap<u64, Position> = BTreeMap::new();
    for entry in bytes.chunks_exact(16) {
        let number = |range: std::ops::Range<usize>| {
            entry[range].iter().fold(0, |number: u64, &byte| number << 8 | u64::from(byte))
        };
        let (key, mv, weight) = (number(0..8), number(8..10), number(10..12));
        let twice = book.entry(key).or_default().insert(mv as u16, weight as u16);
        ensure!(twice.is_none(), "{}: {key:016x} has {mv:04x} twice", path.display());
    }
    Ok(book)
}

#[derive(Default)]
struct Comparison {
    equal: usize,
    halved: usize,
    differences: Vec<String>,
}

fn compare(
    ours: &BTreeMap<u64, Position>,
    theirs: &BTreeMap<u64, Position>,
    games: &BTreeMap<u64, Position>,
) -> Comparison {
    let mut found = Comparison::default();
    let nothing = Position::new();
    let keys: std::collections::BTreeSet<u64> = ours.keys().chain(theirs.keys()).copied().collect();
    for key in keys {
        let get = |book: &BTreeMap<u64, Position>| book.get(&key).unwrap_or(&nothing).clone();
        let (our_moves, their_moves) = (get(ours), get(theirs));
        let halved = get(games).values().any(|&games| games >= HALVED_AT);
        if halved && our_moves.keys().eq(their_moves.keys()) {
            found.halved += our_moves.len();
            continue;
        }
        let moves = our_moves.keys().chain(their_moves.keys());
        for mv in moves.collect::<std::collections::BTreeSet<_>>() {
            match (our_moves.get(mv), their_moves.get(mv)) {
                (ours, theirs) if ours == theirs => found.equal += 1,
                (ours, theirs) => found.differences.push(format!(
                    "{key:016x} {mv:04x}: ours {ours:?}, polyglot's {theirs:?}, halved: {halved}"
                )),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use tabiya_model::Outcome;
    use tabiya_testkit::{
        Game, LineEnd, Mix, Rules, Short, Style, Weight, generate, oracle, render, select,
    };

    use super::*;

    /// The oracle is what everything else is checked against; this is what the oracle is checked
    /// against.
    #[test]
    fn the_oracle_counts_as_polyglot_does() {
        let folder = program::bench_folder().unwrap();
        let (text, bin) = (folder.join("oracle.pgn"), folder.join("oracle.bin"));
        let text_of = |game: &Game| render(std::slice::from_ref(game), Style::Plain);
        let mut games = generate(21, 3_000, Mix::CLEAN);
        games.retain(|game| crate::sift::is_suitable(&text_of(game)));
        fs::write(&text, render(&games, Style::Plain)).unwrap();
        assert!(make_book(&text, &bin).unwrap());

        let rules = Rules {
            outcomes: vec![Outcome::White, Outcome::Black, Outcome::Draw],
            line_end: LineEnd::Fixed,
            short: Short::Keep,
            both_sides: true,
            ..Rules::default()
        };
        let book = select(&oracle(&games, &rules, None).book, Weight::Wins, 1, 0.0, 0);
        let mut ours: BTreeMap<u64, Position> = BTreeMap::new();
        for ((key, mv), tally) in &book {
            let weight = u16::try_from(Weight::Wins.of(tally)).unwrap();
            ours.entry(key.0).or_default().insert(mv.polyglot(), weight);
        }
        let found = compare(&ours, &read(&bin).unwrap(), &BTreeMap::new());
        assert!(found.differences.is_empty(), "{:#?}", &found.differences);
        assert!(games.len() > 500 && found.equal > 10_000, "{} entries", found.equal);
    }

    fn book(entries: &[(u64, u16, u16)]) -> BTreeMap<u64, Position> {
        let mut book: BTreeMap<u64, Position> = BTreeMap::new();
        for &(key, mv, weight) in entries {
            book.entry(key).or_default().insert(mv, weight);
        }
        book
    }

    #[test]
    fn every_difference_is_seen() {
        let ours = book(&[(1, 10, 4), (1, 11, 2), (2, 10, 1)]);
        assert_eq!(compare(&ours, &ours, &ours).equal, 3);
        for theirs in [
            book(&[(1, 10, 4), (1, 11, 3), (2, 10, 1)]),
            book(&[(1, 10, 4), (2, 10, 1)]),
            book(&[(1, 10, 4), (1, 11, 2), (2, 10, 1), (3, 9, 1)]),
        ] {
            assert_eq!(compare(&ours, &theirs, &ours).differences.len(), 1);
        }
    }

    #[test]
    fn halved_positions_are_compared_by_moves() {
        let games = book(&[(1, 10, 20_000), (1, 11, 9)]);
        let ours = book(&[(1, 10, 40_000), (1, 11, 9)]);
        let halved = book(&[(1, 10, 20_000), (1, 11, 5)]);
        assert_eq!(compare(&ours, &halved, &games).halved, 2);
        let lacking = book(&[(1, 10, 20_000)]);
        assert!(!compare(&ours, &lacking, &games).differences.is_empty());
    }
}
