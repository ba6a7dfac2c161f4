//! Outliers: flagged, never dropped.

use super::{finite, moments::mean, quantile::median, usable};

/// A modified Z beyond this, on either side, is an outlier.
pub const THRESHOLD: f64 = 3.5;

/// Modified Z of each value, 0.6745·(x − median)/MAD (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
///
/// Where more than half of the values are equal the MAD is 0, and (x − median)/(1.253314·mean absolute deviation)
/// takes its place. All values equal: 0 for each.
pub fn modified_z(values: &[f64]) -> Option<Vec<f64>> {
    if !usable(values) {
        return None;
    }
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let sizes: Vec<f64> = deviations.iter().map(|deviation| deviation.abs()).collect();
    let mad = median(&sizes)?;
    let z = |deviation: f64, scale: f64| finite(if deviation == 0.0 { 0.0 } else { deviation / scale });
    if mad > 0.0 {
        deviations.iter().map(|&deviation| z(0.6745 * deviation, mad)).collect()
    } else {
        let scale = 1.253_314 * mean(&sizes)?;
        deviations.iter().map(|&deviation| z(deviation, scale)).collect()
    }
}

/// Positions of the values whose modified Z lies beyond 3.5.
pub fn outliers(values: &[f64]) -> Option<Vec<usize>> {
    let scores = modified_z(values)?;
    Some((0..scores.len()).filter(|&index| scores[index].abs() > THRESHOLD).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slow_first_run_is_flagged() {
        assert_eq!(outliers(&[10.0, 101.0, 99.0, 100.0, 102.0, 98.0]), Some(vec![0]));
    }

    #[test]
    fn without_a_mad_the_mean_deviation_scales() {
        assert_eq!(outliers(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0]), Some(vec![6]));
        assert_eq!(modified_z(&[5.0; 4]), Some(vec![0.0; 4]));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(modified_z(&[]), None);
        assert_eq!(outliers(&[1.0, f64::NAN]), None);
        assert_eq!(modified_z(&[f64::MAX, -f64::MAX, f64::MAX]), None, "the deviation overflows");
    }

    proptest! {
        #[test]
        fn scores_are_free_of_unit_and_origin(
            values in prop::collection::vec((1..1000_i32).prop_map(f64::from), 1..30),
            power in -4..5_i32,
            shift in (-100..100_i32).prop_map(f64::from),
        ) {
            // Whole numbers and powers of two: nothing is rounded, so flags cannot flip.
            let scale = libm::exp2(f64::from(power));
            let moved: Vec<f64> = values.iter().map(|value| (value + shift) * scale).collect();
            let (scores, of_moved) = (modified_z(&values).unwrap(), modified_z(&moved).unwrap());
            for (score, moved) in scores.iter().zip(&of_moved) {
                prop_assert!((score - moved).abs() <= 1e-12 * score.abs());
            }
        }
    }
}
