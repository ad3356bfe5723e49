//! Chunks of text to lines, and to the reasons of the games that have none.

use std::{collections::HashSet, num::NonZero, sync::Arc, thread};

use tabiya_model::{Census, Kind, Outcome, Reason, Reject, Span};
use tokio::{sync::mpsc, task};

use crate::{
    Context, Error, Rules, Source,
    batch::{Batch, Candidate, SourceChunk},
    config,
    game::{Accepted, GameReader, LeftOut},
    ordered::ordered,
    pgn::Record,
};

/// How much of a bad game is written down.
const RAW: usize = 2048;

/// Parses chunks on blocking threads and hands on what they hold, in the order of the inputs.
/// `known` are the games of earlier runs, should duplicates be dropped.
pub(crate) async fn run(
    section: config::Filter,
    rules: Arc<Rules>,
    sources: Arc<[Source]>,
    known: Vec<u128>,
    rx: mpsc::Receiver<SourceChunk>,
    tx: mpsc::Sender<Batch<Candidate>>,
    cx: Context,
) -> Result<(), Error> {
    let mut known = KnownGames::new(&section, known);
    let job = |arrival: SourceChunk| {
        let (rules, sources) = (Arc::clone(&rules), Arc::clone(&sources));
        task::spawn_blocking(move || Ok(parse(&arrival, &rules, &sources)))
    };
    let deliver = |batch: Batch<Candidate>| {
        let batch = known.drop_duplicates(batch);
        let (tx, cx) = (tx.clone(), cx.clone());
        async move {
            let batch = batch?;
            cx.progress.add_games(&batch.census);
            cx.progress.add_positions(batch.lines.len() as u64);
            // A closed channel has its reason further down.
            let _ = tx.send(batch).await;
            Ok(())
        }
    };
    ordered(rx, jobs(section.jobs), job, deliver).await
}

/// The number asked for, or one a core.
pub(crate) fn jobs(asked: usize) -> usize {
    match asked {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        asked => asked,
    }
}

/// The batch of a chunk, duplicates still in it.
fn parse(arrival: &SourceChunk, rules: &Rules, sources: &[Source]) -> Batch<Candidate> {
    let chunk = &arrival.chunk;
    let games = chunk.first_game..chunk.first_game + chunk.records.len() as u64;
    let bytes = chunk.offset..chunk.offset + chunk.text.len() as u64;
    let mut batch = Batch {
        span: Span { source: arrival.source, bytes, games },
        lines: Vec::with_capacity(chunk.records.len()),
        identities: Vec::new(),
        rejects: Vec::new(),
        census: Census::default(),
        stray: chunk.stray,
        unmarked: 0,
        then: chunk.then,
        end: arrival.end.clone(),
    };
    let mut reader = GameReader::default();
    for (index, record) in chunk.records.iter().enumerate() {
        match reader.read(&chunk.text, record, rules) {
            Ok(accepted) => accept(&mut batch, accepted, rules.dedupe),
            Err(left_out) => {
                batch.census.leave_out(left_out.reason);
                if left_out.reason.kind() == Kind::Rejected {
                    let reject = reject(arrival, index, record, left_out, sources);
                    batch.rejects.push(reject);
                }
            }
        }
    }
    batch
}

fn accept(batch: &mut Batch<Candidate>, accepted: Accepted, dedupe: bool) {
    batch.census.accept(accepted.line.outcome);
    batch.unmarked += u64::from(accepted.unmarked);
    if dedupe {
        batch.identities.push(accepted.identity);
    }
    batch.lines.push(Candidate { line: accepted.line, end: accepted.end });
}

fn reject(
    arrival: &SourceChunk,
    index: usize,
    record: &Record,
    left_out: LeftOut,
    sources: &[Source],
) -> Reject {
    let text = arrival.chunk.text.get(record.text.clone()).unwrap_or_default();
    let raw = text.get(..RAW).unwrap_or(text);
    Reject {
        source: sources.get(arrival.source).map(Source::name).unwrap_or_default(),
        offset: arrival.chunk.offset + record.text.start as u64,
        game: arrival.chunk.first_game + index as u64 + 1,
        reason: left_out.reason,
        detail: left_out.detail,
        raw: String::from_utf8_lossy(raw).into_owned(),
    }
}

/// The games seen before, by what makes them the same.
struct KnownGames {
    wanted: bool,
    seen: HashSet<u128>,
    limit: usize,
}

impl KnownGames {
    /// A game takes 17 bytes of table, of which at least seven in sixteen are in use.
    const BYTES_A_GAME: usize = 39;

    fn new(section: &config::Filter, known: Vec<u128>) -> KnownGames {
        let limit = (section.dedupe_memory.to_usize() / Self::BYTES_A_GAME).max(1);
        KnownGames { wanted: section.dedupe, seen: known.into_iter().collect(), limit }
    }

    fn drop_duplicates(&mut self, mut batch: Batch<Candidate>) -> Result<Batch<Candidate>, Error> {
        if !self.wanted {
            return Ok(batch);
        }
        let mut fresh = Vec::with_capacity(batch.identities.len());
        for &identity in &batch.identities {
            if self.seen.len() >= self.limit {
                return Err(Error::DedupeFull { games: self.seen.len() });
            }
            fresh.push(self.seen.insert(identity));
        }
        let mut each = fresh.iter();
        batch.identities.retain(|_| each.next().copied().unwrap_or(true));
        let mut again: Vec<Outcome> = Vec::new();
        let mut fresh = fresh.into_iter();
        batch.lines.retain(|candidate| {
            let keep = fresh.next().unwrap_or(true);
            if !keep {
                again.push(candidate.line.outcome);
            }
            keep
        });
        for outcome in again {
            batch.census.reconsider(outcome, Reason::Duplicate);
        }
        Ok(batch)
    }
}
