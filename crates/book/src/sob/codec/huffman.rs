//! Canonical Huffman codes: lengths are all that is stored.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    Decoded,
    bits::{BitReader, BitWriter},
};

const MAX_LENGTH: u8 = 32;

/// A code for symbols 0 to n - 1. Codes ascend by length, then symbol.
#[derive(Debug)]
pub(super) struct Huffman {
    /// Of each symbol; 0: it does not occur.
    lengths: Vec<u8>,
    codes: Vec<u32>,
    /// How many codes have which length, from 1.
    counts: Vec<u64>,
    /// All symbols that occur, in the order of their codes.
    symbols: Vec<u16>,
    /// What the next [`SHORT`] bits begin with: a symbol, and the length of its code in the upper
    /// half; 0 if the code is longer.
    short: Vec<u32>,
}

/// Most codes are not longer. The table takes 8 KiB.
const SHORT: u32 = 11;

impl Huffman {
    /// The best code for symbols that occur so often. The same counts give the same code.
    pub(super) fn for_counts(counts: &[u64]) -> Huffman {
        let mut counts = counts.to_vec();
        loop {
            let lengths = lengths_for(&counts);
            if lengths.iter().all(|&length| length <= MAX_LENGTH) {
                return Huffman::assign(lengths);
            }
            // Only counts like the Fibonacci numbers come here. Flatter ones give shorter codes.
            counts.iter_mut().for_each(|count| *count = count.div_ceil(2));
        }
    }

    /// Takes lengths from a file. No symbols at all are a code, too: that of an empty book.
    pub(super) fn from_lengths(lengths: Vec<u8>) -> Decoded<Huffman> {
        let used: Vec<u8> = lengths.iter().copied().filter(|&length| length > 0).collect();
        if used.iter().any(|&length| length > MAX_LENGTH) {
            return Err("a code is longer than 32 bits");
        }
        let space: u64 = used.iter().map(|&length| 1 << (MAX_LENGTH - length)).sum();
        match used.as_slice() {
            [] | [1] => Ok(Huffman::assign(lengths)),
            _ if space == 1 << MAX_LENGTH => Ok(Huffman::assign(lengths)),
            _ => Err("the lengths of the codes do not add up"),
        }
    }

    /// The lengths must be those of a prefix code.
    fn assign(lengths: Vec<u8>) -> Huffman {
        let mut symbols: Vec<u16> = (0..=u16::MAX)
            .zip(&lengths)
            .filter(|&(_, &length)| length > 0)
            .map(|(symbol, _)| symbol)
            .collect();
        let length_of = |symbol: u16| lengths.get(usize::from(symbol)).copied().unwrap_or(0);
        symbols.sort_by_key(|&symbol| (length_of(symbol), symbol));

        let mut counts = vec![0; usize::from(MAX_LENGTH)];
        let mut codes = vec![0; lengths.len()];
        let mut short = vec![0; 1 << SHORT];
        let (mut next, mut previous) = (0u64, 0);
        for &symbol in &symbols {
            let length = length_of(symbol);
            next <<= length - previous;
            previous = length;
            if let Some(code) = codes.get_mut(usize::from(symbol)) {
                *code = next as u32;
            }
            if let Some(count) = counts.get_mut(usize::from(length) - 1) {
                *count += 1;
            }
            if let Some(free) = SHORT.checked_sub(u32::from(length)) {
                let start = (next << free) as usize;
                let meanings = short.get_mut(start..start + (1 << free)).unwrap_or_default();
                meanings.fill(u32::from(length) << 16 | u32::from(symbol));
            }
            next += 1;
        }
        Huffman { lengths, codes, counts, symbols, short }
    }

    pub(super) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Appends the code of a symbol that occurs.
    pub(super) fn encode(&self, symbol: u16, bits: &mut BitWriter) {
        let symbol = usize::from(symbol);
        if let (Some(&code), Some(&length)) = (self.codes.get(symbol), self.lengths.get(symbol)) {
            bits.push(u64::from(code), u32::from(length));
        }
    }

    pub(super) fn decode(&self, bits: &mut BitReader<'_>) -> Decoded<u16> {
        let window = bits.window();
        let meaning = self.short.get((window >> (64 - SHORT)) as usize).copied().unwrap_or(0);
        if meaning != 0 {
            bits.skip(meaning >> 16);
            return Ok(meaning as u16);
        }
        // `code` counts from the first code of its length; `before` are the shorter ones.
        let (mut code, mut before) = (0, 0);
        for (&count, length) in self.counts.iter().zip(1..) {
            code = code << 1 | window >> (64 - length) & 1;
            if code < count {
                bits.skip(length);
                return self.symbols.get((before + code) as usize).copied().ok_or(NO_CODE);
            }
            code -= count;
            before += count;
        }
        Err(NO_CODE)
    }
}

const NO_CODE: &str = "its bits are no code of the table";

/// Merges the two lowest (count, smallest symbol) until one tree is left, and takes depths.
fn lengths_for(counts: &[u64]) -> Vec<u8> {
    let leaves = (0..=u16::MAX).zip(counts).filter(|&(_, &count)| count > 0);
    let mut heap: BinaryHeap<Reverse<(u64, u16, usize)>> = BinaryHeap::new();
    let mut parents: Vec<usize> = Vec::new();
    let mut leaf_symbols: Vec<u16> = Vec::new();
    for (symbol, &count) in leaves {
        heap.push(Reverse((count, symbol, leaf_symbols.len())));
        leaf_symbols.push(symbol);
        parents.push(0);
    }
    while let Some(Reverse((count, symbol, node))) = heap.pop() {
        let Some(Reverse((other_count, other_symbol, other))) = heap.pop() else { break };
        let parent = parents.len();
        parents.push(0);
        parents[node] = parent;
        parents[other] = parent;
        heap.push(Reverse((count + other_count, symbol.min(other_symbol), parent)));
    }
    // Parents come after their children, so one pass from the root down knows all depths.
    let mut depths = vec![0u8; parents.len()];
    for node in (0..parents.len().saturating_sub(1)).rev() {
        depths[node] = depths[parents[node]].saturating_add(1);
    }
    let mut lengths = vec![0; counts.len()];
    for (leaf, &symbol) in leaf_symbols.iter().enumerate() {
        // A lone symbol still takes one bit.
        lengths[usize::from(symbol)] = depths[leaf].max(1);
    }
    lengths
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_go_to_the_smallest_symbol() {
        assert_eq!(Huffman::for_counts(&[1, 1, 1]).lengths(), [2, 2, 1]);
        assert_eq!(Huffman::for_counts(&[0, 5, 0]).lengths(), [0, 1, 0]);
        assert!(Huffman::for_counts(&[]).lengths().is_empty());
    }

    #[test]
    fn codes_never_exceed_32_bits() {
        let mut fibonacci = vec![1u64, 1];
        while fibonacci.len() < 60 {
            fibonacci.push(fibonacci[fibonacci.len() - 1] + fibonacci[fibonacci.len() - 2]);
        }
        assert!(lengths_for(&fibonacci).iter().any(|&length| length > 32));
        let code = Huffman::for_counts(&fibonacci);
        assert!(Huffman::from_lengths(code.lengths().to_vec()).is_ok());
    }

    #[test]
    fn lengths_must_be_those_of_a_whole_code() {
        for lengths in [&[1, 1, 1][..], &[2, 2], &[2], &[33, 1], &[1, 2]] {
            assert!(Huffman::from_lengths(lengths.to_vec()).is_err(), "{lengths:?}");
        }
        for lengths in [&[][..], &[0, 0], &[1], &[1, 1], &[2, 1, 2]] {
            assert!(Huffman::from_lengths(lengths.to_vec()).is_ok(), "{lengths:?}");
        }
    }

    #[test]
    fn long_codes_come_back() {
        let counts: Vec<u64> = (0..30).map(|power| 1 << power).collect();
        let code = Huffman::for_counts(&counts);
        assert_eq!(code.lengths().iter().max(), Some(&29));
        let mut bits = BitWriter::default();
        (0..30).for_each(|symbol| code.encode(symbol, &mut bits));
        let bytes = bits.into_bytes();
        let mut bits = BitReader::new(&bytes);
        (0..30).for_each(|symbol| assert_eq!(code.decode(&mut bits), Ok(symbol)));
    }

    proptest! {
        #[test]
        fn symbols_come_back(symbols in prop::collection::vec(0..300u16, 1..400)) {
            let mut counts = vec![0; 300];
            symbols.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
            let code = Huffman::for_counts(&counts);
            let mut bits = BitWriter::default();
            symbols.iter().for_each(|&symbol| code.encode(symbol, &mut bits));
            let bytes = bits.into_bytes();
            let code = Huffman::from_lengths(code.lengths().to_vec()).unwrap();
            let mut bits = BitReader::new(&bytes);
            for &symbol in &symbols {
                prop_assert_eq!(code.decode(&mut bits), Ok(symbol));
            }
            prop_assert_eq!(bits.finish(), Ok(()));
        }
    }
}
