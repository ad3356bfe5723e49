//! How far a run is: bars on a terminal, a log line now and then elsewhere. All of it goes to
//! standard error.

use std::{
    collections::VecDeque,
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
/// What happened longer ago says nothing about how fast engines are.
const LATELY: Duration = Duration::from_secs(60);

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
        let health = || scorer.as_ref().map(|scorer| scorer.health());
        let mut view = View::new(terminal, health().unwrap_or_default());
        // The first tick is due at once, when there is nothing to say yet.
        ticks.tick().await;
        loop {
            tokio::select! {
                _ = ticks.tick() => {
                    view.show(&progress.snapshot(), health());
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
    /// What the engines had done before: those of a service outlive a run.
    before: Health,
    pace: Pace,
    bars: Option<Bars>,
}

struct Bars {
    all: MultiProgress,
    lines: [ProgressBar; 3],
}

impl View {
    fn new(terminal: bool, before: Health) -> View {
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
        let mut pace = Pace::default();
        pace.see(Duration::ZERO, 0);
        View { started: Instant::now(), before, pace, bars }
    }

    fn show(&mut self, snapshot: &Snapshot, health: Option<Health>) {
        let elapsed = self.started.elapsed();
        let health = health.map(|health| since(&self.before, health));
        let health = health.as_ref();
        if let Some(health) = health {
            self.pace.see(elapsed, health.scored + health.set_aside);
        }
        let messages = [
            read_line(snapshot, health.is_none(), elapsed),
            health.map_or_else(
                || "no engine".to_owned(),
                |health| score_line(snapshot, health, self.pace.rate()),
            ),
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

/// What was done since.
fn since(before: &Health, now: Health) -> Health {
    Health {
        restarts: now.restarts.saturating_sub(before.restarts),
        scored: now.scored.saturating_sub(before.scored),
        set_aside: now.set_aside.saturating_sub(before.set_aside),
        cached: now.cached.saturating_sub(before.cached),
        stored: now.stored.saturating_sub(before.stored),
        ..now
    }
}

/// How fast engines answer of late.
#[derive(Default)]
struct Pace {
    /// When there were how many answers, the oldest first.
    seen: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// So many answers there are by now.
    fn see(&mut self, now: Duration, answers: u64) {
        self.seen.push_back((now, answers));
        // One from before stays, so that all of the time is looked at.
        while self.seen.get(1).is_some_and(|&(then, _)| then + LATELY <= now) {
            self.seen.pop_front();
        }
    }

    /// Answers a second.
    fn rate(&self) -> f64 {
        match (self.seen.front(), self.seen.back()) {
            (Some((since, before)), Some((now, answers))) if now > since => {
                answers.saturating_sub(*before) as f64 / (*now - *since).as_secs_f64()
            }
            _ => 0.0,
        }
    }
}

/// With `eta`, by how fast the input is read: for when nothing else takes time.
fn read_line(snapshot: &Snapshot, eta: bool, elapsed: Duration) -> String {
    let games = snapshot.games.read;
    let share = match snapshot.bytes_total {
        0 => String::new(),
        total => format!("{:3.0} %   ", snapshot.bytes_read as f64 * 100.0 / total as f64),
    };
    let rate = games as f64 / elapsed.as_secs_f64().max(1e-3);
    let times_as_much = unread(snapshot).filter(|_| eta && games > 0);
    let left = times_as_much.map(|unread| left(elapsed.as_secs_f64() * unread));
    format!(
        "{share}{} games   {} games/s{}",
        thousands(games),
        thousands(rate as u64),
        left.unwrap_or_default()
    )
}

fn score_line(snapshot: &Snapshot, health: &Health, rate: f64) -> String {
    let remembered = health.cached + health.stored;
    let answered = health.scored + remembered + health.set_aside;
    let waiting = snapshot.positions.saturating_sub(answered);
    let left = to_ask(snapshot, health).filter(|_| rate > 0.0).map(|ask| left(ask / rate));
    format!(
        "{} positions   {} positions/s{}   {} remembered   {} waiting   engines {}/{}   \
         restarts {}   set aside {}",
        thousands(health.scored),
        thousands(rate.round() as u64),
        left.unwrap_or_default(),
        thousands(remembered),
        thousands(waiting),
        health.alive,
        health.engines,
        health.restarts,
        health.set_aside,
    )
}

/// Positions that engines have yet to answer: those that wait and those that the rest of the input
/// will bring, less what will be remembered. `None` when that cannot be known.
fn to_ask(snapshot: &Snapshot, health: &Health) -> Option<f64> {
    let asked = (health.scored + health.set_aside) as f64;
    let answered = asked + (health.cached + health.stored) as f64;
    if asked == 0.0 {
        return None;
    }
    let all = snapshot.positions as f64 * (1.0 + unread(snapshot)?);
    Some((all - answered).max(0.0) * asked / answered)
}

/// How many times what this run has read is left to read.
fn unread(snapshot: &Snapshot) -> Option<f64> {
    let read = snapshot.bytes_read.saturating_sub(snapshot.bytes_skipped);
    let known = read > 0 && snapshot.bytes_total >= snapshot.bytes_read;
    known.then(|| (snapshot.bytes_total - snapshot.bytes_read) as f64 / read as f64)
}

fn left(seconds: f64) -> String {
    match seconds as u64 {
        0 => String::new(),
        seconds @ 1..60 => format!("   {seconds} s left"),
        seconds @ 60..3600 => format!("   {} min left", seconds / 60),
        seconds => format!("   {} h {} min left", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_pace_is_that_of_the_last_minute() {
        let mut pace = Pace::default();
        assert_eq!(pace.rate(), 0.0);
        pace.see(seconds(0), 0);
        assert_eq!(pace.rate(), 0.0);
        // Fast at first, then slow.
        pace.see(seconds(10), 5000);
        assert_eq!(pace.rate(), 500.0);
        (2..=30).for_each(|ten| pace.see(seconds(10 * ten), 5000 + 100 * (ten - 1)));
        assert_eq!(pace.rate(), 10.0);
        assert!(pace.seen.len() <= 8, "{}", pace.seen.len());
    }

    /// Half of the input is read, half of what was asked was remembered, and a tenth waits.
    #[test]
    fn the_time_left_is_that_of_the_engines() {
        let snapshot = Snapshot {
            bytes_read: 600,
            bytes_skipped: 200,
            bytes_total: 1000,
            positions: 10_000,
            ..Snapshot::default()
        };
        let health = Health {
            engines: 4,
            alive: 3,
            restarts: 2,
            scored: 4499,
            set_aside: 1,
            cached: 3000,
            stored: 1500,
        };
        // 11,000 more answers, of which engines give half.
        assert_eq!(to_ask(&snapshot, &health), Some(5500.0));
        assert_eq!(
            score_line(&snapshot, &health, 10.0),
            "4,499 positions   10 positions/s   9 min left   4,500 remembered   1,000 waiting   \
             engines 3/4   restarts 2   set aside 1"
        );
        let unknown = Snapshot { bytes_total: 0, ..snapshot.clone() };
        for (snapshot, health, rate) in [
            (&unknown, &health, 10.0),
            (&snapshot, &Health::default(), 10.0),
            (&snapshot, &health, 0.0),
        ] {
            assert!(!score_line(snapshot, health, rate).contains("left"));
        }
        assert_eq!(read_line(&snapshot, true, seconds(90)), " 60 %   0 games   0 games/s");
    }

    #[test]
    fn without_engines_it_is_that_of_reading() {
        let mut snapshot = Snapshot { bytes_read: 250, bytes_total: 1000, ..Snapshot::default() };
        snapshot.games.read = 9000;
        let line = " 25 %   9,000 games   100 games/s";
        assert_eq!(read_line(&snapshot, true, seconds(90)), format!("{line}   4 min left"));
        assert_eq!(read_line(&snapshot, false, seconds(90)), line);
        assert_eq!(left(7265.0), "   2 h 1 min left");
    }
}
