//! The built-in engine: a UCI engine that needs nothing installed.
//!
//! It speaks the protocol on any pair of streams; the pool starts it as a child process and
//! drives it like any other engine. It decides for reproducibility: one thread, integers, and
//! every `go` begins with nothing remembered, so a score never depends on what was asked before.
//! Input is not trusted: what cannot be carried out is answered with an `info string`, and after
//! a refused `position` there is no position until a good one comes.

mod command;
mod console;
mod exchange;
mod features;
pub mod net;
mod ranking;
mod search;
mod table;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Write};

use shakmaty::{CastlingMode, Chess, Position};

use command::{Command, Game, Go, HASH, Refused};
use console::Console;
use search::Search;
use table::Table;

pub use ranking::Ranking;

/// Answers commands until `quit` or the end of input. A search with a limit that is running at
/// the end of input is finished; an infinite one is stopped.
///
/// # Errors
///
/// Only if reading or writing fails; bad commands are answered.
pub fn run(input: impl BufRead + Send + 'static, output: impl Write) -> io::Result<()> {
    let mut console = Console::new(input, output);
    let mut game = Some(Game::from_position(Chess::default()));
    let mut table = Table::new(HASH.0);

    while let Some(line) = console.next()? {
        match command::parse(&line) {
            Ok(Command::Uci) => console.say(&identity())?,
            Ok(Command::IsReady) => console.say("readyok")?,
            Ok(Command::Hash(size)) => table = Table::new(size),
            Ok(Command::Position(new)) => game = Some(new),
            Ok(Command::Go(limits)) => go(&mut console, game.as_ref(), limits, &mut table)?,
            Ok(Command::Eval) => console.say(&static_value(game.as_ref()))?,
            Ok(Command::Quit) => break,
            // A search forgets by itself, and `stop` has nothing to stop here.
            Ok(Command::NewGame | Command::Stop | Command::Nothing) => {}
            Err(Refused::Position(why)) => {
                game = None;
                console.say(&format!("info string {why}"))?;
            }
            Err(Refused::Go(why)) => {
                console.say(&format!("info string {why}\nbestmove (none)"))?;
            }
            Err(Refused::Other(why)) => console.say(&format!("info string {why}"))?,
        }
    }
    console.flush()
}

/// What the engine says of itself: its name with its version and its net, and its options. Scores
/// are filed under the name: a search that gives others needs another version.
pub fn identity() -> String {
    let (version, net, (default, max)) = (env!("CARGO_PKG_VERSION"), net::name(), HASH);
    format!(
        "id name tabiya {version} net {net}\n\
         id author the tabiya authors\n\
         option name Hash type spin default {default} min 1 max {max}\n\
         uciok"
    )
}

fn static_value(game: Option<&Game>) -> String {
    match game {
        Some(game) => format!("info string evaluation cp {}", net::evaluate(&game.pos)),
        None => "info string no position".to_owned(),
    }
}

/// Searches and answers with a `bestmove`, whatever comes.
fn go<W: Write>(
    console: &mut Console<W>,
    game: Option<&Game>,
    go: Go,
    table: &mut Table,
) -> io::Result<()> {
    let Some(Game { pos, path }) = game else {
        return console.say("info string no position\nbestmove (none)");
    };
    if pos.legal_moves().is_empty() {
        let score = if pos.is_check() { "mate 0" } else { "cp 0" };
        return console.say(&format!("info depth 0 score {score}\nbestmove (none)"));
    }

    let limits = go.limits(pos.turn());
    console.begin_search(limits.infinite);
    let report = Search::new(pos, path.clone(), limits, table, console).run();
    console.end_search()?;
    if report.depth == 0 {
        console.say(&console::info(&report))?;
    }
    match report.line.first() {
        Some(m) => console.say(&format!("bestmove {}", m.to_uci(CastlingMode::Standard))),
        None => console.say("bestmove (none)"),
    }
}
