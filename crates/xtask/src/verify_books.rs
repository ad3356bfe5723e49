//! `cargo xtask verify-books`

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::{program, tabiya};

const SCRIPT: &str = include_str!("verify_books.py");

/// Lets python-chess read the PolyGlot book, and compares it with what is in the .sob.
pub(crate) fn run(bin: &Path, sob: &Path) -> Result<()> {
    let dump = program::bench_folder()?.join("sob-dump.jsonl");
    let mut command = Command::new(tabiya::build()?);
    command.args(["book", "dump", "--json"]).arg(sob).stdout(Stdio::from(File::create(&dump)?));
    program::run(&mut command)?;
    program::run(program::python_chess()?.args(["-c", SCRIPT]).arg(bin).arg(&dump))?;
    fs::remove_file(dump)?;
    Ok(())
}
