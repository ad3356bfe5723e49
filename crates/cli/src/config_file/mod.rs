//! Reads the configuration: a TOML file, and `--set` on top of it.
//!
//! Everything that is wrong is found before anything is done, and reported together: what was
//! written is held against the schema of the structs ([`schema`]), then against what a schema
//! cannot say ([`review`]).

mod problem;
mod review;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod tree;

use std::{collections::BTreeSet, ffi::OsString, fs, io, path::Path};

use serde::Deserialize;
use serde_json::Value as Json;
use tabiya_pipeline::config::Config;

use problem::{Place, Problem};
use tree::Node;

pub(crate) use problem::Refusal;

/// The file that is read when none is named.
pub(crate) const DEFAULT_FILE: &str = "pipeline.toml";

/// The default configuration, with a comment for each key.
pub(crate) const DEFAULT_TEXT: &str = include_str!("../../../../pipeline.toml");

/// What a configuration is for, which decides what it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// From games to books: inputs and books must be named.
    Run,
    /// A look at games that are named elsewhere; no book is written.
    Scan,
}

/// A sound configuration.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its values, with paths that hold from the current folder.
    pub(crate) config: Config,
    /// What is doubtful about it, one line each.
    pub(crate) warnings: Vec<String>,
}

/// Reads `file`, or nothing but defaults, and puts the `--set` options on top.
///
/// Relative paths in the file, and default ones, are taken from the file's folder, those of
/// options from the current one.
pub(crate) fn load(
    file: Option<&Path>,
    options: &[OsString],
    purpose: Purpose,
) -> Result<Loaded, Refusal> {
    let text = file.map_or(Ok(String::new()), read).map_err(|it| Refusal::new(file, vec![it]))?;
    let schema = schema::of_config();
    let (mut tree, mut problems) = Node::parse(&text);
    let syntax: BTreeSet<Place> = problems.iter().map(|problem| problem.place).collect();
    for option in options {
        problems.extend(apply(&mut tree, &schema, option).err());
    }
    let from_schema = schema::check(&schema, &tree);
    problems.extend(from_schema.into_iter().filter(|problem| !syntax.contains(&problem.place)));

    let (mut config, doubts) = match sound_part(&tree, &problems) {
        Ok(config) => {
            let (found, doubts) = review::review(&config, &tree, purpose);
            // A part that could not be read must not be reported as missing as well.
            let news = |new: &Problem| !problems.iter().any(|known| known.overlaps(new));
            let found: Vec<Problem> =
                found.into_iter().filter(|new| syntax.is_empty() && news(new)).collect();
            problems.extend(found);
            (config, doubts)
        }
        Err(message) => {
            if problems.is_empty() {
                problems.push(Problem::new(Place::Nowhere, "", message));
            }
            return Err(Refusal::new(file, problems));
        }
    };
    problems.extend(rebase(&mut config, &tree, file).err());
    problems.extend(file.and_then(|file| own_file(&config, file)));
    if !problems.is_empty() {
        return Err(Refusal::new(file, problems));
    }
    Ok(Loaded { config, warnings: doubts.iter().map(|doubt| doubt.describe(file)).collect() })
}

/// A book that would take the place of the configuration.
fn own_file(config: &Config, file: &Path) -> Option<Problem> {
    let own = file.canonicalize().ok()?;
    let is_own = |path: &Path| path.canonicalize().is_ok_and(|path| path == own);
    let index = config.book.iter().position(|book| is_own(&book.path))?;
    let message = "this is the configuration itself: name another path for the book";
    Some(Problem::new(Place::Nowhere, format!("book.{index}.path"), message))
}

/// The text of a configuration file.
fn read(file: &Path) -> Result<String, Problem> {
    let failed = |message: String| Problem::new(Place::Nowhere, "", message);
    let bytes = fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(
            "there is no such file: name yours with --config, or make one with `tabiya config \
             init > pipeline.toml`"
                .to_owned(),
        ),
        _ => failed(format!("cannot be read: {error}")),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let line = tree::line(error.as_bytes(), error.utf8_error().valid_up_to());
        Problem::new(
            Place::Line(line),
            "",
            "not UTF-8: save the file as UTF-8; a file whose name is not UTF-8 is reached by \
             naming its folder, or by a glob such as \"partida-*.pgn\"",
        )
    })
}

/// Puts the value of one `--set key=value` in its place.
fn apply(tree: &mut Node, schema: &Json, option: &OsString) -> Result<(), Problem> {
    let refused = |key: &str, message: &str| Problem::new(Place::Option, key, message);
    let Some(text) = option.to_str() else {
        return Err(refused(
            &option.to_string_lossy(),
            "not UTF-8, as a configuration is: name the folder of such a file, or a glob such as \
             \"partida-*.pgn\"",
        ));
    };
    let Some((key, value)) = text.split_once('=') else {
        return Err(refused(text, "no value: write --set key=value, as in --set filter.plies=24"));
    };
    let (key, value) = (key.trim(), value.trim());
    let node = match schema::at(schema, key) {
        // A date such as 1990.06 reads as a number, and is not meant as one.
        Some(schema) if schema::is_text(schema) && !value.starts_with(['"', '\'']) => {
            Node::text_of_option(value)
        }
        _ => Node::of_option(value),
    };
    if key.starts_with("score.limit.") {
        drop_written_limits(tree);
    }
    let path: Vec<&str> = key.split('.').collect();
    tree.set(&path, node).map_err(|message| refused(key, &message))
}

/// One limit of a search replaces another; two on the command line stay, to be refused.
fn drop_written_limits(tree: &mut Node) {
    if let tree::Value::Table(sections) = &mut tree.value
        && let Some(Node { value: tree::Value::Table(score), .. }) = sections.get_mut("score")
        && let Some(Node { value: tree::Value::Table(limit), .. }) = score.get_mut("limit")
    {
        limit.retain(|_, node| node.place == Place::Option);
    }
}

/// What can be read of the configuration, so that the rest of it is looked at too.
fn sound_part(tree: &Node, problems: &[Problem]) -> Result<Config, String> {
    let mut bad: BTreeSet<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
    bad.remove("");
    if bad.iter().any(|key| key.starts_with("book")) {
        bad.insert("book");
    }
    let sound = tree.to_toml("", &bad).unwrap_or_else(|| toml::Value::Table(toml::Table::new()));
    Config::deserialize(sound).map_err(|error| error.message().to_owned())
}

/// Makes the paths of the file hold from the current folder.
fn rebase(config: &mut Config, tree: &Node, file: Option<&Path>) -> Result<(), Problem> {
    let base = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let Some(base_text) = base.to_str() else {
        let message = format!(
            "its folder, {}, has a name that is not UTF-8: start the program in that folder",
            base.display()
        );
        return Err(Problem::new(Place::Nowhere, "", message));
    };
    let from_file = |key: &str| tree.get(key).is_none_or(|node| node.place != Place::Option);
    for (index, name) in config.input.files.iter_mut().enumerate() {
        let fixed = name == "-" || Path::new(name).is_absolute() || base_text.is_empty();
        if !fixed && from_file(&format!("input.files.{index}")) {
            *name = format!("{}/{name}", base_text.trim_end_matches('/'));
        }
    }
    let books = config.book.iter_mut().enumerate();
    let books = books.map(|(index, book)| (format!("book.{index}.path"), &mut book.path));
    let work = ("checkpoint.dir".to_owned(), &mut config.checkpoint.dir);
    for (_, path) in books.chain([work]).filter(|(key, _)| from_file(key)) {
        *path = base.join(&path);
    }
    Ok(())
}
