//! `cargo xtask test`

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::program::{self, find, has_python_chess, root, search_path, show};

/// Programs that tests talk to, each with its package.
const PROGRAMS: [(&str, &str); 13] = [
    ("stockfish", "stockfish"),
    ("ethereal-chess", "ethereal-chess"),
    ("fairy-stockfish", "fairy-stockfish"),
    ("glaurung", "glaurung"),
    ("gnuchess", "gnuchess"),
    ("phalanx", "phalanx"),
    ("toga2", "toga2"),
    ("polyglot", "polyglot"),
    ("pgn-extract", "pgn-extract"),
    // They compile and run the readers that are made for other languages.
    ("mcs", "mono-mcs"),
    ("mono", "mono-runtime"),
    ("gcc", "gcc"),
    ("python3", "python3"),
];

/// Installs what is missing, then runs all tests.
pub(crate) fn run() -> Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .into_iter()
        .filter(|(program, _)| find(program).is_none())
        .map(|(_, package)| package)
        .collect();
    if !missing.is_empty() {
        install(as_root("apt-get").args(["install", "-y", "--no-install-recommends"]), &missing)?;
    }
    if !has_python_chess() {
        install(Command::new("python3").args(["-m", "pip", "install"]), &["chess"])?;
    }
    run_tests()
}

fn run_tests() -> Result<()> {
    let nextest = Command::new("cargo").args(["nextest", "--version"]).output();
    if nextest.is_ok_and(|output| output.status.success()) {
        program::run(&mut cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]))?;
        // nextest leaves these out.
        program::run(&mut cargo(&["test", "--workspace", "--doc"]))
    } else {
        program::run(&mut cargo(&["test", "--workspace"]))
    }
}

fn install(command: &mut Command, packages: &[&str]) -> Result<()> {
    command.args(packages);
    println!("missing for the tests: {}; running `{}`", packages.join(", "), show(command));
    let hint = format!("install {} with `{}`", packages.join(", "), show(command));
    let status = command.status().with_context(|| hint.clone())?;
    if !status.success() {
        bail!("that did not work: {hint}, then start the tests again");
    }
    Ok(())
}

fn as_root(program: &str) -> Command {
    let id = Command::new("id").arg("-u").output();
    if id.is_ok_and(|id| id.stdout.trim_ascii() == b"0") {
        return Command::new(program);
    }
    let mut sudo = Command::new("sudo");
    sudo.arg(program);
    sudo
}

/// Cargo at the root of the repository, with the engines in the search path.
fn cargo(args: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(args).current_dir(root()).env("PATH", search_path());
    cargo
}
