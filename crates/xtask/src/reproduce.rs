//! `cargo xtask reproduce`

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use shakmaty::Chess;
use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer, Verdict};

use crate::{corpus::Games, openings, program};

/// Which positions to score, and by whom.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    games: Games,
    /// Whom to ask.
    #[arg(long, default_value = "stockfish")]
    engine: String,
    /// How deep it looks.
    #[arg(long, default_value_t = 8)]
    depth: u32,
    /// How many ends of lines to score in each run.
    #[arg(short, default_value_t = 5_000)]
    n: usize,
    /// How many others fill the engines' tables before the last run.
    #[arg(long, default_value_t = 500)]
    others: usize,
    /// The same seed chooses the same positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// One run over all positions.
struct Run {
    name: &'static str,
    engines: usize,
    /// The engines have just searched other positions, and get these from the last to the first.
    primed: bool,
}

const RUNS: [Run; 4] = [
    Run { name: "first", engines: 1, primed: false },
    Run { name: "again", engines: 1, primed: false },
    Run { name: "two engines", engines: 2, primed: false },
    Run { name: "tables filled, backwards", engines: 2, primed: true },
];

/// Scores the same positions again and again, and insists on the same scores.
pub(crate) fn run(args: &Args) -> Result<()> {
    let openings = openings::read(&args.games.plain_files()?, 0, args.seed)?;
    let (mut positions, mut others) = (openings.to_train, openings.to_judge);
    ensure!(positions.len() >= args.n, "only {} ends of lines in these games", positions.len());
    positions.truncate(args.n);
    others.truncate(args.others);
    let engine = program::find(&args.engine)
        .with_context(|| format!("{} is missing: install it or name another", args.engine))?;
    let spec = EngineSpec::new([engine], Limit::Depth(args.depth));
    let runtime = tokio::runtime::Runtime::new()?;
    println!("{} ends of lines, {} at depth {}", positions.len(), args.engine, args.depth);
    let mut first: Option<Vec<Verdict>> = None;
    for run in RUNS {
        let begun = Instant::now();
        let verdicts = runtime.block_on(score(&spec, &run, &positions, &others))?;
        let first = first.get_or_insert_with(|| verdicts.clone());
        let differ = verdicts.iter().zip(first.iter()).filter(|(now, before)| now != before);
        let (differ, unscored) =
            (differ.count(), verdicts.iter().filter(|verdict| verdict.score().is_none()).count());
        println!(
            "{:26} {} engines   {:7.1} s   {differ} differ   {unscored} without a score",
            run.name,
            run.engines,
            begun.elapsed().as_secs_f64()
        );
        ensure!(differ + unscored == 0, "scores are not reproducible");
    }
    Ok(())
}

async fn score(
    spec: &EngineSpec,
    run: &Run,
    positions: &[Chess],
    others: &[Chess],
) -> Result<Vec<Verdict>> {
    let pool = Pool::start(spec.clone(), run.engines).await?;
    let mut positions = positions.to_vec();
    if run.primed {
        pool.score(others.to_vec()).await?;
        positions.reverse();
    }
    let mut verdicts = pool.score(positions).await?;
    if run.primed {
        verdicts.reverse();
    }
    pool.shutdown().await;
    Ok(verdicts)
}
