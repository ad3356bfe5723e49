//! Which engine, how it is asked, and what its scores therefore depend on.

use std::{collections::BTreeMap, ffi::OsString, fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Console, Units};

/// How long an engine thinks about one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Limit {
    /// Half-moves of search.
    Depth(u32),
    /// Positions visited.
    Nodes(u64),
    /// Wall time. Such scores depend on the machine and differ from run to run.
    Movetime(Duration),
}

/// As `go` takes it: `depth 8`, `nodes 20000`, `movetime 50`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Depth(depth) => write!(f, "depth {depth}"),
            Limit::Nodes(nodes) => write!(f, "nodes {nodes}"),
            Limit::Movetime(time) => write!(f, "movetime {}", time.as_millis().max(1)),
        }
    }
}

/// From whose view an engine reports its scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pov {
    /// The side to move, as UCI has it, unless the start-up probe clearly shows White's view.
    #[default]
    Auto,
    /// The side to move.
    SideToMove,
    /// White, whoever is to move.
    White,
}

/// An engine and how to ask it.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSpec {
    /// The program, by path or by name, and its arguments.
    pub command: Vec<OsString>,
    /// UCI options, over the defaults that make scores reproducible.
    pub options: BTreeMap<String, String>,
    /// How long to think about each position.
    pub limit: Limit,
    /// The longest a search may take by the wall clock, whatever the engine says meanwhile.
    pub timeout: Duration,
    /// The longest an engine may take to say `uciok` or `readyok`.
    pub startup: Duration,
    /// Whose view the scores are.
    pub pov: Pov,
    /// What its centipawns mean.
    pub units: Units,
    /// Each score must come with the chances of a win, a draw and a loss, or show a mate.
    pub chances: bool,
    /// The arguments in its command are part of what it is; not so where one only starts it.
    pub arguments_matter: bool,
    /// What tells it from another that calls itself the same, and is started and set the same;
    /// empty: nothing.
    pub tag: String,
    /// How to talk to an engine that speaks no UCI; options and limit mean nothing to it.
    pub console: Option<Console>,
}

impl EngineSpec {
    /// An engine with no options of its own, 30 seconds to answer and 30 to get ready: some load
    /// large nets first.
    pub fn new<C>(command: C, limit: Limit) -> EngineSpec
    where
        C: IntoIterator,
        C::Item: Into<OsString>,
    {
        EngineSpec {
            command: command.into_iter().map(Into::into).collect(),
            options: BTreeMap::new(),
            limit,
            timeout: Duration::from_secs(30),
            startup: Duration::from_secs(30),
            pov: Pov::Auto,
            units: Units::default(),
            chances: false,
            arguments_matter: true,
            tag: String::new(),
            console: None,
        }
    }

    /// What scores depend on that no engine announces. Nothing that is as it usually is, so that
    /// scores stay under the names they have.
    pub(crate) fn peculiarities(&self) -> impl Iterator<Item = (String, String)> {
        let words = self.command.iter().skip(1).map(|word| word.to_string_lossy());
        let arguments = words.collect::<Vec<_>>().join(" ");
        let Units { cp_scale, mate_threshold } = self.units;
        let all = [
            (self.arguments_matter && !arguments.is_empty(), "arguments", arguments),
            (cp_scale != 1.0, "cp_scale", cp_scale.to_string()),
            (mate_threshold > 0, "mate_threshold", mate_threshold.to_string()),
            (!self.tag.is_empty(), "tag", self.tag.clone()),
        ];
        let said = all.into_iter().filter(|&(unusual, ..)| unusual);
        said.map(|(_, name, value)| (name.to_owned(), value))
    }

    /// The command as one would type it, for messages.
    pub(crate) fn command_line(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}

/// Everything a score depends on besides the position.
///
/// Two scorers whose identities read the same give the same scores (unless the limit is a time),
/// so its text is what stored scores are filed under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// What the engine calls itself, which names its version.
    pub name: String,
    /// The options as they were set, the net as it was announced, and what else makes the engine
    /// another: its arguments, its units, its tag.
    pub options: BTreeMap<String, String>,
    /// How long it thinks.
    pub limit: Limit,
    /// Whose view its reports were taken for: never [`Pov::Auto`].
    pub pov: Pov,
    /// How it is talked to, if not by UCI.
    pub console: Option<Console>,
}

/// One line, the same for the same engine: protocol, reset policy, name, options, limit.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.console {
            Some(console) => write!(f, "{console}; {}", self.name)?,
            None => write!(f, "uci ucinewgame; {}", self.name)?,
        }
        for (name, value) in &self.options {
            write!(f, "; {name}={value}")?;
        }
        if self.pov == Pov::White {
            write!(f, "; pov=white")?;
        }
        match &self.console {
            Some(_) => Ok(()),
            None => write!(f, "; {}", self.limit),
        }
    }
}
