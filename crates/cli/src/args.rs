//! The command line. A new command is a variant of [`Command`], its options as a struct here, and
//! a module of [`crate::commands`] with a `run`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args as Options, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Turns chess games into opening books.
///
/// Keeps the openings that won, asks an engine whether the winner really stood better at their
/// end, and writes what is left as small, instantly searchable books.
#[derive(Debug, Parser)]
#[command(name = "tabiya", version, arg_required_else_help = true)]
pub(crate) struct Args {
    /// How log lines are written to standard error.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make books from games. Goes on where an earlier run ended; reads and scores only what is
    /// new.
    Run(Run),
    /// Say what `run` would do, and why; nothing is done.
    Plan(Look),
    /// What the work folder holds: inputs, games, lines, stored scores, books.
    Status(Look),
    /// What other thresholds would keep, from the lines that are scored already.
    Sweep(Sweep),
    /// What was rejected, by reason.
    Rejects(Look),
    /// Remove journals that the configuration does not use any more. Stored scores stay.
    Clean(Clean),
    /// Read games only, and say what is in them: counts by reason, and speed.
    Scan(Scan),
    /// The moves a book has for a position, best first.
    Probe(Probe),
    /// Look into a book of any format, told by its content.
    #[command(subcommand)]
    Book(Book),
    /// Look after the scores that runs keep, or share them.
    Scores(Scores),
    /// Check, describe or begin a configuration.
    #[command(subcommand)]
    Config(Config),
    /// The built-in UCI engine, on standard input and output.
    Engine,
    /// A UCI engine that plays from a book, then hands over to the engine behind it.
    Uci(Uci),
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
    /// Start over: read all games again. The journal so far is put aside; stored scores stay.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Stay up: take up new files and a changed configuration, and replace the books.
    #[arg(long, conflicts_with_all = ["fresh", "json"])]
    pub(crate) watch: bool,
    /// Print what was done as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of commands that look at the work folder.
#[derive(Debug, Options)]
pub(crate) struct Look {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `sweep`.
#[derive(Debug, Options)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// Thresholds in centipawns, as of threshold.win_min_cp [default: 0,50,100,150,200,300]
    #[arg(long, value_name = "CP,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) win_min: Vec<i32>,
    /// Thresholds in expected score per mille instead, as of threshold.win_min_wdl [default, if
    /// the configuration has that key: 500,550,600,650,700,800]
    #[arg(
        long,
        value_name = "PER_MILLE,…",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(0..1000),
        conflicts_with = "win_min"
    )]
    pub(crate) win_min_wdl: Vec<u16>,
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `clean`.
#[derive(Debug, Options)]
pub(crate) struct Clean {
    #[command(flatten)]
    pub(crate) source: ConfigArgs,
    /// Only say what would be removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
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

/// Options of `uci`.
#[derive(Debug, Options)]
pub(crate) struct Uci {
    /// The book, in any format that can be read.
    #[arg(long)]
    pub(crate) book: PathBuf,
    /// The engine to hand over to, which also does all analysis. Without one, the end of the book
    /// is said and answered with the null move.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) engine: Option<PathBuf>,
    /// How to choose among the moves of a position. A GUI may change this and the next.
    #[arg(long, default_value = "best")]
    pub(crate) pick: Pick,
    /// Close the book after so many half-moves of the game.
    #[arg(long, value_name = "PLIES", default_value_t = 1000)]
    pub(crate) depth: u32,
    /// The beginning of chance: the same seed picks the same moves.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Arguments for the engine, after "--".
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) engine_args: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pick {
    /// The best move.
    Best,
    /// By chance, in proportion to the weights.
    Weight,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Book {
    /// Format, size, counts and what the builder wrote about the book.
    Info(BookArgs),
    /// All entries in the order of their keys, one a line.
    Dump(BookArgs),
    /// Read everything and say whether it is sound.
    Verify(BookArgs),
    /// Write a book in another format; what that loses is said.
    Convert(Convert),
    /// Make a book of the JSON lines that `dump --json` prints; a PolyGlot book comes back byte
    /// for byte.
    Restore(Convert),
    /// Make one book of several.
    Merge(Merge),
    /// What the second book gained, lost and changed, along play from the start of the game.
    Diff(Diff),
    /// Write readers of .sob books for C#, C and Python into a folder, one file each.
    Readers {
        /// The folder, made if it is missing.
        folder: PathBuf,
    },
}

/// Options of the commands that write a book of another one.
#[derive(Debug, Options)]
pub(crate) struct Convert {
    /// What to read: a book, or JSON lines.
    pub(crate) from: PathBuf,
    /// What to write: .bin, .abk or .jsonl; without an extension, a folder with a .sob pair.
    pub(crate) to: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// What is written.
#[derive(Debug, Options)]
pub(crate) struct FormatArgs {
    /// The format to write; without it, the extension says.
    #[arg(long = "to", value_name = "FORMAT")]
    pub(crate) format: Option<BookFormat>,
    /// How the blocks of a .sob are packed.
    #[arg(long, default_value = "lzma")]
    pub(crate) codec: BookCodec,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BookFormat {
    /// PolyGlot's .bin.
    Polyglot,
    /// A folder with a .sob pair.
    Sob,
    /// Arena's .abk.
    Abk,
    /// JSON lines.
    Jsonl,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BookCodec {
    /// Not packed: fastest.
    Stored,
    /// LZMA: small.
    Lzma,
    /// zstd.
    Zstd,
    /// The format's own: smallest, and fast.
    Compact,
}

/// Options of `book merge`.
#[derive(Debug, Options)]
pub(crate) struct Merge {
    /// The books, the most important first.
    #[arg(required = true, num_args = 1.., value_name = "BOOK")]
    pub(crate) books: Vec<PathBuf>,
    /// What to write, as in `convert`.
    #[arg(short, long, value_name = "BOOK")]
    pub(crate) output: PathBuf,
    /// What becomes of the weights of a move that several books have.
    #[arg(long, default_value = "add")]
    pub(crate) policy: MergePolicy,
    /// By how much the weights of each book count in sums and means, as in 3,1,1.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub(crate) factors: Vec<u32>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MergePolicy {
    /// Their sum.
    Add,
    /// The greatest.
    Max,
    /// All moves of the position from the first book that has it.
    First,
    /// The mean over the books that have the position.
    Average,
}

/// Options of `book diff`.
#[derive(Debug, Options)]
pub(crate) struct Diff {
    /// The book before.
    pub(crate) before: PathBuf,
    /// The book after.
    pub(crate) after: PathBuf,
    /// Compare only which moves come before which, not the weights; so it is with books of two
    /// formats anyway.
    #[arg(long)]
    pub(crate) order: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
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

/// Options of `scores`.
#[derive(Debug, Options)]
pub(crate) struct Scores {
    /// The file of scores: `scores.db` in the work folder of a run.
    #[arg(long, global = true, value_name = "FILE", default_value = "work/scores.db")]
    pub(crate) db: PathBuf,
    /// Print counts as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) task: ScoresTask,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScoresTask {
    /// Engines, and how many scores there are of each.
    Stats,
    /// Print scores as JSON, one a line, for `import` elsewhere or any other use.
    Export {
        /// Only engines whose identity, as `stats` shows it, has this in it.
        #[arg(long, value_name = "TEXT")]
        engine: Option<String>,
    },
    /// Add scores that `export` printed. What is there stays as it is.
    Import {
        /// Where they are; "-" is standard input.
        #[arg(default_value = "-", value_name = "FILE")]
        from: PathBuf,
    },
    /// Add the scores of other files like it. What is there stays as it is.
    Merge {
        /// The other files.
        #[arg(required = true, value_name = "OTHER")]
        from: Vec<PathBuf>,
        /// Take what is sound from damaged files.
        #[arg(long)]
        salvage: bool,
    },
    /// Read everything and say whether it is sound.
    Check,
}
