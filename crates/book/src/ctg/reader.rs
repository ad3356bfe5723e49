//! Reading ChessBase books: a look-up reads one page for the position and one for each move.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use shakmaty::{Chess, EnPassantMode, Move, Position};
use tabiya_model::{PackedMove, PositionKey};

use super::{
    PAGE, codes,
    page::{self, Damage, Record},
    signature::{self, Normal},
};
use crate::{
    Book, BookFile, BookMove, Error, Format, Info, Item, Probe, RawEntry, Verified, Walk,
    book::sort,
    sniff::{self, Looks},
    source::Source,
};

/// A ChessBase book open for reading.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    directory: Directory,
    /// Positions and games, as the header says.
    stated: [u32; 2],
    pages: u64,
    files: Vec<PathBuf>,
    dropped: AtomicU64,
    unreached: AtomicU64,
}

/// Where the page of a hash is.
#[derive(Debug)]
enum Directory {
    /// `X.cto`: page numbers from byte 16 on.
    File { source: Source, entries: u64 },
    /// Hash and page of every position, sorted.
    Index(Vec<(u32, u32)>),
}

const DIRECTORY_HEADER: u64 = 16;
const HEADER_POSITIONS: u64 = 24;

/// A move of a position, and what the position after it says about it.
struct Found {
    m: Move,
    after: Chess,
    item: Item,
    leads_on: bool,
}

impl Reader {
    /// Opens the `.ctg`, with the `.cto` beside it if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::NotABook`] without the mark, [`Error::Truncated`] if the header is not whole.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let path = path.as_ref();
        if sniff::look(path)? != Looks::Ctg {
            let looks = "it does not begin like a ChessBase book".to_owned();
            return Err(Error::NotABook { path: path.to_owned(), looks });
        }
        let source = Source::open(path)?;
        if source.len() < PAGE as u64 {
            let (stated, actual) = (PAGE as u64, source.len());
            return Err(Error::Truncated { path: path.to_owned(), stated, actual });
        }
        let mut stated = [0; 8];
        source.read(HEADER_POSITIONS, &mut stated)?;
        let [a, b, c, d, e, f, g, h] = stated;
        let pages = source.len() / PAGE as u64 - 1;
        let mut files = vec![path.to_owned()];
        let beside = |extension: &str| {
            let upper = path.extension().is_some_and(|own| own == "CTG");
            let extension = if upper { extension.to_uppercase() } else { extension.to_owned() };
            Some(path.with_extension(extension)).filter(|path| path.is_file())
        };
        let directory = match beside("cto") {
            Some(path) => {
                let source = Source::open(&path)?;
                files.push(path);
                let entries = source.len().saturating_sub(DIRECTORY_HEADER) / 4;
                Directory::File { source, entries }
            }
            None => Directory::Index(Vec::new()),
        };
        files.extend(beside("ctb"));
        let mut reader = Reader {
            source,
            directory,
            stated: [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])],
            pages,
            files,
            dropped: AtomicU64::new(0),
            unreached: AtomicU64::new(0),
        };
        if let Directory::Index(_) = reader.directory {
            reader.directory = Directory::Index(reader.index()?);
        }
        Ok(reader)
    }

    fn index(&self) -> Result<Vec<(u32, u32)>, Error> {
        let mut index = Vec::new();
        self.scan(|number, record| {
            if let Ok(record) = record {
                index.push((codes::hash(record.signature), number));
            }
        })?;
        index.sort_unstable();
        Ok(index)
    }

    /// All positions in the order of the file, and where a page cannot be read on.
    fn scan(&self, mut each: impl FnMut(u32, Result<Record, Damage>)) -> Result<(), Error> {
        for number in 0..u32::try_from(self.pages).unwrap_or(u32::MAX) {
            let page = self.page(number)?;
            page::records(&page).for_each(|record| each(number, record));
        }
        Ok(())
    }

    fn page(&self, number: u32) -> Result<[u8; PAGE], Error> {
        let mut page = [0; PAGE];
        self.source.read((u64::from(number) + 1) * PAGE as u64, &mut page)?;
        Ok(page)
    }

    /// Finds the record of a signature, and makes of it what is wanted; the number is its place.
    fn find<T>(
        &self,
        signature: &[u8],
        make: impl Fn(u64, &Record) -> T,
    ) -> Result<Option<T>, Error> {
        let hash = codes::hash(signature);
        let within = |number: u32| -> Result<Option<T>, Error> {
            if u64::from(number) >= self.pages {
                return Ok(None);
            }
            let page = self.page(number)?;
            for (at, record) in page::records(&page).enumerate() {
                match record {
                    Ok(record) if record.signature == signature => {
                        let place = u64::from(number) * PAGE as u64 + at as u64;
                        return Ok(Some(make(place, &record)));
                    }
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
            Ok(None)
        };
        match &self.directory {
            Directory::Index(index) => {
                let start = index.partition_point(|&(known, _)| known < hash);
                let rest = index.get(start..).unwrap_or_default();
                for &(_, number) in rest.iter().take_while(|&&(known, _)| known == hash) {
                    if let Some(found) = within(number)? {
                        return Ok(Some(found));
                    }
                }
            }
            Directory::File { source, entries } => {
                for bits in 0..32 {
                    let mask = (1_u64 << bits) - 1;
                    let slot = (u64::from(hash) & mask) + mask;
                    if slot >= *entries {
                        continue;
                    }
                    let mut number = [0; 4];
                    source.read(DIRECTORY_HEADER + 4 * slot, &mut number)?;
                    // Negative: nothing here.
                    let Ok(number) = u32::try_from(i32::from_be_bytes(number)) else { continue };
                    if let Some(found) = within(number)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
        Ok(None)
    }

    /// As [`Reader::find`], by the position. Writers differ in whether a pawn counts as capturable
    /// en passant if the capture is illegal: both are tried.
    fn find_position<T>(
        &self,
        position: &Chess,
        make: impl Fn(u64, &Record) -> T,
    ) -> Result<Option<(Normal, T)>, Error> {
        let legal = Normal::new(position, EnPassantMode::Legal);
        if let Some(found) = self.find(&legal.signature(), &make)? {
            return Ok(Some((legal, found)));
        }
        if position.ep_square(EnPassantMode::PseudoLegal)
            == position.ep_square(EnPassantMode::Legal)
        {
            return Ok(None);
        }
        let other = Normal::new(position, EnPassantMode::PseudoLegal);
        Ok(self.find(&other.signature(), &make)?.map(|found| (other, found)))
    }

    /// The legal moves of a position in the order of the file; its place; and how many are none.
    fn moves_of(&self, position: &Chess) -> Result<Option<(u64, Vec<Found>, u64)>, Error> {
        let taken = |place, record: &Record| (place, record.moves().collect::<Vec<_>>());
        let Some((normal, (place, codes))) = self.find_position(position, taken)? else {
            return Ok(None);
        };
        let mut moves: Vec<Found> = Vec::new();
        let mut dropped = 0;
        for (code, mark) in codes {
            match normal.to_move(code, position) {
                Some(m) if moves.iter().any(|known| known.m == m) => {}
                Some(m) => moves.push(self.judged(position, m, mark)?),
                None => dropped += 1,
            }
        }
        Ok(Some((place, moves, dropped)))
    }

    fn judged(&self, position: &Chess, m: Move, mark: u8) -> Result<Found, Error> {
        let mut after = position.clone();
        after.play_unchecked(m);
        let results =
            |_, record: &Record| (record.games(), record.total(), record.is_recommended());
        let results = self.find_position(&after, results)?.map(|(_, results)| results);
        let (games, total, recommended) = results.unwrap_or_default();
        // Without results the number of games says how good a move is.
        let worth = if games.count() > 0 { games.half_points() } else { total };
        let never = is_bad(mark) || recommended == Some(false);
        let weight = if never { 0 } else { worth.max(1) };
        let item = Item {
            nag: Some(mark & 0x1f).filter(|&nag| nag != 0),
            games: Some(games),
            settled: true,
            ..Item::new(PositionKey::of(position), PackedMove::new(m), weight)
        };
        Ok(Found { m, after, item, leads_on: results.is_some() })
    }

    /// Looks at every position by itself.
    fn survey(&self, deep: bool) -> Result<Survey, Error> {
        let mut survey = Survey::default();
        let mut failure = None;
        self.scan(|number, record| {
            let result = survey.add(self, number, record, deep);
            failure = failure.take().or(result.err());
        })?;
        match failure {
            Some(error) => Err(error),
            None => Ok(survey),
        }
    }
}

/// Whether a mark says that the move is bad: `?` or `??`. The upper bits mean something else.
fn is_bad(mark: u8) -> bool {
    matches!(mark & 0x1f, 2 | 4)
}

/// What a pass over all pages finds.
#[derive(Debug, Default)]
struct Survey {
    positions: u64,
    moves: u64,
    torn_pages: u64,
    first_torn: Option<(u32, Damage)>,
    /// Positions that the directory does not lead to.
    lost: u64,
    /// Signatures that are no position.
    no_position: u64,
    unknown_codes: u64,
    illegal: u64,
}

impl Survey {
    fn add(
        &mut self,
        reader: &Reader,
        number: u32,
        record: Result<Record, Damage>,
        deep: bool,
    ) -> Result<(), Error> {
        let record = match record {
            Ok(record) => record,
            Err(damage) => {
                self.torn_pages += 1;
                self.first_torn.get_or_insert((number, damage));
                return Ok(());
            }
        };
        self.positions += 1;
        self.moves += record.moves().count() as u64;
        if !deep {
            return Ok(());
        }
        self.lost += u64::from(reader.find(record.signature, |_, _| ())?.is_none());
        let Some(position) = signature::decode(record.signature) else {
            self.no_position += 1;
            return Ok(());
        };
        let normal = Normal::new(&position, EnPassantMode::PseudoLegal);
        for (code, _) in record.moves() {
            match codes::code(code) {
                None => self.unknown_codes += 1,
                Some(_) if normal.to_move(code, &position).is_none() => self.illegal += 1,
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some((number, damage)) = self.first_torn {
            problems.push(format!(
                "{} pages cannot be read to their end, first page {number}: {damage}",
                self.torn_pages
            ));
        }
        for (count, text) in [
            (self.lost, "positions are not where their hash leads: look-ups miss them"),
            (self.no_position, "positions are none"),
            (self.unknown_codes, "moves have a code that nobody knows: left out"),
            (self.illegal, "moves are illegal in their position: left out"),
        ] {
            if count > 0 {
                problems.push(format!("{count} {text}"));
            }
        }
        problems
    }
}

impl Probe for Reader {
    /// The weight is `2 * wins + draws` of the games in which the move was played, at least 1; the
    /// number of games if no result is known; 0 if the move is marked as bad or as not to be
    /// played.
    fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> Result<(), Error> {
        moves.clear();
        let Some((_, found, dropped)) = self.moves_of(position)? else { return Ok(()) };
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        moves.extend(found.into_iter().map(|found| BookMove {
            m: found.m,
            weight: found.item.weight,
            rank: None,
            learn: None,
            games: found.item.games,
        }));
        sort(moves);
        Ok(())
    }
}

impl Walk for Reader {
    /// From the start of the game along the moves of the book: a position in the file stands for
    /// both colours, so only play says whose it is.
    fn walk(&self, each: &mut dyn FnMut(RawEntry) -> Result<(), Error>) -> Result<(), Error> {
        let mut seen = HashSet::new();
        let mut places = HashSet::new();
        let mut waiting = vec![Chess::default()];
        seen.insert(PositionKey::of(&Chess::default()));
        while let Some(position) = waiting.pop() {
            let Some((place, found, _)) = self.moves_of(&position)? else { continue };
            places.insert(place);
            for found in found.into_iter().rev() {
                let Found { after, item, leads_on, .. } = found;
                each(item.raw())?;
                if leads_on && seen.insert(PositionKey::of(&after)) {
                    waiting.push(after);
                }
            }
        }
        let positions = self.survey(false)?.positions;
        let unreached = positions.saturating_sub(places.len() as u64);
        self.unreached.store(unreached, Ordering::Relaxed);
        Ok(())
    }
}

impl Book for Reader {
    fn format(&self) -> Format {
        Format::Ctg
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn damage(&self) -> Vec<String> {
        let torn = self.source.len() % PAGE as u64;
        let found = || format!("bytes after the last whole page: {torn}");
        (torn > 0).then(found).into_iter().collect()
    }

    fn left_out(&self) -> Vec<String> {
        let unreached = self.unreached.load(Ordering::Relaxed);
        let text = || format!("{unreached} positions are in no line from the start of the game");
        (unreached > 0).then(text).into_iter().collect()
    }

    fn info(&self) -> Info {
        let (survey, failure) = match self.survey(false) {
            Ok(survey) => (survey, None),
            Err(error) => (Survey::default(), Some(error.to_string())),
        };
        let mut warnings = self.damage();
        if let Directory::Index(_) = self.directory {
            warnings.push("there is no .cto beside it: all pages were read instead".to_owned());
        }
        warnings.extend(survey.problems());
        warnings.extend(failure);
        let files: Vec<BookFile> = self
            .files
            .iter()
            .map(|path| BookFile {
                path: path.clone(),
                bytes: std::fs::metadata(path).map_or(0, |file| file.len()),
            })
            .collect();
        let [positions, games] = self.stated;
        Info {
            format: self.format(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            files,
            entries: survey.moves,
            positions: survey.positions,
            codec: None,
            blocks: None,
            id: None,
            meta: Some(serde_json::json!({ "stated_positions": positions, "stated_games": games })),
            warnings,
        }
    }

    fn verify(&self) -> Result<Verified, Error> {
        let survey = self.survey(true)?;
        let mut problems = self.damage();
        problems.extend(survey.problems());
        let (entries, positions) = (survey.moves, survey.positions);
        Ok(Verified { entries, positions, problems, unlisted: 0 })
    }
}
