//! `tabiya plan`: what a run would do, and why.

use std::io::{self, Write};

use anyhow::Result;
use tabiya_pipeline::{Plan, Why};

use super::service;
use crate::{DONE, args::Look, output::thousands};

/// Prints the plan.
pub(crate) fn run(args: &Look) -> Result<u8> {
    let (config, journal) = service::journal(&args.source)?;
    let plan = journal.plan();
    let engines = match plan.read.is_empty() || config.score.engine.is_none() {
        true => 0,
        false => service::engines(&config.score),
    };
    if args.json {
        let mut value = serde_json::to_value(&plan)?;
        value["engines"] = engines.into();
        println!("{value}");
    } else {
        print(&plan, engines)?;
    }
    Ok(DONE)
}

fn print(plan: &Plan, engines: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for change in &plan.changed {
        writeln!(out, "changed since the last run: {change}")?;
    }
    for warning in &plan.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    writeln!(
        out,
        "replay {} segments of {}: {} lines of {} games",
        plan.segments,
        plan.journal,
        thousands(plan.lines),
        thousands(plan.games)
    )?;
    for read in &plan.read {
        match read.why {
            Why::New => writeln!(out, "read {}: new", read.source)?,
            Why::Unfinished => writeln!(
                out,
                "read {} on, behind game {}",
                read.source,
                thousands(read.games_done)
            )?,
        }
    }
    if plan.read.is_empty() {
        writeln!(out, "read nothing: all {} inputs are in the journal", plan.finished)?;
    }
    writeln!(out, "start {engines} engines")?;
    writeln!(out, "write the books")
}
