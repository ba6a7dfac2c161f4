//! Times of day in UTC, as shards write them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970; before it, 0.
pub fn unix_seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// RFC 3339 in UTC to the second: `2026-11-30T12:00:00Z`.
pub fn rfc3339(unix_s: f64) -> String {
    let whole = unix_s.clamp(0.0, 2e11) as i64;
    let (year, month, day) = civil(whole.div_euclid(86_400));
    let of_day = whole.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        of_day / 3_600,
        of_day % 3_600 / 60,
        of_day % 60
    )
}

/// The day of it: `2026-11-30`.
pub fn day(unix_s: f64) -> String {
    rfc3339(unix_s).chars().take_while(|c| *c != 'T').collect()
}

/// Year, month and day of a number of days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date
/// algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
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
    fn days_that_are_easy_to_get_wrong() {
        for (unix, text) in [
            (0.0, "1970-01-01T00:00:00Z"),
            (951_782_400.9, "2000-02-29T00:00:00Z"),
            (1_709_251_199.0, "2024-02-29T23:59:59Z"),
            (1_735_689_600.0, "2025-01-01T00:00:00Z"),
            (1_796_040_000.0, "2026-11-30T12:00:00Z"),
            (4_107_542_400.0, "2100-03-01T00:00:00Z"),
            (-5.0, "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(unix), text);
        }
        assert_eq!(day(1_796_040_000.0), "2026-11-30");
    }
}
