//! Which options are set.
//!
//! Defaults make scores reproducible and are set only where the engine has the option. What the
//! user asks for is set as asked or refused, never guessed.

use std::collections::BTreeMap;

use crate::{
    ScorerError,
    uci::{Announced, Kind},
};

/// Set unless the user says otherwise.
///
/// Two threads search differently from run to run. The hash is cleared before each position,
/// which costs time by its size. A book's moves come without a score. Chances are stored with the
/// score: a line may be judged by them later.
const DEFAULTS: [(&str, &str); 5] = [
    ("Threads", "1"),
    ("Hash", "4"),
    ("UCI_AnalyseMode", "true"),
    ("UCI_ShowWDL", "true"),
    ("OwnBook", "false"),
];

/// The options to set: announced name and value, threads before hash before the rest.
pub(crate) fn settings(
    engine: &str,
    announced: &[Announced],
    wanted: &BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, ScorerError> {
    let mut settings: Vec<(String, String)> = DEFAULTS
        .into_iter()
        .filter_map(|(name, value)| {
            let option = find(announced, name)?;
            Some((option.name.clone(), clamp(value, &option.kind)))
        })
        .collect();
    for (name, value) in wanted {
        let option = find(announced, name).ok_or_else(|| unknown(engine, announced, name))?;
        let value = check(engine, option, value)?;
        match settings.iter_mut().find(|(set, _)| *set == option.name) {
            Some((_, default)) => *default = value,
            None => settings.push((option.name.clone(), value)),
        }
    }
    Ok(settings)
}

/// The options that name a net: their announced default is part of what a score depends on.
pub(crate) fn nets(announced: &[Announced]) -> impl Iterator<Item = (String, String)> {
    let nets = announced.iter().filter(|option| {
        let name = option.name.to_ascii_lowercase();
        option.kind == Kind::String && (name.contains("evalfile") || name.contains("weights"))
    });
    nets.map(|option| (option.name.clone(), option.default.clone()))
}

/// The command that sets an option.
pub(crate) fn command(announced: &[Announced], name: &str, value: &str) -> String {
    match find(announced, name) {
        Some(Announced { kind: Kind::Button, .. }) => format!("setoption name {name}\n"),
        _ => format!("setoption name {name} value {value}\n"),
    }
}

/// Names do not depend on case.
fn find<'a>(announced: &'a [Announced], name: &str) -> Option<&'a Announced> {
    announced.iter().find(|option| option.name.eq_ignore_ascii_case(name.trim()))
}

fn clamp(value: &str, kind: &Kind) -> String {
    match (kind, value.parse::<i64>()) {
        // Not `clamp`, which panics when an engine announces a minimum above its maximum.
        (Kind::Spin { min, max }, Ok(number)) => number.max(*min).min(*max).to_string(),
        _ => value.to_owned(),
    }
}

fn check(engine: &str, option: &Announced, value: &str) -> Result<String, ScorerError> {
    let refused = |expected: String| ScorerError::OptionValue {
        engine: engine.to_owned(),
        option: option.name.clone(),
        value: value.to_owned(),
        expected,
    };
    if value.contains(['\n', '\r']) {
        return Err(refused("a single line".to_owned()));
    }
    match &option.kind {
        Kind::Check => match value.to_ascii_lowercase() {
            value if value == "true" || value == "false" => Ok(value),
            _ => Err(refused("true or false".to_owned())),
        },
        Kind::Spin { min, max } => match value.trim().parse::<i64>() {
            Ok(number) if (*min..=*max).contains(&number) => Ok(number.to_string()),
            _ => Err(refused(format!("a whole number from {min} to {max}"))),
        },
        Kind::Combo(vars) => match vars.iter().find(|var| var.eq_ignore_ascii_case(value)) {
            Some(var) => Ok(var.clone()),
            None => Err(refused(format!("one of {}", vars.join(", ")))),
        },
        Kind::Button | Kind::String => Ok(value.to_owned()),
    }
}

fn unknown(engine: &str, announced: &[Announced], name: &str) -> ScorerError {
    let lower = name.to_ascii_lowercase();
    let distance = |option: &&Announced| {
        strsim::damerau_levenshtein(&lower, &option.name.to_ascii_lowercase())
    };
    ScorerError::UnknownOption {
        engine: engine.to_owned(),
        option: name.to_owned(),
        nearest: announced.iter().min_by_key(distance).map(|option| option.name.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::{Message, parse};

    fn announced() -> Vec<Announced> {
        [
            "option name Hash type spin default 16 min 8 max 1024",
            "option name Threads type spin default 1 min 1 max 4",
            "option name OwnBook type check default true",
            "option name Clear Hash type button",
            "option name Style type combo default Solid var Solid var Risky",
            "option name EvalFile type string default nn-1.nnue",
        ]
        .map(|line| match parse(line) {
            Message::Option(option) => option,
            other => panic!("{other:?}"),
        })
        .to_vec()
    }

    fn set(wanted: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let wanted = wanted.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        settings("Fake", &announced(), &wanted.collect()).map_err(|error| error.to_string())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        Ok(pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    #[test]
    fn defaults_go_only_where_they_are_announced_and_fit() {
        let defaults = [("Threads", "1"), ("Hash", "8"), ("OwnBook", "false")];
        assert_eq!(set(&[]), pairs(&defaults));
        assert_eq!(settings("Fake", &[], &BTreeMap::new()).unwrap(), []);
    }

    #[test]
    fn the_user_decides_in_any_case_of_letters() {
        let set = set(&[("hash", "64"), ("style", "risky"), ("evalfile", "my net")]);
        let expected = [
            ("Threads", "1"),
            ("Hash", "64"),
            ("OwnBook", "false"),
            ("EvalFile", "my net"),
            ("Style", "Risky"),
        ];
        assert_eq!(set, pairs(&expected));
    }

    #[test]
    fn what_the_engine_does_not_take_is_refused() {
        let table = [
            (("Hsah", "1"), "the engine Fake has no option \"Hsah\"; did you mean \"Hash\"?"),
            (
                ("hash", "0"),
                "the option \"Hash\" of Fake cannot be \"0\": it takes a whole number from 8 to 1024",
            ),
            (
                ("OwnBook", "maybe"),
                "the option \"OwnBook\" of Fake cannot be \"maybe\": it takes true or false",
            ),
            (
                ("Style", "wild"),
                "the option \"Style\" of Fake cannot be \"wild\": it takes one of Solid, Risky",
            ),
            (
                ("EvalFile", "a\nquit"),
                "the option \"EvalFile\" of Fake cannot be \"a\\nquit\": it takes a single line",
            ),
        ];
        for (wanted, message) in table {
            assert_eq!(set(&[wanted]), Err(message.to_owned()));
        }
    }

    #[test]
    fn buttons_have_no_value() {
        assert_eq!(command(&announced(), "Clear Hash", ""), "setoption name Clear Hash\n");
        assert_eq!(command(&announced(), "Hash", "8"), "setoption name Hash value 8\n");
    }

    #[test]
    fn nets_are_found() {
        let nets: Vec<_> = nets(&announced()).collect();
        assert_eq!(nets, [("EvalFile".to_owned(), "nn-1.nnue".to_owned())]);
    }
}
