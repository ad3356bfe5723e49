//! `cargo xtask games`

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use anyhow::Result;
use tabiya_testkit::{Mix, Style, generate, render};

/// What to generate.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file to write; without it, standard output.
    file: Option<PathBuf>,
    /// How many games.
    #[arg(short, long, default_value_t = 1_000)]
    n: usize,
    /// The same seed gives the same games.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Records with every flaw, too.
    #[arg(long)]
    flawed: bool,
    /// Text in every dress, not only the standard's.
    #[arg(long)]
    wild: bool,
}

/// Writes the games.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mix = if args.flawed { Mix::ALL } else { Mix::CLEAN };
    let style = if args.wild { Style::Wild(args.seed) } else { Style::Plain };
    let text = render(&generate(args.seed, args.n, mix), style);
    match &args.file {
        Some(file) => fs::write(file, text)?,
        None => io::stdout().write_all(&text)?,
    }
    Ok(())
}
