//! `cargo xtask judge`

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use shakmaty::{CastlingMode, Chess, fen::Fen};
use tabiya_model::Score;
use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer};

use crate::{
    agreement::{same_sign, share, spearman},
    tabiya,
};

/// What to judge, and how deep the built-in engine looks.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Lines of `FEN<TAB>cp N` or `FEN<TAB>N`, seen by the side to move; mates are left out.
    file: PathBuf,
    /// Depths of the built-in engine.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    depths: Vec<u32>,
    /// So many lines from the beginning; 0: all.
    #[arg(short, default_value_t = 2000)]
    n: usize,
}

/// Prints how far the built-in engine agrees with the scores of the file.
pub(crate) fn run(args: &Args) -> Result<()> {
    let labelled = read(args)?;
    let tabiya = tabiya::build()?;
    let runtime = tokio::runtime::Runtime::new()?;
    println!("{} positions", labelled.len());
    println!(
        "depth  Spearman  same sign (|cp| > 50)  agree on > 100   of these passing: theirs, ours"
    );
    for &depth in &args.depths {
        let command = vec![tabiya.clone().into_os_string(), "engine".into()];
        let positions = labelled.iter().map(|(position, _)| position.clone()).collect();
        let verdicts = runtime.block_on(async {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let pool = Pool::start(EngineSpec::new(command, Limit::Depth(depth)), cores).await?;
            let verdicts = pool.score(positions).await;
            pool.shutdown().await;
            verdicts
        })?;
        let ours = verdicts.iter().map(|verdict| verdict.score().map_or(0, Score::to_number));
        let pairs: Vec<(i32, i32)> = labelled.iter().map(|&(_, theirs)| theirs).zip(ours).collect();
        println!(
            "{depth:5}  {:8.3}  {:20.1} %  {:12.1} %   {:.1} %, {:.1} %",
            spearman(&pairs),
            same_sign(&pairs),
            share(&pairs, |(theirs, ours)| (theirs > 100) == (ours > 100)),
            share(&pairs, |(theirs, _)| theirs > 100),
            share(&pairs, |(_, ours)| ours > 100),
        );
    }
    Ok(())
}

fn read(args: &Args) -> Result<Vec<(Chess, i32)>> {
    let text = fs::read_to_string(&args.file)
        .with_context(|| format!("cannot read {}", args.file.display()))?;
    let limit = if args.n == 0 { usize::MAX } else { args.n };
    let mut labelled = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = || format!("{}, line {}: {line:?}", args.file.display(), index + 1);
        let (fen, score) = line.split_once('\t').with_context(place)?;
        if score.starts_with("mate") || labelled.len() == limit {
            continue;
        }
        let fen: Fen = fen.parse().with_context(place)?;
        let position = fen.into_position(CastlingMode::Standard).with_context(place)?;
        let cp = score.trim_start_matches("cp").trim().parse().with_context(place)?;
        labelled.push((position, cp));
    }
    ensure!(labelled.len() > 1, "{}: too few positions to judge by", args.file.display());
    Ok(labelled)
}
