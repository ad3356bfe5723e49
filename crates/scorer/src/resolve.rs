//! Where the program of a command is.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Where systems put games, outside of many a `PATH`.
const GAMES: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// The path of a program: as it is if it is a path, else looked up in `PATH` and in the folders
/// for games.
///
/// # Errors
///
/// The paths that were tried.
pub(crate) fn resolve(program: &OsStr) -> Result<PathBuf, Vec<PathBuf>> {
    let path = env::var_os("PATH").unwrap_or_default();
    find(program, env::split_paths(&path).chain(GAMES.map(PathBuf::from)))
}

/// The files that a command names: its program, and whichever of its arguments are files, such as
/// a script. What an engine is follows from them.
pub fn files_of_command<S: AsRef<OsStr>>(command: &[S]) -> Vec<PathBuf> {
    let Some((program, arguments)) = command.split_first() else { return Vec::new() };
    let program = resolve(program.as_ref()).ok();
    let arguments = arguments.iter().map(|argument| PathBuf::from(argument.as_ref()));
    program.into_iter().chain(arguments.filter(|path| path.is_file())).collect()
}

fn find(program: &OsStr, folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf, Vec<PathBuf>> {
    let given = Path::new(program);
    if given.components().count() > 1 || given.is_absolute() {
        // A file that cannot be executed is found: starting it says what is wrong with it.
        return if given.is_file() { Ok(given.to_owned()) } else { Err(vec![given.to_owned()]) };
    }
    let mut tried = Vec::new();
    for folder in folders {
        let candidate = folder.join(given);
        if is_program(&candidate) {
            return Ok(candidate);
        }
        tried.push(candidate);
    }
    Err(tried)
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn names_are_looked_up_and_paths_are_not() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["a", "b"].map(|name| folder.path().join(name));
        for bin in [&first, &second] {
            fs::create_dir(bin).unwrap();
            fs::write(bin.join("engine"), "").unwrap();
        }
        // Only the second can be executed.
        fs::set_permissions(second.join("engine"), fs::Permissions::from_mode(0o755)).unwrap();
        let look = |program: &OsStr| find(program, [first.clone(), second.clone()].into_iter());

        assert_eq!(look(OsStr::new("engine")), Ok(second.join("engine")));
        assert_eq!(look(OsStr::new("other")), Err(vec![first.join("other"), second.join("other")]));
        assert_eq!(look(first.join("engine").as_os_str()), Ok(first.join("engine")));
        assert_eq!(look(OsStr::new("./engine")), Err(vec![PathBuf::from("./engine")]));
    }
}
