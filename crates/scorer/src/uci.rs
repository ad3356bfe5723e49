//! What a line of UCI says.
//!
//! Pure and lenient: engines pad, mumble and misspell, so whatever is not understood is nothing.
//! Only the first word makes a `bestmove`, and what follows `string` is never read.

use shakmaty::uci::UciMove;
use tabiya_model::{Score, Wdl};

use crate::Evaluation;

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// `id name …`
    Name(String),
    /// `option name …`
    Option(Announced),
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `info …`
    Info(Info),
    /// `bestmove …`
    BestMove(BestMove),
    /// Anything else.
    Other,
}

/// The parts of an `info` line that matter to a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Info {
    pub(crate) score: Option<Score>,
    /// The chances of a win, a draw and a loss.
    pub(crate) wdl: Option<Wdl>,
    /// The score is only known to be at least or at most this.
    pub(crate) bounded: bool,
    /// Which of several lines of play; the first is the best.
    pub(crate) multipv: Option<u32>,
    pub(crate) nodes: Option<u64>,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BestMove {
    Move(UciMove),
    /// One of the ways to say that there is none.
    Null,
    /// Something that is no move.
    Garbled,
}

/// An option as the engine announces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) default: String,
}

/// What an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Check,
    Spin { min: i64, max: i64 },
    Combo(Vec<String>),
    Button,
    String,
}

/// The score of a search so far.
///
/// With node limits the last line is often only a bound, so the last exact score of the first
/// line of play counts, and a bound only where there is nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Best {
    exact: Option<Evaluation>,
    bounded: Option<Evaluation>,
}

impl Best {
    pub(crate) fn see(&mut self, info: &Info) {
        let Some(score) = info.score else { return };
        if info.multipv.is_some_and(|line| line > 1) {
            return;
        }
        let evaluation = Evaluation { score, wdl: info.wdl };
        match info.bounded {
            true => self.bounded = Some(evaluation),
            false => self.exact = Some(evaluation),
        }
    }

    pub(crate) fn evaluation(&self) -> Option<Evaluation> {
        self.exact.or(self.bounded)
    }
}

/// Reads a line.
pub(crate) fn parse(line: &str) -> Message {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("info") => Message::Info(info(words)),
        Some("bestmove") => Message::BestMove(best_move(words.next())),
        Some("readyok") => Message::ReadyOk,
        Some("uciok") => Message::UciOk,
        Some("option") => announced(words).map_or(Message::Other, Message::Option),
        Some("id") if words.next() == Some("name") => Message::Name(join(words)),
        _ => Message::Other,
    }
}

/// Values of keys that do not matter are skipped like unknown words: none of them is a key.
fn info<'a>(mut words: impl Iterator<Item = &'a str>) -> Info {
    let mut info = Info::default();
    while let Some(word) = words.next() {
        match word {
            "string" => break,
            "cp" => info.score = number(words.next()).map(Score::Cp).or(info.score),
            "mate" => info.score = number(words.next()).map(Score::from_uci_mate).or(info.score),
            "wdl" => info.wdl = wdl(&mut words).or(info.wdl),
            "lowerbound" | "upperbound" => info.bounded = true,
            "multipv" => info.multipv = number(words.next()).or(info.multipv),
            "nodes" => info.nodes = number(words.next()).or(info.nodes),
            _ => {}
        }
    }
    info
}

fn wdl<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Wdl> {
    Wdl::new(number(words.next())?, number(words.next())?, number(words.next())?)
}

fn number<T: std::str::FromStr>(word: Option<&str>) -> Option<T> {
    word?.parse().ok()
}

fn best_move(word: Option<&str>) -> BestMove {
    // Some write promotions in capitals.
    let word = word.unwrap_or_default().to_ascii_lowercase();
    match word.as_str() {
        // The last is what Ethereal, Toga and GNU Chess say.
        "" | "(none)" | "none" | "null" | "0000" | "a1a1" => BestMove::Null,
        _ => word.parse().map_or(BestMove::Garbled, BestMove::Move),
    }
}

/// `name <words> type <kind> [default <words>] [min n] [max n] [var <words>]…`
fn announced<'a>(words: impl Iterator<Item = &'a str>) -> Option<Announced> {
    let fields = fields(words);
    let field =
        |key| fields.iter().find(|(found, _)| *found == key).map(|(_, value)| value.as_str());
    let kind = match field("type")? {
        "check" => Kind::Check,
        "spin" => Kind::Spin {
            min: number(field("min")).unwrap_or(i64::MIN),
            max: number(field("max")).unwrap_or(i64::MAX),
        },
        "combo" => {
            let vars = fields.iter().filter(|(key, _)| *key == "var");
            Kind::Combo(vars.map(|(_, value)| value.clone()).collect())
        }
        "button" => Kind::Button,
        "string" => Kind::String,
        _ => return None,
    };
    let name = field("name").filter(|name| !name.is_empty())?.to_owned();
    Some(Announced { name, kind, default: field("default").unwrap_or_default().to_owned() })
}

/// Each keyword with the words up to the next.
fn fields<'a>(words: impl Iterator<Item = &'a str>) -> Vec<(&'a str, String)> {
    let mut fields: Vec<(&str, String)> = Vec::new();
    for word in words {
        match (word, fields.last_mut()) {
            ("name" | "type" | "default" | "min" | "max" | "var", _) => {
                fields.push((word, String::new()));
            }
            (_, Some((_, value))) => {
                if !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(word);
            }
            (_, None) => {}
        }
    }
    fields
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(line: &str) -> Info {
        match parse(line) {
            Message::Info(info) => info,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn scores() {
        let table = [
            ("info depth 5 score cp 41 pv e2e4", Some(Score::Cp(41)), false),
            ("info score cp -51 upperbound nodes 7", Some(Score::Cp(-51)), true),
            ("info lowerbound depth 3 score cp 20", Some(Score::Cp(20)), true),
            ("info score lowerbound cp 20", Some(Score::Cp(20)), true),
            ("info depth 13 score mate 5", Some(Score::MateIn(5)), false),
            ("info score mate -3 wdl 0 0 1000", Some(Score::MatedIn(3)), false),
            ("info score mate -0", Some(Score::MatedIn(0)), false),
            ("  info   score\tcp  +7 \r", Some(Score::Cp(7)), false),
            ("info wdl 900 90 10 score cp 300", Some(Score::Cp(300)), false),
            ("info depth 4 currmove e2e4 currmovenumber 1 nodes 9", None, false),
            ("info string score cp 999 lowerbound", None, false),
            ("info score cp 30 string score cp 999", Some(Score::Cp(30)), false),
            ("info score cp", None, false),
            ("info score cp x1 mate", None, false),
            ("info score cp 99999999999999", None, false),
            ("info", None, false),
        ];
        for (line, score, bounded) in table {
            let info = seen(line);
            assert_eq!((info.score, info.bounded), (score, bounded), "{line}");
        }
        assert_eq!(seen("info multipv 2 score cp 1 nodes 30009").multipv, Some(2));
        assert_eq!(seen("info multipv 2 score cp 1 nodes 30009").nodes, Some(30_009));
    }

    #[test]
    fn best_moves() {
        let table = [
            ("bestmove e2e4", "e2e4"),
            ("  bestmove e2e4 ponder e7e5  ", "e2e4"),
            ("bestmove e7e8Q\r", "e7e8q"),
        ];
        for (line, played) in table {
            let expected = BestMove::Move(played.parse().unwrap());
            assert_eq!(parse(line), Message::BestMove(expected), "{line}");
        }
        for line in
            ["bestmove", "bestmove (none)", "bestmove 0000", "bestmove NULL", "bestmove a1a1"]
        {
            assert_eq!(parse(line), Message::BestMove(BestMove::Null), "{line}");
        }
        assert_eq!(parse("bestmove Nf3"), Message::BestMove(BestMove::Garbled));
    }

    #[test]
    fn the_rest_of_the_conversation() {
        assert_eq!(parse("id name Stock fish  15.1"), Message::Name("Stock fish 15.1".to_owned()));
        assert_eq!(parse("uciok \r"), Message::UciOk);
        assert_eq!(parse(" readyok"), Message::ReadyOk);
        for line in [
            "",
            "0readyok",
            "id author me",
            "info2 score cp 3",
            "the bestmove e2e4",
            "hash=16",
            "option",
            "option name X",
            "option name X type lamp",
            "option type spin",
        ] {
            assert_eq!(parse(line), Message::Other, "{line}");
        }
    }

    #[test]
    fn options() {
        let table = [
            (
                "option name Move Overhead type spin default 10 min 0 max 5000",
                ("Move Overhead", Kind::Spin { min: 0, max: 5000 }, "10"),
            ),
            ("option name Clear Hash type button", ("Clear Hash", Kind::Button, "")),
            ("option name Ponder type check default false", ("Ponder", Kind::Check, "false")),
            (
                "option name Style type combo default Very Solid var Very Solid var Risky",
                (
                    "Style",
                    Kind::Combo(vec!["Very Solid".to_owned(), "Risky".to_owned()]),
                    "Very Solid",
                ),
            ),
            (
                "option name Debug Log File type string default",
                ("Debug Log File", Kind::String, ""),
            ),
        ];
        for (line, (name, kind, default)) in table {
            let expected = Announced { name: name.to_owned(), kind, default: default.to_owned() };
            assert_eq!(parse(line), Message::Option(expected), "{line}");
        }
    }

    #[test]
    fn the_last_exact_score_of_the_first_line_wins() {
        let score = |lines: &[&str]| {
            let mut best = Best::default();
            lines.iter().for_each(|line| best.see(&seen(line)));
            best.evaluation().map(|best| best.score)
        };
        let exact = "info depth 6 score cp 34";
        let bounded = "info depth 7 score cp -51 upperbound";
        assert_eq!(score(&[exact, bounded]), Some(Score::Cp(34)));
        assert_eq!(score(&[exact, "info depth 7 score cp 12 multipv 2"]), Some(Score::Cp(34)));
        assert_eq!(score(&[exact, "info depth 8 multipv 1 score cp 9"]), Some(Score::Cp(9)));
        assert_eq!(score(&[bounded]), Some(Score::Cp(-51)));
        assert_eq!(score(&["info depth 7 nodes 4"]), None);
    }

    #[test]
    fn chances_belong_to_the_score_beside_them() {
        let mut best = Best::default();
        best.see(&seen("info depth 6 score cp 34 wdl 120 800 80 nodes 5"));
        best.see(&seen("info depth 6 multipv 2 score cp 9 wdl 1 998 1"));
        best.see(&seen("info depth 7 score cp 50 lowerbound wdl 999 1 0"));
        let wdl = Wdl::new(120, 800, 80);
        assert_eq!(best.evaluation(), Some(Evaluation { score: Score::Cp(34), wdl }));
        for line in
            ["info score cp 1 wdl", "info score cp 1 wdl 1 2 x", "info score cp 1 wdl 9 9 9"]
        {
            assert_eq!((seen(line).score, seen(line).wdl), (Some(Score::Cp(1)), None), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "(info|option|bestmove|id)?[ -~\u{0}-\u{1f}é]{0,80}") {
            parse(&line);
        }
    }
}
