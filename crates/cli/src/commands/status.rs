//! `tabiya status`: what the work folder holds.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Result;
use serde_json::{Value, json};
use tabiya_pipeline::{
    FoundJournal, JournalInfo,
    config::{Config, Format},
    journals,
};

use super::{scoring::SCORES, service};
use crate::{
    DONE, FAILED,
    args::Look,
    config_file::{self, Purpose},
    output::{size, thousands},
};

/// Prints what is there.
pub(crate) fn run(args: &Look) -> Result<u8> {
    let loaded = config_file::load(Some(&args.source.config), &args.source.set, Purpose::Run)?;
    service::print_warnings(&loaded.warnings);
    let config = loaded.config;
    let found = journals(&config.checkpoint.dir)?;
    // The configuration's own journal may be refused by inputs that have changed since.
    let current = service::journal(&args.source).ok().map(|(_, it)| it.path().to_owned());
    if args.json {
        println!("{}", as_json(&config, &found, current.as_deref()));
    } else {
        print(&config, &found, current.as_deref())?;
    }
    Ok(if found.iter().any(|journal| journal.info.is_err()) { FAILED } else { DONE })
}

fn print(config: &Config, found: &[FoundJournal], current: Option<&Path>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if found.is_empty() {
        writeln!(out, "{}: no journal", config.checkpoint.dir.display())?;
    }
    for FoundJournal { path, info } in found {
        let mark = if current == Some(path) { "   (of this configuration)" } else { "" };
        match info {
            Ok(info) => {
                let (bytes, segments) = (size(info.bytes), info.segments);
                writeln!(out, "{}   {segments} segments, {bytes}{mark}", path.display())?;
                print_journal(&mut out, info)?;
            }
            Err(error) => writeln!(out, "{}   {error}{mark}", path.display())?,
        }
    }
    for (path, bytes) in files_of(config) {
        match bytes {
            Some(bytes) => writeln!(out, "{}   {}", path.display(), size(bytes))?,
            None => writeln!(out, "{}   not there", path.display())?,
        }
    }
    Ok(())
}

fn print_journal(out: &mut dyn Write, info: &JournalInfo) -> io::Result<()> {
    for (name, games, finished) in &info.sources {
        let how = if *finished { "whole" } else { "so far" };
        writeln!(out, "  {name}   {} games, {how}", thousands(*games))?;
    }
    writeln!(out, "  {} lines", thousands(info.lines))?;
    for (name, value) in service::game_rows(&info.games) {
        writeln!(out, "  {name:<22}{value:>12}")?;
    }
    Ok(())
}

fn as_json(config: &Config, found: &[FoundJournal], current: Option<&Path>) -> Value {
    let journals: Vec<Value> = found
        .iter()
        .map(|FoundJournal { path, info }| match info {
            Ok(info) => json!({
                "path": path.to_string_lossy(),
                "current": current == Some(path.as_path()),
                "bytes": info.bytes,
                "segments": info.segments,
                "lines": info.lines,
                "games": info.games,
                "sources": info.sources.iter().map(|(name, games, finished)| json!({
                    "name": name, "games": games, "finished": finished,
                })).collect::<Vec<_>>(),
            }),
            Err(error) => json!({ "path": path.to_string_lossy(), "error": error.to_string() }),
        })
        .collect();
    let files: Vec<Value> = files_of(config)
        .into_iter()
        .map(|(path, bytes)| json!({ "path": path.to_string_lossy(), "bytes": bytes }))
        .collect();
    json!({ "journals": journals, "files": files })
}

/// Stored scores and books, with their sizes.
fn files_of(config: &Config) -> Vec<(PathBuf, Option<u64>)> {
    let mut files = vec![config.checkpoint.dir.join(SCORES)];
    for book in &config.book {
        match book.format {
            Format::Sob => {
                files.extend(["hashes.sob", "moves.sob"].map(|name| book.path.join(name)));
            }
            Format::Polyglot => files.push(book.path.clone()),
        }
    }
    let size = |path: &PathBuf| path.metadata().ok().map(|file| file.len());
    files.into_iter().map(|path| (path.clone(), size(&path))).collect()
}
