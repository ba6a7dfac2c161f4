//! From decimal digits to the nearest float, in integer steps and sums of two floats: no table of powers, which
//! nothing can compress, and no function of the platform.

/// Digits times a power of ten.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Decimal {
    digits: u64,
    /// Whether digits were left out behind the first nineteen.
    cut: bool,
    pub(super) exponent: i32,
}

impl Decimal {
    /// One more digit at the end.
    pub(super) fn push(&mut self, digit: u8) {
        let longer = self.digits.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit)));
        if let Some(longer) = longer.filter(|_| !self.cut) {
            self.digits = longer;
        } else {
            self.cut = true;
            self.exponent += 1;
        }
    }

    /// All digits, if they are few enough.
    pub(super) fn whole(self) -> Option<u64> {
        (!self.cut).then_some(self.digits)
    }

    /// The nearest float; infinite beyond all of them.
    pub(super) fn float(self) -> f64 {
        // Away from the ends of all floats while it is computed with: exact, because the scale is a power of two.
        let scale = if self.exponent < 0 { SCALE } else { 1.0 / SCALE };
        // Both are exact, and so is their sum.
        let low_bits = self.digits & 0x7ff;
        let mut sum = sum((self.digits - low_bits) as f64 * scale, low_bits as f64 * scale);
        let mut left = self.exponent.unsigned_abs().min(800);
        while left > 0 {
            let step = left.min(22);
            // Up to 10²² a power of ten is exact.
            let power = (0..step).fold(1.0, |power, _| power * 10.0);
            sum = if self.exponent < 0 { over(sum, power) } else { times(sum, power) };
            left -= step;
        }
        sum.0 / scale
    }
}

/// 2¹²⁸.
const SCALE: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// A number as the sum of a float and of a small one that the float cannot hold.
type Sum = (f64, f64);

/// The sum of a float and a smaller one, without an error.
fn sum(large: f64, small: f64) -> Sum {
    let both = large + small;
    (both, small - (both - large))
}

/// The product of two floats, without an error (Dekker 1971). Where a half of one would be too large or too small to
/// compute with, without the small part.
fn product(a: f64, b: f64) -> Sum {
    let rounded = a * b;
    if !(1e-270..1e290).contains(&rounded) {
        return (rounded, 0.0);
    }
    let halves = |x: f64| {
        let scaled = 134_217_729.0 * x;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (halves(a), halves(b));
    (rounded, al * bl - (((rounded - ah * bh) - al * bh) - ah * bl))
}

fn times(a: Sum, b: f64) -> Sum {
    let (high, low) = product(a.0, b);
    if high.is_finite() { sum(high, low + a.1 * b) } else { (high, 0.0) }
}

fn over(a: Sum, b: f64) -> Sum {
    let quotient = a.0 / b;
    let (high, low) = product(quotient, b);
    sum(quotient, (((a.0 - high) - low) + a.1) / b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::json::Input;

    fn read(text: &str) -> f64 {
        Input::new(text).number().unwrap().real()
    }

    #[test]
    fn hard_numbers_are_the_nearest_float() {
        for text in [
            "0",
            "0.1",
            "0.3",
            "1e22",
            "1e23",
            "9007199254740993",
            "123456789012345678",
            "0.21400040000000003",
            "5e-7",
            "1.7976931348623157e308",
            "2.2250738585072014e-308",
            "18446744073709551615",
            "0.000001",
            "1e-6",
            "3.5E+2",
            "6.02214076e23",
            "1.0000000000000002",
            "0.30000000000000004",
            "100000000000000000000000",
        ] {
            assert_eq!(read(text), text.parse::<f64>().unwrap(), "{text}");
        }
        assert!(Input::new("1e309").number().is_err());
        assert_eq!(read("1e-400"), 0.0);
        assert!(read("-0.0").is_sign_negative());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn what_is_written_in_full_comes_back_to_the_last_bit(x in proptest::num::f64::NORMAL) {
            prop_assert_eq!(read(&format!("{x:?}")), x);
            prop_assert_eq!(read(&format!("{x:e}")), x);
        }

        #[test]
        fn a_measured_time_or_rate_comes_back_to_the_last_bit(x in 1e-9..1e6_f64) {
            prop_assert_eq!(read(&x.to_string()), x);
        }
    }
}
