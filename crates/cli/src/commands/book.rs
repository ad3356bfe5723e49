//! `tabiya book info|dump|verify BOOK`; what makes books is in [`super::convert`]

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Result;
use serde::Serialize;
use tabiya_book::{Error, Info, RawEntry, Zobrist, open, readers, rows::Row};

use super::convert;
use crate::{
    DONE, FAILED,
    args::{Book, BookArgs},
    output::{facts, thousands},
};

/// Looks into a book.
pub(crate) fn run(command: &Book) -> Result<u8> {
    match command {
        Book::Info(args) => info(args),
        Book::Dump(args) => dump(args),
        Book::Verify(args) => verify(args),
        Book::Convert(args) => convert::convert(args),
        Book::Restore(args) => convert::restore(args),
        Book::Merge(args) => convert::merge(args),
        Book::Diff(args) => convert::diff(args),
        Book::Readers { folder } => readers(folder),
    }
}

fn readers(folder: &Path) -> Result<u8> {
    let mut out = io::stdout().lock();
    for path in readers::write(folder, &Zobrist::polyglot())? {
        writeln!(out, "{}", path.display())?;
    }
    Ok(DONE)
}

fn code(sound: bool) -> u8 {
    if sound { DONE } else { FAILED }
}

/// Says what is damaged, and whether nothing is.
pub(super) fn warn_of_damage(book: &dyn tabiya_book::Book, path: &Path) -> bool {
    let damage = book.damage();
    for damage in &damage {
        eprintln!("warning: {}: {damage}", path.display());
    }
    damage.is_empty()
}

/// A damaged book is shown as far as it goes, but never as if all were well.
fn info(args: &BookArgs) -> Result<u8> {
    let book = open(&args.book)?;
    let info = book.info();
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&info)?)?;
    } else {
        facts(&mut out, &described(&info)?)?;
    }
    for warning in &info.warnings {
        eprintln!("warning: {}: {warning}", args.book.display());
    }
    Ok(code(book.damage().is_empty()))
}

fn described(info: &Info) -> Result<Vec<(&'static str, String)>> {
    let mut facts = vec![("format", name(&info.format)?)];
    for file in &info.files {
        facts.push(("file", format!("{}  {}", file.path.display(), thousands(file.bytes))));
    }
    facts.push(("bytes", thousands(info.bytes)));
    facts.push(("entries", thousands(info.entries)));
    facts.push(("positions", thousands(info.positions)));
    if info.entries > 0 {
        let each = info.bytes as f64 / info.entries as f64;
        facts.push(("bytes an entry", format!("{each:.2}")));
    }
    if let Some(codec) = &info.codec {
        facts.push(("codec", name(codec)?));
    }
    facts.extend(info.blocks.map(|blocks| ("blocks", thousands(u64::from(blocks)))));
    facts.extend(info.id.clone().map(|id| ("id", id)));
    facts.extend(info.meta.as_ref().map(|meta| ("meta", meta.to_string())));
    Ok(facts)
}

/// The name by which a value is known in JSON.
fn name(value: &impl Serialize) -> Result<String> {
    let name = serde_json::to_value(value)?;
    Ok(name.as_str().map_or_else(|| name.to_string(), str::to_owned))
}

fn dump(args: &BookArgs) -> Result<u8> {
    let book = open(&args.book)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        // A copy made of the lines is to be the same file.
        for entry in book.text_entries()? {
            print_entry(&mut out, &entry, true)?;
        }
    }
    let mut failed = None;
    let result = book.walk(&mut |entry| {
        print_entry(&mut out, &entry, args.json).map_err(|error| stop(error, &mut failed))
    });
    // What stopped the walk says more than the walk's own error: a closed pipe is none.
    if let Some(error) = failed {
        return Err(error.into());
    }
    out.flush()?;
    result?;
    Ok(code(warn_of_damage(&*book, &args.book)))
}

fn print_entry(out: &mut dyn Write, entry: &RawEntry, json: bool) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, &Row::of(entry))?;
        return writeln!(out);
    }
    write!(out, "{}  {:<5}  {:>5}", entry.key, entry.uci, entry.weight)?;
    match entry.learn.filter(|&learn| learn != 0) {
        Some(learn) => writeln!(out, "  {learn:08x}"),
        None => writeln!(out),
    }
}

/// Keeps the cause, and ends the walk.
fn stop(error: io::Error, cause: &mut Option<io::Error>) -> Error {
    let kind = error.kind();
    *cause = Some(error);
    Error::Io { action: "write to", path: PathBuf::from("standard output"), error: kind.into() }
}

#[derive(Serialize)]
struct Verdict<'a> {
    path: String,
    sound: bool,
    entries: u64,
    positions: u64,
    problems: &'a [String],
    unlisted: u64,
}

fn verify(args: &BookArgs) -> Result<u8> {
    let verified = open(&args.book)?.verify()?;
    let path = args.book.display();
    let mut out = io::stdout().lock();
    if args.json {
        let verdict = Verdict {
            path: path.to_string(),
            sound: verified.is_sound(),
            entries: verified.entries,
            positions: verified.positions,
            problems: &verified.problems,
            unlisted: verified.unlisted,
        };
        writeln!(out, "{}", serde_json::to_string(&verdict)?)?;
    } else if verified.is_sound() {
        let (entries, positions) = (thousands(verified.entries), thousands(verified.positions));
        writeln!(out, "{path}: sound, {entries} entries of {positions} positions")?;
    } else {
        for problem in &verified.problems {
            eprintln!("{path}: {problem}");
        }
        if verified.unlisted > 0 {
            eprintln!("{path}: and {} more", thousands(verified.unlisted));
        }
    }
    Ok(code(verified.is_sound()))
}
