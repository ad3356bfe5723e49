//! `tabiya sweep`: what other thresholds would keep.

use std::{io, sync::Arc};

use anyhow::{Result, ensure};
use serde_json::json;
use tabiya_pipeline::{
    Context, Journal, Rebuilt,
    config::{Config, Format},
    rebuild,
};

use super::service;
use crate::{
    DONE,
    args::Sweep,
    output::{size, table, thousands},
};

/// Makes the books of every threshold in a folder that goes away again, and prints their figures.
pub(crate) fn run(args: &Sweep) -> Result<u8> {
    let (config, journal) = service::journal(&args.source)?;
    ensure!(!config.score.engine.is_none(), "score.engine is \"none\": there are no scores");
    ensure!(
        journal.lines() > 0,
        "{} holds no lines yet: `tabiya run` makes some",
        journal.path().display()
    );
    let journal = Arc::new(journal);
    let rows = service::block_on(|cx: Context| async move {
        let mut rows = Vec::new();
        for least in thresholds(args, &config) {
            rows.push((least, one(&config, Arc::clone(&journal), least, &cx).await?));
        }
        Ok(rows)
    })?;
    if args.json {
        let rows: Vec<_> = rows.iter().map(|(least, made)| as_json(*least, made)).collect();
        println!("{}", serde_json::Value::from(rows));
    } else {
        print(&rows)?;
    }
    Ok(DONE)
}

/// What a won line must be above.
#[derive(Clone, Copy)]
enum Least {
    Cp(i32),
    Wdl(u16),
}

/// Those asked for; otherwise some of the kind that the configuration has.
fn thresholds(args: &Sweep, config: &Config) -> Vec<Least> {
    let by_cp = |list: &[i32]| list.iter().copied().map(Least::Cp).collect();
    let by_wdl = |list: &[u16]| list.iter().copied().map(Least::Wdl).collect();
    match (args.win_min.as_slice(), args.win_min_wdl.as_slice()) {
        ([], []) if config.threshold.needs_chances() => by_wdl(&[500, 550, 600, 650, 700, 800]),
        ([], []) => by_cp(&[0, 50, 100, 150, 200, 300]),
        (list, []) => by_cp(list),
        (_, list) => by_wdl(list),
    }
}

async fn one(
    config: &Config,
    journal: Arc<Journal>,
    least: Least,
    cx: &Context,
) -> Result<Rebuilt> {
    // Beside the real work, on a disk that has room for it.
    let folder = tempfile::Builder::new().prefix("sweep-").tempdir_in(&config.checkpoint.dir)?;
    let mut config = config.clone();
    let threshold = &mut config.threshold;
    match least {
        Least::Cp(cp) => (threshold.win_min_cp, threshold.win_min_wdl) = (cp, None),
        Least::Wdl(wdl) => threshold.win_min_wdl = Some(wdl),
    }
    for (index, book) in config.book.iter_mut().enumerate() {
        book.path = folder.path().join(index.to_string());
    }
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill)?;
    let cx = Context { stop: cx.stop.clone(), ..Context::default() };
    Ok(rebuild(Arc::new(config), journal, spill, cx).await?)
}

fn as_json(least: Least, made: &Rebuilt) -> serde_json::Value {
    let first = made.books.first();
    let books: Vec<_> = made
        .books
        .iter()
        .map(|book| {
            json!({
                "format": book.format,
                "entries": book.entries,
                "positions": book.positions,
                "bytes": book.files.iter().map(|(_, bytes)| bytes).sum::<u64>(),
            })
        })
        .collect();
    let mut row = json!({
        "lines": made.lines,
        "positions": first.map_or(0, |book| book.positions),
        "entries": first.map_or(0, |book| book.entries),
        "books": books,
    });
    match least {
        Least::Cp(cp) => row["win_min_cp"] = cp.into(),
        Least::Wdl(wdl) => row["win_min_wdl"] = wdl.into(),
    }
    row
}

fn print(rows: &[(Least, Rebuilt)]) -> io::Result<()> {
    let cells: Vec<[String; 7]> = rows
        .iter()
        .map(|(least, made)| {
            let first = made.books.first();
            let sizes = made.books.iter().map(|book| {
                let bytes = book.files.iter().map(|(_, bytes)| bytes).sum();
                let format = if book.format == Format::Sob { ".sob" } else { "book" };
                format!("{format} {}", size(bytes))
            });
            [
                match least {
                    Least::Cp(cp) => format!("{cp:+} cp"),
                    Least::Wdl(wdl) => format!("{wdl} ‰"),
                },
                thousands(made.lines.kept),
                thousands(made.lines.white),
                thousands(made.lines.black),
                thousands(first.map_or(0, |book| book.positions)),
                thousands(first.map_or(0, |book| book.entries)),
                sizes.collect::<Vec<_>>().join(", "),
            ]
        })
        .collect();
    let header = ["above", "lines", "white", "black", "positions", "entries", "size"];
    table(&mut io::stdout().lock(), 0, header, &cells)
}
