//! A straight line through points: `ttft = a + b·tokens`.

use super::{Interval, UPPER_QUANTILE, finite, moments::mean, student_t, usable};

/// Least-squares line y = intercept + slope·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearFit {
    /// a, in the unit of y: of TTFT, the fixed overhead in seconds.
    pub intercept: f64,
    /// b, in the unit of y per unit of x: of TTFT, seconds per prompt token.
    pub slope: f64,
    /// 95 % t interval of a; `None` from two points, which leave no residual.
    pub intercept_interval: Option<Interval>,
    /// 95 % t interval of b; `None` from two points.
    pub slope_interval: Option<Interval>,
    /// Number of points.
    pub points: usize,
}

impl LinearFit {
    /// 1/b: of TTFT, the marginal prefill rate in tokens per second. `None` unless the slope is positive.
    pub fn marginal_rate(&self) -> Option<f64> {
        (self.slope > 0.0).then(|| 1.0 / self.slope).and_then(finite)
    }

    /// 95 % interval of 1/b, from that of b; `None` unless that lies above 0, since no rate is bounded otherwise.
    pub fn marginal_rate_interval(&self) -> Option<Interval> {
        let slope = self.slope_interval.filter(|slope| slope.low > 0.0)?;
        Interval::new(1.0 / slope.high, 1.0 / slope.low)
    }
}

/// Ordinary least squares with t intervals on n − 2 degrees of freedom (Draper and Smith, "Applied Regression
/// Analysis", chapter 1), on x centred at its mean.
///
/// `None` below two points, for sides of unequal length, and if all x are equal.
pub fn linear_fit(x: &[f64], y: &[f64]) -> Option<LinearFit> {
    if x.len() != y.len() || x.len() < 2 || !usable(x) || !usable(y) {
        return None;
    }
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    let (mut xx, mut xy) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        xx += (x - mean_x) * (x - mean_x);
        xy += (x - mean_x) * (y - mean_y);
    }
    let slope = finite(xy / finite(xx).filter(|&xx| xx > 0.0)?)?;
    let intercept = finite(mean_y - slope * mean_x)?;
    let mut residual_squares = 0.0;
    for (x, y) in x.iter().zip(y) {
        let residual = (y - mean_y) - slope * (x - mean_x);
        residual_squares += residual * residual;
    }
    let n = x.len() as f64;
    let half_width = |leverage: f64| {
        let t = student_t::ppf(UPPER_QUANTILE, n - 2.0)?;
        Some(t * (residual_squares / (n - 2.0) * leverage).sqrt())
    };
    let interval = |centre: f64, leverage: f64| Interval::around(centre, half_width(leverage)?);
    Some(LinearFit {
        intercept,
        slope,
        intercept_interval: interval(intercept, 1.0 / n + mean_x * mean_x / xx),
        slope_interval: interval(slope, 1.0 / xx),
        points: x.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKENS: [f64; 6] = [512.0, 512.0, 2048.0, 2048.0, 8192.0, 8192.0];
    const TTFT: [f64; 6] = [0.31, 0.33, 0.84, 0.86, 3.02, 2.95];

    const FIT: [f64; 6] = [
        0.140_833_333_333_333_14,
        0.096_214_648_637_508_9,
        0.185_452_018_029_157_4,
        0.000_347_144_717_261_904_73,
        0.000_338_009_348_003_875_67,
        0.000_356_280_086_519_933_8,
    ];

    /// `scipy.stats.linregress`, and its standard errors × `t.ppf(0.975, 4)`.
    #[test]
    fn known_values_agree() {
        let fit = linear_fit(&TOKENS, &TTFT).unwrap();
        let (a, b) = (fit.intercept_interval.unwrap(), fit.slope_interval.unwrap());
        let found = [fit.intercept, a.low, a.high, fit.slope, b.low, b.high];
        for (ours, theirs) in found.into_iter().zip(FIT) {
            assert!((ours / theirs - 1.0).abs() < 1e-10, "{ours} against {theirs}");
        }
        let rate = fit.marginal_rate_interval().unwrap();
        assert_eq!((rate.low, rate.high), (1.0 / b.high, 1.0 / b.low));
        assert_eq!(fit.marginal_rate(), Some(1.0 / fit.slope));
    }

    #[test]
    fn two_points_make_a_line_without_an_interval() {
        let fit = linear_fit(&[1000.0, 3000.0], &[1.0, 2.0]).unwrap();
        assert!((fit.intercept - 0.5).abs() < 1e-15 && (fit.slope - 0.0005).abs() < 1e-18);
        assert_eq!(
            (fit.intercept_interval, fit.slope_interval, fit.marginal_rate_interval()),
            (None, None, None)
        );
    }

    #[test]
    fn a_slope_that_may_be_zero_bounds_no_rate() {
        let fit = linear_fit(&[1.0, 2.0, 3.0, 4.0], &[1.0, 1.3, 0.9, 1.2]).unwrap();
        assert!(fit.slope > 0.0);
        assert_eq!(fit.marginal_rate_interval(), None);
        let falling = linear_fit(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.1]).unwrap();
        assert_eq!(falling.marginal_rate(), None);
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(linear_fit(&[], &[]), None);
        assert_eq!(linear_fit(&[1.0], &[1.0]), None);
        assert_eq!(linear_fit(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(linear_fit(&[5.0, 5.0, 5.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(linear_fit(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(linear_fit(&[1e200, -1e200], &[1.0, 2.0]), None, "the squares overflow");
    }

    proptest! {
        #[test]
        fn points_on_a_line_give_that_line(
            a in -10.0..10.0_f64,
            b in -10.0..10.0_f64,
            x in prop::collection::btree_set(-1000..1000_i32, 2..20),
        ) {
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            let y: Vec<f64> = x.iter().map(|x| a + b * x).collect();
            let fit = linear_fit(&x, &y).unwrap();
            prop_assert!((fit.slope - b).abs() < 1e-9 && (fit.intercept - a).abs() < 1e-7);
        }
    }
}
