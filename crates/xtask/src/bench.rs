//! `cargo xtask bench`

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{
    corpus::{self, Games},
    polyglot_check, program, rebuild, size,
    tabiya::{self, Book, PlainRun},
};

/// What to measure, on which games.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// "speed": time against pgn-extract and polyglot; "size": bytes an entry; "rebuild": lines a
    /// second from the journal to other books; "probe": time of look-ups against PolyGlot's.
    #[arg(default_value = "speed")]
    what: What,
    #[command(flatten)]
    games: Games,
    /// Rounds; each runs both programs once.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(5..))]
    rounds: u32,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Speed,
    Size,
    Rebuild,
    Probe,
}

/// Times as fast as `pgn-extract -r -s` at counting games.
const SCAN_GOAL: f64 = 10.0;
/// Times as fast as `polyglot make-book` at the plain book.
const BOOK_GOAL: f64 = 5.0;

/// Measures and prints.
pub(crate) fn run(args: &Args) -> Result<()> {
    match args.what {
        What::Size => size::run(&args.games),
        What::Rebuild => rebuild::run(&args.games, args.rounds),
        What::Probe => probe(),
        What::Speed => speed(args),
    }
}

fn probe() -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["bench", "--package", "tabiya-book", "--bench", "probe"]);
    program::run(cargo.current_dir(program::root()))
}

fn speed(args: &Args) -> Result<()> {
    let tabiya = tabiya::build()?;
    let all = corpus::join(&args.games.plain_files()?, "all.pgn")?;
    let scan = duel(
        args.rounds,
        || {
            let mut scan = Command::new(&tabiya);
            scan.args(["scan", "--json"]).arg(&all);
            Ok(scan)
        },
        || {
            let mut extract = program::command("pgn-extract", "pgn-extract")?;
            extract.args(["-r", "-s"]).arg(&all);
            Ok(extract)
        },
    )?;
    let readable = polyglot_check::readable(&args.games)?;
    let books = [Book { format: "polyglot", path: "book.bin", weight: "wins", codec: "" }];
    let run = PlainRun::new("bench-book", &readable, &books)?;
    let theirs = run.book("polyglot.bin");
    let book = duel(
        args.rounds,
        || Ok(run.command(&tabiya)),
        || polyglot_check::polyglot(&readable, &theirs),
    )?;
    ensure!(theirs.is_file() && run.book("book.bin").is_file(), "a book is missing");

    println!("\n{:28} {:>6} {:>6} {:>6}  goal", "times as fast", "least", "median", "most");
    let scan_size = megabytes(&all)?;
    let book_size = megabytes(&readable)?;
    print_rows("scan / pgn-extract -r", &scan, scan_size, SCAN_GOAL);
    print_rows("plain book / polyglot", &book, book_size, BOOK_GOAL);
    Ok(())
}

/// One round: ours and theirs.
struct Round {
    ours: Spent,
    theirs: Spent,
}

/// What one process took.
#[derive(Clone, Copy)]
struct Spent {
    wall: Duration,
    cpu: Duration,
}

/// Runs both in turn, so that whatever else the machine does strikes both. One pair before the
/// first round fills the disk cache.
fn duel(
    rounds: u32,
    ours: impl Fn() -> Result<Command>,
    theirs: impl Fn() -> Result<Command>,
) -> Result<Vec<Round>> {
    let round = || Ok(Round { ours: time(&mut ours()?)?, theirs: time(&mut theirs()?)? });
    round()?;
    (0..rounds).map(|_| round()).collect()
}

fn time(command: &mut Command) -> Result<Spent> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (cpu, wall) = (children_cpu()?, Instant::now());
    program::run(command)?;
    Ok(Spent { wall: wall.elapsed(), cpu: children_cpu()?.saturating_sub(cpu) })
}

/// CPU time of all children that have ended, as Linux counts it: in hundredths of a second.
fn children_cpu() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("the benchmark needs Linux")?;
    // The name in parentheses may hold blanks; after it, the 14th and 15th fields are ours.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u64 = fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(10 * ticks))
}

fn print_rows(name: &str, rounds: &[Round], megabytes: f64, goal: f64) {
    let ratios = |part: fn(Spent) -> Duration| {
        sorted(rounds.iter().map(|round| {
            part(round.theirs).as_secs_f64() / part(round.ours).as_secs_f64().max(0.001)
        }))
    };
    for (kind, ratios) in [("wall", ratios(|spent| spent.wall)), ("CPU", ratios(|spent| spent.cpu))]
    {
        let (least, median, most) = (ratios[0], median(&ratios), ratios[ratios.len() - 1]);
        let verdict = match kind {
            "wall" if median < goal => format!("{goal:.2}  missed"),
            "wall" => format!("{goal:.2}"),
            _ => String::new(),
        };
        let row = format!("{name}, {kind}");
        println!("{row:28} {least:6.2} {median:6.2} {most:6.2}  {verdict}");
    }
    let ours = median(&sorted(rounds.iter().map(|round| round.ours.wall.as_secs_f64())));
    println!("{:28} {ours:.2} s, {:.0} MB/s", "  ours takes", megabytes / ours);
}

pub(crate) fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

pub(crate) fn median(sorted: &[f64]) -> f64 {
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

fn megabytes(path: &Path) -> Result<f64> {
    Ok(fs::metadata(path)?.len() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(median(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }

    #[test]
    fn the_work_of_children_is_seen() {
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let spent = time(Command::new("sh").args(["-c", script])).unwrap();
        assert!(spent.cpu > Duration::ZERO && spent.wall > Duration::ZERO);
    }
}
