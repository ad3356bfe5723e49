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
    /// Offset and length of every read, for tests that want few.
    #[cfg(test)]
    pub(crate) reads: Mutex<Vec<(u64, u64)>>,
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
        Ok(Source {
            path: path.to_owned(),
            len: metadata.len(),
            file: Mutex::new(file),
            #[cfg(test)]
            reads: Mutex::default(),
        })
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
        #[cfg(test)]
        self.reads.lock().unwrap().push((offset, buffer.len() as u64));
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

const PAGE: usize = 1 << 12;

/// Pages kept: 8 MiB.
const PAGES: u64 = 1 << 11;

const NO_PAGE: u64 = u64::MAX;

/// The pages of a file that were read last.
///
/// Once they are here, reading them asks nothing of the system, as with a file that is mapped into
/// memory; but whoever cuts the file short meanwhile causes an error, and no crash. All memory is
/// taken at the beginning.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Which page is in which slot.
    numbers: Vec<u64>,
    bytes: Vec<u8>,
}

impl Pages {
    pub(crate) fn new(source: &Source) -> Pages {
        let slots = source.len().div_ceil(PAGE as u64).clamp(1, PAGES) as usize;
        Pages { numbers: vec![NO_PAGE; slots], bytes: vec![0; slots * PAGE] }
    }

    /// The bytes from `offset` on. Reading past the end is an error.
    pub(crate) fn read<const N: usize>(
        &mut self,
        source: &Source,
        offset: u64,
    ) -> Result<[u8; N], Error> {
        let page = self.page(source, offset / PAGE as u64)?;
        let rest = page.get((offset % PAGE as u64) as usize..).unwrap_or_default();
        if let Some(bytes) = rest.first_chunk() {
            return Ok(*bytes);
        }
        // Over the end of a page, or of the file.
        let mut bytes = [0; N];
        source.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    fn page(&mut self, source: &Source, number: u64) -> Result<&[u8], Error> {
        let start = number * PAGE as u64;
        let len = source.len().saturating_sub(start).min(PAGE as u64) as usize;
        let slots = self.numbers.len() as u64;
        // Dividing takes long, and most files have a slot for each page.
        let slot = if number < slots { number } else { number % slots } as usize;
        let page = self.bytes.get_mut(slot * PAGE..).and_then(|rest| rest.get_mut(..len));
        let page = page.unwrap_or_default();
        if let Some(kept) = self.numbers.get_mut(slot).filter(|kept| **kept != number) {
            *kept = NO_PAGE;
            source.read(start, page)?;
            *kept = number;
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..3 * PAGE + 5).map(|at| (at / 7) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let source = Source::open(&path).unwrap();
        let mut pages = Pages::new(&source);
        let offsets = [0, PAGE - 4, PAGE - 3, PAGE, 2 * PAGE - 1, 3 * PAGE + 1, 0, PAGE];
        for offset in offsets {
            let read: [u8; 4] = pages.read(&source, offset as u64).unwrap();
            assert_eq!(read, bytes[offset..offset + 4], "{offset}");
        }
        let asked = source.reads.lock().unwrap().len();
        assert_eq!(asked, 3 + 2, "three pages and two reads across their ends");
        assert!(pages.read::<4>(&source, 3 * PAGE as u64 + 2).is_err());
        assert!(pages.read::<4>(&source, 9 * PAGE as u64).is_err());
    }

    #[test]
    fn pages_of_a_big_file_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let pages = PAGES + 3;
        let text: Vec<u8> = (0..pages).flat_map(|page| [page as u8; PAGE]).collect();
        fs::write(&path, text).unwrap();
        let source = Source::open(&path).unwrap();
        let mut kept = Pages::new(&source);
        for page in (0..pages).chain([0, PAGES, 0, 1]) {
            let read: [u8; 2] = kept.read(&source, page * PAGE as u64 + 9).unwrap();
            assert_eq!(read, [page as u8; 2], "{page}");
        }
    }
}
