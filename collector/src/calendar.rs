//! Times of day in UTC, as shards write them.

use std::time::{SystemTime, UNIX_EPOCH};

use dyno_shared::date::moment;

/// Seconds since 1970; before it, 0.
pub fn unix_seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// RFC 3339 in UTC to the second: `2026-11-30T12:00:00Z`.
pub fn rfc3339(unix_s: f64) -> String {
    moment(unix_s.clamp(0.0, 2e11) as u64)
}

/// The day of it: `2026-11-30`.
pub fn day(unix_s: f64) -> String {
    rfc3339(unix_s).chars().take_while(|c| *c != 'T').collect()
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
