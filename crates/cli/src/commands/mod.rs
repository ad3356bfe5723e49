//! One module a command. Each prints its data on standard output, everything else on standard
//! error, and returns the exit code.

mod book;
mod completions;
mod config;
mod convert;
mod engine;
mod probe;
mod run;
mod scan;
mod service;
mod uci;

use anyhow::Result;

use crate::args::Command;

/// Does what was asked for.
pub(crate) fn run(command: Command) -> Result<u8> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Scan(args) => scan::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Book(command) => book::run(&command),
        Command::Config(command) => config::run(command),
        Command::Engine => engine::run(),
        Command::Uci(args) => uci::run(&args),
        Command::Completions { shell } => completions::run(shell),
    }
}
