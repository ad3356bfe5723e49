//! Streams of bits, the most significant first, padded with zeros to a byte.

use super::Decoded;

#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits of the last byte that are taken.
    used: u32,
}

impl BitWriter {
    /// Appends the low `count` bits of `value`; `count` is at most 64.
    pub(super) fn push(&mut self, value: u64, count: u32) {
        let mut left = count;
        while left > 0 {
            if self.used == 0 {
                self.bytes.push(0);
            }
            let taken = left.min(8 - self.used);
            let piece = (value >> (left - taken)) as u8 & (0xff >> (8 - taken));
            if let Some(last) = self.bytes.last_mut() {
                *last |= piece << (8 - self.used - taken);
            }
            self.used = (self.used + taken) % 8;
            left -= taken;
        }
    }

    /// Appends `count` ones and a zero.
    pub(super) fn unary(&mut self, count: u64) {
        for _ in 0..count / 64 {
            self.push(u64::MAX, 64);
        }
        let rest = (count % 64) as u32;
        self.push((1 << rest) - 1, rest);
        self.push(0, 1);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// In bits.
    position: usize,
}

/// Bits of a window that are always there.
const WINDOW: u32 = 57;

/// Behind the end there are zeros, so that reading needs no checks; [`BitReader::finish`] tells.
impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, position: 0 }
    }

    /// The bits from here on, the next one the most significant; at least 57 of them.
    pub(super) fn window(&self) -> u64 {
        let rest = self.bytes.get(self.position / 8..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(bytes) => u64::from_be_bytes(*bytes),
            None => rest.iter().rev().fold(0, |word, &byte| word >> 8 | u64::from(byte) << 56),
        };
        word << (self.position % 8)
    }

    pub(super) fn skip(&mut self, count: u32) {
        self.position += count as usize;
    }

    /// The next `count` bits, at most 64.
    pub(super) fn bits(&mut self, count: u32) -> u64 {
        if count > WINDOW {
            return self.bits(count - 32) << 32 | self.bits(32);
        }
        let value = self.window().checked_shr(64 - count).unwrap_or(0);
        self.skip(count);
        value
    }

    /// The number of ones before the next zero.
    pub(super) fn unary(&mut self) -> u64 {
        let mut before = 0;
        loop {
            let ones = self.window().leading_ones();
            if ones < WINDOW {
                self.skip(ones + 1);
                return before + u64::from(ones);
            }
            self.skip(WINDOW);
            before += u64::from(WINDOW);
        }
    }

    /// Checks that all was there, and nothing is left but the padding.
    pub(super) fn finish(self) -> Decoded<()> {
        let left = (self.bytes.len() * 8).checked_sub(self.position);
        match left.ok_or("its bit stream is too short")? {
            0..8 if self.window() == 0 => Ok(()),
            _ => Err("its bit stream is too long"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_come_back(fields in prop::collection::vec((any::<u64>(), 0..=64u32, 0..200u64), 0..50)) {
            let mut writer = BitWriter::default();
            for &(value, count, ones) in &fields {
                writer.push(value, count);
                writer.unary(ones);
            }
            let bytes = writer.into_bytes();
            let mut reader = BitReader::new(&bytes);
            for &(value, count, ones) in &fields {
                let expected = if count == 64 { value } else { value & ((1 << count) - 1) };
                prop_assert_eq!(reader.bits(count), expected);
                prop_assert_eq!(reader.unary(), ones);
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn too_few_bits_are_noticed(bytes in prop::collection::vec(any::<u8>(), 0..20), over in 1..64u32) {
            let mut reader = BitReader::new(&bytes);
            for _ in 0..bytes.len() {
                reader.bits(8);
            }
            reader.bits(over);
            prop_assert!(reader.finish().is_err());
        }
    }
}
