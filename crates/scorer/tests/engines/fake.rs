//! What the tests share: the fake engine, its log, and positions.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use shakmaty::{CastlingMode, Chess, Position, fen::Fen, san::San};
use tabiya_scorer::{EngineSpec, Limit, Verdict};
use tempfile::TempDir;

pub(crate) const FAKEUCI: &str = env!("CARGO_BIN_EXE_fakeuci");

/// The fake engine in one of its modes, with little patience and a log.
pub(crate) struct Fake {
    pub(crate) spec: EngineSpec,
    log: PathBuf,
    _folder: TempDir,
}

impl Fake {
    pub(crate) fn new(mode: &str) -> Fake {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let command = [Path::new(FAKEUCI), Path::new(mode), &log];
        let mut spec = EngineSpec::new(command, Limit::Depth(4));
        spec.timeout = Duration::from_millis(400);
        Fake { spec, log, _folder: folder }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    pub(crate) fn count(&self, start: &str) -> usize {
        self.log().iter().filter(|line| line.starts_with(start)).count()
    }

    /// The processes that were started.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let pid = |line: &String| line.strip_prefix("start ")?.parse().ok();
        self.log().iter().filter_map(pid).collect()
    }
}

/// The position after some moves.
pub(crate) fn after(moves: &str) -> Chess {
    let play = |position: Chess, word: &str| {
        let played = word.parse::<San>().unwrap().to_move(&position).unwrap();
        position.play(played).unwrap()
    };
    moves.split_whitespace().fold(Chess::default(), play)
}

pub(crate) fn position(fen: &str) -> Chess {
    fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
}

/// The initial position and those after 1. e4 and 1. d4.
pub(crate) fn three() -> Vec<Chess> {
    vec![after(""), after("e4"), after("d4")]
}

/// Different positions from games that take the moves at random, the same ones every time.
pub(crate) fn wandering(count: usize) -> Vec<Chess> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = Chess::default();
        for _ in 0..8 + below(40) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[below(moves.len())]);
        }
        if !position.is_game_over() {
            positions.push(position);
        }
    }
    positions
}

/// As UCI writes scores; the reason where there is none.
pub(crate) fn texts(verdicts: &[Verdict]) -> Vec<String> {
    let text = |verdict: &Verdict| match verdict {
        Verdict::Score(evaluation) => evaluation.score.to_string(),
        Verdict::Unscored(reason) => reason.to_string(),
    };
    verdicts.iter().map(text).collect()
}
