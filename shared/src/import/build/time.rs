//! Times of day, as the tools write them and as shards do.

/// RFC 3339 in UTC to the second, of seconds since 1970; `None` outside the years 1970 to 9999.
pub fn utc(unix_s: f64) -> Option<String> {
    if !(0.0..253_402_300_800.0).contains(&unix_s) {
        return None;
    }
    let whole = unix_s as i64;
    let (year, month, day) = civil(whole / 86_400);
    let of_day = whole % 86_400;
    let (hour, minute, second) = (of_day / 3_600, of_day % 3_600 / 60, of_day % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
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

/// Year, month and day of a number of days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
