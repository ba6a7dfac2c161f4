//! Runs of B against the same runs of A.
//!
//! [`log_ratios`] comes first; the ratio, its intervals, [`wilcoxon`](super::wilcoxon),
//! [`equivalence`](super::equivalence) and [`detectable`](super::detectable) all take what it gives. Cycles of a sweep
//! hand in the mean log ratio of each cycle instead.

use super::{
    Bootstrap, BootstrapInterval, Interval, UPPER_QUANTILE, finite, ln, moments, ratio_of_log, student_t,
};

/// ln(b / a) of each pair. `None` unless both sides have the same number of values, at least one, all positive.
pub fn log_ratios(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    if a.is_empty() || a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(&a, &b)| Some(ln(b)? - ln(a)?)).collect()
}

/// Geometric mean of the ratios B / A: exp of the mean log ratio.
pub fn geometric_mean_ratio(log_ratios: &[f64]) -> Option<f64> {
    ratio_of_log(moments::mean(log_ratios)?)
}

/// 95 % t interval of the geometric-mean ratio: exp(mean ± t₀.₉₇₅,ₙ₋₁·sd/√n). `None` below two pairs.
pub fn t_interval(log_ratios: &[f64]) -> Option<Interval> {
    let standard_error = moments::standard_error(log_ratios)?;
    let t = student_t::ppf(UPPER_QUANTILE, (log_ratios.len() - 1) as f64)?;
    Interval::around(moments::mean(log_ratios)?, finite(t * standard_error)?)?.exp()
}

/// 95 % bootstrap interval of the geometric-mean ratio: that of the mean log ratio, turned back. `None` below three
/// pairs.
pub fn bootstrap_interval(log_ratios: &[f64], plan: &Bootstrap) -> Option<BootstrapInterval> {
    let of_logs = plan.mean(log_ratios)?;
    Some(of_logs.with_ends(of_logs.ends().exp()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        prop::collection::vec((50.0..150.0_f64, 50.0..150.0_f64), 3..20)
            .prop_map(|pairs| pairs.into_iter().unzip())
    }

    #[test]
    fn the_geometric_mean_of_half_and_double_is_one() {
        let log_ratios = log_ratios(&[100.0, 100.0], &[50.0, 200.0]).unwrap();
        assert!((geometric_mean_ratio(&log_ratios).unwrap() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_case_against_itself_has_ratio_one_and_no_width() {
        let rates = [91.3, 87.2, 99.9, 101.4];
        let log_ratios = log_ratios(&rates, &rates).unwrap();
        assert_eq!(geometric_mean_ratio(&log_ratios), Some(1.0));
        assert_eq!(t_interval(&log_ratios), Interval::new(1.0, 1.0));
        let interval = bootstrap_interval(&log_ratios, &Bootstrap::new(1)).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 1.0));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(log_ratios(&[], &[]), None);
        assert_eq!(log_ratios(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(log_ratios(&[1.0, 0.0], &[1.0, 2.0]), None);
        assert_eq!(log_ratios(&[1.0], &[-1.0]), None);
        assert_eq!(log_ratios(&[1.0], &[f64::INFINITY]), None);
        assert_eq!(geometric_mean_ratio(&[]), None);
        assert_eq!(geometric_mean_ratio(&[1e6]), None, "the ratio leaves the range");
        assert_eq!(t_interval(&[0.1]), None);
        assert_eq!(t_interval(&[700.0, -700.0]), None, "the interval leaves the range");
        assert_eq!(bootstrap_interval(&[0.1, 0.2], &Bootstrap::new(1)), None);
        assert_eq!(bootstrap_interval(&[0.1, 0.2, f64::NAN], &Bootstrap::new(1)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn swapped_sides_invert_the_ratio_and_its_t_interval((a, b) in pairs()) {
            let (forth, back) = (log_ratios(&a, &b).unwrap(), log_ratios(&b, &a).unwrap());
            let ratio = geometric_mean_ratio(&forth).unwrap();
            prop_assert!((ratio * geometric_mean_ratio(&back).unwrap() - 1.0).abs() < 1e-12);
            let (forth, back) = (t_interval(&forth).unwrap(), t_interval(&back).unwrap());
            prop_assert!((forth.low * back.high - 1.0).abs() < 1e-12);
            prop_assert!((forth.high * back.low - 1.0).abs() < 1e-12);
            prop_assert!(!forth.excludes(ratio));
        }

        /// The same seed draws the same pairs, so the bootstrap interval is mirrored up to rounding.
        #[test]
        fn swapped_sides_invert_the_bootstrap_interval((a, b) in pairs(), seed in any::<u64>()) {
            let plan = Bootstrap { resamples: 1_000, ..Bootstrap::new(seed) };
            let forth = bootstrap_interval(&log_ratios(&a, &b).unwrap(), &plan).unwrap();
            let back = bootstrap_interval(&log_ratios(&b, &a).unwrap(), &plan).unwrap();
            prop_assert!((forth.low * back.high - 1.0).abs() < 1e-9);
            prop_assert!((forth.high * back.low - 1.0).abs() < 1e-9);
        }

        #[test]
        fn the_unit_of_the_rates_cancels((a, b) in pairs(), scale in 1e-3..1e3_f64) {
            let scaled = |values: &[f64]| values.iter().map(|value| value * scale).collect::<Vec<f64>>();
            let ratio = geometric_mean_ratio(&log_ratios(&a, &b).unwrap()).unwrap();
            let of_scaled = geometric_mean_ratio(&log_ratios(&scaled(&a), &scaled(&b)).unwrap()).unwrap();
            prop_assert!((ratio / of_scaled - 1.0).abs() < 1e-12);
        }
    }
}
