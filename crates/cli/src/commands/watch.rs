//! `tabiya run --watch`: stays up, takes up what is new, and replaces the books.
//!
//! Every pass is an ordinary run: what is published is replayed, what is new is read. A pass is due
//! when the inputs or the configuration are not what they were at the last one.

use std::{
    collections::HashMap,
    fs, mem,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use anyhow::Result;
use tabiya_pipeline::{
    Context, Error, Found, Journal, Report, Source, Strangers, Work, config, find, input_paths,
    run as run_pipeline,
};

use super::{
    scoring::{self, Scoring},
    service,
};
use crate::{
    DONE,
    args::ConfigArgs,
    config_file::{self, Loaded, Purpose},
    progress,
};

/// How often inputs and configuration are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// A file that changed so lately may still be written to.
const SETTLED: Duration = Duration::from_secs(3);

/// Stays up until a signal comes.
pub(crate) fn run(source: &ConfigArgs) -> Result<u8> {
    let loaded = config_file::load(Some(&source.config), &source.set, Purpose::Run)?;
    service::print_warnings(&loaded.warnings);
    let work = Work::open(&loaded.config.checkpoint.dir)?;
    let mut watch = Watch {
        source,
        config: loaded.config,
        text: fs::read(&source.config).unwrap_or_default(),
        work,
        scoring: None,
        seen: HashMap::new(),
        failed: HashMap::new(),
        done: None,
        last: None,
    };
    service::block_on(|cx| async move { watch.until_stopped(&cx).await })?;
    Ok(DONE)
}

/// Size and time of a file: where they are the same, so is the file.
type Stamp = (u64, Option<SystemTime>);

struct Watch<'a> {
    source: &'a ConfigArgs,
    config: config::Config,
    /// The configuration file when it was last looked at, good or bad.
    text: Vec<u8>,
    work: Work,
    /// The engines, once there was something to score, and what they were started for: the section,
    /// and whether chances are needed.
    scoring: Option<((config::Score, bool), Scoring)>,
    /// Files that may still be written to, with the time since when they are as they are.
    seen: HashMap<PathBuf, (Stamp, Instant)>,
    /// Files that could not be read whole.
    failed: HashMap<PathBuf, Stamp>,
    /// The inputs of the last pass.
    done: Option<Vec<(PathBuf, Stamp)>>,
    /// When the last pass began.
    last: Option<Instant>,
}

impl Watch<'_> {
    async fn until_stopped(&mut self, cx: &Context) -> Result<()> {
        let mut alarm = Alarm::new();
        while !cx.stop.is_cancelled() {
            let reloaded = self.reload();
            let found = self.ready();
            let inputs = stamps(&found);
            let changed = reloaded || self.done.as_ref() != Some(&inputs);
            let every = self.config.checkpoint.publish_every.0;
            let due = reloaded || self.last.is_none_or(|last| last.elapsed() >= every);
            if changed && due {
                self.last = Some(Instant::now());
                self.done = if self.pass(found, cx).await { Some(inputs) } else { None };
            }
            alarm.ready();
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = cx.stop.cancelled() => {}
            }
        }
        if let Some((_, scoring)) = self.scoring.take() {
            scoring.shutdown().await;
        }
        tracing::info!("stopped; the books are those of the last pass");
        Ok(())
    }

    /// Takes up a changed configuration. A bad one is refused, and the old one stays in force.
    fn reload(&mut self) -> bool {
        let Ok(text) = fs::read(&self.source.config) else { return false };
        if text == self.text {
            return false;
        }
        self.text = text;
        let file = Some(self.source.config.as_path());
        match config_file::load(file, &self.source.set, Purpose::Run) {
            Ok(Loaded { config, .. }) if config.checkpoint.dir != self.config.checkpoint.dir => {
                tracing::error!("checkpoint.dir cannot change while this runs; the old one stays");
                false
            }
            Ok(Loaded { config, warnings }) => {
                service::print_warnings(&warnings);
                tracing::info!("the configuration has changed");
                mem::replace(&mut self.config, config) != self.config
            }
            Err(refusal) => {
                tracing::error!("the configuration is refused, the old one stays: {refusal}");
                false
            }
        }
    }

    /// The inputs that are there and complete.
    fn ready(&mut self) -> Found {
        let mut found = find(&input_paths(&self.config.input)).so_far();
        let (failed, seen) = (&self.failed, &mut self.seen);
        let mut still_seen = HashMap::new();
        found.retain(|source| {
            let Source::File(path) = source else { return false };
            let Some(stamp) = stamp(path) else { return false };
            if failed.get(path) == Some(&stamp) {
                return false;
            }
            let age = stamp.1.and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age >= SETTLED) {
                return true;
            }
            let since = match seen.remove(path) {
                Some((before, since)) if before == stamp => since,
                _ => Instant::now(),
            };
            let settled = since.elapsed() >= SETTLED;
            still_seen.insert(path.clone(), (stamp, since));
            settled
        });
        *seen = still_seen;
        found
    }

    /// One run. Whether it made the books that are due.
    async fn pass(&mut self, found: Found, cx: &Context) -> bool {
        match self.try_pass(found, cx).await {
            Ok(report) => {
                tracing::info!(
                    games = report.games.read,
                    accepted = report.games.accepted,
                    kept = report.lines.kept,
                    entries = report.books.first().map_or(0, |book| book.entries),
                    seconds = report.elapsed.as_secs_f64(),
                    "books replaced"
                );
                true
            }
            Err(error) => match error.downcast_ref::<Error>() {
                Some(Error::Interrupted) => false,
                Some(Error::Unread(failures)) => {
                    for failure in failures {
                        tracing::error!("left out until it changes: {failure}");
                        let path = PathBuf::from(&failure.source);
                        if let Some(stamp) = stamp(&path) {
                            self.failed.insert(path, stamp);
                        }
                    }
                    // The others make books without them, and need not wait.
                    self.last = None;
                    false
                }
                Some(Error::NoGames { .. } | Error::NothingKept { .. }) => {
                    tracing::warn!("{error}");
                    true
                }
                _ => {
                    tracing::error!("{error:#}: the books stay as they are; tried again later");
                    self.scoring = None;
                    scoring::forget_engines(&self.config);
                    false
                }
            },
        }
    }

    async fn try_pass(&mut self, found: Found, cx: &Context) -> Result<Report> {
        let config = Arc::new(self.config.clone());
        let rules = service::rules(&config)?;
        let settling = self.seen.keys().map(|path| path.display().to_string()).collect();
        let journal = Journal::open(&config, found, Strangers::Retire { settling })?;
        let cx = Context { stop: cx.stop.clone(), ..Context::default() };
        let scorer = match journal.has_unread() {
            true => self.scorer(&config, &cx).await?,
            false => None,
        };
        let shown = progress::show(Arc::clone(&cx.progress), scorer.clone());
        let report = run_pipeline(config, rules, &self.work, journal, scorer, cx).await;
        shown.finish().await;
        Ok(report?)
    }

    /// The engines of the last pass, or new ones if others are wanted.
    async fn scorer(
        &mut self,
        config: &config::Config,
        cx: &Context,
    ) -> Result<Option<Arc<dyn tabiya_scorer::Scorer>>> {
        let wanted = (config.score.clone(), config.threshold.needs_chances());
        if self.scoring.as_ref().is_none_or(|(started_for, _)| *started_for != wanted) {
            if let Some((_, old)) = self.scoring.take() {
                old.shutdown().await;
            }
            let scoring = Scoring::start(config, cx).await?;
            self.scoring = scoring.map(|scoring| (wanted, scoring));
        }
        Ok(self.scoring.as_ref().map(|(_, scoring)| scoring.scorer()))
    }
}

fn stamps(found: &Found) -> Vec<(PathBuf, Stamp)> {
    let paths = found.sources().iter().filter_map(|source| match source {
        Source::File(path) => Some(path.clone()),
        Source::Stdin => None,
    });
    paths.filter_map(|path| stamp(&path).map(|stamp| (path, stamp))).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = path.metadata().ok()?;
    Some((file.len(), file.modified().ok()))
}

/// Tells systemd, if it asked to be told, that the service is ready and alive.
struct Alarm {
    told: bool,
}

impl Alarm {
    /// Signs of life come from the runtime that does the work: where it hangs, they stop.
    fn new() -> Alarm {
        if let Some(every) = sd_notify::watchdog_enabled() {
            tokio::spawn(async move {
                let mut ticks = tokio::time::interval(every / 3);
                loop {
                    ticks.tick().await;
                    let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
                }
            });
        }
        Alarm { told: false }
    }

    fn ready(&mut self) {
        if !self.told {
            let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
            self.told = true;
        }
    }
}
