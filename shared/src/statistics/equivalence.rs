//! Equivalence of two paired cases.

use super::{finite, ln, moments, student_t};

/// The margin unless another is asked for: ±2 %, as a ratio.
pub const DEFAULT_MARGIN_RATIO: f64 = 1.02;

/// p value of the two one-sided t tests (Schuirmann, 1987) that the mean log ratio lies within ±ln(margin): the larger
/// of the two. Below 0.05 the sides are equivalent at that margin.
///
/// `margin_ratio` is above 1. `None` below two pairs, and if the log ratios do not vary at all: without spread there is
/// nothing to test against.
pub fn tost(log_ratios: &[f64], margin_ratio: f64) -> Option<f64> {
    let margin = ln(margin_ratio).filter(|&margin| margin > 0.0)?;
    let mean = moments::mean(log_ratios)?;
    let standard_error = moments::standard_error(log_ratios).filter(|&error| error > 0.0)?;
    two_one_sided(mean, standard_error, (log_ratios.len() - 1) as f64, margin)
}

/// The larger p value of the two tests that a mean lies above −margin and below margin.
pub(super) fn two_one_sided(
    mean: f64,
    standard_error: f64,
    degrees_of_freedom: f64,
    margin: f64,
) -> Option<f64> {
    let not_below = student_t::sf(finite((mean + margin) / standard_error)?, degrees_of_freedom)?;
    let not_above = student_t::cdf(finite((mean - margin) / standard_error)?, degrees_of_freedom)?;
    Some(not_below.max(not_above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quiet_pair_is_equivalent_and_a_noisy_one_is_not() {
        assert!(tost(&[0.001, -0.001, 0.002, 0.0, -0.002], DEFAULT_MARGIN_RATIO).unwrap() < 0.001);
        assert!(tost(&[0.1, -0.1, 0.2, 0.0, -0.2], DEFAULT_MARGIN_RATIO).unwrap() > 0.05);
        assert!(
            tost(&[0.031, 0.029, 0.03, 0.032], DEFAULT_MARGIN_RATIO).unwrap() > 0.95,
            "outside the margin"
        );
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(tost(&[], 1.02), None);
        assert_eq!(tost(&[0.01], 1.02), None);
        assert_eq!(tost(&[0.01, 0.01], 1.02), None);
        assert_eq!(tost(&[0.01, f64::NAN], 1.02), None);
        for margin in [1.0, 0.98, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(tost(&[0.01, 0.02], margin), None);
        }
    }

    proptest! {
        #[test]
        fn swapped_sides_and_wider_margins(
            log_ratios in prop::collection::vec(-0.1..0.1_f64, 3..20),
            margin in 1.001..1.2_f64,
        ) {
            let swapped: Vec<f64> = log_ratios.iter().map(|log_ratio| -log_ratio).collect();
            let p = tost(&log_ratios, margin).unwrap();
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert!((p - tost(&swapped, margin).unwrap()).abs() < 1e-9);
            prop_assert!(tost(&log_ratios, margin * 1.05).unwrap() <= p);
        }
    }
}
