//! Entries as JSON lines, one a line: lossless, for people and programs.
//!
//! `key` (16 hex digits), `move` and `weight` are always there; what a format has besides is there
//! if it has it. `word` stands beside `move` only where a word of a PolyGlot book is no move that
//! could be written. A `.sob` has ranks; there `move` is what its word says without a board.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};
use shakmaty::uci::UciMove;
use tabiya_model::{PackedMove, PositionKey};

use crate::{
    Error, Games, RawEntry, Written,
    output::{Draft, Folder},
};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    key: String,
    r#move: String,
    weight: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    rank: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    learn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    word: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    priority: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    nag: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    games: Option<Games>,
}

impl Row {
    /// The line of an entry.
    pub fn of(entry: &RawEntry) -> Row {
        let said = read_move(&entry.uci).map(PackedMove::polyglot);
        let silent = entry.rank.is_none() && said != Some(entry.word);
        Row {
            key: entry.key.to_string(),
            r#move: entry.uci.clone(),
            weight: entry.weight,
            rank: entry.rank,
            learn: entry.learn,
            word: silent.then(|| format!("{:04x}", entry.word)),
            priority: entry.priority,
            nag: entry.nag,
            games: entry.games,
        }
    }

    /// The entry of a line; `None` if a field makes no sense.
    pub fn entry(self) -> Option<RawEntry> {
        let key = self.key.parse().ok()?;
        let word = match (self.word, self.rank) {
            (Some(word), None) => u16::from_str_radix(&word, 16).ok()?,
            (None, None) => read_move(&self.r#move)?.polyglot(),
            (None, Some(rank)) => {
                let mv = read_move(&self.r#move)?;
                let square = |square: shakmaty::Square| u16::from(square.flip_vertical());
                let rank = u16::from((rank <= 15).then_some(rank)?);
                square(mv.from()) | square(mv.to()) << 6 | rank << 12
            }
            (Some(_), Some(_)) => return None,
        };
        Some(RawEntry {
            key,
            word,
            uci: self.r#move,
            weight: self.weight,
            learn: self.learn,
            rank: self.rank,
            priority: self.priority,
            nag: self.nag,
            games: self.games,
        })
    }
}

/// The squares and the promotion, as they stand.
fn read_move(text: &str) -> Option<PackedMove> {
    match text.parse().ok()? {
        UciMove::Normal { from, to, promotion } => {
            Some(PackedMove::from_parts(from, to, promotion))
        }
        _ => None,
    }
}

/// Whether a file begins like JSON lines of entries.
pub(crate) fn looks_like_rows(path: &Path) -> Result<bool, Error> {
    const BEGIN: &[u8] = b"{\"key\":";
    if !path.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(BEGIN.len() as u64).read_to_end(&mut head))
        .map_err(Error::io("read", path))?;
    Ok(head == BEGIN)
}

/// Longer lines are none of ours.
const MAX_LINE: u64 = 4096;

/// Reads entries from JSON lines, in their order.
///
/// # Errors
///
/// [`Error::BadRow`] for the first line that is no entry.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<RawEntry>, Error> {
    let path = path.as_ref();
    let mut reader = BufReader::new(File::open(path).map_err(Error::io("open", path))?);
    let mut entries = Vec::new();
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let bad = |detail: String| Error::BadRow { path: path.to_owned(), line: number, detail };
        let read = reader.by_ref().take(MAX_LINE).read_line(&mut line);
        let read = read.map_err(Error::io("read", path))?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE {
            return Err(bad("it is longer than any entry".to_owned()));
        }
        if line.trim().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_str(&line).map_err(|error| bad(error.to_string()))?;
        let entry = row.entry().ok_or_else(|| bad("its key or move is none".to_owned()))?;
        entries.push(entry);
    }
    Ok(entries)
}

/// Writes entries as JSON lines, in their order.
pub fn write(
    path: impl AsRef<Path>,
    entries: impl Iterator<Item = RawEntry>,
) -> Result<Written, Error> {
    let path = path.as_ref();
    let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
    let mut draft = Draft::create(path)?;
    let (mut count, mut positions, mut last) = (0, 0, None::<PositionKey>);
    for entry in entries {
        let text = serde_json::to_string(&Row::of(&entry));
        let text = text.map_err(|error| Error::io("write", path)(error.into()))?;
        draft.write(text.as_bytes())?;
        draft.write(b"\n")?;
        count += 1;
        positions += u64::from(last != Some(entry.key));
        last = Some(entry.key);
    }
    draft.sync()?;
    let file = draft.publish()?;
    folder.keep()?;
    Ok(Written { files: vec![file], entries: count, positions })
}
