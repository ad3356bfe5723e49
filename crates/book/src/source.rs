//! A file that is read here and there, never as a whole.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
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

const PAGE: usize = 1 << 14;

/// Pages kept: 4 MiB.
const PAGES: usize = 256;

/// Reads a file in no order, in pages, of which the last few are kept.
pub(crate) struct Pages<'a> {
    source: &'a Source,
    pages: HashMap<u64, Vec<u8>>,
}

impl Pages<'_> {
    pub(crate) fn new(source: &Source) -> Pages<'_> {
        Pages { source, pages: HashMap::new() }
    }

    /// The bytes from `offset` on. Reading past the end is an error.
    pub(crate) fn read<const N: usize>(&mut self, offset: u64) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let at = offset + done as u64;
            let page = self.page(at / PAGE as u64)?;
            let page = page.get((at % PAGE as u64) as usize..).unwrap_or_default();
            let len = page.len().min(rest.len());
            if len == 0 {
                let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(Error::io("read", self.source.path())(error));
            }
            for (to, from) in rest.iter_mut().zip(page) {
                *to = *from;
            }
            done += len;
        }
        Ok(bytes)
    }

    fn page(&mut self, number: u64) -> Result<&[u8], Error> {
        if !self.pages.contains_key(&number) {
            if self.pages.len() >= PAGES {
                self.pages.clear();
            }
            let start = number * PAGE as u64;
            let len = self.source.len().saturating_sub(start).min(PAGE as u64);
            let mut page = vec![0; len as usize];
            self.source.read(start, &mut page)?;
            self.pages.insert(number, page);
        }
        Ok(self.pages.get(&number).map(Vec::as_slice).unwrap_or_default())
    }
}
