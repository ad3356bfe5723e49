//! Writing PolyGlot books: entries go out as they come, so memory holds one position.

use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
};

use tabiya_model::{PackedMove, PositionKey};

use super::Stored;
use crate::{
    BookWriter, Choice, Error, RawEntry, Written,
    output::{Draft, Folder},
    polyglot_weights,
};

/// Writes a PolyGlot book.
#[derive(Debug)]
pub struct Writer {
    // Before `folder`, which can only be removed when the draft is.
    draft: Draft,
    folder: Folder,
    previous: Option<PositionKey>,
    entries: u64,
    positions: u64,
    failed: bool,
}

impl Writer {
    /// Starts the book `path`. Folders that are missing are made.
    pub fn create(path: impl AsRef<Path>) -> Result<Writer, Error> {
        let path = path.as_ref();
        let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
        let draft = Draft::create(path)?;
        Ok(Writer { draft, folder, previous: None, entries: 0, positions: 0, failed: false })
    }

    /// Adds a position with weights and learn fields as they are to stand in the file: for copies
    /// of books. The moves may come in any order.
    ///
    /// A position whose key is 0 is left out: readers take such entries for a header.
    pub fn weighted(
        &mut self,
        key: PositionKey,
        moves: &[(PackedMove, u16, u32)],
    ) -> Result<(), Error> {
        let result = self.try_weighted(key, moves);
        self.failed |= result.is_err();
        result
    }

    fn try_weighted(
        &mut self,
        key: PositionKey,
        moves: &[(PackedMove, u16, u32)],
    ) -> Result<(), Error> {
        check_order(self.previous, key)?;
        check_moves(key, moves.iter().map(|&(mv, ..)| mv))?;
        self.previous = Some(key);
        if key.0 == 0 || moves.is_empty() {
            return Ok(());
        }
        let mut sorted = moves.to_vec();
        sorted.sort_by_key(|&(mv, weight, _)| (Reverse(weight), mv.polyglot()));
        for (mv, weight, learn) in sorted {
            let entry = Stored { key: key.0, word: mv.polyglot(), weight, learn };
            self.draft.write(&entry.to_bytes())?;
        }
        self.entries += moves.len() as u64;
        self.positions += 1;
        Ok(())
    }
}

impl BookWriter for Writer {
    fn position(&mut self, key: PositionKey, choices: &[Choice]) -> Result<(), Error> {
        let weights = polyglot_weights(choices);
        let moves: Vec<(PackedMove, u16, u32)> =
            choices.iter().zip(weights).map(|(choice, weight)| (choice.mv, weight, 0)).collect();
        self.weighted(key, &moves)
    }

    fn finish(self: Box<Self>) -> Result<Written, Error> {
        // Bound first, so dropped last, when nothing of ours is in it any more.
        let Writer { folder, mut draft, entries, positions, failed, .. } = *self;
        draft.refuse_if(failed)?;
        draft.sync()?;
        let file: (PathBuf, u64) = draft.publish()?;
        folder.keep()?;
        Ok(Written { files: vec![file], entries, positions })
    }
}

/// Keys of a book ascend strictly.
pub(crate) fn check_order(previous: Option<PositionKey>, got: PositionKey) -> Result<(), Error> {
    match previous {
        Some(previous) if previous >= got => Err(Error::OutOfOrder { previous, got }),
        _ => Ok(()),
    }
}

/// Every move of a position is one, and there only once.
pub(crate) fn check_moves(
    key: PositionKey,
    moves: impl Iterator<Item = PackedMove>,
) -> Result<(), Error> {
    let mut words: Vec<PackedMove> = moves.collect();
    if let Some(wrong) = words.iter().find(|mv| mv.from() == mv.to() || mv.polyglot() >> 12 > 4) {
        return Err(Error::NotAMove { key, word: wrong.polyglot() });
    }
    words.sort_unstable_by_key(|mv| mv.polyglot());
    match words.windows(2).find(|pair| pair[0].polyglot() == pair[1].polyglot()) {
        Some(pair) => Err(Error::DuplicateMove { key, mv: pair[0].to_string() }),
        None => Ok(()),
    }
}

/// Writes entries exactly as they are given, in their order, the header's too: for copies that
/// must be the same file.
pub fn restore(
    path: impl AsRef<Path>,
    entries: impl Iterator<Item = RawEntry>,
) -> Result<Written, Error> {
    let path = path.as_ref();
    let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
    let mut draft = Draft::create(path)?;
    let (mut count, mut positions, mut last) = (0, 0, None);
    for entry in entries {
        let weight = u16::try_from(entry.weight).map_err(|_| {
            let RawEntry { key, weight, .. } = entry;
            Error::Option(format!(
                "position {key} has the weight {weight}: PolyGlot's end at 65535"
            ))
        })?;
        let (key, learn) = (entry.key.0, entry.learn.unwrap_or_default());
        draft.write(&Stored { key, word: entry.word, weight, learn }.to_bytes())?;
        count += 1;
        positions += u64::from(last != Some(key));
        last = Some(key);
    }
    draft.sync()?;
    let file = draft.publish()?;
    folder.keep()?;
    Ok(Written { files: vec![file], entries: count, positions })
}
