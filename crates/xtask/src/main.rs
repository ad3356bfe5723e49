//! The chores of this repository: `cargo xtask help`.

mod agreement;
mod bench;
mod corpus;
mod games;
mod judge;
mod label;
mod openings;
mod polyglot_check;
mod program;
mod rebuild;
mod reproduce;
mod sample;
mod scan_check;
mod sift;
mod size;
mod tabiya;
mod test;
mod torture;
mod train;
mod verify_books;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of this repository", version)]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Runs all tests; installs the programs they need if they are missing.
    Test,
    /// Measures tabiya against others, side by side.
    Bench(bench::Args),
    /// Builds the plain book with tabiya and with polyglot and compares every entry.
    PolyglotCheck(corpus::Games),
    /// Walks a PolyGlot book with python-chess, and compares it with the .sob of the same run.
    VerifyBooks {
        /// The PolyGlot book.
        bin: PathBuf,
        /// The folder of the .sob, or one of its files.
        sob: PathBuf,
    },
    /// Counts games with python-chess and with `tabiya scan`.
    ScanCheck(scan_check::Args),
    /// Kills runs at random moments, lets them go on, and compares what comes of it.
    Torture(torture::Args),
    /// Compares the built-in engine's scores with those of another.
    Judge(judge::Args),
    /// Scores positions again and again, by one engine and by two: the scores must be the same.
    Reproduce(reproduce::Args),
    /// Labels opening positions of games with an engine's scores.
    Label(label::Args),
    /// Trains the built-in engine's net.
    Train(train::Args),
    /// Writes generated games as PGN.
    Games(games::Args),
    /// Makes the sample games of this repository anew, the same ones every time.
    Sample(sample::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::Test => test::run(),
        Chore::Bench(args) => bench::run(&args),
        Chore::PolyglotCheck(games) => polyglot_check::run(&games),
        Chore::VerifyBooks { bin, sob } => verify_books::run(&bin, &sob),
        Chore::ScanCheck(args) => scan_check::run(&args),
        Chore::Torture(args) => torture::run(&args),
        Chore::Judge(args) => judge::run(&args),
        Chore::Reproduce(args) => reproduce::run(&args),
        Chore::Label(args) => label::run(&args),
        Chore::Train(args) => train::run(&args),
        Chore::Games(args) => games::run(&args),
        Chore::Sample(args) => sample::run(&args),
    }
}
