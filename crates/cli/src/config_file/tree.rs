//! A configuration as it was written: values that remember where they stand.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::{DeTable, DeValue};

use super::problem::{Place, Problem};

/// A value and its place: that of its key, or its own in an array.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Table(BTreeMap<String, Node>),
    Array(Vec<Node>),
    Scalar(toml::Value),
    /// A whole number beyond 64 bits.
    Huge(String),
}

impl Node {
    /// Reads a file as far as it can be read, and says what is wrong with its syntax.
    pub(super) fn parse(text: &str) -> (Node, Vec<Problem>) {
        let place = |offset| Place::Line(line(text.as_bytes(), offset));
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut problems: Vec<Problem> = errors
            .iter()
            .map(|error| {
                let Some(span) = error.span() else {
                    return Problem::new(Place::Nowhere, "", error.message());
                };
                let number = line(text.as_bytes(), span.start);
                let written = text.lines().nth(number - 1).unwrap_or_default().trim();
                let message = format!("{}, in `{written}`", error.message());
                Problem::new(Place::Line(number), "", message)
            })
            .collect();
        // What follows the first error of a line is mostly its echo.
        problems.sort_by_key(|problem| problem.place);
        problems.dedup_by_key(|problem| problem.place);
        (Node { place: Place::Nowhere, value: table_of(table.get_ref(), &place) }, problems)
    }

    /// Reads the value of a `--set` option: TOML, or else plain text.
    pub(super) fn of_option(text: &str) -> Node {
        let value = match DeValue::parse(text) {
            Ok(value) => value_of(value.get_ref(), &|_| Place::Option),
            Err(_) => return Node::text_of_option(text),
        };
        Node { place: Place::Option, value }
    }

    /// The value of a `--set` option taken as text.
    pub(super) fn text_of_option(text: &str) -> Node {
        Node { place: Place::Option, value: Value::Scalar(toml::Value::String(text.to_owned())) }
    }

    /// What stands at a dotted key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        key.split('.').try_fold(self, |node, name| match &node.value {
            Value::Table(members) => members.get(name),
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            Value::Scalar(_) | Value::Huge(_) => None,
        })
    }

    /// The place of a dotted key, or of the nearest table around it that was written.
    pub(super) fn place_of(&self, key: &str) -> Place {
        let mut key = key;
        loop {
            match (self.get(key), key.rsplit_once('.')) {
                (Some(node), _) => return node.place,
                (None, Some((parent, _))) => key = parent,
                (None, None) => return self.place,
            }
        }
    }

    /// Puts a value at a path, making the tables on the way.
    pub(super) fn set(&mut self, path: &[&str], value: Node) -> Result<(), String> {
        let [name, rest @ ..] = path else {
            *self = value;
            return Ok(());
        };
        match &mut self.value {
            Value::Table(members) => {
                let fresh = || fresh(rest.first().copied());
                members.entry((*name).to_owned()).or_insert_with(fresh).set(rest, value)
            }
            Value::Array(items) => {
                let count = items.len();
                let index = name.parse::<usize>().ok().filter(|&index| index <= count);
                let Some(index) = index else {
                    return Err(format!(
                        "{name:?} is no place in an array of {count}: write a number, 0 for the \
                         first and {count} to add one"
                    ));
                };
                if index == count {
                    items.push(fresh(rest.first().copied()));
                }
                items.get_mut(index).map_or(Ok(()), |item| item.set(rest, value))
            }
            Value::Scalar(_) | Value::Huge(_) => {
                Err(format!("what stands there has no part named {name:?}"))
            }
        }
    }

    /// The value without the keys that are known to be bad.
    pub(super) fn to_toml(&self, key: &str, bad: &BTreeSet<&str>) -> Option<toml::Value> {
        if bad.contains(key) {
            return None;
        }
        match &self.value {
            Value::Table(members) => {
                let members = members.iter().filter_map(|(name, node)| {
                    Some((name.clone(), node.to_toml(&join(key, name), bad)?))
                });
                Some(toml::Value::Table(members.collect()))
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(index, item)| item.to_toml(&join(key, &index.to_string()), bad))
                    .collect::<Option<_>>()
                    .map(toml::Value::Array)
            }
            Value::Scalar(value) => Some(value.clone()),
            Value::Huge(_) => None,
        }
    }
}

/// `key.name`, or `name` at the top.
pub(super) fn join(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}

/// What to make where nothing is, so that `name` can be put into it.
fn fresh(name: Option<&str>) -> Node {
    let in_array = name.is_some_and(|name| name.parse::<usize>().is_ok());
    let value = if in_array { Value::Array(Vec::new()) } else { Value::Table(BTreeMap::new()) };
    Node { place: Place::Option, value }
}

/// The line, from 1, that a byte stands on.
pub(super) fn line(text: &[u8], offset: usize) -> usize {
    1 + text.iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

fn table_of(table: &DeTable<'_>, place: &dyn Fn(usize) -> Place) -> Value {
    let members = table.iter().map(|(name, value)| {
        let node =
            Node { place: place(name.span().start), value: value_of(value.get_ref(), place) };
        (name.get_ref().to_string(), node)
    });
    Value::Table(members.collect())
}

fn value_of(value: &DeValue<'_>, place: &dyn Fn(usize) -> Place) -> Value {
    Value::Scalar(match value {
        DeValue::Table(table) => return table_of(table, place),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| Node {
                place: place(item.span().start),
                value: value_of(item.get_ref(), place),
            });
            return Value::Array(items.collect());
        }
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => toml::Value::Integer(number),
            Err(_) => return Value::Huge(number.to_string()),
        },
        // The parser has checked the form; what is too large for it becomes infinite.
        DeValue::Float(number) => toml::Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
    })
}
