//! Statistics on bare `f64`: every interval, p value and warning that the collector prints and the explorer draws.
//!
//! One small file per method; each function names its formula and its source. Three rules hold for all of them.
//!
//! - **No answer is `None`.** Empty input, NaN or infinity inside, a logarithm of nothing, a division by zero:
//!   never NaN, never infinity, never a panic.
//! - **The same bits everywhere.** Only IEEE basic operations, square roots and the `libm` crate; an own generator
//!   with the caller's seed; sums in the order of the input. So the collector and the explorer agree to the last bit.
//! - **Pure.** No clock, no global state, no unseeded randomness.

use std::cmp::Ordering;

pub mod bootstrap;
pub mod cycles;
pub mod detectable;
pub mod drift;
pub mod equivalence;
pub mod holm;
mod incomplete_beta;
pub mod interval;
pub mod linear_fit;
pub mod moments;
pub mod normal;
pub mod outlier;
pub mod paired;
pub mod quantile;
pub mod rate;
pub mod rng;
pub mod sample_size;
pub mod student_t;
pub mod welch;
pub mod wilcoxon;

pub use bootstrap::{Bootstrap, BootstrapInterval, IntervalKind};
pub use interval::Interval;

/// The level of every interval in this crate is 95 %: its upper quantile.
pub(crate) const UPPER_QUANTILE: f64 = 0.975;

/// True if there is at least one value and none is NaN or infinite.
pub(crate) fn usable(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|value| value.is_finite())
}

/// Sorts indices, equal ones staying as they are. One sort serves all lists of the crate, so that its code is
/// downloaded once.
pub(crate) fn sort_by(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_by(|&a, &b| compare(a, b));
}

/// The indices below `n` in an order.
pub(crate) fn order(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..n).collect();
    sort_by(&mut indices, compare);
    indices
}

/// `Some` only for a number that can be shown.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Natural logarithm of a positive, finite number.
pub(crate) fn ln(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| libm::log(value))
}

/// Natural logarithms of positive, finite numbers; `None` if there is none, or if one of them is not.
pub(crate) fn logs(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() {
        return None;
    }
    values.iter().map(|&value| ln(value)).collect()
}

/// The ratio whose logarithm this is; `None` where it leaves the range of `f64`.
pub(crate) fn ratio_of_log(log_ratio: f64) -> Option<f64> {
    finite(libm::exp(log_ratio)).filter(|&ratio| ratio > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits recorded natively. Whoever changes an operation, its order or a generator sees it here; the browser
    /// must give the same.
    #[test]
    fn the_bits_do_not_change() {
        let tokens = [325.0, 512.0, 413.0, 512.0, 512.0];
        let seconds = [3.26554, 4.95956, 6.1589, 3.9744, 3.97307];
        let rate = Bootstrap::new(7).ratio_of_totals(&tokens, &seconds).unwrap();
        let mean = Bootstrap::new(7).mean(&seconds).unwrap();
        let t = student_t::ppf(0.975, 4.0).unwrap();
        let z = normal::cdf(-1.25).unwrap();
        let slope = drift::log_slope(&seconds).unwrap();
        let bits = [rate.low, rate.high, mean.low, mean.high, t, z, slope].map(f64::to_bits);
        let recorded = [
            0x4051_b6de_53e6_dd0d,
            0x4060_1b7c_b6df_e565,
            0x400b_41a1_554f_bdae,
            0x4017_ad16_b97f_e8ee,
            0x4006_3628_d9ef_b5de,
            0x3fbb_0bdd_12ba_9c29,
            0x3f98_ee64_824d_1ce0,
        ];
        assert_eq!(bits, recorded);
    }
}
