//! What a run is asked to do: one struct a section, one section a stage.
//!
//! Names and defaults are part of the interface. Reading the TOML file, and saying where in it a
//! problem stands, is the command line's business; this module knows what the values mean.

mod threshold;
mod units;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tabiya_book::Policy;
use tabiya_model::Outcome;

pub use threshold::{Draws, Threshold};
pub use units::{ByteSize, Period, UnitError};

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the games come from.
    pub input: Input,
    /// Which games count, and how much of each.
    pub filter: Filter,
    /// Who judges where the lines end.
    pub score: Score,
    /// What is good enough.
    pub threshold: Threshold,
    /// What counts as one.
    pub aggregate: Aggregate,
    /// Where a run keeps its work.
    pub checkpoint: Checkpoint,
    /// What is written, one table a book.
    pub book: Vec<Book>,
}

/// `[input]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Files, folders (searched for PGN, compressed or not), globs; "-" is standard input.
    pub files: Vec<String>,
    /// More bad games than this, in percent of all read, and the run fails. 100: never.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub max_reject_percent: f64,
    /// Text handed to one parse job. Speed and memory only; books do not depend on it.
    pub chunk: ByteSize,
    /// The longest text taken for one game; what is longer is rejected.
    pub max_game: ByteSize,
    /// The largest window a zstd or xz file may ask for.
    pub max_window: ByteSize,
}

impl Default for Input {
    fn default() -> Input {
        Input {
            files: Vec::new(),
            max_reject_percent: 100.0,
            chunk: ByteSize::mib(1),
            max_game: ByteSize::mib(16),
            max_window: ByteSize::mib(2048),
        }
    }
}

/// `[filter]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Results that count: "white", "black", "draw". Unfinished games never do.
    pub outcomes: Vec<Outcome>,
    /// Length of a line in half-moves: 24 is twelve moves of each side.
    #[schemars(range(min = 1, max = 1000))]
    pub plies: u16,
    /// "winner-to-move" ends the line one ply sooner where the loser would be to move;
    /// "fixed" takes the same number of plies of every game.
    pub line_end: LineEnd,
    /// Games that end before the line does: "mate" keeps those that end in mate, "drop" none,
    /// "keep" all.
    pub short: Short,
    /// Count the same game (moves, players, date, result) once.
    pub dedupe: bool,
    /// Memory for remembering games when `dedupe` is on: 16 bytes a game and some air.
    pub dedupe_memory: ByteSize,
    /// Conditions on tags that all must hold: "WhiteElo >= 2200", "Event !~ (?i)bullet",
    /// "Termination != time forfeit".
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    /// Least rating; games without ratings are left out. 0: no limit.
    #[schemars(range(min = 0, max = 4000))]
    pub min_elo: u16,
    /// Whose rating `min_elo` asks about: "both", "either" or their "mean".
    pub elo_of: EloOf,
    /// Earliest date, as in PGN: "1990", "1990.06" or "1990.06.15". Empty: no limit.
    pub since: String,
    /// Latest date, likewise.
    pub until: String,
    /// Classes of time control that count: "bullet" (under 3 minutes for 40 moves), "blitz"
    /// (under 8), "rapid" (under 25), "classical", "correspondence". Empty: all.
    pub time_control: Vec<TimeClass>,
    /// Use games that start from a set-up position (FEN tag).
    pub setup_positions: bool,
    /// Parse jobs at a time; 0: one a core. Speed only; books do not depend on it.
    #[schemars(range(min = 0, max = 1024))]
    pub jobs: usize,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            outcomes: vec![Outcome::White, Outcome::Black],
            plies: 24,
            line_end: LineEnd::WinnerToMove,
            short: Short::Mate,
            dedupe: false,
            dedupe_memory: ByteSize::mib(256),
            conditions: Vec::new(),
            min_elo: 0,
            elo_of: EloOf::Both,
            since: String::new(),
            until: String::new(),
            time_control: Vec::new(),
            setup_positions: false,
            jobs: 0,
        }
    }
}

/// Where a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LineEnd {
    /// So that the winner is to move.
    WinnerToMove,
    /// After the same number of plies in every game.
    Fixed,
}

/// What becomes of games that end before their line would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Short {
    /// Kept if they end in mate.
    Mate,
    /// Left out.
    Drop,
    /// Kept.
    Keep,
}

/// Whose rating counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EloOf {
    /// Both players'.
    Both,
    /// Either player's.
    Either,
    /// The mean of the two.
    Mean,
}

/// Classes of time control, by the time for 40 moves (base + 40 increments).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeClass {
    /// Under 3 minutes.
    Bullet,
    /// Under 8 minutes.
    Blitz,
    /// Under 25 minutes.
    Rapid,
    /// 25 minutes and more.
    Classical,
    /// Days a move, or a tag of `-`.
    Correspondence,
}

/// `[score]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Score {
    /// "builtin", "none", or the command of a UCI engine: ["stockfish"].
    pub engine: Engine,
    /// When a search ends: { depth = 8 }, { nodes = 20000 } or { movetime = "50ms" }.
    pub limit: Limit,
    /// Engines at a time; 0: one a core.
    #[schemars(range(min = 0, max = 1024))]
    pub pool: usize,
    /// UCI options, by name: { Hash = 4 }.
    pub options: BTreeMap<String, UciOption>,
    /// The longest one position may take before the engine is stopped and started anew.
    pub timeout: Period,
    /// Whose view the engine's scores are from: "auto" (asked at the start), "stm" (the side to
    /// move, as UCI says) or "white".
    pub pov: Pov,
    /// What one of the engine's centipawns counts: 0.01 for an engine that says a hundred times
    /// too much.
    #[schemars(range(min = 0.0001, max = 10_000.0))]
    pub cp_scale: f64,
    /// Centipawns from here on, either way, as the engine says them, are mates. 0: none are.
    pub mate_threshold: u32,
    /// Tells scores from those of an engine that is started and set the same: of another net in a
    /// file of the same name, say. Any words.
    pub tag: String,
    /// Positions remembered in memory, so that none is asked about twice.
    pub cache: usize,
    /// How to talk to an engine that speaks no UCI but answers at a prompt: { preset = "gaviota" }.
    /// Options and limit mean nothing to it.
    pub console: Console,
}

impl Default for Score {
    fn default() -> Score {
        Score {
            engine: Engine::Named(NamedEngine::Builtin),
            limit: Limit { depth: Some(4), nodes: None, movetime: None },
            pool: 0,
            options: BTreeMap::new(),
            timeout: Period(Duration::from_secs(30)),
            pov: Pov::Auto,
            cp_scale: 1.0,
            mate_threshold: 0,
            tag: String::new(),
            cache: 1_000_000,
            console: Console::default(),
        }
    }
}

/// `[score.console]`: what to type at an engine's prompt, and what to look for. What is not written
/// is the preset's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Console {
    /// "gaviota" or "phalanx".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<ConsolePreset>,
    /// What a line looks like that says the engine is ready (a regular expression). Empty: it is
    /// not waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Lines to type once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<String>>,
    /// Lines to type for each position: {fen} stands for it, {n} for a number that is always new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Vec<String>>,
    /// What a line with a score looks like; the first group, in parentheses, is the number. The
    /// numbers of several such lines in one answer are added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What a line looks like that says there is no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The last line of an answer. Empty: the one with the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// What a pawn counts in the engine's numbers: 100 if they are centipawns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub per_pawn: Option<u32>,
    /// Numbers from here on, either way, are mates. 0: none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mate_from: Option<u32>,
    /// The line that ends the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quit: Option<String>,
}

impl Console {
    /// Whether the engine is talked to at a prompt.
    pub fn is_used(&self) -> bool {
        *self != Console::default()
    }
}

/// Dialects that come with this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConsolePreset {
    /// Gaviota's.
    Gaviota,
    /// That of Phalanx.
    Phalanx,
}

/// Who scores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Engine {
    /// One that has a name here.
    Named(NamedEngine),
    /// A program and its arguments.
    Command(Vec<String>),
}

/// Engines that need no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NamedEngine {
    /// The engine inside this program, run as a child like any other.
    Builtin,
    /// Nobody: no scores, and the threshold is off.
    None,
}

impl Engine {
    /// Whether there is nobody to score.
    pub fn is_none(&self) -> bool {
        *self == Engine::Named(NamedEngine::None)
    }
}

/// When a search ends. Exactly one of the three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// Plies of search.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub depth: Option<u32>,
    /// Positions visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nodes: Option<u64>,
    /// Time, with its unit. Scores by time are never reproducible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movetime: Option<Period>,
}

/// The value of a UCI option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum UciOption {
    /// `true` or `false`.
    Check(bool),
    /// A whole number.
    Spin(i64),
    /// Text.
    Text(String),
}

impl std::fmt::Display for UciOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UciOption::Check(value) => write!(f, "{value}"),
            UciOption::Spin(value) => write!(f, "{value}"),
            UciOption::Text(value) => f.write_str(value),
        }
    }
}

/// Whose view an engine's scores are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pov {
    /// Found out at the start.
    Auto,
    /// The side to move.
    Stm,
    /// White.
    White,
}

/// `[aggregate]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aggregate {
    /// Whose moves enter the book: the "winner"'s, or "both".
    pub sides: Sides,
    /// Memory for counting; beyond it sorted runs go to disk. Books do not depend on it.
    pub memory: ByteSize,
}

impl Default for Aggregate {
    fn default() -> Aggregate {
        Aggregate { sides: Sides::Winner, memory: ByteSize::mib(512) }
    }
}

/// Whose moves count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// The side credited with the line; both for an even draw.
    Winner,
    /// Both sides.
    Both,
}

/// `[checkpoint]`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoint {
    /// The work folder. Made if it is not there.
    pub dir: PathBuf,
    /// How often finished work is made durable.
    pub every: Period,
    /// With `--watch`: how often books are replaced at the most.
    pub publish_every: Period,
}

impl Default for Checkpoint {
    fn default() -> Checkpoint {
        Checkpoint {
            dir: PathBuf::from("work"),
            every: Period(Duration::from_secs(10)),
            publish_every: Period(Duration::from_secs(60)),
        }
    }
}

/// `[[book]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// "sob" (a folder with two files) or "polyglot" (one file).
    pub format: Format,
    /// Where it is written.
    pub path: PathBuf,
    /// How a .sob is packed: "compact", "lzma", "zstd" or "stored".
    #[serde(default)]
    pub codec: Codec,
    /// What makes a move heavy: its "score", its "games", its "wins" (2 a win, 1 a draw) or
    /// nothing ("uniform").
    #[serde(default = "default_weight")]
    pub weight: Policy,
    /// Leave out moves of fewer games.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub min_games: u64,
    /// Leave out moves played in less than this percent of the position's games.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub min_share: f64,
    /// Keep only the best so many moves of a position. 0: all.
    #[serde(default)]
    pub max_moves: usize,
}

fn default_weight() -> Policy {
    Policy::Score
}

fn one() -> u64 {
    1
}

/// Kinds of book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `hashes.sob` and `moves.sob`.
    Sob,
    /// A PolyGlot `.bin`.
    Polyglot,
}

/// Block codecs of a `.sob`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Rice and Huffman codes: the smallest.
    #[default]
    Compact,
    /// LZMA, as the old system had it.
    Lzma,
    /// zstd.
    Zstd,
    /// Not packed: the fastest.
    Stored,
}
