//! What is wrong with a configuration, and where.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Where something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Nowhere: it is missing.
    Nowhere,
    /// A line of the file, from 1.
    Line(usize),
    /// A `--set` option.
    Option,
}

/// One thing to put right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    pub(super) place: Place,
    /// Dotted, as `--set` takes it; empty where no key is to blame.
    pub(super) key: String,
    /// What is wrong and what to do.
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(place: Place, key: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { place, key: key.into(), message: message.into() }
    }

    /// One line: place, key, message.
    pub(super) fn describe(&self, file: Option<&Path>) -> String {
        let place = match (self.place, file) {
            (Place::Option, _) => "--set".to_owned(),
            (Place::Line(line), Some(file)) => format!("{}:{line}:", file.display()),
            (Place::Nowhere, Some(file)) => format!("{}:", file.display()),
            (_, None) => "configuration:".to_owned(),
        };
        match self.key.as_str() {
            "" => format!("{place} {}", self.message),
            key => format!("{place} {key}: {}", self.message),
        }
    }

    /// Whether both are about one key, or one about a part of the other's.
    pub(super) fn overlaps(&self, other: &Problem) -> bool {
        let within = |part: &str, whole: &str| {
            part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        within(&self.key, &other.key) || within(&other.key, &self.key)
    }
}

/// A configuration that is not used, with everything that is wrong with it.
#[derive(Debug)]
pub(crate) struct Refusal {
    file: Option<PathBuf>,
    problems: Vec<Problem>,
}

impl Refusal {
    /// Sorts the problems by where they are.
    pub(super) fn new(file: Option<&Path>, mut problems: Vec<Problem>) -> Refusal {
        problems.sort();
        problems.dedup();
        Refusal { file: file.map(Path::to_owned), problems }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => write!(f, "the configuration has a problem")?,
            n => write!(f, "the configuration has {n} problems")?,
        }
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n  {}", problem.describe(self.file.as_deref())))
    }
}

impl std::error::Error for Refusal {}
