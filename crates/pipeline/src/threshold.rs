//! What is good enough: the one rule that says which lines make the book, and for whom.

use serde::Serialize;
use shakmaty::Color;
use tabiya_model::{Evaluation, Line, Score};
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
        let judged = scored.into_iter().filter_map(|line| judge(line, &section).transpose());
        let kept = judged.collect::<Result<Vec<Kept>, Error>>()?;
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

fn judge(scored: Scored, section: &Threshold) -> Result<Option<Kept>, Error> {
    let Scored { line, verdict } = scored;
    let winner = line.outcome.winner();
    let (credit, score) = match verdict {
        LineVerdict::SetAside => (None, None),
        LineVerdict::Unasked => (Some(winner.map_or(Credit::Both, Credit::One)), None),
        LineVerdict::Score(evaluation) => {
            let credit = match winner {
                Some(winner) => {
                    let winners = winner.fold_wb(evaluation, -evaluation);
                    wins(winners, section)?.then_some(Credit::One(winner))
                }
                None => draws(evaluation.score, section),
            };
            (credit, Some(evaluation.score))
        }
    };
    Ok(credit.map(|credit| Kept { line, credit, score }))
}

/// Who is credited with a drawn line, `score` being from White's view; nobody: it is not good
/// enough.
fn draws(score: Score, section: &Threshold) -> Option<Credit> {
    match section.draws {
        Draws::BetterSide => {
            let least = Score::Cp(section.draw_min_cp);
            let better = if score >= Score::DRAWN { Color::White } else { Color::Black };
            (better.fold_wb(score, -score) > least).then_some(Credit::One(better))
        }
        Draws::Balanced => match score {
            Score::Cp(cp) => {
                (cp.unsigned_abs() <= section.draw_max_cp.unsigned_abs()).then_some(Credit::Both)
            }
            Score::MateIn(_) | Score::MatedIn(_) => None,
        },
    }
}

/// Whether the winner stands well enough, and not too well when there is a band. A mate is above
/// every number of centipawns, and in no band of them; by chances it is a certain win.
fn wins(winners: Evaluation, section: &Threshold) -> Result<bool, Error> {
    let Some(least) = section.win_min_wdl else {
        let (score, most) = (winners.score, section.win_max_cp.map(Score::Cp));
        return Ok(score > Score::Cp(section.win_min_cp) && most.is_none_or(|most| score <= most));
    };
    let expected = winners.expected().ok_or(Error::NoChances)?;
    Ok(expected > least && section.win_max_wdl.is_none_or(|most| expected <= most))
}

#[cfg(test)]
mod tests {
    use tabiya_model::{Outcome, Start, Wdl};

    use super::*;

    /// Who is credited with a line of this outcome, `score` being from White's view.
    fn credit(
        winner: Option<Color>,
        score: impl Into<Evaluation>,
        section: &Threshold,
    ) -> Option<Credit> {
        let outcome = winner.map_or(Outcome::Draw, |it| it.fold_wb(Outcome::White, Outcome::Black));
        let line = Line { start: Start::Standard, moves: [].into(), outcome };
        let verdict = LineVerdict::Score(score.into());
        judge(Scored { line, verdict }, section).unwrap().map(|kept| kept.credit)
    }

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
    fn chances_are_the_winners_and_mates_are_certain() {
        let section = Threshold { win_min_wdl: Some(600), ..Threshold::default() };
        let of = |wdl: [u16; 3]| Evaluation {
            score: Score::Cp(-900),
            wdl: Wdl::new(wdl[0], wdl[1], wdl[2]),
        };
        let white = |score: Evaluation| credit(Some(Color::White), score, &section).is_some();
        let black = |score: Evaluation| credit(Some(Color::Black), score, &section).is_some();
        assert!(white(of([202, 798, 0])) && !white(of([200, 800, 0])), "strictly above");
        assert!(black(of([0, 798, 202])) && !black(of([202, 798, 0])));
        let mate = |moves| Evaluation::from(Score::MateIn(moves));
        assert!(white(mate(40)) && !white(-mate(40)) && black(-mate(0)) && !black(mate(0)));
        // Whatever stands beside a mate.
        assert!(!white(Evaluation { score: Score::MatedIn(2), ..of([999, 1, 0]) }));
        assert!(!white(Evaluation::DRAWN));

        let band = Threshold { win_max_wdl: Some(700), ..section };
        let kept = |score: Evaluation| credit(Some(Color::White), score, &band).is_some();
        assert!(kept(of([400, 600, 0])) && !kept(of([402, 598, 0])));
        assert!(!kept(mate(3)) && !kept(-mate(3)));
    }

    #[test]
    fn centipawns_are_no_chances() {
        let section = Threshold { win_min_wdl: Some(600), ..Threshold::default() };
        let judged = wins(Score::Cp(900).into(), &section);
        assert!(matches!(judged, Err(Error::NoChances)), "{judged:?}");
        // Drawn lines are judged by centipawns.
        assert!(credit(None, Score::Cp(101), &section).is_some());
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
