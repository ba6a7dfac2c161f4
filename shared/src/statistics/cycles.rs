//! Cycles of an A/B measurement. The unit of replication is the cycle: a fresh server process for each side, so that
//! what differs from start to start (memory layout, caches, clocks) is part of the spread. Runs within a cycle share
//! one process and only make its mean more exact.

use super::{Interval, UPPER_QUANTILE, finite, moments, paired, student_t};

/// The fewest cycles between which there is a spread, and so the fewest that can name a winner.
pub const FEWEST: usize = 2;

/// What the cycles say together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverCycles {
    /// Cycles.
    pub cycles: usize,
    /// Geometric mean of their ratios, B / A.
    pub ratio: f64,
    /// Its 95 % t interval on cycles − 1 degrees of freedom; none for one cycle, and none where they do not vary.
    pub interval: Option<Interval>,
    /// Two-sided p value of the t test that the ratio is 1, on as many degrees of freedom; none where there is no
    /// interval.
    pub p: Option<f64>,
}

/// The mean log ratios of the cycles, one each, taken together. `None` without a cycle, and for ratios that are no
/// numbers or leave the range.
pub fn over_cycles(log_ratios: &[f64]) -> Option<OverCycles> {
    let ratio = paired::geometric_mean_ratio(log_ratios)?;
    // Without spread there is nothing to test against: an interval of no width would claim certainty.
    let varies = moments::standard_error(log_ratios).is_some_and(|error| error > 0.0);
    let interval = varies.then(|| paired::t_interval(log_ratios)).flatten();
    Some(OverCycles { cycles: log_ratios.len(), ratio, interval, p: interval.and_then(|_| p(log_ratios)) })
}

/// P(|T| ≥ |mean / standard error|).
fn p(log_ratios: &[f64]) -> Option<f64> {
    let t = finite(moments::mean(log_ratios)? / moments::standard_error(log_ratios)?)?;
    student_t::two_sided(t, (log_ratios.len() - 1) as f64)
}

/// Half the width of the 95 % t interval of that many cycles, in standard deviations of one cycle: what a further
/// cycle is worth. `None` below two.
pub fn half_width_in_deviations(cycles: usize) -> Option<f64> {
    if cycles < FEWEST {
        return None;
    }
    Some(student_t::ppf(UPPER_QUANTILE, (cycles - 1) as f64)? / (cycles as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Log ratios; ratio, interval and p of `scipy.stats.ttest_1samp(log_ratios, 0)`.
    const KNOWN: [(&[f64], [f64; 4]); 4] = [
        (
            &[0.031, 0.027],
            [
                1.029_424_594_475_130_8,
                1.003_594_033_633_318_4,
                1.055_919_983_774_508_8,
                0.043_835_402_544_861_82,
            ],
        ),
        (
            &[0.63, 0.61, 0.66],
            [
                1.883_879_723_964_962_7,
                1.769_712_738_071_384_6,
                2.005_411_803_858_05,
                0.000_525_900_641_157_538_1,
            ],
        ),
        (
            &[0.012, -0.008, 0.021, 0.004, -0.013],
            [
                1.003_205_125_465_705_3,
                0.985_929_934_413_002_9,
                1.020_783_007_628_080_6,
                0.635_947_698_862_681_5,
            ],
        ),
        (
            &[-0.21, -0.18, -0.2, -0.19],
            [
                0.822_834_658_056_018_4,
                0.806_103_927_429_511_3,
                0.839_912_635_901_862_9,
                7.967_819_835_455_135e-5,
            ],
        ),
    ];

    #[test]
    fn known_values_agree() {
        for (log_ratios, expected) in KNOWN {
            let found = over_cycles(log_ratios).unwrap();
            let interval = found.interval.unwrap();
            assert_eq!(found.cycles, log_ratios.len());
            for (ours, theirs) in
                [found.ratio, interval.low, interval.high, found.p.unwrap()].into_iter().zip(expected)
            {
                assert!((ours / theirs - 1.0).abs() < 1e-10, "{log_ratios:?}: {ours} against {theirs}");
            }
        }
    }

    #[test]
    fn one_cycle_has_a_ratio_and_no_interval() {
        let found = over_cycles(&[0.5]).unwrap();
        assert!((found.ratio - 1.648_721_270_700_128).abs() < 1e-12);
        assert_eq!((found.cycles, found.interval, found.p), (1, None, None));
    }

    #[test]
    fn cycles_that_do_not_vary_are_no_proof() {
        let found = over_cycles(&[0.1, 0.1, 0.1]).unwrap();
        assert_eq!((found.interval, found.p), (None, None));
        assert!((found.ratio - 1.105_170_918_075_647_7).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(over_cycles(&[]), None);
        assert_eq!(over_cycles(&[0.1, f64::NAN]), None);
        assert_eq!(over_cycles(&[1e6]), None, "the ratio leaves the range");
        let wide = over_cycles(&[700.0, -700.0]).unwrap();
        assert_eq!((wide.interval, wide.p), (None, None), "the interval leaves the range");
    }

    #[test]
    fn a_third_cycle_is_worth_most() {
        let widths: Vec<f64> = (2..=5).filter_map(half_width_in_deviations).collect();
        let rounded: Vec<f64> = widths.iter().map(|width| (width * 100.0).round() / 100.0).collect();
        assert_eq!(rounded, [8.98, 2.48, 1.59, 1.24]);
        assert_eq!((half_width_in_deviations(0), half_width_in_deviations(1)), (None, None));
    }

    proptest! {
        #[test]
        fn the_test_and_the_interval_say_the_same(log_ratios in prop::collection::vec(-0.1..0.1_f64, 2..10)) {
            let found = over_cycles(&log_ratios).unwrap();
            if let (Some(interval), Some(p)) = (found.interval, found.p) {
                prop_assert!((0.0..=1.0).contains(&p));
                prop_assert!(interval.excludes(1.0) == (p < 0.05) || (p - 0.05).abs() < 1e-9);
            }
        }
    }
}
