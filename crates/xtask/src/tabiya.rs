//! The program under test.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::program;

/// Builds the release and returns its path.
pub(crate) fn build() -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "tabiya"]).current_dir(program::root());
    program::run(&mut cargo)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    Ok(program::root().join(target).join("release/tabiya"))
}

/// A run that makes plain books: 24 plies of all finished games, both sides, no engine.
pub(crate) struct PlainRun {
    folder: PathBuf,
}

/// One output of a run.
pub(crate) struct Book {
    /// `polyglot` or `sob`.
    pub(crate) format: &'static str,
    /// The file or folder, in the folder of the run.
    pub(crate) path: &'static str,
    /// What makes a move heavy.
    pub(crate) weight: &'static str,
    /// How a .sob is packed.
    pub(crate) codec: &'static str,
}

impl PlainRun {
    /// Writes the configuration into an own folder under the bench folder.
    pub(crate) fn new(name: &str, games: &Path, books: &[Book]) -> Result<PlainRun> {
        let folder = program::bench_folder()?.join(name);
        fs::create_dir_all(&folder)?;
        let mut config = format!(
            "[input]\nfiles = ['{}']\n\
             [filter]\noutcomes = [\"white\", \"black\", \"draw\"]\nplies = 24\n\
             line_end = \"fixed\"\nshort = \"keep\"\n\
             [score]\nengine = \"none\"\n\
             [aggregate]\nsides = \"both\"\n\
             [checkpoint]\ndir = \"work\"\n",
            games.display()
        );
        for Book { format, path, weight, codec } in books {
            config.push_str(&format!(
                "[[book]]\nformat = \"{format}\"\npath = \"{path}\"\nweight = \"{weight}\"\n"
            ));
            if *format == "sob" {
                config.push_str(&format!("codec = \"{codec}\"\n"));
            }
        }
        fs::write(folder.join("pipeline.toml"), config)?;
        Ok(PlainRun { folder })
    }

    /// The command that runs it, after whatever earlier runs have kept is gone.
    pub(crate) fn command(&self, tabiya: &Path) -> Command {
        // Nothing to remove the first time.
        let _ = fs::remove_dir_all(self.folder.join("work"));
        let mut command = Command::new(tabiya);
        command.args(["run", "-c"]).arg(self.folder.join("pipeline.toml"));
        command
    }

    /// The path of one of its books.
    pub(crate) fn book(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

/// Runs a command that prints one JSON value.
pub(crate) fn json(command: &mut Command) -> Result<Value> {
    let output = program::output(command)?;
    serde_json::from_slice(&output)
        .with_context(|| format!("{} printed no JSON", program::show(command)))
}
