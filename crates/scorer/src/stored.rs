//! A scorer that never asks twice, whenever it was that it asked.
//!
//! The answers of an engine may take minutes for a batch, so each is on its way into the file as
//! soon as it is there: whatever ends the process loses a moment of the engines' work.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{
    StreamExt,
    future::{BoxFuture, FutureExt},
};
use shakmaty::Chess;
use tokio::{sync::mpsc, task, time};

use crate::{
    Evaluation, Health, Identity, ScoreStore, Scorer, ScorerError, StoreError, StoredPosition,
    Verdict, pool::decided,
};

/// How long an answer may wait for others to be stored with.
const GATHER: Duration = Duration::from_millis(250);
/// How many are stored together at the most.
const GATHERED: usize = 4096;

/// A scorer that looks into `scores.db` first, and keeps there what it had to ask.
///
/// Answers are stored before they are handed out. Positions set aside are not stored, and games
/// that are over need not be.
pub struct Stored<S> {
    inner: S,
    engine: Arc<str>,
    store: Arc<Mutex<ScoreStore>>,
    found: AtomicU64,
    chances: bool,
}

impl<S: Scorer> Stored<S> {
    /// Keeps the scores of `inner` in `store`.
    pub fn new(inner: S, store: ScoreStore) -> Stored<S> {
        let engine = inner.identity().to_string().into();
        let store = Arc::new(Mutex::new(store));
        Stored { inner, engine, store, found: AtomicU64::new(0), chances: false }
    }

    /// Asks again where a stored score says no chances, if they are `needed`.
    pub fn with_chances(self, needed: bool) -> Stored<S> {
        Stored { chances: needed, ..self }
    }

    /// Fills in what is stored.
    async fn look_up(
        &self,
        keys: &[Option<StoredPosition>],
        verdicts: &mut [Option<Verdict>],
    ) -> Result<(), ScorerError> {
        let asked: Vec<StoredPosition> = keys.iter().flatten().cloned().collect();
        let known = self.blocking(move |store, engine| store.look_up(engine, &asked)).await?;
        let slots = keys.iter().zip(verdicts).filter(|(key, _)| key.is_some());
        for ((_, verdict), known) in slots.zip(known) {
            let enough = |it: &Evaluation| !self.chances || it.expected().is_some();
            *verdict = known.filter(enough).map(Verdict::Score);
        }
        Ok(())
    }

    /// Asks the inner scorer about these, and stores each answer soon after it comes.
    async fn ask(
        &self,
        asked: Vec<(usize, Chess)>,
        keys: &[Option<StoredPosition>],
        verdicts: &mut [Option<Verdict>],
    ) -> Result<(), ScorerError> {
        let (indices, positions): (Vec<usize>, Vec<Chess>) = asked.into_iter().unzip();
        // Room for all, so that storing never holds up the asking.
        let (sender, fresh) = mpsc::channel(indices.len().max(1));
        let listen = async move {
            let mut answers = self.inner.answers(positions);
            while let Some(answer) = answers.next().await {
                let (place, verdict) = answer?;
                let Some(&index) = indices.get(place) else { continue };
                if let Some(slot) = verdicts.get_mut(index) {
                    *slot = Some(verdict);
                }
                let key = keys.get(index).and_then(Option::as_ref);
                if let (Some(key), Verdict::Score(evaluation)) = (key, verdict)
                    && sender.send((key.clone(), evaluation)).await.is_err()
                {
                    // The other half has failed and says why.
                    break;
                }
            }
            Ok(())
        };
        // Both to their ends: what was answered before an engine failed is stored all the same.
        let (listened, kept) = tokio::join!(listen, self.keep(fresh));
        kept.and(listened)
    }

    /// Stores what comes, a handful at a time, until nothing comes any more.
    async fn keep(
        &self,
        mut fresh: mpsc::Receiver<(StoredPosition, Evaluation)>,
    ) -> Result<(), ScorerError> {
        while let Some(first) = fresh.recv().await {
            let mut scores = vec![first];
            let gather = async {
                while scores.len() < GATHERED
                    && let Some(score) = fresh.recv().await
                {
                    scores.push(score);
                }
            };
            // Out of time, or all there is: either way it is stored now.
            let _ = time::timeout(GATHER, gather).await;
            self.blocking(move |store, engine| store.store(engine, &scores)).await?;
        }
        Ok(())
    }

    /// SQLite blocks, so it works on a thread where that is no harm.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut ScoreStore, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ScorerError> {
        let (store, engine) = (Arc::clone(&self.store), Arc::clone(&self.engine));
        let work = move || work(&mut store.lock().unwrap_or_else(PoisonError::into_inner), &engine);
        match task::spawn_blocking(work).await {
            Ok(result) => Ok(result?),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The runtime is going down.
            Err(_) => Err(ScorerError::Closed),
        }
    }
}

impl<S: Scorer> Scorer for Stored<S> {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        async move {
            let key = |position| decided(position).is_none().then(|| StoredPosition::of(position));
            let keys: Vec<_> = positions.iter().map(key).collect();
            let mut verdicts = vec![None; keys.len()];
            self.look_up(&keys, &mut verdicts).await?;
            let found = verdicts.iter().flatten().count();
            self.found.fetch_add(found as u64, Relaxed);
            // So that no engine is needed for what needs none.
            for (verdict, position) in verdicts.iter_mut().zip(&positions) {
                *verdict = verdict.or_else(|| decided(position).map(Verdict::Score));
            }
            let missing = positions.into_iter().enumerate().zip(&verdicts);
            let missing: Vec<_> = missing
                .filter(|(_, verdict)| verdict.is_none())
                .map(|(position, _)| position)
                .collect();
            if !missing.is_empty() {
                self.ask(missing, &keys, &mut verdicts).await?;
            }
            // One for each, unless the inner scorer kept some to itself.
            verdicts.into_iter().collect::<Option<_>>().ok_or(ScorerError::Closed)
        }
        .boxed()
    }

    fn health(&self) -> Health {
        let inner = self.inner.health();
        Health { stored: inner.stored + self.found.load(Relaxed), ..inner }
    }

    fn identity(&self) -> &Identity {
        self.inner.identity()
    }
}
