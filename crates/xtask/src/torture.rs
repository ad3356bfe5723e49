//! `cargo xtask torture`: kills runs at random moments, and insists that nobody can tell.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tabiya_testkit::Rng;

use crate::{
    corpus::{self, Games},
    program, tabiya,
};

/// How much of it.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    games: Games,
    /// Kills.
    #[arg(long, default_value_t = 200)]
    rounds: u32,
    /// Where the moments come from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What a run leaves: its counts, and the bytes of its books and rejects.
#[derive(PartialEq)]
struct Outcome {
    counts: Value,
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// Runs once in peace, then again and again with kills, each series until it is done.
pub(crate) fn run(args: &Args) -> Result<()> {
    let tabiya = tabiya::build()?;
    let games = corpus::join(&args.games.plain_files()?, "all.pgn")?;
    let folder = program::bench_folder()?.join("torture");
    write_config(&folder, &games)?;

    start_over(&folder)?;
    let begun = Instant::now();
    let expected = finish(start(&tabiya, &folder)?, &folder)?;
    let whole = begun.elapsed();
    println!(
        "in peace: {} games, {} lines kept, {:.1} s",
        expected.counts["games"]["read"],
        expected.counts["lines"]["kept"],
        whole.as_secs_f64()
    );

    start_over(&folder)?;
    let mut rng = Rng::new(args.seed);
    let (mut kills, mut series, mut in_series) = (0, 0, 0);
    while kills < args.rounds || in_series > 0 {
        let moment = Duration::from_millis(rng.below(whole.as_millis() as usize / 3 + 1) as u64);
        let mut child = start(&tabiya, &folder)?;
        // Once there are enough, the series is let go to its end.
        let killed = kills < args.rounds && is_killed_after(&mut child, moment)?;
        if killed {
            kills += 1;
            in_series += 1;
            continue;
        }
        let outcome = finish(child, &folder)?;
        if outcome != expected {
            bail!("after {in_series} kills a run ended otherwise: see {}", folder.display());
        }
        series += 1;
        println!("series {series}: {in_series} kills, then books, rejects and counts as in peace");
        in_series = 0;
        start_over(&folder)?;
    }
    println!("{kills} kills in {series} series: every one ended as the run in peace");
    Ok(())
}

fn write_config(folder: &Path, games: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let config = format!(
        "[input]\nfiles = ['{}']\nchunk = \"256KiB\"\n\
         [score]\nlimit = {{ depth = 1 }}\n\
         [aggregate]\nmemory = \"4MiB\"\n\
         [checkpoint]\ndir = \"work\"\nevery = \"50ms\"\n\
         [[book]]\nformat = \"sob\"\npath = \"out/book\"\n\
         [[book]]\nformat = \"polyglot\"\npath = \"out/book.bin\"\n",
        games.display()
    );
    fs::write(folder.join("pipeline.toml"), config).context("cannot write the configuration")
}

fn start_over(folder: &Path) -> Result<()> {
    for made in ["work", "out"] {
        let path = folder.join(made);
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

fn start(tabiya: &Path, folder: &Path) -> Result<Child> {
    let mut command = Command::new(tabiya);
    command.args(["run", "--json"]).current_dir(folder).stdout(Stdio::piped());
    command.stderr(Stdio::null()).spawn().context("cannot start tabiya")
}

/// Waits for the moment; `false` if the run ended by itself before.
fn is_killed_after(child: &mut Child, moment: Duration) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < moment {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    // It may have ended in the very moment.
    Ok(!child.wait()?.success())
}

fn finish(child: Child, folder: &Path) -> Result<Outcome> {
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "a run failed: {}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let counts = ["games", "lines", "books", "stray_bytes", "without_marker", "warnings"]
        .map(|key| (key.to_owned(), report[key].clone()));
    let mut files = Vec::new();
    for name in ["out/book/hashes.sob", "out/book/moves.sob", "out/book.bin", "work/rejects.jsonl"]
    {
        let path = folder.join(name);
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        files.push((path, bytes));
    }
    Ok(Outcome { counts: Value::Object(counts.into_iter().collect()), files })
}
