//! Lines with their verdicts as bytes: one record after the other, packed with zstd.
//!
//! A record is a byte of flags, then what they announce: the score (4 bytes), the chances of a win,
//! a draw and a loss (2 bytes each), the start position (its FEN behind a length of 2 bytes), the
//! identity of the game (16 bytes); then the number of moves (2 bytes) and the moves. All numbers are little-endian. The manifest knows how many
//! records there are, and the checksum of the file.

use std::io::{self, Read, Write};

use shakmaty::{CastlingMode, Chess, EnPassantMode, fen::Fen};
use tabiya_model::{Evaluation, Line, Outcome, PackedMove, Score, Start, Wdl};

use crate::batch::{LineVerdict, Scored};

const MAGIC: &[u8; 8] = b"TABSEG\x02\n";
const LEVEL: i32 = 1;

const OUTCOME: u8 = 0b0000_0011;
const VERDICT: u8 = 0b0001_1100;
const START: u8 = 0b0010_0000;
const IDENTITY: u8 = 0b0100_0000;
const CHANCES: u8 = 0b1000_0000;

/// A segment that grows.
pub(super) struct Writer {
    encoder: zstd::Encoder<'static, Vec<u8>>,
    record: Vec<u8>,
    raw: usize,
}

impl Writer {
    pub(super) fn new() -> io::Result<Writer> {
        let encoder = zstd::Encoder::new(MAGIC.to_vec(), LEVEL)?;
        Ok(Writer { encoder, record: Vec::new(), raw: 0 })
    }

    /// Bytes of records in it, not packed.
    pub(super) fn len(&self) -> usize {
        self.raw
    }

    pub(super) fn push(&mut self, scored: &Scored, identity: Option<u128>) -> io::Result<()> {
        self.record.clear();
        encode(&mut self.record, scored, identity);
        self.raw += self.record.len();
        self.encoder.write_all(&self.record)
    }

    /// The bytes of the file.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        self.encoder.finish()
    }
}

fn encode(record: &mut Vec<u8>, scored: &Scored, identity: Option<u128>) {
    let line = &scored.line;
    let outcome = match line.outcome {
        Outcome::White => 0,
        Outcome::Black => 1,
        Outcome::Draw => 2,
    };
    let (verdict, number, wdl) = match scored.verdict {
        LineVerdict::Unasked => (0, None, None),
        LineVerdict::SetAside => (1, None, None),
        LineVerdict::Score(Evaluation { score, wdl }) => {
            let (kind, number) = match score {
                Score::Cp(cp) => (2, cp.to_le_bytes()),
                Score::MateIn(moves) => (3, moves.to_le_bytes()),
                Score::MatedIn(moves) => (4, moves.to_le_bytes()),
            };
            (kind, Some(number), wdl)
        }
    };
    let start = match &line.start {
        Start::Standard => None,
        Start::Position(position) => {
            Some(Fen::from_position(position.as_ref(), EnPassantMode::Always).to_string())
        }
    };
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    record.push(
        outcome
            | verdict << 2
            | flag(start.is_some(), START)
            | flag(identity.is_some(), IDENTITY)
            | flag(wdl.is_some(), CHANCES),
    );
    record.extend(number.into_iter().flatten());
    record.extend(wdl.iter().flat_map(|wdl| wdl.parts()).flat_map(u16::to_le_bytes));
    if let Some(fen) = start {
        record.extend((fen.len() as u16).to_le_bytes());
        record.extend(fen.as_bytes());
    }
    record.extend(identity.into_iter().flat_map(u128::to_le_bytes));
    record.extend((line.moves.len() as u16).to_le_bytes());
    for mv in &line.moves {
        record.extend(mv.0.to_le_bytes());
    }
}

/// A segment that is read. `None` from any of its functions: the bytes are no segment.
pub(super) struct Reader {
    records: Vec<u8>,
    at: usize,
}

impl Reader {
    pub(super) fn new(bytes: &[u8]) -> Option<Reader> {
        let packed = bytes.strip_prefix(MAGIC)?;
        let mut records = Vec::new();
        // A writer stops soon after 16 MiB; what asks for much more is none of ours.
        let limit = 1 << 30;
        let decoder = zstd::Decoder::with_buffer(packed).ok()?;
        decoder.take(limit).read_to_end(&mut records).ok()?;
        ((records.len() as u64) < limit).then_some(Reader { records, at: 0 })
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.records.len()
    }

    pub(super) fn next(&mut self) -> Option<(Scored, Option<u128>)> {
        let [flags] = self.array()?;
        let outcome = match flags & OUTCOME {
            0 => Outcome::White,
            1 => Outcome::Black,
            2 => Outcome::Draw,
            _ => return None,
        };
        let verdict = self.verdict(flags)?;
        let start = match flags & START {
            0 => Start::Standard,
            _ => Start::Position(Box::new(self.position()?)),
        };
        let identity = match flags & IDENTITY {
            0 => None,
            _ => Some(u128::from_le_bytes(self.array()?)),
        };
        let moves = usize::from(u16::from_le_bytes(self.array()?));
        let words = self.bytes(2 * moves)?.chunks_exact(2);
        let moves = words
            .map(|word| PackedMove(word.iter().rfold(0, |sum, &byte| sum << 8 | u16::from(byte))));
        let line = Line { start, moves: moves.collect(), outcome };
        Some((Scored { line, verdict }, identity))
    }

    fn verdict(&mut self, flags: u8) -> Option<LineVerdict> {
        let has_chances = flags & CHANCES != 0;
        let score = match (flags & VERDICT) >> 2 {
            0 => return (!has_chances).then_some(LineVerdict::Unasked),
            1 => return (!has_chances).then_some(LineVerdict::SetAside),
            2 => Score::Cp(i32::from_le_bytes(self.array()?)),
            3 => Score::MateIn(u32::from_le_bytes(self.array()?)),
            4 => Score::MatedIn(u32::from_le_bytes(self.array()?)),
            _ => return None,
        };
        let wdl = if has_chances { Some(self.chances()?) } else { None };
        Some(LineVerdict::Score(Evaluation { score, wdl }))
    }

    fn chances(&mut self) -> Option<Wdl> {
        let mut part = || self.array().map(u16::from_le_bytes);
        Wdl::new(part()?, part()?, part()?)
    }

    fn position(&mut self) -> Option<Chess> {
        let length = usize::from(u16::from_le_bytes(self.array()?));
        let fen: Fen = Fen::from_ascii(self.bytes(length)?).ok()?;
        fen.into_position(CastlingMode::Standard).ok()
    }

    fn bytes(&mut self, length: usize) -> Option<&[u8]> {
        let bytes = self.records.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scored(outcome: Outcome, verdict: LineVerdict, start: Start, moves: &[u16]) -> Scored {
        let moves = moves.iter().map(|&word| PackedMove(word)).collect();
        Scored { line: Line { start, moves, outcome }, verdict }
    }

    fn some() -> Vec<(Scored, Option<u128>)> {
        let fen = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3";
        let position: Chess =
            fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
        let set_up = Start::Position(Box::new(position));
        let score = |score: Score| LineVerdict::Score(score.into());
        let sure = Evaluation { score: Score::Cp(412), wdl: Wdl::new(871, 120, 9) };
        let mated = Evaluation { score: Score::MatedIn(9), wdl: Wdl::new(0, 0, 1000) };
        vec![
            (scored(Outcome::White, LineVerdict::Score(sure), set_up.clone(), &[5]), Some(1)),
            (scored(Outcome::Black, LineVerdict::Score(mated), Start::Standard, &[2, 3]), None),
            (scored(Outcome::White, LineVerdict::Unasked, Start::Standard, &[0x31c, 0xd24]), None),
            (scored(Outcome::Black, score(Score::Cp(-77)), set_up, &[1]), Some(u128::MAX - 5)),
            (scored(Outcome::Draw, score(Score::MateIn(3)), Start::Standard, &[]), Some(7)),
            (scored(Outcome::White, score(Score::MatedIn(0)), Start::Standard, &[0x8107]), None),
            (scored(Outcome::White, LineVerdict::SetAside, Start::Standard, &[9; 24]), None),
        ]
    }

    fn written(lines: &[(Scored, Option<u128>)]) -> Vec<u8> {
        let mut writer = Writer::new().unwrap();
        for (line, identity) in lines {
            writer.push(line, *identity).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let lines = some();
        let mut reader = Reader::new(&written(&lines)).unwrap();
        for line in &lines {
            assert_eq!(reader.next().as_ref(), Some(line));
        }
        assert!(reader.is_at_end());
        assert_eq!(reader.next(), None);
    }

    #[test]
    fn chances_without_a_score_are_damage() {
        for flags in [CHANCES, CHANCES | 1 << 2] {
            let mut reader = Reader { records: [&[flags][..], &[0; 20]].concat(), at: 0 };
            assert_eq!(reader.next(), None);
        }
    }

    proptest! {
        #[test]
        fn any_records_are_read_without_panic(records in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = Reader { records, at: 0 };
            while reader.next().is_some() {}
        }

        #[test]
        fn any_file_is_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Reader::new(&bytes);
            let _ = Reader::new(&[MAGIC.as_slice(), &bytes].concat());
        }
    }
}
