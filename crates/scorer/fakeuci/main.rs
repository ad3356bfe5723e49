//! An engine that misbehaves on demand: `fakeuci MODE [LOG]`.
//!
//! It answers `go` with 10 centipawns for each piece that the side to move has more than the other
//! side, plus one, and with the first legal move; the modes say what it does instead. With a log,
//! it appends a line for each start and each command, so that tests can see what reached it.

mod gaviota;

use std::{
    env,
    fs::{self, OpenOptions},
    io::{self, BufRead, Write},
    process,
    thread::{self, sleep},
    time::Duration,
};

use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen};

/// The position that the modes `crash-on`, `hang-on` and `mute-on` do not bear: after 1. e4 c5.
const UNBEARABLE: &str = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w";

fn main() {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let engine = Engine { mode, log: arguments.next(), fen: String::new(), searches: 0 };
    engine.run();
}

struct Engine {
    mode: String,
    log: Option<String>,
    fen: String,
    searches: u32,
}

impl Engine {
    fn run(mut self) {
        self.record(&format!("start {}", process::id()));
        match self.mode.as_str() {
            "gaviota" => return gaviota::run(|line| self.record(line)),
            "exit-127" => {
                eprintln!("cannot run on this machine");
                process::exit(127);
            }
            "slow-start" => pause(300),
            "no-input" => pause(600_000),
            _ => {}
        }
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            self.record(&line);
            self.obey(line.trim());
        }
        if self.mode == "deaf-to-quit" {
            pause(600_000);
        }
    }

    fn obey(&mut self, command: &str) {
        match command.split_whitespace().next() {
            Some("uci") => self.introduce(),
            // Two processes that share a pipe, or a lost line break.
            Some("isready") if self.mode == "merged-readyok" && self.searches == 3 => {
                self.searches += 1;
                say("0readyok");
            }
            Some("isready") => {
                if self.mode == "talks-unasked" {
                    say("info depth 9 score cp 999\nbestmove a1a8");
                }
                say("readyok");
            }
            Some("position") => {
                self.fen = command.strip_prefix("position fen ").unwrap_or_default().to_owned();
            }
            Some("go") => self.go(command),
            Some("stop") => self.stop(),
            Some("quit") => match self.mode.as_str() {
                "dies-on-quit" => process::abort(),
                "deaf-to-quit" => {}
                _ => process::exit(0),
            },
            _ => {}
        }
    }

    fn introduce(&self) {
        if self.mode == "no-uciok" {
            return;
        }
        if self.mode == "banner" {
            say("Fake 1 by nobody, score cp 5 bestmove e2e4\n");
            say("warning: no book");
        }
        if self.mode == "garbage" {
            raw(b"hash=\xff\xfe\r\n\r\nuci ok?\r\n");
        }
        say("id name Fake 1");
        say("id author none");
        say("option name Hash type spin default 16 min 1 max 1024");
        say("option name Threads type spin default 1 min 1 max 4");
        say("option name Style type combo default Solid var Solid var Risky");
        say("option name EvalFile type string default fake.net");
        if self.mode.starts_with("chances") {
            say("option name UCI_ShowWDL type check default false");
        }
        if self.mode == "talks-unasked" {
            say("bestmove a1a8");
        }
        if self.mode == "garbage" {
            return say("uciok  \n\n  ");
        }
        say("uciok");
    }

    fn go(&mut self, command: &str) {
        self.searches += 1;
        let unbearable = self.fen.starts_with(UNBEARABLE);
        match self.mode.as_str() {
            "crash-on" if unbearable => process::abort(),
            "hang-on" if unbearable => pause(600_000),
            "mute-on" if unbearable => say(&format!("bestmove {}", self.first_move())),
            // The fifth counts the two searches of the probe.
            "crash-fifth" if self.searches == 5 => process::exit(3),
            "unreliable" if self.luck().is_multiple_of(100) => process::abort(),
            "unreliable" if self.luck() % 1000 == 1 => pause(600_000),
            "crash" => process::exit(3),
            "hang" => {}
            "no-score" => say(&format!("bestmove {}", self.first_move())),
            "no-score-but-depth-1" if !command.ends_with("depth 1") => {
                say(&format!("bestmove {}", self.first_move()));
            }
            "only-bounds" => {
                say("info depth 2 score cp 7 upperbound");
                say(&format!("bestmove {}", self.first_move()));
            }
            // A process of 20 searches; what is started after it scores nothing.
            "no-score-after-20" if self.searches > 20 || self.follows_others() => {
                say(&format!("bestmove {}", self.first_move()));
            }
            "slow" => {
                pause(50);
                self.answer();
            }
            "until-stop" => say("info depth 1 score cp 1 nodes 20"),
            "ignores-nodes" if command.starts_with("go nodes") => {
                say("info depth 40 score cp 999 nodes 1000000");
            }
            "late" if self.searches == 3 => {}
            "late" if self.searches > 3 => {
                // The move of search 3, with what search 3 thought.
                say("info depth 9 score cp 999");
                say("bestmove a1a8");
                self.answer();
            }
            "chances-but-on" if unbearable => self.answer(),
            "chances" | "chances-but-on" => {
                say(&format!("info depth 3 score {} wdl 120 800 80 nodes 20", self.score()));
                say(&format!("bestmove {}", self.first_move()));
            }
            "needs-input" => self.answer_later(),
            "late-to-stop" => say("info depth 9 score cp 999"),
            "two-bestmoves" => {
                self.answer();
                say("info depth 9 score cp 999");
                say("bestmove a1a1");
            }
            "null-move" => {
                say(&format!("info depth 3 score {}", self.score()));
                say("bestmove a1a1");
            }
            "illegal-move" => {
                say("info depth 3 score cp 999");
                say("bestmove a1a8");
            }
            "garbage" => self.answer_in_garbage(),
            "stderr-flood" => {
                for _ in 0..1000 {
                    eprintln!("{}", "e".repeat(1023));
                }
                self.answer();
            }
            "info-flood" => loop {
                say("info depth 1 score cp 1 lowerbound");
            },
            "long-line" => {
                say(&format!("info string {}", "x".repeat(1_000_000)));
                self.answer();
            }
            _ => self.answer(),
        }
    }

    fn stop(&self) {
        match self.mode.as_str() {
            "until-stop" => self.answer(),
            "ignores-nodes" => self.answer(),
            "late-to-stop" => {
                pause(300);
                say(&format!("bestmove {}", self.first_move()));
            }
            _ => {}
        }
    }

    fn answer(&self) {
        say(&format!("info depth 3 score {} nodes 20 pv {}", self.score(), self.first_move()));
        say("info depth 3 multipv 2 score cp -999");
        say("info string score cp 998");
        say("info depth 4 score cp 997 lowerbound");
        say(&format!("bestmove {}", self.first_move()));
    }

    fn answer_in_garbage(&self) {
        raw(b"info string caf\xe9 \xff\r\n0readyok\r\n\x00\x01\r\n");
        raw(format!("  info  depth 5\tscore {} \r\n", self.score()).as_bytes());
        raw(format!("  bestmove  {}  \r\n", self.first_move().to_ascii_uppercase()).as_bytes());
    }

    /// Thinks while it listens, and ends without a word when its input ends, as Stockfish does.
    fn answer_later(&self) {
        let (score, mv) = (self.score(), self.first_move());
        thread::spawn(move || {
            pause(100);
            say(&format!("info depth 3 score {score}\nbestmove {mv}"));
        });
    }

    /// A number that is the position's own (FNV-1a of its FEN).
    fn luck(&self) -> u32 {
        let mix = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = self.fen.bytes().fold(0x811c_9dc5, mix);
        hash ^ hash >> 15
    }

    /// Ten centipawns a piece, and one, from the side to move; from White in the mode for that.
    fn score(&self) -> String {
        let position = self.position();
        let board = position.board();
        let balance = board.white().count() as i32 - board.black().count() as i32;
        let white = if self.mode == "whites-view" { 400 * balance } else { 10 * balance };
        let turned = self.mode != "whites-view" && position.turn() == Color::Black;
        let cp = if turned { -white } else { white };
        match self.mode.as_str() {
            "constant" => "cp 60".to_owned(),
            "mates" if position.turn() == Color::White => "mate 5".to_owned(),
            "mates" => "mate -3".to_owned(),
            "hundredfold" => format!("cp {}", 100 * (cp + 1)),
            "mates-in-cp" if position.turn() == Color::White => "cp 29995".to_owned(),
            "mates-in-cp" => "cp -29990".to_owned(),
            "far-mates" if position.turn() == Color::White => "mate 5000".to_owned(),
            "far-mates" => "mate -5000".to_owned(),
            _ => format!("cp {}", cp + 1),
        }
    }

    fn first_move(&self) -> String {
        let moves = self.position().legal_moves();
        moves
            .first()
            .map_or("(none)".to_owned(), |first| first.to_uci(CastlingMode::Standard).to_string())
    }

    fn position(&self) -> Chess {
        let fen = self.fen.parse::<Fen>().ok();
        fen.and_then(|fen| fen.into_position(CastlingMode::Standard).ok()).unwrap_or_default()
    }

    /// Whether more than two engines were started before, by the log.
    fn follows_others(&self) -> bool {
        let log = self.log.as_ref().and_then(|log| fs::read_to_string(log).ok());
        let starts =
            log.iter().flat_map(|log| log.lines()).filter(|line| line.starts_with("start"));
        starts.count() > 2
    }

    fn record(&self, line: &str) {
        let Some(log) = &self.log else { return };
        if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(log) {
            // One write, so that the lines of several engines do not mix.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

fn say(line: &str) {
    raw(format!("{line}\n").as_bytes());
}

fn raw(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
        process::exit(0);
    }
}

fn pause(milliseconds: u64) {
    sleep(Duration::from_millis(milliseconds));
}
