//! `cargo xtask scan-check`

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::{corpus, program, sift::records, tabiya};

const SCRIPT: &str = include_str!("scan_check.py");

/// 24 plies of decisive games that have them.
const D24: [&str; 3] = ["filter.plies=24", "filter.line_end=fixed", "filter.short=drop"];

/// What to count.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of PGN, compressed or not.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Count the first so many games of each file; 0: all.
    #[arg(short, long, default_value_t = 5_000)]
    n: usize,
}

/// Prints both counts of each file and fails if they differ.
pub(crate) fn run(args: &Args) -> Result<()> {
    let program = tabiya::build()?;
    let mut differing = 0;
    for file in &args.files {
        let text = first_records(&corpus::plain(file)?, args.n)?;
        let ours = tabiya::json(&mut scan(&program, &text))?;
        let theirs = tabiya::json(program::python_chess()?.args(["-c", SCRIPT]).arg(&text))?;
        println!("{}", file.display());
        differing += usize::from(!same(&ours, &theirs));
    }
    ensure!(differing == 0, "{differing} of {} files are counted differently", args.files.len());
    Ok(())
}

fn scan(program: &Path, text: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["scan", "--json"]);
    for setting in D24 {
        command.args(["--set", setting]);
    }
    command.arg(text);
    command
}

/// A file of the first `n` records, since python-chess needs a second for a thousand.
fn first_records(file: &Path, n: usize) -> Result<PathBuf> {
    if n == 0 {
        return Ok(file.to_owned());
    }
    let path = program::bench_folder()?.join(format!("first-{n}-{}", corpus::file_name(file)));
    let text = fs::read(file)?;
    let mut out = std::io::BufWriter::new(fs::File::create(&path)?);
    for record in records(&text).take(n) {
        out.write_all(record)?;
    }
    out.flush()?;
    Ok(path)
}

/// Prints what both counted.
fn same(ours: &Value, theirs: &Value) -> bool {
    let mut same = true;
    println!("  {:18} {:>10} {:>12}", "", "tabiya", "python-chess");
    for name in names(ours, theirs) {
        let (mine, other) = (count(ours, &name), count(theirs, &name));
        let mark = if mine == other { "" } else { "  differs" };
        println!("  {name:18} {mine:>10} {other:>12}{mark}");
        same &= mine == other;
    }
    same
}

fn names(ours: &Value, theirs: &Value) -> Vec<String> {
    let mut reasons = BTreeSet::new();
    for counts in [ours, theirs] {
        for kind in ["filtered", "rejected"] {
            reasons.extend(counts[kind].as_object().into_iter().flatten().map(|(name, _)| name));
        }
    }
    ["read", "accepted"]
        .into_iter()
        .map(str::to_owned)
        .chain(reasons.into_iter().cloned())
        .collect()
}

/// A count by its name, wherever it stands.
fn count(counts: &Value, name: &str) -> u64 {
    let places = [&counts[name], &counts["filtered"][name], &counts["rejected"][name]];
    places.iter().find_map(|place| place.as_u64()).unwrap_or(0)
}
