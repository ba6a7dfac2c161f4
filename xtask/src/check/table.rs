//! The table at the end of `cargo xtask test`.

use std::fmt::Write as _;
use std::time::Duration;

use super::Outcome;

#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub time: Duration,
    pub outcome: Outcome,
}

/// One line per stage: name, seconds, how it ended.
pub fn format(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "{:<12} {:>7.1} s  {}", row.name, row.time.as_secs_f64(), result(&row.outcome));
    }
    let total: Duration = rows.iter().map(|row| row.time).sum();
    let _ = writeln!(text, "{:<12} {:>7.1} s", "total", total.as_secs_f64());
    text
}

fn result(outcome: &Outcome) -> String {
    let (counts, verdict) = match outcome {
        Outcome::Skipped(why) => return format!("skipped: {why}"),
        Outcome::Passed(counts) => (counts, "ok"),
        Outcome::Failed(counts, _) => (counts, "FAILED"),
    };
    let mut text = String::from(verdict);
    for (number, word) in [(counts.passed, "passed"), (counts.failed, "failed"), (counts.skipped, "skipped")]
    {
        if number > 0 {
            let _ = write!(text, ", {number} {word}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::counts::Counts;

    #[test]
    fn each_stage_has_its_time_and_its_result() {
        let counts = Counts { passed: 12, failed: 1, skipped: 0 };
        let text = format(&[
            Row {
                name: "fmt".into(),
                time: Duration::from_millis(1250),
                outcome: Outcome::Passed(Counts::default()),
            },
            Row {
                name: "test".into(),
                time: Duration::from_secs(80),
                outcome: Outcome::Failed(counts, "x".into()),
            },
            Row {
                name: "engine".into(),
                time: Duration::ZERO,
                outcome: Outcome::Skipped("not built".into()),
            },
        ]);
        assert_eq!(
            text,
            "fmt              1.2 s  ok\n\
             test            80.0 s  FAILED, 12 passed, 1 failed\n\
             engine           0.0 s  skipped: not built\n\
             total           81.2 s\n"
        );
    }
}
