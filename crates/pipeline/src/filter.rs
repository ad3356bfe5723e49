//! Who is wanted: the rules on tags, compiled once.

use std::fmt;

use regex::bytes::Regex;
use tabiya_model::{Outcome, Reason};

use crate::config::{EloOf, Filter, LineEnd, Short, TimeClass};

/// The filter section, ready to be asked.
#[derive(Debug)]
pub struct Rules {
    pub(crate) plies: u16,
    pub(crate) line_end: LineEnd,
    pub(crate) short: Short,
    pub(crate) setup_positions: bool,
    pub(crate) dedupe: bool,
    outcomes: Vec<Outcome>,
    conditions: Vec<Condition>,
    min_elo: u16,
    elo_of: EloOf,
    since: Option<Date>,
    until: Option<Date>,
    time_control: Vec<TimeClass>,
}

/// A value of the filter section that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter.{key}: {message}")]
pub struct RuleError {
    /// The key within `[filter]`, with the index for a list.
    pub key: String,
    /// What is wrong and what is wanted.
    pub message: String,
}

impl Rules {
    /// Compiles a filter, or says everything that is wrong with it.
    pub fn compile(filter: &Filter) -> Result<Rules, Vec<RuleError>> {
        let mut errors = Vec::new();
        let mut conditions = Vec::new();
        for (index, text) in filter.conditions.iter().enumerate() {
            match Condition::parse(text) {
                Ok(condition) => conditions.push(condition),
                Err(message) => {
                    errors.push(RuleError { key: format!("where[{index}]"), message });
                }
            }
        }
        let mut date = |key: &str, text: &str, latest: bool| match Date::parse(text, latest) {
            _ if text.is_empty() => None,
            Some(date) => Some(date),
            None => {
                let message =
                    format!("{text:?} is no date: write \"1990\", \"1990.06\" or \"1990.06.15\"");
                errors.push(RuleError { key: key.to_owned(), message });
                None
            }
        };
        let since = date("since", &filter.since, false);
        let until = date("until", &filter.until, true);
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Rules {
            plies: filter.plies,
            line_end: filter.line_end,
            short: filter.short,
            setup_positions: filter.setup_positions,
            dedupe: filter.dedupe,
            outcomes: filter.outcomes.clone(),
            conditions,
            min_elo: filter.min_elo,
            elo_of: filter.elo_of,
            since,
            until,
            time_control: filter.time_control.clone(),
        })
    }

    /// Whether games with this result count.
    pub(crate) fn wants(&self, outcome: Outcome) -> bool {
        self.outcomes.contains(&outcome)
    }

    /// Whether any rule asks about a tag, so that tags need reading at all.
    pub(crate) fn ask_tags(&self) -> bool {
        !self.conditions.is_empty()
            || self.min_elo > 0
            || self.since.is_some()
            || self.until.is_some()
            || !self.time_control.is_empty()
            || self.dedupe
    }

    /// The first rule that the tags break.
    pub(crate) fn refuse(&self, tags: &Tags) -> Option<Reason> {
        if self.min_elo > 0 && !self.elo_suffices(tags) {
            return Some(Reason::Elo);
        }
        if (self.since.is_some() || self.until.is_some()) && !self.date_fits(tags) {
            return Some(Reason::Date);
        }
        if !self.time_control.is_empty() {
            let class = time_class(tags.get(b"TimeControl"));
            if !class.is_some_and(|class| self.time_control.contains(&class)) {
                return Some(Reason::TimeControl);
            }
        }
        let broken = |condition: &Condition| !condition.holds(tags.get(&condition.tag));
        self.conditions.iter().any(broken).then_some(Reason::Where)
    }

    fn elo_suffices(&self, tags: &Tags) -> bool {
        let elo = |name: &[u8]| number(tags.get(name)).filter(|elo| *elo > 0.0);
        let (white, black) = (elo(b"WhiteElo"), elo(b"BlackElo"));
        let least = f64::from(self.min_elo);
        match self.elo_of {
            EloOf::Both => white.is_some_and(|w| w >= least) && black.is_some_and(|b| b >= least),
            EloOf::Either => white.is_some_and(|w| w >= least) || black.is_some_and(|b| b >= least),
            EloOf::Mean => white.zip(black).is_some_and(|(w, b)| (w + b) / 2.0 >= least),
        }
    }

    fn date_fits(&self, tags: &Tags) -> bool {
        let text = match tags.get(b"Date") {
            b"" => tags.get(b"UTCDate"),
            date => date,
        };
        let text = String::from_utf8_lossy(text);
        let (first, last) = (Date::parse(&text, false), Date::parse(&text, true));
        // A date of which only the year is known counts when the whole year is wanted.
        let late_enough = self.since.is_none_or(|since| first.is_some_and(|date| date >= since));
        let early_enough = self.until.is_none_or(|until| last.is_some_and(|date| date <= until));
        late_enough && early_enough
    }
}

/// The tags of one game, in order.
#[derive(Debug, Default)]
pub(crate) struct Tags(Vec<(Vec<u8>, Vec<u8>)>);

impl Tags {
    /// Adds a tag. What is not UTF-8 is taken for Latin-1, so that a name is the same in both.
    pub(crate) fn push(&mut self, name: &[u8], value: &[u8]) {
        let value = value.trim_ascii();
        let value = match std::str::from_utf8(value) {
            Ok(_) => value.to_vec(),
            Err(_) => value.iter().copied().map(char::from).collect::<String>().into_bytes(),
        };
        self.0.push((name.to_vec(), value));
    }

    /// The value of the first tag of that name; empty when there is none.
    pub(crate) fn get(&self, name: &[u8]) -> &[u8] {
        let tag = self.0.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name));
        tag.map_or(b"", |(_, value)| value)
    }
}

/// Year, month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Date(u16, u8, u8);

impl Date {
    /// Reads `1990`, `1990.06` or `1990.06.15`, also with `-` or `/`. Unknown parts (`??`) and
    /// absent ones become the first or the latest they can be.
    fn parse(text: &str, latest: bool) -> Option<Date> {
        let mut parts = text.split(['.', '-', '/']);
        let year = parts.next()?;
        let year = (year.len() == 4).then(|| year.parse().ok())??;
        let mut part = |last: u8| match parts.next().unwrap_or("??") {
            "??" => Some(if latest { last } else { 1 }),
            digits => digits.parse().ok().filter(|part| (1..=last).contains(part)),
        };
        let date = Date(year, part(12)?, part(31)?);
        parts.next().is_none().then_some(date)
    }
}

/// The class of a TimeControl tag, by the time for 40 moves.
fn time_class(tag: &[u8]) -> Option<TimeClass> {
    let text = std::str::from_utf8(tag).ok()?;
    if text == "-" {
        return Some(TimeClass::Correspondence);
    }
    // The first period decides: "40/7200:3600" is two hours for 40 moves.
    let first = text.split(':').next()?;
    if let Some((moves, seconds)) = first.split_once('/') {
        let (moves, seconds): (f64, f64) = (moves.parse().ok()?, seconds.parse().ok()?);
        let day = 86_400.0;
        if moves == 1.0 && seconds >= day {
            return Some(TimeClass::Correspondence);
        }
        return (moves > 0.0).then(|| class_of(seconds / moves * 40.0));
    }
    let (base, increment) = first.split_once('+').unwrap_or((first, "0"));
    let (base, increment): (f64, f64) = (base.parse().ok()?, increment.parse().ok()?);
    Some(class_of(base + 40.0 * increment))
}

fn class_of(seconds: f64) -> TimeClass {
    match seconds / 60.0 {
        minutes if minutes < 3.0 => TimeClass::Bullet,
        minutes if minutes < 8.0 => TimeClass::Blitz,
        minutes if minutes < 25.0 => TimeClass::Rapid,
        _ => TimeClass::Classical,
    }
}

fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// One condition on a tag. A game without the tag has it empty.
#[derive(Debug)]
struct Condition {
    tag: Vec<u8>,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Matches(Regex),
    Differs(Regex),
    Compare(Comparison, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Longer operators before those they begin with.
const OPERATORS: [(&str, Option<Comparison>); 9] = [
    ("!=", Some(Comparison::NotEqual)),
    (">=", Some(Comparison::AtLeast)),
    ("<=", Some(Comparison::AtMost)),
    ("==", Some(Comparison::Equal)),
    ("!~", None),
    ("~", None),
    ("=", Some(Comparison::Equal)),
    ("<", Some(Comparison::Less)),
    (">", Some(Comparison::Greater)),
];

impl Condition {
    fn parse(text: &str) -> Result<Condition, String> {
        let name_byte = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let text = text.trim();
        let length = text.find(|c| !name_byte(c)).unwrap_or(text.len());
        let (tag, rest) = text.split_at(length);
        let rest = rest.trim_start();
        let operator = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator));
        let (Some((operator, comparison)), false) = (operator, tag.is_empty()) else {
            return Err(format!(
                "{text:?} is no condition: write a tag, one of = != < <= > >= ~ !~, and a value, \
                 as in \"WhiteElo >= 2200\""
            ));
        };
        let value = rest[operator.len()..].trim();
        // A tag may be asked to be empty, or not to be; nothing is less or more than nothing.
        if value.is_empty() && !matches!(*operator, "=" | "==" | "!=") {
            return Err(format!("{text:?} compares with nothing: write a value behind {operator}"));
        }
        let test = match comparison {
            Some(comparison) => Test::Compare(*comparison, value.to_owned()),
            None => {
                let regex = Regex::new(value).map_err(|error| {
                    format!("{value:?} is no regular expression: {}", last_line(&error))
                })?;
                if *operator == "~" { Test::Matches(regex) } else { Test::Differs(regex) }
            }
        };
        Ok(Condition { tag: tag.as_bytes().to_vec(), test })
    }

    fn holds(&self, value: &[u8]) -> bool {
        match &self.test {
            Test::Matches(regex) => regex.is_match(value),
            Test::Differs(regex) => !regex.is_match(value),
            Test::Compare(comparison, wanted) => {
                let order = match (number(value), number(wanted.as_bytes())) {
                    (Some(value), Some(wanted)) => value.partial_cmp(&wanted),
                    // No number is neither above nor below one.
                    (None, Some(_)) if comparison.is_order() => None,
                    _ => Some(value.cmp(wanted.as_bytes())),
                };
                order.is_some_and(|order| comparison.allows(order))
            }
        }
    }
}

impl Comparison {
    fn is_order(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::NotEqual)
    }

    fn allows(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

/// The line of a regex error that says what is wrong.
fn last_line(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or(&text).trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        let mut tags = Tags::default();
        for (name, value) in pairs {
            tags.push(name.as_bytes(), value.as_bytes());
        }
        tags
    }

    #[test]
    fn conditions_compare_numbers_as_numbers() {
        let holds = |condition: &str, value: &str| {
            let condition = Condition::parse(condition).unwrap();
            condition.holds(value.as_bytes())
        };
        assert!(holds("WhiteElo >= 2200", "2200"));
        assert!(!holds("WhiteElo >= 2200", "999"));
        assert!(!holds("WhiteElo >= 2200", ""));
        assert!(!holds("WhiteElo < 2200", "?"));
        assert!(holds("Termination != time forfeit", ""));
        assert!(!holds("Termination != time forfeit", "time forfeit"));
        assert!(holds("Event !~ (?i)bullet", "Rated Blitz"));
        assert!(!holds("Event !~ (?i)bullet", "Rated BULLET game"));
        assert!(holds("Round=1.0", "1"));
        assert!(holds("ECO ~ ^B9", "B97"));
        assert!(holds("ECO >= B90", "C01"));
    }

    #[test]
    fn a_condition_that_says_nothing_is_refused() {
        for text in ["", "WhiteElo", ">= 2200", "Event ~ (", "WhiteElo is 3", "WhiteElo >="] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rules_name_what_they_refuse() {
        let filter = Filter {
            min_elo: 2000,
            since: "1990".into(),
            until: "1995.06".into(),
            time_control: vec![TimeClass::Blitz],
            conditions: vec!["Event != x".into()],
            ..Filter::default()
        };
        let rules = Rules::compile(&filter).unwrap();
        let refuse = |elo: &str, date: &str, time: &str, event: &str| {
            let pairs = [
                ("WhiteElo", elo),
                ("BlackElo", "2500"),
                ("Date", date),
                ("TimeControl", time),
                ("Event", event),
            ];
            rules.refuse(&tags(&pairs))
        };
        assert_eq!(refuse("2000", "1995.06.30", "180+2", ""), None);
        assert_eq!(refuse("1999", "1995.06.30", "180+2", ""), Some(Reason::Elo));
        assert_eq!(refuse("?", "1995.06.30", "180+2", ""), Some(Reason::Elo));
        assert_eq!(refuse("2000", "1995.07.01", "180+2", ""), Some(Reason::Date));
        assert_eq!(refuse("2000", "1995.??.??", "180+2", ""), Some(Reason::Date));
        assert_eq!(refuse("2000", "1994.??.??", "180+2", ""), None);
        assert_eq!(refuse("2000", "", "180+2", ""), Some(Reason::Date));
        assert_eq!(refuse("2000", "1994", "60", ""), Some(Reason::TimeControl));
        assert_eq!(refuse("2000", "1994", "180", "x"), Some(Reason::Where));
    }

    #[test]
    fn time_controls_have_classes() {
        for (text, class) in [
            ("60+0", Some(TimeClass::Bullet)),
            ("180+2", Some(TimeClass::Blitz)),
            ("600", Some(TimeClass::Rapid)),
            ("40/7200:3600", Some(TimeClass::Classical)),
            ("1/259200", Some(TimeClass::Correspondence)),
            ("-", Some(TimeClass::Correspondence)),
            ("?", None),
            ("", None),
        ] {
            assert_eq!(time_class(text.as_bytes()), class, "{text}");
        }
    }

    #[test]
    fn all_errors_are_said_together() {
        let filter = Filter {
            since: "soon".into(),
            until: "1990.13".into(),
            conditions: vec!["x".into(), "A ~ [".into()],
            ..Filter::default()
        };
        let keys: Vec<String> =
            Rules::compile(&filter).unwrap_err().into_iter().map(|error| error.key).collect();
        assert_eq!(keys, ["where[0]", "where[1]", "since", "until"]);
    }
}
