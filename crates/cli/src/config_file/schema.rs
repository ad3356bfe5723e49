//! Holds what was written against the JSON Schema of the configuration.
//!
//! The schema comes from the structs, so names, types, ranges and choices stand in one place. This
//! knows the part of JSON Schema that those structs make use of.

use std::{collections::BTreeMap, str::FromStr};

use serde_json::Value as Json;
use tabiya_pipeline::config::{ByteSize, Config, Period};

use super::{
    problem::Problem,
    tree::{Node, Value, join},
};

/// The JSON Schema of a configuration file.
pub(crate) fn of_config() -> Json {
    schemars::schema_for!(Config).to_value()
}

/// Everything about `tree` that the schema forbids.
pub(super) fn check(root: &Json, tree: &Node) -> Vec<Problem> {
    let mut walk = Walk { root, problems: Vec::new() };
    walk.value(root, tree, "");
    walk.problems
}

/// The part of the schema that is about a dotted key.
pub(super) fn at<'a>(root: &'a Json, key: &str) -> Option<&'a Json> {
    key.split('.').try_fold(root, |schema, name| {
        let schema = resolve(root, schema);
        schema
            .get("properties")
            .and_then(|properties| properties.get(name))
            .or_else(|| schema.get("items"))
            .or_else(|| schema.get("additionalProperties").filter(|more| more.is_object()))
            .map(|schema| resolve(root, schema))
    })
}

/// Whether nothing but text is wanted.
pub(super) fn is_text(schema: &Json) -> bool {
    type_of(schema) == "string"
}

/// Follows `$ref` to what it names.
fn resolve<'a>(root: &'a Json, schema: &'a Json) -> &'a Json {
    match schema.get("$ref").and_then(Json::as_str).and_then(|name| name.strip_prefix('#')) {
        Some(pointer) => root.pointer(pointer).map_or(schema, |target| resolve(root, target)),
        None => schema,
    }
}

/// The type; of an optional value the one that is not null.
fn type_of(schema: &Json) -> &str {
    let named = |name: &Json| name != "null";
    match schema.get("type") {
        Some(Json::Array(types)) => types.iter().find(|name| named(name)).and_then(Json::as_str),
        Some(name) => name.as_str(),
        None => None,
    }
    .unwrap_or_default()
}

/// The texts that a choice allows, if it is one.
fn constants(schema: &Json) -> Option<Vec<&str>> {
    schema.get("oneOf")?.as_array()?.iter().map(|one| one.get("const")?.as_str()).collect()
}

struct Walk<'a> {
    root: &'a Json,
    problems: Vec<Problem>,
}

impl<'a> Walk<'a> {
    fn report(&mut self, node: &Node, key: &str, message: String) {
        self.problems.push(Problem::new(node.place, key, message));
    }

    fn value(&mut self, schema: &'a Json, node: &Node, key: &str) {
        let schema = resolve(self.root, schema);
        if let Some(known) = constants(schema) {
            return self.choice(&known, node, key);
        }
        if let Some(Json::Array(alternatives)) = schema.get("anyOf") {
            return self.any_of(alternatives, node, key);
        }
        match (type_of(schema), &node.value) {
            ("object", Value::Table(members)) => self.table(schema, node, members, key),
            ("array", Value::Array(items)) => self.array(schema, items, key),
            ("boolean", Value::Scalar(toml::Value::Boolean(_))) => {}
            ("string", _) => self.text(schema, node, key),
            ("integer" | "number", _) => self.number(schema, node, key),
            _ => self.wrong_type(schema, node, key),
        }
    }

    fn table(
        &mut self,
        schema: &'a Json,
        node: &Node,
        members: &BTreeMap<String, Node>,
        key: &str,
    ) {
        let more = schema.get("additionalProperties").filter(|more| more.is_object());
        for (name, member) in members {
            let key = join(key, name);
            match schema.get("properties").and_then(|known| known.get(name)).or(more) {
                Some(schema) => self.value(schema, member, &key),
                None => self.report(member, &key, self.unknown(schema, name)),
            }
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        for name in required.filter_map(Json::as_str).filter(|name| !members.contains_key(*name)) {
            let wanted = schema
                .pointer(&format!("/properties/{name}"))
                .map(|schema| listed(&self.wanted(schema), "or"))
                .unwrap_or_default();
            self.report(node, &join(key, name), format!("missing: it must be {wanted}"));
        }
    }

    /// Says of a key that there is none of that name, and which one may be meant.
    fn unknown(&self, schema: &Json, name: &str) -> String {
        let known = names(schema);
        if let Some(near) = nearest(name, &known) {
            return format!("unknown key: did you mean {near}?");
        }
        let sections = names(self.root);
        let home = sections.iter().find(|section| {
            at(self.root, section).is_some_and(|section| names(section).contains(&name))
        });
        match home {
            Some(section) => format!("unknown key here: it belongs in [{section}]"),
            None => format!("unknown key: there are {}", listed(&known, "and")),
        }
    }

    fn array(&mut self, schema: &'a Json, items: &[Node], key: &str) {
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.value(schema, item, &join(key, &index.to_string()));
            }
        }
    }

    fn choice(&mut self, known: &[&str], node: &Node, key: &str) {
        let list = listed(&quoted(known), "or");
        match &node.value {
            Value::Scalar(toml::Value::String(text)) if known.contains(&text.as_str()) => {}
            Value::Scalar(toml::Value::String(text)) => {
                let meant = nearest(text, known)
                    .map(|near| format!(": did you mean \"{near}\"?"))
                    .unwrap_or_default();
                self.report(node, key, format!("{text:?} is not {list}{meant}"));
            }
            _ => self.report(node, key, format!("{} is not {list}", shown(node))),
        }
    }

    fn any_of(&mut self, alternatives: &'a [Json], node: &Node, key: &str) {
        let mut same_type = None;
        // Whoever wants an optional value to be nothing leaves it out: TOML has no null.
        let alternatives = || alternatives.iter().filter(|schema| type_of(schema) != "null");
        for schema in alternatives() {
            let mut attempt = Walk { root: self.root, problems: Vec::new() };
            attempt.value(schema, node, key);
            if attempt.problems.is_empty() {
                return;
            }
            if attempt.problems.iter().all(|problem| problem.key != key) {
                same_type = Some(attempt.problems);
            }
        }
        // An alternative that takes the whole and dislikes a part is the one that was meant.
        match same_type {
            Some(problems) => self.problems.extend(problems),
            None => {
                let wanted: Vec<String> =
                    alternatives().flat_map(|schema| self.wanted(schema)).collect();
                let hint = array_hint(node).map(|hint| format!(": a command is written {hint}"));
                let hint = hint.filter(|_| wanted.iter().any(|wanted| wanted.contains("array")));
                let wanted = listed(&wanted, "or");
                let message =
                    format!("{} is not {wanted}{}", shown(node), hint.unwrap_or_default());
                self.report(node, key, message);
            }
        }
    }

    fn text(&mut self, schema: &Json, node: &Node, key: &str) {
        let unit = |text: &str| match schema.get("format").and_then(Json::as_str) {
            Some("byte-size") => ByteSize::from_str(text).err().map(|error| error.to_string()),
            Some("period") => Period::from_str(text).err().map(|error| error.to_string()),
            _ => None,
        };
        match &node.value {
            Value::Scalar(toml::Value::String(text)) => {
                if let Some(message) = unit(text) {
                    self.report(node, key, message);
                }
            }
            _ => match unit(&shown(node)) {
                Some(message) => self.report(node, key, message),
                None => self.wrong_type(schema, node, key),
            },
        }
    }

    fn number(&mut self, schema: &Json, node: &Node, key: &str) {
        let whole = type_of(schema) == "integer";
        let number = match &node.value {
            Value::Scalar(toml::Value::Integer(number)) => *number as f64,
            Value::Scalar(toml::Value::Float(number)) if !whole => *number,
            Value::Huge(number) => {
                return self.report(node, key, format!("{number} is too large"));
            }
            _ => return self.wrong_type(schema, node, key),
        };
        let bound = |name| schema.get(name).and_then(Json::as_f64);
        let (min, max) = (bound("minimum"), bound("maximum"));
        // Written so that NaN is outside.
        let inside = min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
        if !inside || number.is_nan() {
            let range = match (min, max) {
                (Some(min), Some(max)) => format!("from {min} to {max}"),
                (Some(min), None) => format!("at least {min}"),
                (None, Some(max)) => format!("at most {max}"),
                (None, None) => "a number".to_owned(),
            };
            let unit = unit(key).map(|unit| format!(", in {unit}")).unwrap_or_default();
            self.report(node, key, format!("{} is out of range: write {range}{unit}", shown(node)));
        }
    }

    fn wrong_type(&mut self, schema: &Json, node: &Node, key: &str) {
        let wanted = listed(&self.wanted(schema), "or");
        let hint = match type_of(schema) {
            "integer" | "number" => unit(key).map(|unit| format!(": it is in {unit}")),
            "string" => Some(format!(": write {:?}", shown(node)))
                .filter(|_| matches!(node.value, Value::Scalar(_))),
            "array" => array_hint(node).map(|hint| format!(": write {hint}")),
            _ => None,
        };
        let message = format!("{} is not {wanted}{}", shown(node), hint.unwrap_or_default());
        self.report(node, key, message);
    }

    /// What a value may be, in words.
    fn wanted(&self, schema: &Json) -> Vec<String> {
        let schema = resolve(self.root, schema);
        if let Some(known) = constants(schema) {
            return quoted(&known);
        }
        let items = schema.get("items").map(|items| type_of(resolve(self.root, items)));
        let kind = match (type_of(schema), items) {
            ("array", Some("object")) => "an array of tables, each under [[double brackets]]",
            ("array", _) => "an array",
            ("object", _) => "a table",
            ("string", _) => "text in quotes",
            ("integer", _) => "a whole number",
            ("number", _) => "a number",
            _ => "true or false",
        };
        vec![kind.to_owned()]
    }
}

/// The unit a key is in, by its name.
fn unit(key: &str) -> Option<&'static str> {
    match key.rsplit('.').next().unwrap_or(key) {
        name if name.ends_with("_wdl") => Some("expected score per mille, 500 for even"),
        name if name.ends_with("_cp") => Some("centipawns, 100 to a pawn"),
        "plies" => Some("half-moves, 24 for twelve moves of each side"),
        "depth" => Some("half-moves of search"),
        "nodes" => Some("positions searched"),
        "max_reject_percent" | "min_share" => Some("percent"),
        "min_elo" => Some("rating points"),
        _ => None,
    }
}

/// A value as it was written, or its kind if it is long.
fn shown(node: &Node) -> String {
    match &node.value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Scalar(value) => value.to_string(),
        Value::Huge(number) => number.clone(),
    }
}

/// A lone text, made an array.
fn array_hint(node: &Node) -> Option<String> {
    match &node.value {
        Value::Scalar(toml::Value::String(text)) => Some(format!("[{text:?}]")),
        _ => None,
    }
}

fn names(schema: &Json) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// The known name that `name` is most likely a slip of, if any.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let slips = |known: &&str| strsim::damerau_levenshtein(&name.to_lowercase(), known);
    let near = known.iter().copied().min_by_key(slips)?;
    (slips(&near) <= (name.chars().count() / 3).max(1)).then_some(near)
}

fn quoted(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| format!("{text:?}")).collect()
}

/// `a, b or c`
fn listed<T: AsRef<str>>(items: &[T], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [init @ .., end] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} {last} {}", init.join(", "), end.as_ref())
        }
    }
}
