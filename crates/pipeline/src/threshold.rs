//! What is good enough: the one rule that says which lines make the book, and for whom.

use serde::Serialize;
use shakmaty::Color;
use tabiya_model::{Line, Score};
use tokio::sync::mpsc;

use crate::{
    Context, Error,
    batch::{LineVerdict, Scored},
    config::{Draws, Threshold},
};

/// A line that makes the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) line: Line,
    pub(crate) credit: Credit,
    /// From White's view; `None` when nobody was asked.
    pub(crate) score: Option<Score>,
}

/// Whose line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credit {
    One(Color),
    Both,
}

/// Lines looked at and kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// All with a verdict.
    pub seen: u64,
    /// Those that made the book.
    pub kept: u64,
    /// Of those, won by White.
    pub white: u64,
    /// Won by Black.
    pub black: u64,
    /// Drawn.
    pub draw: u64,
}

/// Hands on the lines that are good enough.
pub(crate) async fn run(
    section: Threshold,
    mut rx: mpsc::Receiver<Vec<Scored>>,
    tx: mpsc::Sender<Vec<Kept>>,
    cx: Context,
) -> Result<Lines, Error> {
    let mut lines = Lines::default();
    while let Some(scored) = rx.recv().await {
        lines.seen += scored.len() as u64;
        let kept: Vec<Kept> = scored.into_iter().filter_map(|line| judge(line, &section)).collect();
        for line in &kept {
            lines.kept += 1;
            match line.line.outcome.winner() {
                Some(Color::White) => lines.white += 1,
                Some(Color::Black) => lines.black += 1,
                None => lines.draw += 1,
            }
        }
        cx.progress.add_kept(kept.len() as u64);
        if tx.send(kept).await.is_err() {
            break;
        }
    }
    Ok(lines)
}

fn judge(scored: Scored, section: &Threshold) -> Option<Kept> {
    let Scored { line, verdict } = scored;
    let (credit, score) = match verdict {
        LineVerdict::SetAside => return None,
        LineVerdict::Unasked => (line.outcome.winner().map_or(Credit::Both, Credit::One), None),
        LineVerdict::Score(score) => (credit(line.outcome.winner(), score, section)?, Some(score)),
    };
    Some(Kept { line, credit, score })
}

/// Who is credited with a line, `score` being from White's view; `None`: it is not good enough.
fn credit(winner: Option<Color>, score: Score, section: &Threshold) -> Option<Credit> {
    match (winner, section.draws) {
        (Some(winner), _) => {
            wins(winner.fold_wb(score, -score), section).then_some(Credit::One(winner))
        }
        (None, Draws::BetterSide) => {
            let least = Score::Cp(section.draw_min_cp);
            let better = if score >= Score::DRAWN { Color::White } else { Color::Black };
            (better.fold_wb(score, -score) > least).then_some(Credit::One(better))
        }
        (None, Draws::Balanced) => match score {
            Score::Cp(cp) => {
                (cp.unsigned_abs() <= section.draw_max_cp.unsigned_abs()).then_some(Credit::Both)
            }
            Score::MateIn(_) | Score::MatedIn(_) => None,
        },
    }
}

/// Whether the winner stands well enough, and not too well when there is a band. A mate is above
/// every number of centipawns, and in no band.
fn wins(winners: Score, section: &Threshold) -> bool {
    let most = section.win_max_cp.map(Score::Cp);
    winners > Score::Cp(section.win_min_cp) && most.is_none_or(|most| winners <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wins_must_be_above_the_threshold() {
        let section = Threshold::default();
        let white = |score| credit(Some(Color::White), score, &section);
        let black = |score| credit(Some(Color::Black), score, &section);
        let one = |color| Some(Credit::One(color));
        assert_eq!(white(Score::Cp(101)), one(Color::White));
        assert_eq!(white(Score::Cp(100)), None);
        assert_eq!(white(Score::Cp(-500)), None, "a lost win is no draw");
        assert_eq!(black(Score::Cp(-101)), one(Color::Black));
        assert_eq!(black(Score::Cp(101)), None);
        assert_eq!(white(Score::MateIn(5)), one(Color::White));
        assert_eq!(white(Score::MatedIn(3)), None);
        assert_eq!(black(Score::MatedIn(0)), one(Color::Black));
    }

    #[test]
    fn a_band_holds_no_mates() {
        let section = Threshold { win_min_cp: -50, win_max_cp: Some(50), ..Threshold::default() };
        let kept = |score| credit(Some(Color::White), score, &section).is_some();
        assert!(kept(Score::Cp(-49)) && kept(Score::Cp(50)));
        for score in [Score::Cp(-50), Score::Cp(51), Score::MateIn(5), Score::MatedIn(3)] {
            assert!(!kept(score), "{score}");
        }
    }

    #[test]
    fn draws_go_to_the_better_side_or_to_both() {
        let better = Threshold::default();
        assert_eq!(credit(None, Score::Cp(101), &better), Some(Credit::One(Color::White)));
        assert_eq!(credit(None, Score::Cp(-101), &better), Some(Credit::One(Color::Black)));
        assert_eq!(credit(None, Score::Cp(100), &better), None);
        assert_eq!(credit(None, Score::MatedIn(2), &better), Some(Credit::One(Color::Black)));
        let balanced = Threshold { draws: Draws::Balanced, ..Threshold::default() };
        assert_eq!(credit(None, Score::Cp(-50), &balanced), Some(Credit::Both));
        assert_eq!(credit(None, Score::Cp(51), &balanced), None);
        assert_eq!(credit(None, Score::MateIn(1), &balanced), None);
    }
}
