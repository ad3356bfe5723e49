//! The command `tabiya`: from games to opening books.

mod args;
mod commands;
mod config_file;
mod output;
mod position;
mod progress;

use std::{
    env,
    io::{self, IsTerminal},
    process::ExitCode,
};

use clap::Parser;

use args::{Args, LogFormat};

/// Done, and nothing is wrong.
const DONE: u8 = 0;
/// It could not be done, or something is wrong with what was looked at.
const FAILED: u8 = 1;
/// A signal ended it.
const INTERRUPTED: u8 = 130;
/// What was asked for makes no sense: the command line or the configuration.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Bad arguments end here, with USAGE.
    let args = Args::parse();
    log_to_stderr(args.log_format);
    if let Ok(place) = env::var("TABIYA_CRASH_AT") {
        tabiya_pipeline::crash::arm(&place);
    }
    let code = commands::run(args.command).unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return DONE;
        }
        if let Some(tabiya_pipeline::Error::Interrupted) = error.downcast_ref() {
            eprintln!("interrupted: no book was touched; the same command goes on from here");
            return INTERRUPTED;
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

/// Log lines, by the environment variable TABIYA_LOG ("warn", "debug", "tabiya_scorer=debug").
fn log_to_stderr(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::Level::INFO.into())
        .with_env_var("TABIYA_LOG")
        .from_env_lossy();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}

/// Whether the reader of our output has seen enough, as in `| head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is_pipe))
}
