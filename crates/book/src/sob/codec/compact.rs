//! Keys as Rice-coded gaps, moves and ranks as Huffman codes of one table for the whole book.

use super::{
    Decoded,
    bits::{BitReader, BitWriter},
    huffman::Huffman,
};
use crate::sob::{Word, header::Fields};

/// Values of from and to.
const SQUARES: usize = 1 << 12;
const RANKS: usize = 16;

pub(super) fn encode_keys(keys: &[u64]) -> Vec<u8> {
    let groups: Vec<&[u64]> = keys.chunk_by(|a, b| a == b).collect();
    let distinct: Vec<u64> = groups.iter().filter_map(|group| group.first().copied()).collect();
    let gaps: Vec<u64> = distinct.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
    let k = best_rice_parameter(&gaps);
    let mut bits = BitWriter::default();
    bits.push(u64::from(k), 8);
    for (index, group) in groups.iter().enumerate() {
        bits.unary(group.len() as u64 - 1);
        if let Some(&gap) = gaps.get(index) {
            bits.unary(gap >> k);
            bits.push(gap, k);
        }
    }
    bits.into_bytes()
}

/// The smallest of those that give the fewest bits.
fn best_rice_parameter(gaps: &[u64]) -> u32 {
    let bits = |k: u32| {
        let quotients = gaps.iter().fold(0u64, |sum, &gap| sum.saturating_add(gap >> k));
        quotients.saturating_add(gaps.len() as u64 * u64::from(k + 1))
    };
    (0..64).min_by_key(|&k| bits(k)).unwrap_or(0)
}

/// Fills `keys`, of which the first is known.
pub(super) fn decode_keys(payload: &[u8], first: u64, keys: &mut [u64]) -> Decoded<()> {
    const BEYOND: &str = "a key is beyond 64 bits";
    let mut bits = BitReader::new(payload);
    let k = bits.bits(8) as u32;
    if k > 63 {
        return Err("its Rice parameter is beyond 63");
    }
    let (mut rest, mut key) = (keys, first);
    loop {
        let count = usize::try_from(bits.unary() + 1).unwrap_or(usize::MAX);
        let (group, after) =
            rest.split_at_mut_checked(count).ok_or("it holds more entries than stated")?;
        group.fill(key);
        if after.is_empty() {
            return bits.finish();
        }
        rest = after;
        let quotient = bits.unary();
        if quotient > u64::MAX >> k {
            return Err(BEYOND);
        }
        let gap = quotient << k | bits.bits(k);
        key = key.checked_add(1).and_then(|next| next.checked_add(gap)).ok_or(BEYOND)?;
    }
}

/// How often each move and each rank occurs.
#[derive(Debug)]
pub(in crate::sob) struct Frequencies {
    squares: Vec<u64>,
    ranks: Vec<u64>,
}

impl Default for Frequencies {
    fn default() -> Frequencies {
        Frequencies { squares: vec![0; SQUARES], ranks: vec![0; RANKS] }
    }
}

impl Frequencies {
    pub(in crate::sob) fn count(&mut self, word: Word) {
        self.squares[usize::from(word.squares())] += 1;
        self.ranks[usize::from(word.rank())] += 1;
    }
}

/// The codes of a book.
#[derive(Debug)]
pub(in crate::sob) struct Codes {
    squares: Huffman,
    ranks: Huffman,
}

impl Codes {
    pub(in crate::sob) fn new(frequencies: &Frequencies) -> Codes {
        Codes {
            squares: Huffman::for_counts(&frequencies.squares),
            ranks: Huffman::for_counts(&frequencies.ranks),
        }
    }

    /// The table of `moves.sob`: the number of moves, each with its length, then the lengths of
    /// all ranks.
    pub(in crate::sob) fn to_table(&self) -> Vec<u8> {
        let used = || (0u16..).zip(self.squares.lengths()).filter(|&(_, &length)| length > 0);
        let mut table = (used().count() as u16).to_le_bytes().to_vec();
        for (symbol, &length) in used() {
            table.extend_from_slice(&symbol.to_le_bytes());
            table.push(length);
        }
        table.extend_from_slice(self.ranks.lengths());
        table
    }

    pub(in crate::sob) fn from_table(table: &[u8]) -> Decoded<Codes> {
        const LENGTH: &str = "its length is wrong";
        let mut fields = Fields(table);
        let mut squares = vec![0; SQUARES];
        let mut previous = None;
        for _ in 0..fields.u16().ok_or(LENGTH)? {
            let symbol = fields.u16().ok_or(LENGTH)?;
            let length = fields.u8().ok_or(LENGTH)?;
            if previous >= Some(symbol) || length == 0 {
                return Err("its moves are not in order");
            }
            *squares.get_mut(usize::from(symbol)).ok_or("a move is beyond 12 bits")? = length;
            previous = Some(symbol);
        }
        let ranks: [u8; RANKS] = fields.take().ok_or(LENGTH)?;
        if !fields.0.is_empty() {
            return Err(LENGTH);
        }
        Ok(Codes {
            squares: Huffman::from_lengths(squares)?,
            ranks: Huffman::from_lengths(ranks.to_vec())?,
        })
    }

    pub(super) fn encode(&self, words: &[u16]) -> Vec<u8> {
        let mut bits = BitWriter::default();
        for &word in words {
            self.squares.encode(word & 0xfff, &mut bits);
            self.ranks.encode(word >> 12, &mut bits);
        }
        bits.into_bytes()
    }

    /// Fills `words`.
    pub(super) fn decode(&self, payload: &[u8], words: &mut [u16]) -> Decoded<()> {
        let mut bits = BitReader::new(payload);
        for word in words {
            let squares = self.squares.decode(&mut bits)?;
            *word = squares | self.ranks.decode(&mut bits)? << 12;
        }
        bits.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(payload: &[u8], first: u64, entries: usize) -> Decoded<Vec<u64>> {
        let mut keys = vec![0; entries];
        decode_keys(payload, first, &mut keys).map(|()| keys)
    }

    #[test]
    fn the_golden_block_is_byte_exact() {
        let (first, second) = (0x463b_9618_1691_fc9c, 0x823c_9b50_fd11_4196);
        let keys = [first, first, second];
        let payload = [0x3d, 0xae, 0x00, 0x82, 0x9c, 0x73, 0x3f, 0xa2, 0x7c, 0x80];
        assert_eq!(encode_keys(&keys), payload);
        assert_eq!(decoded(&payload, first, 3).unwrap(), keys);
        for entries in [1, 2, 4] {
            assert!(decoded(&payload, first, entries).is_err());
        }

        let words = [0xf934, 0x88f3, 0xf70c];
        let mut frequencies = Frequencies::default();
        words.iter().for_each(|&word| frequencies.count(Word(word)));
        let codes = Codes::new(&frequencies);
        assert_eq!(codes.encode(&words), [0x75]);
        let codes = Codes::from_table(&codes.to_table()).unwrap();
        let mut decoded = [0; 3];
        codes.decode(&[0x75], &mut decoded).unwrap();
        assert_eq!(decoded, words);
    }

    proptest! {
        #[test]
        fn keys_come_back(mut keys in prop::collection::vec(any::<u64>(), 1..300), shift in 0..64u32) {
            keys.iter_mut().for_each(|key| *key >>= shift);
            keys.sort_unstable();
            prop_assert_eq!(decoded(&encode_keys(&keys), keys[0], keys.len()), Ok(keys));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes: Vec<u8>, first: u64, entries in 1..2000usize) {
            if let Ok(keys) = decoded(&bytes, first, entries) {
                prop_assert!(keys.is_sorted());
            }
            let _ = Codes::from_table(&bytes);
            let mut frequencies = Frequencies::default();
            bytes.iter().for_each(|&byte| frequencies.count(Word(u16::from(byte) * 257)));
            let _ = Codes::new(&frequencies).decode(&bytes, &mut vec![0; entries]);
        }
    }
}
