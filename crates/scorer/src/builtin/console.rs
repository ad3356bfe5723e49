//! The engine's ends of the conversation.
//!
//! A thread reads lines, so that a search can look whether one has come without waiting for it.
//! Lines that cannot be answered while searching wait for its end, a bounded number of them;
//! beyond that the sender waits.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Read, Write},
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

use shakmaty::CastlingMode;

use super::search::{Listener, Report, mate_in};

/// Longer lines are not commands.
const LINE_MAX: u64 = 64 * 1024;
/// Lines that wait for the end of a search.
const WAITING_MAX: usize = 256;

pub(super) struct Console<W> {
    lines: Receiver<io::Result<String>>,
    waiting: VecDeque<String>,
    output: W,
    /// No more lines will come.
    ended: bool,
    /// The search going on ends only by a command.
    infinite: bool,
    stopped: bool,
    quit: bool,
    /// Reading or writing failed during a search.
    failed: Option<io::Error>,
}

impl<W: Write> Console<W> {
    pub(super) fn new(input: impl BufRead + Send + 'static, output: W) -> io::Result<Console<W>> {
        let (sender, lines) = sync_channel(16);
        thread::Builder::new().name("engine input".to_owned()).spawn(move || {
            let mut input = input;
            while let Some(line) = read_line(&mut input).transpose() {
                let failed = line.is_err();
                if sender.send(line).is_err() || failed {
                    break;
                }
            }
        })?;
        Ok(Console {
            lines,
            waiting: VecDeque::new(),
            output,
            ended: false,
            infinite: false,
            stopped: false,
            quit: false,
            failed: None,
        })
    }

    /// The next line, or `None` at the end of input and after `quit`.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        if self.quit {
            return Ok(None);
        }
        if let Some(line) = self.waiting.pop_front() {
            return Ok(Some(line));
        }
        self.lines.recv().ok().transpose()
    }

    /// Writes one or more lines.
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.output, "{text}")?;
        self.output.flush()
    }

    pub(super) fn begin_search(&mut self, infinite: bool) {
        self.infinite = infinite;
        self.stopped = false;
    }

    /// Waits for `stop` if only that ends the search, and tells what went wrong during it.
    pub(super) fn end_search(&mut self) -> io::Result<()> {
        while self.infinite && !self.stopped && !self.ended && self.failed.is_none() {
            match self.lines.recv() {
                Ok(line) => self.hear(line),
                Err(_) => self.ended = true,
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
        while self.waiting.len() < WAITING_MAX && !self.ended {
            match self.lines.try_recv() {
                Ok(line) => self.hear(line),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.ended = true,
            }
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
