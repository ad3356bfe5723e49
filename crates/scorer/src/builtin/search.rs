//! Looking ahead: alpha-beta, one depth after the other, and quiescence at its end.
//!
//! Everything is in integers and nothing outlives a search, so the same position and limit give
//! the same score whatever was searched before. The depths, reductions and margins are decided
//! here; what a quiet position is worth is decided in `net`.

use std::time::{Duration, Instant};

use shakmaty::{Chess, EnPassantMode, Move, MoveList, Position, Role, zobrist::Zobrist64};

use super::{
    exchange::{loses, value},
    net::evaluate,
    table::{Bound, Known, Table},
};

/// No line is followed further than this.
pub(super) const MAX_PLY: usize = 128;
/// No search is deeper than this.
pub(super) const MAX_DEPTH: u32 = 64;

/// The side to move mates at once; a mate further away is worth a little less.
const MATE: i32 = 30_000;
/// Scores beyond this are mates.
const MATE_BOUND: i32 = MATE - 2 * MAX_PLY as i32;
const INFINITY: i32 = MATE + 1;

/// What a capture may win beyond the piece it takes before quiescence stops hoping.
const HOPE: i32 = 200;

/// Near the end of a line a position is taken to lose no more than this with each ply to go.
const CALM: i32 = 50;
/// From here on that is believed.
const CALM_DEPTH: i32 = 3;
/// Only within these bounds: where a side is winning, evaluations hardly differ and mates are near.
const CALM_BOUND: i32 = 700;

/// How often the clock and the input are looked at, in nodes.
const LOOK_EVERY: u64 = 1024;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) depth: u32,
    pub(super) nodes: u64,
    pub(super) time: Option<Duration>,
    /// The time is a share of a clock: no depth is begun that would hardly finish.
    pub(super) clock: bool,
    /// Only a command ends the search.
    pub(super) infinite: bool,
}

impl Limits {
    pub(super) const NONE: Limits =
        Limits { depth: MAX_DEPTH, nodes: u64::MAX, time: None, clock: false, infinite: false };
}

/// What a finished depth found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) depth: u32,
    pub(super) seldepth: usize,
    pub(super) nodes: u64,
    pub(super) time: Duration,
    /// From the view of the side to move.
    pub(super) score: i32,
    /// What both sides play; empty only if no move was looked at.
    pub(super) line: Vec<Move>,
}

/// How many moves to the mate a score means: negative if the side to move is mated.
pub(super) fn mate_in(score: i32) -> Option<i32> {
    (score.abs() > MATE_BOUND).then(|| score.signum() * ((MATE - score.abs() + 1) / 2))
}

/// Who waits for a search.
pub(super) trait Listener {
    /// Whether the search is to end now; asked every so often.
    fn interrupted(&mut self) -> bool;
    /// A depth is finished.
    fn finished(&mut self, report: &Report);
}

/// What is known of a position when its moves are tried.
struct Node {
    depth: i32,
    ply: usize,
    alpha: i32,
    beta: i32,
    check: bool,
    /// No quiet move is likely to reach `alpha`.
    hopeless: bool,
}

/// One search of one position.
pub(super) struct Search<'a, L> {
    root: &'a Chess,
    limits: Limits,
    table: &'a mut Table,
    listener: &'a mut L,
    started: Instant,
    stopped: bool,
    nodes: u64,
    seldepth: usize,
    /// Hashes of the game so far and of the line being looked at.
    path: Vec<u64>,
    /// Quiet moves that refuted a move of the same ply.
    killers: [[Option<Move>; 2]; MAX_PLY],
    /// How often a quiet move refuted something: by side, from and to.
    history: [[[i32; 64]; 64]; 2],
}

impl<'a, L: Listener> Search<'a, L> {
    /// A search of `root`; `path` has the hashes of the game's positions, `root`'s the last.
    pub(super) fn new(
        root: &'a Chess,
        mut path: Vec<u64>,
        limits: Limits,
        table: &'a mut Table,
        listener: &'a mut L,
    ) -> Search<'a, L> {
        table.begin_search();
        // The root adds itself.
        path.pop();
        Search {
            root,
            limits,
            table,
            listener,
            started: Instant::now(),
            stopped: false,
            nodes: 0,
            seldepth: 0,
            path,
            killers: [[None; 2]; MAX_PLY],
            history: [[[0; 64]; 64]; 2],
        }
    }

    /// Deepens until a limit is reached. The listener hears of each finished depth; the last of
    /// them is the result. If none was finished, it is what can be said without a search.
    pub(super) fn run(mut self) -> Report {
        let mut last = None;
        for depth in 1..=self.limits.depth {
            let mut line = Vec::new();
            let score = self.search(self.root, depth as i32, 0, -INFINITY, INFINITY, &mut line);
            if self.stopped {
                return last.unwrap_or_else(|| self.hasty(line));
            }
            let found = self.report(depth, score, line);
            self.listener.finished(&found);
            last = Some(found);
            if self.limits.clock && self.time_used() * 2 > self.limits.time.unwrap_or_default() {
                break;
            }
        }
        last.unwrap_or_else(|| self.hasty(Vec::new()))
    }

    /// The moves of the root with their exact scores after `depth` more plies, best first.
    pub(super) fn rank(mut self, moves: &[Move], depth: u32) -> Vec<(Move, i32)> {
        self.path.push(hash(self.root));
        let mut ranked = Vec::with_capacity(moves.len());
        for &m in moves {
            let mut child = self.root.clone();
            child.play_unchecked(m);
            let score = -self.search(&child, depth as i32, 1, -INFINITY, INFINITY, &mut Vec::new());
            ranked.push((m, score));
        }
        ranked.sort_by_key(|&(_, score)| -score);
        ranked
    }

    fn report(&self, depth: u32, score: i32, line: Vec<Move>) -> Report {
        Report {
            depth,
            seldepth: self.seldepth,
            nodes: self.nodes,
            time: self.time_used(),
            score,
            line,
        }
    }

    /// The static evaluation, and the best move so far or any.
    fn hasty(&self, mut line: Vec<Move>) -> Report {
        if line.is_empty() {
            line.extend(self.root.legal_moves().first());
        }
        let drawn = self.root.is_insufficient_material();
        self.report(0, if drawn { 0 } else { evaluate(self.root) }, line)
    }

    fn time_used(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts a node, unless the search is over.
    fn enter(&mut self, ply: usize) -> bool {
        if self.nodes >= self.limits.nodes {
            self.stopped = true;
        } else if self.nodes % LOOK_EVERY == LOOK_EVERY - 1 {
            self.stopped |= self.limits.time.is_some_and(|time| self.time_used() >= time);
            self.stopped |= self.listener.interrupted();
        }
        if self.stopped {
            return false;
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply);
        true
    }

    /// The score of a position from the view of its side to move, exact between `alpha` and
    /// `beta`. Meaningless once the search has stopped.
    fn search(
        &mut self,
        pos: &Chess,
        depth: i32,
        ply: usize,
        alpha: i32,
        beta: i32,
        line: &mut Vec<Move>,
    ) -> i32 {
        if depth <= 0 || ply >= MAX_PLY - 1 {
            return self.quiesce(pos, ply, alpha, beta);
        }
        if !self.enter(ply) {
            return 0;
        }
        let moves = pos.legal_moves();
        let check = pos.is_check();
        if moves.is_empty() {
            return if check { ply as i32 - MATE } else { 0 };
        }
        let hash = hash(pos);
        if ply > 0
            && (self.repeated(pos, hash)
                || pos.halfmoves() >= 100
                || pos.is_insufficient_material())
        {
            return 0;
        }
        let narrow = beta - alpha == 1;
        let known = self.table.get(hash);
        if narrow
            && let Some(score) = known.and_then(|known| settled(known, depth, ply, alpha, beta))
        {
            return score;
        }
        // With few plies to go a position far outside the window will not come back into it.
        let mut hopeless = false;
        if narrow && !check && depth <= CALM_DEPTH && beta.abs() < CALM_BOUND {
            let value = evaluate(pos);
            if value - CALM * depth >= beta {
                return value - CALM * depth;
            }
            hopeless = value + CALM + CALM * depth <= alpha;
        }

        self.path.push(hash);
        let best = known.and_then(|known| known.best);
        let moves = self.ordered(pos, moves, best, ply);
        let node = Node { depth, ply, alpha, beta, check, hopeless };
        let (score, best) = self.try_moves(pos, moves, node, line);
        self.path.pop();
        if !self.stopped {
            let bound = match score {
                score if score >= beta => Bound::AtLeast,
                score if score > alpha => Bound::Exact,
                _ => Bound::AtMost,
            };
            self.table.put(hash, Known { depth, score: from_here(score, ply), bound, best });
        }
        score
    }

    /// The best of the moves, the first with the full window and the others against it.
    fn try_moves(
        &mut self,
        pos: &Chess,
        moves: MoveList,
        Node { depth, ply, mut alpha, beta, check, hopeless }: Node,
        line: &mut Vec<Move>,
    ) -> (i32, Option<Move>) {
        let (mut best, mut best_move) = (-INFINITY, None);
        let deeper = depth - 1 + i32::from(check);
        for (idx, m) in moves.into_iter().enumerate() {
            let mut child = pos.clone();
            child.play_unchecked(m);
            if hopeless && idx > 0 && !is_noisy(m) && !child.is_check() {
                best = best.max(alpha);
                continue;
            }
            let mut below = Vec::new();
            let score = if idx == 0 {
                -self.search(&child, deeper, ply + 1, -beta, -alpha, &mut below)
            } else {
                // Late quiet moves are looked at less closely until one proves good.
                let late = idx >= 4 && depth >= 3 && !check && !is_noisy(m);
                let less = i32::from(late && !child.is_check());
                let mut score =
                    -self.search(&child, deeper - less, ply + 1, -alpha - 1, -alpha, &mut below);
                if score > alpha && less > 0 {
                    score = -self.search(&child, deeper, ply + 1, -alpha - 1, -alpha, &mut below);
                }
                if score > alpha && score < beta {
                    score = -self.search(&child, deeper, ply + 1, -beta, -alpha, &mut below);
                }
                score
            };
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                best_move = Some(m);
            }
            if score > alpha {
                alpha = score;
                line.clear();
                line.push(m);
                line.append(&mut below);
            }
            if score >= beta {
                self.remember(pos, m, depth, ply);
                break;
            }
        }
        (best, best_move)
    }

    /// Follows captures until the position is quiet; in check, every move.
    fn quiesce(&mut self, pos: &Chess, ply: usize, mut alpha: i32, beta: i32) -> i32 {
        if !self.enter(ply) {
            return 0;
        }
        if pos.is_insufficient_material() {
            return 0;
        }
        let check = pos.is_check();
        let mut best = ply as i32 - MATE;
        if !check || ply >= MAX_PLY - 1 {
            best = evaluate(pos);
            if best >= beta || ply >= MAX_PLY - 1 {
                return best;
            }
        }
        let stand = best;
        alpha = alpha.max(best);
        let mut moves = pos.legal_moves();
        if moves.is_empty() {
            return if check { best } else { 0 };
        }
        if !check {
            moves
                .retain(|m| is_noisy(*m) && (m.is_promotion() || stand + worth(*m) + HOPE > alpha));
        }
        for m in self.ordered(pos, moves, None, ply) {
            if !check && loses(pos, m) {
                continue;
            }
            let mut child = pos.clone();
            child.play_unchecked(m);
            let score = -self.quiesce(&child, ply + 1, -beta, -alpha);
            if self.stopped {
                break;
            }
            best = best.max(score);
            alpha = alpha.max(score);
            if score >= beta {
                break;
            }
        }
        best
    }

    /// The moves, most promising first: the best known, captures of much by little, killers, and
    /// quiet moves by their history.
    fn ordered(
        &self,
        pos: &Chess,
        mut moves: MoveList,
        best: Option<Move>,
        ply: usize,
    ) -> MoveList {
        let history = &self.history[usize::from(pos.turn().is_white())];
        moves.sort_by_cached_key(|&m| {
            let promise = if Some(m) == best {
                1 << 30
            } else if is_noisy(m) {
                (1 << 28) + 16 * worth(m) - value(m.role()) / 100
            } else if let Some(idx) = self.killers[ply].iter().position(|&killer| killer == Some(m))
            {
                (1 << 27) - idx as i32
            } else {
                m.from().map_or(0, |from| history[from.to_usize()][m.to().to_usize()])
            };
            -promise
        });
        moves
    }

    /// A quiet move that refuted another is worth trying early elsewhere.
    fn remember(&mut self, pos: &Chess, m: Move, depth: i32, ply: usize) {
        if is_noisy(m) {
            return;
        }
        let [first, second] = &mut self.killers[ply];
        if *first != Some(m) {
            *second = first.replace(m);
        }
        if let Some(from) = m.from() {
            let side = usize::from(pos.turn().is_white());
            let count = &mut self.history[side][from.to_usize()][m.to().to_usize()];
            *count = (*count + depth * depth).min(1 << 20);
        }
    }

    /// Whether the position has occurred before, in the game or in the line looked at.
    fn repeated(&self, pos: &Chess, hash: u64) -> bool {
        let reversible = pos.halfmoves() as usize;
        self.path.iter().rev().take(reversible).skip(1).step_by(2).any(|&before| before == hash)
    }
}

/// The hash under which a position is known to a search.
pub(super) fn hash(pos: &Chess) -> u64 {
    let Zobrist64(hash) = pos.zobrist_hash(EnPassantMode::PseudoLegal);
    hash
}

/// Captures and promotions to a queen change the material.
fn is_noisy(m: Move) -> bool {
    match m.promotion() {
        Some(role) => role == Role::Queen,
        None => m.is_capture(),
    }
}

/// The material a move wins at first sight.
fn worth(m: Move) -> i32 {
    m.capture().map_or(0, value) + m.promotion().map_or(0, value)
}

/// The score of a position looked up, if it was searched deep enough and lies outside the window.
fn settled(known: Known, depth: i32, ply: usize, alpha: i32, beta: i32) -> Option<i32> {
    let score = from_root(known.score, ply);
    let outside = match known.bound {
        Bound::Exact => true,
        Bound::AtLeast => score >= beta,
        Bound::AtMost => score <= alpha,
    };
    (known.depth >= depth && outside).then_some(score)
}

/// Mates are counted from the root while searching, but from the position itself in the table,
/// where it may be met again at another distance.
fn from_here(score: i32, ply: usize) -> i32 {
    if score.abs() > MATE_BOUND { score + score.signum() * ply as i32 } else { score }
}

fn from_root(score: i32, ply: usize) -> i32 {
    if score.abs() > MATE_BOUND { score - score.signum() * ply as i32 } else { score }
}
