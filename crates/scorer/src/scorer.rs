//! What it means to score: the one trait, and what it answers.

use std::{fmt, sync::Arc};

use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use shakmaty::Chess;
use tabiya_model::{Evaluation, Score};

use crate::{Identity, ScorerError};

/// A position in, a score out.
pub trait Scorer: Send + Sync {
    /// Answers every position in the order asked, from the view of its side to move.
    ///
    /// A position that cannot be scored is a [`Verdict`], not an error: an error means that
    /// nothing more can be scored.
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>>;

    /// The same, each answer as soon as there is one, with its place in what was asked.
    ///
    /// After an error nothing of use follows.
    fn answers(
        &self,
        positions: Vec<Chess>,
    ) -> BoxStream<'_, Result<(usize, Verdict), ScorerError>> {
        let all = self.score(positions).map(|answers| match answers {
            Ok(verdicts) => verdicts.into_iter().enumerate().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        all.map(stream::iter).flatten_stream().boxed()
    }

    /// How it is doing, for progress lines.
    fn health(&self) -> Health;

    /// What its scores depend on besides the position.
    fn identity(&self) -> &Identity;
}

impl<S: Scorer + ?Sized> Scorer for Arc<S> {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        self.as_ref().score(positions)
    }

    fn answers(
        &self,
        positions: Vec<Chess>,
    ) -> BoxStream<'_, Result<(usize, Verdict), ScorerError>> {
        self.as_ref().answers(positions)
    }

    fn health(&self) -> Health {
        self.as_ref().health()
    }

    fn identity(&self) -> &Identity {
        self.as_ref().identity()
    }
}

/// What became of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Its score, from the view of the side to move.
    Score(Evaluation),
    /// It was set aside. That is not a score of zero.
    Unscored(Unscored),
}

impl Verdict {
    /// The score, if there is one.
    pub fn score(self) -> Option<Score> {
        match self {
            Verdict::Score(evaluation) => Some(evaluation.score),
            Verdict::Unscored(_) => None,
        }
    }
}

/// Why a position was set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unscored {
    /// Searches ended without a usable score.
    NoScore,
    /// Engines did not answer in time.
    EngineTimeout,
    /// Engines ended unexpectedly.
    EngineCrash,
}

impl Unscored {
    /// The name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Unscored::NoScore => "NO_SCORE",
            Unscored::EngineTimeout => "ENGINE_TIMEOUT",
            Unscored::EngineCrash => "ENGINE_CRASH",
        }
    }
}

impl fmt::Display for Unscored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A scorer seen from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Engines that were asked for.
    pub engines: usize,
    /// Engines that run.
    pub alive: usize,
    /// Engines started in place of one that crashed, hung or gave no score.
    pub restarts: u64,
    /// Positions that got a score from an engine.
    pub scored: u64,
    /// Positions that no engine could score.
    pub set_aside: u64,
    /// Answers from memory.
    pub cached: u64,
    /// Answers from `scores.db`.
    pub stored: u64,
}
