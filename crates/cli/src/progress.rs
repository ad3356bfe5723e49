//! How far a run is: bars on a terminal, a log line now and then elsewhere. All of it goes to
//! standard error.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tabiya_model::Snapshot;
use tabiya_pipeline::Progress;
use tabiya_scorer::{Health, Scorer};
use tokio::{sync::oneshot, task::JoinHandle, time};

use crate::output::thousands;

const ON_TERMINAL: Duration = Duration::from_millis(200);
const IN_LOG: Duration = Duration::from_secs(10);

/// The display of a run.
pub(crate) struct Shown {
    end: oneshot::Sender<()>,
    display: JoinHandle<()>,
}

impl Shown {
    /// Takes the display away.
    pub(crate) async fn finish(self) {
        let _ = self.end.send(());
        let _ = self.display.await;
    }
}

/// Begins to show a run.
pub(crate) fn show(progress: Arc<Progress>, scorer: Option<Arc<dyn Scorer>>) -> Shown {
    let (end, mut ended) = oneshot::channel();
    let terminal = io::stderr().is_terminal();
    let mut ticks = time::interval(if terminal { ON_TERMINAL } else { IN_LOG });
    let display = tokio::spawn(async move {
        let view = View::new(terminal);
        // The first tick is due at once, when there is nothing to say yet.
        ticks.tick().await;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    view.show(&progress.snapshot(), scorer.as_ref().map(|scorer| scorer.health()));
                }
                _ = &mut ended => break,
            }
        }
        view.clear();
    });
    Shown { end, display }
}

struct View {
    started: Instant,
    bars: Option<Bars>,
}

struct Bars {
    all: MultiProgress,
    lines: [ProgressBar; 3],
}

impl View {
    fn new(terminal: bool) -> View {
        let bars = terminal.then(|| {
            let all = MultiProgress::new();
            let lines = ["read", "score", "keep"].map(|stage| {
                let bar = all.add(ProgressBar::no_length());
                if let Ok(style) = ProgressStyle::with_template("{prefix:>6} {msg}") {
                    bar.set_style(style);
                }
                bar.with_prefix(stage)
            });
            Bars { all, lines }
        });
        View { started: Instant::now(), bars }
    }

    fn show(&self, snapshot: &Snapshot, health: Option<Health>) {
        let elapsed = self.started.elapsed();
        let messages = [
            read_line(snapshot, elapsed),
            score_line(snapshot, health.as_ref(), elapsed),
            format!(
                "{} lines   {} entries written",
                thousands(snapshot.kept),
                thousands(snapshot.entries)
            ),
        ];
        match &self.bars {
            Some(bars) => {
                for (bar, message) in bars.lines.iter().zip(messages) {
                    bar.set_message(message);
                }
            }
            None => tracing::info!(
                "read: {} | score: {} | keep: {}",
                messages[0],
                messages[1],
                messages[2]
            ),
        }
    }

    fn clear(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.all.clear();
        }
    }
}

fn read_line(snapshot: &Snapshot, elapsed: Duration) -> String {
    let games = snapshot.games.read;
    let share = match snapshot.bytes_total {
        0 => String::new(),
        total => format!("{:3.0} %   ", snapshot.bytes_read as f64 * 100.0 / total as f64),
    };
    format!(
        "{share}{} games   {} games/s{}",
        thousands(games),
        rate(games, elapsed),
        eta(snapshot, elapsed)
    )
}

fn score_line(snapshot: &Snapshot, health: Option<&Health>, elapsed: Duration) -> String {
    let Some(health) = health else { return "no engine".to_owned() };
    let remembered = health.cached + health.stored;
    format!(
        "{} positions   {} remembered   {} waiting   {} positions/s   engines {}/{}   restarts {}   set aside {}",
        thousands(health.scored),
        thousands(remembered),
        thousands(snapshot.positions.saturating_sub(health.scored + remembered + health.set_aside)),
        rate(health.scored, elapsed),
        health.alive,
        health.engines,
        health.restarts,
        health.set_aside,
    )
}

fn rate(count: u64, elapsed: Duration) -> String {
    thousands((count as f64 / elapsed.as_secs_f64().max(1e-3)) as u64)
}

/// The time left by the bytes read in this run. The stages after follow closely: little is in
/// between.
fn eta(snapshot: &Snapshot, elapsed: Duration) -> String {
    let read = snapshot.bytes_read.saturating_sub(snapshot.bytes_skipped);
    if read == 0 || snapshot.bytes_total <= snapshot.bytes_read {
        return String::new();
    }
    let left = (snapshot.bytes_total - snapshot.bytes_read) as f64 / read as f64;
    let seconds = (elapsed.as_secs_f64() * left) as u64;
    match seconds {
        0..60 => format!("   {seconds} s left"),
        60..3600 => format!("   {} min left", seconds / 60),
        _ => format!("   {} h {} min left", seconds / 3600, seconds / 60 % 60),
    }
}
