//! What commands that work on games have in common: the runtime, signals, and the rows of counts.

use std::{future::Future, process};

use anyhow::Result;
use tabiya_model::Census;
use tabiya_pipeline::{
    Context, Journal, Rules, Strangers,
    config::{self, Config},
    find, input_paths,
};

use crate::{
    INTERRUPTED,
    args::ConfigArgs,
    config_file::{self, Purpose},
    output::thousands,
};

pub(crate) fn print_warnings(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

/// The filter, compiled. What can be wrong with it was found when the file was read.
pub(crate) fn rules(config: &Config) -> Result<Rules> {
    Rules::compile(&config.filter).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("{}", errors.join("\n"))
    })
}

/// The journal of a configuration, to look at.
pub(crate) fn journal(source: &ConfigArgs) -> Result<(Config, Journal)> {
    let loaded = config_file::load(Some(&source.config), &source.set, Purpose::Run)?;
    print_warnings(&loaded.warnings);
    let found = find(&input_paths(&loaded.config.input));
    let journal = Journal::open(&loaded.config, found, Strangers::Refuse)?;
    Ok((loaded.config, journal))
}

/// How many engines are to run: the number asked for, or one a core.
pub(crate) fn engines(section: &config::Score) -> usize {
    match section.pool {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        engines => engines,
    }
}

/// Runs `work` to its end. A first signal asks it to stop, a second one ends the process.
pub(crate) fn block_on<T, F: Future<Output = Result<T>>>(
    work: impl FnOnce(Context) -> F,
) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let cx = Context::default();
    let stop = cx.stop.clone();
    runtime.spawn(async move {
        let mut signals = Signals::new();
        signals.next().await;
        eprintln!("stopping; a second signal ends it at once");
        stop.cancel();
        signals.next().await;
        process::exit(i32::from(INTERRUPTED))
    });
    runtime.block_on(work(cx))
}

/// What asks a process to end.
#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn new() -> Signals {
        use rustix::process::Signal;
        use tokio::signal::unix::{SignalKind, signal};
        // A file that may not grow further is to be an error of the write, not the end of the process.
        let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Signals(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    async fn next(&mut self) {
        let waits = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(waits).await;
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Signals {
        Signals
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Games by what became of them, each reason on a row of its own.
pub(crate) fn game_rows(games: &Census) -> Vec<(String, String)> {
    let mut rows = vec![("games read".to_owned(), thousands(games.read))];
    for (&reason, &count) in games.filtered.iter().chain(&games.rejected) {
        let name = reason.name().to_ascii_lowercase().replace('_', " ");
        rows.push((format!("  {name}"), thousands(count)));
    }
    let draws = match games.accepted_draw {
        0 => String::new(),
        draws => format!("   draw {}", thousands(draws)),
    };
    rows.push((
        "  accepted".to_owned(),
        format!(
            "{}   white {}   black {}{draws}",
            thousands(games.accepted),
            thousands(games.accepted_white),
            thousands(games.accepted_black)
        ),
    ));
    rows
}
