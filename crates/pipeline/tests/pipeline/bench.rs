//! A folder with games in it, a configuration, and scorers that are no engines.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use shakmaty::{Chess, Position};
use tabiya_model::{Evaluation, Score};
use tabiya_pipeline::{
    Context, Error, Journal, Report, Rules, Strangers, Work,
    config::{Book, Codec, Config, Engine, Format, NamedEngine},
    find, run,
};
use tabiya_scorer::{Health, Identity, Limit, Pov, Scorer, ScorerError, Verdict};
use tabiya_testkit::{pseudo_chances, pseudo_score};
use tokio_util::sync::CancellationToken;

/// One run in its own folder.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) config: Config,
}

impl Bench {
    /// With these games as its one input, and no engine.
    pub(crate) fn new(pgn: &[u8]) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("games.pgn");
        fs::write(&input, pgn).unwrap();
        let mut config = Config::default();
        config.input.files = vec![input.to_str().unwrap().to_owned()];
        config.score.engine = Engine::Named(NamedEngine::None);
        config.checkpoint.dir = dir.path().join("work");
        Bench { dir, config }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Adds a book; gives where it will be.
    pub(crate) fn book(
        &mut self,
        format: Format,
        name: &str,
        weight: tabiya_book::Policy,
    ) -> PathBuf {
        let path = self.path(name);
        self.config.book.push(Book {
            format,
            path: path.clone(),
            codec: Codec::Compact,
            weight,
            min_games: 1,
            min_share: 0.0,
            max_moves: 0,
        });
        path
    }

    pub(crate) async fn run(
        &self,
        scorer: Option<Arc<dyn Scorer>>,
        cx: Context,
    ) -> Result<Report, Error> {
        let files: Vec<PathBuf> = self.config.input.files.iter().map(PathBuf::from).collect();
        let rules = Rules::compile(&self.config.filter).unwrap();
        let work = Work::open(&self.config.checkpoint.dir)?;
        let journal = Journal::open(&self.config, find(&files), Strangers::Refuse)?;
        run(Arc::new(self.config.clone()), rules, &work, journal, scorer, cx).await
    }
}

/// Every file below a folder with its bytes.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

/// How a double behaves.
#[derive(Clone, Copy)]
pub(crate) enum Double {
    /// Answers with the oracle's scores, sooner or later.
    Scores { delays: bool },
    /// Never answers.
    Silent,
    /// Fails.
    Fails,
    /// Panics.
    Panics,
}

impl Double {
    pub(crate) fn scorer(self) -> Option<Arc<dyn Scorer>> {
        let identity = Identity {
            name: "double".to_owned(),
            options: Default::default(),
            limit: Limit::Depth(1),
            pov: Pov::SideToMove,
            console: None,
        };
        Some(Arc::new(DoubleScorer { double: self, identity }))
    }

    /// Asks for an early end of its run when it is called for the `nth` time, and answers on.
    pub(crate) fn that_stops(self, cx: &Context, nth: usize) -> Option<Arc<dyn Scorer>> {
        let (stop, calls) = (cx.stop.clone(), AtomicUsize::new(0));
        Some(Arc::new(Stopping { scorer: self.scorer()?, stop, nth, calls }))
    }
}

struct Stopping {
    scorer: Arc<dyn Scorer>,
    stop: CancellationToken,
    nth: usize,
    calls: AtomicUsize,
}

impl Scorer for Stopping {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        if self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.nth {
            self.stop.cancel();
        }
        self.scorer.score(positions)
    }

    fn health(&self) -> Health {
        self.scorer.health()
    }

    fn identity(&self) -> &Identity {
        self.scorer.identity()
    }
}

struct DoubleScorer {
    double: Double,
    identity: Identity,
}

/// As a pool answers: what is over on the board needs no engine.
fn verdict(position: &Chess) -> Evaluation {
    match position.is_checkmate() {
        true => Score::MatedIn(0).into(),
        false if position.is_stalemate() || position.is_insufficient_material() => {
            Evaluation::DRAWN
        }
        false => {
            let score = pseudo_score(position);
            Evaluation { score, wdl: Some(pseudo_chances(score)) }
        }
    }
}

impl Scorer for DoubleScorer {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        Box::pin(async move {
            match self.double {
                Double::Scores { delays } => {
                    if delays {
                        let some = positions.first().map_or(0, |first| first.fullmoves().get());
                        let ms = u64::from(some) * 7 % 5 + positions.len() as u64 % 3;
                        tokio::time::sleep(Duration::from_millis(ms)).await;
                    }
                    Ok(positions.iter().map(|it| Verdict::Score(verdict(it))).collect())
                }
                Double::Silent => std::future::pending().await,
                Double::Fails => Err(ScorerError::Closed),
                Double::Panics => panic!("the double panics"),
            }
        })
    }

    fn health(&self) -> Health {
        Health::default()
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }
}
