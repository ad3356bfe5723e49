//! `tabiya scan`: what is in the games, and what a run would leave out.

use std::{io, path::PathBuf, sync::Arc};

use anyhow::Result;
use tabiya_pipeline::{Context, ScanReport, resolve, scan};

use super::service;
use crate::{
    DONE, FAILED,
    args::Scan,
    config_file::{self, Purpose},
    output::{facts, thousands},
};

/// Reads the files and prints the counts.
pub(crate) fn run(args: &Scan) -> Result<u8> {
    let loaded = config_file::load(args.config.as_deref(), &args.set, Purpose::Scan)?;
    service::print_warnings(&loaded.warnings);
    let rules = service::rules(&loaded.config)?;
    let files: Vec<PathBuf> = args.files.iter().map(PathBuf::from).collect();
    let sources = resolve(&files)?;
    let inputs = sources.len();
    let config = Arc::new(loaded.config);
    let report = service::block_on(|cx: Context| async move {
        scan(config, rules, sources, cx).await.map_err(anyhow::Error::from)
    })?;
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report)?;
    }
    if !report.failures.is_empty() {
        eprintln!("error: {} of {inputs} inputs could not be read whole", report.failures.len());
    }
    Ok(if report.failures.is_empty() { DONE } else { FAILED })
}

fn print(report: &ScanReport) -> io::Result<()> {
    let mut rows = service::game_rows(&report.games);
    if report.unmarked > 0 {
        rows.push(("result in the tag alone".to_owned(), thousands(report.unmarked)));
    }
    if report.stray > 0 {
        rows.push(("text between games".to_owned(), format!("{} bytes", thousands(report.stray))));
    }
    let rate = report.games.read as f64 / report.seconds.max(1e-9);
    let bytes = report.bytes as f64 / 1e6;
    rows.push((
        "speed".to_owned(),
        format!(
            "{} games/s, {:.0} MB/s ({bytes:.1} MB in {:.2} s)",
            thousands(rate as u64),
            bytes / report.seconds.max(1e-9),
            report.seconds
        ),
    ));
    let rows: Vec<(&str, String)> =
        rows.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    facts(&mut io::stdout().lock(), &rows)
}
