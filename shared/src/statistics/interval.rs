//! An interval from low to high.

use super::ratio_of_log;

/// Both ends of a 95 % interval, in the unit of the estimate. `low ≤ high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// `None` unless both ends are finite and in order.
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite() && low <= high).then_some(Self { low, high })
    }

    /// The interval `centre ± half_width`.
    pub fn around(centre: f64, half_width: f64) -> Option<Self> {
        Self::new(centre - half_width, centre + half_width)
    }

    /// Half the distance between the ends.
    pub fn half_width(self) -> f64 {
        // Halved first, so that ends near the limits of `f64` do not overflow.
        self.high * 0.5 - self.low * 0.5
    }

    /// Half the width as a share of the estimate's size; `None` for an estimate of zero.
    pub fn relative_half_width(self, estimate: f64) -> Option<f64> {
        (estimate != 0.0).then(|| self.half_width() / estimate.abs()).filter(|share| share.is_finite())
    }

    /// True if the value lies strictly outside.
    pub fn excludes(self, value: f64) -> bool {
        value < self.low || value > self.high
    }

    /// From an interval of log ratios to one of ratios.
    pub(crate) fn exp(self) -> Option<Self> {
        Self::new(ratio_of_log(self.low)?, ratio_of_log(self.high)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_needs_two_finite_ends_in_order() {
        assert_eq!(Interval::new(1.0, 2.0), Some(Interval { low: 1.0, high: 2.0 }));
        assert_eq!(Interval::new(2.0, 1.0), None);
        assert_eq!(Interval::new(f64::NAN, 1.0), None);
        assert_eq!(Interval::new(1.0, f64::INFINITY), None);
        assert_eq!(Interval::around(1.0, f64::INFINITY), None);
    }

    #[test]
    fn the_ends_belong_to_the_interval() {
        let interval = Interval::new(0.98, 1.0).unwrap();
        assert!(!interval.excludes(1.0));
        assert!(!interval.excludes(0.98));
        assert!(interval.excludes(1.000_001));
        assert!(interval.excludes(0.97));
    }

    #[test]
    fn half_widths_are_shares_of_the_estimate() {
        let interval = Interval::new(95.0, 105.0).unwrap();
        assert_eq!(interval.half_width(), 5.0);
        assert_eq!(interval.relative_half_width(100.0), Some(0.05));
        assert_eq!(interval.relative_half_width(0.0), None);
        assert_eq!(Interval::new(-f64::MAX, f64::MAX).unwrap().half_width(), f64::MAX);
    }
}
