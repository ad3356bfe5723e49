//! The folder a run works in, held by one process.

use std::{
    fs::{self, File, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
};

use crate::Error;

/// A work folder that is this process's as long as this lives.
#[derive(Debug)]
pub struct Work {
    dir: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl Work {
    /// Makes the folder if need be and locks it.
    ///
    /// # Errors
    ///
    /// Another process has it; the error names it.
    pub fn open(dir: &Path) -> Result<Work, Error> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        Ok(Work { dir: dir.to_owned(), _lock: lock(dir)? })
    }

    /// Its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// An empty folder for sorted runs.
    pub(crate) fn spill(&self) -> Result<PathBuf, Error> {
        let spill = self.dir.join("spill");
        match fs::remove_dir_all(&spill) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(&spill)(error))
            }
            _ => fs::create_dir(&spill).map(|()| spill.clone()).map_err(Error::io(&spill)),
        }
    }
}

/// One process a work folder. The lock goes with the process, however it ends.
fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("LOCK");
    let mut options = File::options();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(Error::io(&path))?;
    match file.try_lock() {
        Ok(()) => {
            let pid = std::process::id().to_string();
            file.set_len(0)
                .and_then(|()| file.write_all(pid.as_bytes()))
                .map_err(Error::io(&path))?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            if pid.is_empty() {
                // It has the lock and is about to say so.
                std::thread::sleep(std::time::Duration::from_millis(100));
                let _ = file.read_to_string(&mut pid);
            }
            Err(Error::Locked { dir: dir.to_owned(), pid: pid.trim().to_owned() })
        }
        Err(TryLockError::Error(error)) => Err(Error::io(&path)(error)),
    }
}
