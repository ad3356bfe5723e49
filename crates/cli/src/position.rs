//! A position as people name it: a FEN, moves, or both.

use std::fmt;

use shakmaty::{CastlingMode, Chess, Move, Position, fen::Fen, san::San, uci::UciMove};

/// The FEN or a move makes no sense; the text says which and why.
#[derive(Debug)]
pub(crate) struct BadPosition(String);

impl fmt::Display for BadPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadPosition {}

/// Sets up `fen`, or the start of the game, and plays `moves` from there.
///
/// Moves are SAN or UCI, separated by blanks; move numbers are passed over.
pub(crate) fn position(fen: Option<&str>, moves: Option<&str>) -> Result<Chess, BadPosition> {
    let mut position = fen.map_or(Ok(Chess::default()), set_up)?;
    for token in moves.unwrap_or_default().split_whitespace() {
        let Some(text) = without_number(token) else { continue };
        let m = read_move(text, &position).ok_or_else(|| {
            BadPosition(format!(
                "--moves: {text:?} is no legal move in {}: write moves as in \"e4 c5\" or \
                 \"e2e4 c7c5\"",
                Fen::from_position(&position, shakmaty::EnPassantMode::Legal)
            ))
        })?;
        position.play_unchecked(m);
    }
    Ok(position)
}

fn set_up(fen: &str) -> Result<Chess, BadPosition> {
    let bad = |error: &dyn fmt::Display| BadPosition(format!("--fen {fen:?}: {error}"));
    let setup: Fen = fen.parse().map_err(|error| bad(&error))?;
    setup.into_position(CastlingMode::Standard).map_err(|error| bad(&error))
}

/// `1.e4` is `e4`; `1.` and `1...` are nothing.
fn without_number(token: &str) -> Option<&str> {
    let rest = token.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = if rest.starts_with('.') { rest.trim_start_matches('.') } else { token };
    (!text.is_empty()).then_some(text)
}

/// UCI first: `b1c3` can be read as nothing else.
fn read_move(text: &str, position: &Chess) -> Option<Move> {
    if let Ok(uci) = text.parse::<UciMove>()
        && let Ok(m) = uci.to_move(position)
    {
        return Some(m);
    }
    let san = text.trim_end_matches(['+', '#', '!', '?']).replace('0', "O");
    san.parse::<San>().ok()?.to_move(position).ok()
}

#[cfg(test)]
mod tests {
    use shakmaty::EnPassantMode;

    use super::*;

    fn fen(moves: &str) -> String {
        let position = position(None, Some(moves)).unwrap();
        Fen::from_position(&position, EnPassantMode::Legal).to_string()
    }

    #[test]
    fn san_and_uci_with_and_without_numbers_are_the_same() {
        let castled = fen("e4 e5 Nf3 Nc6 Bc4 Bc5 O-O");
        for moves in [
            "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O",
            "1.e4 1...e5 2.Nf3! Nc6?? 3.Bc4 Bc5 4.0-0",
            "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
            "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1",
        ] {
            assert_eq!(fen(moves), castled, "{moves}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        let error = position(None, Some("e4 e5 Ke3")).unwrap_err().to_string();
        assert!(error.contains("\"Ke3\" is no legal move in rnbqkbnr/pppp1ppp"), "{error}");
        assert!(position(Some("8/8/8/8/8/8/8/8 w - - 0 1"), None).is_err());
        assert!(position(Some("what"), None).is_err());
    }
}
