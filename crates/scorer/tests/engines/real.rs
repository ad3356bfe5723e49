//! The pool with engines that people use, each with ways of its own.

use std::time::Duration;

use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer, ScorerError, Verdict};

use crate::fake::{after, texts, wandering};

/// Program, package, and what it calls itself.
type Known = (&'static [&'static str], &'static str, &'static str);

const STOCKFISH: Known = (&["stockfish"], "stockfish", "Stockfish");
const FAIRY: Known = (&["fairy-stockfish"], "fairy-stockfish", "Fairy-Stockfish");
const ETHEREAL: Known = (&["ethereal-chess"], "ethereal-chess", "Ethereal");
const TOGA: Known = (&["toga2"], "toga2", "Toga II");
const GLAURUNG: Known = (&["glaurung"], "glaurung", "Glaurung");
const GNUCHESS: Known = (&["gnuchess", "--uci"], "gnuchess", "GNU Chess");

async fn start((command, package, _): Known, limit: Limit, engines: usize) -> Pool {
    match Pool::start(EngineSpec::new(command, limit), engines).await {
        Ok(pool) => pool,
        Err(error @ ScorerError::EngineStart { .. }) => {
            panic!("{error}\ninstall it with: apt-get install {package}")
        }
        Err(error) => panic!("{error}"),
    }
}

/// Scores with one engine, with two, and backwards: all the same, and none is missing.
async fn is_reproducible(engine: Known) {
    let positions = wandering(40);
    let mut runs: Vec<Vec<Verdict>> = Vec::new();
    for engines in [1, 2] {
        let pool = start(engine, Limit::Depth(4), engines).await;
        assert!(pool.identity().name.contains(engine.2), "{}", pool.identity());
        runs.push(pool.score(positions.clone()).await.unwrap());
        let backwards = positions.iter().rev().cloned().collect();
        runs.push(pool.score(backwards).await.unwrap().into_iter().rev().collect());
        assert_eq!((pool.health().set_aside, pool.health().restarts), (0, 0));
        pool.shutdown().await;
        assert_eq!(pool.health().alive, 0);
    }
    for run in &runs[1..] {
        assert_eq!(texts(run), texts(&runs[0]));
    }
}

#[tokio::test]
async fn stockfish_is_reproducible() {
    is_reproducible(STOCKFISH).await;
}

#[tokio::test]
async fn fairy_stockfish_is_reproducible() {
    is_reproducible(FAIRY).await;
}

#[tokio::test]
async fn ethereal_is_reproducible() {
    is_reproducible(ETHEREAL).await;
}

#[tokio::test]
async fn toga_is_reproducible() {
    is_reproducible(TOGA).await;
}

#[tokio::test]
async fn glaurung_is_reproducible() {
    is_reproducible(GLAURUNG).await;
}

#[tokio::test]
async fn gnu_chess_is_reproducible_and_may_crash_when_told_to_quit() {
    is_reproducible(GNUCHESS).await;
}

/// All of them see what is wrong with 1. f3 e5 2. g4, and whose mate it is.
#[tokio::test]
async fn a_mate_is_a_mate_for_the_side_to_move() {
    for engine in [STOCKFISH, FAIRY, ETHEREAL, TOGA, GLAURUNG, GNUCHESS] {
        let pool = start(engine, Limit::Depth(6), 1).await;
        let verdicts = pool.score(vec![after("f3 e5 g4")]).await.unwrap();
        assert_eq!(texts(&verdicts), ["mate 1"], "{}", engine.2);
    }
}

/// Toga II and GNU Chess search on after `go nodes`; that is found out before the run.
#[tokio::test]
async fn a_limit_that_an_engine_ignores_is_refused() {
    for (command, _, name) in [TOGA, GNUCHESS] {
        match Pool::start(EngineSpec::new(command, Limit::Nodes(1000)), 1).await {
            Err(error @ ScorerError::NodesIgnored { .. }) => {
                assert!(error.to_string().contains(name), "{error}");
            }
            Err(error) => panic!("{name}: {error}"),
            Ok(_) => panic!("{name} keeps to its nodes"),
        }
    }
    for engine in [STOCKFISH, FAIRY, ETHEREAL, GLAURUNG] {
        let pool = start(engine, Limit::Nodes(1000), 1).await;
        assert!(pool.score(vec![after("e4")]).await.unwrap()[0].score().is_some());
    }
}

#[tokio::test]
async fn a_limit_by_time_is_kept_by_those_who_ignore_nodes() {
    for engine in [TOGA, GNUCHESS] {
        let pool = start(engine, Limit::Movetime(Duration::from_millis(20)), 2).await;
        let verdicts = pool.score(wandering(20)).await.unwrap();
        assert!(verdicts.iter().all(|verdict| verdict.score().is_some()), "{}", engine.2);
    }
}
