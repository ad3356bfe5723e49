//! `tabiya book convert|restore|merge|diff`: books made of books, and compared

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tabiya_book::{
    self as book, Change, Converted, Entries, Loaded, Target, polyglot, rows,
    sob::{Codec, Options},
};

use crate::{
    DONE,
    args::{BookCodec, BookFormat, Convert, Diff, FormatArgs, Merge, MergePolicy},
    output::thousands,
};

/// Writes a book in another format.
pub(crate) fn convert(args: &Convert) -> Result<u8> {
    let target = target(&args.to, &args.format)?;
    let loaded = load(&args.from)?;
    save(&loaded.entries, &args.to, &target)
}

/// Makes a book of JSON lines.
pub(crate) fn restore(args: &Convert) -> Result<u8> {
    let target = target(&args.to, &args.format)?;
    if matches!(target, Target::Polyglot) {
        let entries = rows::read(&args.from)?;
        // Only PolyGlot has learn fields, so these are the entries of such a book.
        if entries.iter().all(|entry| entry.learn.is_some() && entry.rank.is_none()) {
            let written = polyglot::restore(&args.to, entries.into_iter())?;
            return report(&Converted { written, losses: Vec::new() });
        }
    }
    convert(args)
}

/// Makes one book of several.
pub(crate) fn merge(args: &Merge) -> Result<u8> {
    let target = target(&args.output, &args.format)?;
    let given = args.factors.len();
    if given > 0 && given != args.books.len() {
        bail!("--factors: {given} numbers for {} books: give each its own", args.books.len());
    }
    let loaded: Vec<Loaded> = args.books.iter().map(|path| load(path)).collect::<Result<_>>()?;
    let factors = args.factors.iter().copied().chain(std::iter::repeat(1));
    let books: Vec<(&Entries, u32)> =
        loaded.iter().map(|loaded| &loaded.entries).zip(factors).collect();
    let policy = match args.policy {
        MergePolicy::Add => book::Merge::Add,
        MergePolicy::Max => book::Merge::Max,
        MergePolicy::First => book::Merge::First,
        MergePolicy::Average => book::Merge::Average,
    };
    save(&book::merge(&books, policy), &args.output, &target)
}

/// Compares two books.
pub(crate) fn diff(args: &Diff) -> Result<u8> {
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let differ = before.format != after.format;
    let by_order = args.order || differ;
    let diff = book::diff(&before.entries, &after.entries, by_order);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        #[derive(Serialize)]
        struct Answer<'a> {
            by_order: bool,
            #[serde(flatten)]
            diff: &'a book::Diff,
        }
        writeln!(out, "{}", serde_json::to_string(&Answer { by_order, diff: &diff })?)?;
        out.flush()?;
        return Ok(DONE);
    }
    for change in &diff.changes {
        writeln!(out, "{}", readable(change))?;
    }
    let count = |sign| diff.changes.iter().filter(|change| self::sign(change) == sign).count();
    let [gained, lost, changed] = ['+', '-', '~'].map(|sign| thousands(count(sign) as u64));
    writeln!(
        out,
        "{gained} gained, {lost} lost, {changed} changed, {} the same, in {} positions",
        thousands(diff.same),
        thousands(diff.positions)
    )?;
    out.flush()?;
    if differ {
        eprintln!("note: the formats differ: weights are compared by the order they give");
    }
    for (path, unreached) in [&args.before, &args.after].into_iter().zip(diff.unreached) {
        if unreached > 0 {
            eprintln!(
                "note: {}: {} entries are in no line from the start: not compared",
                path.display(),
                thousands(unreached)
            );
        }
    }
    Ok(DONE)
}

fn sign(change: &Change) -> char {
    match (change.before, change.after) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    }
}

/// `~ 1. e4 c5  5 -> 6`
fn readable(change: &Change) -> String {
    let mut text = String::from(sign(change));
    for (ply, san) in change.line.iter().chain([&change.san]).enumerate() {
        if ply % 2 == 0 {
            text.push_str(&format!(" {}.", ply / 2 + 1));
        }
        text.push(' ');
        text.push_str(san);
    }
    let weights: Vec<String> =
        [change.before, change.after].into_iter().flatten().map(|w| w.to_string()).collect();
    format!("{text}  {}", weights.join(" -> "))
}

fn load(path: &Path) -> Result<Loaded> {
    let loaded = book::load(path)?;
    for loss in &loaded.losses {
        eprintln!("note: {}: {loss}", path.display());
    }
    Ok(loaded)
}

fn save(entries: &Entries, path: &Path, target: &Target) -> Result<u8> {
    report(&book::save(entries, path, target)?)
}

/// What was written, on standard output; what was lost, on standard error.
fn report(done: &Converted) -> Result<u8> {
    let mut out = io::stdout().lock();
    for (path, bytes) in &done.written.files {
        writeln!(out, "{}  {} bytes", path.display(), thousands(*bytes))?;
    }
    let (entries, positions) = (thousands(done.written.entries), thousands(done.written.positions));
    writeln!(out, "{entries} entries of {positions} positions")?;
    for loss in &done.losses {
        eprintln!("note: {loss}");
    }
    Ok(DONE)
}

/// The format asked for, or the one that the name says.
fn target(path: &Path, args: &FormatArgs) -> Result<Target> {
    let format = match args.format {
        Some(format) => format,
        None => by_name(path).with_context(|| {
            format!(
                "{}: the extension names no format that can be written (.bin, .abk, .jsonl, or \
                 none for a folder with a .sob pair): say which with --to",
                path.display()
            )
        })?,
    };
    Ok(match format {
        BookFormat::Polyglot => Target::Polyglot,
        BookFormat::Abk => Target::Abk,
        BookFormat::Jsonl => Target::Rows,
        BookFormat::Sob => Target::Sob(Options::new(match args.codec {
            BookCodec::Stored => Codec::Stored,
            BookCodec::Lzma => Codec::Lzma,
            BookCodec::Zstd => Codec::Zstd,
            BookCodec::Compact => Codec::Compact,
        })),
    })
}

fn by_name(path: &Path) -> Option<BookFormat> {
    if path.is_dir() {
        return Some(BookFormat::Sob);
    }
    match path.extension().map(|extension| extension.to_string_lossy().to_lowercase()) {
        None => Some(BookFormat::Sob),
        Some(extension) => match extension.as_str() {
            "bin" => Some(BookFormat::Polyglot),
            "abk" => Some(BookFormat::Abk),
            "jsonl" => Some(BookFormat::Jsonl),
            _ => None,
        },
    }
}
