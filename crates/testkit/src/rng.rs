//! Numbers from a seed.

/// The splitmix64 generator: the same seed gives the same numbers, on every machine, for ever.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number under `n`, which is not 0. The bias for small `n` is of no concern here.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.bits() % 100 < u64::from(percent)
    }

    /// One of `items`.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

/// Spreads a number over all 64 bits.
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_published_ones() {
        // The first output of splitmix64 for seed 0, as its author published it.
        assert_eq!(Rng::new(0).bits(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn chances_are_about_right() {
        let mut rng = Rng::new(7);
        let hits = (0..10_000).filter(|_| rng.chance(30)).count();
        assert!((2_800..3_200).contains(&hits), "{hits}");
    }
}
