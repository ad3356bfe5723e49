//! From any book to any other: what is read, what is written, and what is lost on the way.

use std::{collections::HashMap, path::Path};

use serde::Serialize;
use shakmaty::{Chess, Square};
use tabiya_model::{PackedMove, PositionKey, Tally};

use crate::{
    Book, BookWriter, Choice, Entries, Error, Format, Item, RawEntry, Written, abk, polyglot,
    polyglot_weights, rows, sob, walk,
};

/// A book in memory, with its format, and what of it is not there, in words.
#[derive(Debug)]
pub struct Loaded {
    /// The entries; each move of a position is there once.
    pub entries: Entries,
    /// The format they come from; `None` for JSON lines.
    pub format: Option<Format>,
    /// What was left out or changed by reading, one sentence each.
    pub losses: Vec<String>,
}

/// What a book is written as.
#[derive(Clone, Debug)]
pub enum Target {
    /// PolyGlot's `.bin`.
    Polyglot,
    /// A folder with a `.sob` pair.
    Sob(sob::Options),
    /// Arena's `.abk`.
    Abk,
    /// JSON lines.
    Rows,
}

/// A book that was written, and what of the source is not in it, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// The files and their counts.
    #[serde(flatten)]
    pub written: Written,
    /// What was lost or changed, one sentence each.
    pub losses: Vec<String>,
}

/// Reads a book of any readable format, or JSON lines, into memory.
///
/// Words that mean different moves in different positions (castling, promotion) are settled for
/// all positions that play from the start of the game leads to; other positions keep them as they
/// stand. Entries of the same move of a position become one, their weights are added.
///
/// # Errors
///
/// What [`crate::open`] and [`crate::Walk::walk`] give.
pub fn load(path: impl AsRef<Path>) -> Result<Loaded, Error> {
    let path = path.as_ref();
    if rows::looks_like_rows(path)? {
        return settle(rows::read(path)?, None, None);
    }
    let book = crate::open(path)?;
    let mut raw = Vec::new();
    book.walk(&mut |entry| {
        raw.push(entry);
        Ok(())
    })?;
    let mut loaded = settle(raw, Some(&*book), Some(book.format()))?;
    let mut losses = book.damage();
    losses.extend(book.left_out());
    losses.append(&mut loaded.losses);
    Ok(Loaded { losses, ..loaded })
}

/// Makes items of entries.
pub(crate) fn settle(
    raw: Vec<RawEntry>,
    book: Option<&dyn Book>,
    format: Option<Format>,
) -> Result<Loaded, Error> {
    let mut losses = Vec::new();
    let given = raw.len();
    let mut items: Vec<Item> = raw.iter().filter_map(Item::of).collect();
    say(&mut losses, given - items.len(), "entries are no move of any piece: left out");
    let key_of = |position: &Chess| match book {
        Some(book) => book.key(position).unwrap_or(PositionKey::of(position)),
        None => PositionKey::of(position),
    };
    let foreign = book.is_some_and(|book| !book.has_polyglot_keys());
    let steps = old_castlings(&items);
    let unsettled = settle_moves(&mut items, key_of);
    say(
        &mut losses,
        steps - old_castlings(&items),
        "castlings stand as the king's step, as in e1g1: they are PolyGlot's e1h1 from here on",
    );
    if foreign {
        let before = items.len();
        items.retain(|item| item.settled);
        let lost = before - items.len();
        say(&mut losses, lost, "entries are in no line from the start: they cannot get new keys");
    } else {
        say(
            &mut losses,
            unsettled,
            "moves may be castling or promotion, in positions that play from the start does not \
             lead to: they stay as they stand",
        );
    }
    let before = items.len();
    let items = unite(items);
    say(&mut losses, before - items.len(), "entries repeat a move: their weights were added");
    Ok(Loaded { entries: Entries::new(items), format, losses })
}

fn say(losses: &mut Vec<String>, count: usize, text: &str) {
    if count > 0 {
        losses.push(format!("{count} {text}"));
    }
}

/// Words of a PolyGlot book that may be castling as the king's step.
fn old_castlings(items: &[Item]) -> usize {
    let is_step = |mv: PackedMove| {
        let king = matches!(mv.from(), Square::E1 | Square::E8);
        king && mv.from().rank() == mv.to().rank() && mv.from().distance(mv.to()) == 2
    };
    items.iter().filter(|item| item.learn.is_some() && is_step(item.mv)).count()
}

/// Turns words into the moves they are where the position is known, and gives how many may be
/// something else where it is not.
fn settle_moves(items: &mut [Item], key_of: impl Fn(&Chess) -> PositionKey) -> usize {
    items.sort_by_key(|item| item.key);
    let mut places: HashMap<PositionKey, (usize, usize)> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        places.entry(item.key).or_insert((at, at)).1 = at;
    }
    walk::explore(
        |key| places.contains_key(&key),
        key_of,
        |position, key| {
            let Some(&(first, last)) = places.get(&key) else { return vec![] };
            let group = items.get_mut(first..=last).unwrap_or_default();
            group.iter_mut().filter_map(|item| item.settle(position)).collect()
        },
    );
    items.iter().filter(|item| !item.settled && is_ambiguous(item.mv)).count()
}

/// Whether a word without a board may be castling or a promotion.
fn is_ambiguous(mv: PackedMove) -> bool {
    let king = matches!(mv.from(), Square::E1 | Square::E8);
    let castling = king && mv.from().rank() == mv.to().rank() && mv.from().distance(mv.to()) > 1;
    let rank = mv.from().rank();
    let promotion = (rank == shakmaty::Rank::Seventh && mv.to().rank() == shakmaty::Rank::Eighth)
        || (rank == shakmaty::Rank::Second && mv.to().rank() == shakmaty::Rank::First);
    castling || (promotion && mv.promotion().is_none())
}

/// Entries of one move of one position become one, as [`crate::Probe::moves`] gives them.
fn unite(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(|item| (item.key, item.mv.polyglot()));
    items.dedup_by(|next, kept| {
        let same = (next.key, next.mv.polyglot()) == (kept.key, kept.mv.polyglot());
        if same {
            kept.weight = kept.weight.saturating_add(next.weight);
            kept.rank = kept.rank.max(next.rank);
            kept.priority = kept.priority.max(next.priority);
            if let (Some(games), Some(more)) = (&mut kept.games, &next.games) {
                games.add(more);
            }
        }
        same
    });
    items
}

/// Writes entries as a book, or as JSON lines.
///
/// # Errors
///
/// When the disk fails, and what the writers refuse; no file appears then.
pub fn save(
    entries: &Entries,
    path: impl AsRef<Path>,
    target: &Target,
) -> Result<Converted, Error> {
    let path = path.as_ref();
    match target {
        Target::Polyglot => save_polyglot(entries, path),
        Target::Sob(options) => save_sob(entries, path, options.clone()),
        Target::Abk => save_abk(entries, path),
        Target::Rows => {
            let raw = entries.items().iter().map(Item::raw);
            Ok(Converted { written: rows::write(path, raw)?, losses: Vec::new() })
        }
    }
}

fn choices(items: &[Item]) -> Vec<Choice> {
    let choice =
        |item: &Item| Choice { mv: item.mv, value: item.weight.into(), tally: Tally::default() };
    items.iter().map(choice).collect()
}

fn is_ranked(items: &[Item]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.rank.is_some())
}

/// A rank as a weight: the best is the greatest there is.
const RANK: u32 = 65_535 / 15;

fn save_polyglot(entries: &Entries, path: &Path) -> Result<Converted, Error> {
    let mut writer = Box::new(polyglot::Writer::create(path)?);
    let (mut scaled, mut ranked, mut nameless) = (0, 0, 0);
    for items in entries.positions() {
        let weights: Vec<u16> = if is_ranked(items) {
            ranked += items.len();
            let rank = |item: &Item| u32::from(item.rank.unwrap_or_default()) * RANK;
            items.iter().map(|item| u16::try_from(rank(item)).unwrap_or(u16::MAX)).collect()
        } else {
            scaled += usize::from(items.iter().any(|item| item.weight > u32::from(u16::MAX)));
            polyglot_weights(&choices(items))
        };
        let key = items.first().map(|item| item.key).unwrap_or_default();
        nameless += if key.0 == 0 { items.len() } else { 0 };
        let moves: Vec<(PackedMove, u16, u32)> = items
            .iter()
            .zip(weights)
            .map(|(item, weight)| (item.mv, weight, item.learn.unwrap_or_default()))
            .collect();
        writer.weighted(key, &moves)?;
    }
    let mut losses = Vec::new();
    say(&mut losses, ranked, "ranks became weights: 15 is 65,535, and so on down");
    say(&mut losses, scaled, "positions had weights above 65,535: all of theirs were scaled");
    say(&mut losses, nameless, "entries have the key 0, which readers take for text: left out");
    lost_numbers(&mut losses, entries, true);
    Ok(Converted { written: writer.finish()?, losses })
}

fn save_sob(entries: &Entries, path: &Path, options: sob::Options) -> Result<Converted, Error> {
    let mut writer = Box::new(sob::Writer::create(path, options)?);
    let (mut weighed, mut odd) = (0, 0);
    for items in entries.positions() {
        let ranks = if is_ranked(items) {
            items.iter().map(|item| item.rank.unwrap_or_default().min(15)).collect()
        } else {
            weighed += items.len();
            crate::sob_ranks(&choices(items))
        };
        let key = items.first().map(|item| item.key).unwrap_or_default();
        let moves: Vec<(PackedMove, u8)> = items
            .iter()
            .zip(ranks)
            .map(|(item, rank)| (item.mv, rank))
            .filter(|&(mv, rank)| sob::Word::new(mv, rank).is_some())
            .collect();
        odd += items.len() - moves.len();
        writer.ranked(key, &moves)?;
    }
    let mut losses = Vec::new();
    say(&mut losses, weighed, "weights became ranks from 15 to 1: their order stays");
    say(&mut losses, odd, "moves promote where no pawn can: left out");
    lost_numbers(&mut losses, entries, false);
    Ok(Converted { written: writer.finish()?, losses })
}

fn save_abk(entries: &Entries, path: &Path) -> Result<Converted, Error> {
    let laid = abk::write(path, entries, "written by tabiya")?;
    let mut losses = Vec::new();
    let many = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    say(
        &mut losses,
        many(laid.unreached),
        "entries are of positions that no moves of the book lead to from the start: left out",
    );
    say(&mut losses, many(laid.illegal), "entries are no legal moves: left out");
    say(
        &mut losses,
        many(laid.cut),
        "lines end where they meet another: the file would be too big",
    );
    let invented = entries.items().iter().filter(|item| item.games.is_none()).count();
    say(&mut losses, invented, "weights became numbers of drawn games: Arena stores nothing else");
    let learn = entries.items().iter().filter(|item| item.learn.is_some_and(|learn| learn != 0));
    say(&mut losses, learn.count(), "learn fields have no place: left out");
    Ok(Converted { written: laid.written, losses })
}

/// What neither PolyGlot nor `.sob` has a place for.
fn lost_numbers(losses: &mut Vec<String>, entries: &Entries, learns: bool) {
    let count = |is: &dyn Fn(&Item) -> bool| entries.items().iter().filter(|item| is(item)).count();
    if !learns {
        let learn = count(&|item| item.learn.is_some_and(|learn| learn != 0));
        say(losses, learn, "learn fields have no place: left out");
    }
    say(losses, count(&|item| item.games.is_some()), "results of games have no place: left out");
    say(losses, count(&|item| item.nag.is_some()), "marks of moves have no place: left out");
    say(losses, count(&|item| item.priority.is_some()), "priorities have no place: left out");
}

#[cfg(test)]
mod tests {
    use std::fs;

    use shakmaty::{Position, uci::UciMove};

    use super::*;
    use crate::{Games, Walk, sob::Codec};

    /// Entries along lines: each move of a line with a weight, castling as PolyGlot's word.
    fn book(lines: &[&str]) -> Vec<(PositionKey, PackedMove)> {
        let mut moves = Vec::new();
        for line in lines {
            let mut position = Chess::default();
            for m in line.split(' ') {
                let m = m.parse::<UciMove>().unwrap().to_move(&position).unwrap();
                let entry = (PositionKey::of(&position), PackedMove(PackedMove::new(m).polyglot()));
                if !moves.contains(&entry) {
                    moves.push(entry);
                }
                position.play_unchecked(m);
            }
        }
        moves.sort();
        moves
    }

    const CASTLING: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8 a2a3";
    const PROMOTION: &str = "h2h4 g7g5 h4g5 h7h6 g5h6 f8g7 h6g7 a7a6 g7h8n a6a5";

    fn write_bin(path: &Path, moves: &[(PositionKey, PackedMove)]) {
        let mut writer = Box::new(polyglot::Writer::create(path).unwrap());
        for group in moves.chunk_by(|a, b| a.0 == b.0) {
            let weights = (0..).map(|at| 1000 - 7 * at);
            let moves: Vec<_> =
                group.iter().zip(weights).map(|(&(_, mv), weight)| (mv, weight, 3)).collect();
            writer.weighted(group[0].0, &moves).unwrap();
        }
        writer.finish().unwrap();
    }

    fn sob() -> Target {
        Target::Sob(sob::Options::new(Codec::Compact))
    }

    fn moves(path: &Path) -> Vec<(PositionKey, u16)> {
        let loaded = load(path).unwrap();
        loaded.entries.items().iter().map(|item| (item.key, item.mv.polyglot())).collect()
    }

    #[test]
    fn there_and_back_keeps_every_move_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut entries = book(&[CASTLING, PROMOTION, "e2e4 c7c5", "d2d4", "e2e4 e7e5 f2f4"]);
        // No line leads there; the rook's move looks like castling.
        entries.push((PositionKey(u64::MAX), PackedMove(0x0107)));
        write_bin(&at("a.bin"), &entries);
        let first = load(at("a.bin")).unwrap();
        assert_eq!(first.format, Some(Format::Polyglot));
        assert!(first.losses[0].starts_with("1 moves may be castling"), "{:?}", first.losses);
        let there = save(&first.entries, at("sob"), &sob()).unwrap();
        assert!(there.losses[0].contains("weights became ranks"), "{:?}", there.losses);
        assert!(there.losses[1].contains("learn"), "{:?}", there.losses);
        let back = load(at("sob")).unwrap();
        let back = save(&back.entries, at("b.bin"), &Target::Polyglot).unwrap();
        assert!(back.losses[0].contains("ranks became weights"), "{:?}", back.losses);
        assert_eq!(moves(&at("a.bin")), moves(&at("b.bin")));
        save(&load(at("b.bin")).unwrap().entries, at("c"), &sob()).unwrap();
        for name in ["hashes.sob", "moves.sob"] {
            let (a, b) = (at("sob").join(name), at("c").join(name));
            assert_eq!(fs::read(a).unwrap(), fs::read(b).unwrap(), "{name}");
        }
    }

    #[test]
    fn castling_is_the_kings_step_where_the_position_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Only White's moves: replies lead back into the book.
        let mut white = book(&[CASTLING]);
        let mut position = Chess::default();
        let mut keys = Vec::new();
        for m in CASTLING.split(' ') {
            if position.turn().is_white() {
                keys.push(PositionKey::of(&position));
            }
            position.play_unchecked(m.parse::<UciMove>().unwrap().to_move(&position).unwrap());
        }
        white.retain(|(key, _)| keys.contains(key));
        write_bin(&at("white.bin"), &white);
        let loaded = load(at("white.bin")).unwrap();
        assert!(loaded.losses.is_empty(), "{:?}", loaded.losses);
        save(&loaded.entries, at("white"), &sob()).unwrap();
        let mut castled = Vec::new();
        let reader = sob::Reader::open(at("white")).unwrap();
        reader
            .walk(&mut |entry| {
                castled.push(entry.uci);
                Ok(())
            })
            .unwrap();
        assert!(castled.contains(&"e1g1".to_owned()), "{castled:?}");
    }

    #[test]
    fn entries_that_mean_the_same_become_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let mut moves = book(&[CASTLING]);
        let castling = moves.iter().find(|(_, mv)| mv.0 == 0x0107).copied().unwrap();
        moves.push((castling.0, PackedMove(0x0106)));
        moves.sort();
        write_bin(&path, &moves);
        let loaded = load(&path).unwrap();
        assert!(loaded.losses[0].starts_with("1 castlings stand as"), "{:?}", loaded.losses);
        assert!(loaded.losses[1].contains("1 entries repeat a move"), "{:?}", loaded.losses);
        assert_eq!(loaded.entries.of(castling.0)[0].weight, 1993);
    }

    #[test]
    fn json_lines_hold_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let item = Item::new(PositionKey(7), PackedMove(0x031c), 5);
        let items = [
            Item { learn: Some(u32::MAX), ..item },
            Item { games: Some(Games { wins: 1, draws: 2, losses: 3 }), priority: Some(9), ..item },
            Item { nag: Some(3), key: PositionKey(8), ..item },
        ];
        let raw: Vec<RawEntry> = items.iter().map(Item::raw).collect();
        let odd = RawEntry { word: 0xf31c, ..raw[0].clone() };
        let ranked = RawEntry { word: 0xf934, rank: Some(15), weight: 15, ..raw[2].clone() };
        let raw: Vec<RawEntry> = raw.into_iter().chain([odd, ranked]).collect();
        let written = rows::write(&path, raw.iter().cloned()).unwrap();
        assert_eq!((written.entries, written.positions), (5, 4));
        assert_eq!(rows::read(&path).unwrap(), raw);
        assert_eq!(load(&path).unwrap().format, None);
        for bad in ["{\"key\":1}", "{\"key\":\"0\",\"move\":\"e2e4\",\"weight\":1}", "{\"key\":"] {
            fs::write(&path, format!("\n{bad}\n")).unwrap();
            let error = rows::read(&path).unwrap_err();
            assert!(matches!(error, Error::BadRow { line: 2, .. }), "{error}");
        }
    }

    #[test]
    fn weights_beyond_polyglots_are_scaled_and_it_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let item = Item::new(PositionKey(7), PackedMove(0x031c), 140_000);
        let other = Item { mv: PackedMove(0x02db), weight: 70_000, ..item };
        let done = save(&Entries::new(vec![item, other]), &path, &Target::Polyglot).unwrap();
        assert!(done.losses[0].starts_with("1 positions had weights above"), "{:?}", done.losses);
        let weights: Vec<u32> =
            load(&path).unwrap().entries.items().iter().map(|item| item.weight).collect();
        assert_eq!(weights, [65_535, 32_768]);
    }
}
