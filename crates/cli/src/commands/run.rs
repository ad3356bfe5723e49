//! `tabiya run`: from games to books.

use std::{
    io::{self, Write},
    sync::Arc,
};

use anyhow::Result;
use serde_json::json;
use tabiya_pipeline::{
    Context, Journal, Report, Rules, Strangers, Work, config::Config, find, input_paths,
    run as run_pipeline,
};
use tabiya_scorer::{Health, ScorerError};

use super::{
    scoring::{Scoring, forget_engines},
    service, watch,
};
use crate::{
    DONE,
    args::Run,
    config_file::{self, Purpose},
    output::{size, thousands},
    progress,
};

/// Runs the pipeline and prints the funnel.
pub(crate) fn run(args: &Run) -> Result<u8> {
    if args.watch {
        return watch::run(&args.source);
    }
    let loaded = config_file::load(Some(&args.source.config), &args.source.set, Purpose::Run)?;
    service::print_warnings(&loaded.warnings);
    let rules = service::rules(&loaded.config)?;
    let config = Arc::new(loaded.config);
    let work = Work::open(&config.checkpoint.dir)?;
    let found = find(&input_paths(&config.input));
    if args.fresh {
        // What would stop the new start must not cost the old one.
        found.all()?;
        Scoring::check(&config)?;
        set_aside(&config)?;
    }
    let journal = Journal::open(&config, found, Strangers::Refuse)?;
    let report = service::block_on(|cx: Context| {
        let config = Arc::clone(&config);
        async move { make_books(config, rules, &work, journal, cx).await }
    })?;
    service::print_warnings(&report.warnings);
    if args.json {
        writeln!(io::stdout(), "{}", as_json(&report))?;
    } else {
        print(&report, &config)?;
    }
    Ok(DONE)
}

async fn make_books(
    config: Arc<Config>,
    rules: Rules,
    work: &Work,
    journal: Journal,
    cx: Context,
) -> Result<Report> {
    // Where nothing is left to score, no engine need be there.
    let scoring = match journal.has_unread() {
        true => Scoring::start(&config, &cx).await?,
        false => None,
    };
    let scorer = scoring.as_ref().map(Scoring::scorer);
    let shown = progress::show(Arc::clone(&cx.progress), scorer.clone());
    let result = run_pipeline(Arc::clone(&config), rules, work, journal, scorer, cx).await;
    shown.finish().await;
    if let Some(scoring) = scoring {
        scoring.shutdown().await;
    }
    if let Err(tabiya_pipeline::Error::Scorer(ScorerError::AnotherEngine { .. })) = &result {
        forget_engines(&config);
    }
    Ok(result?)
}

fn set_aside(config: &Config) -> Result<()> {
    match Journal::set_aside(config)? {
        Some(aside) => eprintln!(
            "starting over: {} segments with {} lines are put aside as {}; `tabiya clean` removes them",
            aside.segments,
            thousands(aside.lines),
            aside.path.display()
        ),
        None => eprintln!("starting over: there was no journal"),
    }
    Ok(())
}

/// The funnel: how the games became books.
fn print(report: &Report, config: &Config) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (name, value) in service::game_rows(&report.games) {
        writeln!(out, "{name:<24}{value:>12}")?;
    }
    if !config.score.engine.is_none() {
        let health = &report.scorer.unwrap_or_default();
        writeln!(
            out,
            "{:<24}{:>12}   journal {}   over on the board {}   from memory {}   from scores.db {}   \
             engine {}   set aside {}",
            "positions to score",
            thousands(report.games.accepted),
            thousands(report.replayed),
            thousands(over(report, health)),
            thousands(health.cached),
            thousands(health.stored),
            thousands(health.scored),
            thousands(report.set_aside),
        )?;
    }
    let lines = &report.lines;
    let rule = match config.score.engine.is_none() {
        true => "lines kept".to_owned(),
        false => format!("lines kept ({})", config.threshold.rule()),
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
    let asked = health.cached + health.stored + health.scored + report.newly_set_aside;
    report.games.accepted.saturating_sub(report.replayed + asked)
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
        "replayed": report.replayed,
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
