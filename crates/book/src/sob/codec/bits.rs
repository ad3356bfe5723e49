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

const SHORT: &str = "its bit stream is too short";

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, position: 0 }
    }

    /// The next `count` bits, at most 64.
    pub(super) fn bits(&mut self, count: u32) -> Decoded<u64> {
        let (mut value, mut left) = (0, count);
        while left > 0 {
            let byte = *self.bytes.get(self.position / 8).ok_or(SHORT)?;
            let used = (self.position % 8) as u32;
            let taken = left.min(8 - used);
            let piece = (byte << used) >> (8 - taken);
            value = value << taken | u64::from(piece);
            self.position += taken as usize;
            left -= taken;
        }
        Ok(value)
    }

    /// The number of ones before the next zero. The stream's end bounds it.
    pub(super) fn unary(&mut self) -> Decoded<u64> {
        let mut ones = 0;
        while self.bits(1)? == 1 {
            ones += 1;
        }
        Ok(ones)
    }

    /// Checks that nothing is left but the padding.
    pub(super) fn finish(mut self) -> Decoded<()> {
        let left = self.bytes.len() * 8 - self.position;
        if left >= 8 || self.bits(left as u32)? != 0 {
            return Err("its bit stream is too long");
        }
        Ok(())
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
                prop_assert_eq!(reader.bits(count), Ok(expected));
                prop_assert_eq!(reader.unary(), Ok(ones));
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }
    }
}
