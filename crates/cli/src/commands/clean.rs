//! `tabiya clean`: removes journals that are not used any more.

use std::fs;

use anyhow::{Context as _, Result};
use tabiya_pipeline::{FoundJournal, Work, journals};

use super::service;
use crate::{
    DONE,
    args::Clean,
    output::{size, thousands},
};

/// Removes every journal but the one of the configuration, and names them.
pub(crate) fn run(args: &Clean) -> Result<u8> {
    let (config, current) = service::journal(&args.source)?;
    let dir = &config.checkpoint.dir;
    if !dir.exists() {
        println!("{}: there is no such folder, and nothing to remove", dir.display());
        return Ok(DONE);
    }
    let _work = Work::open(dir)?;
    let mut removed = 0;
    for FoundJournal { path, info } in journals(dir)? {
        if path == current.path() {
            continue;
        }
        let what = match info {
            Ok(info) => format!("{} lines, {}", thousands(info.lines), size(info.bytes)),
            Err(_) => "damaged or never begun".to_owned(),
        };
        let verb = if args.dry_run { "would remove" } else { "removed" };
        if !args.dry_run {
            fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        println!("{verb} {}   {what}", path.display());
        removed += 1;
    }
    if removed == 0 {
        println!("nothing to remove; {} is in use", current.path().display());
    }
    Ok(DONE)
}
