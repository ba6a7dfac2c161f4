//! Where a submission's rows go: `engine=llama.cpp/month=2026-11`.

use std::path::PathBuf;

use dyno_shared::slug::slug;
use dyno_shared::submission::Submission;

/// What Hive and its readers call the partition of null.
pub const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// A partition. Its parts come from [`slug`] or from digits, so that no text of a shard can name another folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    engine: String,
    month: String,
}

impl Partition {
    /// The partition of a submission.
    pub fn of(submission: &Submission) -> Self {
        let engine = &submission.system.engine.name;
        let engine = if engine.trim().is_empty() { UNKNOWN.to_owned() } else { slug(engine) };
        let month = submission.provenance.started_at.as_deref().and_then(month).unwrap_or(UNKNOWN).to_owned();
        Self { engine, month }
    }

    /// Its folder below that of the dataset.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(format!("engine={}", self.engine)).join(format!("month={}", self.month))
    }
}

/// `2026-11` of `2026-11-30T12:00:00Z`.
fn month(started_at: &str) -> Option<&str> {
    let month = started_at.get(..7)?;
    let is_month = month.bytes().enumerate().all(|(at, byte)| match at {
        4 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let number: u32 = month.get(5..)?.parse().ok()?;
    (is_month && (1..=12).contains(&number)).then_some(month)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use super::*;
    use crate::simulator::Truth;
    use crate::simulator::virtual_time::submission;

    fn folder(engine: &str, started_at: Option<&str>) -> String {
        let mut submission = submission(&Truth::default(), "a", &[], 0, 0.0);
        submission.system.engine.name = engine.to_owned();
        submission.provenance.started_at = started_at.map(str::to_owned);
        Partition::of(&submission).folder().to_str().unwrap().to_owned()
    }

    #[test]
    fn a_submission_has_the_partition_of_its_engine_and_month() {
        assert_eq!(folder("llama.cpp", Some("2026-11-30T12:00:00Z")), "engine=llama.cpp/month=2026-11");
        assert_eq!(folder("TensorRT LLM", Some("2026-08-29")), "engine=tensorrt-llm/month=2026-08");
    }

    #[test]
    fn what_nobody_told_is_the_partition_of_null() {
        let unknown = format!("engine={UNKNOWN}/month={UNKNOWN}");
        for started_at in [None, Some(""), Some("2026"), Some("2026-13-01"), Some("20é6-11"), Some("../../x")]
        {
            assert_eq!(folder(" ", started_at), unknown, "{started_at:?}");
        }
    }

    #[test]
    fn a_hostile_name_stays_two_short_folders() {
        let long = "x".repeat(300);
        for name in
            ["../../etc/passwd", "a=b", "/", "a\0b", "..", "~", "month=1/engine=2", "C:\\x", long.as_str()]
        {
            let path = PathBuf::from(folder(name, Some(name)));
            let parts: Vec<_> = path.components().collect();
            assert_eq!(parts.len(), 2, "{name:?} gives {path:?}");
            for part in parts {
                let Component::Normal(part) = part else { panic!("{name:?} gives {path:?}") };
                let part = part.to_str().unwrap();
                assert_eq!(part.matches('=').count(), 1, "{part}");
                assert!(part.len() <= 80 && !part.contains(['\0', '\\']), "{part}");
            }
        }
    }
}
