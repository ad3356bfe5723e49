//! A file that is read here and there, never as a whole.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::Error;

/// An open file whose size is taken as it was on opening.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    len: u64,
    file: Mutex<File>,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Source, Error> {
        // Asked first, because opening a pipe would wait for its writer.
        let metadata = fs::metadata(path).map_err(Error::io("open", path))?;
        if !metadata.is_file() {
            let looks = "it is not a regular file".to_owned();
            return Err(Error::NotABook { path: path.to_owned(), looks });
        }
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(Source { path: path.to_owned(), len: metadata.len(), file: Mutex::new(file) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Fills `buffer` from `offset` on. Reading past the end is an error.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(buffer))
            .map_err(Error::io("read", &self.path))
    }

    /// Hands on `len` bytes from `offset` on, in pieces of at most 64 KiB.
    pub(crate) fn stream(
        &self,
        offset: u64,
        len: u64,
        mut each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffer = [0; 1 << 16];
        let mut done = 0;
        while done < len {
            let size = (len - done).min(buffer.len() as u64);
            let piece = buffer.get_mut(..size as usize).unwrap_or_default();
            self.read(offset + done, piece)?;
            each(piece)?;
            done += size;
        }
        Ok(())
    }
}
