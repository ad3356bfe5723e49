//! What people do with their scores between runs: count, check, share, merge and save them.

use rusqlite::{Transaction, TransactionBehavior, params};

use super::{LOOK_UP, STORE, ScoreStore, StoreError, StoredPosition, own_id, row::Row};
use crate::Evaluation;

/// Scores that are moved at a time.
const BATCH: usize = 4096;
/// Flaws that are told one by one.
const TOLD: usize = 10;

/// One score with all that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The text of the engine's identity.
    pub engine: String,
    /// The position.
    pub position: StoredPosition,
    /// What the engine thinks of it.
    pub evaluation: Evaluation,
}

/// What there is of one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdings {
    /// The text of its identity.
    pub engine: String,
    /// Its scores.
    pub scores: u64,
    /// Those that are mates.
    pub mates: u64,
    /// Those with chances of a win, a draw and a loss.
    pub chances: u64,
}

/// What became of scores that were to be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// New ones.
    pub new: u64,
    /// Those that were there already.
    pub known: u64,
    /// Those that were there with another score, which stays.
    pub different: u64,
    /// Damaged ones, left out.
    pub damaged: u64,
}

/// What is wrong with a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// Scores that are sound.
    pub sound: u64,
    /// Scores that are not as they were written.
    pub damaged: u64,
    /// The first things found, in words; none when all is well.
    pub found: Vec<String>,
}

/// From which end a file is read.
#[derive(Clone, Copy)]
enum From {
    Start,
    End,
}

impl ScoreStore {
    /// What there is of each engine.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is damaged.
    pub fn holdings(&self) -> Result<Vec<Holdings>, StoreError> {
        const COUNT: &str = "SELECT identity, count(position), total(kind <> 'cp'), count(win) \
                             FROM engines LEFT JOIN scores ON engine = id \
                             GROUP BY id ORDER BY identity";
        let failed = |error| StoreError::new(&self.path, error);
        let mut select = self.connection.prepare(COUNT).map_err(failed)?;
        let holdings = |row: &rusqlite::Row<'_>| {
            Ok(Holdings {
                engine: row.get(0)?,
                scores: row.get::<_, i64>(1)?.unsigned_abs(),
                mates: row.get::<_, f64>(2)? as u64,
                chances: row.get::<_, i64>(3)?.unsigned_abs(),
            })
        };
        let rows = select.query_map([], holdings).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    /// Hands out every score, by engine and position. A damaged one ends it.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is damaged, or `each` failed.
    pub fn for_each<E>(&self, mut each: impl FnMut(Entry) -> Result<(), E>) -> Result<(), E>
    where
        E: std::convert::From<StoreError>,
    {
        self.read(From::Start, |found| match found {
            Ok(entry) => each(entry),
            Err(what) => Err(StoreError::Damaged { path: self.path.clone(), what }.into()),
        })
    }

    /// Adds scores: all of them, or none when it fails. What is there stays as it is.
    ///
    /// # Errors
    ///
    /// The file cannot be written or is damaged.
    pub fn add(&mut self, entries: &[Entry]) -> Result<Added, StoreError> {
        let ScoreStore { connection, path } = self;
        let failed = |error| StoreError::new(path, error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let mut added = Added::default();
        for entry in entries {
            let before = add(&transaction, entry).map_err(failed)?;
            let same = |row: Row| row.check(&entry.engine, entry.position.as_str());
            match before.map(same) {
                None => added.new += 1,
                Some(Some(evaluation)) if evaluation == entry.evaluation => added.known += 1,
                Some(Some(_)) => added.different += 1,
                Some(None) => {
                    let what = described(&entry.engine, entry.position.as_str());
                    return Err(StoreError::Damaged { path: path.clone(), what });
                }
            }
        }
        transaction.commit().map_err(failed)?;
        Ok(added)
    }

    /// Adds all scores of another file. With `salvage`, damaged ones are left out, and what cannot
    /// be read from the start is read from the end; otherwise damage ends it.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or is damaged.
    pub fn merge(&mut self, other: &ScoreStore, salvage: bool) -> Result<Added, StoreError> {
        let mut merger = Merger { store: self, batch: Vec::new(), added: Added::default() };
        if !salvage {
            other.for_each(|entry| merger.take(entry))?;
            return merger.finish();
        }
        for end in [From::Start, From::End] {
            let mut target_failed = false;
            let read = other.read(end, |found| match found {
                Ok(entry) => merger.take(entry).inspect_err(|_| target_failed = true),
                Err(_) => {
                    merger.added.damaged += 1;
                    Ok(())
                }
            });
            match read {
                Err(StoreError::Damaged { .. }) if !target_failed => {}
                // Read to the end: nothing is left for a second pass.
                other => {
                    other?;
                    break;
                }
            }
        }
        merger.finish()
    }

    /// Reads everything and says what is wrong with it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, for another reason than damage.
    pub fn check(&self) -> Result<Flaws, StoreError> {
        let mut flaws = Flaws { found: self.broken_pages()?, ..Flaws::default() };
        let read = self.read(From::Start, |found| {
            match found {
                Ok(_) => flaws.sound += 1,
                Err(what) => {
                    flaws.damaged += 1;
                    if flaws.found.len() < TOLD {
                        flaws.found.push(what);
                    }
                }
            }
            Ok(())
        });
        match read {
            Ok(()) => {}
            Err(StoreError::Damaged { what, .. }) => flaws.found.push(what),
            Err(error) => return Err(error),
        }
        Ok(flaws)
    }

    /// What SQLite finds wrong with its pages and the order of its keys.
    fn broken_pages(&self) -> Result<Vec<String>, StoreError> {
        let pages = || -> rusqlite::Result<Vec<String>> {
            let mut check = self.connection.prepare(&format!("PRAGMA integrity_check({TOLD})"))?;
            check.query_map([], |row| row.get(0))?.collect()
        };
        match pages().map_err(|error| StoreError::new(&self.path, error)) {
            Ok(found) if found == ["ok"] => Ok(Vec::new()),
            Ok(found) => Ok(found),
            Err(StoreError::Damaged { what, .. }) => Ok(vec![what]),
            Err(error) => Err(error),
        }
    }

    /// Reads all scores; a damaged one is its description.
    fn read<E>(
        &self,
        from: From,
        mut each: impl FnMut(Result<Entry, String>) -> Result<(), E>,
    ) -> Result<(), E>
    where
        E: std::convert::From<StoreError>,
    {
        let failed = |error| E::from(StoreError::new(&self.path, error));
        let order = match from {
            From::Start => "ORDER BY engine, position",
            From::End => "ORDER BY engine DESC, position DESC",
        };
        let select = format!(
            "SELECT coalesce(identity, 'engine ' || engine), position, \
             kind, value, win, draw, loss, checksum \
             FROM scores LEFT JOIN engines ON id = engine {order}"
        );
        let mut select = self.connection.prepare(&select).map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(entry(row))?;
        }
        Ok(())
    }
}

/// Gathers scores and adds them a batch at a time.
struct Merger<'a> {
    store: &'a mut ScoreStore,
    batch: Vec<Entry>,
    added: Added,
}

impl Merger<'_> {
    fn take(&mut self, entry: Entry) -> Result<(), StoreError> {
        self.batch.push(entry);
        if self.batch.len() < BATCH { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let added = self.store.add(&self.batch)?;
        self.batch.clear();
        self.added.new += added.new;
        self.added.known += added.known;
        self.added.different += added.different;
        Ok(())
    }

    fn finish(mut self) -> Result<Added, StoreError> {
        self.flush()?;
        Ok(self.added)
    }
}

/// Adds one score; the row that is there already, if there is one.
fn add(transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<Option<Row>> {
    let Entry { engine, position, evaluation } = entry;
    let position = position.as_str();
    let id = own_id(transaction, engine)?;
    let mut insert = transaction.prepare_cached(STORE)?;
    if Row::new(engine, position, *evaluation).store(&mut insert, id, position)? {
        return Ok(None);
    }
    let mut select = transaction.prepare_cached(LOOK_UP)?;
    select.query_row(params![id, position], |row| Row::read(row, 0)).map(Some)
}

/// What a row of the two tables says, if it is as it was written.
fn entry(row: &rusqlite::Row<'_>) -> Result<Entry, String> {
    let odd = |error: rusqlite::Error| format!("a score that cannot be read: {error}");
    let engine: String = row.get(0).map_err(odd)?;
    let position: String = row.get(1).map_err(odd)?;
    let evaluation = Row::read(row, 2).map_err(odd)?.check(&engine, &position);
    match (evaluation, StoredPosition::parse(&position)) {
        (Some(evaluation), Some(position)) => Ok(Entry { engine, position, evaluation }),
        _ => Err(described(&engine, &position)),
    }
}

fn described(engine: &str, position: &str) -> String {
    format!("the score of {position} by {engine}")
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use rusqlite::Connection;
    use tabiya_model::Score;

    use super::*;

    /// As many different positions, without a board full of them: two kings walk.
    fn entries(engine: &str, count: usize) -> Vec<Entry> {
        let positions = (0..8).flat_map(|white| {
            (0..8).flat_map(move |black| {
                (1..7).map(move |pawn| {
                    let rank = |file: usize, piece| match (file, 7 - file) {
                        (0, right) => format!("{piece}{right}"),
                        (left, 0) => format!("{left}{piece}"),
                        (left, right) => format!("{left}{piece}{right}"),
                    };
                    let (black, pawn, white) =
                        (rank(black, 'k'), rank(pawn, 'p'), rank(white, 'K'));
                    format!("{black}/8/8/{pawn}/8/8/8/{white} w - -")
                })
            })
        });
        let entry = |(index, text): (usize, String)| Entry {
            engine: engine.to_owned(),
            position: StoredPosition::parse(&text).unwrap(),
            evaluation: Score::Cp(index as i32).into(),
        };
        let entries: Vec<_> = positions.enumerate().map(entry).take(count).collect();
        assert_eq!(entries.len(), count);
        entries
    }

    fn file(folder: &Path, name: &str, entries: &[Entry]) -> (ScoreStore, PathBuf) {
        let path = folder.join(name);
        let mut store = ScoreStore::open(&path).unwrap();
        store.add(entries).unwrap();
        (store, path)
    }

    fn all(store: &ScoreStore) -> Vec<Entry> {
        let mut all = Vec::new();
        let push = |entry| {
            all.push(entry);
            Ok::<(), StoreError>(())
        };
        store.for_each(push).unwrap();
        all
    }

    #[test]
    fn merging_adds_what_is_new_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut mine = entries("b", 20);
        let (mut store, _) = file(folder.path(), "mine.db", &mine);
        let mut theirs = entries("b", 30);
        theirs[0].evaluation = Score::MateIn(3).into();
        theirs.extend(entries("a", 5));
        let (other, _) = file(folder.path(), "theirs.db", &theirs);
        let added = Added { new: 15, known: 19, different: 1, damaged: 0 };
        assert_eq!(store.merge(&other, false).unwrap(), added);
        let again = Added { new: 0, known: 34, different: 1, damaged: 0 };
        assert_eq!(store.merge(&other, false).unwrap(), again);
        mine.extend(theirs.drain(20..));
        let key = |entry: &Entry| (entry.engine.clone(), entry.position.clone());
        let mut merged = all(&store);
        merged.sort_by_key(key);
        mine.sort_by_key(key);
        assert_eq!(merged, mine);
        assert_eq!(store.check().unwrap(), Flaws { sound: 35, ..Flaws::default() });
        let engines: Vec<_> = store.holdings().unwrap();
        let engines: Vec<_> = engines.iter().map(|of| (of.engine.as_str(), of.scores)).collect();
        assert_eq!(engines, [("a", 5), ("b", 30)]);
    }

    #[test]
    fn damaged_scores_are_counted_named_and_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (store, path) = file(folder.path(), "old.db", &entries("a", 50));
        let connection = Connection::open(path).unwrap();
        connection.execute("UPDATE scores SET value = 1000 WHERE value % 10 = 0", []).unwrap();
        connection.execute("UPDATE engines SET identity = 'b' WHERE identity = 'x'", []).unwrap();
        let flaws = store.check().unwrap();
        assert_eq!((flaws.sound, flaws.damaged, flaws.found.len()), (45, 5, 5));
        assert!(flaws.found[0].contains("w - - by a"), "{:?}", flaws.found);

        let mut fresh = ScoreStore::open(folder.path().join("new.db")).unwrap();
        assert!(matches!(fresh.merge(&store, false), Err(StoreError::Damaged { .. })));
        let mut fresh = ScoreStore::open(folder.path().join("newer.db")).unwrap();
        let added = fresh.merge(&store, true).unwrap();
        assert_eq!((added.new, added.damaged), (45, 5));
        assert_eq!(fresh.check().unwrap(), Flaws { sound: 45, ..Flaws::default() });
    }

    #[test]
    fn a_broken_page_costs_its_own_scores_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (store, path) = file(folder.path(), "old.db", &entries("a", 330));
        let sound = all(&store);
        drop(store);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        assert!(bytes.len() > 5 * 4096);
        bytes[middle..middle + 4096].fill(0);
        std::fs::write(&path, &bytes).unwrap();

        assert!(matches!(ScoreStore::open(&path), Err(StoreError::Damaged { .. })));
        let broken = ScoreStore::inspect(&path).unwrap();
        assert!(!broken.check().unwrap().found.is_empty());
        let mut fresh = ScoreStore::open(folder.path().join("new.db")).unwrap();
        let added = fresh.merge(&broken, true).unwrap();
        assert!((200..330).contains(&added.new), "{added:?}");
        assert!(all(&fresh).iter().all(|entry| sound.contains(entry)));
    }

    #[test]
    fn looking_makes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.db");
        assert!(matches!(ScoreStore::inspect(&path), Err(StoreError::Missing { .. })));
        std::fs::write(&path, "").unwrap();
        assert!(matches!(ScoreStore::inspect(&path), Err(StoreError::NotScores { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
