//! Engines that speak no protocol but answer at a prompt.
//!
//! A dialect says what to type and what to look for. What is typed about one position is typed at
//! once, and its answer is read to the end before the next: with an `end` to look for there is no
//! doubt what belongs to what. An engine that answers late is replaced, never listened to again.

use std::fmt;

use regex::Regex;
use serde::{Deserialize, Serialize};
use shakmaty::Chess;
use tabiya_model::Score;

use crate::{ScorerError, fen::fen, units::SOME_MATE};

/// How to talk to an engine at its prompt.
///
/// In what is typed `{fen}` stands for the position and `{n}` for a number that is new each time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Console {
    /// What a line looks like that says it is ready (a regular expression); empty: not waited for.
    pub ready: String,
    /// Typed once, when it is ready.
    pub start: Vec<String>,
    /// Typed for each position.
    pub query: Vec<String>,
    /// What a line with a score looks like; the first group is the number. The numbers of several
    /// such lines in one answer are added.
    pub result: String,
    /// What a line looks like that says there is no score, whatever else is said; empty: none.
    pub refusal: String,
    /// The last line of an answer; empty: the one with the score.
    pub end: String,
    /// How much a pawn counts in its numbers.
    pub per_pawn: u32,
    /// Numbers from here on, either way, are mates; 0: none are.
    pub mate_from: u32,
    /// Typed to end it.
    pub quit: String,
}

/// Says nothing about any engine, and cannot be used as it is.
impl Default for Console {
    fn default() -> Console {
        Console {
            ready: String::new(),
            start: Vec::new(),
            query: Vec::new(),
            result: String::new(),
            refusal: String::new(),
            end: String::new(),
            per_pawn: 100,
            mate_from: 0,
            quit: "quit".to_owned(),
        }
    }
}

impl Console {
    /// Whether it makes sense.
    ///
    /// # Errors
    ///
    /// Something in it cannot be.
    pub fn check(&self) -> Result<(), ScorerError> {
        Dialect::new(self).map(drop)
    }

    /// Gaviota at its prompt. The number in brackets is in 1/256 pawn. After a position that it
    /// does not take it goes on to score the one before.
    pub fn gaviota() -> Console {
        Console {
            ready: "Type 'help' for a list of useful commands".to_owned(),
            start: Vec::new(),
            query: vec!["setboard {fen}".to_owned(), "score".to_owned()],
            result: r"^===>\s*\S+\s*\(([-+]?\d+)\)".to_owned(),
            refusal: "^(Error|tellusererror Error)".to_owned(),
            end: String::new(),
            per_pawn: 256,
            // It says -125.39 when mated: so much is no sum of pieces.
            mate_from: 32_000,
            quit: "quit".to_owned(),
        }
    }

    /// Phalanx. `ping` ends each answer. Its total evaluation leaves out the material, which stands
    /// on a line of its own.
    pub fn phalanx() -> Console {
        Console {
            ready: "^Phalanx ".to_owned(),
            start: vec!["force".to_owned()],
            query: ["setboard {fen}", "score", "ping {n}"].map(str::to_owned).to_vec(),
            result: r"(?:\(stm\) material|TOTAL EVALUATION) = ([-+]?\d+)".to_owned(),
            refusal: "^(tellusererror|Error|Illegal)".to_owned(),
            end: "pong {n}".to_owned(),
            per_pawn: 100,
            mate_from: 0,
            quit: "quit".to_owned(),
        }
    }
}

/// What scores depend on, on one line.
impl fmt::Display for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let typed: Vec<&str> = self.start.iter().chain(&self.query).map(String::as_str).collect();
        let Console { result, per_pawn, mate_from, .. } = self;
        write!(f, "console {:?}; {result:?} of {per_pawn}, mate {mate_from}", typed.join("; "))
    }
}

/// A dialect that makes sense.
#[derive(Debug)]
pub(crate) struct Dialect {
    console: Console,
    ready: Option<Regex>,
    result: Regex,
    refusal: Option<Regex>,
    /// Positions asked about.
    asked: u64,
}

/// What has been said about one position.
#[derive(Debug)]
pub(crate) struct Reply {
    end: String,
    /// The numbers heard, added up.
    sum: Option<f64>,
    refused: bool,
}

impl Dialect {
    /// # Errors
    ///
    /// Something in it cannot be.
    pub(crate) fn new(console: &Console) -> Result<Dialect, ScorerError> {
        let wrong = |key, why: String| ScorerError::Console { key, why };
        let regex = |key, text: &str| {
            Regex::new(text).map_err(|error| {
                // Its last line says what is wrong; those above draw where.
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default();
                wrong(key, format!("{text:?}: {}", why.trim_start_matches("error: ")))
            })
        };
        let some = |key, text: &str| match text {
            "" => Ok(None),
            text => regex(key, text).map(Some),
        };
        if !console.query.iter().any(|line| line.contains("{fen}")) {
            return Err(wrong("query", "no line has {fen} in it".to_owned()));
        }
        if console.per_pawn == 0 {
            return Err(wrong("per_pawn", "a pawn cannot count nothing".to_owned()));
        }
        let result = regex("result", &console.result)?;
        if result.captures_len() < 2 {
            return Err(wrong("result", "no group (…) around the number".to_owned()));
        }
        let typed = console.start.iter().chain(&console.query).chain([&console.quit]);
        if let Some(line) = typed.clone().find(|line| line.contains(['\n', '\r'])) {
            return Err(wrong("query", format!("{line:?} is more than one line")));
        }
        Ok(Dialect {
            console: console.clone(),
            ready: some("ready", &console.ready)?,
            result,
            refusal: some("refusal", &console.refusal)?,
            asked: 0,
        })
    }

    /// Whether this line is all there is to wait for at the start.
    pub(crate) fn is_ready(&self, line: &str) -> bool {
        self.ready.as_ref().is_some_and(|ready| ready.is_match(line))
    }

    /// Whether there is anything to wait for at the start.
    pub(crate) fn greets(&self) -> bool {
        self.ready.is_some()
    }

    /// What is typed once.
    pub(crate) fn start(&self) -> String {
        self.console.start.iter().map(|line| format!("{line}\n")).collect()
    }

    /// What is typed to end it.
    pub(crate) fn quit(&self) -> String {
        format!("{}\n", self.console.quit)
    }

    /// What is typed about a position, and the reply to listen to.
    pub(crate) fn ask(&mut self, position: &Chess) -> (String, Reply) {
        self.asked += 1;
        let (fen, number) = (fen(position), self.asked.to_string());
        let fill = |line: &String| line.replace("{fen}", &fen).replace("{n}", &number);
        let typed = self.console.query.iter().map(|line| fill(line) + "\n").collect();
        (typed, Reply { end: fill(&self.console.end), sum: None, refused: false })
    }

    /// Takes in a line. Whether it was the last one.
    pub(crate) fn hear(&self, reply: &mut Reply, line: &str) -> bool {
        let line = line.trim();
        if self.refusal.as_ref().is_some_and(|refusal| refusal.is_match(line)) {
            reply.refused = true;
        }
        let result = self.result.captures(line);
        if let Some(number) = result.as_ref().and_then(|groups| groups.get(1)) {
            match number.as_str().parse::<f64>() {
                Ok(number) => *reply.sum.get_or_insert(0.0) += number,
                Err(_) => reply.refused = true,
            }
        }
        match reply.end.as_str() {
            "" => result.is_some(),
            end => line == end,
        }
    }

    /// The score that was heard: hundredths of a pawn, or a mate at a distance that nobody said.
    /// None if the engine refused the position: it may have scored another one then.
    pub(crate) fn score(&self, reply: &Reply) -> Option<Score> {
        let number = reply.sum.filter(|sum| sum.is_finite() && !reply.refused)?;
        if self.console.mate_from > 0 && number.abs() >= f64::from(self.console.mate_from) {
            let mate = Score::MateIn(SOME_MATE);
            return Some(if number > 0.0 { mate } else { -mate });
        }
        let cp = (number * 100.0 / f64::from(self.console.per_pawn)).round();
        // What is outside is no evaluation.
        (cp.abs() <= 1e6).then_some(Score::Cp(cp as i32))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reply(console: Console, lines: &[&str]) -> (Option<Score>, usize) {
        let mut dialect = Dialect::new(&console).unwrap();
        let (_, mut reply) = dialect.ask(&Chess::default());
        let last = lines.iter().position(|line| dialect.hear(&mut reply, line));
        (dialect.score(&reply), last.map_or(0, |last| last + 1))
    }

    #[test]
    fn gaviota_counts_in_256ths_and_mates_are_mates() {
        let table = [
            ("===> 0.11 (27)", Some(Score::Cp(11))),
            ("===> 12.47 (3192)", Some(Score::Cp(1247))),
            ("===> -12.26 (-3138)", Some(Score::Cp(-1226))),
            ("===> -125.39 (-32100)", Some(Score::MatedIn(SOME_MATE))),
            ("===> 125.39 (32100)", Some(Score::MateIn(SOME_MATE))),
            ("===> 0.00 (99999999999999999999999999)", Some(Score::MateIn(SOME_MATE))),
        ];
        for (line, score) in table {
            assert_eq!(reply(Console::gaviota(), &["", "# a comment", line]), (score, 3), "{line}");
        }
    }

    #[test]
    fn a_refused_position_has_no_score() {
        let lines = ["Error (wrong FEN or EPD): x", "tellusererror Error: x", "===> 0.11 (27)"];
        assert_eq!(reply(Console::gaviota(), &lines), (None, 3));
        let lines = ["tellusererror no book file", "===> 0.11 (27)"];
        assert_eq!(reply(Console::gaviota(), &lines), (Some(Score::Cp(11)), 2));
        let lines = ["tellusererror Illegal position", " TOTAL EVALUATION = 19", "pong 1"];
        assert_eq!(reply(Console::phalanx(), &lines), (None, 3));
    }

    #[test]
    fn numbers_of_one_answer_are_added_and_its_end_is_its_own() {
        let lines = [
            " (stm) material = 350",
            " TOTAL EVALUATION = -20",
            "pong 0",
            "[ black, 1 ]",
            "pong 1",
            "x",
        ];
        assert_eq!(reply(Console::phalanx(), &lines), (Some(Score::Cp(330)), 5));
        assert_eq!(reply(Console::phalanx(), &["pong 1"]), (None, 1));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        type Spoil = fn(&mut Console);
        let table: [(Spoil, &str); 5] = [
            (|console| console.query = vec!["score".to_owned()], "query"),
            (|console| console.result = "===> .*".to_owned(), "result"),
            (|console| console.result = "(".to_owned(), "result"),
            (|console| console.per_pawn = 0, "per_pawn"),
            (|console| console.start = vec!["a\nb".to_owned()], "query"),
        ];
        for (spoil, named) in table {
            let mut console = Console::gaviota();
            spoil(&mut console);
            match Dialect::new(&console) {
                Err(ScorerError::Console { key, .. }) => assert_eq!(key, named),
                other => panic!("{other:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "(===>|TOTAL EVALUATION =)?[ -~é\u{0}-\u{1f}]{0,60}") {
            reply(Console::gaviota(), &[&line]);
            reply(Console::phalanx(), &[&line]);
        }
    }
}
