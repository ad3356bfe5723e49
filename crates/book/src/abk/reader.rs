//! Reading Arena books: the tree is played through once on opening.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use shakmaty::{Chess, Move, Position, Role, Square};
use tabiya_model::{PackedMove, PositionKey};

use super::{
    ACTIVE, AUTHOR, COMMENT, DEPTH, FIRST, HEADER, MAX_DEPTH, MAX_SIBLINGS, RECORD, Record, START,
};
use crate::{
    Book, BookFile, BookMove, Entries, Error, Format, Games, Info, Item, Part, Probe, RawEntry,
    Verified, Walk,
    sniff::{self, Looks},
    source::{Pages, Source},
};

/// An Arena book open for reading: all its moves in memory, some 80 bytes each.
#[derive(Debug)]
pub struct Reader {
    source: Source,
    header: Header,
    entries: Entries,
    positions: u64,
    tree: Tree,
    dropped: AtomicU64,
}

#[derive(Debug)]
struct Header {
    comment: String,
    author: String,
    depth: u32,
    active: u32,
}

impl Reader {
    /// Opens a book and plays all its lines.
    ///
    /// # Errors
    ///
    /// [`Error::NotABook`] without the mark, [`Error::Truncated`] if the header is not whole,
    /// [`Error::Corrupt`] if the header says that records are elsewhere or of another size.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, Error> {
        let path = path.as_ref();
        if sniff::look(path)? != Looks::Abk {
            let looks = "it does not begin like an Arena book".to_owned();
            return Err(Error::NotABook { path: path.to_owned(), looks });
        }
        let source = Source::open(path)?;
        if source.len() < START {
            return Err(Error::Truncated {
                path: path.to_owned(),
                stated: START,
                actual: source.len(),
            });
        }
        let header = Header::read(&source)?;
        let mut tree = Tree::default();
        let items = tree.play(&source)?;
        let entries = Entries::new(merge(items));
        let positions = entries.positions().count() as u64;
        Ok(Reader { source, header, entries, positions, tree, dropped: AtomicU64::new(0) })
    }

    /// All its moves.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    fn notes(&self) -> Vec<String> {
        let unreached = self.tree.records.saturating_sub(self.tree.reached);
        let mut notes = Vec::new();
        if unreached > 0 {
            notes.push(format!("{unreached} records are in no line: they are never played"));
        }
        let active = self.tree.records.saturating_sub(self.tree.off);
        if self.header.active != 0 && u64::from(self.header.active) != active {
            let stated = self.header.active;
            notes.push(format!("{active} moves are switched on, the header says {stated}"));
        }
        notes
    }
}

impl Header {
    fn read(source: &Source) -> Result<Header, Error> {
        let mut bytes = [0; HEADER];
        source.read(0, &mut bytes)?;
        let number = |at: usize| {
            let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
            u32::from_le_bytes(word.copied().unwrap_or_default())
        };
        let (start, size) = (number(4), number(8));
        if (start, size) != (START as u32, RECORD as u32) && (start, size) != (0, 0) {
            return Err(Error::Corrupt {
                path: source.path().to_owned(),
                part: Part::Header,
                detail: format!(
                    "records of {size} bytes from {start} on, not of {RECORD} from {START} on"
                ),
            });
        }
        Ok(Header {
            comment: text(&bytes, COMMENT),
            author: text(&bytes, AUTHOR),
            depth: number(DEPTH),
            active: number(ACTIVE),
        })
    }
}

/// A text behind a byte that says how long it is. Arena writes the code page of its user; what is
/// not UTF-8 is taken for Latin-1.
fn text(header: &[u8], (at, limit): (usize, usize)) -> String {
    let len = header.get(at).map_or(0, |&len| usize::from(len).min(limit));
    let bytes = header.get(at + 1..at + 1 + len).unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// What playing all lines finds.
#[derive(Debug, Default)]
struct Tree {
    /// Records behind the header, and how many of them are in a line.
    records: u64,
    reached: u64,
    /// Moves switched off, in lines or not.
    off: u64,
    /// Half-moves of the longest line.
    depth: u32,
    torn: u64,
    back: Fault,
    outside: Fault,
    no_move: Fault,
    illegal: Fault,
    crowded: Fault,
    deep: Fault,
}

/// A kind of damage: how often, and first in which record.
#[derive(Debug, Default)]
struct Fault {
    times: u64,
    first: u64,
}

impl Fault {
    fn at(&mut self, record: u64) {
        if self.times == 0 {
            self.first = record;
        }
        self.times += 1;
    }
}

/// The replies to a line, still to be played.
struct Branch {
    first: u32,
    position: Chess,
    depth: u32,
}

impl Tree {
    /// Plays all lines, each record once, and gives the legal moves as they come.
    fn play(&mut self, source: &Source) -> Result<Vec<Item>, Error> {
        let mut pages = Pages::new(source);
        self.records = (source.len() - START) / RECORD as u64;
        self.torn = (source.len() - START) % RECORD as u64;
        for record in 0..self.records {
            let bytes = pages.read(source, START + record * RECORD as u64)?;
            self.off += u64::from(Record::from_bytes(&bytes).is_off());
        }
        let mut visited = Visited::default();
        let mut items = Vec::new();
        let mut branches = Vec::new();
        if self.records > 0 {
            branches.push(Branch { first: FIRST, position: Chess::default(), depth: 0 });
        }
        while let Some(branch) = branches.pop() {
            let below = branches.len();
            for (index, record) in self.siblings(source, &mut pages, &mut visited, branch.first)? {
                let Some(m) = self.legal(index, &record, &branch.position) else { continue };
                self.reached += 1;
                self.depth = self.depth.max(branch.depth + 1);
                items.push(item(&record, m, &branch.position));
                let Some(first) = self.link(record.child, index) else { continue };
                if branch.depth + 1 >= MAX_DEPTH {
                    self.deep.at(u64::from(index));
                    continue;
                }
                let mut position = branch.position.clone();
                position.play_unchecked(m);
                branches.push(Branch { first, position, depth: branch.depth + 1 });
            }
            // The first reply is next in most files, so what follows is read in order.
            branches.get_mut(below..).unwrap_or_default().reverse();
        }
        Ok(items)
    }

    /// The alternatives from `first` on that were not visited before.
    fn siblings(
        &mut self,
        source: &Source,
        pages: &mut Pages,
        visited: &mut Visited,
        first: u32,
    ) -> Result<Vec<(u32, Record)>, Error> {
        let mut found = Vec::new();
        let (mut next, mut before) = (Some(first), first);
        while let Some(index) = next {
            if !visited.insert(index) {
                self.back.at(u64::from(before));
                break;
            }
            if found.len() == MAX_SIBLINGS {
                self.crowded.at(u64::from(index));
                break;
            }
            let bytes = pages.read(source, u64::from(index) * RECORD as u64)?;
            let record = Record::from_bytes(&bytes);
            found.push((index, record));
            next = self.link(record.sibling, index);
            before = index;
        }
        Ok(found)
    }

    /// Where a link leads. −1 says "nowhere", and so does the 0 of some writers.
    fn link(&mut self, link: i32, record: u32) -> Option<u32> {
        let index = u32::try_from(link).ok().filter(|&index| index != 0);
        let inside = |index: u32| index >= FIRST && u64::from(index - FIRST) < self.records;
        match index {
            Some(index) if inside(index) => Some(index),
            None if link == -1 || link == 0 => None,
            _ => {
                self.outside.at(u64::from(record));
                None
            }
        }
    }

    fn legal(&mut self, index: u32, record: &Record, position: &Chess) -> Option<Move> {
        let Some(mv) = packed(record) else {
            self.no_move.at(u64::from(index));
            return None;
        };
        let m = mv.to_move(position);
        if m.is_none() {
            self.illegal.at(u64::from(index));
        }
        m
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.torn > 0 {
            problems.push(format!("bytes after the last whole record: {}", self.torn));
        }
        for (fault, text) in [
            (&self.back, "links lead to a record that is in a line already: not followed"),
            (&self.outside, "links lead out of the book: not followed"),
            (&self.no_move, "records name no squares or no piece to promote to: left out"),
            (&self.illegal, "moves are illegal where they stand: left out with what follows them"),
            (&self.crowded, "positions have more than 218 moves: the rest is left out"),
            (&self.deep, "lines have more than 1000 half-moves: the rest is left out"),
        ] {
            if fault.times > 0 {
                problems.push(format!("{} {text} (first at record {})", fault.times, fault.first));
            }
        }
        problems
    }
}

/// Records seen, one bit each; grows with the highest one.
#[derive(Default)]
struct Visited(Vec<u64>);

impl Visited {
    /// Whether it was not there yet.
    fn insert(&mut self, index: u32) -> bool {
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let Some(word) = self.0.get_mut(word) else { return false };
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

fn packed(record: &Record) -> Option<PackedMove> {
    let square = |number: u8| Square::try_from(number).ok();
    let promotion = match record.promotion.unsigned_abs() {
        0 => None,
        1 => Some(Role::Rook),
        2 => Some(Role::Knight),
        3 => Some(Role::Bishop),
        4 => Some(Role::Queen),
        _ => return None,
    };
    let (from, to) = (square(record.from)?, square(record.to)?);
    (from != to).then(|| PackedMove::from_parts(from, to, promotion))
}

fn item(record: &Record, m: Move, position: &Chess) -> Item {
    let draws = record.games.saturating_sub(record.won).saturating_sub(record.lost);
    let (wins, losses) = match position.turn().is_white() {
        true => (record.won, record.lost),
        false => (record.lost, record.won),
    };
    let games = Games { wins: wins.into(), draws: draws.into(), losses: losses.into() };
    // Until all lines are added up: whether the move is switched on.
    let on = u32::from(!record.is_off());
    Item {
        priority: Some(record.priority),
        games: Some(games),
        settled: true,
        ..Item::new(PositionKey::of(position), PackedMove::new(m), on)
    }
}

/// Adds up what the lines say about one move of one position.
fn merge(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(|item| (item.key, item.mv.polyglot()));
    items.dedup_by(|next, kept| {
        let same = (next.key, next.mv) == (kept.key, kept.mv);
        if same {
            kept.weight = kept.weight.max(next.weight);
            kept.priority = kept.priority.max(next.priority);
            if let (Some(games), Some(more)) = (&mut kept.games, &next.games) {
                games.add(more);
            }
        }
        same
    });
    for item in &mut items {
        item.weight = weight(item);
    }
    items
}

/// Half-points, at least 1, or the priority where no games are known; 0 if Arena would never play
/// the move, because it is switched off in all lines or has the priority 0.
fn weight(item: &Item) -> u32 {
    let priority = item.priority.unwrap_or_default();
    if item.weight == 0 || priority == 0 {
        return 0;
    }
    match item.games {
        Some(games) if games.count() > 0 => games.half_points().max(1),
        _ => u32::from(priority),
    }
}

impl Probe for Reader {
    fn probe(&self, position: &Chess, moves: &mut Vec<BookMove>) -> Result<(), Error> {
        let dropped = self.entries.probe(position, moves);
        self.dropped.fetch_add(dropped, Ordering::Relaxed);
        Ok(())
    }
}

impl Walk for Reader {
    /// By key: the file has lines, not positions.
    fn walk(&self, each: &mut dyn FnMut(RawEntry) -> Result<(), Error>) -> Result<(), Error> {
        self.entries.walk(each)
    }
}

impl Book for Reader {
    fn format(&self) -> Format {
        Format::Abk
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn damage(&self) -> Vec<String> {
        self.tree.problems()
    }

    fn info(&self) -> Info {
        let mut warnings = self.damage();
        warnings.extend(self.notes());
        Info {
            format: self.format(),
            files: vec![BookFile { path: self.source.path().to_owned(), bytes: self.source.len() }],
            bytes: self.source.len(),
            entries: self.entries.items().len() as u64,
            positions: self.positions,
            codec: None,
            blocks: None,
            id: None,
            meta: Some(serde_json::json!({
                "comment": self.header.comment,
                "author": self.header.author,
                "records": self.tree.records,
                "in_lines": self.tree.reached,
                "switched_off": self.tree.off,
                "longest_line": self.tree.depth,
                "stated_depth": self.header.depth,
            })),
            warnings,
        }
    }

    fn verify(&self) -> Result<Verified, Error> {
        Ok(Verified {
            entries: self.entries.items().len() as u64,
            positions: self.positions,
            problems: self.damage(),
            unlisted: 0,
        })
    }
}
