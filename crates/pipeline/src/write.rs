//! From tallies to books: what each format and each `[[book]]` takes of them.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::json;
use tabiya_book::{BookWriter, Choice, Policy, choices, polyglot, sob};
use tabiya_model::Entry;

use crate::{
    Context, Error, Source,
    aggregate::Sorted,
    config::{Book, Codec, Config, Format},
    crash,
};

/// A book that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenBook {
    /// Its format.
    pub format: Format,
    /// Its files, with their sizes in bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// Moves in it.
    pub entries: u64,
    /// Positions in it.
    pub positions: u64,
}

/// Finds out whether every book can be written, and leaves nothing behind.
pub(crate) fn try_outputs(config: &Config, sources: &[Source]) -> Result<(), Error> {
    for book in &config.book {
        for path in files(book) {
            refuse_if_in_use(&path, &config.checkpoint.dir, sources)?;
        }
        drop(create(book, config).map_err(as_output)?);
    }
    Ok(())
}

/// The files that a book consists of.
fn files(book: &Book) -> Vec<PathBuf> {
    match book.format {
        Format::Sob => ["hashes.sob", "moves.sob"].map(|name| book.path.join(name)).into(),
        _ => vec![book.path.clone()],
    }
}

/// A book may take the place of an older one, but not of games, nor of what a run keeps.
fn refuse_if_in_use(path: &Path, work: &Path, sources: &[Source]) -> Result<(), Error> {
    let Some(real) = real(path) else { return Ok(()) };
    let refused = |what| Err(Error::OutputInUse { path: path.to_owned(), what });
    let is_input = |source: &Source| match source {
        Source::File(input) => input.canonicalize().is_ok_and(|input| input == real),
        Source::Stdin => false,
    };
    if sources.iter().any(is_input) {
        return refused("one of the inputs");
    }
    let kept =
        work.canonicalize().ok().and_then(|work| real.strip_prefix(work).ok().map(PathBuf::from));
    let first = kept.iter().flat_map(|kept| kept.components().next());
    let names: Vec<String> =
        first.map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
    let ours = |name: &String| {
        ["LOCK", "rejects.jsonl", "engines.json", "spill"].contains(&name.as_str())
            || name.starts_with("journal-")
            || name.starts_with("scores.db")
    };
    if names.iter().any(ours) {
        return refused("a file that runs keep their work in (checkpoint.dir)");
    }
    Ok(())
}

/// The path without links and dots, whether or not the file is there.
fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    })
}

fn as_output(error: Error) -> Error {
    match error {
        Error::Book(error) => Error::Output(error),
        error => error,
    }
}

/// Writes every book. Blocks; for a thread of its own.
pub(crate) fn run(
    config: &Config,
    sorted: &Sorted,
    cx: &Context,
) -> Result<Vec<WrittenBook>, Error> {
    config.book.iter().map(|book| write(book, config, sorted, cx)).collect()
}

fn write(
    book: &Book,
    config: &Config,
    sorted: &Sorted,
    cx: &Context,
) -> Result<WrittenBook, Error> {
    let mut writer = create(book, config)?;
    let policy = policy(book, config);
    let mut entries = 0;
    sorted.positions(|position| {
        if cx.stop.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let wanted = wanted(book, position);
        let mut choices = choices(policy, &wanted)?;
        if book.max_moves > 0 {
            choices.truncate(book.max_moves);
        }
        if !choices.is_empty() {
            put(writer.as_mut(), position, &choices)?;
            entries += choices.len() as u64;
            cx.progress.add_entries(choices.len() as u64);
        }
        Ok(())
    })?;
    if entries == 0 {
        return Err(Error::EmptyBook { path: book.path.clone() });
    }
    crash::point("book-filled");
    let written = writer.finish()?;
    crash::point("book-written");
    Ok(WrittenBook {
        format: book.format,
        files: written.files,
        entries: written.entries,
        positions: written.positions,
    })
}

fn put(writer: &mut dyn BookWriter, position: &[Entry], choices: &[Choice]) -> Result<(), Error> {
    match position.first() {
        Some(first) => Ok(writer.position(first.key, choices)?),
        None => Ok(()),
    }
}

/// Without an engine there are no scores to weigh by.
pub(crate) fn policy(book: &Book, config: &Config) -> Policy {
    match book.weight {
        Policy::Score if config.score.engine.is_none() => Policy::Wins,
        policy => policy,
    }
}

/// The moves of a position that pass the filters of the book.
fn wanted<'a>(book: &Book, position: &'a [Entry]) -> Cow<'a, [Entry]> {
    if book.min_games <= 1 && book.min_share <= 0.0 {
        return Cow::Borrowed(position);
    }
    let games: u64 = position.iter().map(|entry| entry.tally.games()).sum();
    let passes = |entry: &&Entry| {
        let of_move = entry.tally.games();
        of_move >= book.min_games && of_move as f64 * 100.0 >= book.min_share * games as f64
    };
    position.iter().filter(passes).copied().collect()
}

fn create(book: &Book, config: &Config) -> Result<Box<dyn BookWriter>, Error> {
    Ok(match book.format {
        Format::Polyglot => Box::new(polyglot::Writer::create(&book.path)?),
        Format::Sob => {
            let codec = match book.codec {
                Codec::Compact => sob::Codec::Compact,
                Codec::Lzma => sob::Codec::Lzma,
                Codec::Zstd => sob::Codec::Zstd,
                Codec::Stored => sob::Codec::Stored,
            };
            let options = sob::Options { meta: meta(book, config), ..sob::Options::new(codec) };
            Box::new(sob::Writer::create(&book.path, options)?)
        }
    })
}

/// What made the book, for whoever finds it. No time, no paths, no threads: the same games,
/// rules and engine give the same bytes anywhere.
fn meta(book: &Book, config: &Config) -> serde_json::Value {
    let engine = (!config.score.engine.is_none()).then(|| {
        json!({
            "command": config.score.engine,
            "limit": config.score.limit,
            "options": config.score.options,
        })
    });
    json!({
        "tool": concat!("tabiya ", env!("CARGO_PKG_VERSION")),
        "filter": {
            "outcomes": config.filter.outcomes,
            "plies": config.filter.plies,
            "line_end": config.filter.line_end,
            "short": config.filter.short,
            "dedupe": config.filter.dedupe,
            "where": config.filter.conditions,
        },
        "engine": engine,
        "threshold": engine.as_ref().map(|_| &config.threshold),
        "sides": config.aggregate.sides,
        "weight": policy(book, config),
        "min_games": book.min_games,
        "min_share": book.min_share,
        "max_moves": book.max_moves,
    })
}
