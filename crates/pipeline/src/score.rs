//! Lines to scored lines.

use std::sync::Arc;

use shakmaty::{Chess, Color, Position};
use tabiya_scorer::{Scorer, Verdict};
use tokio::{sync::mpsc, task};

use crate::{
    Context, Error,
    batch::{Batch, Candidate, LineVerdict, Scored},
    ordered::ordered,
};

/// Batches in flight: one being scored, one to go on with at once, one whose last answers are
/// still out.
const BATCHES: usize = 3;

/// Has the end of every line scored, or passes the lines on when there is nobody to score.
pub(crate) async fn run(
    scorer: Option<Arc<dyn Scorer>>,
    rx: mpsc::Receiver<Batch<Candidate>>,
    tx: mpsc::Sender<Batch<Scored>>,
    cx: Context,
) -> Result<(), Error> {
    let job = |batch: Batch<Candidate>| {
        let scorer = scorer.clone();
        task::spawn(async move { score(scorer.as_deref(), batch).await })
    };
    let deliver = |batch: Batch<Scored>| {
        let tx = tx.clone();
        async move {
            // A closed channel has its reason further down.
            let _ = tx.send(batch).await;
            Ok(())
        }
    };
    tokio::select! {
        done = ordered(rx, BATCHES, job, deliver) => done,
        // Batches that are not whole are scored again; what was answered is stored.
        () = cx.stop.cancelled() => Ok(()),
    }
}

async fn score(
    scorer: Option<&dyn Scorer>,
    mut batch: Batch<Candidate>,
) -> Result<Batch<Scored>, Error> {
    let candidates = std::mem::take(&mut batch.lines);
    let verdicts = match scorer {
        Some(scorer) => {
            let ends: Vec<Chess> = candidates.iter().map(|line| line.end.clone()).collect();
            let turns: Vec<Color> = ends.iter().map(Chess::turn).collect();
            let verdicts = scorer.score(ends).await?;
            verdicts
                .into_iter()
                .zip(turns)
                .map(|(verdict, turn)| white_view(verdict, turn))
                .collect()
        }
        None => vec![LineVerdict::Unasked; candidates.len()],
    };
    let lines = candidates
        .into_iter()
        .zip(verdicts)
        .map(|(candidate, verdict)| Scored { line: candidate.line, verdict })
        .collect();
    Ok(batch.with(lines))
}

/// Scorers speak for the side to move.
fn white_view(verdict: Verdict, turn: Color) -> LineVerdict {
    match verdict {
        Verdict::Score(evaluation) => LineVerdict::Score(turn.fold_wb(evaluation, -evaluation)),
        Verdict::Unscored(_) => LineVerdict::SetAside,
    }
}
