//! What an engine is like, found out once before it is trusted with a run.
//!
//! What ends a run here would spoil every position: an engine that searches on after its node
//! limit, or one that says no chances where they are needed. The rest is said and goes on, since a
//! run reports whatever cannot be scored anyway.

use std::time::Duration;

use shakmaty::{CastlingMode, Chess, fen::Fen};
use tabiya_model::Score;
use tracing::warn;

use crate::{
    EngineSpec, Evaluation, Limit, Pov, ScorerError,
    engine::{Answer, Engine},
};

/// The longest a probe may take.
const LONGEST: Duration = Duration::from_secs(5);
/// Nobody stands so well at the start of the game.
const SANE_CP: i32 = 2000;
/// White is a queen up and Black is to move.
const QUEEN_UP: &str = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
/// What a queen is worth at the very least, whoever counts.
const CLEARLY: Score = Score::Cp(300);
/// Nodes to ask for, and how many are taken for the same: engines count in batches.
const NODES: u64 = 1000;
const NODES_AT_MOST: u64 = 100 * NODES;

/// Tries the engine; the answer is whose view its scores are. An engine that gets out of step is
/// replaced.
///
/// # Errors
///
/// The limit is in nodes and the engine does not keep to it, chances are needed and it says none,
/// or it does not start again.
pub(crate) async fn probe(engine: &mut Engine, spec: &EngineSpec) -> Result<Pov, ScorerError> {
    let mut pov = spec.pov;
    if let Some(start) = search(engine, spec, &Chess::default(), Limit::Depth(1)).await?
        && let Some(queen_down) = search(engine, spec, &queen_up(), Limit::Depth(4)).await?
    {
        warn_if_odd(engine.name(), score(&start));
        if pov == Pov::Auto {
            pov = view(engine.name(), score(&queen_down));
        }
        let said = |answer: &Answer| answer.evaluation.and_then(Evaluation::expected).is_some();
        if spec.chances && !said(&start) && !said(&queen_down) {
            return Err(ScorerError::NoChances { engine: engine.name().to_owned() });
        }
        check_nodes(engine, spec).await?;
    }
    Ok(if pov == Pov::White { Pov::White } else { Pov::SideToMove })
}

/// A search for the probe's own sake. `None`: the engine was lost over it.
async fn search(
    engine: &mut Engine,
    spec: &EngineSpec,
    position: &Chess,
    limit: Limit,
) -> Result<Option<Answer>, ScorerError> {
    match engine.search(position, limit, LONGEST.min(spec.timeout)).await {
        Ok(answer) => Ok(Some(answer)),
        Err(trouble) => {
            let name = engine.name();
            warn!("the engine {name} {trouble} when tried with `go {limit}`; it is started anew");
            *engine = Engine::start(spec).await?;
            Ok(None)
        }
    }
}

fn score(answer: &Answer) -> Option<Score> {
    answer.evaluation.map(|evaluation| evaluation.score)
}

fn warn_if_odd(name: &str, score: Option<Score>) {
    match score {
        None => warn!("the engine {name} gives no score for the initial position; going on"),
        Some(Score::Cp(cp)) if cp.abs() < SANE_CP => {}
        Some(score) => {
            warn!(
                "the engine {name} gives {score} for the initial position: if its centipawns are \
                 none, say so by score.cp_scale"
            );
        }
    }
}

/// The side to move is a queen down, so a score far above zero is White's view.
fn view(name: &str, score: Option<Score>) -> Pov {
    match score {
        Some(score) if score >= CLEARLY => {
            warn!(
                "the engine {name} reports from White's view: {score} a queen down; turned round"
            );
            Pov::White
        }
        Some(score) if score > -CLEARLY => {
            warn!("the engine {name} gives {score} a queen down: check whose view its scores are");
            Pov::SideToMove
        }
        _ => Pov::SideToMove,
    }
}

async fn check_nodes(engine: &mut Engine, spec: &EngineSpec) -> Result<(), ScorerError> {
    let (Limit::Nodes(_), None) = (spec.limit, &spec.console) else { return Ok(()) };
    match search(engine, spec, &Chess::default(), Limit::Nodes(NODES)).await? {
        Some(answer) if answer.stopped || answer.nodes > NODES_AT_MOST => {
            Err(ScorerError::NodesIgnored { engine: engine.name().to_owned(), asked: NODES })
        }
        _ => Ok(()),
    }
}

fn queen_up() -> Chess {
    let position = QUEEN_UP.parse::<Fen>().ok();
    position.and_then(|fen| fen.into_position(CastlingMode::Standard).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use shakmaty::{Color, Position};

    use super::*;

    #[test]
    fn the_probe_position_is_what_it_says() {
        let position = queen_up();
        assert_eq!(position.turn(), Color::Black);
        assert_eq!(position.board().queens().count(), 1);
    }

    #[test]
    fn only_a_clear_case_is_whites_view() {
        let table = [
            (Some(Score::Cp(-900)), Pov::SideToMove),
            (Some(Score::MatedIn(9)), Pov::SideToMove),
            (Some(Score::Cp(60)), Pov::SideToMove),
            (Some(Score::Cp(900)), Pov::White),
            (Some(Score::MateIn(9)), Pov::White),
            (None, Pov::SideToMove),
        ];
        for (score, pov) in table {
            assert_eq!(view("fake", score), pov, "{score:?}");
        }
    }
}
