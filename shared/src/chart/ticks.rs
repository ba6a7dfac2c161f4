//! Ticks at 1, 2 and 5: as many as there is room for, and at least two.

use super::scale::{Scale, Span};
use crate::format::{full, short};

/// A labelled place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The number, in the unit of the axis.
    pub value: f64,
    /// The number as it is written.
    pub label: String,
    /// From 0 at the low end of the axis to 1 at its high end.
    pub at: f64,
}

/// No axis has more ticks than this, however long it is; an even one is calmer with fewer.
const MOST: usize = 12;
const MOST_EVEN: usize = 9;

/// Fewer ticks than this on a log axis leave a reader without a sense of its steps; then they are even.
const FEWEST_OF_LOG: usize = 3;

/// Above this ratio, ratio ticks are decades instead of powers of two.
const LARGEST_DOUBLING: f64 = 32.0;

/// From this ratio on they are powers of two.
const SMALLEST_DOUBLING: f64 = 4.0;

/// Ticks of ratios below, on both sides of 1, from the nearest to it outwards.
const STEPS: [(f64, f64); 11] = [
    (0.999, 1.001),
    (0.998, 1.002),
    (0.995, 1.005),
    (0.99, 1.01),
    (0.98, 1.02),
    (0.95, 1.05),
    (0.9, 1.1),
    (0.8, 1.25),
    (0.67, 1.5),
    (0.5, 2.0),
    (0.33, 3.0),
];

/// A number as digits times a power of ten, so that its label is exact.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i64,
    exponent: i32,
}

/// Ticks of an axis that is `length` pixels long, on which a label takes `room(label)` pixels along it, the gap to
/// the next one included.
pub fn ticks(span: &Span, length: f64, room: impl Fn(&str) -> f64) -> Vec<Tick> {
    let rows = match span.scale() {
        Scale::Linear => linear(span),
        Scale::Log => logarithmic(span),
        Scale::Log2 => powers_of_two(span, binary_label),
        Scale::Ratio => ratios(span),
    };
    let most = if span.scale() == Scale::Linear { MOST_EVEN } else { MOST };
    let fits = |row: &[Tick]| {
        row.len() <= most
            && row.windows(2).all(|pair| {
                let apart = (pair[1].at - pair[0].at) * length;
                apart >= f64::midpoint(room(&pair[0].label), room(&pair[1].label))
            })
    };
    let enough: Vec<Vec<Tick>> = rows.into_iter().filter(|row| row.len() >= 2).collect();
    if let Some(row) = enough.iter().find(|row| fits(row)) {
        return row.clone();
    }
    match enough.last().map(Vec::as_slice) {
        Some([first, .., last]) => vec![first.clone(), last.clone()],
        _ => [span.low(), span.high()].map(|x| tick(span, x, crate::format::short(x))).to_vec(),
    }
}

fn tick(span: &Span, value: f64, label: String) -> Tick {
    Tick { value, label, at: span.place(value).at }
}

/// Rows of even ticks, from dense to sparse.
fn linear(span: &Span) -> Vec<Vec<Tick>> {
    let finest = libm::floor(libm::log10((span.high() - span.low()) / 50.0)) as i32;
    (finest..=finest + 4)
        .flat_map(|exponent| [1, 2, 5].map(|m| Decimal { digits: m, exponent }))
        .filter_map(|step| even(span, step))
        .collect()
}

/// The multiples of `step` on the axis; `None` where they would be too many to be of use.
fn even(span: &Span, step: Decimal) -> Option<Vec<Tick>> {
    let width = step.value();
    // A tick that should stand at the very end is kept although its quotient may be off in the last place.
    let first = (span.low() / width - 1e-9).ceil();
    let last = (span.high() / width + 1e-9).floor();
    if !(first.abs() < 1e9 && last.abs() < 1e9 && last - first <= 60.0) {
        return None;
    }
    let numbers: Vec<Decimal> = (first as i64..=last as i64)
        .map(|i| Decimal { digits: i * step.digits, exponent: step.exponent })
        .collect();
    let largest = numbers.iter().map(|n| n.value().abs()).fold(0.0, f64::max);
    let thousands = if largest < 10_000.0 { 0 } else { thousands_of(largest) };
    Some(numbers.into_iter().map(|n| tick(span, n.value(), n.label(thousands))).collect())
}

/// 1-2-5 per decade, then decades, then every second, third … decade; even ticks where that gives too few.
fn logarithmic(span: &Span) -> Vec<Vec<Tick>> {
    let decades = libm::floor(libm::log10(span.low())) as i32..=libm::ceil(libm::log10(span.high())) as i32;
    let row = |digits: &[i64], every: i32| -> Vec<Tick> {
        decades
            .clone()
            .filter(|d| d.rem_euclid(every) == 0)
            .flat_map(|exponent| digits.iter().map(move |&digits| Decimal { digits, exponent }))
            .filter(|n| (span.low()..=span.high()).contains(&n.value()))
            .map(|n| tick(span, n.value(), n.label(thousands_of(n.value()))))
            .collect()
    };
    let dense = row(&[1, 2, 5], 1);
    if dense.len() < FEWEST_OF_LOG {
        return linear(span);
    }
    let sparser = [1, 2, 3, 4, 6, 12].map(|every| row(&[1], every));
    std::iter::once(dense).chain(sparser).collect()
}

/// Powers of two, then every second, third … of them; even ticks where that gives too few.
fn powers_of_two(span: &Span, label: impl Fn(i32) -> String) -> Vec<Vec<Tick>> {
    let powers = libm::floor(libm::log2(span.low())) as i32..=libm::ceil(libm::log2(span.high())) as i32;
    let row = |every: i32| -> Vec<Tick> {
        powers
            .clone()
            .filter(|k| k.rem_euclid(every) == 0)
            .map(|k| (k, libm::ldexp(1.0, k)))
            .filter(|(_, value)| (span.low()..=span.high()).contains(value))
            .map(|(k, value)| tick(span, value, label(k)))
            .collect()
    };
    let dense = row(1);
    if dense.len() < 2 {
        return linear(span);
    }
    std::iter::once(dense).chain([2, 3, 4, 5, 8, 16].map(row)).collect()
}

/// Ticks of a ratio axis, each with its `×`: 0.5×, 0.67×, 0.8×, 1×, 1.25×, 1.5×, 2×, as near to 1 as there is room for.
fn ratios(span: &Span) -> Vec<Vec<Tick>> {
    let mut rows = if span.high() < SMALLEST_DOUBLING {
        (0..STEPS.len()).map(|from| around_one(span, &STEPS[from..])).collect()
    } else if span.high() <= LARGEST_DOUBLING {
        powers_of_two(span, |k| full(libm::ldexp(1.0, k)))
    } else {
        logarithmic(span)
    };
    for tick in rows.iter_mut().flatten() {
        tick.label.push('×');
    }
    rows
}

/// 1 and the steps on both sides of it that the axis reaches.
fn around_one(span: &Span, steps: &[(f64, f64)]) -> Vec<Tick> {
    let on_axis = |x: f64| span.low() <= x && x <= span.high();
    let mut values: Vec<f64> = if on_axis(1.0) { vec![1.0] } else { Vec::new() };
    for &(low, high) in steps.iter().filter(|(low, high)| on_axis(*low) && on_axis(*high)) {
        values.insert(0, low);
        values.push(high);
    }
    values.into_iter().map(|value| tick(span, value, full(value))).collect()
}

/// `512`, `8k`, `2M`: lengths in tokens, where k is 1,024.
fn binary_label(k: i32) -> String {
    match k {
        20.. => full(libm::ldexp(1.0, k - 20)) + "M",
        10.. => full(libm::ldexp(1.0, k - 10)) + "k",
        0.. => full(libm::ldexp(1.0, k)),
        _ => short(libm::ldexp(1.0, k)),
    }
}

/// How often 1,000 divides a magnitude, where that shortens its label.
fn thousands_of(magnitude: f64) -> i32 {
    [1e3, 1e6, 1e9, 1e12].iter().map(|&t| i32::from(magnitude.abs() >= t)).sum()
}

impl Decimal {
    fn value(self) -> f64 {
        // Dividing by an exact power is right to the last place, multiplying by an inexact one is not.
        if self.exponent < 0 {
            self.digits as f64 / libm::exp10(f64::from(-self.exponent))
        } else {
            self.digits as f64 * libm::exp10(f64::from(self.exponent))
        }
    }

    /// The number written in thousands to the power of `thousands`: `1500` is `1.5k`.
    fn label(self, thousands: i32) -> String {
        let suffix = match thousands {
            1 => "k",
            2 => "M",
            3 => "G",
            4 => "T",
            _ => "",
        };
        let exponent = self.exponent - 3 * thousands;
        let (sign, digits) = (if self.digits < 0 { "-" } else { "" }, self.digits.unsigned_abs().to_string());
        if self.digits == 0 {
            return "0".to_owned();
        }
        if exponent < -4 {
            return format!("{sign}{digits}e{}", self.exponent);
        }
        let Ok(decimals) = usize::try_from(-exponent) else {
            return format!("{sign}{digits}{}{suffix}", "0".repeat(exponent.unsigned_abs() as usize));
        };
        let padded = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = padded.split_at(padded.len() - decimals);
        let point = if decimals == 0 { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, length: f64) -> Vec<String> {
        let span = Span::new(scale, low, high).unwrap();
        ticks(&span, length, |label| 20.0 + 7.0 * label.chars().count() as f64)
            .into_iter()
            .map(|t| t.label)
            .collect()
    }

    #[test]
    fn linear_ticks_step_by_one_two_or_five() {
        assert_eq!(labels(Scale::Linear, 0.0, 104.0, 400.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(Scale::Linear, 0.0, 104.0, 250.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(Scale::Linear, 0.0, 104.0, 130.0), ["0", "50", "100"]);
        assert_eq!(labels(Scale::Linear, 37.8, 41.2, 200.0), ["38", "39", "40", "41"]);
        assert_eq!(labels(Scale::Linear, -0.3, 0.6, 400.0), ["-0.2", "0", "0.2", "0.4", "0.6"]);
        assert_eq!(
            labels(Scale::Linear, 0.0, 32_000.0, 300.0),
            ["0", "5k", "10k", "15k", "20k", "25k", "30k"]
        );
        assert_eq!(labels(Scale::Linear, 0.0, 3e-8, 300.0), ["0", "1e-8", "2e-8", "3e-8"]);
    }

    #[test]
    fn log_ticks_thin_from_one_two_five_to_decades() {
        assert_eq!(labels(Scale::Log, 8.0, 220.0, 300.0), ["10", "20", "50", "100", "200"]);
        assert_eq!(labels(Scale::Log, 0.08, 1200.0, 200.0), ["0.1", "1", "10", "100", "1k"]);
        assert_eq!(labels(Scale::Log, 1e-12, 1e15, 300.0), ["1e-12", "1e-6", "1", "1M", "1T"]);
        let narrow = labels(Scale::Log, 2.1, 8.4, 200.0);
        assert!(narrow.len() >= 3 && narrow.contains(&"4".to_owned()), "{narrow:?}");
    }

    #[test]
    fn lengths_are_counted_in_powers_of_two() {
        assert_eq!(
            labels(Scale::Log2, 500.0, 40_000.0, 400.0),
            ["512", "1k", "2k", "4k", "8k", "16k", "32k"]
        );
        assert_eq!(labels(Scale::Log2, 500.0, 2_200_000.0, 250.0), ["512", "4k", "32k", "256k", "2M"]);
    }

    #[test]
    fn ratio_ticks_hold_one() {
        assert_eq!(labels(Scale::Ratio, 0.45, 2.2, 300.0), ["0.5×", "0.67×", "1×", "1.5×", "2×"]);
        assert_eq!(labels(Scale::Ratio, 0.45, 2.2, 200.0), ["0.5×", "1×", "2×"]);
        assert_eq!(
            labels(Scale::Ratio, 0.12, 8.1, 400.0),
            ["0.125×", "0.25×", "0.5×", "1×", "2×", "4×", "8×"]
        );
        assert_eq!(labels(Scale::Ratio, 0.94, 1.06, 300.0), ["0.95×", "0.98×", "1×", "1.02×", "1.05×"]);
        assert_eq!(
            labels(Scale::Ratio, 0.001, 1000.0, 500.0),
            ["0.001×", "0.01×", "0.1×", "1×", "10×", "100×", "1k×"]
        );
    }

    #[test]
    fn there_are_always_two_ticks_and_they_stand_in_order_on_the_axis() {
        let ends = [
            (1e-12, 1e15),
            (1.0, 1.02),
            (999.0, 1001.0),
            (1e14, 1e15),
            (3.0, 3.3),
            (0.7, 1.4),
            (5e-13, 2e-12),
        ];
        for scale in [Scale::Linear, Scale::Log, Scale::Log2, Scale::Ratio] {
            for (low, high) in ends {
                let Some(span) = Span::new(scale, low, high) else { continue };
                for length in [0.0, 5.0, 60.0, 300.0, 1e5] {
                    let row = ticks(&span, length, |label| 20.0 + 7.0 * label.chars().count() as f64);
                    assert!((2..=MOST).contains(&row.len()), "{scale:?} {low} {high} {length}: {row:?}");
                    assert!(row.windows(2).all(|p| p[0].at < p[1].at && p[0].label != p[1].label), "{row:?}");
                    assert!(row.iter().all(|t| (0.0..=1.0).contains(&t.at)), "{row:?}");
                }
            }
        }
    }

    #[test]
    fn labels_do_not_overlap_where_there_is_room_for_two() {
        for length in [60.0, 120.0, 333.0, 900.0] {
            let span = Span::new(Scale::Log, 0.7, 90_000.0).unwrap();
            let row = ticks(&span, length, |label| 20.0 + 7.0 * label.chars().count() as f64);
            for pair in row.windows(2) {
                assert!((pair[1].at - pair[0].at) * length > 14.0, "{row:?}");
            }
        }
    }
}
