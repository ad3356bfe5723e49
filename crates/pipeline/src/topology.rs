//! The whole data path, in one place.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::Serialize;
use tabiya_model::Census;
use tabiya_scorer::{Health, Scorer};
use tokio::{
    sync::mpsc,
    task::{self, JoinHandle},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    Error, Journal, Progress, Rules, Source, Work,
    aggregate::{self, Sorted},
    batch::{Batch, Candidate},
    config::Config,
    ingest::{self, Ingested},
    journal::{self, Journaled, Pending},
    parse, score,
    threshold::{self, Lines},
    write::{self, WrittenBook},
};

/// Items a channel holds. Concurrency comes from what is in flight, not from waiting lines.
const CHANNEL: usize = 2;

/// What every stage may look at.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Asks for an early end: reading stops, and the run ends with [`Error::Interrupted`].
    pub stop: CancellationToken,
    /// Where stages say how far they are.
    pub progress: Arc<Progress>,
}

/// What a run did.
#[derive(Debug)]
pub struct Report {
    /// Games, by what became of them.
    pub games: Census,
    /// Decompressed bytes read.
    pub bytes: u64,
    /// Lines that earlier runs had published.
    pub replayed: u64,
    /// Lines whose end no engine could score.
    pub set_aside: u64,
    /// Of those, found out by this run.
    pub newly_set_aside: u64,
    /// Lines looked at and kept.
    pub lines: Lines,
    /// What the scorer did; `None` without one.
    pub scorer: Option<Health>,
    /// What was written.
    pub books: Vec<WrittenBook>,
    /// Bytes of words between games that belong to none.
    pub stray: u64,
    /// Accepted games whose result stands in the tag alone.
    pub unmarked: u64,
    /// One line each.
    pub warnings: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// What a scan found.
#[derive(Debug, Serialize)]
pub struct ScanReport {
    /// Games, by what became of them.
    #[serde(flatten)]
    pub games: Census,
    /// Decompressed bytes read.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Bytes of words between games that belong to none.
    pub stray: u64,
    /// Accepted games whose result stands in the tag alone.
    pub unmarked: u64,
    /// Inputs that could not be read whole.
    #[serde(skip)]
    pub failures: Vec<crate::InputFailure>,
}

/// The pipeline: games in, books out. What earlier runs have published is replayed, what is left of
/// the inputs is read; `scorer` may be none if nothing is left.
pub async fn run(
    config: Arc<Config>,
    rules: Rules,
    work: &Work,
    mut journal: Journal,
    scorer: Option<Arc<dyn Scorer>>,
    cx: Context,
) -> Result<Report, Error> {
    let started = Instant::now();
    let spill = work.spill()?;
    write::try_outputs(&config, journal.sources())?;
    journal.prepare()?;
    cx.progress.set_bytes_total(ingest::total_size(journal.sources()));

    let (chunks, to_parse) = mpsc::channel(CHANNEL);
    let (candidates, to_score) = mpsc::channel(CHANNEL);
    let (scored, to_journal) = mpsc::channel(CHANNEL);
    let (durable, to_judge) = mpsc::channel(CHANNEL);
    let (kept, to_count) = mpsc::channel(CHANNEL);
    let (pending, finished) = (journal.pending(), journal.finished_size());
    let known = match config.filter.dedupe && !pending.is_empty() {
        true => journal.identities()?,
        false => Vec::new(),
    };
    let sources: Arc<[Source]> = journal.sources().into();
    let mut warnings = journal.warnings().to_vec();
    let stages = Stages::new(&cx);

    let cx = stages.context();
    let ingest = ingest::run(config.input.clone(), pending, finished, chunks, cx.clone());
    let parse = parse::run(
        config.filter.clone(),
        rules.into(),
        sources,
        known,
        to_parse,
        candidates,
        cx.clone(),
    );
    let score = score::run(scorer.clone(), to_score, scored, cx.clone());
    let (checkpoint, context) = (config.checkpoint.clone(), cx.clone());
    let journal = move || journal::run(journal, &checkpoint, to_journal, durable, &context);
    let threshold = threshold::run(config.threshold.clone(), to_judge, kept, cx.clone());
    let section = config.aggregate.clone();
    let aggregate = move || aggregate::run(&section, spill, to_count);

    let (ingested, parsed, score, journaled, lines, sorted) = tokio::join!(
        stages.watch("ingest", task::spawn(ingest)),
        stages.watch("parse", task::spawn(parse)),
        stages.watch("score", task::spawn(score)),
        stages.watch("journal", task::spawn_blocking(journal)),
        stages.watch("threshold", task::spawn(threshold)),
        stages.watch("aggregate", task::spawn_blocking(aggregate)),
    );
    let (Some(ingested), Some(()), Some(()), Some(journaled), Some(lines), Some(sorted)) =
        (ingested, parsed, score, journaled, lines, sorted)
    else {
        return Err(stages.first_error());
    };
    if cx.stop.is_cancelled() {
        return Err(Error::Interrupted);
    }
    let (_journal, journaled) = journaled;
    check(&config, &ingested, &journaled, &lines)?;
    let books = write_books(Arc::clone(&config), sorted, cx.clone()).await?;
    warnings.extend(journaled.warnings);
    warnings.extend(ingested.warnings);
    Ok(Report {
        games: journaled.census,
        bytes: ingested.bytes,
        replayed: journaled.replayed,
        set_aside: journaled.set_aside,
        newly_set_aside: journaled.newly_set_aside,
        lines,
        scorer: scorer.map(|scorer| scorer.health()),
        books,
        stray: journaled.stray,
        unmarked: journaled.unmarked,
        warnings,
        elapsed: started.elapsed(),
    })
}

/// What a journal makes with other rules.
#[derive(Debug)]
pub struct Rebuilt {
    /// Lines looked at and kept.
    pub lines: Lines,
    /// What was written; nothing if no line was kept.
    pub books: Vec<WrittenBook>,
}

/// The cheap half alone: the books of what is published. Reads no games and changes no journal;
/// `spill` is an empty folder.
pub async fn rebuild(
    config: Arc<Config>,
    journal: Arc<Journal>,
    spill: PathBuf,
    cx: Context,
) -> Result<Rebuilt, Error> {
    let (durable, to_judge) = mpsc::channel(CHANNEL);
    let (kept, to_count) = mpsc::channel(CHANNEL);
    let stages = Stages::new(&cx);
    let cx = stages.context();
    let context = cx.clone();
    let replay = move || journal::replay(&journal, &durable, &context);
    let threshold = threshold::run(config.threshold.clone(), to_judge, kept, cx.clone());
    let section = config.aggregate.clone();
    let aggregate = move || aggregate::run(&section, spill, to_count);
    let (replayed, lines, sorted) = tokio::join!(
        stages.watch("replay", task::spawn_blocking(replay)),
        stages.watch("threshold", task::spawn(threshold)),
        stages.watch("aggregate", task::spawn_blocking(aggregate)),
    );
    let (Some(_), Some(lines), Some(sorted)) = (replayed, lines, sorted) else {
        return Err(stages.first_error());
    };
    let books = match lines.kept {
        0 => Vec::new(),
        _ => write_books(config, sorted, cx).await?,
    };
    Ok(Rebuilt { lines, books })
}

/// What stages that run together have in common: they end together, and the first error is the one
/// to show, since the others follow from the channels it closes.
struct Stages {
    cx: Context,
    first: Mutex<Option<Error>>,
    /// Ends the stages when nobody waits for them any more.
    _end: DropGuard,
}

impl Stages {
    fn new(cx: &Context) -> Stages {
        let stop = cx.stop.child_token();
        let cx = Context { stop: stop.clone(), progress: Arc::clone(&cx.progress) };
        Stages { cx, first: Mutex::new(None), _end: stop.drop_guard() }
    }

    /// What the stages look at.
    fn context(&self) -> Context {
        self.cx.clone()
    }

    /// Waits for a stage. An error ends the others.
    async fn watch<T>(
        &self,
        name: &'static str,
        handle: JoinHandle<Result<T, Error>>,
    ) -> Option<T> {
        match stage(name, handle).await {
            Ok(done) => Some(done),
            Err(error) => {
                self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.cx.stop.cancel();
                None
            }
        }
    }

    fn first_error(self) -> Error {
        let first = self.first.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.unwrap_or(Error::Interrupted)
    }
}

/// Reading and parsing alone: what a run would take, and what it would leave out.
pub async fn scan(
    config: Arc<Config>,
    rules: Rules,
    sources: Vec<Source>,
    cx: Context,
) -> Result<ScanReport, Error> {
    let started = Instant::now();
    cx.progress.set_bytes_total(ingest::total_size(&sources));
    let (chunks, to_parse) = mpsc::channel(CHANNEL);
    let (candidates, to_count) = mpsc::channel(CHANNEL);
    let filter = config.filter.clone();

    let whole = |(index, source): (usize, &Source)| Pending {
        index,
        source: source.clone(),
        start: Default::default(),
    };
    let pending = sources.iter().enumerate().map(whole).collect();
    let ingest = task::spawn(ingest::run(config.input.clone(), pending, 0, chunks, cx.clone()));
    let sources: Arc<[Source]> = sources.into();
    let known = Vec::new();
    let parse = parse::run(filter, rules.into(), sources, known, to_parse, candidates, cx.clone());
    let parse = task::spawn(parse);
    let count = task::spawn(count(to_count));

    let (ingested, (), (games, stray, unmarked)) =
        tokio::try_join!(stage("ingest", ingest), stage("parse", parse), stage("count", count),)?;
    if cx.stop.is_cancelled() {
        return Err(Error::Interrupted);
    }
    adds_up(&games)?;
    Ok(ScanReport {
        games,
        bytes: ingested.bytes,
        seconds: started.elapsed().as_secs_f64(),
        stray,
        unmarked,
        failures: ingested.failures,
    })
}

async fn count(mut rx: mpsc::Receiver<Batch<Candidate>>) -> Result<(Census, u64, u64), Error> {
    let mut total = (Census::default(), 0, 0);
    while let Some(batch) = rx.recv().await {
        total.0.add(&batch.census);
        total.1 += batch.stray;
        total.2 += batch.unmarked;
    }
    Ok(total)
}

/// Waits for a stage and names it should it panic.
async fn stage<T>(name: &'static str, handle: JoinHandle<Result<T, Error>>) -> Result<T, Error> {
    let result = handle.await;
    tracing::debug!(stage = name, "stage ended");
    match result {
        Ok(result) => result,
        Err(error) => Err(Error::Panicked { stage: name, message: panic_message(error) }),
    }
}

fn panic_message(error: task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "cancelled".to_owned() };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

async fn write_books(
    config: Arc<Config>,
    sorted: Sorted,
    cx: Context,
) -> Result<Vec<WrittenBook>, Error> {
    let write = task::spawn_blocking(move || write::run(&config, &sorted, &cx));
    stage("write", write).await
}

/// What must hold before a book is written.
fn check(
    config: &Config,
    ingested: &Ingested,
    journaled: &Journaled,
    lines: &Lines,
) -> Result<(), Error> {
    let games = &journaled.census;
    adds_up(games)?;
    if !ingested.failures.is_empty() {
        return Err(Error::Unread(ingested.failures.clone()));
    }
    let (rejected, percent) = (games.rejected_games(), config.input.max_reject_percent);
    if rejected as f64 * 100.0 > percent * games.read as f64 {
        let rejects = Journal::rejects_path(&config.checkpoint.dir).display().to_string();
        return Err(Error::TooManyRejects { rejected, read: games.read, percent, rejects });
    }
    if games.accepted == 0 {
        return Err(Error::NoGames { read: games.read });
    }
    if lines.kept == 0 {
        let (rule, by_chances) = (config.threshold.rule(), config.threshold.needs_chances());
        let key = if by_chances { "win_min_wdl" } else { "win_min_cp" };
        let set_aside = journaled.set_aside;
        return Err(Error::NothingKept { lines: lines.seen, set_aside, rule, key });
    }
    Ok(())
}

fn adds_up(games: &Census) -> Result<(), Error> {
    match games.adds_up() {
        true => Ok(()),
        false => Err(Error::DoesNotAddUp(format!("{games:?}"))),
    }
}
