//! `cargo xtask train`
//!
//! Gradient descent (AdamW) on one core. Everything follows from the labels, their order, and the
//! seed of [`Rng`], which chooses the first weights and shuffles the labels in each epoch; the
//! numbers are 32-bit floats added in a fixed order.
//!
//! Small steps taken often seem to learn the most here: one training in batches of 1,024 reached a
//! rank correlation of 0.71, one in batches of 128 0.73. One with 128 sums was no better than with
//! 64; more labels are.

use std::{fs, path::PathBuf, time::Instant};

use anyhow::{Context, Result, ensure};
use shakmaty::Chess;
use tabiya_model::Score;
use tabiya_scorer::builtin::net::{
    FEATURES, HIDDEN, MAGIC, ONE, PAWNS, WEIGHT, WEIGHT_MAX, WORTH, features, place,
};
use tabiya_testkit::Rng;

use crate::{
    agreement::{same_sign, share, spearman},
    corpus::Games,
    label, openings,
};

/// What to learn from, and how.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of labels, from `cargo xtask label`.
    #[arg(required = true)]
    labels: Vec<PathBuf>,
    /// Labels that are cheaper and worse; learned only in the first epochs.
    #[arg(long, num_args = 1..)]
    cheap: Vec<PathBuf>,
    /// How many epochs learn the cheap labels, too.
    #[arg(long, default_value_t = 8)]
    cheap_epochs: usize,
    /// Where the labels' positions come from: what happens in the games that are held out is not
    /// learned.
    #[command(flatten)]
    games: Games,
    /// Labels of ends of lines held out, to show the progress; never learned.
    #[arg(long)]
    judge: Option<PathBuf>,
    /// The file to write.
    #[arg(long, default_value = "crates/scorer/src/builtin/net.bin")]
    out: PathBuf,
    /// How often each label is seen.
    #[arg(long, default_value_t = 18)]
    epochs: usize,
    /// Labels that are seen between two steps.
    #[arg(long, default_value_t = 128)]
    batch: usize,
    /// The first step's length; the last one's is next to nothing.
    #[arg(long, default_value_t = 0.001)]
    rate: f32,
    /// How much of each weight is forgotten with each step, times the step's length.
    #[arg(long, default_value_t = 0.2)]
    decay: f32,
    /// Centipawns at which a difference counts half of what it does near 0: what decides games
    /// lies below.
    #[arg(long, default_value_t = 250.0)]
    scale: f32,
    /// The same seed gives the same net.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Mates and anything beyond count this many centipawns.
const CLIP: i32 = 2_000;

// The rows of the weights while training. Beside the features' own rows there are some that
// several of them share; they are added to these when the net is written.

/// Rows of a side's own features: each, then the places without their safety.
const SIDE: usize = FEATURES + 6 * 64;
/// All rows: a side's own features and its opponent's.
const ROWS: usize = 2 * SIDE;
/// Numbers of a row: those of the sums, and the feature's own worth.
const START: usize = ROWS * HIDDEN;
const OUT: usize = START + HIDDEN;
const WORTHS: usize = OUT + 2 * HIDDEN;
const TEMPO: usize = WORTHS + SIDE;
const PARAMETERS: usize = TEMPO + 1;

/// What is learned from a position.
struct Example {
    /// Where the rows of its features are in `Examples::rows`.
    rows: std::ops::Range<usize>,
    /// In centipawns, from the view of the side to move.
    label: i32,
}

#[derive(Default)]
struct Examples {
    examples: Vec<Example>,
    /// Rows of the side to move's view.
    rows: Vec<u16>,
}

impl Examples {
    fn add(&mut self, position: &Chess, score: Score) {
        let from = self.rows.len();
        features(position, |movers, feature| {
            let side = if movers { 0 } else { SIDE };
            self.rows.push((side + feature) as u16);
            if let Some(place) = place(feature) {
                self.rows.push((side + FEATURES + place) as u16);
            }
        });
        let label = score.to_number().clamp(-CLIP, CLIP);
        self.examples.push(Example { rows: from..self.rows.len(), label });
    }

    fn rows(&self, example: &Example) -> &[u16] {
        self.rows.get(example.rows.clone()).unwrap_or_default()
    }
}

/// Trains, and writes the net.
pub(crate) fn run(args: &Args) -> Result<()> {
    let started = Instant::now();
    let held_out = openings::read(&args.games.plain_files()?, 0, args.seed)?.held_out;
    let (mut train, mut near) = (Examples::default(), Examples::default());
    for path in &args.labels {
        for (position, score) in label::read(path)? {
            match held_out.contains(&openings::hash(&position)) {
                true => near.add(&position, score),
                false => train.add(&position, score),
            }
        }
    }
    let good = train.examples.len();
    for path in &args.cheap {
        for (position, score) in label::read(path)? {
            if !held_out.contains(&openings::hash(&position)) {
                train.add(&position, score);
            }
        }
    }
    let mut judge = Examples::default();
    if let Some(path) = &args.judge {
        for (position, score) in label::read(path)? {
            let hash = openings::hash(&position);
            ensure!(held_out.contains(&hash), "{}: not held out", path.display());
            judge.add(&position, score);
        }
    }
    println!(
        "{good} labels to learn, and {} cheap ones; {} left out with the games held out ({:.0} s)",
        train.examples.len() - good,
        near.examples.len(),
        started.elapsed().as_secs_f32()
    );

    let mut training = Training::new(args);
    let mut order: Vec<usize> = (0..train.examples.len()).collect();
    let steps = |examples: usize, epochs: usize| examples.div_ceil(args.batch) * epochs;
    let cheap_epochs = args.cheap_epochs.min(args.epochs);
    let steps = steps(order.len(), cheap_epochs) + steps(good, args.epochs - cheap_epochs);
    println!("epoch    loss   Spearman, same sign, agree on > 100: left out | ends of lines");
    for epoch in 1..=args.epochs {
        if epoch > cheap_epochs {
            order.retain(|&idx| idx < good);
        }
        openings::shuffle(&mut order, &mut training.rng);
        let mut loss = 0.0;
        for batch in order.chunks(args.batch) {
            loss += training.learn(&train, batch);
            training.step(args, steps as f32);
        }
        let loss = loss / order.len() as f64;
        let table = [&near, &judge].map(|examples| agreement(&training.weights, examples));
        println!(
            "{epoch:5}  {loss:.5}  {} | {}  ({:.0} s)",
            table[0],
            table[1],
            started.elapsed().as_secs_f32()
        );
    }
    let net = quantised(&training.weights);
    fs::write(&args.out, &net).with_context(|| format!("cannot write {}", args.out.display()))?;
    println!("{}: {} bytes", args.out.display(), net.len());
    Ok(())
}

fn agreement(weights: &[f32], examples: &Examples) -> String {
    if examples.examples.len() < 2 {
        return "none".to_owned();
    }
    let pairs: Vec<(i32, i32)> = examples
        .examples
        .iter()
        .map(|example| {
            let value = Pass::new(weights, examples.rows(example)).value;
            (example.label, (value * PAWNS as f32).round() as i32)
        })
        .collect();
    format!(
        "{:.4} {:.1} % {:.1} % ({:.1} : {:.1})",
        spearman(&pairs),
        same_sign(&pairs),
        share(&pairs, |(theirs, ours)| (theirs > 100) == (ours > 100)),
        share(&pairs, |(theirs, _)| theirs > 100),
        share(&pairs, |(_, ours)| ours > 100),
    )
}

type Sums = [f32; HIDDEN];

/// One position going through the net.
struct Pass {
    /// Of the side to move and of the other.
    sums: [Sums; 2],
    /// In hundreds of [`PAWNS`].
    value: f32,
}

impl Pass {
    fn new(weights: &[f32], rows: &[u16]) -> Pass {
        let start = sums(weights, START);
        let mut sums = [start; 2];
        let mut value = weights[TEMPO];
        for &row in rows {
            let row = usize::from(row);
            let other = turned(row);
            add(&mut sums[0], &weights[row * HIDDEN..][..HIDDEN]);
            add(&mut sums[1], &weights[other * HIDDEN..][..HIDDEN]);
            value += if row < SIDE { weights[WORTHS + row] } else { -weights[WORTHS + row - SIDE] };
        }
        for (sum, weight) in sums.as_flattened().iter().zip(&weights[OUT..WORTHS]) {
            let sum = sum.clamp(0.0, 1.0);
            value += sum * sum * weight;
        }
        Pass { sums, value }
    }
}

fn sums(weights: &[f32], at: usize) -> Sums {
    let mut sums = [0.0; HIDDEN];
    sums.copy_from_slice(&weights[at..at + HIDDEN]);
    sums
}

/// The row of the same feature in the other side's view.
fn turned(row: usize) -> usize {
    if row < SIDE { row + SIDE } else { row - SIDE }
}

fn add(sums: &mut [f32], row: &[f32]) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum += weight;
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

struct Training {
    rng: Rng,
    /// Of the curve from scores to expected points.
    steepness: f32,
    weights: Vec<f32>,
    gradient: Vec<f32>,
    /// Running means of the gradient and of its square.
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: i32,
}

impl Training {
    fn new(args: &Args) -> Training {
        let mut rng = Rng::new(args.seed);
        let mut weights = vec![0.0; PARAMETERS];
        let mut random = |most: f32| (rng.below(2_000_001) as f32 / 1e6 - 1.0) * most;
        weights[..START].iter_mut().for_each(|weight| *weight = random(0.08));
        weights[START..OUT].fill(0.2);
        weights[OUT..WORTHS].iter_mut().for_each(|weight| *weight = random(0.2));
        // What pieces are worth is known.
        for (idx, worth) in [0.25, 0.8, 0.85, 1.25, 2.4].into_iter().enumerate() {
            weights[WORTHS + FEATURES + idx * 64..][..64].fill(worth);
        }
        Training {
            rng,
            steepness: PAWNS as f32 / args.scale,
            gradient: vec![0.0; PARAMETERS],
            mean: vec![0.0; PARAMETERS],
            square: vec![0.0; PARAMETERS],
            weights,
            steps: 0,
        }
    }

    /// Adds up the gradient over a batch; gives the sum of its losses.
    fn learn(&mut self, examples: &Examples, batch: &[usize]) -> f64 {
        let mut losses = 0.0;
        for &idx in batch {
            let example = &examples.examples[idx];
            let rows = examples.rows(example);
            let pass = Pass::new(&self.weights, rows);
            let (expected, wanted) = (
                sigmoid(pass.value * self.steepness),
                sigmoid(example.label as f32 * self.steepness / PAWNS as f32),
            );
            let error = expected - wanted;
            losses += f64::from(error * error);
            let slope = error * expected * (1.0 - expected) / batch.len() as f32;
            self.backward(rows, &pass, slope);
        }
        losses
    }

    fn backward(&mut self, rows: &[u16], pass: &Pass, slope: f32) {
        let mut slopes = [[0.0; HIDDEN]; 2];
        let (gradient, out) = (&mut self.gradient, &self.weights[OUT..WORTHS]);
        let (starts, outs) = gradient[START..WORTHS].split_at_mut(HIDDEN);
        let sums = pass.sums.as_flattened().iter();
        let weights = out.iter().zip(outs).zip(slopes.as_flattened_mut());
        for (sum, ((weight, gradient), unit_slope)) in sums.zip(weights) {
            let sum = sum.clamp(0.0, 1.0);
            *gradient += sum * sum * slope;
            // At either end a sum has no slope.
            let within = if sum < 1.0 { 2.0 * sum } else { 0.0 };
            *unit_slope = within * weight * slope;
        }
        slopes.iter().for_each(|slopes| add(starts, slopes));
        self.gradient[TEMPO] += slope;
        for &row in rows {
            let row = usize::from(row);
            add(&mut self.gradient[row * HIDDEN..][..HIDDEN], &slopes[0]);
            add(&mut self.gradient[turned(row) * HIDDEN..][..HIDDEN], &slopes[1]);
            match row < SIDE {
                true => self.gradient[WORTHS + row] += slope,
                false => self.gradient[WORTHS + row - SIDE] -= slope,
            }
        }
    }

    /// One step of AdamW.
    fn step(&mut self, args: &Args, steps: f32) {
        const MEAN: f32 = 0.9;
        const SQUARE: f32 = 0.999;
        self.steps += 1;
        let left = 1.0 - self.steps as f32 / steps;
        let warm = (self.steps as f32 / 500.0).min(1.0);
        let rate = args.rate * warm * left.max(0.005);
        let mean_sum = 1.0 - MEAN.powi(self.steps);
        let square_sum = 1.0 - SQUARE.powi(self.steps);
        let keep = 1.0 - rate * args.decay;
        let moments = self.mean.iter_mut().zip(&mut self.square);
        let numbers = self.weights.iter_mut().zip(&mut self.gradient).zip(moments);
        for ((weight, gradient), (mean, square)) in numbers {
            *mean = MEAN * *mean + (1.0 - MEAN) * *gradient;
            *square = SQUARE * *square + (1.0 - SQUARE) * *gradient * *gradient;
            let direction = (*mean / mean_sum) / ((*square / square_sum).sqrt() + 1e-8);
            *weight = *weight * keep - rate * direction;
            *gradient = 0.0;
        }
        let most = f32::from(WEIGHT_MAX) / WEIGHT as f32;
        for weight in &mut self.weights[OUT..WORTHS] {
            *weight = weight.clamp(-most, most);
        }
    }
}

/// The net as it is written: see `tabiya_scorer::builtin::net`.
fn quantised(weights: &[f32]) -> Vec<u8> {
    let one = ONE as f32;
    let worth = (WORTH * PAWNS) as f32;
    let shared = |feature: usize| place(feature).map(|place| FEATURES + place);
    let mut net = Vec::new();
    net.extend(MAGIC);
    net.extend((FEATURES as u32).to_le_bytes());
    net.extend((HIDDEN as u32).to_le_bytes());
    net.extend(((weights[TEMPO] * worth).round() as i32).to_le_bytes());
    for feature in 0..FEATURES {
        let shared = shared(feature).map_or(0.0, |row| weights[WORTHS + row]);
        net.extend(short(weights[WORTHS + feature] + shared, worth));
    }
    net.extend(weights[START..OUT].iter().flat_map(|&weight| short(weight, one)));
    for side in [0, SIDE] {
        for feature in 0..FEATURES {
            for unit in 0..HIDDEN {
                let weight = |row: usize| weights[(side + row) * HIDDEN + unit];
                let shared = shared(feature).map_or(0.0, weight);
                net.extend(short(weight(feature) + shared, one));
            }
        }
    }
    net.extend(weights[OUT..WORTHS].iter().flat_map(|&weight| short(weight, WEIGHT as f32)));
    net
}

fn short(weight: f32, unit: f32) -> [u8; 2] {
    ((weight * unit).round() as i16).to_le_bytes()
}
