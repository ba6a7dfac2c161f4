//! From numbers to places on an axis.

use super::sanitise::{Estimate, admit};

/// How an axis runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal factors, ticks at 1, 2 and 5.
    Log,
    /// Equal factors, ticks at powers of two: lengths and depths in tokens.
    Log2,
    /// Ratios: equal factors, centred on 1.
    Ratio,
}

/// Data that span more than this factor are easier to read on a log axis.
const LOG_ABOVE: f64 = 8.0;

impl Scale {
    /// `Log` for positive values that span more than a factor of 8, else `Linear`. Values that can be drawn
    /// on no axis have no say.
    pub fn choose(values: impl IntoIterator<Item = f64>) -> Self {
        let drawable = values.into_iter().filter(|&x| admit(x, Self::Linear).is_ok());
        let (low, high) = drawable.fold((f64::INFINITY, 0.0_f64), |(l, h), x| (l.min(x), h.max(x)));
        if low > 0.0 && low.is_finite() && high / low > LOG_ABOVE { Self::Log } else { Self::Linear }
    }

    /// Whether equal distances are equal factors.
    pub const fn is_log(self) -> bool {
        !matches!(self, Self::Linear)
    }

    /// The coordinate in which the axis is even. `libm`, so that it is the same on every platform.
    fn warp(self, x: f64) -> f64 {
        if self.is_log() { libm::log(x) } else { x }
    }

    fn unwarp(self, t: f64) -> f64 {
        if self.is_log() { libm::exp(t) } else { t }
    }
}

/// An end of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The left or lower end.
    Low,
    /// The right or upper end.
    High,
}

/// Where a value stands on an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// From 0 at the low end to 1 at the high end.
    pub at: f64,
    /// The end beyond which the value really is, if the axis does not reach it.
    pub beyond: Option<End>,
}

/// The stretch of numbers that an axis shows. Its ends are finite, apart, and positive on a log axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    scale: Scale,
    low: f64,
    high: f64,
}

/// Air at each end of an axis, as a share of its length.
const AIR: f64 = 0.04;

/// The rest must be left with less than this share of the axis before an outlier is cut off.
const SQUEEZED: f64 = 0.2;

/// An outlier on a log axis is more than this factor away from the rest: less is what the axis is for.
const FAR_ON_LOG: f64 = 32.0;

/// One outlier in so many values may be cut off, and always one.
const VALUES_PER_OUTLIER: usize = 8;

impl Span {
    /// The stretch that shows these estimates. Values far beyond all others, and intervals far beyond all
    /// values, do not stretch it: they are drawn at its end with an arrow, and the rest stays readable.
    pub fn fit(scale: Scale, estimates: impl IntoIterator<Item = Estimate>) -> Self {
        let mut values = Vec::new();
        let mut whiskers = Vec::new();
        for checked in estimates.into_iter().map(|e| e.check(scale)) {
            values.extend(checked.drawn().map(|x| scale.warp(x)));
            whiskers.extend(checked.whisker().map(|(low, high)| (scale.warp(low), scale.warp(high))));
        }
        if scale == Scale::Ratio {
            values.push(0.0);
        }
        values.sort_unstable_by(f64::total_cmp);
        let core = without_outliers(scale, &values);
        let (Some(&first), Some(&last)) = (core.first(), core.last()) else {
            return Self::over_nothing(scale);
        };
        let (mut low, mut high) = (first, last);
        // An interval may reach beyond the values by their range, or by the usual interval if that is longer.
        let reach = (last - first).max(usual_length(&whiskers));
        for (from, to) in whiskers {
            low = low.min(from.max(first - reach));
            high = high.max(to.min(last + reach));
        }
        let (low, high) =
            if scale == Scale::Ratio { around_zero(low, high) } else { widen(scale, low, high) };
        Self { scale, low: scale.unwarp(low), high: scale.unwarp(high) }
    }

    /// How the axis runs.
    pub const fn scale(&self) -> Scale {
        self.scale
    }

    /// The lowest number shown.
    pub const fn low(&self) -> f64 {
        self.low
    }

    /// The highest number shown.
    pub const fn high(&self) -> f64 {
        self.high
    }

    /// Where `x` stands; `x` must have been [admitted](admit) for this scale.
    pub fn place(&self, x: f64) -> Place {
        let at = (self.scale.warp(x) - self.scale.warp(self.low)) / self.length();
        let beyond = if at < 0.0 {
            Some(End::Low)
        } else if at > 1.0 {
            Some(End::High)
        } else {
            None
        };
        Place { at: at.clamp(0.0, 1.0), beyond }
    }

    fn length(&self) -> f64 {
        self.scale.warp(self.high) - self.scale.warp(self.low)
    }

    /// The stretch from `low` to `high` exactly; `None` where one of them cannot be drawn or they are not apart.
    #[cfg(test)]
    pub(super) fn new(scale: Scale, low: f64, high: f64) -> Option<Self> {
        let span = Self { scale, low: admit(low, scale).ok()?, high: admit(high, scale).ok()? };
        (span.length() > 0.0).then_some(span)
    }

    fn over_nothing(scale: Scale) -> Self {
        let (low, high) = match scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Log => (1.0, 10.0),
            Scale::Log2 => (256.0, 32_768.0),
            Scale::Ratio => (0.5, 2.0),
        };
        Self { scale, low, high }
    }
}

/// `sorted` without the few at either end that would squeeze the others into a corner.
fn without_outliers(scale: Scale, sorted: &[f64]) -> &[f64] {
    let spare = if sorted.len() < 3 { 0 } else { (sorted.len() / VALUES_PER_OUTLIER).max(1) };
    let mut core = sorted;
    for drop in 1..=spare {
        let (rest, cut) = core.split_at(core.len() - drop);
        if stands_far(scale, rest, cut[0], cut[drop - 1]) {
            core = rest;
            break;
        }
    }
    for drop in 1..=spare.min(core.len().saturating_sub(2)) {
        let (cut, rest) = core.split_at(drop);
        if stands_far(scale, rest, cut[drop - 1], cut[0]) {
            core = rest;
            break;
        }
    }
    core
}

/// Whether a group of which `near` is the next to `rest` and `far` the farthest from it leaves `rest` (sorted,
/// not empty) too little of the axis.
fn stands_far(scale: Scale, rest: &[f64], near: f64, far: f64) -> bool {
    let (Some(&low), Some(&high)) = (rest.first(), rest.last()) else { return false };
    let gap = if near > high { near - high } else { low - near };
    let far_enough = if scale.is_log() {
        gap > libm::log(FAR_ON_LOG)
    } else {
        gap > (LOG_ABOVE - 1.0) * low.abs().max(high.abs())
    };
    let whole = high.max(far) - low.min(far);
    far_enough && high - low < SQUEEZED * whole
}

/// The median length of the intervals; 0 where there are none.
fn usual_length(whiskers: &[(f64, f64)]) -> f64 {
    let mut lengths: Vec<f64> = whiskers.iter().map(|(low, high)| high - low).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
}

/// Ends with air, apart even where all values are the same, and from zero where that costs little.
fn widen(scale: Scale, low: f64, high: f64) -> (f64, f64) {
    let range = high - low;
    if scale.is_log() {
        // A lone value stands between its half and its double.
        let air = if range == 0.0 { libm::log(2.0) } else { (range * AIR).max(0.01) };
        return (low - air, high + air);
    }
    let largest = low.abs().max(high.abs());
    if largest == 0.0 {
        return (0.0, 1.0);
    }
    if low >= 0.0 && (range == 0.0 || range > 0.4 * high) {
        return (0.0, high + high * if range == 0.0 { 0.25 } else { AIR });
    }
    if high <= 0.0 && (range == 0.0 || range > 0.4 * -low) {
        return (low + low * if range == 0.0 { 0.25 } else { AIR }, 0.0);
    }
    // Closer than this, ticks would need more digits than anybody reads.
    let air = (range * AIR).max(0.01 * largest);
    (low - air, high + air)
}

/// Ends at the same distance from a ratio of 1, at least 5 % away from it.
fn around_zero(low: f64, high: f64) -> (f64, f64) {
    let half = low.abs().max(high.abs()).max(libm::log(1.05)) * (1.0 + AIR);
    (-half, half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(xs: &[f64]) -> Vec<Estimate> {
        xs.iter().map(|&x| Estimate { value: Some(x), ..Estimate::default() }).collect()
    }

    #[test]
    fn a_log_axis_is_chosen_for_positive_values_over_a_factor_of_eight() {
        assert_eq!(Scale::choose([10.0, 79.0]), Scale::Linear);
        assert_eq!(Scale::choose([10.0, 81.0]), Scale::Log);
        assert_eq!(Scale::choose([0.0, 10.0, 1000.0]), Scale::Linear);
        assert_eq!(Scale::choose([-1.0, 10.0, 1000.0]), Scale::Linear);
        assert_eq!(Scale::choose([10.0, 20.0, 1e300, f64::NAN, f64::INFINITY]), Scale::Linear);
        assert_eq!(Scale::choose([]), Scale::Linear);
    }

    #[test]
    fn a_value_stands_where_its_logarithm_does() {
        let span = Span::new(Scale::Log, 1.0, 100.0).unwrap();
        assert!((span.place(10.0).at - 0.5).abs() < 1e-12);
        assert_eq!(span.place(1000.0), Place { at: 1.0, beyond: Some(End::High) });
        assert_eq!(span.place(0.1), Place { at: 0.0, beyond: Some(End::Low) });
    }

    #[test]
    fn an_outlier_leaves_the_rest_readable_on_either_scale() {
        let xs = [10.0, 11.0, 12.0, 13.0, 1300.0];
        for scale in [Scale::Linear, Scale::Log] {
            let span = Span::fit(scale, values(&xs));
            assert_eq!(span.place(1300.0).beyond, Some(End::High), "{scale:?}");
            let room = span.place(13.0).at - span.place(10.0).at;
            assert!(room > 0.2, "{scale:?}: the rest has {room} of the axis");
            assert!(xs[..4].iter().all(|&x| span.place(x).beyond.is_none()));
        }
        let tiny = Span::fit(Scale::Log, values(&[0.001, 10.0, 11.0, 12.0]));
        assert_eq!(tiny.place(0.001).beyond, Some(End::Low));
    }

    #[test]
    fn what_is_no_outlier_is_not_cut_off() {
        let both = [Scale::Linear, Scale::Log];
        let cases = [
            (&[10.0, 10.0, 10.01][..], &both[..]),
            (&[10.0, 1000.0], &both),
            (&[5.0, 5.0, 5.0], &both),
            (&[29.8, 31.2, 136.0], &both),
            (&[29.8, 31.2, 600.0], &[Scale::Log]),
            (&[1.0, 10.0, 100.0, 1000.0], &[Scale::Log]),
        ];
        for (xs, scales) in cases {
            for &scale in scales {
                let span = Span::fit(scale, values(xs));
                assert!(xs.iter().all(|&x| span.place(x).beyond.is_none()), "{scale:?} {xs:?}");
            }
        }
    }

    #[test]
    fn one_absurd_interval_does_not_stretch_the_axis() {
        let mut estimates: Vec<Estimate> = (0..6)
            .map(|i| f64::from(20 + i))
            .map(|x| Estimate { value: Some(x), low: Some(x - 1.0), high: Some(x + 1.0) })
            .collect();
        estimates[2].high = Some(1e9);
        let span = Span::fit(Scale::Linear, estimates);
        assert!(span.high() < 60.0, "{span:?}");
        assert_eq!(span.place(1e9).beyond, Some(End::High));
    }

    #[test]
    fn the_interval_of_a_lone_value_is_shown_whole() {
        let lone = Estimate { value: Some(10.0), low: Some(2.0), high: Some(70.0) };
        for scale in [Scale::Linear, Scale::Log] {
            let span = Span::fit(scale, [lone]);
            assert!(span.place(2.0).beyond.is_none() && span.place(70.0).beyond.is_none(), "{span:?}");
        }
    }

    #[test]
    fn ratios_are_centred_on_one() {
        for xs in [&[1.3, 0.95][..], &[1.0], &[], &[0.2, 0.5]] {
            let span = Span::fit(Scale::Ratio, values(xs));
            assert!((span.place(1.0).at - 0.5).abs() < 1e-9, "{span:?}");
            assert!(span.high() >= 1.05, "{span:?}");
        }
    }

    #[test]
    fn ends_are_apart_whatever_the_data() {
        for scale in [Scale::Linear, Scale::Log, Scale::Log2, Scale::Ratio] {
            for xs in
                [&[][..], &[0.0], &[1e15], &[1e-12], &[1e15, 1e-12], &[-1e15, 1e15], &[3.0, 3.0], &[-4.0]]
            {
                let span = Span::fit(scale, values(xs));
                assert!(span.length() > 0.0 && span.length().is_finite(), "{scale:?} {xs:?} {span:?}");
            }
        }
    }
}
