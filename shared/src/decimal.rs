//! Between floats and decimal digits, in sums of two floats.
//!
//! The standard library does it with big numbers and tables of powers, which are 15 KB of what a reader of the
//! explorer would have to download. What comes out is the same: tests compare them. All of it is there again as soon as
//! one `{}` or `{:?}` of a float is, and `f64::clamp` has two in its panic: what the page runs writes floats with
//! [`crate::format`].

/// Digits times a power of ten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The digits as a whole number.
    pub(crate) digits: u64,
    /// Whether digits were left out behind the first nineteen.
    cut: bool,
    /// The power.
    pub(crate) exponent: i32,
}

impl Decimal {
    /// One more digit at the end.
    pub(crate) fn push(&mut self, digit: u8) {
        let longer = self.digits.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit)));
        if let Some(longer) = longer.filter(|_| !self.cut) {
            self.digits = longer;
        } else {
            self.cut = true;
            self.exponent += 1;
        }
    }

    /// All digits, if they are few enough.
    pub(crate) fn whole(self) -> Option<u64> {
        (!self.cut).then_some(self.digits)
    }

    /// The nearest float; infinite beyond all of them.
    pub(crate) fn float(self) -> f64 {
        // Away from the ends of all floats while it is computed with: exact, because the scale is a power of two.
        let scale = if self.exponent < 0 { SCALE } else { 1.0 / SCALE };
        // Both are exact, and so is their sum.
        let low_bits = self.digits & 0x7ff;
        let exact = sum((self.digits - low_bits) as f64 * scale, low_bits as f64 * scale);
        shifted(exact, self.exponent).0 / scale
    }

    /// `x` with so many digits, at most 17; half way between two, the even one. The sign is left out.
    pub(crate) fn significant(x: f64, digits: u8) -> Self {
        let x = x.abs();
        if x == 0.0 || !x.is_finite() {
            return Self::default();
        }
        let most = 10_u64.pow(digits.into());
        // From a power below the logarithm on: one above it would round up to a digit that is not there.
        let binary = if x.is_normal() { (x.to_bits() >> 52) as i32 - 1023 } else { -1074 };
        let mut exponent = binary * 1233 / 4096 - i32::from(digits) - 1;
        loop {
            let digits = rounded(x, -exponent);
            if digits < most {
                return Self { digits, cut: false, exponent };
            }
            exponent += 1;
        }
    }

    /// `x` with so many digits behind the point; half way between two, the even one. The sign is left out. Of numbers
    /// with more than seventeen digits the last ones are zeros.
    pub(crate) fn fixed(x: f64, decimals: u8) -> Self {
        let (all, power) = (Self::significant(x, 17), i32::from(decimals));
        if x != 0.0 && all.exponent > -power {
            return all;
        }
        Self { digits: rounded(x.abs(), power), cut: false, exponent: -power }
    }

    /// The fewest digits that read back as `x`. The sign is left out.
    pub(crate) fn shortest(x: f64) -> Self {
        let few = (1..17).map(|digits| Self::significant(x, digits)).find(|few| few.float() == x.abs());
        few.unwrap_or_else(|| Self::significant(x, 17))
    }

    /// In plain notation: `39.5`, `0.0312`, `1370`.
    pub(crate) fn plain(self) -> String {
        let digits = self.digits.to_string();
        let Ok(decimals) = usize::try_from(-self.exponent) else {
            let zeros = "0".repeat(self.exponent.unsigned_abs() as usize);
            return digits + &zeros;
        };
        let zeros = "0".repeat((decimals + 1).saturating_sub(digits.len()));
        let mut plain = zeros + &digits;
        if decimals > 0 {
            plain.insert(plain.len() - decimals, '.');
        }
        plain
    }

    /// In scientific notation: `3.95e1`.
    pub(crate) fn scientific(self) -> String {
        let mut text = self.digits.to_string();
        let exponent = self.exponent + i32::from(text.len() as u8) - 1;
        if text.len() > 1 {
            text.insert(1, '.');
        }
        text + "e" + &exponent.to_string()
    }
}

/// `x` times a power of ten, as a whole number; half way between two, the even one. At most 2⁶⁴.
fn rounded(x: f64, power: i32) -> u64 {
    let scale = if power < 0 { 1.0 / SCALE } else { SCALE };
    let (high, low) = shifted((x * scale, 0.0), power);
    let (high, low) = (high / scale, low / scale);
    let whole = high.floor();
    let rest = (high - whole) + low;
    let below = rest.floor();
    let number = (whole as u64).saturating_add_signed(below as i64);
    let over = rest - below;
    number.saturating_add(u64::from(over > 0.5 || (over == 0.5 && number % 2 == 1)))
}

/// A sum times a power of ten.
fn shifted(mut exact: Sum, power: i32) -> Sum {
    let mut left = power.unsigned_abs().min(800);
    while left > 0 {
        let step = left.min(22);
        // Up to 10²² a power of ten is exact.
        let ten = (0..step).fold(1.0, |ten, _| ten * 10.0);
        exact = if power < 0 { over(exact, ten) } else { times(exact, ten) };
        left -= step;
    }
    exact
}

/// 2¹⁹².
const SCALE: f64 = 6_277_101_735_386_680_763_835_789_423_207_666_416_102_355_444_464_034_512_896.0;

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

    use super::*;
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
            "1.7976931348623157e308",
            "2.2250738585072014e-308",
            "18446744073709551615",
            "1e-6",
            "3.5E+2",
            "6.02214076e23",
            "1.0000000000000002",
            "100000000000000000000000",
        ] {
            assert_eq!(read(text), text.parse::<f64>().unwrap(), "{text}");
        }
        assert!(Input::new("1e309").number().is_err());
        assert_eq!(read("1e-400"), 0.0);
        assert!(read("-0.0").is_sign_negative());
    }

    #[test]
    fn half_way_between_two_the_even_one_is_written() {
        for x in [
            0.5,
            1.5,
            2.5,
            0.125,
            0.375,
            3.778_971_473_140_544e249,
            1365.0,
            1375.0,
            12.25,
            12.75,
            99.95,
            9.995,
            999.5,
            1e22,
            5e-324,
        ] {
            compare(x);
        }
    }

    fn compare(x: f64) {
        for digits in 1..=17_usize {
            let ours = Decimal::significant(x, digits as u8).scientific();
            assert_eq!(ours, format!("{x:.*e}", digits - 1), "{x:?} with {digits} digits");
        }
        if x < 1e15 {
            for decimals in 0..8_usize {
                let theirs = format!("{x:.decimals$}");
                if theirs.len() <= 17 {
                    assert_eq!(
                        Decimal::fixed(x, decimals as u8).plain(),
                        theirs,
                        "{x:?} with {decimals} decimals"
                    );
                }
            }
        }
        let shortest = Decimal::shortest(x);
        // Half way between two shortest ones, either will do.
        assert_eq!(shortest.scientific().len(), format!("{x:e}").len());
        assert_eq!(shortest.plain().parse::<f64>().unwrap(), x);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn what_is_written_in_full_comes_back_to_the_last_bit(x in proptest::num::f64::NORMAL) {
            prop_assert_eq!(read(&format!("{x:?}")), x);
            prop_assert_eq!(read(&format!("{x:e}")), x);
        }

        #[test]
        fn a_measured_time_or_rate_comes_back_to_the_last_bit(x in 1e-9..1e6_f64) {
            prop_assert_eq!(read(&x.to_string()), x);
        }

        #[test]
        fn any_number_is_written_as_the_standard_library_writes_it(
            x in proptest::num::f64::POSITIVE | proptest::num::f64::NORMAL,
            near in 1e-6..1e6_f64,
            // Zero has no digits to count: it is written as it is.
            halves in 1..200_000_u32,
        ) {
            compare(x.abs());
            compare(near);
            compare(f64::from(halves) / 16.0);
        }
    }
}
