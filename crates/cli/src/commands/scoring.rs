//! From the configuration to somebody who scores.

use std::{env, sync::Arc};

use anyhow::{Context as _, Result};
use tabiya_pipeline::{
    Context, Error,
    config::{self, Engine, NamedEngine},
};
use tabiya_scorer::{Cached, EngineSpec, Limit, Pool, Pov, Scorer};

use super::service;

/// Engines at work, and what remembers their answers.
pub(crate) struct Scoring {
    pool: Arc<Pool>,
    scorer: Arc<dyn Scorer>,
}

impl Scoring {
    /// Starts the engines, or gives up at a signal: a mute engine takes its time to be found out.
    /// `None` if nobody is to score.
    pub(crate) async fn start(section: &config::Score, cx: &Context) -> Result<Option<Scoring>> {
        let Some(spec) = engine_spec(section)? else { return Ok(None) };
        let engines = service::engines(section);
        let pool = tokio::select! {
            pool = Pool::start(spec, engines) => Arc::new(pool.map_err(Error::from)?),
            () = cx.stop.cancelled() => return Err(Error::Interrupted.into()),
        };
        let scorer = Arc::new(Cached::new(Arc::clone(&pool), section.cache));
        Ok(Some(Scoring { pool, scorer }))
    }

    /// Who answers.
    pub(crate) fn scorer(&self) -> Arc<dyn Scorer> {
        Arc::clone(&self.scorer)
    }

    /// Ends the engines.
    pub(crate) async fn shutdown(&self) {
        self.pool.shutdown().await;
    }
}

fn engine_spec(section: &config::Score) -> Result<Option<EngineSpec>> {
    let command = match &section.engine {
        Engine::Named(NamedEngine::None) => return Ok(None),
        Engine::Named(NamedEngine::Builtin) => {
            let this = env::current_exe().context("where this program is, to start its engine")?;
            vec![this.into_os_string(), "engine".into()]
        }
        Engine::Command(command) => command.iter().map(Into::into).collect(),
    };
    let limit = match section.limit {
        config::Limit { depth: Some(depth), .. } => Limit::Depth(depth),
        config::Limit { nodes: Some(nodes), .. } => Limit::Nodes(nodes),
        config::Limit { movetime: Some(time), .. } => Limit::Movetime(time.0),
        config::Limit { .. } => anyhow::bail!("score.limit: name a depth, nodes or a movetime"),
    };
    let mut spec = EngineSpec::new(command, limit);
    spec.options =
        section.options.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
    spec.timeout = section.timeout.0;
    spec.pov = match section.pov {
        config::Pov::Auto => Pov::Auto,
        config::Pov::Stm => Pov::SideToMove,
        config::Pov::White => Pov::White,
    };
    Ok(Some(spec))
}
