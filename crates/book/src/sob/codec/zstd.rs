//! One Zstandard frame a block, and the filter that puts the n-th bytes of all values together.

use std::io;

use super::Decoded;

/// Blocks are small and written once, so the slow end of the range costs little.
const LEVEL: i32 = 19;

pub(super) fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL)
}

/// Gives at most `len` bytes.
pub(super) fn unpack(payload: &[u8], len: usize) -> Decoded<Vec<u8>> {
    zstd::bulk::decompress(payload, len).map_err(|_| "its Zstandard frame is broken")
}

pub(super) fn to_planes<const WIDTH: usize>(bytes: &[u8]) -> Vec<u8> {
    let values = bytes.as_chunks::<WIDTH>().0;
    (0..WIDTH).flat_map(|place| values.iter().map(move |value| value[place])).collect()
}

pub(super) fn from_planes<const WIDTH: usize>(planes: &[u8]) -> Vec<u8> {
    let count = planes.len() / WIDTH;
    let mut values = vec![0; count * WIDTH];
    for (plane, place) in planes.chunks_exact(count.max(1)).zip(0..WIDTH) {
        for (value, &byte) in values.iter_mut().skip(place).step_by(WIDTH).zip(plane) {
            *value = byte;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_hold_equal_places_together() {
        let planes = to_planes::<2>(&[1, 2, 3, 4, 5, 6]);
        assert_eq!(planes, [1, 3, 5, 2, 4, 6]);
        assert_eq!(from_planes::<2>(&planes), [1, 2, 3, 4, 5, 6]);
        assert!(from_planes::<8>(&[]).is_empty());
        assert!(from_planes::<8>(&[9, 9, 9]).is_empty());
    }
}
