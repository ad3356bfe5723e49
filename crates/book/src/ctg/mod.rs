//! ChessBase's `.ctg`, read only: positions in pages of 4 KiB, found by a hash.
//!
//! `X.ctg` holds the positions, `X.cto` a directory from hashes to pages; without it an index is
//! made on opening, 8 bytes a position. `X.ctb` holds what a writer needs and is not read. All
//! numbers are big-endian. The first page is a header of which little is known.
//!
//! A page is the number of its positions, the bytes it uses, and the positions back to back: a
//! signature that is the whole position (`signature`), the moves with their marks (`codes`), and
//! the results of all games through the position. So what a move is worth stands with the position
//! it leads to, and a position's record is the same for both colours and both wings.
//!
//! The format was never published; writing it would need parts nobody knows.

mod codes;
mod page;
mod reader;
mod signature;

pub use reader::Reader;

/// Bytes of a page.
const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use proptest::prelude::*;
    use shakmaty::{CastlingMode, Chess, EnPassantMode, Position, fen::Fen};
    use tabiya_model::{PackedMove, PositionKey, uci};

    use super::{
        codes,
        signature::{self, Normal},
        *,
    };
    use crate::{Book, Error, Games, Probe, Walk};

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    fn signature(position: &Chess) -> Vec<u8> {
        Normal::new(position, EnPassantMode::Legal).signature()
    }

    /// The code of a move, found by trying all.
    fn code(position: &Chess, m: &str) -> u8 {
        let normal = Normal::new(position, EnPassantMode::Legal);
        let mut codes = 0..=u8::MAX;
        codes
            .find(|&code| normal.to_move(code, position).is_some_and(|found| uci(found) == m))
            .unwrap()
    }

    /// A record: the position, its moves with their marks, the results, seen by the side to move.
    fn record(
        position: &Chess,
        moves: &[(&str, u8)],
        [won, lost, drawn]: [u8; 3],
        advice: u8,
    ) -> Vec<u8> {
        let mut bytes = signature(position);
        bytes.push(1 + 2 * moves.len() as u8);
        for &(m, mark) in moves {
            bytes.extend([code(position, m), mark]);
        }
        let mut results = [0; 33];
        results[2] = won + lost + drawn;
        (results[5], results[8], results[11], results[30]) = (won, lost, drawn, advice);
        bytes.extend(results);
        bytes
    }

    /// A book of these records, all in one page.
    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        let mut header = b"\0\x20\x10\0\0\x01\0\x01\0\0\x10\0".to_vec();
        header.resize(24, 0);
        header.extend((records.len() as u32).to_be_bytes());
        header.extend(7_u32.to_be_bytes());
        header.resize(PAGE, 0);
        let body = records.concat();
        header.extend((records.len() as u16).to_be_bytes());
        header.extend((body.len() as u16 + 4).to_be_bytes());
        header.extend(body);
        // What is past the bytes in use is never looked at.
        header.resize(2 * PAGE, 0xff);
        header
    }

    fn after(moves: &[&str]) -> Chess {
        let mut position = Chess::default();
        for m in moves {
            let m = m.parse::<shakmaty::uci::UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
        }
        position
    }

    fn sample() -> Vec<Vec<u8>> {
        vec![
            record(
                &after(&[]),
                &[("d2d4", 0xe0), ("e2e4", 0x01), ("a2a3", 0x02), ("h2h4", 0)],
                [9, 9, 9],
                0,
            ),
            record(&after(&["e2e4"]), &[("e7e5", 0xff)], [2, 5, 1], 0),
            record(&after(&["d2d4"]), &[], [1, 0, 0], 0x80),
            record(&after(&["a2a3"]), &[], [0, 9, 0], 0),
            record(&after(&["h2h4"]), &[], [0, 9, 0], 0x40),
            record(&after(&["e2e4", "e7e5"]), &[("g1f3", 0)], [0, 0, 0], 0),
            // In no line.
            record(&after(&["b2b4"]), &[], [0, 0, 0], 0),
        ]
    }

    fn moves(reader: &Reader, position: &Chess) -> Vec<(String, u32)> {
        let moves = reader.moves(position).unwrap();
        moves.into_iter().map(|found| (uci(found.m), found.weight)).collect()
    }

    fn write(folder: &Path, bytes: &[u8]) -> std::path::PathBuf {
        let path = folder.join("book.ctg");
        fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn the_start_of_the_game_has_its_known_signature() {
        let hex: String =
            signature(&Chess::default()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "56b60f7960f3a60f58b078e0c1e1a60f5960f3b60f7f");
        assert_eq!(code(&Chess::default(), "e2e4"), 0x5f);
        assert_eq!(code(&Chess::default(), "d2d4"), 0xe6);
        // Black's moves are White's on the turned board.
        assert_eq!(code(&after(&["e2e4"]), "e7e5"), 0x5f);
    }

    #[test]
    fn mirrored_positions_give_moves_of_the_right_wing() {
        // Nobody may castle and the king is on the west wing.
        let white = position("8/4k3/8/8/8/8/1P1K4/R7 w - - 0 1");
        let black = position("r7/1p1k4/8/8/8/8/4K3/8 b - - 0 1");
        assert_eq!(signature(&white), signature(&black));
        for (position, pawn) in [(&white, "b2b4"), (&black, "b7b5")] {
            assert_eq!(code(position, pawn), code(&white, "b2b4"));
        }
        let castling = position("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1");
        assert_eq!((code(&castling, "e1g1"), code(&castling, "e1c1")), (0x6b, 0xf6));
    }

    #[test]
    fn en_passant_and_promotion_are_understood() {
        let capture = position("rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3");
        assert_eq!(signature(&capture)[0] & 0x60, 0x60);
        let normal = Normal::new(&capture, EnPassantMode::Legal);
        // The fifth pawn goes one to the left.
        let m = normal.to_move(0xde, &capture).unwrap();
        assert!(m.is_en_passant() && uci(m) == "e5d6");
        let promotion = position("8/P6k/8/8/8/8/8/4K3 w - - 0 1");
        let m = Normal::new(&promotion, EnPassantMode::Legal).to_move(0x04, &promotion);
        assert_eq!(m, None, "there is no second pawn");
        let promotion = position("8/8/8/8/8/k7/p6K/8 b - - 0 1");
        // Mirrored, since the king is on the west wing.
        let m = Normal::new(&promotion, EnPassantMode::Legal).to_move(0xec, &promotion);
        assert_eq!(uci(m.unwrap()), "a2a1q");
    }

    #[test]
    fn moves_are_weighed_by_the_positions_they_lead_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &file(&sample()));
        let reader = Reader::open(&path).unwrap();
        let start = Chess::default();
        // e4: 5 won, 1 drawn. d4: none, but at least 1. a3 is marked `?`, h4 is not to be played.
        let expected = [("e2e4", 11), ("d2d4", 1), ("a2a3", 0), ("h2h4", 0)];
        assert_eq!(moves(&reader, &start), expected.map(|(m, weight)| (m.to_owned(), weight)));
        let games = reader.moves(&start).unwrap()[0].games;
        assert_eq!(games, Some(Games { wins: 5, draws: 1, losses: 2 }));
        assert_eq!(moves(&reader, &after(&["e2e4"])), [("e7e5".into(), 1)]);
        let info = reader.info();
        assert_eq!((info.entries, info.positions), (6, 7));
        assert!(reader.verify().unwrap().is_sound(), "{:?}", reader.verify());
        let mut entries = Vec::new();
        reader
            .walk(&mut |entry| {
                entries.push((entry.key, entry.word, entry.nag));
                Ok(())
            })
            .unwrap();
        assert_eq!(entries.len(), 6);
        let e4 = PackedMove::new(reader.moves(&start).unwrap()[0].m).polyglot();
        assert!(entries.contains(&(PositionKey::of(&start), e4, Some(1))));
        assert_eq!(reader.left_out(), ["1 positions are in no line from the start of the game"]);
    }

    #[test]
    fn the_directory_is_used_if_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &file(&sample()));
        let hash = codes::hash(&signature(&Chess::default()));
        // All slots empty but the one of the start of the game under the mask 15.
        let mut directory = vec![0; 16];
        directory.extend([0xff; 4 * 31]);
        let slot = 16 + 4 * ((hash & 15) + 15) as usize;
        directory[slot..slot + 4].fill(0);
        fs::write(path.with_extension("cto"), &directory).unwrap();
        let reader = Reader::open(&path).unwrap();
        assert_eq!(moves(&reader, &Chess::default()).len(), 4);
        assert_eq!(reader.info().files.len(), 2);
        directory[slot..slot + 4].fill(0x7f);
        fs::write(path.with_extension("cto"), &directory).unwrap();
        let reader = Reader::open(&path).unwrap();
        assert!(moves(&reader, &Chess::default()).is_empty());
        assert!(reader.verify().unwrap().problems[0].contains("not where their hash leads"));
    }

    #[test]
    fn no_damage_gives_a_panic_or_an_illegal_move() {
        let folder = tempfile::tempdir().unwrap();
        let sound = file(&sample());
        let used = PAGE + 4 + sample().concat().len();
        for at in (0..32).chain(PAGE..used) {
            for flip in [0x01, 0x1f, 0xff] {
                let mut bytes = sound.clone();
                bytes[at] ^= flip;
                let Ok(reader) = Reader::open(write(folder.path(), &bytes)) else { continue };
                let _ =
                    (moves(&reader, &Chess::default()), reader.info(), reader.verify().unwrap());
                reader.walk(&mut |_| Ok(())).unwrap();
            }
        }
        let refused = Reader::open(write(folder.path(), &sound[..100])).unwrap_err();
        assert!(matches!(refused, Error::Truncated { .. }));
        let torn = Reader::open(write(folder.path(), &sound[..5000])).unwrap();
        assert_eq!(torn.damage().len(), 1);
    }

    proptest! {
        #[test]
        fn a_signature_is_its_position(choices in prop::collection::vec(any::<u16>(), 0..160)) {
            let mut position = Chess::default();
            for choice in choices {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play_unchecked(moves[usize::from(choice) % moves.len()]);
                let bytes = signature(&position);
                prop_assert_eq!(usize::from(bytes[0] & 0x1f), bytes.len());
                let turned = signature::decode(&bytes).unwrap();
                prop_assert_eq!(signature(&turned), bytes);
                let normal = Normal::new(&position, EnPassantMode::Legal);
                let again = Normal::new(&turned, EnPassantMode::Legal);
                for code in 0..=u8::MAX {
                    let (a, b) = (normal.to_move(code, &position), again.to_move(code, &turned));
                    prop_assert_eq!(a.map(|m| m.role()), b.map(|m| m.role()));
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = signature::decode(&bytes);
            let mut page = [0; PAGE];
            page[1] = 9;
            page[2..4].copy_from_slice(&[0x0f, 0xff]);
            page[4..4 + bytes.len()].copy_from_slice(&bytes);
            let _ = super::page::records(&page).count();
        }
    }
}
