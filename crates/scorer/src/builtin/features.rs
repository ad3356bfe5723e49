//! What the net sees of a position: not only where the pieces stand, but what they do.
//!
//! Every feature is counted for each side, from that side's own view of the board, so a mirrored
//! position has the same features with the sides changed. Most say yes or no; the few that can
//! occur several times are counted as often as they do.

use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Position, Role, Square, attacks};

// Where each group of features begins.

/// A piece on a square and how safe it is there: role × safety × square.
const PLACE: usize = 0;
/// How safe a piece is: defended or not, and attacked not at all, by its like, or by its betters.
const SAFETY: usize = 5;
/// Squares a knight, bishop, rook or queen can go to: role × number.
const MOBILITY: usize = PLACE + PLACES;
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
/// Bishops by the number of pawns of their side on their colour.
const BISHOP_PAWNS: usize = BISHOP_PAIR + 1;
/// Rooks on a half-open and on an open file.
const ROOK_FILE: usize = BISHOP_PAWNS + 9;
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
/// How many features there are.
pub const FEATURES: usize = HANGING + 2 * 6;

/// How many features tell of places; they are the first.
pub const PLACES: usize = 6 * SAFETY * 64;

/// A feature of a place without its safety: role × square.
///
/// What is learned of a piece on a square should help wherever it stands there, safe or not; this
/// is the feature that training shares between them.
pub fn place(feature: usize) -> Option<usize> {
    (feature < PLACES).then(|| feature / (SAFETY * 64) * 64 + feature % 64)
}

/// Calls `add` with each feature of the position, and whether the side to move has it.
pub fn features(pos: &Chess, mut add: impl FnMut(bool, usize)) {
    let board = pos.board();
    let [white, black] = Color::ALL.map(|color| Side::new(board, color));
    let aimed_white = Aimed::new(board, &white, &black);
    let aimed_black = Aimed::new(board, &black, &white);
    for (us, them, ours, theirs) in
        [(&white, &black, &aimed_white, &aimed_black), (&black, &white, &aimed_black, &aimed_white)]
    {
        let to_move = us.color == pos.turn();
        let mut add = |feature| add(to_move, feature);

        places(board, us, them, (ours, theirs), &mut add);
        pawns(us, them, &mut add);
        pieces(board, us, them, &mut add);
        assault(board, us, them, (ours, theirs), &mut add);
        shelter(us, them, &mut add);
        threats(board, us, them, (ours, theirs), to_move, &mut add);
        for (idx, side) in CastlingSide::ALL.into_iter().enumerate() {
            times(usize::from(pos.castles().has(us.color, side)), CASTLING + idx, &mut add);
        }
    }
}

fn times(count: usize, feature: usize, add: &mut impl FnMut(usize)) {
    (0..count).for_each(|_| add(feature));
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

impl Aimed {
    fn new(board: &Board, us: &Side, them: &Side) -> Aimed {
        let mut aimed = Aimed { by_role: [Bitboard::EMPTY; 4], all: us.bites, strength: 0 };
        let occupied = board.occupied();
        let ring =
            them.king.into_iter().fold(them.king, |ring, king| ring | attacks::king_attacks(king));
        for ((role, strength), by_role) in PIECES.into_iter().zip(&mut aimed.by_role) {
            for square in us.all & board.by_role(role) {
                let targets = attacks::attacks(square, role.of(us.color), occupied);
                *by_role |= targets;
                if targets.intersects(ring) {
                    aimed.strength += strength;
                }
            }
            aimed.all |= *by_role;
        }
        for king in us.king {
            aimed.all |= attacks::king_attacks(king);
        }
        aimed
    }
}

/// All but pawns and kings, and how strong they are against a king.
const PIECES: [(Role, usize); 4] =
    [(Role::Knight, 2), (Role::Bishop, 2), (Role::Rook, 3), (Role::Queen, 4)];

fn places(
    board: &Board,
    us: &Side,
    them: &Side,
    (ours, theirs): (&Aimed, &Aimed),
    add: &mut impl FnMut(usize),
) {
    let [knights, bishops, rooks, _] = theirs.by_role;
    let minor = them.bites | knights | bishops;
    // What is attacked by something worth less.
    let chased = [Bitboard::EMPTY, them.bites, them.bites, minor, minor | rooks, theirs.all];
    for ((idx, role), chased) in Role::ALL.into_iter().enumerate().zip(chased) {
        for square in us.all & board.by_role(role) {
            let defended = ours.all.contains(square);
            let safety = match theirs.all.contains(square) {
                false => usize::from(!defended),
                true if chased.contains(square) => 4,
                true => 2 + usize::from(!defended),
            };
            add(PLACE + (idx * SAFETY + safety) * 64 + us.view(square).to_usize());
        }
    }
}

fn pawns(us: &Side, them: &Side, add: &mut impl FnMut(usize)) {
    let (own, theirs) = (files(us.pawns), files(them.pawns));
    let isolated = us.pawns & !beside(own);
    let backward = up(us.pawns, us.color) & them.bites & !us.reach;
    times((us.pawns & us.front).count(), DOUBLED, add);
    times((isolated & theirs).count(), ISOLATED, add);
    times((isolated & !theirs).count(), ISOLATED + 1, add);
    times(backward.count(), BACKWARD, add);
    for (feature, pawns) in [
        (PASSED, us.pawns & !them.front & !them.reach),
        (SUPPORTED, us.pawns & us.bites),
        (PHALANX, us.pawns & beside(us.pawns)),
    ] {
        for square in pawns {
            add(feature + us.rank(square));
        }
    }
}

fn pieces(board: &Board, us: &Side, them: &Side, add: &mut impl FnMut(usize)) {
    let occupied = board.occupied();
    for (idx, (role, _)) in PIECES.into_iter().enumerate() {
        for square in us.all & board.by_role(role) {
            let targets = attacks::attacks(square, role.of(us.color), occupied);
            add(MOBILITY + idx * 28 + (targets & !us.all & !them.bites).count().min(27));
        }
    }

    let bishops = us.all & board.bishops();
    for squares in [Bitboard::LIGHT_SQUARES, Bitboard::DARK_SQUARES] {
        let pawns = (us.pawns & squares).count().min(8);
        times((bishops & squares).count(), BISHOP_PAWNS + pawns, add);
    }
    times(usize::from(bishops.more_than_one()), BISHOP_PAIR, add);

    let rooks = us.all & board.rooks() & !files(us.pawns);
    times((rooks & files(them.pawns)).count(), ROOK_FILE, add);
    times((rooks & !files(them.pawns)).count(), ROOK_FILE + 1, add);

    let outposts = us.bites & !them.reach;
    times((outposts & us.all & board.knights()).count(), OUTPOST, add);
    times((outposts & bishops).count(), OUTPOST + 1, add);
}

fn assault(
    board: &Board,
    us: &Side,
    them: &Side,
    (ours, theirs): (&Aimed, &Aimed),
    add: &mut impl FnMut(usize),
) {
    let queen = (us.all & board.queens()).any();
    add(ASSAULT + usize::from(queen) * 16 + ours.strength.min(15));
    for king in them.king {
        let diagonal = attacks::bishop_attacks(king, board.occupied());
        let straight = attacks::rook_attacks(king, board.occupied());
        let from = [attacks::knight_attacks(king), diagonal, straight, diagonal | straight];
        for (idx, (from, targets)) in from.into_iter().zip(ours.by_role).enumerate() {
            times((from & targets & !us.all & !theirs.all).count(), SAFE_CHECK + idx, add);
        }
    }
}

fn shelter(us: &Side, them: &Side, add: &mut impl FnMut(usize)) {
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
                add(feature + edge * 8 + nearest.unwrap_or(7) as usize);
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
    add: &mut impl FnMut(usize),
) {
    let turn = usize::from(to_move);
    let [knights, bishops, rooks, _] = ours.by_role;
    let pieces = them.all & !them.king;
    let major = board.rooks_and_queens();
    let attackers =
        [(us.bites, !board.pawns()), (knights | bishops, major), (rooks, board.queens())];
    for (idx, (attacked, worth_more)) in attackers.into_iter().enumerate() {
        for square in attacked & pieces & worth_more {
            add(THREAT + (turn * 3 + idx) * 6 + role_idx(board, square));
        }
    }
    for square in ours.all & pieces & !theirs.all {
        add(HANGING + turn * 6 + role_idx(board, square));
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
