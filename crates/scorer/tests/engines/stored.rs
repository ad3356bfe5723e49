//! `scores.db` between real engines and whoever asks.

use std::{path::Path, sync::Arc, time::Duration};

use tabiya_model::{Score, Wdl};
use tabiya_scorer::{
    EngineSpec, Evaluation, Health, Limit, Pool, Pov, ScoreStore, Scorer, ScorerError, Stored,
    StoredPosition, Verdict,
};

use crate::fake::{Fake, after, position, texts, wandering};

async fn stored(fake: &Fake, folder: &Path) -> Stored<Pool> {
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    Stored::new(pool, ScoreStore::open(folder.join("scores.db")).unwrap())
}

/// How many scores the file holds, of all engines.
fn count(folder: &Path) -> u64 {
    let store = ScoreStore::open(folder.join("scores.db")).unwrap();
    store.holdings().unwrap().iter().map(|holdings| holdings.scores).sum()
}

#[tokio::test]
async fn a_second_run_asks_no_engine() {
    let (fake, folder) = (Fake::new("normal"), tempfile::tempdir().unwrap());
    let mut positions = wandering(200);
    // Nobody needs to store what the board says.
    positions.push(after("f3 e5 g4 Qh4"));
    let first = stored(&fake, folder.path()).await;
    let verdicts = first.score(positions.clone()).await.unwrap();
    let asked = first.health().scored;
    assert!(first.health().stored + asked >= 200, "{:?}", first.health());
    drop(first);
    let second = stored(&fake, folder.path()).await;
    assert_eq!(second.score(positions).await.unwrap(), verdicts);
    assert_eq!(second.health(), Health { engines: 2, alive: 2, stored: 200, ..Health::default() });
    assert_eq!(count(folder.path()), asked);
}

#[tokio::test]
async fn another_limit_is_another_engine() {
    let (mut fake, folder) = (Fake::new("normal"), tempfile::tempdir().unwrap());
    for (depth, scores) in [(4, 1), (5, 2), (4, 2)] {
        fake.spec.limit = Limit::Depth(depth);
        stored(&fake, folder.path()).await.score(vec![after("e4")]).await.unwrap();
        assert_eq!(count(folder.path()), scores);
    }
}

#[tokio::test]
async fn scores_by_time_are_stored_and_those_set_aside_are_not() {
    let (mut fake, folder) = (Fake::new("hang-on"), tempfile::tempdir().unwrap());
    fake.spec.limit = Limit::Movetime(Duration::from_millis(10));
    let batch = vec![after("e4"), after("e4 c5"), after("d4")];
    let first = stored(&fake, folder.path()).await;
    let expected = ["cp 1", "ENGINE_TIMEOUT", "cp 1"];
    assert_eq!(texts(&first.score(batch.clone()).await.unwrap()), expected);
    assert_eq!(count(folder.path()), 2);
    // It is tried again, and may have a score this time.
    assert_eq!(texts(&first.score(batch).await.unwrap()), expected);
    assert_eq!((first.health().stored, first.health().set_aside), (2, 2));
}

#[tokio::test]
async fn answers_are_stored_while_others_are_still_out() {
    let (mut fake, folder) = (Fake::new("slow"), tempfile::tempdir().unwrap());
    fake.spec.timeout = Duration::from_secs(60);
    let stored = Arc::new(stored(&fake, folder.path()).await);
    let batch = wandering(1000);
    let task = tokio::spawn({
        let stored = Arc::clone(&stored);
        async move { stored.score(batch).await }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (scored, kept) = (stored.health().scored, count(folder.path()));
    assert!(!task.is_finished() && scored > 10, "{scored}");
    // Half a second of two engines that take 50 ms.
    assert!(kept + 20 >= scored, "{kept} of {scored} are stored");
    task.abort();
}

#[tokio::test]
async fn what_was_answered_before_the_engine_failed_is_kept() {
    let (fake, folder) = (Fake::new("no-score-after-20"), tempfile::tempdir().unwrap());
    let stored = stored(&fake, folder.path()).await;
    let result = stored.score(wandering(300)).await;
    assert!(matches!(result, Err(ScorerError::GaveUp { .. })), "{result:?}");
    assert_eq!(count(folder.path()), stored.health().scored);
    assert!(stored.health().scored > 0);
}

#[tokio::test]
async fn damage_ends_the_scoring() {
    let (fake, folder) = (Fake::new("normal"), tempfile::tempdir().unwrap());
    let path = folder.path().join("scores.db");
    let first = stored(&fake, folder.path()).await;
    first.score(vec![after("e4")]).await.unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE scores SET value = 99", []).unwrap();
    let error = first.score(vec![after("e4"), after("d4")]).await.unwrap_err();
    assert_eq!(error.name(), "SCORES");
    assert!(error.to_string().contains("scores.db: damaged"), "{error}");
    let knight_up = "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 7 20";
    assert_eq!(texts(&first.score(vec![position(knight_up)]).await.unwrap()), ["cp 11"]);
}

#[tokio::test]
async fn chances_are_stored_with_their_score() {
    let folder = tempfile::tempdir().unwrap();
    let positions = wandering(20);
    let mut runs = Vec::new();
    for scored in [20, 0] {
        let spec = EngineSpec::new(["stockfish"], Limit::Depth(4));
        let pool = Pool::start(spec, 2).await.unwrap();
        let store = ScoreStore::open(folder.path().join("scores.db")).unwrap();
        let stored = Stored::new(pool, store);
        runs.push(stored.score(positions.clone()).await.unwrap());
        assert_eq!(stored.health().scored, scored);
    }
    assert_eq!(runs[0], runs[1]);
    for verdict in &runs[0] {
        let Verdict::Score(Evaluation { score, wdl: Some(wdl) }) = verdict else {
            panic!("{verdict:?}");
        };
        // Who stands better is more likely to win.
        let better = wdl.expected() >= 500;
        assert!(score.to_number().abs() < 60 || better == (*score > Score::DRAWN), "{verdict:?}");
    }
}

/// Scores from before anybody needed chances are asked again, once, and only then.
#[tokio::test]
async fn scores_without_chances_are_asked_again_where_they_are_needed() {
    let (fake, folder) = (Fake::new("chances"), tempfile::tempdir().unwrap());
    let batch = || vec![after("e4"), after("d4"), after("f3 e5 g4 Qh4")];
    let engine = stored(&fake, folder.path()).await.identity().to_string();
    let mut store = ScoreStore::open(folder.path().join("scores.db")).unwrap();
    let old = |position: &_, score: Score| (StoredPosition::of(position), score.into());
    let scores = [old(&after("e4"), Score::Cp(77)), old(&after("d4"), Score::MateIn(9))];
    store.store(&engine, &scores).unwrap();
    drop(store);
    for (needed, asked, expected) in [
        (false, 0, ["cp 77", "mate 9", "mate -0"]),
        // A mate says enough.
        (true, 1, ["cp 1", "mate 9", "mate -0"]),
        (true, 0, ["cp 1", "mate 9", "mate -0"]),
    ] {
        let scorer = stored(&fake, folder.path()).await.with_chances(needed);
        let verdicts = scorer.score(batch()).await.unwrap();
        assert_eq!(
            (texts(&verdicts), scorer.health().scored),
            (expected.map(str::to_owned).to_vec(), asked)
        );
        let said =
            |verdict: &Verdict| matches!(verdict, Verdict::Score(it) if it.expected().is_some());
        assert!(!needed || verdicts.iter().all(said), "{verdicts:?}");
    }
    assert_eq!(count(folder.path()), 2);
}

#[tokio::test]
async fn whites_chances_are_turned_round_like_its_score() {
    let mut fake = Fake::new("chances");
    fake.spec.pov = Pov::White;
    let pool = Pool::start(fake.spec.clone(), 1).await.unwrap();
    let verdicts = pool.score(vec![after(""), after("e4")]).await.unwrap();
    let wdl = |[win, draw, loss]: [u16; 3]| Wdl::new(win, draw, loss);
    let expected = [(1, wdl([120, 800, 80])), (-1, wdl([80, 800, 120]))];
    for (verdict, (cp, wdl)) in verdicts.iter().zip(expected) {
        assert_eq!(*verdict, Verdict::Score(Evaluation { score: Score::Cp(cp), wdl }));
    }
    assert_eq!(fake.count("setoption name UCI_ShowWDL value true"), 1);
}
