//! What was asked before, remembered.
//!
//! Games share positions, so a bounded memory of verdicts saves searches. A position that is being
//! searched is waited for, not searched again, whoever asks.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use futures_util::future::{BoxFuture, FutureExt};
use shakmaty::{Chess, EnPassantMode, Position, zobrist::Zobrist128};
use tokio::sync::watch;

use crate::{Health, Identity, Scorer, ScorerError, Verdict};

/// A scorer that asks the inner one about each position once, as long as it remembers it.
///
/// Positions set aside are remembered as well: what hung three engines is not tried again.
pub struct Cached<S> {
    inner: S,
    capacity: usize,
    memory: Mutex<Memory>,
    hits: AtomicU64,
}

/// A position by its placement, turn, castling rights and legal en passant square.
type Key = u128;

#[derive(Default)]
struct Memory {
    known: HashMap<Key, Verdict>,
    /// The known ones, the oldest first.
    order: VecDeque<Key>,
    /// Those that somebody is asking the inner scorer about.
    asked: HashMap<Key, watch::Receiver<Option<Verdict>>>,
}

impl<S: Scorer> Cached<S> {
    /// Remembers the last `capacity` verdicts; each takes about 100 bytes.
    pub fn new(inner: S, capacity: usize) -> Cached<S> {
        Cached { inner, capacity, memory: Mutex::default(), hits: AtomicU64::new(0) }
    }

    /// Fills in what is known. What nobody asks about yet is claimed for this call; the rest is
    /// being asked about by others.
    fn sort_out(&self, keys: &[Key], verdicts: &mut [Option<Verdict>]) -> (Claim<'_, S>, Awaited) {
        let mut claim = Claim { cached: self, asked: Vec::new(), indices: Vec::new() };
        let mut awaited = Vec::new();
        let mut memory = self.memory();
        for (index, (key, verdict)) in keys.iter().zip(verdicts).enumerate() {
            if verdict.is_some() {
                continue;
            }
            if let Some(known) = memory.known.get(key) {
                *verdict = Some(*known);
                self.hits.fetch_add(1, Relaxed);
            } else if let Some(receiver) = memory.asked.get(key) {
                awaited.push((index, receiver.clone()));
            } else {
                let (sender, receiver) = watch::channel(None);
                memory.asked.insert(*key, receiver);
                claim.asked.push((*key, sender));
                claim.indices.push(index);
            }
        }
        (claim, awaited)
    }
}

impl<S> Cached<S> {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Positions that another call, or this one, is asking about: index and answer to come.
type Awaited = Vec<(usize, watch::Receiver<Option<Verdict>>)>;

impl<S: Scorer> Scorer for Cached<S> {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        async move {
            let keys: Vec<Key> = positions.iter().map(key).collect();
            let mut verdicts = vec![None; keys.len()];
            // Again only if another call that was waited for came to nothing.
            while verdicts.contains(&None) {
                let (claim, awaited) = self.sort_out(&keys, &mut verdicts);
                claim.settle(&positions, &mut verdicts).await?;
                for (index, mut receiver) in awaited {
                    if let Ok(verdict) = receiver.wait_for(Option::is_some).await
                        && let Some(slot) = verdicts.get_mut(index)
                    {
                        *slot = *verdict;
                        self.hits.fetch_add(1, Relaxed);
                    }
                }
            }
            Ok(verdicts.into_iter().flatten().collect())
        }
        .boxed()
    }

    fn health(&self) -> Health {
        let inner = self.inner.health();
        Health { cached: inner.cached + self.hits.load(Relaxed), ..inner }
    }

    fn identity(&self) -> &Identity {
        self.inner.identity()
    }
}

/// The positions that one call asks the inner scorer about.
struct Claim<'a, S> {
    cached: &'a Cached<S>,
    asked: Vec<(Key, watch::Sender<Option<Verdict>>)>,
    indices: Vec<usize>,
}

impl<S: Scorer> Claim<'_, S> {
    /// Asks, remembers, and tells whoever waits.
    async fn settle(
        self,
        positions: &[Chess],
        verdicts: &mut [Option<Verdict>],
    ) -> Result<(), ScorerError> {
        if self.asked.is_empty() {
            return Ok(());
        }
        let chosen = self.indices.iter().filter_map(|&index| positions.get(index).cloned());
        let answers = self.cached.inner.score(chosen.collect()).await?;
        let mut memory = self.cached.memory();
        for (((key, sender), index), answer) in self.asked.iter().zip(&self.indices).zip(answers) {
            memory.remember(*key, answer, self.cached.capacity);
            sender.send_replace(Some(answer));
            if let Some(slot) = verdicts.get_mut(*index) {
                *slot = Some(answer);
            }
        }
        Ok(())
    }
}

/// Whatever came of it, nobody asks about these positions any more. When the call failed or was
/// cancelled, whoever waits for one of them sees its sender go and asks again.
impl<S> Drop for Claim<'_, S> {
    fn drop(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let mut memory = self.cached.memory();
        for (key, _) in &self.asked {
            memory.asked.remove(key);
        }
    }
}

impl Memory {
    fn remember(&mut self, key: Key, verdict: Verdict, capacity: usize) {
        if self.known.insert(key, verdict).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > capacity {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }
}

fn key(position: &Chess) -> Key {
    position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use shakmaty::{CastlingMode, fen::Fen};
    use tabiya_model::Score;

    use super::*;
    use crate::{Limit, Pov};

    /// Answers with the number of pieces, slowly, and counts what it is asked.
    struct Counter {
        identity: Identity,
        asked: AtomicU64,
        failures: AtomicU64,
    }

    impl Scorer for Counter {
        fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
            async move {
                self.asked.fetch_add(positions.len() as u64, Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                if self.failures.load(Relaxed) > 0 {
                    self.failures.fetch_sub(1, Relaxed);
                    return Err(ScorerError::Closed);
                }
                let count = |position: &Chess| position.board().occupied().count() as i32;
                let score = |position| Verdict::Score(Score::Cp(count(position)).into());
                Ok(positions.iter().map(score).collect())
            }
            .boxed()
        }

        fn health(&self) -> Health {
            Health::default()
        }

        fn identity(&self) -> &Identity {
            &self.identity
        }
    }

    fn cached(capacity: usize) -> Cached<Counter> {
        let identity = Identity {
            name: "counter".to_owned(),
            options: Default::default(),
            limit: Limit::Depth(1),
            pov: Pov::SideToMove,
            console: None,
        };
        let (asked, failures) = (AtomicU64::new(0), AtomicU64::new(0));
        Cached::new(Counter { identity, asked, failures }, capacity)
    }

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    /// Positions with 3, 4, … pieces.
    fn positions(count: usize) -> Vec<Chess> {
        let rank = |pawns: usize| match pawns {
            8 => "P".repeat(8),
            _ => format!("{}{}", "P".repeat(pawns), 8 - pawns),
        };
        let fen = |index| format!("4k3/8/8/8/8/8/{}/4K3 w - - 0 1", rank(index + 1));
        (0..count).map(|index| position(&fen(index))).collect()
    }

    fn scores(verdicts: &[Verdict]) -> Vec<i32> {
        verdicts.iter().map(|verdict| verdict.score().unwrap().to_number()).collect()
    }

    #[tokio::test]
    async fn a_position_is_asked_about_once() {
        let cached = cached(100);
        let [a, b, c] = positions(3).try_into().unwrap();
        let batch = vec![a.clone(), b.clone(), a.clone(), c];
        assert_eq!(scores(&cached.score(batch).await.unwrap()), [3, 4, 3, 5]);
        assert_eq!(scores(&cached.score(vec![b, a]).await.unwrap()), [4, 3]);
        assert_eq!(cached.inner.asked.load(Relaxed), 3);
        assert_eq!(cached.health().cached, 3);
    }

    #[tokio::test]
    async fn batches_at_the_same_time_share_their_searches() {
        let cached = Arc::new(cached(100));
        let batches = (0..8).map(|start| {
            let mut batch = positions(8);
            batch.rotate_left(start);
            cached.score(batch)
        });
        for (start, verdicts) in futures_util::future::join_all(batches).await.iter().enumerate() {
            let mut expected: Vec<i32> = (3..11).collect();
            expected.rotate_left(start);
            assert_eq!(scores(verdicts.as_ref().unwrap()), expected);
        }
        assert_eq!(cached.inner.asked.load(Relaxed), 8);
    }

    #[tokio::test]
    async fn a_failed_or_cancelled_call_leaves_its_positions_to_others() {
        let cached = cached(100);
        cached.inner.failures.store(1, Relaxed);
        let (first, second) = tokio::join!(cached.score(positions(4)), cached.score(positions(4)));
        assert!(first.is_err());
        assert_eq!(scores(&second.unwrap()), [3, 4, 5, 6]);

        let moment = Duration::from_millis(5);
        let cancelled = tokio::time::timeout(moment, cached.score(positions(8)));
        let (cancelled, other) = tokio::join!(cancelled, cached.score(positions(8)));
        assert!(cancelled.is_err());
        assert_eq!(scores(&other.unwrap()), [3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let cached = cached(2);
        cached.score(positions(8)).await.unwrap();
        {
            let memory = cached.memory();
            assert_eq!((memory.known.len(), memory.order.len(), memory.asked.len()), (2, 2, 0));
        }
        cached.score(positions(8).split_off(6)).await.unwrap();
        assert_eq!(cached.inner.asked.load(Relaxed), 8);
    }

    #[test]
    fn only_a_legal_en_passant_square_makes_a_difference() {
        let bare = position("8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1");
        assert_eq!(key(&position("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 5 9")), key(&bare));
        let bare = position("8/8/8/8/k2Pp3/8/8/3K4 b - - 0 1");
        assert_ne!(key(&position("8/8/8/8/k2Pp3/8/8/3K4 b - d3 0 1")), key(&bare));
    }
}
