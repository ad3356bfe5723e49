//! `cargo xtask judge`

use std::{path::PathBuf, time::Instant};

use anyhow::{Result, ensure};
use shakmaty::Chess;
use tabiya_model::Score;
use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer};

use crate::{
    agreement::{same_sign, share, spearman},
    label, tabiya,
};

/// What to judge, and how deep the built-in engine looks.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Lines of `FEN<TAB>cp N`, `FEN<TAB>N` or `FEN<TAB>mate N`, seen by the side to move; packed
    /// with zstd or not.
    file: PathBuf,
    /// Depths of the built-in engine; 0 is its static evaluation.
    #[arg(long, value_delimiter = ',', default_value = "0,1,2,4")]
    depths: Vec<u32>,
    /// So many lines from the beginning; 0: all.
    #[arg(short, default_value_t = 0)]
    n: usize,
    /// Engines at a time; 0: one a core.
    #[arg(long, default_value_t = 0)]
    engines: usize,
}

/// Prints how far the built-in engine agrees with the scores of the file, and how fast it is.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut labelled = label::read(&args.file)?;
    if args.n > 0 {
        labelled.truncate(args.n);
    }
    ensure!(labelled.len() > 1, "{}: too few positions to judge by", args.file.display());
    let tabiya = tabiya::build()?;
    let runtime = tokio::runtime::Runtime::new()?;
    println!("{} positions", labelled.len());
    println!(
        "depth   Spearman  same sign (|cp| > 50)  agree on > 100   of these passing: theirs, ours   positions/s"
    );
    for &depth in &args.depths {
        // A search that may look at one position is none.
        let (name, limit) = match depth {
            0 => ("static".to_owned(), Limit::Nodes(1)),
            depth => (depth.to_string(), Limit::Depth(depth)),
        };
        let command = vec![tabiya.clone().into_os_string(), "engine".into()];
        let positions: Vec<Chess> = labelled.iter().map(|(position, _)| position.clone()).collect();
        let (verdicts, seconds) = runtime.block_on(async {
            let engines = match args.engines {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                engines => engines,
            };
            let pool = Pool::start(EngineSpec::new(command, limit), engines).await?;
            let started = Instant::now();
            let verdicts = pool.score(positions).await;
            let seconds = started.elapsed().as_secs_f64();
            pool.shutdown().await;
            verdicts.map(|verdicts| (verdicts, seconds))
        })?;
        let ours = verdicts.iter().map(|verdict| verdict.score().map_or(0, Score::to_number));
        let theirs = labelled.iter().map(|(_, score)| score.to_number());
        let pairs: Vec<(i32, i32)> = theirs.zip(ours).collect();
        println!(
            "{name:6}  {:8.3}  {:20.1} %  {:12.1} %  {:13.1} %, {:4.1} %  {:20.0}",
            spearman(&pairs),
            same_sign(&pairs),
            share(&pairs, |(theirs, ours)| (theirs > 100) == (ours > 100)),
            share(&pairs, |(theirs, _)| theirs > 100),
            share(&pairs, |(_, ours)| ours > 100),
            pairs.len() as f64 / seconds,
        );
    }
    Ok(())
}
