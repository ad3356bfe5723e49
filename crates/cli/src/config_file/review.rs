//! What a schema cannot say: keys that must fit together, and values that are hardly meant.

use std::collections::BTreeSet;

use tabiya_book::Policy;
use tabiya_pipeline::{
    Rules,
    config::{ByteSize, Config, Engine, NamedEngine, Period},
};

use tabiya_scorer::ScorerError;

use super::{
    Purpose,
    problem::Problem,
    tree::{Node, Value},
};
use crate::commands::scoring;

/// Problems and warnings found so far, and the tree that knows where things stand.
struct Review<'a> {
    tree: &'a Node,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// Returns what is wrong, and what is doubtful.
pub(super) fn review(
    config: &Config,
    tree: &Node,
    purpose: Purpose,
) -> (Vec<Problem>, Vec<Problem>) {
    let mut review = Review { tree, problems: Vec::new(), warnings: Vec::new() };
    if purpose == Purpose::Run {
        review.inputs(config);
        review.books(config);
    }
    review.filter(config);
    review.score(config);
    review.threshold(config);
    review.amounts(config);
    (review.problems, review.warnings)
}

impl Review<'_> {
    fn problem(&mut self, key: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(self.tree.place_of(key), key, message));
    }

    fn warning(&mut self, key: &str, message: impl Into<String>) {
        self.warnings.push(Problem::new(self.tree.place_of(key), key, message));
    }

    fn inputs(&mut self, config: &Config) {
        let files = &config.input.files;
        if files.is_empty() {
            self.problem("input.files", "no games to read: name files, folders, globs or \"-\"");
        }
        for (index, _) in files.iter().enumerate().filter(|(_, file)| file.is_empty()) {
            self.problem(
                &format!("input.files.{index}"),
                "an empty name: write \".\" for this folder",
            );
        }
    }

    fn books(&mut self, config: &Config) {
        let written = match self.tree.get("book").map(|node| &node.value) {
            Some(Value::Array(books)) => books.len(),
            _ => 0,
        };
        if written == 0 {
            self.problem(
                "book",
                "no book to write: add a [[book]] table with format = \"sob\" and path = \"out/book\"",
            );
        }
        let mut paths = BTreeSet::new();
        for (index, book) in config.book.iter().enumerate() {
            let key = format!("book.{index}.path");
            if book.path.as_os_str().is_empty() {
                self.problem(&key, "an empty name: say where the book is to be written");
            } else if !paths.insert(&book.path) {
                let path = book.path.display();
                self.problem(&key, format!("{path} is another book's path too: give each its own"));
            }
            if book.weight == Policy::Score && config.score.engine.is_none() {
                self.warning(
                    &format!("book.{index}.weight"),
                    "\"score\" needs scores, and score.engine is \"none\": write weight = \"wins\"",
                );
            }
        }
    }

    fn filter(&mut self, config: &Config) {
        let filter = &config.filter;
        if filter.outcomes.is_empty() {
            self.problem("filter.outcomes", "no game would count: write [\"white\", \"black\"]");
        }
        let distinct: BTreeSet<_> = filter.outcomes.iter().collect();
        if distinct.len() < filter.outcomes.len() {
            self.problem("filter.outcomes", "an outcome stands twice: name each once");
        }
        if filter.plies > 100 {
            let plies = filter.plies;
            self.warning(
                "filter.plies",
                format!(
                    "{plies} half-moves are {} moves of each side: few would call that an opening",
                    plies / 2
                ),
            );
        }
        for error in Rules::compile(filter).err().into_iter().flatten() {
            let key = format!("filter.{}", error.key.replace('[', ".").replace(']', ""));
            self.problem(&key, error.message);
        }
        // "1990" and "1990.??" are all of that year, so only what both say is compared.
        let known = |date: &str| match date.split_once('?') {
            Some((known, _)) => known.replace(['-', '/'], "."),
            None => date.replace(['-', '/'], "."),
        };
        let (since, until) = (known(&filter.since), known(&filter.until));
        let common = since.len().min(until.len());
        if since.get(..common) > until.get(..common) {
            self.problem(
                "filter.until",
                format!("{:?} is before filter.since: no game would count", filter.until),
            );
        }
    }

    fn score(&mut self, config: &Config) {
        let score = &config.score;
        if matches!(&score.engine, Engine::Command(words) if words.first().is_none_or(String::is_empty))
        {
            self.problem("score.engine", "no program named: write [\"stockfish\"] or \"builtin\"");
        }
        let limit = &score.limit;
        let limits = [limit.depth.is_some(), limit.nodes.is_some(), limit.movetime.is_some()];
        if limits.iter().filter(|&&set| set).count() != 1 {
            self.problem(
                "score.limit",
                "exactly one of depth, nodes and movetime ends a search: write { depth = 8 }",
            );
        }
        if score.tag.contains(char::is_control) {
            self.problem("score.tag", "more than one line: any words on one line will do");
        }
        let Some(console) = scoring::console(&score.console) else { return };
        for (key, used, instead) in [
            ("score.cp_scale", score.cp_scale != 1.0, "per_pawn"),
            ("score.mate_threshold", score.mate_threshold != 0, "mate_from"),
        ] {
            if used {
                let message = format!("is for UCI: at a prompt it is score.console.{instead}");
                self.problem(key, message);
            }
        }
        if !matches!(score.engine, Engine::Command(_)) {
            self.problem(
                "score.console",
                "only a command has a prompt: write engine = [\"gaviota\"], or leave it out",
            );
        }
        if let Err(ScorerError::Console { key, why }) = console.check() {
            self.problem(&format!("score.console.{key}"), why);
        }
    }

    fn threshold(&mut self, config: &Config) {
        self.chances(config);
        let min = config.threshold.win_min_cp;
        if let Some(max) = config.threshold.win_max_cp.filter(|&max| max <= min) {
            self.problem(
                "threshold.win_max_cp",
                format!(
                    "{max} centipawns are not above win_min_cp, {min} centipawns: no line would \
                     be kept"
                ),
            );
        }
        if min.abs() > 2000 {
            let pawns = f64::from(min) / 100.0;
            self.warning(
                "threshold.win_min_cp",
                format!("{min} centipawns are {pawns} pawns: is that meant? 100 is one pawn"),
            );
        }
    }

    /// A threshold by chances, and who can say them.
    fn chances(&mut self, config: &Config) {
        let threshold = &config.threshold;
        let Some(min) = threshold.win_min_wdl else {
            if threshold.win_max_wdl.is_some() {
                self.problem(
                    "threshold.win_max_wdl",
                    "the upper end of a band: write win_min_wdl, too, if only 0",
                );
            }
            return;
        };
        if let Some(max) = threshold.win_max_wdl.filter(|&max| max <= min) {
            let message = format!("{max} is not above win_min_wdl, {min}: no line would be kept");
            self.problem("threshold.win_max_wdl", message);
        }
        if min == 1000 {
            let message = "nobody expects more than 1000 per mille: no line would be kept";
            self.problem("threshold.win_min_wdl", message);
        }
        if threshold.win_max_cp.is_some() {
            let message = "won lines are judged by win_min_wdl, not by centipawns: leave one out";
            self.problem("threshold.win_max_cp", message);
        }
        let mute = match &config.score.engine {
            Engine::Named(NamedEngine::Builtin) => "the built-in engine says no chances",
            Engine::Command(_) if config.score.console.is_used() => "a prompt says no chances",
            _ => return,
        };
        self.problem(
            "threshold.win_min_wdl",
            format!("{mute}: take one that does, as score.engine = [\"stockfish\"]"),
        );
    }

    /// Nothing works with no memory or no time.
    fn amounts(&mut self, config: &Config) {
        let sizes = [
            ("input.chunk", config.input.chunk),
            ("input.max_game", config.input.max_game),
            ("input.max_window", config.input.max_window),
            ("filter.dedupe_memory", config.filter.dedupe_memory),
            ("aggregate.memory", config.aggregate.memory),
        ];
        for (key, _) in sizes.into_iter().filter(|&(_, size)| size == ByteSize(0)) {
            self.problem(key, "0 bytes are not enough: write a size, as in \"64MiB\"");
        }
        let times = [
            ("score.timeout", Some(config.score.timeout)),
            ("score.limit.movetime", config.score.limit.movetime),
            ("checkpoint.every", Some(config.checkpoint.every)),
            ("checkpoint.publish_every", Some(config.checkpoint.publish_every)),
        ];
        let none = |time: Option<Period>| time.is_some_and(|time| time.0.is_zero());
        for (key, _) in times.into_iter().filter(|&(_, time)| none(time)) {
            self.problem(key, "no time at all is not enough: write a time, as in \"10s\"");
        }
    }
}
