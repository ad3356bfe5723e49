//! `cargo xtask bench size`

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result};

use crate::{
    corpus::{self, Games},
    program,
    tabiya::{self, Book, PlainRun},
};

/// Builds the plain book in every format and prints bytes an entry.
pub(crate) fn run(games: &Games) -> Result<()> {
    let tabiya = tabiya::build()?;
    let all = corpus::join(&games.plain_files()?, "all.pgn")?;
    let sob = |path, codec| Book { format: "sob", path, weight: "wins", codec };
    let bin = Book { format: "polyglot", path: "book.bin", weight: "wins", codec: "" };
    let books = [
        bin,
        sob("compact", "compact"),
        sob("lzma", "lzma"),
        sob("zstd", "zstd"),
        sob("stored", "stored"),
    ];
    let run = PlainRun::new("bench-size", &all, &books)?;
    program::run(&mut run.command(&tabiya))?;

    println!("{:12} {:>12} {:>12} {:>9}", "book", "entries", "bytes", "B/entry");
    for book in &books {
        let path = run.book(book.path);
        let entries = entries(&tabiya, &path)?;
        let bytes = bytes(&path)?;
        let each = bytes as f64 / entries as f64;
        println!("{:12} {entries:>12} {bytes:>12} {each:>9.2}", book.path);
    }
    Ok(())
}

fn entries(tabiya: &Path, book: &Path) -> Result<u64> {
    let info = tabiya::json(Command::new(tabiya).args(["book", "info", "--json"]).arg(book))?;
    info["entries"].as_u64().with_context(|| format!("no number of entries in {info}"))
}

/// The size of a file, or of all files of a folder.
fn bytes(path: &Path) -> Result<u64> {
    if path.is_file() {
        return Ok(fs::metadata(path)?.len());
    }
    let mut bytes = 0;
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
