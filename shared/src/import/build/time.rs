//! Times of day, as the tools write them and as shards do.

use crate::date::moment;

/// RFC 3339 in UTC to the second, of seconds since 1970; `None` outside the years 1970 to 9999.
pub fn utc(unix_s: f64) -> Option<String> {
    if !(0.0..253_402_300_800.0).contains(&unix_s) {
        return None;
    }
    Some(moment(unix_s as u64))
}

/// A time that its tool states to be UTC, `2026-11-30 16:29:44Z` or `2026-11-30T16:29:44.123456`, as RFC 3339 to the
/// second; `None` where it is something else.
pub fn utc_text(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let shape = b"0000-00-00 00:00:00";
    let fits = bytes.len() >= shape.len()
        && shape.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            b' ' => matches!(byte, b' ' | b'T'),
            other => byte == other,
        });
    let rest =
        text.get(shape.len()..)?.trim_start_matches('.').trim_start_matches(|c: char| c.is_ascii_digit());
    let is_utc = fits && matches!(rest, "" | "Z" | "+00:00" | " UTC");
    is_utc.then(|| Some(format!("{}T{}Z", text.get(..10)?, text.get(11..19)?)))?
}

/// The day of a local time whose zone nobody knows, `20261130-163723` or `2026-11-30 …`: `2026-11-30`.
pub fn day(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').take(8).collect();
    let whole = digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_digit());
    whole.then(|| Some(format!("{}-{}-{}", digits.get(..4)?, digits.get(4..6)?, digits.get(6..8)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_since_1970_are_a_time_of_day() {
        assert_eq!(utc(951_782_400.9).as_deref(), Some("2000-02-29T00:00:00Z"));
        assert_eq!(utc(1_796_040_000.0).as_deref(), Some("2026-11-30T12:00:00Z"));
        for none in [-1.0, 1e18, f64::NAN] {
            assert_eq!(utc(none), None);
        }
    }

    #[test]
    fn a_time_is_utc_only_where_it_says_so() {
        for text in ["2026-11-30 16:29:44Z", "2026-11-30T16:29:44.123456", "2026-11-30T16:29:44+00:00"] {
            assert_eq!(utc_text(text).as_deref(), Some("2026-11-30T16:29:44Z"));
        }
        for text in ["20261130-163723", "2026-11-30T16:29:44+02:00", "yesterday", ""] {
            assert_eq!(utc_text(text), None);
        }
        assert_eq!(day("20261130-163723").as_deref(), Some("2026-11-30"));
        assert_eq!(day("2026-11-30 16:29").as_deref(), Some("2026-11-30"));
        assert_eq!(day("soon"), None);
    }
}
