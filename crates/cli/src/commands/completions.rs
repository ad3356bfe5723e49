//! `tabiya completions SHELL`

use std::io::{self, Write};

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{DONE, args::Args};

/// Prints the script that completes our commands in `shell`.
pub(crate) fn run(shell: Shell) -> Result<u8> {
    // By way of memory, since writing to a closed pipe would panic in there.
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "tabiya", &mut script);
    io::stdout().write_all(&script)?;
    Ok(DONE)
}
