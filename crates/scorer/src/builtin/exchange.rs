//! What a capture is worth once both sides have taken back on its square.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Role, Square};

/// Whether the exchange a capture begins ends in the loss of material.
pub(super) fn loses(pos: &Chess, m: Move) -> bool {
    let (Some(from), Some(victim)) = (m.from(), m.capture()) else {
        return false;
    };
    let attacker = m.promotion().unwrap_or(m.role());
    let gain = value(victim) + m.promotion().map_or(0, |role| value(role) - value(Role::Pawn));
    if gain >= value(attacker) {
        return false;
    }
    let occupied = pos.board().occupied().without(from);
    gain < retake(pos.board(), m.to(), occupied, !pos.turn(), value(attacker))
}

/// The most `side` gains by taking, or not taking, what stands on the square.
pub(super) fn retake(
    board: &Board,
    to: Square,
    occupied: Bitboard,
    side: Color,
    prize: i32,
) -> i32 {
    let attackers = board.attacks_to(to, side, occupied) & occupied;
    let least = Role::ALL.into_iter().find_map(|role| {
        let square = (attackers & board.by_role(role)).first()?;
        Some((role, square))
    });
    match least {
        Some((role, square)) => {
            let after = retake(board, to, occupied.without(square), !side, value(role));
            (prize - after).max(0)
        }
        None => 0,
    }
}

/// The usual worth of a piece; the king's is beyond anything there is to gain.
pub(super) fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 100,
        Role::Knight | Role::Bishop => 320,
        Role::Rook => 500,
        Role::Queen => 950,
        Role::King => 20_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{CastlingMode, fen::Fen, uci::UciMove};

    #[test]
    fn counts_what_is_taken_back() {
        let table = [
            // Undefended, defended, and defended but worth it.
            ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", false),
            ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", true),
            ("4k3/8/4p3/3r4/8/8/8/3RK3 w - - 0 1", "d1d5", false),
            // The second rook stands behind the first; the king must not take a defended piece.
            ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", false),
            ("8/8/2k5/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", false),
            ("8/8/2k5/3p4/8/8/3R4/4K3 w - - 0 1", "d2d5", true),
        ];
        for (fen, m, expected) in table {
            let fen: Fen = fen.parse().unwrap();
            let pos: Chess = fen.into_position(CastlingMode::Standard).unwrap();
            let m = m.parse::<UciMove>().unwrap().to_move(&pos).unwrap();
            assert_eq!(loses(&pos, m), expected, "{m}");
        }
    }
}
