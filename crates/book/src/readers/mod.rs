//! Readers of `.sob` books for programs in other languages: one file each, without dependencies.
//!
//! They are templates in which the version, the 781 random numbers and their digest are filled in,
//! so that no table is ever typed. Each refuses what [`crate::sob::Reader`] refuses, by the same
//! names, and answers probes alike; zstd is beyond them.

use std::path::{Path, PathBuf};

use crate::{
    Error, Zobrist,
    output::{Draft, Folder},
};

/// The languages, each with the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `OpeningBook.cs`, C# 6.
    CSharp,
    /// `opening_book.h`, C99.
    C,
    /// `opening_book.py`, Python 3.8.
    Python,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Language::CSharp, Language::C, Language::Python];

    /// The name of the reader's file.
    pub fn file_name(self) -> &'static str {
        match self {
            Language::CSharp => "OpeningBook.cs",
            Language::C => "opening_book.h",
            Language::Python => "opening_book.py",
        }
    }

    fn template(self) -> &'static str {
        match self {
            Language::CSharp => include_str!("OpeningBook.cs"),
            Language::C => include_str!("opening_book.h"),
            Language::Python => include_str!("opening_book.py"),
        }
    }
}

/// The source of a reader for books with these random numbers.
pub fn source(language: Language, zobrist: &Zobrist) -> String {
    let digest = zobrist.sha256();
    let digest = match language {
        Language::Python => digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        Language::CSharp | Language::C => digest.map(|byte| format!("0x{byte:02x}")).join(", "),
    };
    let suffix = match language {
        Language::Python => "",
        Language::CSharp => "UL",
        Language::C => "ULL",
    };
    let row = |numbers: &[u64]| {
        let numbers: Vec<String> =
            numbers.iter().map(|number| format!("0x{number:016x}{suffix}")).collect();
        format!("    {},", numbers.join(", "))
    };
    let table: Vec<String> = zobrist.numbers().chunks(4).map(row).collect();
    language
        .template()
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@NAMESPACE@", "Sob")
        .replace("@SHA256@", &digest)
        .replace("@TABLE@", &table.join("\n"))
}

/// Writes all readers into a folder, and gives their paths.
pub fn write(folder: impl AsRef<Path>, zobrist: &Zobrist) -> Result<Vec<PathBuf>, Error> {
    let folder = Folder::create(folder.as_ref())?;
    let mut drafts = Vec::new();
    for language in Language::ALL {
        let mut draft = Draft::create(&folder.path().join(language.file_name()))?;
        draft.write(source(language, zobrist).as_bytes())?;
        draft.sync()?;
        drafts.push(draft);
    }
    let paths: Result<Vec<PathBuf>, Error> =
        drafts.into_iter().map(|draft| draft.publish().map(|(path, _)| path)).collect();
    let paths = paths?;
    folder.keep()?;
    Ok(paths)
}
