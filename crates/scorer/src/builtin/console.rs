//! The engine's ends of the conversation.
//!
//! Short searches are answered without more ado: one thread reads, thinks and writes, and what it
//! has to say goes out at once, before it waits for more. From the first search that takes longer
//! a thread of its own reads lines, so that a search can look whether one has come without waiting
//! for it. Lines that cannot be answered while searching wait for its end, a bounded number of
//! them; beyond that the sender waits.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufWriter, Read, Write},
    mem,
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

use shakmaty::CastlingMode;

use super::search::{Listener, Report, mate_in};

/// Longer lines are not commands.
const LINE_MAX: u64 = 64 * 1024;
/// A search that looks for input less often is over before anybody misses an answer.
const SHORT: u32 = 16;
/// Lines that wait for the end of a search.
const WAITING_MAX: usize = 256;

pub(super) struct Console<W: Write> {
    input: Input,
    waiting: VecDeque<String>,
    output: BufWriter<W>,
    /// No more lines will come.
    ended: bool,
    /// How often the search going on has looked for input.
    looks: u32,
    /// It ends only by a command.
    infinite: bool,
    stopped: bool,
    quit: bool,
    /// Reading or writing failed during a search.
    failed: Option<io::Error>,
}

/// Where lines come from.
enum Input {
    /// Read when they are asked for.
    Direct(Box<dyn BufRead + Send>),
    /// Read by a thread.
    Heard(Receiver<io::Result<String>>),
}

impl Input {
    /// The next line, once there is one.
    fn next(&mut self) -> io::Result<Option<String>> {
        match self {
            Input::Direct(input) => read_line(input),
            Input::Heard(lines) => lines.recv().ok().transpose(),
        }
    }

    /// Has a thread read from now on, if none does.
    fn listen(&mut self) -> io::Result<&Receiver<io::Result<String>>> {
        if let Input::Direct(input) = self {
            let mut input = mem::replace(input, Box::new(io::empty()));
            let (sender, lines) = sync_channel(16);
            thread::Builder::new().name("engine input".to_owned()).spawn(move || {
                while let Some(line) = read_line(&mut input).transpose() {
                    let failed = line.is_err();
                    if sender.send(line).is_err() || failed {
                        break;
                    }
                }
            })?;
            *self = Input::Heard(lines);
        }
        match self {
            Input::Heard(lines) => Ok(lines),
            Input::Direct(_) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl<W: Write> Console<W> {
    pub(super) fn new(input: impl BufRead + Send + 'static, output: W) -> Console<W> {
        Console {
            input: Input::Direct(Box::new(input)),
            waiting: VecDeque::new(),
            output: BufWriter::new(output),
            ended: false,
            looks: 0,
            infinite: false,
            stopped: false,
            quit: false,
            failed: None,
        }
    }

    /// The next line, or `None` at the end of input and after `quit`.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        if self.quit {
            return Ok(None);
        }
        if let Some(line) = self.waiting.pop_front() {
            return Ok(Some(line));
        }
        self.flush()?;
        self.input.next()
    }

    /// Says one or more lines, before the next one is waited for.
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "{text}")
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self.output.buffer().is_empty() {
            true => Ok(()),
            false => self.output.flush(),
        }
    }

    pub(super) fn begin_search(&mut self, infinite: bool) {
        self.infinite = infinite;
        self.looks = 0;
        self.stopped = false;
    }

    /// Waits for `stop` if only that ends the search, and tells what went wrong during it.
    pub(super) fn end_search(&mut self) -> io::Result<()> {
        while self.infinite && !self.stopped && !self.ended && self.failed.is_none() {
            match self.flush().and_then(|()| self.input.next()).transpose() {
                Some(line) => self.hear(line),
                None => self.ended = true,
            }
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Does what can be done about a line during a search.
    fn hear(&mut self, line: io::Result<String>) {
        let done = line.and_then(|line| {
            match line.trim() {
                "stop" => self.stopped = true,
                "quit" => (self.stopped, self.quit) = (true, true),
                "isready" => self.say("readyok")?,
                _ => self.waiting.push_back(line),
            }
            Ok(())
        });
        if let Err(err) = done {
            self.failed.get_or_insert(err);
        }
    }
}

impl<W: Write> Listener for Console<W> {
    fn interrupted(&mut self) -> bool {
        self.looks += 1;
        if self.looks < SHORT && !self.infinite && matches!(self.input, Input::Direct(_)) {
            return false;
        }
        while self.waiting.len() < WAITING_MAX && !self.ended {
            match self.input.listen().map(Receiver::try_recv) {
                Ok(Ok(line)) => self.hear(line),
                Ok(Err(TryRecvError::Empty)) => break,
                Ok(Err(TryRecvError::Disconnected)) => self.ended = true,
                Err(err) => {
                    self.failed.get_or_insert(err);
                    break;
                }
            }
        }
        if let Err(err) = self.flush() {
            self.failed.get_or_insert(err);
        }
        // At the end of input a search that has a limit is still worth its answer.
        self.stopped || self.failed.is_some() || (self.ended && self.infinite)
    }

    fn finished(&mut self, report: &Report) {
        if let Err(err) = self.say(&info(report)) {
            self.failed.get_or_insert(err);
        }
    }
}

/// The next line without its end, `None` at the end of input; one that is too long is cut.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 == LINE_MAX && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        // What is left of it must not pass for a shorter command.
        return Ok(Some("too-long-line".to_owned()));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

/// The `info` line of a finished depth.
pub(super) fn info(report: &Report) -> String {
    let Report { depth, seldepth, nodes, time, score, line } = report;
    let score = match mate_in(*score) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {score}"),
    };
    let nps = u128::from(*nodes) * 1_000_000 / time.as_micros().max(1);
    let millis = time.as_millis();
    let mut info = format!(
        "info depth {depth} seldepth {seldepth} score {score} nodes {nodes} nps {nps} time {millis} pv"
    );
    for m in line {
        info.push(' ');
        m.to_uci(CastlingMode::Standard).append_to_string(&mut info);
    }
    info
}
