//! Files that are there whole, or not at all, whatever happens to the machine.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use crate::{Error, crash};

/// Writes `bytes` under another name, makes them durable and gives them their name.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let draft = path.with_added_extension("tmp");
    let attempt = || {
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    if let Err(error) = attempt() {
        // Half a file helps nobody, least of all a full disk.
        let _ = fs::remove_file(&draft);
        return Err(Error::io(path)(error));
    }
    crash::point("draft-written");
    fs::rename(&draft, path).map_err(Error::io(path))?;
    crash::point("draft-renamed");
    Ok(())
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    File::open(path).and_then(|folder| folder.sync_all()).map_err(Error::io(path))?;
    Ok(())
}
