//! Other programs.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

/// Where Debian puts chess programs; not in everybody's search path.
const GAMES: &str = "/usr/games";

/// Finds a program in the search path, or where games are.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = search_path();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The search path, and where games are.
pub(crate) fn search_path() -> OsString {
    let mut path = env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(GAMES);
    path
}

/// A program that must be there; if not, the error says how to get it.
pub(crate) fn command(name: &str, package: &str) -> Result<Command> {
    let path = find(name)
        .with_context(|| format!("{name} is missing: run `apt-get install {package}`"))?;
    Ok(Command::new(path))
}

/// Python, with python-chess.
pub(crate) fn python_chess() -> Result<Command> {
    let mut python = command("python3", "python3")?;
    ensure!(has_python_chess(), "python-chess is missing: run `python3 -m pip install chess`");
    python.env("PYTHONUTF8", "1");
    Ok(python)
}

/// Whether python3 can import python-chess.
pub(crate) fn has_python_chess() -> bool {
    let import = Command::new("python3")
        .args(["-c", "import chess.pgn, chess.polyglot"])
        .stderr(Stdio::null())
        .status();
    import.is_ok_and(|status| status.success())
}

/// Runs a command to its end and insists on success.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", show(command)))?;
    ensure!(status.success(), "{} failed: {status}", show(command));
    Ok(())
}

/// What a command writes to standard output; its errors go to ours.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", show(command)))?;
    ensure!(output.status.success(), "{} failed: {}", show(command), output.status);
    Ok(output.stdout)
}

/// The command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    // A script given as an argument would fill the screen.
    let short = |word: &std::ffi::OsStr| match word.to_string_lossy() {
        word if word.contains('\n') => "<script>".to_owned(),
        word => word.into_owned(),
    };
    words.map(short).collect::<Vec<_>>().join(" ")
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    crates.map(Path::to_owned).unwrap_or_default()
}

/// The folder for files that only benchmarks and checks use.
pub(crate) fn bench_folder() -> Result<PathBuf> {
    let folder = root().join("target/bench");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}
