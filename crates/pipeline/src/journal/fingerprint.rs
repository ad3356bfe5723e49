//! What a journal depends on, as one short name.
//!
//! A journal is a pure function of its inputs and of what is hashed here: the rules for games and
//! what the scores come from. Numbers that change speed or memory only are left out, and so is
//! everything right of the journal.

use std::path::Path;

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::{hex, sources::digest};
use crate::{
    Error,
    config::{Config, Engine, NamedEngine},
};

/// Changes when journals of before cannot be read any more.
const FORMAT: u32 = 2;

/// The name of a journal: 16 hex digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(pub(super) String);

impl Fingerprint {
    pub(super) fn of(config: &Config) -> Result<Fingerprint, Error> {
        let text = json!({
            "format": FORMAT,
            "max_game": config.input.max_game,
            "filter": filter(config),
            "engine": engine(config)?,
        })
        .to_string();
        let mut name = hex(xxh3_128(text.as_bytes()));
        name.truncate(16);
        Ok(Fingerprint(name))
    }
}

/// The rules for games. The order of a list of wishes does not matter.
fn filter(config: &Config) -> Value {
    let mut filter = serde_json::to_value(&config.filter).unwrap_or_default();
    if let Value::Object(keys) = &mut filter {
        keys.remove("jobs");
        keys.remove("dedupe_memory");
        for list in keys.values_mut().filter_map(Value::as_array_mut) {
            list.sort_by_key(Value::to_string);
        }
    }
    filter
}

/// What scores come from, as text: two configurations that say the same have the same engine.
pub fn engine_fingerprint(config: &Config) -> Result<String, Error> {
    Ok(engine(config)?.to_string())
}

/// What scores come from. A program is known by what it is, not by where: a new version of an
/// engine is another engine.
fn engine(config: &Config) -> Result<Value, Error> {
    let score = &config.score;
    let programs = match &score.engine {
        Engine::Named(NamedEngine::None) => return Ok(Value::Null),
        Engine::Named(NamedEngine::Builtin) => vec![tabiya_scorer::builtin::identity()],
        Engine::Command(command) => {
            let mut programs = Vec::new();
            for file in tabiya_scorer::files_of_command(command) {
                programs.push(digest(&file).map_err(Error::io(&file))?.to_string());
            }
            programs
        }
    };
    let command = match &score.engine {
        Engine::Named(_) => Value::from("builtin"),
        // The arguments; the program is known by its content.
        Engine::Command(command) => json!(command.iter().skip(1).collect::<Vec<_>>()),
    };
    // Such as a net.
    let mut files = Vec::new();
    for value in score.options.values().map(ToString::to_string) {
        let path = Path::new(&value);
        if path.is_file() {
            files.push(digest(path).map_err(Error::io(path))?.to_string());
        }
    }
    let mut section = serde_json::to_value(score).unwrap_or_default();
    if let Value::Object(keys) = &mut section {
        for speed in ["engine", "pool", "timeout", "cache"] {
            keys.remove(speed);
        }
    }
    Ok(json!({ "command": command, "programs": programs, "files": files, "section": section }))
}

/// The configuration as it is stored with a journal, to tell later what has changed.
pub(super) fn effective(config: &Config) -> Value {
    let mut value = serde_json::to_value(config).unwrap_or_default();
    if let Value::Object(sections) = &mut value {
        sections.remove("checkpoint");
    }
    value
}

/// The keys whose values differ, with both values.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    found
}

fn compare(key: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut keys: Map<String, Value> = old.clone();
            keys.extend(new.clone());
            for name in keys.keys() {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                let value = |side: &Map<String, Value>| side.get(name).cloned().unwrap_or_default();
                compare(&key, &value(old), &value(new), found);
            }
        }
        _ if old == new => {}
        _ => found.push(format!("{key}: {old} → {new}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limit;

    fn name(config: &Config) -> String {
        Fingerprint::of(config).unwrap().0
    }

    #[test]
    fn what_changes_lines_or_scores_changes_the_name_and_nothing_else_does() {
        let base = Config::default();
        let same: [fn(&mut Config); 6] = [
            |config| config.threshold.win_min_cp = 300,
            |config| config.threshold.win_min_wdl = Some(600),
            |config| config.filter.jobs = 7,
            |config| config.score.pool = 3,
            |config| config.aggregate.memory = crate::config::ByteSize::mib(1),
            |config| config.filter.outcomes.reverse(),
        ];
        for change in same {
            let mut config = base.clone();
            change(&mut config);
            assert_eq!(name(&config), name(&base));
        }
        let other: [fn(&mut Config); 6] = [
            |config| config.score.tag = "second".to_owned(),
            |config| config.score.cp_scale = 0.01,
            |config| config.filter.plies = 20,
            |config| config.filter.conditions.push("WhiteElo >= 2000".to_owned()),
            |config| config.score.limit = Limit { nodes: Some(5), depth: None, movetime: None },
            |config| config.score.engine = Engine::Named(NamedEngine::None),
        ];
        for change in other {
            let mut config = base.clone();
            change(&mut config);
            assert_ne!(name(&config), name(&base));
        }
    }

    #[test]
    fn differences_are_named_by_their_keys() {
        let (mut old, mut new) = (Config::default(), Config::default());
        old.threshold.win_max_cp = Some(300);
        new.threshold.win_min_cp = 150;
        assert_eq!(
            differences(&effective(&old), &effective(&new)),
            ["threshold.win_max_cp: 300 → null", "threshold.win_min_cp: 100 → 150"]
        );
    }
}
