//! One module a command. Each prints its data on standard output, everything else on standard
//! error, and returns the exit code.

mod book;
mod clean;
mod completions;
mod config;
mod convert;
mod engine;
mod plan;
mod probe;
mod rejects;
mod run;
mod scan;
mod scores;
pub(crate) mod scoring;
mod service;
mod status;
mod sweep;
mod uci;
mod watch;

use anyhow::Result;

use crate::args::Command;

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<u8> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Rejects(args) => rejects::run(&args),
        Command::Clean(args) => clean::run(&args),
        Command::Scan(args) => scan::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Book(command) => book::run(&command),
        Command::Scores(args) => scores::run(&args),
        Command::Config(command) => config::run(command),
        Command::Engine => engine::run(),
        Command::Uci(args) => uci::run(&args),
        Command::Completions { shell } => completions::run(shell),
    }
}
