//! `scores.db`: the scores of all runs, in one SQLite file.
//!
//! Scores are what a user's machines worked for longest, so they are kept where people can open,
//! count and merge them: one table keyed by engine and position, and one that names the engines.
//! An engine is everything a score depends on ([`Identity`](crate::Identity), as text), a position
//! is its FEN without the clocks. Positions set aside are not kept: the next run tries them again.
//!
//! The file is never believed blindly. Its pages are checked when it is opened, and each score
//! carries a checksum over itself, its position and its engine: a damaged file is an error that
//! says so, never a wrong score.

mod row;
mod upkeep;

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use shakmaty::{CastlingMode, Chess, fen::Fen};

use self::row::Row;
use crate::{Evaluation, fen::fen};

pub use upkeep::{Added, Entry, Flaws, Holdings};

/// "tbys": what SQLite files of ours say in their header.
const APPLICATION: i32 = 0x7462_7973;
/// The version of the tables.
const VERSION: i32 = 1;
/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(30);

/// `kind` is `cp`, `mate` (in so many moves) or `mated`, seen by the side to move; `win`, `draw`
/// and `loss` are per mille, where the engine says them.
const TABLES: &str = "
CREATE TABLE engines (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE scores (
    engine INTEGER NOT NULL REFERENCES engines (id),
    position TEXT NOT NULL,
    kind TEXT NOT NULL,
    value INTEGER NOT NULL,
    win INTEGER,
    draw INTEGER,
    loss INTEGER,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (engine, position)
) STRICT, WITHOUT ROWID;
";

const LOOK_UP: &str = "SELECT kind, value, win, draw, loss, checksum FROM scores \
                       WHERE engine = ?1 AND position = ?2";
const STORE: &str = "INSERT INTO scores \
                     (engine, position, kind, value, win, draw, loss, checksum) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
                     ON CONFLICT (engine, position) DO NOTHING";

/// The same, but chances that come later complete a score.
const COMPLETE: &str = "INSERT INTO scores \
                        (engine, position, kind, value, win, draw, loss, checksum) \
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
                        ON CONFLICT (engine, position) DO UPDATE SET \
                        kind = excluded.kind, value = excluded.value, win = excluded.win, \
                        draw = excluded.draw, loss = excluded.loss, checksum = excluded.checksum \
                        WHERE scores.win IS NULL AND excluded.win IS NOT NULL";

/// An open `scores.db`.
///
/// Its calls block. What one of them has stored survives the death of the process.
pub struct ScoreStore {
    connection: Connection,
    path: PathBuf,
}

/// A position as scores are filed under it: placement, turn, castling rights and legal en passant
/// square, as in a FEN.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredPosition(String);

impl StoredPosition {
    /// The position, whatever its clocks.
    pub fn of(position: &Chess) -> StoredPosition {
        let mut text = fen(position);
        if let Some(clocks) = text.rmatch_indices(' ').nth(1).map(|(index, _)| index) {
            text.truncate(clocks);
        }
        StoredPosition(text)
    }

    /// Reads a text as it stands in the file: a legal position, written in the one way.
    pub fn parse(text: &str) -> Option<StoredPosition> {
        let fen: Fen = text.parse().ok()?;
        let position: Chess = fen.into_position(CastlingMode::Standard).ok()?;
        Some(StoredPosition::of(&position)).filter(|position| position.0 == text)
    }

    /// The text in the file.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why stored scores cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is something else, or its beginning is damaged.
    #[error(
        "{path}: no file of scores, or damaged at its beginning ({what}): move it aside, and a \
         new one is begun"
    )]
    NotScores {
        /// The file.
        path: PathBuf,
        /// What stands against it.
        what: String,
    },
    /// The file has tables of another version.
    #[error(
        "{path}: written by another version of tabiya (tables {found}, not {VERSION}): use that \
         one, or move the file aside, and a new one is begun"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: i32,
    },
    /// The file is not as it was written.
    #[error(
        "{path}: damaged ({what}): move it aside, and a new one is begun; `tabiya scores merge \
         --salvage` takes what is sound from the old one; check the disk, too"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// There is no such file.
    #[error("{path}: no such file: `tabiya run` begins one in the work folder")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Another process keeps the file to itself.
    #[error("{path}: in use by another process: wait for it, or name another checkpoint.dir")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("{path}: {error}: check that there is room and that it may be read and written")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        error: rusqlite::Error,
    },
    /// Its folder cannot be made.
    #[error("{path}: {error}: the folder for scores cannot be made")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}

impl StoreError {
    fn new(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => {
                StoreError::NotScores { path, what: error.to_string() }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                StoreError::Damaged { path, what: error.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            _ if is_odd_value(&error) => StoreError::Damaged { path, what: error.to_string() },
            _ => StoreError::Sqlite { path, error },
        }
    }
}

/// Whether a column holds what was never written there.
fn is_odd_value(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

impl ScoreStore {
    /// Opens the file and checks its pages; begins a new one, and its folder, if it is not there.
    ///
    /// # Errors
    ///
    /// The file is not one of scores, is damaged, or cannot be read and written.
    pub fn open(path: impl Into<PathBuf>) -> Result<ScoreStore, StoreError> {
        let path = path.into();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| StoreError::Folder { path: folder.to_owned(), error })?;
        }
        let mut store = ScoreStore::connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        // Immediate, so that of two processes that begin the file one waits for the other.
        store.check_tables(TransactionBehavior::Immediate)?;
        store.check_pages()?;
        store.write_ahead()?;
        Ok(store)
    }

    /// Opens a file that must be there and may be damaged, to look into it.
    ///
    /// # Errors
    ///
    /// There is no such file, it is not one of scores, or it cannot be read.
    pub fn inspect(path: impl Into<PathBuf>) -> Result<ScoreStore, StoreError> {
        let path = path.into();
        if !path.exists() {
            return Err(StoreError::Missing { path });
        }
        let mut store = ScoreStore::connect(path, OpenFlags::empty())?;
        store.check_tables(TransactionBehavior::Deferred)?;
        Ok(store)
    }

    fn connect(path: PathBuf, how: OpenFlags) -> Result<ScoreStore, StoreError> {
        let failed = |error| StoreError::new(&path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | how;
        let connection = Connection::open_with_flags(&path, flags).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        Ok(ScoreStore { connection, path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The scores of the positions by this engine, in the order asked; `None` where there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is damaged.
    pub fn look_up(
        &mut self,
        engine: &str,
        positions: &[StoredPosition],
    ) -> Result<Vec<Option<Evaluation>>, StoreError> {
        let ScoreStore { connection, path } = self;
        let failed = |error| StoreError::new(path, error);
        // One transaction, so that the file is locked once and not for each position.
        let transaction = connection.transaction().map_err(failed)?;
        let Some(id) = engine_id(&transaction, engine).map_err(failed)? else {
            return Ok(vec![None; positions.len()]);
        };
        let mut select = transaction.prepare_cached(LOOK_UP).map_err(failed)?;
        let mut scores = Vec::with_capacity(positions.len());
        for StoredPosition(position) in positions {
            let row = select.query_row(params![id, position], |row| Row::read(row, 0));
            scores.push(match row.optional().map_err(failed)? {
                Some(row) => Some(row.check(engine, position).ok_or_else(|| {
                    let what = format!("the score of {position} by {engine}");
                    StoreError::Damaged { path: path.clone(), what }
                })?),
                None => None,
            });
        }
        Ok(scores)
    }

    /// Stores scores of this engine: all of them, or none when it fails. One that is there stays,
    /// unless it lacks the chances that the new one says.
    ///
    /// # Errors
    ///
    /// The file cannot be written or is damaged.
    pub fn store(
        &mut self,
        engine: &str,
        scores: &[(StoredPosition, Evaluation)],
    ) -> Result<(), StoreError> {
        let ScoreStore { connection, path } = self;
        store(connection, engine, scores).map_err(|error| StoreError::new(path, error))
    }

    fn check_pages(&self) -> Result<(), StoreError> {
        let first: String = self
            .connection
            .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
            .map_err(|error| StoreError::new(&self.path, error))?;
        match first.as_str() {
            "ok" => Ok(()),
            _ => {
                let what = first.trim().replace('\n', " ");
                Err(StoreError::Damaged { path: self.path.clone(), what })
            }
        }
    }

    /// With a write-ahead log a commit costs no wait for the disk, and only a power cut can lose
    /// the last ones. Where there can be none, as on some network drives, each commit waits.
    fn write_ahead(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::new(&self.path, error);
        let mode = write_ahead(&self.connection).map_err(failed)?;
        let synchronous = if mode == "wal" { "NORMAL" } else { "FULL" };
        self.connection.pragma_update(None, "synchronous", synchronous).map_err(failed)
    }

    /// Makes sure that the file is ours; whoever is about to write makes the tables in a new one.
    fn check_tables(&mut self, how: TransactionBehavior) -> Result<(), StoreError> {
        let ScoreStore { connection, path } = self;
        let failed = |error| StoreError::new(path, error);
        let transaction = connection.transaction_with_behavior(how).map_err(failed)?;
        let number = |query| transaction.query_row(query, [], |row| row.get::<_, i32>(0));
        let tables = number("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
        let application = number("PRAGMA application_id").map_err(failed)?;
        let version = number("PRAGMA user_version").map_err(failed)?;
        match (tables, application, version) {
            (0, 0, 0) if matches!(how, TransactionBehavior::Immediate) => {
                transaction.execute_batch(TABLES).map_err(failed)?;
                transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
                transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
            }
            (_, APPLICATION, VERSION) => {
                for statement in [LOOK_UP, STORE, "SELECT id, identity FROM engines"] {
                    if let Err(error) = transaction.prepare(statement) {
                        let what = error.to_string();
                        return Err(StoreError::Damaged { path: path.clone(), what });
                    }
                }
            }
            (_, APPLICATION, found) => {
                return Err(StoreError::Version { path: path.clone(), found });
            }
            _ => {
                let what = "an SQLite file of something else".to_owned();
                return Err(StoreError::NotScores { path: path.clone(), what });
            }
        }
        transaction.commit().map_err(failed)
    }
}

/// Turns to a write-ahead log. SQLite does not wait for other processes here, so this does.
fn write_ahead(connection: &Connection) -> rusqlite::Result<String> {
    const PAUSE: Duration = Duration::from_millis(20);
    let start = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < PATIENCE =>
            {
                thread::sleep(PAUSE);
            }
            result => return result,
        }
    }
}

fn engine_id(transaction: &Transaction<'_>, engine: &str) -> rusqlite::Result<Option<i64>> {
    transaction
        .prepare_cached("SELECT id FROM engines WHERE identity = ?1")?
        .query_row([engine], |row| row.get(0))
        .optional()
}

fn store(
    connection: &mut Connection,
    engine: &str,
    scores: &[(StoredPosition, Evaluation)],
) -> rusqlite::Result<()> {
    // Immediate: one that begins with reading cannot wait for another process to end its writing.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id = own_id(&transaction, engine)?;
    let mut insert = transaction.prepare_cached(COMPLETE)?;
    for (position, evaluation) in scores {
        Row::new(engine, position.as_str(), *evaluation).store(
            &mut insert,
            id,
            position.as_str(),
        )?;
    }
    drop(insert);
    transaction.commit()
}

/// The engine's number; a new one for a new engine.
fn own_id(transaction: &Transaction<'_>, engine: &str) -> rusqlite::Result<i64> {
    if let Some(id) = engine_id(transaction, engine)? {
        return Ok(id);
    }
    transaction.execute("INSERT INTO engines (identity) VALUES (?1)", [engine])?;
    Ok(transaction.last_insert_rowid())
}

#[cfg(test)]
mod tests {
    use tabiya_model::{Score, Wdl};

    use super::*;

    const ENGINE: &str = "uci ucinewgame; Fake 1; depth 4";
    const SCORES: [Score; 8] = [
        Score::Cp(0),
        Score::Cp(i32::MIN),
        Score::Cp(i32::MAX),
        Score::MateIn(0),
        Score::MateIn(5),
        Score::MatedIn(0),
        Score::MatedIn(7),
        Score::MateIn(u32::MAX),
    ];

    fn position(fen: &str) -> StoredPosition {
        let fen: Fen = fen.parse().unwrap();
        StoredPosition::of(&fen.into_position::<Chess>(CastlingMode::Standard).unwrap())
    }

    /// As many positions as there are scores.
    fn positions() -> Vec<StoredPosition> {
        let fen = |file| format!("4k3/8/8/8/8/8/{}P{}/4K3 w - - 0 1", file + 1, 6 - file);
        let fen = |file| fen(file).replace(['0'], "");
        let mut positions: Vec<_> = (0..6).map(|file| position(&fen(file))).collect();
        positions.push(position("4k3/8/8/8/8/8/P7/4K3 w - - 0 1"));
        positions.push(position("4k3/8/8/8/8/8/P7/4K3 b - - 0 1"));
        positions
    }

    /// Every other one with chances.
    fn evaluations() -> Vec<Evaluation> {
        let wdl = |index| (index % 2 == 1).then(|| Wdl::new(index, 900, 100 - index)).flatten();
        (0..).zip(SCORES).map(|(index, score)| Evaluation { score, wdl: wdl(index) }).collect()
    }

    fn pairs() -> Vec<(StoredPosition, Evaluation)> {
        positions().into_iter().zip(evaluations()).collect()
    }

    /// A file with [`pairs`] of [`ENGINE`].
    fn filled(folder: &Path) -> PathBuf {
        let path = folder.join("deep/down/scores.db");
        let mut store = ScoreStore::open(&path).unwrap();
        store.store(ENGINE, &pairs()).unwrap();
        path
    }

    #[test]
    fn what_was_stored_is_found_again_by_its_engine_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path());
        let mut store = ScoreStore::open(&path).unwrap();
        let expected: Vec<_> = evaluations().into_iter().map(Some).collect();
        assert_eq!(store.look_up(ENGINE, &positions()).unwrap(), expected);
        assert_eq!(store.look_up("another", &positions()).unwrap(), [None; 8]);
        let start = position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        assert_eq!(store.look_up(ENGINE, &[start]).unwrap(), [None]);
        // The first score of a position stays: here are no chances that could complete it.
        let again = positions().into_iter().map(|position| (position, Score::Cp(9).into()));
        store.store(ENGINE, &again.collect::<Vec<_>>()).unwrap();
        assert_eq!(store.look_up(ENGINE, &positions()).unwrap(), expected);
        let holdings = Holdings { engine: ENGINE.to_owned(), scores: 8, mates: 5, chances: 4 };
        assert_eq!(store.holdings().unwrap(), [holdings]);
    }

    #[test]
    fn a_score_without_chances_is_completed_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ScoreStore::open(folder.path().join("scores.db")).unwrap();
        let position = positions().remove(0);
        let with = |cp, wdl| Evaluation { score: Score::Cp(cp), wdl };
        let chances = Wdl::new(120, 800, 80);
        let table = [
            (with(7, None), with(7, None)),
            (with(8, None), with(7, None)),
            (with(9, chances), with(9, chances)),
            (with(10, Wdl::new(0, 1000, 0)), with(9, chances)),
            (with(11, None), with(9, chances)),
        ];
        for (stored, kept) in table {
            store.store(ENGINE, &[(position.clone(), stored)]).unwrap();
            let found = store.look_up(ENGINE, std::slice::from_ref(&position)).unwrap();
            assert_eq!(found, [Some(kept)], "after {stored:?}");
        }
    }

    #[test]
    fn positions_are_filed_without_clocks_and_with_legal_en_passant_alone() {
        let table = [
            (
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 7 30",
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
            ),
            (
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
                "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6",
            ),
        ];
        for (fen, text) in table {
            assert_eq!(position(fen).as_str(), text);
            assert_eq!(StoredPosition::parse(text), Some(position(fen)));
            assert_eq!(StoredPosition::parse(fen), None);
        }
    }

    #[test]
    fn two_processes_may_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.db");
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || {
                    let mut store = ScoreStore::open(path).unwrap();
                    for pair in pairs() {
                        store.store(ENGINE, &[pair]).unwrap();
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(ScoreStore::open(path).unwrap().holdings().unwrap()[0].scores, 8);
    }

    /// Bytes are changed one after the other, all over the file. It is never a panic and never a
    /// wrong score: an error, or a score that is right or missing.
    #[test]
    fn no_damaged_byte_makes_a_wrong_score() {
        let folder = tempfile::tempdir().unwrap();
        let sound = fs::read(filled(folder.path())).unwrap();
        let path = folder.path().join("damaged.db");
        let mut refused = 0;
        let nonzero = (0..sound.len()).filter(|&at| sound[at] != 0);
        let places: Vec<usize> = nonzero.chain((0..sound.len()).step_by(997)).collect();
        for &at in &places {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            let read =
                ScoreStore::open(&path).and_then(|mut store| store.look_up(ENGINE, &positions()));
            match read {
                Ok(read) => {
                    for (read, right) in read.into_iter().zip(evaluations()) {
                        assert!(read.is_none_or(|read| read == right), "byte {at}: {read:?}");
                    }
                }
                Err(error) => {
                    assert!(error.to_string().contains("damaged.db"), "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > places.len() / 4, "{refused} of {}", places.len());
    }

    #[test]
    fn a_score_that_was_changed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path());
        let connection = Connection::open(&path).unwrap();
        connection.execute("UPDATE scores SET value = value + 1 WHERE kind = 'mated'", []).unwrap();
        let error = ScoreStore::open(&path).unwrap().look_up(ENGINE, &positions()).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        let text = error.to_string();
        for part in ["scores.db", "4k3/8/8", ENGINE, "move it aside"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text.db");
        fs::write(&text, "no database at all, but long enough to be looked at".repeat(99)).unwrap();
        assert!(matches!(ScoreStore::open(&text), Err(StoreError::NotScores { .. })));

        let other = folder.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        let before = fs::read(&other).unwrap();
        assert!(matches!(ScoreStore::open(&other), Err(StoreError::NotScores { .. })));
        assert_eq!(fs::read(&other).unwrap(), before);

        let newer = filled(folder.path());
        Connection::open(&newer).unwrap().pragma_update(None, "user_version", 2).unwrap();
        let refused = ScoreStore::open(&newer);
        assert!(matches!(refused, Err(StoreError::Version { found: 2, .. })));

        assert!(matches!(ScoreStore::open(text.join("x.db")), Err(StoreError::Folder { .. })));
        assert!(matches!(ScoreStore::open(folder.path()), Err(StoreError::Sqlite { .. })));
    }

    #[test]
    fn half_a_file_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = filled(folder.path());
        let sound = fs::read(&path).unwrap();
        fs::write(&path, &sound[..sound.len() / 2]).unwrap();
        let error = ScoreStore::open(&path).err().unwrap();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    }
}
