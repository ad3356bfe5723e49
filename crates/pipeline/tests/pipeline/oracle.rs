//! The books of the pipeline are those of the oracle, and the same bytes however they are made.

use std::{collections::BTreeMap, path::Path};

use tabiya_book::Policy;
use tabiya_model::Outcome;
use tabiya_pipeline::{
    Context,
    config::{self, ByteSize, Engine, Format},
};
use tabiya_testkit::{
    Draws, Game, LineEnd, Mix, Rules, Short, Style, Weight, generate, oracle, pseudo_score, render,
    select,
};

use crate::bench::{Bench, Double, files};

type Weights = BTreeMap<(u64, u16), u32>;

/// A PolyGlot book as a map.
fn read(path: &Path) -> Weights {
    let mut weights = Weights::new();
    let book = tabiya_book::open(path).unwrap();
    book.walk(&mut |entry| {
        let twice = weights.insert((entry.key.0, entry.word), entry.weight);
        assert_eq!(twice, None, "an entry stands twice");
        Ok(())
    })
    .unwrap();
    weights
}

/// Rules that reach into every corner, one after the other.
fn rule_sets() -> Vec<Rules> {
    let all = vec![Outcome::White, Outcome::Black, Outcome::Draw];
    let plain =
        Rules { outcomes: all.clone(), short: Short::Keep, both_sides: true, ..Rules::default() };
    vec![
        Rules::default(),
        Rules { line_end: LineEnd::Fixed, short: Short::Drop, ..Rules::default() },
        Rules { plies: 23, win_min_cp: -50, win_max_cp: Some(200), ..Rules::default() },
        Rules { win_min_wdl: Some(550), ..Rules::default() },
        Rules { plies: 15, win_min_wdl: Some(400), win_max_wdl: Some(620), ..Rules::default() },
        Rules { line_end: LineEnd::Fixed, ..plain.clone() },
        Rules { plies: 13, dedupe: true, ..plain },
        Rules {
            outcomes: all.clone(),
            draws: Draws::BetterSide,
            draw_min_cp: 30,
            ..Rules::default()
        },
        Rules { outcomes: all, draws: Draws::Balanced, setup_positions: true, ..Rules::default() },
    ]
}

fn configure(bench: &mut Bench, rules: &Rules, engine: bool) {
    let config = &mut bench.config;
    config.filter.outcomes = rules.outcomes.clone();
    config.filter.plies = rules.plies as u16;
    config.filter.line_end = match rules.line_end {
        LineEnd::WinnerToMove => config::LineEnd::WinnerToMove,
        LineEnd::Fixed => config::LineEnd::Fixed,
    };
    config.filter.short = match rules.short {
        Short::Mate => config::Short::Mate,
        Short::Drop => config::Short::Drop,
        Short::Keep => config::Short::Keep,
    };
    config.filter.dedupe = rules.dedupe;
    config.filter.setup_positions = rules.setup_positions;
    config.threshold.win_min_cp = rules.win_min_cp;
    config.threshold.win_max_cp = rules.win_max_cp;
    config.threshold.win_min_wdl = rules.win_min_wdl;
    config.threshold.win_max_wdl = rules.win_max_wdl;
    config.threshold.draws = match rules.draws {
        Draws::BetterSide => config::Draws::BetterSide,
        Draws::Balanced => config::Draws::Balanced,
    };
    config.threshold.draw_min_cp = rules.draw_min_cp;
    config.threshold.draw_max_cp = rules.draw_max_cp;
    if rules.both_sides {
        config.aggregate.sides = config::Sides::Both;
    }
    if engine {
        config.score.engine = Engine::Command(vec!["double".to_owned()]);
    }
}

async fn check(games: &[Game], seed: u64, rules: &Rules, engine: bool) {
    let what = format!("seed {seed}, engine {engine}, {rules:?}");
    let mut bench = Bench::new(&render(games, Style::Wild(seed)));
    configure(&mut bench, rules, engine);
    let by_games = bench.book(Format::Polyglot, "games.bin", Policy::Games);
    let by_wins = bench.book(Format::Polyglot, "wins.bin", Policy::Wins);
    let sob = bench.book(Format::Sob, "sob", Policy::Games);
    let scorer = if engine { Double::Scores { delays: false }.scorer() } else { None };
    let report = bench.run(scorer, Context::default()).await.expect(&what);

    let score = |position: &shakmaty::Chess| pseudo_score(position);
    let expected = oracle(games, rules, if engine { Some(&score) } else { None });
    assert_eq!(report.games, expected.census, "{what}");
    let lines = &report.lines;
    assert_eq!([lines.white, lines.black, lines.draw], expected.kept, "{what}");
    for (path, weight) in [(by_games, Weight::Games), (by_wins, Weight::Wins)] {
        let book = select(&expected.book, weight, 1, 0.0, 0);
        let expected: Weights = book
            .iter()
            .map(|(&(key, mv), tally)| ((key.0, mv.polyglot()), weight.of(tally) as u32))
            .collect();
        assert!(!expected.is_empty(), "{what}");
        assert_eq!(read(&path), expected, "{what}");
    }
    let sob = tabiya_book::open(&sob).unwrap();
    assert_eq!(sob.info().entries, expected.book.len() as u64, "{what}");
    assert!(sob.verify().unwrap().is_sound(), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn books_are_the_oracles() {
    for seed in 0..6 {
        let mix = if seed % 3 == 0 { Mix::CLEAN } else { Mix::ALL };
        let games = generate(seed, 300, mix);
        for rules in rule_sets() {
            for engine in [false, true] {
                check(&games, seed, &rules, engine).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn books_are_the_same_bytes_however_they_are_made() {
    let games = render(&generate(77, 1500, Mix::ALL), Style::Wild(77));
    let mut first = None;
    for (jobs, chunk, memory, delays) in [
        (1, 1 << 20, 64 << 20, false),
        (4, 1 << 10, 1, true),
        (2, 1, 1 << 20, false),
        (3, 50_000, 1, true),
    ] {
        let mut bench = Bench::new(&games);
        configure(&mut bench, &Rules { both_sides: true, ..Rules::default() }, true);
        bench.config.filter.jobs = jobs;
        bench.config.input.chunk = ByteSize(chunk);
        bench.config.aggregate.memory = ByteSize(memory);
        bench.book(Format::Polyglot, "out/book.bin", Policy::Score);
        bench.book(Format::Sob, "out/book", Policy::Score);
        bench.run(Double::Scores { delays }.scorer(), Context::default()).await.unwrap();
        let names = |(path, bytes): (std::path::PathBuf, Vec<u8>)| {
            (path.strip_prefix(bench.dir.path()).unwrap().to_owned(), bytes)
        };
        let made: Vec<_> = files(&bench.path("out")).into_iter().map(names).collect();
        assert_eq!(made.len(), 3);
        match &first {
            None => first = Some(made),
            Some(first) => assert!(*first == made, "jobs {jobs}, chunk {chunk}, memory {memory}"),
        }
    }
}
