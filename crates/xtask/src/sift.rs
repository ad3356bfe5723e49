//! Games that polyglot reads, and counts as we do.
//!
//! polyglot stops at the first heading, illegal move or castling with zeros that it meets, takes
//! an unfinished game for a draw, and counts a move that a game repeats more than once. What is
//! left after such games are taken out is the same job for both programs.

use std::{
    collections::HashSet,
    fs,
    io::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{Chess, EnPassantMode, Move, Position, zobrist::Zobrist64};

use crate::{corpus::file_name, program};

/// Plies in which no move may repeat.
const PLIES: usize = 24;

/// What is left of a file.
pub(crate) struct Sifted {
    /// The games that are left.
    pub(crate) path: PathBuf,
    /// How many.
    pub(crate) kept: usize,
    /// How many there were.
    pub(crate) read: usize,
}

/// Copies the suitable games of a plain file, byte by byte.
pub(crate) fn sift(source: &Path) -> Result<Sifted> {
    let path = program::bench_folder()?.join(format!("sifted-{}", file_name(source)));
    let text = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
    let mut out = std::io::BufWriter::new(fs::File::create(&path)?);
    let (mut kept, mut read) = (0, 0);
    for record in records(&text) {
        read += 1;
        if is_suitable(record) {
            kept += 1;
            out.write_all(record)?;
            out.write_all(b"\n\n")?;
        }
    }
    out.flush()?;
    Ok(Sifted { path, kept, read })
}

/// The text from each tag section to the next.
pub(crate) fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut starts = Vec::new();
    let (mut at, mut in_tags) = (0, false);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let is_tag = line.starts_with(b"[") && line.contains(&b'"');
        if is_tag && !in_tags {
            starts.push(at);
        }
        in_tags = is_tag || (in_tags && line.trim_ascii().is_empty());
        at += line.len();
    }
    starts.push(text.len());
    (1..starts.len()).map(move |index| &text[starts[index - 1]..starts[index]])
}

/// Whether polyglot reads this game and counts it as we do.
pub(crate) fn is_suitable(record: &[u8]) -> bool {
    let record = record.trim_ascii_end();
    let zeros = record.windows(3).any(|window| window == b"0-0");
    let mut game = Sieve::default();
    let outcome = Reader::new(record).read_game(&mut game);
    let legal = matches!(outcome, Ok(Some(true)));
    !zeros && legal && !game.result.is_empty() && record.ends_with(&game.result)
}

#[derive(Default)]
struct Sieve {
    result: Vec<u8>,
    unsuitable: bool,
}

/// A game being replayed.
struct Replay {
    position: Chess,
    seen: HashSet<(Zobrist64, Move)>,
    plies: usize,
}

impl Visitor for Sieve {
    type Tags = ();
    type Movetext = Replay;
    /// Whether the game is suitable.
    type Output = bool;

    fn begin_tags(&mut self) -> ControlFlow<bool> {
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<bool> {
        let value = value.as_bytes();
        match name {
            b"Result" if matches!(value, b"1-0" | b"0-1" | b"1/2-1/2") => {
                self.result = value.to_vec();
            }
            b"Result" | b"FEN" | b"SetUp" => self.unsuitable = true,
            b"Variant" => self.unsuitable |= !value.eq_ignore_ascii_case(b"standard"),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<bool, Replay> {
        if self.unsuitable {
            return ControlFlow::Break(false);
        }
        ControlFlow::Continue(Replay { position: Chess::default(), seen: HashSet::new(), plies: 0 })
    }

    fn san(&mut self, game: &mut Replay, san: SanPlus) -> ControlFlow<bool> {
        let Ok(m) = san.san.to_move(&game.position) else { return ControlFlow::Break(false) };
        if game.plies < PLIES {
            let key = game.position.zobrist_hash(EnPassantMode::PseudoLegal);
            if !game.seen.insert((key, m)) {
                return ControlFlow::Break(false);
            }
        }
        game.position.play_unchecked(m);
        game.plies += 1;
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Replay) -> ControlFlow<bool, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, game: Replay) -> bool {
        game.plies > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &[u8] = b"[Event \"a\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n";

    #[test]
    fn records_begin_at_tag_sections() {
        let text = b"news\n\n[Event \"a\"]\n\n[Site \"b\"]\n\n1. e4 *\n[Event \"c\"]\n\n1. d4 *\n";
        let records: Vec<&[u8]> = records(text).collect();
        assert_eq!(records.len(), 2);
        assert!(records[0].starts_with(b"[Event \"a\"]") && records[0].ends_with(b"e4 *\n"));
        assert_eq!(records[1], b"[Event \"c\"]\n\n1. d4 *\n");
    }

    #[test]
    fn only_what_both_count_alike_is_left() {
        assert!(is_suitable(GAME));
        let changed = |from: &str, to: &str| {
            is_suitable(String::from_utf8_lossy(GAME).replace(from, to).as_bytes())
        };
        assert!(!changed("Nf3", "Nf5"), "illegal");
        assert!(!changed("2. Nf3 1-0", "2. Nf3 0-1"), "conflict");
        assert!(!changed("1-0", "*"), "unfinished");
        assert!(!changed("2. Nf3", "2. Nf3 Nf6 3. Ng1 Ng8 4. Nf3"), "repeated move");
        assert!(!changed("[Result", "[FEN \"8/8/8/8/8/8/8/K1k5 w - - 0 1\"]\n[Result"), "set-up");
        assert!(!changed("1-0\n", "1-0\n\nNews of the day"), "a heading");
        assert!(changed("2. Nf3", "2. Nf3 {quiet}"), "comments do no harm");
    }
}
