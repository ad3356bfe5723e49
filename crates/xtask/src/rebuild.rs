//! `cargo xtask bench rebuild`: how fast scored lines become other books.

use std::{fs, process::Command, time::Instant};

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{
    bench::{median, sorted},
    corpus::{self, Games},
    program, tabiya,
};

/// Lines a second that are to be reached.
const GOAL: f64 = 1e6;
/// Lines in the journal, at least.
const LINES: u64 = 1_000_000;

/// Fills a journal with a million scored lines, then changes the threshold and runs again.
pub(crate) fn run(games: &Games, rounds: u32) -> Result<()> {
    let tabiya = tabiya::build()?;
    let all = corpus::join(&games.plain_files()?, "all.pgn")?;
    let folder = program::bench_folder()?.join("rebuild");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let scan = tabiya::json(Command::new(&tabiya).args(["scan", "--json"]).arg(&all))?;
    let accepted = scan["accepted"].as_u64().unwrap_or(0);
    ensure!(accepted > 0, "no game is accepted");
    // The same games under many names: each is an input of its own.
    for copy in 0..LINES.div_ceil(accepted) {
        fs::hard_link(&all, folder.join(format!("{copy:03}.pgn")))?;
    }
    let config = "[input]\nfiles = [\"*.pgn\"]\n[score]\nlimit = { depth = 1 }\n\
                  [checkpoint]\ndir = \"work\"\n\
                  [[book]]\nformat = \"sob\"\npath = \"out/book\"\n\
                  [[book]]\nformat = \"polyglot\"\npath = \"out/book.bin\"\n";
    fs::write(folder.join("pipeline.toml"), config)?;
    let run = |win_min_cp: u32| -> Result<(Value, f64)> {
        let mut command = Command::new(&tabiya);
        command.args(["run", "--json", "--set"]).arg(format!("threshold.win_min_cp={win_min_cp}"));
        let begun = Instant::now();
        let report = tabiya::json(command.current_dir(&folder))?;
        Ok((report, begun.elapsed().as_secs_f64()))
    };
    let (_, first) = run(100)?;
    let mut rates = Vec::new();
    let mut lines = 0;
    for round in 0..rounds {
        let (report, seconds) = run(101 + round)?;
        ensure!(report["bytes"] == 0, "games were read");
        lines = report["lines"]["seen"].as_u64().unwrap_or(0);
        rates.push(lines as f64 / seconds);
    }
    let rates = sorted(rates.into_iter());
    let (least, most) = (rates[0], rates[rates.len() - 1]);
    let verdict = if median(&rates) < GOAL { "  missed" } else { "" };
    println!("\nrebuild of {lines} lines, million lines a second, process included");
    println!("{:28} {:>6} {:>6} {:>6}  goal", "", "least", "median", "most");
    println!(
        "{:28} {:6.2} {:6.2} {:6.2}  {:.2}{verdict}",
        "rebuild",
        least / 1e6,
        median(&rates) / 1e6,
        most / 1e6,
        GOAL / 1e6
    );
    println!("  the first run, with the built-in engine, took {first:.1} s");
    Ok(())
}
