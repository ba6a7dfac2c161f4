//! Bootstrap intervals over runs.

use serde::{Deserialize, Serialize};

use super::{
    Interval, UPPER_QUANTILE, finite,
    moments::mean,
    normal,
    quantile::quantile_of_unsorted,
    rate::are_runs,
    rng::{Indices, Rng},
    student_t,
};

/// Resamples drawn unless asked otherwise.
pub const DEFAULT_RESAMPLES: u32 = 10_000;

/// Most resamples that are drawn: they are held in memory at once.
pub const MOST_RESAMPLES: u32 = 4_000_000;

/// Fewest runs that get an interval.
pub const FEWEST_RUNS: usize = 3;

/// Which quantiles of the bootstrap distribution are the ends of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IntervalKind {
    /// 2.5 % and 97.5 %: too narrow for few runs.
    Percentile,
    /// Widened for small samples; see [`tail`].
    #[default]
    Expanded,
}

impl IntervalKind {
    /// The word that files and tables use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Percentile => "percentile",
            Self::Expanded => "expanded",
        }
    }
}

/// A 95 % bootstrap interval and how it was made. `low ≤ high`, both finite, in the unit of the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BootstrapInterval {
    pub low: f64,
    pub high: f64,
    pub kind: IntervalKind,
    pub resamples: u32,
}

impl BootstrapInterval {
    /// The two ends alone.
    pub fn ends(self) -> Interval {
        Interval { low: self.low, high: self.high }
    }

    /// The same interval with other ends: after a change of scale.
    pub(crate) fn with_ends(self, ends: Interval) -> Self {
        Self { low: ends.low, high: ends.high, ..self }
    }
}

/// How to resample. The same plan on the same runs gives the same interval, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    pub kind: IntervalKind,
    pub resamples: u32,
    pub seed: u64,
}

impl Bootstrap {
    /// The default plan, 10,000 resamples and the expanded interval, with a seed.
    pub const fn new(seed: u64) -> Self {
        Self { kind: IntervalKind::Expanded, resamples: DEFAULT_RESAMPLES, seed }
    }

    /// The same plan for the other kind of interval.
    #[must_use]
    pub const fn with_kind(self, kind: IntervalKind) -> Self {
        Self { kind, ..self }
    }

    /// Interval of Σ tokens / Σ seconds; whole runs are resampled. `None` below three runs and where
    /// [`ratio_of_totals`](super::rate::ratio_of_totals) has no answer.
    pub fn ratio_of_totals(&self, tokens: &[f64], seconds: &[f64]) -> Option<BootstrapInterval> {
        if !are_runs(tokens, seconds) {
            return None;
        }
        let runs: Vec<[f64; 2]> =
            tokens.iter().zip(seconds).map(|(&tokens, &seconds)| [tokens, seconds]).collect();
        self.interval(runs.len(), |indices| {
            let (mut tokens, mut seconds) = (0.0, 0.0);
            for _ in 0..runs.len() {
                let run = runs[indices.next_index()];
                tokens += run[0];
                seconds += run[1];
            }
            tokens / seconds
        })
    }

    /// Interval of the mean. `None` below three values.
    pub fn mean(&self, values: &[f64]) -> Option<BootstrapInterval> {
        let centre = mean(values)?;
        let deviations: Vec<f64> = values.iter().map(|value| value - centre).collect();
        let n = deviations.len() as f64;
        self.interval(deviations.len(), |indices| {
            let mut sum = 0.0;
            for _ in 0..deviations.len() {
                sum += deviations[indices.next_index()];
            }
            centre + sum / n
        })
    }

    fn interval(
        &self,
        n: usize,
        mut statistic: impl FnMut(&mut Indices) -> f64,
    ) -> Option<BootstrapInterval> {
        if n < FEWEST_RUNS || self.resamples == 0 || self.resamples > MOST_RESAMPLES {
            return None;
        }
        let tail = tail(self.kind, n)?;
        let mut indices = Indices::below(n, Rng::new(self.seed))?;
        let mut distribution = Vec::with_capacity(self.resamples as usize);
        for _ in 0..self.resamples {
            distribution.push(finite(statistic(&mut indices))?);
        }
        let low = quantile_of_unsorted(&mut distribution, tail)?;
        let high = quantile_of_unsorted(&mut distribution, 1.0 - tail)?;
        Some(BootstrapInterval { low, high, kind: self.kind, resamples: self.resamples })
    }
}

/// Share of the bootstrap distribution that a 95 % interval over n runs leaves out at each end.
///
/// `percentile`: 0.025. `expanded`: Φ(−√(n/(n−1))·t₀.₉₇₅,ₙ₋₁) (Hesterberg, "What Teachers Should Know About the
/// Bootstrap", The American Statistician 69, 2015). `None` for n < 2.
pub fn tail(kind: IntervalKind, n: usize) -> Option<f64> {
    if n < 2 {
        return None;
    }
    match kind {
        IntervalKind::Percentile => Some(1.0 - UPPER_QUANTILE),
        IntervalKind::Expanded => {
            let n = n as f64;
            normal::cdf(-(n / (n - 1.0)).sqrt() * student_t::ppf(UPPER_QUANTILE, n - 1.0)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::rate::ratio_of_totals;
    use proptest::prelude::*;

    const TOKENS: [f64; 8] = [512.0, 512.0, 251.0, 445.0, 312.0, 512.0, 512.0, 512.0];
    const SECONDS: [f64; 8] = [4.97, 5.58, 1.83, 4.84, 2.64, 4.89, 5.42, 5.45];

    #[test]
    fn the_same_seed_gives_the_same_interval_and_another_seed_another() {
        let plan = Bootstrap::new(1);
        assert_eq!(plan.ratio_of_totals(&TOKENS, &SECONDS), plan.ratio_of_totals(&TOKENS, &SECONDS));
        assert_ne!(
            plan.ratio_of_totals(&TOKENS, &SECONDS),
            Bootstrap::new(2).ratio_of_totals(&TOKENS, &SECONDS)
        );
    }

    #[test]
    fn the_default_is_expanded_and_wider_than_percentile() {
        let expanded = Bootstrap::new(5).ratio_of_totals(&TOKENS, &SECONDS).unwrap();
        let percentile =
            Bootstrap::new(5).with_kind(IntervalKind::Percentile).ratio_of_totals(&TOKENS, &SECONDS).unwrap();
        assert_eq!((expanded.kind, expanded.resamples), (IntervalKind::Expanded, 10_000));
        assert_eq!(percentile.kind.name(), "percentile");
        assert!(expanded.low < percentile.low && expanded.high > percentile.high);
    }

    #[test]
    fn equal_runs_give_an_interval_without_width() {
        let interval = Bootstrap::new(1).mean(&[0.1; 5]).unwrap();
        assert_eq!((interval.low, interval.high), (0.1, 0.1));
    }

    #[test]
    fn below_three_runs_there_is_no_interval() {
        assert_eq!(Bootstrap::new(1).ratio_of_totals(&TOKENS[..2], &SECONDS[..2]), None);
        assert_eq!(Bootstrap::new(1).mean(&[1.0, 2.0]), None);
        assert!(Bootstrap::new(1).mean(&[1.0, 2.0, 3.0]).is_some());
    }

    #[test]
    fn what_has_no_answer_has_none() {
        let plan = Bootstrap::new(1);
        assert_eq!(plan.ratio_of_totals(&TOKENS, &SECONDS[..7]), None);
        assert_eq!(plan.ratio_of_totals(&[1.0; 3], &[1.0, 0.0, 1.0]), None);
        assert_eq!(plan.ratio_of_totals(&[f64::MAX; 3], &[1.0; 3]), None);
        assert_eq!(plan.mean(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(plan.mean(&[]), None);
        for resamples in [0, MOST_RESAMPLES + 1] {
            assert_eq!(Bootstrap { resamples, ..plan }.mean(&[1.0, 2.0, 3.0]), None);
        }
        assert_eq!(tail(IntervalKind::Expanded, 1), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// A power of two changes no digit, so the interval scales to the bit.
        #[test]
        fn a_slower_clock_scales_the_interval(
            runs in prop::collection::vec((1.0..600.0_f64, 0.1..10.0_f64), 3..20),
            power in -8..8_i32,
            seed in any::<u64>(),
        ) {
            let (tokens, seconds): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
            let scale = libm::exp2(f64::from(power));
            let slow: Vec<f64> = seconds.iter().map(|seconds| seconds * scale).collect();
            let plan = Bootstrap { resamples: 500, ..Bootstrap::new(seed) };
            let (interval, scaled) =
                (plan.ratio_of_totals(&tokens, &seconds).unwrap(), plan.ratio_of_totals(&tokens, &slow).unwrap());
            prop_assert_eq!((interval.low, interval.high), (scaled.low * scale, scaled.high * scale));
        }

        #[test]
        fn the_interval_stays_among_the_rates_of_the_runs(
            runs in prop::collection::vec((1.0..600.0_f64, 0.1..10.0_f64), 3..20),
            seed in any::<u64>(),
        ) {
            let (tokens, seconds): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
            let rates: Vec<f64> = tokens.iter().zip(&seconds).map(|(tokens, seconds)| tokens / seconds).collect();
            let (slowest, fastest) =
                (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
            let plan = Bootstrap { resamples: 500, ..Bootstrap::new(seed) };
            let interval = plan.ratio_of_totals(&tokens, &seconds).unwrap();
            let estimate = ratio_of_totals(&tokens, &seconds).unwrap();
            prop_assert!(interval.low >= slowest * (1.0 - 1e-12) && interval.high <= fastest * (1.0 + 1e-12));
            prop_assert!(estimate >= slowest * (1.0 - 1e-12) && estimate <= fastest * (1.0 + 1e-12));
        }
    }
}
