//! Dates as shards write them: RFC 3339, a day or a moment.

/// Seconds since 1970 (UTC) of a day (`2026-11-30`, its beginning) or of a moment (`2026-11-30T12:00:00Z`,
/// `2026-11-30T12:00:00.25+01:00`) as RFC 3339 writes them; `None` for anything else.
pub fn seconds(text: &str) -> Option<f64> {
    let day = day_number(text.get(..10)?)? as f64 * 86_400.0;
    let rest = text.get(10..)?;
    if rest.is_empty() {
        return Some(day);
    }
    let time = rest.strip_prefix(['T', 't'])?;
    let clock = time.get(..8)?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut zone = time.get(8..)?;
    let mut fraction = 0.0;
    if let Some(after) = zone.strip_prefix('.') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let mut scale = 0.1;
        for digit in after.bytes().take(digits) {
            fraction += f64::from(digit - b'0') * scale;
            scale /= 10.0;
        }
        zone = after.get(digits..).filter(|_| digits > 0)?;
    }
    let of_day = (hour * 3_600 + minute * 60 + second) as f64 + fraction;
    Some(day + of_day - offset(zone)? as f64)
}

/// The day of such a text, as it is written: `2026-11-30`.
pub fn day(text: &str) -> Option<&str> {
    seconds(text)?;
    text.get(..10)
}

/// A moment as RFC 3339 in UTC to the second, `2026-11-30T12:00:00Z`, of seconds since 1970.
pub fn moment(unix_s: u64) -> String {
    let (year, month, day) = civil((unix_s / 86_400).cast_signed());
    let of_day = unix_s % 86_400;
    let (hour, minute, second) = (of_day / 3_600, of_day % 3_600 / 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
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

/// Seconds that a zone is before UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, clock) = match zone.as_bytes().first()? {
        b'+' => (1, zone.get(1..)?),
        b'-' => (-1, zone.get(1..)?),
        _ => return None,
    };
    let [hour, minute] = numbers(clock, ':', [2, 2])?;
    (hour < 24 && minute < 60).then_some(sign * (hour * 3_600 + minute * 60))
}

/// Days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`).
fn day_number(text: &str) -> Option<i64> {
    let [year, month, day] = numbers(text, '-', [4, 2, 2])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day < 1 || day > longest {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Whole numbers of so many digits each, between separators.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut found = [0; N];
    let mut parts = text.split(between);
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = part.bytes().fold(0, |n, b| n * 10 + i64::from(b - b'0'));
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_of_every_form_are_told() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("2000-02-29T00:00:00Z", 951_782_400.0),
            ("2026-11-30T12:00:00Z", 1_796_040_000.0),
            ("2026-11-30T13:00:00.25+01:00", 1_796_040_000.25),
            ("2026-11-30t06:30:00-05:30", 1_796_040_000.0),
            ("2100-03-01T00:00:00Z", 4_107_542_400.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        assert_eq!(day("2026-11-30T12:00:00Z"), Some("2026-11-30"));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-04-31",
            "2026-00-10",
            "26-11-30",
            "30.11.2026",
            "2026-11-30T12:00:00",
            "2026-11-30 12:00:00Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T12:00:00.Z",
            "2026-11-30T12:00Z",
            "2026-11-30T12:00:00+1:00",
            "2026-11-3é",
            "tomorrow, I think",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
