//! Two cases whose runs do not pair.

use super::{Interval, UPPER_QUANTILE, equivalence, finite, ln, logs, moments, ratio_of_log, student_t};

/// Result of Welch's test on log rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Ratio of the geometric means, B / A.
    pub ratio: f64,
    /// Its 95 % t interval.
    pub interval: Interval,
    /// Welch–Satterthwaite degrees of freedom.
    pub degrees_of_freedom: f64,
    /// Two-sided p value that the ratio is 1.
    pub p: f64,
    /// Difference of the mean log rates, B − A.
    pub log_ratio: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Welch {
    /// p value of the two one-sided tests that the ratio lies within 1/margin and margin; see
    /// [`equivalence`](super::equivalence). `margin_ratio` is above 1.
    pub fn equivalence_p(&self, margin_ratio: f64) -> Option<f64> {
        let margin = ln(margin_ratio).filter(|&margin| margin > 0.0)?;
        equivalence::two_one_sided(self.log_ratio, self.standard_error, self.degrees_of_freedom, margin)
    }
}

/// Welch's t test on log rates (Welch, "The Generalization of 'Student's' Problem", 1947): the spreads may differ.
///
/// `None` unless each side has at least two positive rates, and if neither side varies.
pub fn welch(a: &[f64], b: &[f64]) -> Option<Welch> {
    of_logs(&logs(a)?, &logs(b)?)
}

/// [`welch`] of rates whose logarithms are known already.
pub fn of_logs(a: &[f64], b: &[f64]) -> Option<Welch> {
    let (error_a, error_b) = (moments::standard_error(a)?, moments::standard_error(b)?);
    let (df_a, df_b) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
    let larger = error_a.max(error_b);
    if larger == 0.0 {
        return None;
    }
    // In units of the larger error, so that no fourth power underflows.
    let (share_a, share_b) =
        ((error_a / larger) * (error_a / larger), (error_b / larger) * (error_b / larger));
    let sum = share_a + share_b;
    // Not by `clamp`, whose panic writes floats with the library's code.
    let degrees_of_freedom = (sum * sum / (share_a * share_a / df_a + share_b * share_b / df_b))
        .max(df_a.min(df_b))
        .min(df_a + df_b);
    let standard_error = larger * sum.sqrt();
    let log_ratio = moments::mean(b)? - moments::mean(a)?;
    let t = student_t::ppf(UPPER_QUANTILE, degrees_of_freedom)?;
    Some(Welch {
        ratio: ratio_of_log(log_ratio)?,
        interval: Interval::around(log_ratio, t * standard_error)?.exp()?,
        degrees_of_freedom,
        p: student_t::two_sided(finite(log_ratio / standard_error)?, degrees_of_freedom)?,
        log_ratio,
        standard_error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WELCH: [f64; 5] = [
        1.065_630_361_410_356,
        1.021_995_248_754_714_8,
        1.111_128_518_986_010_7,
        7.621_043_468_047_306,
        0.008_282_457_244_323_208,
    ];

    /// `scipy.stats.ttest_ind(log(b), log(a), equal_var=False)`.
    #[test]
    fn known_values_agree() {
        let a = [99.1043, 99.7607, 98.8973, 96.6186, 100.281];
        let b = [103.041, 110.787, 106.317, 101.2, 99.8, 112.4, 105.0];
        let test = welch(&a, &b).unwrap();
        let found = [test.ratio, test.interval.low, test.interval.high, test.degrees_of_freedom, test.p];
        for (ours, theirs) in found.into_iter().zip(WELCH) {
            assert!((ours / theirs - 1.0).abs() < 1e-11, "{ours} against {theirs}");
        }
    }

    #[test]
    fn one_side_may_be_without_spread() {
        let test = welch(&[100.0, 100.0, 100.0], &[101.0, 102.0]).unwrap();
        assert_eq!(test.degrees_of_freedom, 1.0);
    }

    const WELCH_TOST: [f64; 2] = [0.978_826_526_603_816_6, 0.000_104_318_195_535_734_8];

    /// The larger of `scipy.stats.ttest_ind(log(b) + m, log(a), equal_var=False, alternative="greater")` and of the
    /// other side with −m and `"less"`, for m the log of the margin.
    #[test]
    fn equivalence_is_that_of_two_one_sided_tests() {
        let a = [99.1043, 99.7607, 98.8973, 96.6186, 100.281];
        let b = [103.041, 110.787, 106.317, 101.2, 99.8, 112.4, 105.0];
        let test = welch(&a, &b).unwrap();
        for (margin, expected) in [(1.02, WELCH_TOST[0]), (1.2, WELCH_TOST[1])] {
            let p = test.equivalence_p(margin).unwrap();
            assert!((p / expected - 1.0).abs() < 1e-9, "{p} against {expected}");
        }
        assert_eq!(test.equivalence_p(1.0), None);
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(welch(&[100.0], &[101.0, 102.0]), None);
        assert_eq!(welch(&[100.0, 101.0], &[]), None);
        assert_eq!(welch(&[100.0, 100.0], &[101.0, 101.0]), None);
        assert_eq!(welch(&[100.0, 0.0], &[101.0, 101.0]), None);
        assert_eq!(welch(&[100.0, f64::NAN], &[101.0, 101.0]), None);
        assert_eq!(welch(&[1e-300, 1e300], &[1.0, 2.0]), None, "the interval leaves the range");
    }

    proptest! {
        #[test]
        fn swapped_sides_invert_ratio_and_interval(
            a in prop::collection::vec(80.0..120.0_f64, 2..20),
            b in prop::collection::vec(80.0..120.0_f64, 2..20),
        ) {
            let (forth, back) = (welch(&a, &b), welch(&b, &a));
            prop_assume!(forth.is_some());
            let (forth, back) = (forth.unwrap(), back.unwrap());
            prop_assert!((forth.ratio * back.ratio - 1.0).abs() < 1e-12);
            prop_assert!((forth.interval.low * back.interval.high - 1.0).abs() < 1e-9);
            prop_assert!((forth.p - back.p).abs() < 1e-12);
            // The test and the interval say the same.
            prop_assert!(forth.interval.excludes(1.0) == (forth.p < 0.05) || (forth.p - 0.05).abs() < 1e-9);
        }
    }
}
