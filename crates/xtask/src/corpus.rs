//! The games that benchmarks and checks read.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use tabiya_testkit::{Mix, Style, generate, render};

use crate::program;

/// Which games to read.
#[derive(clap::Args)]
pub(crate) struct Games {
    /// Files or folders of PGN, compressed or not. Without it: the master games next to the
    /// repository, or generated ones.
    #[arg(long, num_args = 1..)]
    games: Vec<PathBuf>,
}

/// Where master games are looked for, from the root of the repository.
const MASTER_GAMES: &str = "../shared/data/pgn";

const GENERATED_GAMES: usize = 200_000;

impl Games {
    /// The files, each as plain text under the bench folder.
    pub(crate) fn plain_files(&self) -> Result<Vec<PathBuf>> {
        let sources = self.sources()?;
        if sources.is_empty() {
            return Ok(vec![generated(GENERATED_GAMES)?]);
        }
        sources.iter().map(|source| plain(source)).collect()
    }

    fn sources(&self) -> Result<Vec<PathBuf>> {
        if self.games.is_empty() {
            let folder = program::root().join(MASTER_GAMES);
            let mut files = if folder.is_dir() { pgn_files(&folder)? } else { Vec::new() };
            files.retain(|path| file_name(path).starts_with("master-"));
            return Ok(files);
        }
        let mut files = Vec::new();
        for path in &self.games {
            match path.is_dir() {
                true => files.extend(pgn_files(path)?),
                false => files.push(path.clone()),
            }
        }
        ensure!(!files.is_empty(), "no PGN files in {:?}", self.games);
        Ok(files)
    }
}

/// One file of all games.
pub(crate) fn join(files: &[PathBuf], name: &str) -> Result<PathBuf> {
    let path = program::bench_folder()?.join(name);
    let mut joined = File::create(&path)?;
    for file in files {
        io::copy(&mut File::open(file)?, &mut joined)?;
        io::copy(&mut &b"\n\n"[..], &mut joined)?;
    }
    Ok(path)
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn pgn_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    files.retain(|path| path.is_file() && file_name(path).contains(".pgn"));
    files.sort();
    Ok(files)
}

/// The text of a file, decompressed by the tool of its format. Kept for the next time.
pub(crate) fn plain(source: &Path) -> Result<PathBuf> {
    let name = file_name(source);
    let stem = name.split(".pgn").next().unwrap_or(&name);
    let path = program::bench_folder()?.join(format!("{stem}.pgn"));
    let source_time = fs::metadata(source)
        .and_then(|meta| meta.modified())
        .with_context(|| format!("cannot read {}", source.display()))?;
    let up_to_date =
        fs::metadata(&path).and_then(|meta| meta.modified()).is_ok_and(|time| time > source_time);
    if up_to_date {
        return Ok(path);
    }
    let extension = source.extension().unwrap_or_default().to_string_lossy();
    let tool = match &*extension {
        "zst" => "zstd",
        "gz" => "gzip",
        "bz2" => "bzip2",
        "xz" => "xz",
        "lz4" => "lz4",
        _ => {
            fs::copy(source, &path)?;
            return Ok(path);
        }
    };
    println!("unpacking {name}");
    // Under another name until it is whole.
    let part = path.with_extension("part");
    let mut command = program::command(tool, tool)?;
    command.arg("-dc").arg(source).stdout(Stdio::from(File::create(&part)?));
    program::run(&mut command)?;
    fs::rename(part, &path)?;
    Ok(path)
}

fn generated(n: usize) -> Result<PathBuf> {
    let path = program::bench_folder()?.join(format!("generated-{n}.pgn"));
    if !path.is_file() {
        println!("generating {n} games");
        fs::write(&path, render(&generate(1, n, Mix::CLEAN), Style::Plain))?;
    }
    Ok(path)
}
