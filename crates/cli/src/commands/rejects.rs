//! `tabiya rejects`: what was rejected, by reason.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Write},
};

use anyhow::{Context as _, Result};
use serde_json::json;
use tabiya_model::Reject;

use crate::{
    DONE,
    args::Look,
    config_file::{self, Purpose},
    output::thousands,
};

/// Rejects shown of each reason.
const EXAMPLES: usize = 3;

/// Prints the counts and some examples of each.
pub(crate) fn run(args: &Look) -> Result<u8> {
    let loaded = config_file::load(Some(&args.source.config), &args.source.set, Purpose::Run)?;
    let path = loaded.config.checkpoint.dir.join("rejects.jsonl");
    let file = File::open(&path)
        .with_context(|| format!("{}: `tabiya run` writes this file", path.display()))?;
    let mut reasons: BTreeMap<_, (u64, Vec<Reject>)> = BTreeMap::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let reject: Reject = serde_json::from_str(&line?)
            .with_context(|| format!("{}, line {}", path.display(), number + 1))?;
        let (count, examples) = reasons.entry(reject.reason).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(reject);
        }
    }
    let mut out = io::stdout().lock();
    if args.json {
        let counts: BTreeMap<_, _> =
            reasons.iter().map(|(reason, (count, _))| (reason.name(), count)).collect();
        writeln!(out, "{}", json!({ "file": path.to_string_lossy(), "rejected": counts }))?;
        return Ok(DONE);
    }
    for (reason, (count, examples)) in &reasons {
        writeln!(out, "{reason:<16}{:>12}", thousands(*count))?;
        for reject in examples {
            let Reject { source, game, offset, detail, .. } = reject;
            writeln!(out, "  {source}, game {game} at byte {offset}: {detail}")?;
        }
    }
    writeln!(out, "all of them, with their text: {}", path.display())?;
    Ok(DONE)
}
