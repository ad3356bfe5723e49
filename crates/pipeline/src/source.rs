//! Which files the inputs name: files, folders, globs, and "-" for standard input.

use std::{
    collections::HashSet,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use globset::{GlobBuilder, GlobMatcher};

/// One input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl Source {
    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Stdin => "standard input".to_owned(),
        }
    }

    /// Its size on disk, if it has one.
    pub fn size(&self) -> Option<u64> {
        match self {
            Source::File(path) => {
                path.metadata().ok().filter(|file| file.is_file()).map(|file| file.len())
            }
            Source::Stdin => None,
        }
    }
}

/// An input that names nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// There is no such file or folder.
    #[error("{path}: {error}")]
    Io {
        /// The input.
        path: PathBuf,
        /// What the system says.
        error: Arc<io::Error>,
    },
    /// The folder has no games.
    #[error("{path}: no .pgn file in this folder, compressed (.zst .gz .bz2 .xz .lz4) or not")]
    EmptyFolder {
        /// The input.
        path: PathBuf,
    },
    /// Nothing matches.
    #[error("{pattern}: no file matches this pattern")]
    NoMatch {
        /// The input.
        pattern: String,
    },
    /// The pattern is none.
    #[error("{pattern}: {message}")]
    BadPattern {
        /// The input.
        pattern: String,
        /// What is wrong.
        message: String,
    },
}

/// What inputs name: the sources that are there, in the order given, each once, folders and globs
/// in the order of names; and the inputs that name nothing.
#[derive(Debug, Default)]
pub struct Found {
    pub(crate) sources: Vec<Source>,
    missing: Vec<SourceError>,
}

impl Found {
    /// The sources, if every input names some.
    pub fn all(&self) -> Result<&[Source], SourceError> {
        self.all_but(&[])
    }

    /// The same, but inputs that named one of the files that are `gone` may name nothing now.
    pub(crate) fn all_but(&self, gone: &[&str]) -> Result<&[Source], SourceError> {
        let excused = |missing: &SourceError| gone.iter().any(|name| missing.may_have_named(name));
        match self.missing.iter().find(|missing| !excused(missing)) {
            Some(missing) => Err(missing.clone()),
            None => Ok(&self.sources),
        }
    }

    /// The sources, whatever names none: for who waits for files to come.
    pub fn so_far(mut self) -> Found {
        self.missing.clear();
        self
    }

    /// The sources.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Leaves out sources.
    pub fn retain(&mut self, wanted: impl FnMut(&Source) -> bool) {
        self.sources.retain(wanted);
    }
}

impl SourceError {
    fn may_have_named(&self, file: &str) -> bool {
        match self {
            SourceError::Io { path, .. } | SourceError::EmptyFolder { path } => {
                Path::new(file).starts_with(path)
            }
            SourceError::NoMatch { pattern } => {
                matcher(pattern).is_ok_and(|matcher| matcher.is_match(file))
            }
            SourceError::BadPattern { .. } => false,
        }
    }
}

/// The sources that inputs name, when every input names some.
pub fn resolve(inputs: &[PathBuf]) -> Result<Vec<Source>, SourceError> {
    let found = find(inputs);
    found.all()?;
    Ok(found.sources)
}

/// Looks for what inputs name.
pub fn find(inputs: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for input in inputs {
        if input.as_os_str() == "-" {
            found.sources.push(Source::Stdin);
            continue;
        }
        match files(input) {
            Ok(files) => found.sources.extend(files.into_iter().map(Source::File)),
            Err(error) => found.missing.push(error),
        }
    }
    let mut seen = HashSet::new();
    found.sources.retain(|source| seen.insert(identity(source)));
    found
}

fn files(input: &Path) -> Result<Vec<PathBuf>, SourceError> {
    match input.metadata() {
        Ok(metadata) if metadata.is_dir() => folder(input),
        Ok(_) => Ok(vec![input.to_owned()]),
        Err(error) => match input.to_str().filter(|text| text.contains(['*', '?', '['])) {
            Some(pattern) => glob(input, pattern),
            None => Err(SourceError::Io { path: input.to_owned(), error: Arc::new(error) }),
        },
    }
}

/// The same file by two names is one source.
fn identity(source: &Source) -> Source {
    match source {
        Source::File(path) => Source::File(path.canonicalize().unwrap_or_else(|_| path.clone())),
        Source::Stdin => Source::Stdin,
    }
}

fn folder(path: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let files = walk(path, has_games)?;
    match files.is_empty() {
        true => Err(SourceError::EmptyFolder { path: path.to_owned() }),
        false => Ok(files),
    }
}

fn glob(input: &Path, pattern: &str) -> Result<Vec<PathBuf>, SourceError> {
    let matcher = matcher(pattern)?;
    let plain = |part: &Component| {
        part.as_os_str().to_str().is_some_and(|text| !text.contains(['*', '?', '[', '{']))
    };
    let base: PathBuf = input.components().take_while(plain).collect();
    let relative = base.as_os_str().is_empty();
    let root = if relative { Path::new(".") } else { &base };
    let matches = |path: &Path| match relative {
        true => matcher.is_match(path.strip_prefix(".").unwrap_or(path)),
        false => matcher.is_match(path),
    };
    let files = walk(root, matches)?;
    match files.is_empty() {
        true => Err(SourceError::NoMatch { pattern: pattern.to_owned() }),
        false => Ok(files),
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, SourceError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|error| SourceError::BadPattern {
        pattern: pattern.to_owned(),
        message: error.kind().to_string(),
    })?;
    Ok(glob.compile_matcher())
}

fn walk(root: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, SourceError> {
    let mut files = Vec::new();
    let walk = ignore::WalkBuilder::new(root)
        .standard_filters(false)
        .follow_links(true)
        .sort_by_file_path(Path::cmp)
        .build();
    for entry in walk {
        // What cannot be looked at, such as a link to nowhere, must not hide the rest.
        if let Err(error) = &entry
            && error.depth().is_some_and(|depth| depth > 0)
        {
            tracing::warn!("passed over: {error}");
            continue;
        }
        let entry = entry.map_err(|error| {
            let message = error.to_string();
            let error = error.into_io_error().unwrap_or_else(|| io::Error::other(message));
            SourceError::Io { path: root.to_owned(), error: Arc::new(error) }
        })?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) && wanted(entry.path()) {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

/// Whether a file in a folder is meant for us, by its name.
fn has_games(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = [".zst", ".gz", ".bz2", ".xz", ".lz4"]
        .iter()
        .find_map(|packed| name.strip_suffix(packed))
        .unwrap_or(&name);
    name.ends_with(".pgn")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(sources: Vec<Source>, root: &Path) -> Vec<String> {
        let name = |source: Source| match source {
            Source::File(path) => path.strip_prefix(root).unwrap().display().to_string(),
            Source::Stdin => "-".to_owned(),
        };
        sources.into_iter().map(name).collect()
    }

    #[test]
    fn inputs_are_files_folders_and_globs() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        for file in ["b.pgn", "a.PGN.zst", "notes.txt", "sub/c.pgn.gz", "sub/deep/d.pgn"] {
            fs::write(root.join(file), "").unwrap();
        }
        let resolve = |inputs: &[&str]| {
            let inputs: Vec<PathBuf> = inputs
                .iter()
                .map(|input| if *input == "-" { "-".into() } else { root.join(input) })
                .collect();
            resolve(&inputs).map(|sources| names(sources, root))
        };
        assert_eq!(
            resolve(&[""]).unwrap(),
            ["a.PGN.zst", "b.pgn", "sub/c.pgn.gz", "sub/deep/d.pgn"]
        );
        assert_eq!(resolve(&["notes.txt", "-", "b.pgn"]).unwrap(), ["notes.txt", "-", "b.pgn"]);
        assert_eq!(resolve(&["*.pgn"]).unwrap(), ["b.pgn"]);
        assert_eq!(resolve(&["**/*.pgn"]).unwrap(), ["b.pgn", "sub/deep/d.pgn"]);
        assert_eq!(resolve(&["b.pgn", "*.pgn"]).unwrap(), ["b.pgn"]);
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", root.join("sub/link.pgn")).unwrap();
        assert_eq!(resolve(&["sub"]).unwrap(), ["sub/c.pgn.gz", "sub/deep/d.pgn"]);
        assert!(matches!(resolve(&["x.pgn"]), Err(SourceError::Io { .. })));
        assert!(matches!(resolve(&["*.epd"]), Err(SourceError::NoMatch { .. })));
    }
}
