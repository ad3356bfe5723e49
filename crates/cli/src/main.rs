//! The command `tabiya`: from games to opening books.

mod args;
mod commands;
mod config_file;
mod output;
mod position;

use std::{io, process::ExitCode};

use clap::Parser;

use args::Args;

/// Done, and nothing is wrong.
const DONE: u8 = 0;
/// It could not be done, or something is wrong with what was looked at.
const FAILED: u8 = 1;
/// What was asked for makes no sense: the command line or the configuration.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Bad arguments end here, with USAGE.
    let args = Args::parse();
    let code = commands::run(args.command).unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return DONE;
        }
        eprintln!("error: {error:#}");
        if error.is::<config_file::Refusal>() || error.is::<position::BadPosition>() {
            USAGE
        } else {
            FAILED
        }
    });
    ExitCode::from(code)
}

/// Whether the reader of our output has seen enough, as in `| head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_pipe))
}
