//! `tabiya engine`

use std::io::{self, BufReader};

use anyhow::{Context, Result};

use crate::DONE;

/// Speaks UCI until the other side leaves.
pub(crate) fn run() -> Result<u8> {
    tabiya_scorer::builtin::run(BufReader::new(io::stdin()), io::stdout())
        .context("the built-in engine lost its input or output")?;
    Ok(DONE)
}
