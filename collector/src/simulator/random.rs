//! Seeded random numbers for jitter and for wording. Not for secrets, not for statistics.

/// `SplitMix64` (Steele, Lea and Flood, 2014): small, and every seed is a good seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator of its own for each pair, so that requests do not share a sequence.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut first = Self(seed);
        let mixed = first.next_u64() ^ stream.wrapping_mul(0xD134_2543_DE82_EF95);
        Self(mixed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform in `0..below`; 0 when `below` is 0.
    pub fn below(&mut self, below: usize) -> usize {
        (self.unit() * below as f64) as usize
    }

    /// A log-normal factor of mean 1 whose standard deviation is `share`. Exactly 1 when `share` is 0.
    pub fn factor(&mut self, share: f64) -> f64 {
        if share <= 0.0 {
            return 1.0;
        }
        let variance = (share * share).ln_1p();
        let normal = (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        (variance.sqrt() * normal - variance / 2.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_mean_one_and_the_spread_asked_for() {
        let mut random = Random::new(7, 0);
        let drawn: Vec<f64> = (0..20_000).map(|_| random.factor(0.2)).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (drawn.len() - 1) as f64;
        assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
        assert!((variance.sqrt() - 0.2).abs() < 0.01, "spread {}", variance.sqrt());
    }

    #[test]
    fn the_same_pair_repeats_and_another_stream_differs() {
        let draw = |seed, stream| Random::new(seed, stream).next_u64();
        assert_eq!(draw(1, 5), draw(1, 5));
        assert_ne!(draw(1, 5), draw(1, 6));
        assert_ne!(draw(1, 5), draw(2, 5));
    }
}
