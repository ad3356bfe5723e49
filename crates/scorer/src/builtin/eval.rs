//! What a position is worth without looking ahead: a weighted sum of features.
//!
//! Every feature is counted for White and against Black, from each side's own view of the board,
//! so a mirrored position gets the mirrored score. A weight is a pair: what the feature counts
//! with all pieces on the board, and what it counts with none; in between it is a mixture.

use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Position, Role, Square, attacks};

use super::weights::WEIGHTS;

/// The value of a position in centipawns, from the view of the side to move.
pub(super) fn evaluate(pos: &Chess) -> i32 {
    let (mut middle, mut end) = (0, 0);
    features(pos, |feature, count| {
        let [m, e] = WEIGHTS[feature];
        middle += i32::from(m) * count;
        end += i32::from(e) * count;
    });
    let phase = phase(pos.board());
    let white = (middle * phase + end * (PHASE_MAX - phase)) / PHASE_MAX;
    pos.turn().fold_wb(white, -white)
}

/// The phase with all pieces on the board.
const PHASE_MAX: i32 = 24;

/// How many pieces are left: `PHASE_MAX` at the start, 0 when only pawns and kings remain.
fn phase(board: &Board) -> i32 {
    let minors = (board.knights() | board.bishops()).count();
    let phase = minors + 2 * board.rooks().count() + 4 * board.queens().count();
    (phase as i32).min(PHASE_MAX)
}

// Where each group of features begins in `WEIGHTS`.

/// A piece on a square: role × square. Contains the material.
const PLACE: usize = 0;
/// Squares a knight, bishop, rook or queen can go to: role × number.
const MOBILITY: usize = PLACE + 6 * 64;
/// Pawns with a pawn of their own behind them.
const DOUBLED: usize = MOBILITY + 4 * 28;
/// Pawns with no neighbour, on a closed and on a half-open file.
const ISOLATED: usize = DOUBLED + 1;
/// Pawns that no neighbour can support and that cannot safely advance.
const BACKWARD: usize = ISOLATED + 2;
/// Pawns that no pawn can stop: by rank.
const PASSED: usize = BACKWARD + 1;
/// Pawns defended by a pawn: by rank.
const SUPPORTED: usize = PASSED + 8;
/// Pawns side by side: by rank.
const PHALANX: usize = SUPPORTED + 8;
/// Two bishops.
const BISHOP_PAIR: usize = PHALANX + 8;
/// Pawns on the colour of a bishop of their side.
const BISHOP_PAWNS: usize = BISHOP_PAIR + 1;
/// Rooks on a half-open and on an open file.
const ROOK_FILE: usize = BISHOP_PAWNS + 1;
/// Knights and bishops that a pawn defends and none can attack.
const OUTPOST: usize = ROOK_FILE + 2;
/// Nearest pawn in front of the king, on its file and those beside it: by how far the file is
/// from the edge × steps away (7: none).
const SHELTER: usize = OUTPOST + 2;
/// Nearest enemy pawn on the same files.
const STORM: usize = SHELTER + 4 * 8;
/// Pieces aimed at the squares around the enemy king: with or without a queen × strength.
const ASSAULT: usize = STORM + 4 * 8;
/// Squares from which a knight, bishop, rook or queen could check unharmed.
const SAFE_CHECK: usize = ASSAULT + 2 * 16;
/// Right to castle, king's side and queen's side.
const CASTLING: usize = SAFE_CHECK + 4;
/// Attacks on something worth more: is the attacker to move × by a pawn, minor piece or rook ×
/// role of the victim.
const THREAT: usize = CASTLING + 2;
/// Attacked and undefended: is the attacker to move × role of the victim.
const HANGING: usize = THREAT + 2 * 3 * 6;
/// The move.
const TEMPO: usize = HANGING + 2 * 6;
/// How many features there are.
pub(super) const FEATURES: usize = TEMPO + 1;

/// Calls `add` with each feature of the position and how often it occurs, negative for Black.
fn features(pos: &Chess, mut add: impl FnMut(usize, i32)) {
    let board = pos.board();
    let sides = Color::ALL.map(|color| Side::new(board, color));
    let [white, black] = &sides;
    let aimed_white = pieces(board, white, black, &mut |feature, count| add(feature, count as i32));
    let aimed_black =
        pieces(board, black, white, &mut |feature, count| add(feature, -(count as i32)));
    for (us, them, ours, theirs) in
        [(white, black, &aimed_white, &aimed_black), (black, white, &aimed_black, &aimed_white)]
    {
        let sign = us.color.fold_wb(1, -1);
        let to_move = us.color == pos.turn();
        let mut add = |feature, count: usize| add(feature, sign * count as i32);

        pawns(us, them, &mut add);
        assault(board, us, them, (ours, theirs), &mut add);
        shelter(us, them, &mut add);
        threats(board, us, them, (ours, theirs), to_move, &mut add);
        for (idx, side) in CastlingSide::ALL.into_iter().enumerate() {
            add(CASTLING + idx, usize::from(pos.castles().has(us.color, side)));
        }
        add(TEMPO, usize::from(to_move));
    }
}

/// What both halves of the count need to know about one side.
struct Side {
    color: Color,
    all: Bitboard,
    pawns: Bitboard,
    king: Bitboard,
    /// What the pawns attack.
    bites: Bitboard,
    /// What the pawns attack now or may attack once they have advanced.
    reach: Bitboard,
    /// Squares in front of the pawns.
    front: Bitboard,
}

impl Side {
    fn new(board: &Board, color: Color) -> Side {
        let all = board.by_color(color);
        let pawns = all & board.pawns();
        let bites = beside(up(pawns, color));
        Side {
            color,
            all,
            pawns,
            king: all & board.kings(),
            bites,
            reach: fill(bites, color),
            front: fill(up(pawns, color), color),
        }
    }

    /// The square as this side sees it, its own first rank at the bottom.
    fn view(&self, square: Square) -> Square {
        self.color.fold_wb(square, square.flip_vertical())
    }

    fn rank(&self, square: Square) -> usize {
        self.view(square).rank().to_usize()
    }
}

/// What a side attacks.
struct Aimed {
    /// By knights, bishops, rooks and queens.
    by_role: [Bitboard; 4],
    /// By anything.
    all: Bitboard,
    /// How strong the pieces are that reach the squares round the enemy king.
    strength: usize,
}

fn pawns(us: &Side, them: &Side, add: &mut impl FnMut(usize, usize)) {
    for square in us.pawns {
        add(PLACE + us.view(square).to_usize(), 1);
    }
    let (own, theirs) = (files(us.pawns), files(them.pawns));
    let isolated = us.pawns & !beside(own);
    let backward = up(us.pawns, us.color) & them.bites & !us.reach;
    add(DOUBLED, (us.pawns & us.front).count());
    add(ISOLATED, (isolated & theirs).count());
    add(ISOLATED + 1, (isolated & !theirs).count());
    add(BACKWARD, backward.count());
    for (feature, pawns) in [
        (PASSED, us.pawns & !them.front & !them.reach),
        (SUPPORTED, us.pawns & us.bites),
        (PHALANX, us.pawns & beside(us.pawns)),
    ] {
        for square in pawns {
            add(feature + us.rank(square), 1);
        }
    }
}

fn pieces(board: &Board, us: &Side, them: &Side, add: &mut impl FnMut(usize, usize)) -> Aimed {
    let mut aimed = Aimed { by_role: [Bitboard::EMPTY; 4], all: us.bites, strength: 0 };
    let occupied = board.occupied();
    let ring =
        them.king.into_iter().fold(them.king, |ring, king| ring | attacks::king_attacks(king));
    let roles = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    for (idx, (role, strength)) in roles.into_iter().zip([2, 2, 3, 4]).enumerate() {
        for square in us.all & board.by_role(role) {
            let targets = attacks::attacks(square, role.of(us.color), occupied);
            aimed.by_role[idx] |= targets;
            aimed.all |= targets;
            if targets.intersects(ring) {
                aimed.strength += strength;
            }
            add(PLACE + (idx + 1) * 64 + us.view(square).to_usize(), 1);
            add(MOBILITY + idx * 28 + (targets & !us.all & !them.bites).count().min(27), 1);
        }
    }
    for king in us.king {
        aimed.all |= attacks::king_attacks(king);
        add(PLACE + 5 * 64 + us.view(king).to_usize(), 1);
    }

    let bishops = us.all & board.bishops();
    for squares in [Bitboard::LIGHT_SQUARES, Bitboard::DARK_SQUARES] {
        add(BISHOP_PAWNS, (bishops & squares).count() * (us.pawns & squares).count());
    }
    add(BISHOP_PAIR, usize::from(bishops.more_than_one()));

    let rooks = us.all & board.rooks() & !files(us.pawns);
    add(ROOK_FILE, (rooks & files(them.pawns)).count());
    add(ROOK_FILE + 1, (rooks & !files(them.pawns)).count());

    let outposts = us.bites & !them.reach;
    add(OUTPOST, (outposts & us.all & board.knights()).count());
    add(OUTPOST + 1, (outposts & bishops).count());
    aimed
}

fn assault(
    board: &Board,
    us: &Side,
    them: &Side,
    (ours, theirs): (&Aimed, &Aimed),
    add: &mut impl FnMut(usize, usize),
) {
    let queen = (us.all & board.queens()).any();
    add(ASSAULT + usize::from(queen) * 16 + ours.strength.min(15), 1);
    for king in them.king {
        let diagonal = attacks::bishop_attacks(king, board.occupied());
        let straight = attacks::rook_attacks(king, board.occupied());
        let from = [attacks::knight_attacks(king), diagonal, straight, diagonal | straight];
        for (idx, (from, targets)) in from.into_iter().zip(ours.by_role).enumerate() {
            add(SAFE_CHECK + idx, (from & targets & !us.all & !theirs.all).count());
        }
    }
}

fn shelter(us: &Side, them: &Side, add: &mut impl FnMut(usize, usize)) {
    for king in us.king {
        let ahead = fill(Bitboard::from_rank(king.rank()), us.color);
        for file in beside(files(us.king)) & Bitboard::from_rank(king.rank()) | us.king {
            let column = files(Bitboard::from_square(file)) & ahead;
            let edge = file.file().to_usize().min(7 - file.file().to_usize());
            for (feature, pawns) in [(SHELTER, us.pawns), (STORM, them.pawns)] {
                let nearest = (column & pawns)
                    .into_iter()
                    .map(|pawn| king.rank().distance(pawn.rank()))
                    .min();
                add(feature + edge * 8 + nearest.unwrap_or(7) as usize, 1);
            }
        }
    }
}

fn threats(
    board: &Board,
    us: &Side,
    them: &Side,
    (ours, theirs): (&Aimed, &Aimed),
    to_move: bool,
    add: &mut impl FnMut(usize, usize),
) {
    let turn = usize::from(to_move);
    let [knights, bishops, rooks, _] = ours.by_role;
    let pieces = them.all & !them.king;
    let major = board.rooks_and_queens();
    let attackers =
        [(us.bites, !board.pawns()), (knights | bishops, major), (rooks, board.queens())];
    for (idx, (attacked, worth_more)) in attackers.into_iter().enumerate() {
        for square in attacked & pieces & worth_more {
            add(THREAT + (turn * 3 + idx) * 6 + role_idx(board, square), 1);
        }
    }
    for square in ours.all & pieces & !theirs.all {
        add(HANGING + turn * 6 + role_idx(board, square), 1);
    }
}

fn role_idx(board: &Board, square: Square) -> usize {
    board.role_at(square).map_or(0, |role| usize::from(role) - 1)
}

/// The squares one step forward.
fn up(squares: Bitboard, color: Color) -> Bitboard {
    squares.shift(color.fold_wb(8, -8))
}

/// The squares and all those in front of them.
fn fill(squares: Bitboard, color: Color) -> Bitboard {
    [8, 16, 32]
        .into_iter()
        .fold(squares, |filled, step| filled | filled.shift(color.fold_wb(step, -step)))
}

/// The squares of all files the squares stand on.
fn files(squares: Bitboard) -> Bitboard {
    fill(squares, Color::White) | fill(squares, Color::Black)
}

/// The squares to the left and to the right.
fn beside(squares: Bitboard) -> Bitboard {
    (squares & !FILE_H).shift(1) | (squares & !FILE_A).shift(-1)
}

const FILE_A: Bitboard = Bitboard(0x0101_0101_0101_0101);
const FILE_H: Bitboard = Bitboard(0x8080_8080_8080_8080);
