//! The command line. A new command is a variant of [`Command`], its options as a struct here, and
//! a module of [`crate::commands`] with a `run`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args as Options, Parser, Subcommand};
use clap_complete::Shell;

/// Turns chess games into opening books.
///
/// Keeps the openings that won, asks an engine whether the winner really stood better at their
/// end, and writes what is left as small, instantly searchable books.
#[derive(Debug, Parser)]
#[command(name = "tabiya", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make books from games.
    Run(Run),
    /// Read games only, and say what is in them: counts by reason, and speed.
    Scan(Scan),
    /// The moves a book has for a position, best first.
    Probe(Probe),
    /// Look into a book of any format, told by its content.
    #[command(subcommand)]
    Book(Book),
    /// Check, describe or begin a configuration.
    #[command(subcommand)]
    Config(Config),
    /// The built-in UCI engine, on standard input and output.
    Engine,
    /// Completions for a shell, on standard output.
    Completions {
        /// Which shell.
        shell: Shell,
    },
}

/// Options of the commands that read a configuration.
#[derive(Debug, Options)]
pub(crate) struct ConfigArgs {
    /// The configuration file; relative paths in it are taken from its folder.
    #[arg(short, long, value_name = "FILE", default_value = crate::config_file::DEFAULT_FILE)]
    pub(crate) config: PathBuf,
    /// Set a key for this time, over the file: filter.plies=30, score.limit.depth=8,
    /// book.0.codec=lzma, 'input.files=["a.pgn"]'. Relative paths are taken from the current
    /// folder. May be given many times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<OsString>,
}

/// Options of `run`.
#[derive(Debug, Options)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// Print what was done as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `scan`.
#[derive(Debug, Options)]
pub(crate) struct Scan {
    /// PGN files, packed or not, folders and globs; "-" is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<OsString>,
    /// A configuration whose input and filter sections count; without it, the defaults.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set a key of input or filter, as in filter.plies=30. May be given many times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<OsString>,
    /// Print the counts as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Report all that is wrong with a configuration, or print it with its defaults filled in.
    Check {
        #[command(flatten)]
        source: ConfigArgs,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the configuration file, for editors.
    Schema,
    /// Print the default configuration, with a comment for each key.
    Init,
}

#[derive(Debug, Options)]
pub(crate) struct Probe {
    /// A .bin, .abk or .ctg file, a folder with a .sob pair, or either file of the pair.
    pub(crate) book: PathBuf,
    /// The position; without it, the start of the game.
    #[arg(long)]
    pub(crate) fen: Option<String>,
    /// Moves to play first, as in "e4 c5" or "e2e4 c7c5".
    #[arg(long)]
    pub(crate) moves: Option<String>,
    /// Print the position's key and moves as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Book {
    /// Format, size, counts and what the builder wrote about the book.
    Info(BookArgs),
    /// All entries in the order of their keys, one a line.
    Dump(BookArgs),
    /// Read everything and say whether it is sound.
    Verify(BookArgs),
}

/// Options of the commands that look into a book.
#[derive(Debug, Options)]
pub(crate) struct BookArgs {
    /// A .bin, .abk or .ctg file, a folder with a .sob pair, or either file of the pair.
    pub(crate) book: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
