//! Which crate may know which: ARCHITECTURE.md's arrows, held against `cargo metadata`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "these are tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// Each crate with the others of this workspace that it may use. Arrows point down.
const ARROWS: [(&str, &[&str]); 9] = [
    ("tabiya-model", &[]),
    ("tabiya-book", &["tabiya-model"]),
    ("tabiya-scorer", &["tabiya-model"]),
    ("tabiya-scorer-nats", &["tabiya-model", "tabiya-scorer"]),
    ("tabiya-pipeline", &["tabiya-model", "tabiya-book", "tabiya-scorer"]),
    // It is given what it shows: it must not be able to touch a run.
    ("tabiya-web", &["tabiya-model", "tabiya-book"]),
    ("tabiya-testkit", &["tabiya-model"]),
    (
        "tabiya",
        &[
            "tabiya-model",
            "tabiya-book",
            "tabiya-scorer",
            "tabiya-scorer-nats",
            "tabiya-pipeline",
            "tabiya-web",
        ],
    ),
    ("tabiya-xtask", &["tabiya-model", "tabiya-book", "tabiya-scorer", "tabiya-testkit"]),
];

/// Packages with the only crates of ours that may name them.
const EDGE: [(&str, &[&str]); 6] = [
    ("anyhow", &["tabiya", "tabiya-xtask"]),
    ("clap", &["tabiya", "tabiya-xtask"]),
    ("toml", &["tabiya"]),
    ("rusqlite", &["tabiya-scorer"]),
    ("async-nats", &["tabiya-scorer-nats"]),
    ("axum", &["tabiya-web"]),
];

#[test]
fn arrows_point_down() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let workspace = Workspace::read();
    for member in workspace.members() {
        let allowed = allowed
            .get(member)
            .unwrap_or_else(|| panic!("{member} is new: say in this table what it may use"));
        for used in workspace.uses(member).filter(|used| workspace.members().any(|it| it == *used))
        {
            assert!(allowed.contains(&used), "{member} must not use {used}");
        }
    }
}

#[test]
fn packages_of_the_edge_stay_there() {
    let workspace = Workspace::read();
    for (package, users) in EDGE {
        for member in workspace.members().filter(|it| workspace.uses(it).any(|it| it == package)) {
            assert!(users.contains(&member), "{member} must not use {package}");
        }
    }
}

/// Whoever plays from a book gets no runtime and no database with it.
#[test]
fn model_and_book_know_neither_tokio_nor_sqlite() {
    let workspace = Workspace::read();
    for member in ["tabiya-model", "tabiya-book"] {
        let reached = workspace.reached(member);
        assert!(reached.contains("shakmaty"), "the graph of {member} is read");
        for stranger in ["tokio", "rusqlite", "libsqlite3-sys"] {
            assert!(!reached.contains(stranger), "{member} must not reach {stranger}");
        }
    }
}

/// The packages of the workspace and all they use, tests apart.
struct Workspace {
    members: BTreeSet<String>,
    uses: BTreeMap<String, BTreeSet<String>>,
}

impl Workspace {
    fn read() -> Workspace {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let names: BTreeMap<&str, &str> =
            array(&metadata["packages"]).map(|it| (text(&it["id"]), text(&it["name"]))).collect();
        let name = |id: &Value| names[text(id)].to_owned();
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in array(&metadata["resolve"]["nodes"]) {
            let normal = array(&node["deps"])
                .filter(|it| array(&it["dep_kinds"]).any(|kind| kind["kind"].is_null()))
                .map(|it| name(&it["pkg"]));
            uses.entry(name(&node["id"])).or_default().extend(normal);
        }
        Workspace { members: array(&metadata["workspace_members"]).map(name).collect(), uses }
    }

    fn members(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(String::as_str)
    }

    fn uses(&self, package: &str) -> impl Iterator<Item = &str> {
        self.uses[package].iter().map(String::as_str)
    }

    /// Everything that comes with a package.
    fn reached<'a>(&'a self, package: &'a str) -> BTreeSet<&'a str> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![package]);
        while let Some(package) = open.pop() {
            if reached.insert(package) {
                open.extend(self.uses(package));
            }
        }
        reached
    }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
