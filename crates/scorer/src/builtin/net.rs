//! A small net that was taught Stockfish's scores.
//!
//! Each side's view of the position adds up one row of weights for each feature it has and one
//! for each feature its opponent has; the sums, held within 0 and 1 and squared, are weighed
//! and added, those of the side to move apart from the other's. Beside that each feature has a
//! plain worth of its own. All of it is in integers: the same everywhere.
//!
//! The file, numbers little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `TABIYAN1` |
//! | 4 | number of features, [`FEATURES`] |
//! | 4 | number of sums, [`HIDDEN`] |
//! | 4 | worth of the move in 1/[`WORTH`] centipawns |
//! | 2 × features | worth of each feature in 1/[`WORTH`] centipawns |
//! | 2 × sums | where the sums begin, in 1/[`ONE`] |
//! | 2 × sums × features | rows of a side's own features, in 1/[`ONE`] |
//! | 2 × sums × features | rows of its opponent's |
//! | 2 × sums | weights of the mover's sums, in 1/[`WEIGHT`] of [`PAWNS`] centipawns |
//! | 2 × sums | of the other side's |
//!
//! An empty file is a net that knows nothing: with it the program can be compiled to train
//! another, when the features or the number of sums have changed.

use shakmaty::Chess;

pub use super::features::{FEATURES, PLACES, features, place};

/// Sums of each side's view.
pub const HIDDEN: usize = 64;
/// What 1 is in the sums.
pub const ONE: i32 = 255;
/// What 1 is in the weights of the sums.
pub const WEIGHT: i32 = 2048;
/// The largest weight of a sum: beyond it their total might not hold.
pub const WEIGHT_MAX: i16 = 8191;
/// Parts of a centipawn that features' own worth is counted in.
pub const WORTH: i32 = 16;
/// What the weighed sums are multiplied with to be centipawns.
pub const PAWNS: i32 = 400;
/// How a file begins.
pub const MAGIC: [u8; 8] = *b"TABIYAN1";

/// No position is worth more without a search.
const MOST: i32 = 10_000;
/// Squares of sums lose so many bits, so that they fit 16.
const SQUARE_SHIFT: u32 = 7;

/// The net, checked and unpacked when this is compiled.
#[allow(long_running_const_eval)]
static NET: Net = decode(BYTES);

const BYTES: &[u8] = include_bytes!("net.bin");

/// A short name of the net, which is another for every other net.
pub(super) fn name() -> String {
    let mut name = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(BYTES));
    name.truncate(8);
    name
}

type Row = [i16; HIDDEN];

struct Net {
    tempo: i32,
    worth: [i16; FEATURES],
    start: Row,
    rows: [[Row; FEATURES]; 2],
    out: [Row; 2],
}

/// The value of a position in centipawns, from the view of the side to move.
pub(super) fn evaluate(pos: &Chess) -> i32 {
    let mut sums = [NET.start; 2];
    let mut worth = NET.tempo;
    features(pos, |movers, feature| {
        let (own, other) = (usize::from(!movers), usize::from(movers));
        let [ours, theirs] = &NET.rows;
        add(&mut sums[own], &ours[feature]);
        add(&mut sums[other], &theirs[feature]);
        let counts = i32::from(NET.worth[feature]);
        worth += if movers { counts } else { -counts };
    });
    let [ours, theirs] = &sums;
    let weighed = i64::from(weigh(ours, &NET.out[0]) + weigh(theirs, &NET.out[1]));
    let one = i64::from((ONE * ONE) >> SQUARE_SHIFT) * i64::from(WEIGHT);
    let value = (weighed * i64::from(PAWNS) / one) as i32 + worth / WORTH;
    value.clamp(-MOST, MOST)
}

/// Saturating, so that a position such as nobody has seen gives a poor value but no nonsense.
fn add(sums: &mut Row, row: &Row) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum = sum.saturating_add(*weight);
    }
}

fn weigh(sums: &Row, weights: &Row) -> i32 {
    let weighed = sums.iter().zip(weights).map(|(&sum, &weight)| {
        let sum = i32::from(sum.clamp(0, ONE as i16));
        ((sum * sum) >> SQUARE_SHIFT) * i32::from(weight)
    });
    weighed.sum()
}

/// Reads the file; one that does not fit the program does not compile.
const fn decode(bytes: &[u8]) -> Net {
    let mut net = Net {
        tempo: 0,
        worth: [0; FEATURES],
        start: [0; HIDDEN],
        rows: [[[0; HIDDEN]; FEATURES]; 2],
        out: [[0; HIDDEN]; 2],
    };
    if bytes.is_empty() {
        return net;
    }
    let mut at = 0;
    while at < MAGIC.len() {
        assert!(bytes[at] == MAGIC[at], "not a net");
        at += 1;
    }
    let (n_features, n_sums);
    (n_features, at) = int(bytes, at);
    (n_sums, at) = int(bytes, at);
    assert!(n_features == FEATURES as i32 && n_sums == HIDDEN as i32, "a net of another shape");
    (net.tempo, at) = int(bytes, at);
    (net.worth, at) = shorts(bytes, at);
    (net.start, at) = shorts(bytes, at);
    let mut idx = 0;
    while idx < 2 * FEATURES {
        (net.rows[idx / FEATURES][idx % FEATURES], at) = shorts(bytes, at);
        idx += 1;
    }
    (net.out[0], at) = shorts(bytes, at);
    (net.out[1], at) = shorts(bytes, at);
    assert!(at == bytes.len(), "more or less than a net");
    idx = 0;
    while idx < 2 * HIDDEN {
        let weight = net.out[idx / HIDDEN][idx % HIDDEN];
        assert!(-WEIGHT_MAX <= weight && weight <= WEIGHT_MAX, "a weight is too large");
        idx += 1;
    }
    net
}

const fn int(bytes: &[u8], at: usize) -> (i32, usize) {
    (i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]), at + 4)
}

const fn shorts<const N: usize>(bytes: &[u8], mut at: usize) -> ([i16; N], usize) {
    let mut shorts = [0; N];
    let mut idx = 0;
    while idx < N {
        shorts[idx] = i16::from_le_bytes([bytes[at], bytes[at + 1]]);
        (idx, at) = (idx + 1, at + 2);
    }
    (shorts, at)
}
