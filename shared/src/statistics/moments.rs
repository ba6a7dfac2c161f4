//! Mean, sample standard deviation and coefficient of variation.

use super::{finite, usable};

/// Arithmetic mean. Summed as differences from the first value, so that equal values give exactly that value.
pub fn mean(values: &[f64]) -> Option<f64> {
    if !usable(values) {
        return None;
    }
    let origin = values[0];
    let mut sum = 0.0;
    for value in values {
        sum += value - origin;
    }
    finite(origin + sum / values.len() as f64)
}

/// Sample standard deviation (n − 1), in the unit of the values; `None` below two values.
///
/// Corrected two-pass formula (Chan and others, "Algorithms for Computing the Sample Variance", 1983): the
/// squares are of deviations, never of the values, so 1e10 ± 1e8 keeps its digits. Equal values give exactly 0.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let mut squares = 0.0;
    let mut rest = 0.0;
    for value in values {
        let deviation = value - mean;
        squares += deviation * deviation;
        rest += deviation;
    }
    let n = values.len() as f64;
    finite(((squares - rest * rest / n).max(0.0) / (n - 1.0)).sqrt())
}

/// Standard error of the mean, sd/√n; `None` below two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    Some(standard_deviation(values)? / (values.len() as f64).sqrt())
}

/// Spread: sample standard deviation / mean, as a share. `None` below two values and for a mean that is not positive.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|&mean| mean > 0.0)?;
    finite(standard_deviation(values)? / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Nanosecond durations of twelve seconds: the sum-of-squares formula loses them.
    #[test]
    fn a_small_spread_on_large_values_keeps_its_digits() {
        let nanoseconds = [11.9e9, 12.1e9, 12.3e9, 12.0e9, 12.2e9, 12.1e9];
        let expected = 141_421_356.237_309_5;
        assert!((standard_deviation(&nanoseconds).unwrap() / expected - 1.0).abs() < 1e-14);

        let far = [1e15 + 1.0, 1e15 + 2.0, 1e15 + 3.0];
        assert_eq!(standard_deviation(&far), Some(1.0));
    }

    #[test]
    fn equal_values_have_exactly_no_spread() {
        assert_eq!(mean(&[0.1; 7]), Some(0.1));
        assert_eq!(standard_deviation(&[0.1; 7]), Some(0.0));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, f64::NAN]), None);
        assert_eq!(mean(&[f64::MAX, -f64::MAX]), None, "the differences overflow");
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(standard_deviation(&[1e200, -1e200]), None, "the squares overflow");
        assert_eq!(coefficient_of_variation(&[-1.0, 1.0]), None);
        assert_eq!(coefficient_of_variation(&[-3.0, -1.0]), None);
        assert_eq!(standard_error(&[2.0, f64::INFINITY]), None);
    }

    proptest! {
        #[test]
        fn spread_is_free_of_scale(values in prop::collection::vec(1.0..1e4_f64, 2..40), scale in 1e-3..1e3_f64) {
            let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
            let (cv, of_scaled) =
                (coefficient_of_variation(&values).unwrap(), coefficient_of_variation(&scaled).unwrap());
            prop_assert!((cv - of_scaled).abs() <= 1e-12 * (1.0 + cv));
        }

        #[test]
        fn the_mean_lies_among_the_values(values in prop::collection::vec(-1e6..1e6_f64, 1..40)) {
            let (low, high) = (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max));
            let mean = mean(&values).unwrap();
            prop_assert!(mean >= low - 1e-9 && mean <= high + 1e-9);
        }
    }
}
