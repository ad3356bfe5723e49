//! One engine process.
//!
//! It is asked one thing at a time, in a process group of its own, and never trusted: every wait
//! has a deadline on the wall clock, however much it talks meanwhile, and whoever is in doubt
//! about what it will say next drops it. Dropping kills the whole group.

use std::{
    borrow::Cow,
    fmt,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use shakmaty::Chess;
use tabiya_model::Score;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, ChildStdout, Command},
    time::{Instant, timeout, timeout_at},
};
use tracing::warn;

use crate::{
    EngineSpec, Evaluation, Limit, ScorerError, StartFailure, Units,
    console::Dialect,
    fen::fen,
    lines::Lines,
    options,
    resolve::resolve,
    stderr::Stderr,
    uci::{self, Announced, Best, BestMove, Message},
};

/// How long after `stop` the answer may take; less where searches have less.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// How long after `quit` the process may take to end.
const QUIT_GRACE: Duration = Duration::from_secs(2);
/// How long a process that closed its output may take to end and show its exit status.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// A running engine that has said `readyok`.
pub(crate) struct Engine {
    process: Process,
    name: String,
    announced: Vec<Announced>,
    settings: Vec<(String, String)>,
    startup: Duration,
    units: Units,
    /// It has shown a mate too far off to be one, and that was said.
    odd: bool,
    /// How to talk to it, if it speaks no UCI.
    dialect: Option<Dialect>,
}

/// What a search yields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// In centipawns or a mate, from whatever view the engine reports.
    pub(crate) evaluation: Option<Evaluation>,
    /// The most nodes it reported.
    pub(crate) nodes: u64,
    /// It did not end by itself but by `stop`.
    pub(crate) stopped: bool,
}

/// Why an engine has no answer. It is of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It did not answer in time, not even to `stop`.
    TimedOut,
    /// Its output or its input is closed.
    Closed,
    /// The move it gives is none of this position: the answer may be another's.
    WrongMove,
}

/// What the engine did.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trouble::TimedOut => "did not answer in time",
            Trouble::Closed => "ended",
            Trouble::WrongMove => "gave a move that is not legal",
        })
    }
}

impl Engine {
    /// Starts the engine, shakes hands and sets its options.
    pub(crate) async fn start(spec: &EngineSpec) -> Result<Engine, ScorerError> {
        if let Some(console) = &spec.console {
            return Engine::start_console(spec, Dialect::new(console)?).await;
        }
        let mut process = Process::spawn(spec)?;
        let (name, announced) = match process.handshake(spec.startup).await {
            Ok(introduction) => introduction,
            Err(trouble) => return Err(process.not_started(spec, trouble, "uciok").await),
        };
        let name = name.unwrap_or_else(|| spec.command_line());
        let settings = options::settings(&name, &announced, &spec.options)?;
        let commands: String = settings
            .iter()
            .map(|(name, value)| options::command(&announced, name, value))
            .collect();
        if let Err(trouble) = process.sync(&commands, spec.startup).await {
            return Err(process.not_started(spec, trouble, "readyok").await);
        }
        let EngineSpec { startup, units, .. } = *spec;
        let (odd, dialect) = (false, None);
        Ok(Engine { process, name, announced, settings, startup, units, odd, dialect })
    }

    /// Starts an engine that is talked to at its prompt. Its name is the first thing it says.
    async fn start_console(spec: &EngineSpec, dialect: Dialect) -> Result<Engine, ScorerError> {
        let mut process = Process::spawn(spec)?;
        let name = match process.greeting(&dialect, spec.startup).await {
            Ok(name) => name.unwrap_or_else(|| spec.command_line()),
            Err(trouble) => {
                return Err(process.not_started(spec, trouble, "score.console.ready").await);
            }
        };
        let (announced, settings) = (Vec::new(), Vec::new());
        let EngineSpec { startup, units, .. } = *spec;
        let (odd, dialect) = (false, Some(dialect));
        Ok(Engine { process, name, announced, settings, startup, units, odd, dialect })
    }

    /// What it calls itself.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The options it announced.
    pub(crate) fn announced(&self) -> &[Announced] {
        &self.announced
    }

    /// The options it was given.
    pub(crate) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Searches a position as if it were the first.
    ///
    /// `ucinewgame` makes the score independent of what was searched before, and its `readyok` is
    /// a barrier: nothing said before it can be taken for this answer.
    pub(crate) async fn search(
        &mut self,
        position: &Chess,
        limit: Limit,
        longest: Duration,
    ) -> Result<Answer, Trouble> {
        if let Some(dialect) = &mut self.dialect {
            return self.process.ask(dialect, position, after(longest)).await;
        }
        self.process.sync("ucinewgame\n", self.startup).await?;
        let deadline = after(longest_search(limit, longest));
        let go = format!("position fen {}\ngo {limit}\n", fen(position));
        self.process.send(&go, deadline).await?;

        let mut seen = Seen::default();
        let (end, stopped) = match self.process.collect(&mut seen, deadline).await {
            Err(Trouble::TimedOut) => (self.stop(&mut seen, longest).await?, true),
            end => (end?, false),
        };
        check_move(position, end)?;
        let evaluation = seen.best.evaluation().map(|said| self.read(said));
        Ok(Answer { evaluation, nodes: seen.nodes, stopped })
    }

    /// What is meant by what it says.
    fn read(&mut self, said: Evaluation) -> Evaluation {
        /// No mate is known that takes longer, but it is a mate all the same.
        const FARTHEST: u32 = 246;
        let score = self.units.read(said.score);
        if let Score::MateIn(moves @ FARTHEST..) | Score::MatedIn(moves @ FARTHEST..) = score
            && !std::mem::replace(&mut self.odd, true)
        {
            warn!("the engine {} shows a mate in {moves} moves: taken for a mate", self.name);
        }
        Evaluation { score, ..said }
    }

    /// Stops the search and waits for its answer, so that it is not taken for the next one.
    async fn stop(&mut self, seen: &mut Seen, longest: Duration) -> Result<BestMove, Trouble> {
        let deadline = after(STOP_GRACE.min(longest));
        self.process.send("stop\n", deadline).await?;
        self.process.collect(seen, deadline).await
    }

    /// How a lost engine ended and what it said last, for messages. It is killed.
    pub(crate) async fn epitaph(mut self, trouble: Trouble) -> String {
        let end = match trouble {
            Trouble::Closed => self.process.end().await.map(|status| status.to_string()),
            Trouble::TimedOut | Trouble::WrongMove => None,
        };
        self.process.group.kill();
        let end = end.unwrap_or_else(|| "killed".to_owned());
        match self.process.stderr.quote().await {
            said if said.is_empty() => end,
            said => format!("{end}; it said: {said}"),
        }
    }

    /// Asks the engine to end; kills it if it does not.
    pub(crate) async fn quit(mut self) {
        let quit = self.dialect.as_ref().map_or_else(|| "quit\n".to_owned(), Dialect::quit);
        let _ = self.process.send(&quit, after(QUIT_GRACE)).await;
        self.process.stdin = None;
        let _ = timeout(QUIT_GRACE, self.process.child.wait()).await;
    }
}

/// What a search has said so far.
#[derive(Default)]
struct Seen {
    best: Best,
    nodes: u64,
}

/// A child process, its pipes and its group.
struct Process {
    /// First, so that on dropping the group is killed before the child is forgotten.
    group: Group,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<ChildStdout>,
    stderr: Stderr,
}

impl Process {
    fn spawn(spec: &EngineSpec) -> Result<Process, ScorerError> {
        let failed = |failure| ScorerError::EngineStart {
            command: spec.command_line(),
            failure,
            stderr: String::new(),
        };
        let (name, arguments) =
            spec.command.split_first().ok_or_else(|| failed(StartFailure::NoCommand))?;
        let program = resolve(name).map_err(|tried| failed(StartFailure::NotFound { tried }))?;
        let mut command = Command::new(&program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        detach(&mut command);
        let refused = |error| failed(StartFailure::Spawn { program: program.clone(), error });
        let mut child = command.spawn().map_err(refused)?;
        let group = Group::of(&child);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(refused(std::io::ErrorKind::BrokenPipe.into()));
        };
        Ok(Process {
            group,
            child,
            stdin: Some(stdin),
            lines: Lines::new(stdout),
            stderr: Stderr::drain(stderr),
        })
    }

    /// Collects name and options until `uciok`.
    async fn handshake(
        &mut self,
        longest: Duration,
    ) -> Result<(Option<String>, Vec<Announced>), Trouble> {
        /// No engine has so many options; one that announces them for ever is not believed.
        const MOST_OPTIONS: usize = 1000;
        let deadline = after(longest);
        self.send("uci\n", deadline).await?;
        let (mut name, mut announced) = (None, Vec::new());
        loop {
            match self.message(deadline).await? {
                Message::UciOk => return Ok((name, announced)),
                Message::Name(said) => name = Some(said),
                Message::Option(option) if announced.len() < MOST_OPTIONS => announced.push(option),
                _ => {}
            }
        }
    }

    /// Sends commands that have no answer and waits until they are done.
    async fn sync(&mut self, commands: &str, longest: Duration) -> Result<(), Trouble> {
        let deadline = after(longest);
        self.send(&format!("{commands}isready\n"), deadline).await?;
        while self.message(deadline).await? != Message::ReadyOk {}
        Ok(())
    }

    /// Listens to a search until it ends.
    async fn collect(&mut self, seen: &mut Seen, deadline: Instant) -> Result<BestMove, Trouble> {
        loop {
            match self.message(deadline).await? {
                Message::Info(info) => {
                    seen.best.see(&info);
                    seen.nodes = seen.nodes.max(info.nodes.unwrap_or(0));
                }
                Message::BestMove(end) => return Ok(end),
                _ => {}
            }
        }
    }

    /// Waits until it is ready at its prompt; its name, if it says anything before.
    async fn greeting(
        &mut self,
        dialect: &Dialect,
        longest: Duration,
    ) -> Result<Option<String>, Trouble> {
        let deadline = after(longest);
        let mut name = None;
        while dialect.greets() {
            let line = self.line(deadline).await?;
            if name.is_none() && !line.trim().is_empty() {
                name = Some(line.trim().to_owned());
            }
            if dialect.is_ready(&line) {
                break;
            }
        }
        self.send(&dialect.start(), deadline).await?;
        Ok(name)
    }

    /// Asks for a score at its prompt.
    async fn ask(
        &mut self,
        dialect: &mut Dialect,
        position: &Chess,
        deadline: Instant,
    ) -> Result<Answer, Trouble> {
        let (typed, mut reply) = dialect.ask(position);
        self.send(&typed, deadline).await?;
        while !dialect.hear(&mut reply, &self.line(deadline).await?) {}
        Ok(Answer {
            evaluation: dialect.score(&reply).map(Evaluation::from),
            nodes: 0,
            stopped: false,
        })
    }

    async fn message(&mut self, deadline: Instant) -> Result<Message, Trouble> {
        Ok(uci::parse(&self.line(deadline).await?))
    }

    async fn line(&mut self, deadline: Instant) -> Result<Cow<'_, str>, Trouble> {
        // `timeout_at` looks at the clock only when there is nothing to read, so an engine that
        // never stops talking would never be late.
        if Instant::now() >= deadline {
            return Err(Trouble::TimedOut);
        }
        match timeout_at(deadline, self.lines.next()).await {
            Ok(Ok(Some(line))) => Ok(line),
            Ok(Ok(None) | Err(_)) => Err(Trouble::Closed),
            Err(_) => Err(Trouble::TimedOut),
        }
    }

    async fn send(&mut self, commands: &str, deadline: Instant) -> Result<(), Trouble> {
        let stdin = self.stdin.as_mut().ok_or(Trouble::Closed)?;
        match timeout_at(deadline, stdin.write_all(commands.as_bytes())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Trouble::Closed),
            Err(_) => Err(Trouble::TimedOut),
        }
    }

    /// Gives a process that is ending a moment, then kills it. The status it ended with by itself.
    async fn end(&mut self) -> Option<ExitStatus> {
        let status = timeout(EXIT_GRACE, self.child.wait()).await;
        self.group.kill();
        status.ok()?.ok()
    }

    async fn not_started(
        mut self,
        spec: &EngineSpec,
        trouble: Trouble,
        before: &'static str,
    ) -> ScorerError {
        let failure = match trouble {
            Trouble::TimedOut => {
                self.group.kill();
                StartFailure::Silent { before, waited: spec.startup }
            }
            _ => StartFailure::Ended { status: self.end().await, before },
        };
        let stderr = self.stderr.quote().await;
        ScorerError::EngineStart { command: spec.command_line(), failure, stderr }
    }
}

/// A process group, killed when it is dropped: an engine may be a script with children.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            // It fails when nobody is left, which is as good.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Elsewhere only the child itself is killed, by `kill_on_drop`.
#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Group {
        Group {}
    }

    fn kill(&mut self) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Puts the engine in a group of its own, so that Ctrl-C in the terminal does not reach it.
#[cfg(unix)]
fn detach(command: &mut Command) {
    command.process_group(0);
}

#[cfg(windows)]
fn detach(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// A search limited by time is overdue long before a general timeout of half a minute.
fn longest_search(limit: Limit, longest: Duration) -> Duration {
    match limit {
        Limit::Movetime(time) => longest.min(time.saturating_mul(10).max(Duration::from_secs(2))),
        Limit::Depth(_) | Limit::Nodes(_) => longest,
    }
}

/// A point in time; very far ones are a year away.
fn after(wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + wait.min(YEAR)
}

fn check_move(position: &Chess, end: BestMove) -> Result<(), Trouble> {
    match end {
        BestMove::Null => Ok(()),
        BestMove::Move(best) if best.to_move(position).is_ok() => Ok(()),
        BestMove::Move(_) | BestMove::Garbled => Err(Trouble::WrongMove),
    }
}
