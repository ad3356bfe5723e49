//! The whole data path, in one place.

use std::{
    fs::{self, File, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;
use tabiya_model::Census;
use tabiya_scorer::{Health, Scorer};
use tokio::{
    sync::mpsc,
    task::{self, JoinHandle},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Error, Progress, Rules, Source,
    aggregate::{self, Sorted},
    batch::{Batch, Candidate},
    config::Config,
    ingest::{self, Ingested},
    journal::{self, Journaled},
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
    /// Lines whose end no engine could score.
    pub set_aside: u64,
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

/// The pipeline: games in, books out.
pub async fn run(
    config: Arc<Config>,
    rules: Rules,
    sources: Vec<Source>,
    scorer: Option<Arc<dyn Scorer>>,
    cx: Context,
) -> Result<Report, Error> {
    let started = Instant::now();
    let work = Work::open(&config.checkpoint.dir)?;
    write::try_outputs(&config)?;
    cx.progress.set_bytes_total(ingest::total_size(&sources));

    let (chunks, to_parse) = mpsc::channel(CHANNEL);
    let (candidates, to_score) = mpsc::channel(CHANNEL);
    let (scored, to_journal) = mpsc::channel(CHANNEL);
    let (durable, to_judge) = mpsc::channel(CHANNEL);
    let (kept, to_count) = mpsc::channel(CHANNEL);
    let filter = config.filter.clone();
    let section = config.aggregate.clone();
    let (spill, rejects) = (work.spill.clone(), work.rejects.clone());

    let ingest =
        task::spawn(ingest::run(config.input.clone(), sources.clone(), chunks, cx.clone()));
    let sources: Arc<[Source]> = sources.into();
    let parse = parse::run(filter, rules.into(), sources, to_parse, candidates, cx.clone());
    let parse = task::spawn(parse);
    let score = task::spawn(score::run(scorer.clone(), to_score, scored));
    let journal = task::spawn_blocking(move || journal::run(rejects, to_journal, durable));
    let threshold =
        task::spawn(threshold::run(config.threshold.clone(), to_judge, kept, cx.clone()));
    let aggregate = task::spawn_blocking(move || aggregate::run(&section, spill, to_count));

    // The first error is the one to show: the others follow from the channels it closes. A signal
    // ends the stages with the runtime; searches under way are not waited for.
    let stages = async {
        tokio::try_join!(
            stage("ingest", ingest),
            stage("parse", parse),
            stage("score", score),
            stage("journal", journal),
            stage("threshold", threshold),
            stage("aggregate", aggregate),
        )
    };
    let (ingested, (), (), journaled, lines, sorted) = tokio::select! {
        ended = stages => ended?,
        () = cx.stop.cancelled() => return Err(Error::Interrupted),
    };
    check(&config, &work, &ingested, &journaled, &lines)?;
    let books = write_books(Arc::clone(&config), sorted, cx.clone()).await?;
    Ok(Report {
        games: journaled.census,
        bytes: ingested.bytes,
        set_aside: journaled.set_aside,
        lines,
        scorer: scorer.map(|scorer| scorer.health()),
        books,
        stray: journaled.stray,
        unmarked: journaled.unmarked,
        warnings: ingested.warnings,
        elapsed: started.elapsed(),
    })
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

    let ingest =
        task::spawn(ingest::run(config.input.clone(), sources.clone(), chunks, cx.clone()));
    let sources: Arc<[Source]> = sources.into();
    let parse = parse::run(filter, rules.into(), sources, to_parse, candidates, cx.clone());
    let parse = task::spawn(parse);
    let count = task::spawn(count(to_count));

    let (ingested, (), (games, stray, unmarked)) =
        tokio::try_join!(stage("ingest", ingest), stage("parse", parse), stage("count", count),)?;
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
    work: &Work,
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
        let rejects = work.rejects.display().to_string();
        return Err(Error::TooManyRejects { rejected, read: games.read, percent, rejects });
    }
    if games.accepted == 0 {
        return Err(Error::NoGames { read: games.read });
    }
    if lines.kept == 0 {
        let win_min_cp = config.threshold.win_min_cp;
        return Err(Error::NothingKept { lines: lines.seen, win_min_cp });
    }
    Ok(())
}

fn adds_up(games: &Census) -> Result<(), Error> {
    match games.adds_up() {
        true => Ok(()),
        false => Err(Error::DoesNotAddUp(format!("{games:?}"))),
    }
}

/// The work folder, held by this process.
struct Work {
    spill: PathBuf,
    rejects: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl Work {
    fn open(dir: &Path) -> Result<Work, Error> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let lock = lock(dir)?;
        let spill = dir.join("spill");
        match fs::remove_dir_all(&spill) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io(&spill)(error));
            }
            _ => fs::create_dir(&spill).map_err(Error::io(&spill))?,
        }
        Ok(Work { spill, rejects: dir.join("rejects.jsonl"), _lock: lock })
    }
}

/// One process a work folder. The lock goes with the process, however it ends.
fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("LOCK");
    let mut options = File::options();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(Error::io(&path))?;
    match file.try_lock() {
        Ok(()) => {
            let pid = std::process::id().to_string();
            file.set_len(0)
                .and_then(|()| file.write_all(pid.as_bytes()))
                .map_err(Error::io(&path))?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            Err(Error::Locked { dir: dir.to_owned(), pid: pid.trim().to_owned() })
        }
        Err(TryLockError::Error(error)) => Err(Error::io(&path)(error)),
    }
}
