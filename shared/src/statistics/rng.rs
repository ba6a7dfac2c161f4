//! A small generator whose stream depends on nothing but its seed.

/// xoshiro256++ 1.0 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021), seeded through
/// splitmix64 as its authors advise.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        let mut word = seed;
        Self { state: core::array::from_fn(|_| splitmix64(&mut word)) }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let next = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        next
    }

    /// A uniform number in [0, 1) with 53 random bits.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

/// Random indices below a bound, all equally likely.
///
/// Lemire's multiplication with rejection ("Fast Random Integer Generation in an Interval", 2019) on 32 bits; each
/// word of the generator gives two.
#[derive(Debug, Clone)]
pub struct Indices {
    rng: Rng,
    bound: u64,
    threshold: u64,
    spare: Option<u64>,
}

impl Indices {
    /// Indices 0 to `bound − 1`; `None` for no index at all or more than 2³² − 1.
    pub fn below(bound: usize, rng: Rng) -> Option<Self> {
        let bound = u32::try_from(bound).ok().filter(|&bound| bound > 0)?;
        Some(Self {
            rng,
            bound: u64::from(bound),
            threshold: u64::from(bound.wrapping_neg() % bound),
            spare: None,
        })
    }

    /// The next index.
    #[inline]
    pub fn next_index(&mut self) -> usize {
        loop {
            let half = if let Some(half) = self.spare.take() {
                half
            } else {
                let word = self.rng.next_u64();
                self.spare = Some(word & 0xffff_ffff);
                word >> 32
            };
            let product = half * self.bound;
            if product & 0xffff_ffff >= self.threshold {
                return (product >> 32) as usize;
            }
        }
    }
}

fn splitmix64(word: &mut u64) -> u64 {
    *word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *word;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The authors' C code gives these for the state 1, 2, 3, 4.
    #[test]
    fn the_stream_is_that_of_the_authors() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let expected =
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205];
        for value in expected {
            assert_eq!(rng.next_u64(), value);
        }
    }

    #[test]
    fn the_seeding_is_that_of_the_authors() {
        let mut word = 1_477_776_061_723_855_037;
        let expected = [1_985_237_415_132_408_290, 2_979_275_885_539_914_483, 13_511_426_838_097_143_398];
        for value in expected {
            assert_eq!(splitmix64(&mut word), value);
        }
    }

    #[test]
    fn every_index_is_as_likely_as_another() {
        let mut indices = Indices::below(7, Rng::new(1)).unwrap();
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[indices.next_index()] += 1;
        }
        // Six standard deviations of a binomial count.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 560), "{counts:?}");
    }

    #[test]
    fn uniform_numbers_stay_below_one() {
        let mut rng = Rng::new(3);
        let values: Vec<f64> = (0..10_000).map(|_| rng.next_f64()).collect();
        assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
        let mean = values.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02);
    }

    #[test]
    fn there_is_no_index_below_none() {
        assert!(Indices::below(0, Rng::new(1)).is_none());
        let mut only = Indices::below(1, Rng::new(1)).unwrap();
        assert_eq!(only.next_index(), 0);
    }
}
