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
        for &win_min_cp in &args.win_min {
            rows.push((win_min_cp, one(&config, Arc::clone(&journal), win_min_cp, &cx).await?));
        }
        Ok(rows)
    })?;
    if args.json {
        let rows: Vec<_> = rows.iter().map(|(cp, made)| as_json(*cp, made)).collect();
        println!("{}", serde_json::Value::from(rows));
    } else {
        print(&rows)?;
    }
    Ok(DONE)
}

async fn one(
    config: &Config,
    journal: Arc<Journal>,
    win_min_cp: i32,
    cx: &Context,
) -> Result<Rebuilt> {
    // Beside the real work, on a disk that has room for it.
    let folder = tempfile::Builder::new().prefix("sweep-").tempdir_in(&config.checkpoint.dir)?;
    let mut config = config.clone();
    config.threshold.win_min_cp = win_min_cp;
    for (index, book) in config.book.iter_mut().enumerate() {
        book.path = folder.path().join(index.to_string());
    }
    let spill = folder.path().join("spill");
    std::fs::create_dir(&spill)?;
    let cx = Context { stop: cx.stop.clone(), ..Context::default() };
    Ok(rebuild(Arc::new(config), journal, spill, cx).await?)
}

fn as_json(win_min_cp: i32, made: &Rebuilt) -> serde_json::Value {
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
    json!({
        "win_min_cp": win_min_cp,
        "lines": made.lines,
        "positions": first.map_or(0, |book| book.positions),
        "entries": first.map_or(0, |book| book.entries),
        "books": books,
    })
}

fn print(rows: &[(i32, Rebuilt)]) -> io::Result<()> {
    let cells: Vec<[String; 7]> = rows
        .iter()
        .map(|(win_min_cp, made)| {
            let first = made.books.first();
            let sizes = made.books.iter().map(|book| {
                let bytes = book.files.iter().map(|(_, bytes)| bytes).sum();
                let format = if book.format == Format::Sob { ".sob" } else { "book" };
                format!("{format} {}", size(bytes))
            });
            [
                format!("{win_min_cp:+}"),
                thousands(made.lines.kept),
                thousands(made.lines.white),
                thousands(made.lines.black),
                thousands(first.map_or(0, |book| book.positions)),
                thousands(first.map_or(0, |book| book.entries)),
                sizes.collect::<Vec<_>>().join(", "),
            ]
        })
        .collect();
    let header = ["above cp", "lines", "white", "black", "positions", "entries", "size"];
    table(&mut io::stdout().lock(), 0, header, &cells)
}
