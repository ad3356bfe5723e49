//! One score as it stands in the file.

use rusqlite::{CachedStatement, params};
use tabiya_model::{Score, Wdl};
use xxhash_rust::xxh3::Xxh3;

use crate::Evaluation;

/// The columns of `scores` after the key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    kind: String,
    value: i64,
    /// Win, draw, loss.
    chances: [Option<i64>; 3],
    checksum: i64,
}

impl Row {
    pub(super) fn new(engine: &str, position: &str, evaluation: Evaluation) -> Row {
        let (kind, value) = match evaluation.score {
            Score::Cp(cp) => ("cp", i64::from(cp)),
            Score::MateIn(moves) => ("mate", i64::from(moves)),
            Score::MatedIn(moves) => ("mated", i64::from(moves)),
        };
        let chances = match evaluation.wdl {
            Some(wdl) => wdl.parts().map(|part| Some(i64::from(part))),
            None => [None; 3],
        };
        let mut row = Row { kind: kind.to_owned(), value, chances, checksum: 0 };
        row.checksum = row.sum(engine, position);
        row
    }

    /// Takes the columns from the one numbered `first` on.
    pub(super) fn read(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Row> {
        Ok(Row {
            kind: row.get(first)?,
            value: row.get(first + 1)?,
            chances: [row.get(first + 2)?, row.get(first + 3)?, row.get(first + 4)?],
            checksum: row.get(first + 5)?,
        })
    }

    /// Whether it is new there.
    pub(super) fn store(
        &self,
        insert: &mut CachedStatement<'_>,
        engine: i64,
        position: &str,
    ) -> rusqlite::Result<bool> {
        let [win, draw, loss] = self.chances;
        let Row { kind, value, checksum, .. } = self;
        let stored =
            insert.execute(params![engine, position, kind, value, win, draw, loss, checksum])?;
        Ok(stored > 0)
    }

    /// The evaluation, if the row is as it was written.
    pub(super) fn check(&self, engine: &str, position: &str) -> Option<Evaluation> {
        if self.checksum != self.sum(engine, position) {
            return None;
        }
        let score = match self.kind.as_str() {
            "cp" => Score::Cp(self.value.try_into().ok()?),
            "mate" => Score::MateIn(self.value.try_into().ok()?),
            "mated" => Score::MatedIn(self.value.try_into().ok()?),
            _ => return None,
        };
        let wdl = match self.chances {
            [None, None, None] => None,
            [Some(win), Some(draw), Some(loss)] => {
                let per_mille = |part: i64| part.try_into().ok();
                Some(Wdl::new(per_mille(win)?, per_mille(draw)?, per_mille(loss)?)?)
            }
            _ => return None,
        };
        Some(Evaluation { score, wdl })
    }

    /// Over the engine's text, not its number: the sum stays right in a merged file.
    fn sum(&self, engine: &str, position: &str) -> i64 {
        let mut hasher = Xxh3::new();
        for text in [engine, position, &self.kind] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.update(&self.value.to_le_bytes());
        for chance in self.chances {
            // Chances are never negative.
            hasher.update(&chance.unwrap_or(-1).to_le_bytes());
        }
        hasher.digest().cast_signed()
    }
}
