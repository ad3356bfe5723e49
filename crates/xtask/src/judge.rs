//! `cargo xtask judge`

use std::{cmp::Ordering, fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use shakmaty::{CastlingMode, Chess, fen::Fen};
use tabiya_model::Score;
use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer};

use crate::tabiya;

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

/// Percent of the pairs for which something holds.
fn share(pairs: &[(i32, i32)], holds: impl Fn((i32, i32)) -> bool) -> f64 {
    let holding = pairs.iter().filter(|pair| holds(**pair)).count();
    100.0 * holding as f64 / pairs.len() as f64
}

fn same_sign(pairs: &[(i32, i32)]) -> f64 {
    let clear: Vec<(i32, i32)> =
        pairs.iter().copied().filter(|(theirs, _)| theirs.abs() > 50).collect();
    share(&clear, |(theirs, ours)| theirs.signum() == ours.signum())
}

/// Spearman's rank correlation: Pearson's of the ranks, equal values sharing the mean of theirs.
fn spearman(pairs: &[(i32, i32)]) -> f64 {
    let theirs = ranks(pairs.iter().map(|pair| pair.0).collect());
    let ours = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    sum(&theirs, &ours) / (sum(&theirs, &theirs) * sum(&ours, &ours)).sqrt()
}

fn ranks(values: Vec<i32>) -> Vec<f64> {
    let mut sorted = values.clone();
    sorted.sort_unstable();
    let rank = |value: i32| {
        let below = sorted.partition_point(|other| other.cmp(&value) == Ordering::Less);
        let up_to = sorted.partition_point(|other| *other <= value);
        (below + 1 + up_to) as f64 / 2.0
    };
    values.into_iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_measured_by_rank_and_sign() {
        let same = [(-300, -3), (-60, -2), (10, -1), (70, 5), (200, 120)];
        assert!((spearman(&same) - 1.0).abs() < 1e-9);
        assert_eq!(same_sign(&same), 100.0);
        let turned = same.map(|(theirs, ours)| (theirs, -ours));
        assert!((spearman(&turned) + 1.0).abs() < 1e-9);
        assert_eq!(ranks(vec![5, 1, 5]), [2.5, 1.0, 2.5]);
    }
}
