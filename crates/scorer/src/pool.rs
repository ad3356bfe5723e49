//! Several engines, one queue.
//!
//! Each engine has a task that takes the next position as soon as it is done with the last, so a
//! batch is spread over all of them and the slowest position holds up only one. A position stays
//! with its task until it has a verdict: an engine that fails is replaced, a position that fails
//! [`STRIKES`] engines is set aside.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{
    StreamExt, TryStreamExt,
    future::{BoxFuture, FutureExt},
    stream::{self, BoxStream},
};
use shakmaty::{Chess, Color, KnownOutcome, Outcome, Position};
use tabiya_model::Score;
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinSet,
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    EngineSpec, Evaluation, Health, Identity, Limit, Pov, Scorer, ScorerError, Unscored, Verdict,
    engine::{Engine, Trouble},
    fen::fen,
    options, probe,
};

/// Engines that a position may hang or crash before it is set aside.
const STRIKES: u32 = 3;
/// Starts in a row that may fail before the pool gives up.
const STARTS: u32 = 3;
/// Positions set aside in a row before the pool gives up: it is not their fault any more.
const BARREN: u32 = 100;
/// Engines that are started at a time.
const STARTING: usize = 16;
/// The wait before a restart doubles with each engine lost in a row, from the first to the last.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Engines that share the positions to score.
///
/// Dropping the pool, or the runtime, kills them; `std::process::exit` drops neither.
pub struct Pool {
    jobs: mpsc::Sender<Job>,
    shared: Arc<Shared>,
    workers: Mutex<JoinSet<()>>,
}

/// What the pool's tasks have in common.
struct Shared {
    spec: EngineSpec,
    identity: Identity,
    closing: CancellationToken,
    engines: usize,
    alive: AtomicUsize,
    restarts: AtomicU64,
    scored: AtomicU64,
    set_aside: AtomicU64,
    /// Positions set aside since the last score.
    barren: AtomicU32,
}

struct Job {
    position: Chess,
    reply: oneshot::Sender<Result<Verdict, ScorerError>>,
}

impl Pool {
    /// Starts the engines, at least one, and tries the first of them out.
    ///
    /// # Errors
    ///
    /// An engine does not start, does not take an option, or does not keep to a limit in nodes.
    pub async fn start(spec: EngineSpec, engines: usize) -> Result<Pool, ScorerError> {
        let engines = engines.max(1);
        // Alone, so that a command that cannot work fails once.
        let mut first = Engine::start(&spec).await?;
        let pov = probe::probe(&mut first, &spec).await?;
        let identity = identity(&spec, &first, pov);
        let others = stream::iter(1..engines).map(|_| Engine::start(&spec));
        let mut started: Vec<Engine> = others.buffer_unordered(STARTING).try_collect().await?;
        started.push(first);

        let shared = Arc::new(Shared {
            spec,
            identity,
            closing: CancellationToken::new(),
            engines,
            alive: AtomicUsize::new(0),
            restarts: AtomicU64::new(0),
            scored: AtomicU64::new(0),
            set_aside: AtomicU64::new(0),
            barren: AtomicU32::new(0),
        });
        let (jobs, queue) = mpsc::channel(2 * engines);
        let queue = Arc::new(Mutex::new(queue));
        let mut workers = JoinSet::new();
        for engine in started {
            workers.spawn(Worker::new(&shared, engine).run(Arc::clone(&queue)));
        }
        Ok(Pool { jobs, shared, workers: Mutex::new(workers) })
    }

    /// Ends all engines, politely where they are idle; running searches are given up and asked
    /// positions answered with [`ScorerError::Closed`].
    pub async fn shutdown(&self) {
        self.shared.closing.cancel();
        let mut workers = self.workers.lock().await;
        while workers.join_next().await.is_some() {}
    }
}

impl Scorer for Pool {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        async move {
            let mut verdicts = vec![None; positions.len()];
            let mut answers = self.answers(positions);
            while let Some(answer) = answers.next().await {
                let (place, verdict) = answer?;
                if let Some(slot) = verdicts.get_mut(place) {
                    *slot = Some(verdict);
                }
            }
            verdicts.into_iter().collect::<Option<_>>().ok_or(ScorerError::Closed)
        }
        .boxed()
    }

    fn answers(
        &self,
        positions: Vec<Chess>,
    ) -> BoxStream<'_, Result<(usize, Verdict), ScorerError>> {
        let answer = move |(place, position)| async move {
            let verdict = match decided(&position) {
                Some(evaluation) => Verdict::Score(evaluation),
                None => {
                    let reply = self.ask(position).await?;
                    reply.await.map_err(|_| ScorerError::Closed)??
                }
            };
            Ok((place, verdict))
        };
        // Enough that every engine finds its next position in the queue, whichever is slow.
        let under_way = 4 * self.shared.engines;
        stream::iter(positions.into_iter().enumerate())
            .map(answer)
            .buffer_unordered(under_way)
            .boxed()
    }

    fn health(&self) -> Health {
        Health {
            engines: self.shared.engines,
            alive: self.shared.alive.load(Relaxed),
            restarts: self.shared.restarts.load(Relaxed),
            scored: self.shared.scored.load(Relaxed),
            set_aside: self.shared.set_aside.load(Relaxed),
            cached: 0,
            stored: 0,
        }
    }

    fn identity(&self) -> &Identity {
        &self.shared.identity
    }
}

impl Pool {
    /// Waits for room in the queue.
    async fn ask(
        &self,
        position: Chess,
    ) -> Result<oneshot::Receiver<Result<Verdict, ScorerError>>, ScorerError> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job { position, reply }).await.map_err(|_| ScorerError::Closed)?;
        Ok(answer)
    }
}

/// The score of a game that is over. No engine sees it: some answer nothing, some answer nonsense.
pub(crate) fn decided(position: &Chess) -> Option<Evaluation> {
    match position.outcome() {
        // Only the side to move can be mated.
        Outcome::Known(KnownOutcome::Decisive { .. }) => Some(Score::MatedIn(0).into()),
        Outcome::Known(KnownOutcome::Draw) => Some(Evaluation::DRAWN),
        Outcome::Unknown => None,
    }
}

fn identity(spec: &EngineSpec, engine: &Engine, pov: Pov) -> Identity {
    let mut options: BTreeMap<_, _> = options::nets(engine.announced()).collect();
    options.extend(engine.settings().iter().cloned());
    options.extend(spec.peculiarities());
    let (name, console) = (engine.name().to_owned(), spec.console.clone());
    Identity { name, options, limit: spec.limit, pov, console }
}

/// One engine, or the place of one, and the task that keeps it busy.
struct Worker {
    shared: Arc<Shared>,
    engine: Option<Engine>,
    /// Engines lost in a row.
    lost: u32,
}

/// Why a search gave no score.
enum Failure {
    /// The engine is well but said nothing of use.
    NoScore,
    /// The engine is well but ended only when it was stopped.
    Overdue,
    /// The engine is lost.
    Lost(Trouble),
}

impl Worker {
    fn new(shared: &Arc<Shared>, engine: Engine) -> Worker {
        shared.alive.fetch_add(1, Relaxed);
        Worker { shared: Arc::clone(shared), engine: Some(engine), lost: 0 }
    }

    /// Works until the pool is shut down or nobody can ask any more.
    async fn run(mut self, queue: Arc<Mutex<mpsc::Receiver<Job>>>) {
        let closing = self.shared.closing.clone();
        closing.run_until_cancelled(self.work(&queue)).await;
        if let Some(engine) = self.take() {
            engine.quit().await;
        }
    }

    async fn work(&mut self, queue: &Mutex<mpsc::Receiver<Job>>) {
        while let Some(Job { position, reply }) = next(queue).await {
            // Perhaps nobody waits for it any more.
            if !reply.is_closed() {
                let _ = reply.send(self.settle(&position).await);
            }
        }
    }

    /// Tries until there is a verdict.
    async fn settle(&mut self, position: &Chess) -> Result<Verdict, ScorerError> {
        let mut limit = self.shared.spec.limit;
        let mut shallow = false;
        let mut strikes = 0;
        loop {
            let reason = match self.search(position, limit).await? {
                Ok(evaluation) => return Ok(self.scored(evaluation)),
                Err(Failure::NoScore) if !shallow => {
                    // Engines answer an only move, or one from a book, at once. A fresh process
                    // may yet give a score to the shallowest search.
                    shallow = true;
                    limit = Limit::Depth(1);
                    drop(self.take());
                    continue;
                }
                Err(Failure::NoScore) => return self.set_aside(position, Unscored::NoScore),
                Err(Failure::Overdue) => Unscored::EngineTimeout,
                Err(Failure::Lost(trouble)) => {
                    self.bury(trouble, position).await;
                    reason(trouble)
                }
            };
            strikes += 1;
            if strikes == STRIKES {
                return self.set_aside(position, reason);
            }
        }
    }

    /// One search, on a new engine if there is none. The score is the side to move's.
    async fn search(
        &mut self,
        position: &Chess,
        limit: Limit,
    ) -> Result<Result<Evaluation, Failure>, ScorerError> {
        let shared = Arc::clone(&self.shared);
        let engine = self.engine().await?;
        let answer = match engine.search(position, limit, shared.spec.timeout).await {
            Ok(answer) => answer,
            Err(trouble) => return Ok(Err(Failure::Lost(trouble))),
        };
        // What a search knows when the clock runs out depends on the machine. It must not pass for
        // the score at a depth, unless time is what limits the search anyway.
        if answer.stopped && !matches!(limit, Limit::Movetime(_)) {
            return Ok(Err(Failure::Overdue));
        }
        self.lost = 0;
        let turned = shared.identity.pov == Pov::White && position.turn() == Color::Black;
        let usable = |it: &Evaluation| !shared.spec.chances || it.expected().is_some();
        let evaluation = answer.evaluation.filter(usable).map(|it| if turned { -it } else { it });
        Ok(evaluation.ok_or(Failure::NoScore))
    }

    /// The engine, started anew if it was lost, after a wait that grows with each one lost.
    async fn engine(&mut self) -> Result<&mut Engine, ScorerError> {
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => self.restart().await?,
        };
        Ok(self.engine.insert(engine))
    }

    async fn restart(&mut self) -> Result<Engine, ScorerError> {
        let mut failed = 0;
        loop {
            sleep(wait(self.lost)).await;
            match Engine::start(&self.shared.spec).await {
                Ok(engine) => {
                    self.shared.restarts.fetch_add(1, Relaxed);
                    self.shared.alive.fetch_add(1, Relaxed);
                    return Ok(engine);
                }
                Err(error) => {
                    failed += 1;
                    self.lost += 1;
                    if failed == STARTS {
                        return Err(error);
                    }
                    warn!("{error}; trying again");
                }
            }
        }
    }

    /// Gives up a lost engine: the next search starts another.
    async fn bury(&mut self, trouble: Trouble, position: &Chess) {
        self.lost += 1;
        if let Some(engine) = self.take() {
            let end = engine.epitaph(trouble).await;
            warn!("the engine {trouble} and is replaced ({end}); position {}", fen(position));
        }
    }

    fn take(&mut self) -> Option<Engine> {
        let engine = self.engine.take();
        if engine.is_some() {
            self.shared.alive.fetch_sub(1, Relaxed);
        }
        engine
    }

    fn scored(&self, evaluation: Evaluation) -> Verdict {
        self.shared.scored.fetch_add(1, Relaxed);
        self.shared.barren.store(0, Relaxed);
        Verdict::Score(evaluation)
    }

    fn set_aside(&self, position: &Chess, reason: Unscored) -> Result<Verdict, ScorerError> {
        warn!("position set aside, {reason}: {}", fen(position));
        self.shared.set_aside.fetch_add(1, Relaxed);
        let positions = self.shared.barren.fetch_add(1, Relaxed) + 1;
        if positions >= BARREN {
            return Err(ScorerError::GaveUp {
                command: self.shared.spec.command_line(),
                positions,
                limit: self.shared.spec.limit.to_string(),
            });
        }
        Ok(Verdict::Unscored(reason))
    }
}

/// The next position. Tasks queue up for it, and the first in line gets it.
async fn next(queue: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    queue.lock().await.recv().await
}

fn reason(trouble: Trouble) -> Unscored {
    match trouble {
        Trouble::TimedOut => Unscored::EngineTimeout,
        Trouble::Closed => Unscored::EngineCrash,
        Trouble::WrongMove => Unscored::NoScore,
    }
}

fn wait(lost: u32) -> Duration {
    match lost {
        0 => Duration::ZERO,
        _ => FIRST_WAIT.saturating_mul(1 << (lost - 1).min(16)).min(LAST_WAIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        let waits: Vec<u128> =
            [0, 1, 2, 6, 7, u32::MAX].map(|lost| wait(lost).as_millis()).to_vec();
        assert_eq!(waits, [0, 100, 200, 3200, 5000, 5000]);
    }
}
