//! Engines as people have met them, each with what is to come of it: `tests/cases/ENG-*`.
//!
//! What a whole run does with them is tested at the command line.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tabiya_scorer::{EngineSpec, Limit, Pool, Pov, Scorer, ScorerError};

use crate::fake::{after, texts, three};

struct Case {
    engine: PathBuf,
    expected: Value,
}

fn case(id: &str) -> Case {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join(id);
    let text = fs::read_to_string(folder.join("expected.json")).unwrap();
    Case { engine: folder.join("engine.py"), expected: serde_json::from_str(&text).unwrap() }
}

impl Case {
    fn spec(&self) -> EngineSpec {
        EngineSpec::new([&self.engine], Limit::Depth(4))
    }

    /// With little patience, for an engine that wants none.
    fn hurried(&self) -> EngineSpec {
        EngineSpec { timeout: Duration::from_millis(300), ..self.spec() }
    }

    async fn scores(&self, spec: EngineSpec) -> Vec<String> {
        let pool = Pool::start(spec, 2).await.unwrap();
        let verdicts = texts(&pool.score(three()).await.unwrap());
        pool.shutdown().await;
        verdicts
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_no_score() {
    let case = case("ENG-01");
    let error = case.expected["error"].as_str().unwrap();
    assert_eq!(case.scores(case.hurried()).await, [error; 3]);
}

#[tokio::test]
async fn what_cannot_start_is_named_with_its_exit_code() {
    let case = case("ENG-03");
    let error = Pool::start(case.spec(), 2).await.err().unwrap();
    assert_eq!(error.name(), case.expected["error"]);
    let code = format!("exit code {}", case.expected["exit_code"]);
    for part in ["ENG-03/engine.py", &code, "cannot run on this machine"] {
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// Each process of it answers its first search during the second, so none is kept that long.
#[tokio::test]
async fn a_late_answer_is_booked_for_no_position() {
    let case = case("ENG-05");
    let (never, cp) = (&case.expected["never_cp"], &case.expected["cp"]);
    for score in case.scores(case.hurried()).await {
        assert_ne!(score, format!("cp {never}"));
        assert!(score == format!("cp {cp}") || score == "ENGINE_TIMEOUT", "{score}");
    }
}

#[tokio::test]
async fn scores_are_read_through_odd_bytes_and_floods() {
    for id in ["ENG-07", "ENG-15"] {
        let case = case(id);
        let score = format!("cp {}", case.expected["cp"]);
        assert_eq!(case.scores(case.spec()).await, [score.as_str(); 3], "{id}");
    }
}

#[tokio::test]
async fn mates_are_those_of_the_side_to_move() {
    let case = case("ENG-09");
    let pool = Pool::start(case.spec(), 1).await.unwrap();
    let scores = texts(&pool.score(vec![after(""), after("e4")]).await.unwrap());
    let text = |fact: &str| case.expected[fact].as_str().unwrap().replace('+', "");
    assert_eq!(scores[0], text("start"));
    assert!(text("after_e4").starts_with(&scores[1]), "{scores:?}");
}

/// The engine of the case knows 1. d4, and its mate, by the moves that lead there alone, and it is
/// sent positions.
#[tokio::test]
async fn a_view_is_as_declared() {
    let case = case("ENG-11");
    for (pov, fact) in [(Pov::Auto, "default"), (Pov::White, "white_pov_option")] {
        let mut spec = case.spec();
        spec.pov = pov;
        let pool = Pool::start(spec, 1).await.unwrap();
        let scores = texts(&pool.score(vec![after(""), after("e4")]).await.unwrap());
        for (score, place) in scores.iter().zip(["start", "e4"]) {
            // As in "stm +60".
            let text = case.expected[fact][place].as_str().unwrap().replace('+', "");
            assert_eq!(*score, text.replace("stm", "cp"), "{fact} {place}");
        }
    }
}

#[tokio::test]
async fn a_move_without_a_score_is_no_score() {
    let case = case("ENG-13");
    let reason = case.expected["reason"].as_str().unwrap();
    assert_eq!(case.scores(case.spec()).await, [reason; 3]);
}

#[tokio::test]
async fn what_is_not_there_or_no_program_is_an_engine_that_cannot_start() {
    let folder = case("ENG-03").engine.with_file_name("");
    for name in ["none.py", "expected.json"] {
        let spec = EngineSpec::new([folder.join(name)], Limit::Depth(4));
        let error = Pool::start(spec, 2).await.err().unwrap();
        assert!(matches!(error, ScorerError::EngineStart { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}
