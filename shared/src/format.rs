//! Numbers for people: significant digits, one scale per row or axis, `–` for unknown.

use crate::decimal::Decimal;
use crate::units::Unit;

/// What stands where a number is unknown.
pub const UNKNOWN: &str = "–";

/// `x` with `digits` significant digits in plain decimal notation (`39.5`, `1,370`, `0.0312`);
/// scientific beyond 1e15 or below 1e-9. Not a number or infinite gives [`UNKNOWN`].
pub fn significant(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let plain = is_plain(x);
    let decimal = Decimal::significant(x, digits.clamp(1, 17) as u8);
    signed(x, &if plain { group_thousands(&decimal.plain()) } else { decimal.scientific() })
}

/// Whether a number is written without an exponent.
fn is_plain(x: f64) -> bool {
    x == 0.0 || (1e-9..1e15).contains(&x.abs())
}

fn signed(x: f64, size: &str) -> String {
    [if x < 0.0 { "-" } else { "" }, size].concat()
}

/// `x` with so many decimals, without marks between thousands: `0.50`.
pub fn fixed(x: f64, decimals: usize) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    signed(x, &Decimal::fixed(x, decimals.min(17) as u8).plain())
}

/// `x` with all its digits: `0.7`, `4096`.
pub fn full(x: f64) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    let decimal = Decimal::shortest(x);
    signed(x, &if is_plain(x) { decimal.plain() } else { decimal.scientific() })
}

/// Three significant digits: the precision of every number on the page and in the terminal.
pub fn short(x: f64) -> String {
    significant(x, 3)
}

/// So many things: `1 run`, `16 runs`.
pub fn count(n: usize, thing: &str) -> String {
    [n.to_string().as_str(), " ", thing, if n == 1 { "" } else { "s" }].concat()
}

/// A value, or [`UNKNOWN`].
pub fn maybe(x: Option<f64>) -> String {
    x.map_or_else(|| UNKNOWN.to_owned(), short)
}

/// `39.5 (38.9–40.1)`, or `39.5` where there is no interval, or [`UNKNOWN`]. All three numbers have the
/// same decimals, which are those that show the interval's ends apart (at least three significant digits of
/// the value).
pub fn with_interval(value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    let Some(value) = value else { return UNKNOWN.to_owned() };
    match interval {
        Some((low, high)) if low.is_finite() && high.is_finite() => {
            let decimals = shared_decimals(value, low, high);
            let show = |x: f64| decimals.map_or_else(|| short(x), |d| group_thousands(&fixed(x, d)));
            format!("{} ({}–{})", show(value), show(low), show(high))
        }
        _ => short(value),
    }
}

/// Decimals that give `value` three significant digits; `None` where plain notation does not fit.
fn shared_decimals(value: f64, low: f64, high: f64) -> Option<usize> {
    if !(value.is_finite() && value != 0.0 && [value, low, high].into_iter().all(is_plain)) {
        return None;
    }
    Some(usize::try_from(-Decimal::significant(value, 3).exponent).unwrap_or(0))
}

/// `12.3 tok/s`; a pure number has no symbol.
pub fn with_unit(x: Option<f64>, unit: Unit) -> String {
    match (x, unit.symbol()) {
        (None, _) => UNKNOWN.to_owned(),
        (Some(x), "") => short(x),
        (Some(x), symbol) => format!("{} {symbol}", short(x)),
    }
}

/// A share as percent with a sign of its own where asked: `0.021` → `2.1 %`.
pub fn percent(share: Option<f64>) -> String {
    share.filter(|s| s.is_finite()).map_or_else(
        || UNKNOWN.to_owned(),
        |s| {
            let p = s * 100.0;
            fixed(p, usize::from(p.abs() < 10.0)) + " %"
        },
    )
}

/// A ratio with its interval: `1.034 (1.012–1.057)`; narrow ones have a further digit. Ratios beyond belief have as many
/// digits as other numbers.
pub fn ratio(ratio: f64, interval: Option<(f64, f64)>) -> String {
    /// An interval of ratios below this is narrow.
    const NARROW: f64 = 0.01;
    if !(0.01..1000.0).contains(&ratio) {
        return with_interval(Some(ratio), interval);
    }
    let Some((low, high)) = interval else { return fixed(ratio, 3) };
    let decimals = if high - low < NARROW { 4 } else { 3 };
    [&fixed(ratio, decimals), " (", &fixed(low, decimals), "–", &fixed(high, decimals), ")"].concat()
}

/// A p value: `0.004`, `<0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { fixed(p, 3) }
}

/// A duration for people: `850 ms`, `12.3 s`, `4 min 05 s`, `2 h 03 min`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return UNKNOWN.to_owned();
    }
    if seconds < 1.0 {
        return fixed(seconds * 1e3, 0) + " ms";
    }
    if seconds < 60.0 {
        return fixed(seconds, 1) + " s";
    }
    let whole = seconds.min(1e12) as u64;
    if whole < 3600 {
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
}

/// Bytes in binary units: `94.4 MiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", short(value), UNITS[unit])
}

fn group_thousands(plain: &str) -> String {
    let (sign, rest) = plain.strip_prefix('-').map_or(("", plain), |r| ("-", r));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::with_capacity(plain.len() + 4);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or_else(|| format!("{sign}{grouped}"), |f| format!("{sign}{grouped}.{f}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits_at_every_scale() {
        let cases = [
            (39.512, "39.5"),
            (9.996, "10.0"),
            (0.031_234, "0.0312"),
            (1370.4, "1,370"),
            (1_234_567.0, "1,230,000"),
            (-0.5, "-0.500"),
            (0.0, "0"),
            (1e-12, "1.00e-12"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (x, shown) in cases {
            assert_eq!(short(x), shown, "{x}");
        }
    }

    #[test]
    fn an_interval_shares_the_decimals_of_its_value() {
        assert_eq!(with_interval(Some(39.512), Some((38.93, 40.08))), "39.5 (38.9–40.1)");
        assert_eq!(with_interval(Some(9.99), Some((9.5, 10.51))), "9.99 (9.50–10.51)");
        assert_eq!(with_interval(Some(117.3), Some((111.7, 123.9))), "117 (112–124)");
        assert_eq!(with_interval(Some(12.6), None), "12.6");
        assert_eq!(with_interval(None, Some((1.0, 2.0))), "–");
    }

    #[test]
    fn ratios_and_p_values_have_the_digits_that_tell_them_from_1_and_0() {
        assert_eq!(ratio(1.0341, Some((1.0123, 1.0574))), "1.034 (1.012–1.057)");
        assert_eq!(ratio(1.0002, Some((0.9981, 1.0023))), "1.0002 (0.9981–1.0023)");
        assert_eq!(ratio(1.25, None), "1.250");
        assert_eq!([0.049_6, 0.000_4].map(p_value), ["0.050", "<0.001"]);
    }

    #[test]
    fn durations_and_shares_read_as_people_say_them() {
        assert_eq!(duration(0.85), "850 ms");
        assert_eq!(duration(245.0), "4 min 05 s");
        assert_eq!(duration(7400.0), "2 h 03 min");
        assert_eq!(percent(Some(0.0213)), "2.1 %");
        assert_eq!(percent(Some(0.83)), "83 %");
        assert_eq!(percent(Some(0.0)), "0.0 %");
        assert_eq!(percent(None), "–");
        assert_eq!(bytes(96_576_768), "92.1 MiB");
        assert_eq!([0, 1, 2].map(|n| count(n, "run")), ["0 runs", "1 run", "2 runs"]);
    }
}
