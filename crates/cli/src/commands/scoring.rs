//! From the configuration to somebody who scores.

use std::{collections::BTreeMap, env, fs, sync::Arc};

use anyhow::{Context as _, Result};
use tabiya_pipeline::{
    Context, Error,
    config::{self, Config, ConsolePreset, Engine, NamedEngine},
    engine_fingerprint,
};
use tabiya_scorer::{
    Cached, Console, EngineSpec, Identity, Late, Limit, Pov, ScoreStore, Scorer, ScorerError,
    Stored, Units,
};
use tokio::task;

use super::service;

/// The file in the work folder that keeps the scores of all runs.
pub(crate) const SCORES: &str = "scores.db";

/// The file in the work folder that says what the engines of earlier runs were, so that stored
/// scores are found without starting one.
const ENGINES: &str = "engines.json";

/// Engines at work, and what remembers their answers.
pub(crate) struct Scoring {
    pool: Arc<Late>,
    scorer: Arc<dyn Scorer>,
}

impl Scoring {
    /// Opens the scores of earlier runs and starts the engines, or gives up at a signal: a mute
    /// engine takes its time to be found out. `None` if nobody is to score.
    pub(crate) async fn start(config: &Config, cx: &Context) -> Result<Option<Scoring>> {
        let Some(spec) = engine_spec(config)? else { return Ok(None) };
        let scores = config.checkpoint.dir.join(SCORES);
        let start = async move {
            // First, since a file that cannot be used is found out quickly.
            let store = task::spawn_blocking(|| ScoreStore::open(scores)).await?;
            let store = store.map_err(ScorerError::from).map_err(Error::from)?;
            let engines = service::engines(&config.score);
            let pool = Arc::new(engines_for(config, spec, engines).await?);
            let stored = Stored::new(Arc::clone(&pool), store)
                .with_chances(config.threshold.needs_chances());
            let scorer = Arc::new(Cached::new(stored, config.score.cache));
            Ok(Some(Scoring { pool, scorer }))
        };
        tokio::select! {
            started = start => started,
            () = cx.stop.cancelled() => Err(Error::Interrupted.into()),
        }
    }

    /// Whether stored scores, if there are any, can be used.
    pub(crate) fn check(config: &Config) -> Result<()> {
        let scores = config.checkpoint.dir.join(SCORES);
        if !config.score.engine.is_none() && scores.exists() {
            ScoreStore::open(scores).map_err(ScorerError::from).map_err(Error::from)?;
        }
        Ok(())
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

/// The engines: to be started when they are needed if it is known what they are.
async fn engines_for(config: &Config, spec: EngineSpec, engines: usize) -> Result<Late> {
    let path = config.checkpoint.dir.join(ENGINES);
    let fingerprint = engine_fingerprint(config)?;
    // A file that cannot be read costs a start.
    let text = fs::read(&path).unwrap_or_default();
    let mut known: BTreeMap<String, Identity> = serde_json::from_slice(&text).unwrap_or_default();
    if let Some(identity) = known.get(&fingerprint) {
        return Ok(Late::new(spec, engines, identity.clone()));
    }
    let started = Late::started(spec, engines).await.map_err(Error::from)?;
    known.insert(fingerprint, started.identity().clone());
    let draft = path.with_extension("tmp");
    fs::write(&draft, serde_json::to_vec(&known)?)
        .and_then(|()| fs::rename(&draft, &path))
        .with_context(|| path.display().to_string())?;
    Ok(started)
}

/// Forgets what the engines of earlier runs were: one of them is another now.
pub(crate) fn forget_engines(config: &Config) {
    let _ = fs::remove_file(config.checkpoint.dir.join(ENGINES));
}

fn engine_spec(config: &Config) -> Result<Option<EngineSpec>> {
    let section = &config.score;
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
    spec.units = Units { cp_scale: section.cp_scale, mate_threshold: section.mate_threshold };
    spec.chances = config.threshold.needs_chances();
    spec.arguments_matter = matches!(section.engine, Engine::Command(_));
    spec.tag = section.tag.clone();
    spec.console = console(&section.console);
    Ok(Some(spec))
}

/// The dialect of an engine at its prompt: the preset's, and what is written over it.
pub(crate) fn console(section: &config::Console) -> Option<Console> {
    let preset = match section.preset {
        Some(ConsolePreset::Gaviota) => Console::gaviota(),
        Some(ConsolePreset::Phalanx) => Console::phalanx(),
        None => Console::default(),
    };
    let text = |written: &Option<String>, preset| written.clone().unwrap_or(preset);
    let lines = |written: &Option<Vec<String>>, preset| written.clone().unwrap_or(preset);
    section.is_used().then(|| Console {
        ready: text(&section.ready, preset.ready),
        start: lines(&section.start, preset.start),
        query: lines(&section.query, preset.query),
        result: text(&section.result, preset.result),
        refusal: text(&section.refusal, preset.refusal),
        end: text(&section.end, preset.end),
        per_pawn: section.per_pawn.unwrap_or(preset.per_pawn),
        mate_from: section.mate_from.unwrap_or(preset.mate_from),
        quit: text(&section.quit, preset.quit),
    })
}
