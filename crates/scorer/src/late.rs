//! Engines that are started once there is something to ask them.

use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use shakmaty::Chess;
use tokio::sync::OnceCell;

use crate::{EngineSpec, Health, Identity, Pool, Scorer, ScorerError, Verdict};

/// A pool that is started when the first position is asked about. It must be known beforehand what
/// the engine is, so that stored scores can be found without it.
pub struct Late {
    spec: EngineSpec,
    engines: usize,
    identity: Identity,
    pool: OnceCell<Pool>,
}

impl Late {
    /// So many engines, to be started when they are needed. `identity` is what they were found to
    /// be before.
    pub fn new(spec: EngineSpec, engines: usize, identity: Identity) -> Late {
        Late { spec, engines, identity, pool: OnceCell::new() }
    }

    /// Starts the engines now, and finds out what they are.
    pub async fn started(spec: EngineSpec, engines: usize) -> Result<Late, ScorerError> {
        let pool = Pool::start(spec.clone(), engines).await?;
        let identity = pool.identity().clone();
        Ok(Late { spec, engines, identity, pool: OnceCell::new_with(Some(pool)) })
    }

    /// Ends the engines, if there are any.
    pub async fn shutdown(&self) {
        if let Some(pool) = self.pool.get() {
            pool.shutdown().await;
        }
    }

    async fn pool(&self) -> Result<&Pool, ScorerError> {
        let start = || async {
            let pool = Pool::start(self.spec.clone(), self.engines).await?;
            let found = pool.identity();
            if *found != self.identity {
                let (before, now) = (self.identity.to_string(), found.to_string());
                pool.shutdown().await;
                return Err(ScorerError::AnotherEngine { before, now });
            }
            Ok(pool)
        };
        self.pool.get_or_try_init(start).await
    }
}

impl Scorer for Late {
    fn score(&self, positions: Vec<Chess>) -> BoxFuture<'_, Result<Vec<Verdict>, ScorerError>> {
        async move { self.pool().await?.score(positions).await }.boxed()
    }

    fn answers(
        &self,
        positions: Vec<Chess>,
    ) -> BoxStream<'_, Result<(usize, Verdict), ScorerError>> {
        let answers = async move {
            match self.pool().await {
                Ok(pool) => pool.answers(positions),
                Err(error) => stream::iter([Err(error)]).boxed(),
            }
        };
        answers.flatten_stream().boxed()
    }

    fn health(&self) -> Health {
        match self.pool.get() {
            Some(pool) => pool.health(),
            None => Health { engines: self.engines, ..Health::default() },
        }
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }
}
