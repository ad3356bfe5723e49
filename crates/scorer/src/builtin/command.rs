//! What a line of input asks for. Pure: nothing here searches, reads or writes.

use std::{str::SplitWhitespace, time::Duration};

use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen, uci::UciMove};

use super::search::{self, Limits, MAX_DEPTH};

/// A command as given.
#[derive(Debug)]
pub(super) enum Command {
    Uci,
    IsReady,
    NewGame,
    /// The size of the table in mebibytes.
    Hash(usize),
    Position(Game),
    Go(Go),
    Eval,
    Stop,
    Quit,
    /// An empty line, or something that is of no concern to an engine like this.
    Nothing,
}

/// Why a command is refused, and what it was.
#[derive(Debug)]
pub(super) enum Refused {
    /// What is searched next must not be the position before this one.
    Position(String),
    /// An answer is expected all the same.
    Go(String),
    Other(String),
}

/// A position and how it came about.
#[derive(Clone, Debug)]
pub(super) struct Game {
    pub(super) pos: Chess,
    /// Hashes of all positions up to and with this one, for repetitions.
    pub(super) path: Vec<u64>,
}

impl Game {
    pub(super) fn from_position(pos: Chess) -> Game {
        let path = vec![search::hash(&pos)];
        Game { pos, path }
    }
}

/// Limits as given; how much of a clock to use depends on the side to move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Go {
    limits: Limits,
    clocks: [Option<u64>; 2],
    increments: [u64; 2],
    moves_to_go: u64,
}

/// What a move costs besides thinking, in milliseconds.
const OVERHEAD: u64 = 30;

impl Go {
    /// The limits when it is this side's move.
    pub(super) fn limits(&self, turn: Color) -> Limits {
        let side = turn.fold_wb(0, 1);
        let Some(clock) = self.clocks[side] else {
            return self.limits;
        };
        let share = clock / self.moves_to_go + self.increments[side] * 3 / 4;
        let share = share.min(clock.saturating_sub(OVERHEAD)).max(1);
        Limits { time: Some(Duration::from_millis(share)), clock: true, ..self.limits }
    }
}

/// The table's size in mebibytes: default and largest.
pub(super) const HASH: (usize, usize) = (4, 1024);

/// Reads a line.
pub(super) fn parse(line: &str) -> Result<Command, Refused> {
    let mut tokens = line.split_whitespace();
    let command = match tokens.next() {
        None | Some("debug" | "register" | "ponderhit") => Command::Nothing,
        Some("uci") => Command::Uci,
        Some("isready") => Command::IsReady,
        Some("ucinewgame") => Command::NewGame,
        Some("eval") => Command::Eval,
        Some("stop") => Command::Stop,
        Some("quit") => Command::Quit,
        Some("setoption") => Command::Hash(option(tokens).map_err(Refused::Other)?),
        Some("position") => Command::Position(position(tokens).map_err(Refused::Position)?),
        Some("go") => Command::Go(go(tokens).map_err(Refused::Go)?),
        Some(other) => return Err(Refused::Other(format!("unknown command {}", quoted(other)))),
    };
    Ok(command)
}

/// `name Hash value N`; there is no other option.
fn option(tokens: SplitWhitespace) -> Result<usize, String> {
    let words: Vec<&str> = tokens.collect();
    let [name, option, value, size] = words.as_slice() else {
        return Err("setoption needs a name and a value".to_owned());
    };
    if *name != "name" || *value != "value" || !option.eq_ignore_ascii_case("hash") {
        return Err(format!("no option {}", quoted(option)));
    }
    let size: usize = size.parse().map_err(|_| format!("Hash cannot be {}", quoted(size)))?;
    Ok(size.clamp(1, HASH.1))
}

/// `startpos` or `fen F`, then perhaps `moves …`.
fn position(mut tokens: SplitWhitespace) -> Result<Game, String> {
    let pos = match tokens.next() {
        Some("startpos") => {
            match tokens.next() {
                None | Some("moves") => {}
                Some(other) => return Err(format!("unexpected {}", quoted(other))),
            }
            Chess::default()
        }
        Some("fen") => {
            let fields: Vec<&str> = tokens.by_ref().take_while(|&token| token != "moves").collect();
            let fen = fields.join(" ");
            let setup: Fen = fen.parse().map_err(|err| format!("{err}: {}", quoted(&fen)))?;
            setup
                .into_position(CastlingMode::Standard)
                .map_err(|err| format!("{err}: {}", quoted(&fen)))?
        }
        _ => return Err("position needs startpos or fen".to_owned()),
    };
    let mut game = Game::from_position(pos);
    for token in tokens {
        play(&mut game, token).ok_or_else(|| format!("illegal move {}", quoted(token)))?;
    }
    Ok(game)
}

fn play(game: &mut Game, token: &str) -> Option<()> {
    let uci: UciMove = token.parse().ok()?;
    let m = uci.to_move(&game.pos).ok()?;
    game.pos.play_unchecked(m);
    game.path.push(search::hash(&game.pos));
    Some(())
}

/// Limits in any order. Unknown ones are refused: a search that ignores what it was asked would
/// answer another question.
fn go(mut tokens: SplitWhitespace) -> Result<Go, String> {
    let mut go =
        Go { limits: Limits::NONE, clocks: [None; 2], increments: [0; 2], moves_to_go: 30 };
    let mut limited = false;
    while let Some(token) = tokens.next() {
        if token == "infinite" {
            go.limits.infinite = true;
            continue;
        }
        let mut number = || number(token, tokens.next());
        match token {
            "depth" => go.limits.depth = number()?.clamp(1, u64::from(MAX_DEPTH)) as u32,
            "nodes" => go.limits.nodes = number()?.max(1),
            "movetime" => go.limits.time = Some(Duration::from_millis(number()?)),
            "wtime" => go.clocks[0] = Some(number()?),
            "btime" => go.clocks[1] = Some(number()?),
            "winc" => go.increments[0] = number()?,
            "binc" => go.increments[1] = number()?,
            "movestogo" => go.moves_to_go = number()?.clamp(1, 100),
            _ => return Err(format!("unknown limit {}", quoted(token))),
        }
        limited = true;
    }
    go.limits.infinite |= !limited;
    Ok(go)
}

/// A limit's number. Negative ones occur when a clock has run out.
fn number(limit: &str, token: Option<&str>) -> Result<u64, String> {
    let token = token.ok_or_else(|| format!("{limit} needs a number"))?;
    let number: i64 = token.parse().map_err(|_| format!("{limit} cannot be {}", quoted(token)))?;
    // A day is as good as any longer time, and sums of such numbers stay small.
    let most = if limit == "nodes" { i64::MAX } else { 86_400_000 };
    Ok(number.clamp(0, most).unsigned_abs())
}

/// Part of the input as it may stand in a message: short and printable.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(100).collect();
    format!("{short:?}")
}
