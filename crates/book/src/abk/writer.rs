//! Writing Arena books: a book of positions laid out as lines from the start of the game.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
};

use serde::Serialize;
use shakmaty::{Chess, Move, Position, Role, Square};
use tabiya_model::{PositionKey, Tally};

use super::{
    ACTIVE, AUTHOR, COMMENT, DEPTH, FIRST, HEADER, MAX_DEPTH, MAX_SIBLINGS, OFF, RECORD, Record,
    START,
};
use crate::{
    Choice, Entries, Error, Games, Item, Written,
    output::{Draft, Folder},
    sob_ranks,
};

/// What became of a book that was laid out as lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Laid {
    /// The file; entries and positions are those of the book that stand in it.
    pub written: Written,
    /// Records in the file: a move stands in it once for each line to its position that is laid
    /// out.
    pub records: u64,
    /// Entries of positions that no moves of the book lead to from the start of the game.
    pub unreached: u64,
    /// Entries of positions in the lines that are no legal moves there.
    pub illegal: u64,
    /// Positions to which further lines lead that end there, so that the file stays small.
    pub cut: u64,
}

/// Lines that transpose into a position that is laid out elsewhere are laid out too while there
/// are not more records than this many times the book's entries.
const REPEATS: usize = 4;

/// What Arena fills the header with.
const FILLER: u8 = b'x';

/// Writes the lines of a book as an Arena book.
///
/// Each position is laid out where the shortest line reaches it. Where another line reaches it,
/// its moves stand again, with their priority but without games, so that a reader who adds games
/// up by position gets what the book had; such copies stop at a position that is in the line
/// already, and at four times the book's entries. Where the book knows no games, its weight stands
/// for as many drawn games.
pub fn write(path: impl AsRef<Path>, book: &Entries, comment: &str) -> Result<Laid, Error> {
    let mut tree = Tree::default();
    tree.lay(book);
    let limit = book.items().len().saturating_mul(REPEATS);
    let cut = tree.repeat(limit);
    let order = tree.order();
    let written = tree.write(path.as_ref(), &order, comment)?;
    let reached = tree.entries + tree.illegal;
    Ok(Laid {
        written,
        records: order.len() as u64,
        unreached: (book.items().len() as u64).saturating_sub(reached),
        illegal: tree.illegal,
        cut,
    })
}

/// A move in a line. Siblings are neighbours in [`Tree::nodes`].
#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    depth: u32,
    /// The position after the move.
    key: PositionKey,
    record: Record,
    /// Where the replies are, and how many.
    replies: (usize, usize),
}

#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    roots: (usize, usize),
    /// Where the moves of a position were laid out first.
    first: HashMap<PositionKey, (usize, usize)>,
    /// Moves to positions that were laid out before, from the shortest line to the longest.
    repeats: VecDeque<usize>,
    entries: u64,
    illegal: u64,
}

impl Tree {
    /// Lays out every position once, the nearest first.
    fn lay(&mut self, book: &Entries) {
        let mut waiting = VecDeque::from([(None, Chess::default())]);
        while let Some((parent, position)) = waiting.pop_front() {
            let key = PositionKey::of(&position);
            let items = book.of(key);
            if self.first.contains_key(&key) {
                self.repeats.extend(parent);
                continue;
            }
            let depth =
                parent.and_then(|index: usize| self.nodes.get(index)).map_or(0, |n| n.depth);
            if items.is_empty() || depth >= MAX_DEPTH {
                continue;
            }
            let start = self.nodes.len();
            for (record, m) in self.records(items, &position) {
                let mut after = position.clone();
                after.play_unchecked(m);
                let key = PositionKey::of(&after);
                waiting.push_back((Some(self.nodes.len()), after));
                self.nodes.push(Node { parent, depth: depth + 1, key, record, replies: (0, 0) });
            }
            let replies = (start, self.nodes.len() - start);
            self.first.insert(key, replies);
            self.set_replies(parent, replies);
        }
    }

    fn set_replies(&mut self, parent: Option<usize>, replies: (usize, usize)) {
        match parent {
            None => self.roots = replies,
            Some(parent) => {
                if let Some(node) = self.nodes.get_mut(parent) {
                    node.replies = replies;
                }
            }
        }
    }

    /// The legal moves of a position, best first, without links.
    fn records(&mut self, items: &[Item], position: &Chess) -> Vec<(Record, Move)> {
        let ranks = ranks(items);
        let mut records: Vec<(Record, Move)> = Vec::new();
        for (item, rank) in items.iter().zip(ranks) {
            let known = |m| records.iter().any(|&(_, known)| known == m);
            match item.mv.to_move(position) {
                Some(m) if !known(m) && records.len() < MAX_SIBLINGS => {
                    self.entries += 1;
                    records.push((record(item, rank, m, position.turn().is_white()), m));
                }
                _ => self.illegal += 1,
            }
        }
        records
    }

    /// Copies the replies of positions that further lines reach; gives how many it did not.
    fn repeat(&mut self, limit: usize) -> u64 {
        let mut cut = 0;
        while let Some(index) = self.repeats.pop_front() {
            let Some(node) = self.nodes.get(index).cloned() else { continue };
            let (from, len) = self.first.get(&node.key).copied().unwrap_or_default();
            if len == 0 {
                continue;
            }
            let too_many = self.nodes.len() + len > limit || node.depth >= MAX_DEPTH;
            if too_many || self.is_in_line(index) {
                cut += 1;
                continue;
            }
            let start = self.nodes.len();
            for original in from..from + len {
                let Some(original) = self.nodes.get(original) else { continue };
                let record = Record { games: 0, won: 0, lost: 0, ..original.record };
                let copy = Node {
                    parent: Some(index),
                    depth: node.depth + 1,
                    key: original.key,
                    record,
                    replies: (0, 0),
                };
                if self.first.contains_key(&copy.key) {
                    self.repeats.push_back(self.nodes.len());
                }
                self.nodes.push(copy);
            }
            self.set_replies(Some(index), (start, self.nodes.len() - start));
        }
        cut
    }

    /// Whether the line to a node has had its position before.
    fn is_in_line(&self, index: usize) -> bool {
        let Some(node) = self.nodes.get(index) else { return false };
        let mut parent = node.parent;
        while let Some(above) = parent.and_then(|parent| self.nodes.get(parent)) {
            if above.key == node.key {
                return true;
            }
            parent = above.parent;
        }
        // The start of the game is no move's position.
        node.key == PositionKey::of(&Chess::default())
    }

    /// The nodes as Arena has them in the file: each followed by its replies, then its siblings.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let backwards = |(start, len): (usize, usize)| (start..start + len).rev();
        let mut waiting: Vec<usize> = backwards(self.roots).collect();
        while let Some(index) = waiting.pop() {
            order.push(index);
            if let Some(node) = self.nodes.get(index) {
                waiting.extend(backwards(node.replies));
            }
        }
        order
    }

    fn write(&self, path: &Path, order: &[usize], comment: &str) -> Result<Written, Error> {
        let count =
            u32::try_from(order.len()).ok().filter(|&count| count < i32::MAX as u32 - FIRST);
        if count.is_none() {
            return Err(Error::Option("an Arena book cannot have 2^31 records".to_owned()));
        }
        // Where each node is in the file.
        let mut places = vec![-1; self.nodes.len()];
        for (place, &index) in (FIRST as i32..).zip(order) {
            if let Some(slot) = places.get_mut(index) {
                *slot = place;
            }
        }
        let place = |index: usize| places.get(index).copied().unwrap_or(-1);
        let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
        let mut draft = Draft::create(path)?;
        draft.write(&self.header(comment))?;
        for &index in order {
            let Some(node) = self.nodes.get(index) else { continue };
            let (start, len) = node.parent.map_or(self.roots, |parent| {
                self.nodes.get(parent).map(|parent| parent.replies).unwrap_or_default()
            });
            let child = if node.replies.1 > 0 { place(node.replies.0) } else { -1 };
            let sibling = if index + 1 < start + len { place(index + 1) } else { -1 };
            draft.write(&Record { child, sibling, ..node.record }.to_bytes())?;
        }
        draft.sync()?;
        let file: (PathBuf, u64) = draft.publish()?;
        folder.keep()?;
        let positions = self.first.len() as u64;
        Ok(Written { files: vec![file], entries: self.entries, positions })
    }

    fn header(&self, comment: &str) -> Vec<u8> {
        let depth = self.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let active = self.nodes.iter().filter(|node| !node.record.is_off()).count() as u32;
        let mut header = vec![0; HEADER];
        let mut put = |at: usize, bytes: &[u8]| {
            for (to, from) in header.iter_mut().skip(at).zip(bytes) {
                *to = *from;
            }
        };
        put(0, b"\x03ABK");
        put(4, &(START as u32).to_le_bytes());
        put(8, &(RECORD as u32).to_le_bytes());
        put(COMMENT.0, &short_text(comment, COMMENT.1));
        put(AUTHOR.0, &short_text("tabiya", AUTHOR.1));
        put(DEPTH, &depth.to_le_bytes());
        put(ACTIVE, &active.to_le_bytes());
        // Least games and wins: none. Priority and results count, games less.
        for (at, setting) in [(238, 5_u32), (242, 2), (246, 2), (250, depth)] {
            put(at, &setting.to_le_bytes());
        }
        header.resize(START as usize, FILLER);
        header
    }
}

fn short_text(text: &str, limit: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        text.chars().filter(|c| c.is_ascii() && !c.is_ascii_control()).map(|c| c as u8).collect();
    bytes.truncate(limit);
    bytes.insert(0, bytes.len() as u8);
    bytes
}

/// Ranks of the moves of a position, 15 best to 0 never.
fn ranks(items: &[Item]) -> Vec<u8> {
    let choice =
        |item: &Item| Choice { mv: item.mv, value: item.weight.into(), tally: Tally::default() };
    sob_ranks(&items.iter().map(choice).collect::<Vec<_>>())
}

fn record(item: &Item, rank: u8, m: Move, white: bool) -> Record {
    let games = item.games.filter(|games| games.count() > 0).unwrap_or(match item.priority {
        Some(_) => Games::default(),
        None => Games { draws: item.weight.into(), ..Games::default() },
    });
    let (won, lost) = if white { (games.wins, games.losses) } else { (games.losses, games.wins) };
    let fits = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let never = item.weight == 0;
    // 1 to 9 by rank.
    let priority = item.priority.unwrap_or(if never { 0 } else { (rank.max(1) * 4 + 3) / 7 });
    Record {
        from: u8::from(m.from().unwrap_or(m.to())),
        to: u8::from(landing(m)),
        promotion: match m.promotion() {
            Some(Role::Rook) => 1,
            Some(Role::Knight) => 2,
            Some(Role::Bishop) => 3,
            Some(_) => 4,
            None => 0,
        },
        priority,
        games: fits(games.count()),
        won: fits(won),
        lost: fits(lost),
        flags: if never { OFF } else { 0 },
        child: -1,
        sibling: -1,
    }
}

/// Castling is the king's step of two squares.
fn landing(m: Move) -> Square {
    match m.castling_side() {
        Some(side) => Square::from_coords(side.king_to_file(), m.to().rank()),
        None => m.to(),
    }
}
