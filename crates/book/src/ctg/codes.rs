//! What the numbers of the format mean: the codes of moves and the constants of the hash.
//!
//! Both tables are facts about existing files; programs that read such books agree on them.

use shakmaty::Role::{self, Bishop, King, Knight, Pawn, Queen, Rook};

/// A kind of move: the piece, which of its kind, counted over files a to h and in each from rank
/// 1 to 8, and how far it goes; past an edge it comes in at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) role: Role,
    pub(super) nth: u8,
    pub(super) files: i8,
    pub(super) ranks: i8,
}

/// What a code means. Codes that are not in the list are not known.
pub(super) fn code(byte: u8) -> Option<Code> {
    let at = CODES.binary_search_by_key(&byte, |&(code, ..)| code).ok()?;
    let &(_, role, nth, files, ranks) = CODES.get(at)?;
    Some(Code { role, nth, files, ranks })
}

/// The hash by which the directory finds a position's page.
pub(super) fn hash(signature: &[u8]) -> u32 {
    let mut hash = 0_u32;
    let mut at = 0_u16;
    let mut add = |step: u16| {
        at = at.wrapping_add(step);
        hash = hash.wrapping_add(HASH.get(usize::from(at & 63)).copied().unwrap_or_default());
    };
    for &byte in signature {
        let byte = u16::from(byte);
        add(((15 - (byte & 15)) << 2) + 1);
        add(((240 - (byte & 240)) >> 2) + 1);
    }
    hash
}

#[rustfmt::skip]
const CODES: [(u8, Role, u8, i8, i8); 166] = [
    (0x00, Pawn, 5, 1, 1), (0x01, Knight, 2, -2, -1), (0x03, Queen, 2, 2, 0), (0x04, Pawn, 2, 0, 1),
    (0x05, Queen, 1, 0, 1), (0x06, Pawn, 4, -1, 1), (0x08, Queen, 2, 4, 0), (0x09, Bishop, 2, 6, 6),
    (0x0a, King, 1, 0, -1), (0x0c, Pawn, 1, -1, 1), (0x0d, Bishop, 1, 3, 3), (0x0e, Rook, 2, 3, 0),
    (0x0f, Knight, 1, -2, -1), (0x12, Bishop, 1, 7, 7), (0x13, King, 1, 0, 1), (0x14, Pawn, 8, 1, 1),
    (0x15, Bishop, 1, 5, 5), (0x18, Pawn, 7, 0, 1), (0x1a, Queen, 2, 0, 6), (0x1b, Bishop, 1, -1, 1),
    (0x1d, Bishop, 2, 7, 7), (0x21, Rook, 2, 7, 0), (0x22, Bishop, 2, -2, 2), (0x23, Queen, 2, 6, 6),
    (0x24, Pawn, 8, -1, 1), (0x26, Bishop, 1, -7, 7), (0x27, Pawn, 3, -1, 1), (0x28, Queen, 1, 5, 5),
    (0x29, Queen, 1, 6, 0), (0x2a, Knight, 2, 1, -2), (0x2d, Pawn, 6, 1, 1), (0x2e, Bishop, 1, 1, 1),
    (0x2f, Queen, 1, 1, 0), (0x30, Knight, 2, -1, -2), (0x31, Queen, 1, 3, 0), (0x32, Bishop, 2, 5, 5),
    (0x34, Knight, 1, 1, 2), (0x36, Knight, 1, 2, 1), (0x37, Queen, 1, 0, 4), (0x38, Queen, 2, -4, 4),
    (0x39, Queen, 1, 5, 0), (0x3a, Bishop, 1, 6, 6), (0x3b, Queen, 2, -5, 5), (0x3c, Bishop, 1, -5, 5),
    (0x41, Queen, 2, 5, 5), (0x42, Queen, 1, -7, 7), (0x44, King, 1, 1, -1), (0x45, Queen, 1, 3, 3),
    (0x4a, Pawn, 8, 0, 2), (0x4b, Queen, 1, -5, 5), (0x4c, Knight, 2, 1, 2), (0x4d, Queen, 2, 0, 1),
    (0x50, Rook, 1, 0, 6), (0x52, Rook, 1, 6, 0), (0x54, Bishop, 2, -1, 1), (0x55, Pawn, 3, 0, 1),
    (0x5c, Pawn, 7, 1, 1), (0x5f, Pawn, 5, 0, 2), (0x61, Queen, 1, 6, 6), (0x62, Pawn, 2, 0, 2),
    (0x63, Queen, 2, -7, 7), (0x66, Bishop, 1, -3, 3), (0x67, King, 1, 1, 1), (0x69, Rook, 2, 0, 7),
    (0x6a, Bishop, 1, 4, 4), (0x6b, King, 1, 2, 0), (0x6e, Rook, 1, 5, 0), (0x6f, Queen, 2, 7, 7),
    (0x72, Bishop, 2, -7, 7), (0x74, Queen, 1, 2, 0), (0x79, Bishop, 2, -6, 6), (0x7a, Rook, 1, 0, 3),
    (0x7b, Rook, 2, 0, 6), (0x7c, Pawn, 3, 1, 1), (0x7d, Rook, 2, 0, 1), (0x7e, Queen, 1, -3, 3),
    (0x7f, Rook, 1, 1, 0), (0x80, Queen, 1, -6, 6), (0x81, Rook, 1, 0, 1), (0x82, Pawn, 6, -1, 1),
    (0x85, Knight, 1, -1, 2), (0x86, Rook, 1, 7, 0), (0x87, Rook, 1, 0, 5), (0x8a, Knight, 1, 1, -2),
    (0x8b, Pawn, 1, 1, 1), (0x8c, King, 1, -1, -1), (0x8e, Queen, 2, -2, 2), (0x8f, Queen, 1, 7, 0),
    (0x92, Queen, 2, 1, 1), (0x94, Queen, 1, 0, 3), (0x96, Pawn, 2, 1, 1), (0x97, King, 1, -1, 0),
    (0x98, Rook, 1, 3, 0), (0x99, Rook, 1, 0, 4), (0x9a, Queen, 1, 0, 6), (0x9b, Pawn, 3, 0, 2),
    (0x9d, Queen, 1, 0, 2), (0x9f, Bishop, 2, -4, 4), (0xa0, Queen, 2, 0, 3), (0xa2, Queen, 1, 2, 2),
    (0xa3, Pawn, 8, 0, 1), (0xa5, Rook, 2, 0, 5), (0xa9, Rook, 2, 2, 0), (0xab, Queen, 2, -6, 6),
    (0xad, Rook, 2, 4, 0), (0xae, Queen, 2, 3, 3), (0xb0, Queen, 2, 0, 4), (0xb1, Pawn, 6, 0, 2),
    (0xb2, Bishop, 1, -6, 6), (0xb5, Rook, 2, 5, 0), (0xb7, Queen, 1, 0, 5), (0xb9, Bishop, 2, 3, 3),
    (0xbb, Pawn, 5, 0, 1), (0xbc, Queen, 2, 5, 0), (0xbd, Queen, 2, 0, 2), (0xbe, King, 1, 1, 0),
    (0xc1, Bishop, 1, 2, 2), (0xc2, Bishop, 2, 2, 2), (0xc3, Bishop, 1, -2, 2), (0xc4, Rook, 2, 1, 0),
    (0xc5, Rook, 2, 0, 4), (0xc6, Queen, 2, 0, 5), (0xc7, Pawn, 7, -1, 1), (0xc8, Pawn, 7, 0, 2),
    (0xc9, Queen, 2, 0, 7), (0xca, Bishop, 2, -3, 3), (0xcb, Pawn, 6, 0, 1), (0xcc, Bishop, 2, -5, 5),
    (0xcd, Rook, 1, 2, 0), (0xcf, Pawn, 4, 0, 1), (0xd1, Pawn, 2, -1, 1), (0xd2, Knight, 2, 2, 1),
    (0xd3, Knight, 2, -2, 1), (0xd7, Queen, 1, -1, 1), (0xd8, Rook, 2, 6, 0), (0xd9, Queen, 1, -2, 2),
    (0xda, Knight, 1, -1, -2), (0xdb, Pawn, 1, 0, 2), (0xde, Pawn, 5, -1, 1), (0xdf, King, 1, -1, 1),
    (0xe0, Knight, 2, 2, -1), (0xe1, Rook, 1, 0, 7), (0xe3, Rook, 2, 0, 3), (0xe5, Queen, 1, 4, 0),
    (0xe6, Pawn, 4, 0, 2), (0xe7, Queen, 1, 4, 4), (0xe8, Rook, 1, 0, 2), (0xe9, Knight, 1, 2, -1),
    (0xeb, Pawn, 4, 1, 1), (0xec, Pawn, 1, 0, 1), (0xed, Queen, 1, 7, 7), (0xee, Queen, 2, -1, 1),
    (0xef, Rook, 1, 4, 0), (0xf0, Queen, 2, 7, 0), (0xf1, Queen, 1, 1, 1), (0xf3, Knight, 2, -1, 2),
    (0xf4, Rook, 2, 0, 2), (0xf5, Bishop, 2, 1, 1), (0xf6, King, 1, -2, 0), (0xf7, Knight, 1, -2, 1),
    (0xf8, Queen, 2, 1, 0), (0xf9, Queen, 2, 0, 6), (0xfa, Queen, 2, 3, 0), (0xfb, Queen, 2, 2, 2),
    (0xfd, Queen, 1, 0, 7), (0xfe, Queen, 2, -3, 3),
];

#[rustfmt::skip]
const HASH: [u32; 64] = [
    0x3100_d2bf, 0x3118_e3de, 0x34ab_1372, 0x2807_a847, 0x1633_f566, 0x2143_b359, 0x26d5_6488, 0x3b9e_6f59,
    0x3775_5656, 0x3089_ca7b, 0x18e9_2d85, 0x0cd0_e9d8, 0x1a9e_3b54, 0x3eaa_902f, 0x0d9b_faae, 0x2f32_b45b,
    0x31ed_6102, 0x3d3c_8398, 0x1466_60e3, 0x0f8d_4b76, 0x02c7_7a5f, 0x146c_8799, 0x1c47_f51f, 0x249f_8f36,
    0x2477_2043, 0x1fbc_1e4d, 0x1e86_b3fa, 0x37df_36a6, 0x16ed_30e4, 0x02c3_148e, 0x216e_5929, 0x0636_b34e,
    0x317f_9f56, 0x15f0_9d70, 0x1310_26fb, 0x38c7_84b1, 0x29ac_3305, 0x2b48_5dc5, 0x3c04_9ddc, 0x35a9_fbcd,
    0x31d5_373b, 0x2b24_6799, 0x0a29_23d3, 0x08a9_6e9d, 0x3003_1a9f, 0x08f5_25b5, 0x3361_1c06, 0x2409_db98,
    0x0ca4_feb2, 0x1000_b71e, 0x3056_6e32, 0x3944_7d31, 0x194e_3752, 0x0823_3a95, 0x0f38_fe36, 0x29c7_cd57,
    0x0f7b_3a39, 0x328e_8a16, 0x1e7d_1388, 0x0fba_78f5, 0x274c_7e7c, 0x1e8b_e65c, 0x2fa0_b0bb, 0x1eb6_c371,
];
