//! Engines that are talked to at their prompt: the stand-in for Gaviota, and Phalanx itself.

use std::time::Duration;

use tabiya_scorer::{Console, EngineSpec, Limit, Pool, Scorer, ScorerError};

use crate::fake::{FAKEUCI, Fake, after, position, texts, three, wandering};

fn gaviota() -> Fake {
    let mut fake = Fake::new("gaviota");
    fake.spec.console = Some(Console::gaviota());
    fake
}

fn phalanx() -> EngineSpec {
    let mut spec = EngineSpec::new(["phalanx"], Limit::Depth(1));
    spec.console = Some(Console::phalanx());
    spec
}

#[tokio::test]
async fn gaviota_answers_at_its_prompt() {
    let fake = gaviota();
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    let queen_up = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let queen_down = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
    let batch = vec![after("e4"), position(queen_up), position(queen_down), after("d4")];
    let verdicts = pool.score(batch).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 11", "cp 1247", "cp -1226", "cp 11"]);
    assert_eq!(pool.health().restarts, 0);
    let identity = pool.identity().to_string();
    for part in ["console \"setboard {fen}; score\"", "of 256", "# Gaviota v1.0"] {
        assert!(identity.contains(part), "{identity}");
    }
    pool.shutdown().await;
    assert_eq!((fake.count("uci"), fake.count("go"), fake.count("quit")), (0, 0, 2));
}

#[tokio::test]
async fn the_score_of_the_position_before_is_nobodys() {
    let pool = Pool::start(gaviota().spec.clone(), 1).await.unwrap();
    let batch = vec![after("e4"), after("e4 c5"), after("e4 e5")];
    let verdicts = pool.score(batch).await.unwrap();
    assert_eq!(texts(&verdicts), ["cp 11", "NO_SCORE", "cp 11"]);
}

#[tokio::test]
async fn phalanx_answers_at_its_prompt_whatever_it_was_asked_before() {
    let positions = wandering(500);
    let mut runs = Vec::new();
    for engines in [1, 2] {
        let pool = Pool::start(phalanx(), engines)
            .await
            .unwrap_or_else(|error| panic!("{error}\ninstall it with: apt-get install phalanx"));
        runs.push(texts(&pool.score(positions.clone()).await.unwrap()));
        let backwards = positions.iter().rev().cloned().collect();
        let mut backwards = texts(&pool.score(backwards).await.unwrap());
        backwards.reverse();
        runs.push(backwards);
        assert!(pool.identity().to_string().contains("Phalanx XXV"), "{}", pool.identity());
        assert_eq!((pool.health().set_aside, pool.health().restarts), (0, 0));
        pool.shutdown().await;
    }
    assert!(runs[0].iter().all(|text| text.starts_with("cp ")));
    runs.iter().for_each(|run| assert_eq!(run, &runs[0]));
}

#[tokio::test]
async fn an_engine_of_another_kind_is_found_out() {
    // It waits for UCI, and Phalanx knows none.
    let mut spec = EngineSpec::new([FAKEUCI, "normal"], Limit::Depth(1));
    spec.console = Some(Console::gaviota());
    spec.startup = Duration::from_millis(300);
    let error = Pool::start(spec, 1).await.err().unwrap();
    assert!(error.to_string().contains("no `score.console.ready` within 0.3 s"), "{error}");
    // It gets ready, but says nothing that looks like a score.
    let mut fake = Fake::new("normal");
    let ready = String::new();
    fake.spec.console = Some(Console { ready, ..Console::gaviota() });
    let pool = Pool::start(fake.spec.clone(), 2).await.unwrap();
    assert_eq!(texts(&pool.score(three()).await.unwrap()), ["ENGINE_TIMEOUT"; 3]);
}

#[tokio::test]
async fn a_dialect_that_cannot_be_starts_nothing() {
    let mut fake = gaviota();
    fake.spec.console = Some(Console { result: "(".to_owned(), ..Console::gaviota() });
    let error = Pool::start(fake.spec.clone(), 1).await.err().unwrap();
    assert!(matches!(error, ScorerError::Console { key: "result", .. }), "{error}");
    assert_eq!(fake.count("start"), 0);
}

#[tokio::test]
async fn phalanx_counts_the_material_too() {
    let pool = Pool::start(phalanx(), 1).await.unwrap();
    let queen_up = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    let batch = ["w", "b"].map(|turn| position(&format!("{queen_up} {turn} KQkq - 0 1")));
    let verdicts = pool.score(batch.to_vec()).await.unwrap();
    let [up, down] = [0, 1].map(|index| verdicts[index].score().unwrap().to_number());
    assert!(up > 900 && down < -900, "{up} {down}");
}
