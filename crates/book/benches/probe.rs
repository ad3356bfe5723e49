//! How long look-ups take, against PolyGlot's: `cargo xtask bench probe`.
//!
//! A book of 300,000 entries from generated games, written as PolyGlot and as `.sob` with each
//! codec. Half of the keys asked for are in it. PolyGlot's reader finds its pages in memory, as in
//! a mapped file, so this is its fastest; it counts as 1.

#![allow(clippy::unwrap_used)] // what fails ends the measurement

use std::{collections::BTreeMap, fs, hint::black_box, path::Path, time::Instant};

use shakmaty::Position;
use tabiya_book::{
    BookWriter, polyglot,
    sob::{self, Codec},
};
use tabiya_model::{PackedMove, PositionKey};
use tabiya_testkit::{Mix, Rng, generate};

const ENTRIES: usize = 300_000;
const PLIES: usize = 24;
/// Games at a time.
const GAMES: usize = 1000;
/// Of each row the median counts.
const ROUNDS: usize = 5;

type Moves = BTreeMap<PackedMove, u16>;

fn contents() -> BTreeMap<PositionKey, Moves> {
    let mut book: BTreeMap<PositionKey, Moves> = BTreeMap::new();
    let mut entries = 0;
    for seed in 1.. {
        for game in generate(seed, GAMES, Mix::CLEAN) {
            let mut position = game.start;
            for &m in game.moves.iter().take(PLIES) {
                let moves = book.entry(PositionKey::of(&position)).or_default();
                let games = moves.entry(PackedMove::new(m)).or_default();
                entries += usize::from(*games == 0);
                *games = games.saturating_add(1);
                if entries == ENTRIES {
                    return book;
                }
                position.play_unchecked(m);
            }
        }
    }
    book
}

fn write(folder: &Path, book: &BTreeMap<PositionKey, Moves>) {
    let mut bin = Box::new(polyglot::Writer::create(folder.join("book.bin")).unwrap());
    for (&key, moves) in book {
        let moves: Vec<_> = moves.iter().map(|(&m, &games)| (m, games, 0)).collect();
        bin.weighted(key, &moves).unwrap();
    }
    bin.finish().unwrap();
    for codec in CODECS {
        let options = sob::Options::new(codec);
        let mut sob =
            Box::new(sob::Writer::create(folder.join(codec.to_string()), options).unwrap());
        for (&key, moves) in book {
            let rank = |games: u16| games.min(15) as u8;
            let moves: Vec<_> = moves.iter().map(|(&m, &games)| (m, rank(games))).collect();
            sob.ranked(key, &moves).unwrap();
        }
        sob.finish().unwrap();
    }
}

const CODECS: [Codec; 4] = [Codec::Stored, Codec::Compact, Codec::Lzma, Codec::Zstd];

/// Nanoseconds a look-up.
fn time(keys: &[PositionKey], mut probe: impl FnMut(PositionKey) -> usize) -> f64 {
    let mut rounds: Vec<f64> = (0..=ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            let found: usize = keys.iter().map(|&key| probe(key)).sum();
            black_box(found);
            begin.elapsed().as_nanos() as f64 / keys.len() as f64
        })
        // The first one only warms up.
        .skip(1)
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn row(name: &str, time: f64, one: f64, goal: Option<f64>) {
    let ratio = time / one;
    let verdict = match goal {
        Some(goal) if ratio > goal => format!("{goal}  missed"),
        Some(goal) => goal.to_string(),
        None => String::new(),
    };
    println!("{name:34} {time:>10.0} {ratio:>8.2}  {verdict}");
}

fn main() {
    let book = contents();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &book);
    let stored: Vec<PositionKey> = book.keys().copied().collect();
    let mut rng = Rng::new(1);
    let mut probes = |count: usize, keys: &[PositionKey]| -> Vec<PositionKey> {
        let (first, last) = (keys[0].0, keys[keys.len() - 1].0);
        (0..count)
            .map(|number| match number % 2 {
                0 => keys[rng.below(keys.len())],
                // One that lies among them.
                _ => PositionKey(first + rng.bits() % (last - first)),
            })
            .collect()
    };
    // In no order, so that nearly every one needs another block than the one before.
    let (many, few) = (probes(100_000, &stored), probes(2_000, &stored));
    let together = probes(100_000, &stored[stored.len() / 2..][..300]);

    println!("{ENTRIES} entries of {} positions\n", stored.len());
    println!("{:34} {:>10} {:>8}  goal", "look-ups at random", "ns", "ratio");
    let bin = polyglot::Reader::open(folder.path().join("book.bin")).unwrap();
    let one = time(&many, |key| {
        let mut found = 0;
        bin.each_move(key, |_, weight| found += usize::from(weight)).unwrap();
        found
    });
    row("PolyGlot", one, one, None);
    for codec in CODECS {
        let path = folder.path().join(codec.to_string());
        let ask = |book: &sob::Reader, keys: &[PositionKey]| {
            time(keys, |key| {
                let mut found = 0;
                book.each_word(key, |word| found += usize::from(word.rank())).unwrap();
                found
            })
        };
        let usual = sob::Reader::open(&path).unwrap();
        let frugal = sob::Reader::open(&path).unwrap().with_memory(0);
        let (cold_goal, usual_goal) = match codec {
            Codec::Stored => (None, Some(2.0)),
            Codec::Compact => (Some(60.0), None),
            _ => (None, None),
        };
        let warm_goal = (codec == Codec::Compact).then_some(3.0);
        row(&format!(".sob {codec}"), ask(&usual, &many), one, usual_goal);
        row(&format!(".sob {codec}, every block decoded"), ask(&frugal, &few), one, cold_goal);
        row(&format!(".sob {codec}, one block"), ask(&frugal, &together), one, warm_goal);
    }
    let bytes = |path: &Path| fs::metadata(path).unwrap().len();
    println!("\nbook.bin has {} bytes", bytes(&folder.path().join("book.bin")));
}
