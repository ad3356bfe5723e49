//! The positions of a page.

use crate::Games;

use super::PAGE;

/// Bytes of the results behind the moves.
const RESULTS: usize = 33;

/// Why a page cannot be read on.
pub(super) type Damage = &'static str;

/// A position as it stands in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) signature: &'a [u8],
    /// Pairs of a move's code and its mark.
    moves: &'a [u8],
    results: &'a [u8],
}

impl Record<'_> {
    /// Code and mark of each move.
    pub(super) fn moves(&self) -> impl Iterator<Item = (u8, u8)> {
        self.moves.as_chunks::<2>().0.iter().map(|&[code, mark]| (code, mark))
    }

    /// Games through the position, whether their result is known or not.
    pub(super) fn total(&self) -> u32 {
        self.number(0)
    }

    /// How the games went, seen by the side that just moved.
    pub(super) fn games(&self) -> Games {
        Games {
            wins: self.number(6).into(),
            draws: self.number(9).into(),
            losses: self.number(3).into(),
        }
    }

    /// Whether the author wants the move that leads here played; `None` if nothing is said.
    pub(super) fn is_recommended(&self) -> Option<bool> {
        match self.results.get(30).copied().unwrap_or_default() {
            byte if byte & 0x80 != 0 => Some(true),
            byte if byte & 0x40 != 0 => Some(false),
            _ => None,
        }
    }

    fn number(&self, at: usize) -> u32 {
        let bytes = self.results.get(at..at + 3).unwrap_or_default();
        bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }
}

/// The positions of a page, until one cannot be read.
pub(super) fn records(page: &[u8; PAGE]) -> impl Iterator<Item = Result<Record<'_>, Damage>> {
    let [a, b, c, d, ..] = *page;
    let count = u16::from_be_bytes([a, b]);
    let used = usize::from(u16::from_be_bytes([c, d])).min(PAGE);
    let mut rest = page.get(4..used).unwrap_or_default();
    let mut failed = false;
    (0..count).map_while(move |_| {
        if failed {
            return None;
        }
        let record = take(&mut rest);
        failed = record.is_err();
        Some(record)
    })
}

fn take<'a>(rest: &mut &'a [u8]) -> Result<Record<'a>, Damage> {
    const SHORT: Damage = "a position reaches past the bytes the page uses";
    let length = usize::from(rest.first().ok_or(SHORT)? & 0x1f);
    // A board without pieces has eight bytes of signature, and flags or a zero.
    if length < 2 {
        return Err("the length of a signature is none");
    }
    let (signature, after) = rest.split_at_checked(length).ok_or(SHORT)?;
    let length = usize::from(*after.first().ok_or(SHORT)?);
    if length % 2 == 0 {
        return Err("the length of a list of moves is none");
    }
    let (moves, after) = after.split_at_checked(length).ok_or(SHORT)?;
    let (results, after) = after.split_at_checked(RESULTS).ok_or(SHORT)?;
    *rest = after;
    Ok(Record { signature, moves: moves.get(1..).unwrap_or_default(), results })
}
