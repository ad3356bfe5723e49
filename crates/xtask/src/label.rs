//! `cargo xtask label`

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
    num::NonZeroU32,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position, fen::Fen};
use tabiya_model::Score;
use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer};

use crate::{corpus::Games, openings, program};

/// Positions that are asked about, and written, at a time.
const BATCH: usize = 1_000;

/// What to label, and by whom.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    games: Games,
    /// The file to write; what stands in it already is kept and not asked again.
    #[arg(long)]
    out: PathBuf,
    /// Won ends of lines of the games that are held out, rather than positions to train on.
    #[arg(long)]
    held_out: bool,
    /// Positions in these files of labels are left out, too.
    #[arg(long, num_args = 1..)]
    known: Vec<PathBuf>,
    /// Whom to ask.
    #[arg(long, default_value = "stockfish")]
    engine: String,
    /// How deep it looks.
    #[arg(long, default_value_t = 8)]
    depth: u32,
    /// The engine's table, in MiB: it is cleared for each position, which takes its time.
    #[arg(long, default_value_t = 16)]
    hash: u32,
    /// Positions of a game besides the end of its line.
    #[arg(long, default_value_t = 2)]
    random: usize,
    /// Engines at a time.
    #[arg(long, default_value_t = 1)]
    engines: usize,
    /// How many positions there shall be in the file.
    #[arg(short, default_value_t = 2_500)]
    n: usize,
    /// The same seed chooses the same positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Writes `FEN<TAB>cp N` or `FEN<TAB>mate N`, scores from the side to move.
pub(crate) fn run(args: &Args) -> Result<()> {
    let openings = openings::read(&args.games.plain_files()?, args.random, args.seed)?;
    let mut positions = if args.held_out { openings.to_judge } else { openings.to_train };
    println!("{} positions to choose from", positions.len());
    let mut known = HashSet::new();
    let there = match args.out.is_file() {
        true => read(&args.out)?,
        false => Vec::new(),
    };
    known.extend(there.iter().map(|(position, _)| openings::hash(position)));
    for path in &args.known {
        known.extend(read(path)?.iter().map(|(position, _)| openings::hash(position)));
    }
    positions.retain(|position| !known.contains(&openings::hash(position)));
    positions.truncate(args.n.saturating_sub(there.len()));

    let engine = program::find(&args.engine)
        .with_context(|| format!("{} is missing: install it or name another", args.engine))?;
    let out = OpenOptions::new().create(true).append(true).open(&args.out);
    let out = out.with_context(|| format!("cannot write {}", args.out.display()))?;
    let mut spec = EngineSpec::new([engine], Limit::Depth(args.depth));
    spec.options.insert("Hash".to_owned(), args.hash.to_string());
    tokio::runtime::Runtime::new()?.block_on(label(positions, spec, args.engines, out))
}

async fn label(
    positions: Vec<Chess>,
    spec: EngineSpec,
    engines: usize,
    mut out: File,
) -> Result<()> {
    let pool = Pool::start(spec, engines).await?;
    let mut done = 0;
    for batch in positions.chunks(BATCH) {
        let verdicts = pool.score(batch.to_vec()).await?;
        let mut lines = String::new();
        for (position, verdict) in batch.iter().zip(&verdicts) {
            if let Some(score) = verdict.score() {
                lines.push_str(&format!("{}\t{}\n", fen(position), show(score)));
            }
        }
        // Whole batches, so that a file that was left off can be gone on with.
        out.write_all(lines.as_bytes())?;
        done += batch.len();
        println!("{done} of {}", positions.len());
    }
    pool.shutdown().await;
    Ok(())
}

/// The position with clocks that say nothing, as engines get it.
fn fen(position: &Chess) -> Fen {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.halfmoves = 0;
    setup.fullmoves = NonZeroU32::MIN;
    Fen::try_from_setup(setup).unwrap_or_else(|lossy| lossy.ignore())
}

fn show(score: Score) -> String {
    match score {
        Score::Cp(cp) => format!("cp {cp}"),
        Score::MateIn(moves) => format!("mate {moves}"),
        Score::MatedIn(moves) => format!("mate -{moves}"),
    }
}

/// The positions of a file of labels, packed with zstd or not, in its order. A bare number is
/// taken for centipawns.
pub(crate) fn read(path: &Path) -> Result<Vec<(Chess, Score)>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let text: Box<dyn io::Read> = match path.extension().is_some_and(|ext| ext == "zst") {
        true => Box::new(zstd::Decoder::new(file)?),
        false => Box::new(file),
    };
    let mut labels = Vec::new();
    for (index, line) in BufReader::new(text).lines().enumerate() {
        let line = line?;
        let place = || format!("{}, line {}: {line:?}", path.display(), index + 1);
        labels.push(parse(&line).with_context(place)?);
    }
    Ok(labels)
}

fn parse(line: &str) -> Result<(Chess, Score)> {
    let (fen, score) = line.split_once('\t').context("no tab")?;
    let position = fen.parse::<Fen>()?.into_position(CastlingMode::Standard)?;
    let score = match score.trim().strip_prefix("mate") {
        Some(moves) => Score::from_uci_mate(moves.trim().parse()?),
        None => Score::Cp(score.trim().trim_start_matches("cp").trim().parse()?),
    };
    Ok((position, score))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_they_are_written() {
        for (text, score) in [
            ("cp -14", Score::Cp(-14)),
            ("mate 3", Score::MateIn(3)),
            ("mate -2", Score::MatedIn(2)),
        ] {
            let line = format!("{}\t{text}", fen(&Chess::default()));
            assert_eq!(parse(&line).unwrap(), (Chess::default(), score));
            assert_eq!(show(score), text);
        }
        let bare = format!("{}\t7", fen(&Chess::default()));
        assert_eq!(parse(&bare).unwrap().1, Score::Cp(7));
        assert!(parse("8/8/8/8/8/8/8/8 w - - 0 1\tcp 3").is_err());
        assert!(parse("x").is_err());
    }
}
