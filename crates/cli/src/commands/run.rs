//! `tabiya run`: from games to books.

use std::{
    env,
    io::{self, Write},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use serde_json::json;
use tabiya_pipeline::{
    Context, Report,
    config::{self, Config, Engine, NamedEngine},
    input_paths, resolve, run as run_pipeline,
};
use tabiya_scorer::{
    Cached, EngineSpec, Health, Limit, Pool, Pov, ScoreStore, Scorer, ScorerError, Stored,
};
use tokio::task;

use super::service;
use crate::{
    DONE,
    args::Run,
    config_file::{self, Purpose},
    output::thousands,
    progress,
};

/// Runs the pipeline and prints the funnel.
pub(crate) fn run(args: &Run) -> Result<u8> {
    let loaded = config_file::load(Some(&args.source.config), &args.source.set, Purpose::Run)?;
    service::print_warnings(&loaded.warnings);
    let rules = service::rules(&loaded.config)?;
    let sources = resolve(&input_paths(&loaded.config.input))?;
    let config = Arc::new(loaded.config);
    let report = service::block_on(|cx: Context| {
        let config = Arc::clone(&config);
        async move {
            let engines = start_engines(&config, &cx).await?;
            let (pool, scorer) = engines.unzip();
            let shown = progress::show(Arc::clone(&cx.progress), scorer.clone());
            let result = run_pipeline(config, rules, sources, scorer, cx).await;
            shown.finish().await;
            if let Some(pool) = pool {
                pool.shutdown().await;
            }
            Ok(result?)
        }
    })?;
    if args.json {
        println!("{}", as_json(&report));
    } else {
        print(&report, &config)?;
    }
    Ok(DONE)
}

/// The file in the work folder that keeps the scores of all runs.
const SCORES: &str = "scores.db";

/// Opens the scores of earlier runs and starts the engines, or gives up at a signal: a mute engine
/// takes its time to be found out.
async fn start_engines(
    config: &Config,
    cx: &Context,
) -> Result<Option<(Arc<Pool>, Arc<dyn Scorer>)>> {
    let Some(spec) = engine_spec(&config.score)? else { return Ok(None) };
    let engines = match config.score.pool {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        engines => engines,
    };
    let scores = config.checkpoint.dir.join(SCORES);
    let start = async move {
        // First, since a file that cannot be used is found out quickly.
        let store = task::spawn_blocking(|| ScoreStore::open(scores)).await?;
        let store = store.map_err(ScorerError::from).map_err(tabiya_pipeline::Error::from)?;
        let pool = Pool::start(spec, engines).await.map_err(tabiya_pipeline::Error::from)?;
        let pool = Arc::new(pool);
        let stored = Stored::new(Arc::clone(&pool), store);
        let scorer: Arc<dyn Scorer> = Arc::new(Cached::new(stored, config.score.cache));
        Ok(Some((pool, scorer)))
    };
    tokio::select! {
        started = start => started,
        () = cx.stop.cancelled() => Err(tabiya_pipeline::Error::Interrupted.into()),
    }
}

fn engine_spec(section: &config::Score) -> Result<Option<EngineSpec>> {
    let command = match &section.engine {
        Engine::Named(NamedEngine::None) => return Ok(None),
        Engine::Named(NamedEngine::Builtin) => {
            let this = env::current_exe().context("where this program is, to start its engine")?;
            vec![this.into_os_string(), "engine".into()]
        }
        Engine::Command(command) => command.iter().map(Into::into).collect(),
    };
    let limit = match section.limit {
        config::Limit { depth: Some(depth), .. } => Limit::Depth(depth),
        config::Limit { nodes: Some(nodes), .. } => Limit::Nodes(nodes),
        config::Limit { movetime: Some(time), .. } => Limit::Movetime(time.0),
        config::Limit { .. } => anyhow::bail!("score.limit: name a depth, nodes or a movetime"),
    };
    let mut spec = EngineSpec::new(command, limit);
    spec.options =
        section.options.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    spec.timeout = section.timeout.0;
    spec.pov = match section.pov {
        config::Pov::Auto => Pov::Auto,
        config::Pov::Stm => Pov::SideToMove,
        config::Pov::White => Pov::White,
    };
    Ok(Some(spec))
}

/// The funnel: how the games became books.
fn print(report: &Report, config: &Config) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (name, value) in service::game_rows(&report.games) {
        writeln!(out, "{name:<24}{value:>12}")?;
    }
    if let Some(health) = &report.scorer {
        writeln!(
            out,
            "{:<24}{:>12}   over on the board {}   from memory {}   from {SCORES} {}   \
             engine {}   set aside {}",
            "positions to score",
            thousands(report.games.accepted),
            thousands(over(report, health)),
            thousands(health.cached),
            thousands(health.stored),
            thousands(health.scored),
            thousands(report.set_aside),
        )?;
    }
    let lines = &report.lines;
    let rule = match (&config.score.engine, config.threshold.win_max_cp) {
        (engine, _) if engine.is_none() => "lines kept".to_owned(),
        (_, None) => format!("lines kept (> {:+} cp)", config.threshold.win_min_cp),
        (_, Some(most)) => {
            format!("lines kept ({:+} to {most:+} cp)", config.threshold.win_min_cp)
        }
    };
    let draws = match lines.draw {
        0 => String::new(),
        draws => format!("   draw {}", thousands(draws)),
    };
    writeln!(
        out,
        "{rule:<24}{:>12}   white {}   black {}{draws}",
        thousands(lines.kept),
        thousands(lines.white),
        thousands(lines.black),
    )?;
    for book in &report.books {
        let bytes: u64 = book.files.iter().map(|(_, bytes)| bytes).sum();
        writeln!(
            out,
            "{:<24}{:>12} entries of {} positions, {}, {:.2} B/entry",
            "book",
            thousands(book.entries),
            thousands(book.positions),
            size(bytes),
            bytes as f64 / book.entries.max(1) as f64,
        )?;
        for (path, bytes) in &book.files {
            writeln!(out, "  {}  {}", path.display(), size(*bytes))?;
        }
    }
    writeln!(out, "done in {:.1} s", report.elapsed.as_secs_f64())
}

/// Lines that end in mate, stalemate or a dead position: nobody was asked.
fn over(report: &Report, health: &Health) -> u64 {
    let asked = health.cached + health.stored + health.scored + report.set_aside;
    report.games.accepted.saturating_sub(asked)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn as_json(report: &Report) -> serde_json::Value {
    let books: Vec<_> = report
        .books
        .iter()
        .map(|book| {
            let files: Vec<_> = book
                .files
                .iter()
                .map(|(path, bytes)| json!({ "path": path.to_string_lossy(), "bytes": bytes }))
                .collect();
            json!({
                "format": book.format,
                "files": files,
                "entries": book.entries,
                "positions": book.positions,
            })
        })
        .collect();
    json!({
        "games": report.games,
        "bytes": report.bytes,
        "positions": report.scorer.as_ref().map(|health| json!({
            "to_score": report.games.accepted,
            "over_on_the_board": over(report, health),
            "from_memory": health.cached,
            "from_store": health.stored,
            "engine": health.scored,
            "restarts": health.restarts,
            "set_aside": report.set_aside,
        })),
        "lines": report.lines,
        "books": books,
        "stray_bytes": report.stray,
        "without_marker": report.unmarked,
        "warnings": report.warnings,
        "seconds": report.elapsed.as_secs_f64(),
    })
}
