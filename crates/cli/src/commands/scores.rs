//! `tabiya scores stats|export|import|merge|check`
//!
//! Scores travel as JSON, one a line, each with all it depends on, so that lines may be picked,
//! sorted and joined by any tool: `{"engine":"…","position":"…","cp":31}`. A mate in 3 is
//! `"mate":3`, being mated in 3 `"mated":3`; chances are `"wdl":[120,800,80]`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tabiya_model::{Score, Wdl};
use tabiya_scorer::{Added, Entry, Evaluation, ScoreStore, StoreError, StoredPosition};

use crate::{
    DONE, FAILED,
    args::{Scores, ScoresTask},
    output::{facts, table, thousands},
};

/// Longer lines are none of ours.
const LONGEST: u64 = 64 * 1024;
/// Scores that are imported at a time.
const BATCH: usize = 4096;

/// Does what was asked for.
pub(crate) fn run(args: &Scores) -> Result<u8> {
    match &args.task {
        ScoresTask::Stats => stats(args),
        ScoresTask::Export { engine } => export(args, engine.as_deref().unwrap_or_default()),
        ScoresTask::Import { from } => import(args, from),
        ScoresTask::Merge { from, salvage } => {
            let mut store = ScoreStore::open(&args.db)?;
            let mut all = Added::default();
            for path in from {
                let other = ScoreStore::inspect(path)?;
                sum(&mut all, store.merge(&other, *salvage)?);
            }
            print_added(all, args.json)
        }
        ScoresTask::Check => check(args),
    }
}

fn stats(args: &Scores) -> Result<u8> {
    let holdings = ScoreStore::inspect(&args.db)?.holdings()?;
    let mut out = io::stdout().lock();
    if args.json {
        let engines: Vec<_> = holdings
            .iter()
            .map(|of| {
                json!({
                    "engine": of.engine,
                    "scores": of.scores,
                    "mates": of.mates,
                    "with_wdl": of.chances,
                })
            })
            .collect();
        writeln!(out, "{}", json!({ "engines": engines }))?;
    } else {
        let row = |scores, mates, chances, engine: &str| {
            [thousands(scores), thousands(mates), thousands(chances), engine.to_owned()]
        };
        let mut rows: Vec<_> =
            holdings.iter().map(|of| row(of.scores, of.mates, of.chances, &of.engine)).collect();
        let total = |count: fn(&tabiya_scorer::Holdings) -> u64| holdings.iter().map(count).sum();
        let (scores, mates) = (total(|of| of.scores), total(|of| of.mates));
        rows.push(row(scores, mates, total(|of| of.chances), "all"));
        table(&mut out, 0, ["scores", "mates", "with wdl", "engine"], &rows)?;
    }
    Ok(DONE)
}

fn export(args: &Scores, engine: &str) -> Result<u8> {
    let store = ScoreStore::inspect(&args.db)?;
    let mut out = BufWriter::new(io::stdout().lock());
    store.for_each(|entry| -> Result<()> {
        if entry.engine.contains(engine) {
            serde_json::to_writer(&mut out, &Line::of(&entry)).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(DONE)
}

fn import(args: &Scores, from: &Path) -> Result<u8> {
    let mut store = ScoreStore::open(&args.db)?;
    let mut input: Box<dyn BufRead> = match from.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => {
            let file = File::open(from).with_context(|| from.display().to_string())?;
            Box::new(BufReader::new(file))
        }
    };
    let mut all = Added::default();
    let mut batch = Vec::new();
    let mut number = 0_u64;
    loop {
        number += 1;
        let place = || format!("{}:{number}", from.display());
        let next =
            next_line(&mut *input).and_then(|line| line.map(|line| parse(&line)).transpose());
        // What stood before a bad line is good, and importing it again later does no harm.
        let next = match next {
            Ok(next) => next,
            Err(error) => {
                sum(&mut all, store.add(&batch)?);
                print_added(all, args.json)?;
                return Err(error.context(format!("{}: nothing from here on is taken", place())));
            }
        };
        let ended = next.is_none();
        batch.extend(next);
        if ended || batch.len() == BATCH {
            sum(&mut all, store.add(&batch)?);
            batch.clear();
        }
        if ended {
            return print_added(all, args.json);
        }
    }
}

/// The next line that is not empty.
fn next_line(input: &mut dyn BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut *input).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() as u64 == LONGEST {
            bail!("a line of more than {LONGEST} bytes");
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

fn parse(line: &[u8]) -> Result<Entry> {
    let line: Line = serde_json::from_slice(line)?;
    line.entry()
}

fn sum(all: &mut Added, added: Added) {
    all.new += added.new;
    all.known += added.known;
    all.different += added.different;
    all.damaged += added.damaged;
}

fn print_added(added: Added, json: bool) -> Result<u8> {
    let mut out = io::stdout().lock();
    let Added { new, known, different, damaged } = added;
    if json {
        let counts =
            json!({ "new": new, "known": known, "different": different, "damaged": damaged });
        writeln!(out, "{counts}")?;
    } else {
        let rows = [
            ("new", thousands(new)),
            ("there already", thousands(known)),
            ("there with another score, which stays", thousands(different)),
            ("damaged, left out", thousands(damaged)),
        ];
        facts(&mut out, &rows)?;
    }
    Ok(DONE)
}

fn check(args: &Scores) -> Result<u8> {
    let flaws = match ScoreStore::inspect(&args.db).and_then(|store| store.check()) {
        // Damage is what was asked about.
        Err(StoreError::Damaged { what, .. }) => {
            tabiya_scorer::Flaws { found: vec![what], ..Default::default() }
        }
        result => result?,
    };
    let sound = flaws.found.is_empty();
    let mut out = io::stdout().lock();
    if args.json {
        let report = json!({
            "sound": flaws.sound,
            "damaged": flaws.damaged,
            "found": flaws.found,
        });
        writeln!(out, "{report}")?;
    } else {
        facts(
            &mut out,
            &[("sound", thousands(flaws.sound)), ("damaged", thousands(flaws.damaged))],
        )?;
        for flaw in &flaws.found {
            writeln!(out, "{flaw}")?;
        }
    }
    if !sound {
        let db = args.db.display();
        eprintln!(
            "error: {db}: damaged: move it aside, then `tabiya scores merge --salvage` takes what \
             is sound from it"
        );
    }
    Ok(if sound { DONE } else { FAILED })
}

/// A score as it travels.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    engine: String,
    position: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mated: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wdl: Option<[u16; 3]>,
}

impl Line {
    fn of(entry: &Entry) -> Line {
        let mut line = Line {
            engine: entry.engine.clone(),
            position: entry.position.as_str().to_owned(),
            cp: None,
            mate: None,
            mated: None,
            wdl: entry.evaluation.wdl.map(Wdl::parts),
        };
        match entry.evaluation.score {
            Score::Cp(cp) => line.cp = Some(cp),
            Score::MateIn(moves) => line.mate = Some(moves),
            Score::MatedIn(moves) => line.mated = Some(moves),
        }
        line
    }

    fn entry(self) -> Result<Entry> {
        let score = match (self.cp, self.mate, self.mated) {
            (Some(cp), None, None) => Score::Cp(cp),
            (None, Some(moves), None) => Score::MateIn(moves),
            (None, None, Some(moves)) => Score::MatedIn(moves),
            _ => bail!("a score is one of cp, mate and mated"),
        };
        let wdl = self.wdl.map(|[win, draw, loss]| {
            Wdl::new(win, draw, loss).context("the chances of wdl add up to 1000")
        });
        let position = StoredPosition::parse(&self.position).with_context(|| {
            format!(
                "no position {:?}: a legal one is wanted, without clocks, its en passant square \
                 only where the capture is legal",
                self.position
            )
        })?;
        let evaluation = Evaluation { score, wdl: wdl.transpose()? };
        Ok(Entry { engine: self.engine, position, evaluation })
    }
}
