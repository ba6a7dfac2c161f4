//! The difference that this many runs detect: two-sided at 5 % with 80 % power.

use super::{UPPER_QUANTILE, finite, moments, normal};

const POWER: f64 = 0.8;

/// Smallest difference between two independent cases like this one that is detected, as a share of the mean:
/// (z₀.₉₇₅ + z₀.₈)·√2·cv/√n. `None` below two values and for a mean that is not positive.
pub fn unpaired(values: &[f64]) -> Option<f64> {
    unpaired_at(moments::coefficient_of_variation(values)?, values.len() as f64)
}

/// The same for so many runs a side with this sd over mean.
pub fn unpaired_at(cv: f64, n: f64) -> Option<f64> {
    finite(quantile_sum()? * core::f64::consts::SQRT_2 * cv / n.sqrt())
}

/// The paired counterpart, as a log ratio (near enough a share while small): (z₀.₉₇₅ + z₀.₈)·sd/√n with the sample sd of
/// the log ratios. `None` below two pairs.
pub fn paired(log_ratios: &[f64]) -> Option<f64> {
    paired_at(moments::standard_deviation(log_ratios)?, log_ratios.len() as f64)
}

/// The same for so many pairs with this sd of the log ratios.
pub fn paired_at(sd_of_logs: f64, n: f64) -> Option<f64> {
    finite(quantile_sum()? * (sd_of_logs / n.sqrt()))
}

fn quantile_sum() -> Option<f64> {
    Some(normal::ppf(UPPER_QUANTILE)? + normal::ppf(POWER)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_times_the_runs_detect_half_the_difference() {
        let few = [98.0, 102.0, 98.0, 102.0];
        let many: Vec<f64> = few.iter().cycle().take(16).copied().collect();
        // The sample deviation's n − 1 makes it a little more than half.
        let ratio = unpaired(&few).unwrap() / unpaired(&many).unwrap();
        assert!((ratio - 2.0 * (15.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    }

    /// The sd of these log ratios is 0.01·√(4/3); the z quantiles of scipy.stats.norm.
    #[test]
    fn pairing_goes_by_the_spread_of_the_log_ratios() {
        let detected = paired(&[0.01, -0.01, 0.01, -0.01]).unwrap();
        assert!((detected - 0.016_174_959_798_351_988).abs() < 1e-14, "{detected}");
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(unpaired(&[100.0]), None);
        assert_eq!(unpaired(&[1.0, -1.0]), None);
        assert_eq!(unpaired(&[1.0, f64::NAN]), None);
        assert_eq!(paired(&[0.1]), None);
        assert_eq!(paired(&[0.1, f64::INFINITY]), None);
        assert_eq!(paired(&[0.1, 0.1]), Some(0.0));
    }
}
