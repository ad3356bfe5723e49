//! The pool with a strong, well-behaved engine.

use tabiya_scorer::{EngineSpec, Limit, Pool, Scorer, ScorerError, Verdict};

use crate::fake::{after, position, wandering};

async fn stockfish(limit: Limit, engines: usize) -> Pool {
    match Pool::start(EngineSpec::new(["stockfish"], limit), engines).await {
        Ok(pool) => pool,
        Err(error @ ScorerError::EngineStart { .. }) => {
            panic!("{error}\ninstall Stockfish with: apt-get install stockfish")
        }
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn scores_do_not_depend_on_the_run_or_on_the_number_of_engines() {
    let positions = wandering(60);
    let mut runs: Vec<Vec<Verdict>> = Vec::new();
    for engines in [1, 1, 2] {
        let pool = stockfish(Limit::Depth(6), engines).await;
        runs.push(pool.score(positions.clone()).await.unwrap());
        pool.shutdown().await;
    }
    // Nor on the order.
    let pool = stockfish(Limit::Depth(6), 2).await;
    let backwards = positions.iter().rev().cloned().collect();
    runs.push(pool.score(backwards).await.unwrap().into_iter().rev().collect());

    assert!(runs[0].iter().all(|verdict| verdict.score().is_some()));
    for run in &runs[1..] {
        assert_eq!(run, &runs[0]);
    }
}

#[tokio::test]
async fn a_queen_and_a_mate_are_seen_from_the_side_to_move() {
    let pool = stockfish(Limit::Nodes(5000), 1).await;
    let positions = vec![
        position("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"),
        position("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        after("f3 e5 g4"),
    ];
    let verdicts = pool.score(positions).await.unwrap();
    let numbers: Vec<i32> =
        verdicts.iter().map(|verdict| verdict.score().unwrap().to_number()).collect();
    assert!(numbers[0] < -300 && numbers[1] > 300, "{numbers:?}");
    assert_eq!(verdicts[2].score().unwrap().to_string(), "mate 1");
    assert!(pool.identity().to_string().starts_with("uci ucinewgame; Stockfish"));
    assert!(pool.identity().to_string().ends_with("; nodes 5000"));
}
