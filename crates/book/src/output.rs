//! How files appear: written under another name, made durable, renamed.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::Error;

const SUFFIX: &str = ".tmp";

/// A folder that is there while files are written into it, made if need be. Folders that were
/// made are removed again unless they are kept, or something else moved in.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    made: Vec<PathBuf>,
}

impl Folder {
    pub(crate) fn create(path: &Path) -> Result<Folder, Error> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let missing = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned)
            .collect();
        // From here on a failure removes what was made so far.
        let folder = Folder { path: path.to_owned(), made: missing };
        fs::create_dir_all(path).map_err(Error::io("create the folder", path))?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file without a name, gone when it is closed.
    pub(crate) fn scratch(&self) -> Result<Scratch, Error> {
        let file = tempfile::tempfile_in(&self.path)
            .map_err(Error::io("create a temporary file in", &self.path))?;
        Ok(Scratch { folder: self.path.clone(), file: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Makes the names in the folder durable, and the folder too if it is new.
    pub(crate) fn keep(mut self) -> Result<(), Error> {
        let made = std::mem::take(&mut self.made);
        sync_folder(&self.path)?;
        made.iter().filter_map(|folder| folder.parent()).try_for_each(sync_folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails if it is not empty, and then it must stay.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> Result<(), Error> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|folder| folder.sync_all()).map_err(Error::io("sync", path))
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// A file that is not there yet. Dropped before [`Draft::publish`], it never was.
#[derive(Debug)]
pub(crate) struct Draft {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    len: u64,
}

impl Draft {
    /// Starts the file that is to become `path`; its folder must be there.
    pub(crate) fn create(path: &Path) -> Result<Draft, Error> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::Option(format!("{} is not the name of a file", path.display())));
        };
        if path.is_dir() {
            let text = format!("{} is a folder: name a file in it", path.display());
            return Err(Error::Option(text));
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let prefix = format!(".{}.", name.to_string_lossy());
        remove_abandoned(folder, &prefix);
        let file = builder(&prefix)
            .tempfile_in(folder)
            .map_err(Error::io("create a temporary file in", folder))?;
        // Tells `remove_abandoned` that this one is in use. Where locks do not work nothing is
        // ever found abandoned.
        let _ = file.as_file().try_lock();
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(Draft { file, path: path.to_owned(), len: 0 })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.len += bytes.len() as u64;
        self.attempt(|file| file.write_all(bytes))
    }

    /// Appends zeros up to a multiple of `alignment`.
    pub(crate) fn align(&mut self, alignment: u64) -> Result<(), Error> {
        let gap = self.len.next_multiple_of(alignment) - self.len;
        self.write(&vec![0; gap as usize])
    }

    /// Replaces the first bytes.
    pub(crate) fn rewrite_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.attempt(|file| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::End(0)).map(drop)
        })
    }

    /// The name the file is to have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    fn attempt(
        &mut self,
        action: impl FnOnce(&mut BufWriter<NamedTempFile>) -> io::Result<()>,
    ) -> Result<(), Error> {
        action(&mut self.file).map_err(Error::io("write", &self.path))
    }

    /// A book that lacks what could not be written must not appear.
    pub(crate) fn refuse_if(&self, failed: bool) -> Result<(), Error> {
        let incomplete = || io::Error::other("a position before could not be written");
        if failed { Err(Error::io("finish", &self.path)(incomplete())) } else { Ok(()) }
    }

    /// Puts all bytes on disk.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.attempt(|file| {
            file.flush()?;
            file.get_ref().as_file().sync_all()
        })
    }

    /// Gives the file its name, in place of what had it. Call [`Draft::sync`] before.
    pub(crate) fn publish(self) -> Result<(PathBuf, u64), Error> {
        let file = self.file.into_inner().map_err(|error| error.into_error());
        let file = file.map_err(Error::io("write", &self.path))?;
        file.persist(&self.path).map_err(|error| Error::io("create", &self.path)(error.error))?;
        Ok((self.path, self.len))
    }
}

fn builder(prefix: &str) -> tempfile::Builder<'_, '_> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        // As any other file, what the umask leaves: books are for sharing.
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};
        builder.permissions(Permissions::from_mode(0o666));
    }
    builder
}

/// Removes drafts of the same file whose writers were killed: nobody holds their locks.
fn remove_abandoned(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(prefix) && name.ends_with(SUFFIX) {
            let path = entry.path();
            if File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// A nameless file that is written first and read after that.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    file: BufWriter<File>,
}

impl Scratch {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(Error::io("write a temporary file in", &self.folder))
    }

    /// Goes back to the start, to read.
    pub(crate) fn rewind(&mut self) -> Result<(), Error> {
        self.file.rewind().map_err(Error::io("write a temporary file in", &self.folder))
    }

    /// Fills the buffer with the next bytes.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        let file = self.file.get_mut();
        file.read_exact(buffer).map_err(Error::io("read a temporary file in", &self.folder))
    }
}
