//! `tabiya uci --book BOOK [--engine PROGRAM]`: a UCI engine that plays from a book, then hands over
//!
//! What a GUI says goes on to the engine behind, and what that says comes back, word for word. Two
//! things are different: the list of options has ours in it, and a `go` in a position of the book
//! is answered at once. The engine never hears of such a `go`, so nothing has to be stopped.
//! Analysis (`go infinite`, `ponder`, `mate`, `searchmoves`) is the engine's alone.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen, uci::UciMove};
use tabiya_book::{Book, BookMove};

use super::book;
use crate::{
    DONE, FAILED,
    args::{Pick, Uci},
};

/// Speaks UCI until the other side leaves.
pub(crate) fn run(args: &Uci) -> Result<u8> {
    let book = tabiya_book::open(&args.book)?;
    book::warn_of_damage(&*book, &args.book);
    let name = args.book.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let engine = args.engine.as_ref().map(|program| {
        Engine::start(Command::new(program).args(&args.engine_args), &name)
            .with_context(|| format!("cannot start the engine {}", program.display()))
    });
    let mut mover = Mover {
        book,
        name,
        engine: engine.transpose()?,
        enabled: true,
        depth: args.depth,
        pick: args.pick,
        random: args.seed,
        mode: CastlingMode::Standard,
        position: Some(Chess::default()),
        waiting: false,
    };
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        if mover.hear(String::from_utf8_lossy(&line).trim_end())? == Heard::Quit {
            break;
        }
    }
    mover.leave()
}

/// One line to the GUI, at once.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

const BOOK_OPTION: &str = "Tabiya Book";
const DEPTH_OPTION: &str = "Tabiya Depth";
const PICK_OPTION: &str = "Tabiya Pick";
const MAX_DEPTH: u32 = 1000;

fn say_options(depth: u32, pick: Pick) -> io::Result<()> {
    say(&format!("option name {BOOK_OPTION} type check default true"))?;
    say(&format!("option name {DEPTH_OPTION} type spin default {depth} min 0 max {MAX_DEPTH}"))?;
    let pick = if pick == Pick::Best { "best" } else { "weight" };
    say(&format!("option name {PICK_OPTION} type combo default {pick} var best var weight"))
}

#[derive(PartialEq, Eq)]
enum Heard {
    Line,
    Quit,
}

/// What the GUI talks to.
struct Mover {
    book: Box<dyn Book + Send>,
    name: String,
    engine: Option<Engine>,
    enabled: bool,
    /// Half-moves of the game from which on the book is closed.
    depth: u32,
    pick: Pick,
    random: u64,
    mode: CastlingMode,
    /// `None` after a position that makes no sense: the engine may know better.
    position: Option<Chess>,
    /// Without an engine: `stop` is to be answered.
    waiting: bool,
}

impl Mover {
    fn hear(&mut self, line: &str) -> Result<Heard> {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("quit") => return Ok(Heard::Quit),
            Some("uci") => self.introduce(line)?,
            Some("isready") if self.engine.is_none() => say("readyok")?,
            Some("setoption") => self.set_option(line)?,
            Some("position") => {
                self.position = position(line, self.mode);
                self.tell(line)?;
            }
            Some("go") => self.go(line)?,
            Some("stop" | "ponderhit") if self.engine.is_none() => {
                if std::mem::take(&mut self.waiting) {
                    self.play_or_resign()?;
                }
            }
            Some("stop" | "ponderhit") => {
                // After a move from the book the engine is not searching.
                if self.engine.as_ref().is_some_and(Engine::is_searching) {
                    self.tell(line)?;
                }
            }
            _ => self.tell(line)?,
        }
        Ok(Heard::Line)
    }

    fn introduce(&mut self, line: &str) -> Result<()> {
        if let Some(engine) = &mut self.engine {
            return engine.introduce(line, (self.depth, self.pick));
        }
        say(&format!("id name {} (tabiya, book only)", self.name))?;
        say("id author the tabiya authors")?;
        say("option name UCI_Chess960 type check default false")?;
        say_options(self.depth, self.pick)?;
        say("uciok")?;
        Ok(())
    }

    fn set_option(&mut self, line: &str) -> Result<()> {
        let Some((name, value)) = option(line) else { return self.tell(line) };
        let is = |own: &str| name.eq_ignore_ascii_case(own);
        if is(BOOK_OPTION) {
            self.enabled = value.eq_ignore_ascii_case("true");
        } else if is(DEPTH_OPTION) {
            self.depth = value.parse().unwrap_or(self.depth).min(MAX_DEPTH);
        } else if is(PICK_OPTION) {
            self.pick = if value == "weight" { Pick::Weight } else { Pick::Best };
        } else {
            if is("UCI_Chess960") {
                let on = value.eq_ignore_ascii_case("true");
                self.mode = if on { CastlingMode::Chess960 } else { CastlingMode::Standard };
            }
            return self.tell(line);
        }
        Ok(())
    }

    fn go(&mut self, line: &str) -> Result<()> {
        let is_analysis = line
            .split_whitespace()
            .any(|word| ["infinite", "ponder", "mate", "searchmoves", "perft"].contains(&word));
        if is_analysis && self.engine.is_none() {
            self.waiting = true;
            return Ok(());
        }
        if !is_analysis && let Some(found) = self.choose()? {
            return self.play(&found);
        }
        match &mut self.engine {
            Some(engine) => engine.search(line),
            None => self.play_or_resign(),
        }
    }

    fn play(&self, found: &BookMove) -> Result<()> {
        let m = match self.mode {
            CastlingMode::Standard => UciMove::from_standard(found.m),
            CastlingMode::Chess960 => UciMove::from_chess960(found.m),
        };
        say(&format!("info string book move {m}, weight {}", found.weight))?;
        Ok(say(&format!("bestmove {m}"))?)
    }

    fn play_or_resign(&mut self) -> Result<()> {
        if let Some(found) = self.choose()? {
            return self.play(&found);
        }
        say("info string out of book, and there is no engine to go on with")?;
        Ok(say("bestmove 0000")?)
    }

    /// The book's move, if the book is open here and has one that it wants played.
    fn choose(&mut self) -> Result<Option<BookMove>> {
        let Some(position) = self.position.as_ref().filter(|_| self.enabled) else {
            return Ok(None);
        };
        if played(position) >= self.depth {
            return Ok(None);
        }
        let mut moves = match self.book.moves(position) {
            Ok(moves) => moves,
            Err(error) => {
                say(&format!("info string {error}"))?;
                return Ok(None);
            }
        };
        moves.retain(BookMove::is_playable);
        let total: u64 = moves.iter().map(|found| u64::from(found.weight)).sum();
        let mut left = match self.pick {
            Pick::Weight if total > 0 => self.next_random() % total,
            _ => 0,
        };
        // Best first, so that 0 is the best.
        let chosen = moves.into_iter().find(|found| {
            let weight = u64::from(found.weight);
            let hit = left < weight;
            left = left.saturating_sub(weight);
            hit
        });
        Ok(chosen)
    }

    /// SplitMix64.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn tell(&mut self, line: &str) -> Result<()> {
        self.engine.as_mut().map_or(Ok(()), |engine| engine.tell(line))
    }

    fn leave(self) -> Result<u8> {
        let Some(engine) = self.engine else { return Ok(DONE) };
        Ok(if engine.leave()? { DONE } else { FAILED })
    }
}

/// Half-moves played before this position.
fn played(position: &Chess) -> u32 {
    let full = position.fullmoves().get() - 1;
    full.saturating_mul(2).saturating_add(u32::from(position.turn() == Color::Black))
}

/// Name and value of `setoption name ... value ...`.
fn option(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(" name ")?;
    let (name, value) = rest.split_once(" value ").unwrap_or((rest, ""));
    Some((name.trim(), value.trim()))
}

/// The position of `position startpos|fen ... [moves ...]`.
fn position(line: &str, mode: CastlingMode) -> Option<Chess> {
    let rest = line.trim_start().strip_prefix("position")?.trim();
    let (start, moves) = match rest.split_once("moves") {
        Some((start, moves)) => (start.trim(), moves),
        None => (rest, ""),
    };
    let mut position = match start.strip_prefix("fen") {
        Some(fen) => fen.trim().parse::<Fen>().ok()?.into_position(mode).ok()?,
        None if start == "startpos" => Chess::default(),
        None => return None,
    };
    for word in moves.split_whitespace() {
        let m = word.parse::<UciMove>().ok()?.to_move(&position).ok()?;
        position.play_unchecked(m);
    }
    Some(position)
}

/// How long an engine may take to leave.
const FAREWELL: Duration = Duration::from_secs(3);

/// The engine behind the book.
struct Engine {
    child: Child,
    input: ChildStdin,
    output: JoinHandle<io::Result<()>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    searching: AtomicBool,
    leaving: AtomicBool,
    /// Ours, to be said at the end of the engine's list.
    options: Mutex<Option<(u32, Pick)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    fn start(command: &mut Command, book: &str) -> Result<Engine> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (input, output) = input.zip(output).context("it has no input or output")?;
        let shared = Arc::new(Shared::default());
        let (theirs, book) = (Arc::clone(&shared), book.to_owned());
        let output = thread::spawn(move || listen(BufReader::new(output), &book, &theirs));
        Ok(Engine { child, input, output, shared })
    }

    /// The engine's own words come back with ours among them.
    fn introduce(&mut self, line: &str, options: (u32, Pick)) -> Result<()> {
        *lock(&self.shared.options) = Some(options);
        self.tell(line)
    }

    fn search(&mut self, line: &str) -> Result<()> {
        self.shared.searching.store(true, Ordering::SeqCst);
        self.tell(line)
    }

    fn is_searching(&self) -> bool {
        self.shared.searching.load(Ordering::SeqCst)
    }

    fn tell(&mut self, line: &str) -> Result<()> {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .context("the engine has ended")
    }

    /// Whether it left as it should.
    fn leave(mut self) -> Result<bool> {
        self.shared.leaving.store(true, Ordering::SeqCst);
        // It may be gone already.
        let _ = writeln!(self.input, "quit");
        drop(self.input);
        let status = wait(&mut self.child)?;
        if status.is_none() {
            self.child.kill()?;
            self.child.wait()?;
        }
        let _ = self.output.join();
        Ok(status.is_some_and(|status| status.success()))
    }
}

fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    while begin.elapsed() < FAREWELL {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(None)
}

/// Passes on what the engine says.
fn listen(mut from: impl BufRead, book: &str, shared: &Shared) -> io::Result<()> {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.starts_with("bestmove") {
            shared.searching.store(false, Ordering::SeqCst);
        }
        if text == "uciok"
            && let Some((depth, pick)) = lock(&shared.options).take()
        {
            say_options(depth, pick)?;
        }
        match text.strip_prefix("id name ") {
            Some(name) => say(&format!("id name {name} with {book}"))?,
            None => say(text)?,
        }
        line.clear();
    }
    if !shared.leaving.load(Ordering::SeqCst) {
        // Nobody will answer the GUI any more; a closed pipe tells it.
        eprintln!("error: the engine behind the book has ended");
        std::process::exit(i32::from(FAILED));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_set_up_as_the_protocol_says() {
        let set = |line: &str| position(line, CastlingMode::Standard);
        assert_eq!(played(&set("position startpos").unwrap()), 0);
        assert_eq!(played(&set("position startpos moves e2e4 e7e5 g1f3").unwrap()), 3);
        let fen = "position fen 4k3/8/8/8/8/8/8/4K2R b K - 0 9 moves e8e7 e1g1";
        let castled = set(fen).unwrap();
        assert_eq!((played(&castled), castled.turn()), (19, Color::Black));
        for nonsense in ["position", "position fen x", "position startpos moves e2e5", "positions"]
        {
            assert!(set(nonsense).is_none(), "{nonsense}");
        }
        assert_eq!(option("setoption name Clear Hash"), Some(("Clear Hash", "")));
        assert_eq!(option("setoption name A b value c d"), Some(("A b", "c d")));
        assert_eq!(option("setoption"), None);
    }
}
