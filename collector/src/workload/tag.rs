//! Run tags: what makes the prompt of one run unlike any other, and the same on every set-up of one series.

use dyno_shared::shard::sha256_hex;

/// Hex digits of a tag: 40 bits, so that two of a thousand prompts share one with a chance of 1 in 2 million.
const LENGTH: usize = 10;

/// Which sending of a case's prompt this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// A recorded run, from 1.
    Run(u32),
    /// An unrecorded one, from 1.
    Warmup(u32),
    /// One of the three sendings of the first prompt, all with one tag: whether the answers are the same.
    Repeat,
    /// The request that fills the prefix cache.
    Prime,
}

impl Take {
    fn word(self) -> String {
        match self {
            Self::Run(number) => number.to_string(),
            Self::Warmup(number) => format!("warm-up {number}"),
            Self::Repeat => "repeat".to_owned(),
            Self::Prime => "prime".to_owned(),
        }
    }
}

/// The tag of one sending.
pub fn run_tag(series: &str, case: &str, take: Take) -> String {
    hash(&[series, case, &take.word()])
}

/// The tag of what all runs of a case share: the prefix of a cached case.
pub fn case_tag(series: &str, case: &str) -> String {
    hash(&[series, case, "prefix"])
}

/// The generator seed that a tag stands for.
pub fn seed_of(tag: &str) -> u64 {
    sha256_hex(tag.as_bytes()).get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0)
}

fn hash(parts: &[&str]) -> String {
    // A zero byte cannot stand in a name given on a command line, so no two lists of parts are one text.
    let mut tag = sha256_hex(parts.join("\0").as_bytes());
    tag.truncate(LENGTH);
    tag
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_run_has_the_same_tag_in_the_same_series_and_no_other_run_has_it() {
        assert_eq!(run_tag("s", "code", Take::Run(5)), run_tag("s", "code", Take::Run(5)));
        let mut tags = BTreeSet::new();
        for series in ["s", "t"] {
            for case in ["code", "prose"] {
                for number in 1..=100 {
                    assert!(tags.insert(run_tag(series, case, Take::Run(number))));
                    assert!(tags.insert(run_tag(series, case, Take::Warmup(number))));
                }
                assert!(tags.insert(run_tag(series, case, Take::Repeat)));
                assert!(tags.insert(run_tag(series, case, Take::Prime)));
                assert!(tags.insert(case_tag(series, case)));
            }
        }
    }

    #[test]
    fn names_that_run_together_are_still_told_apart() {
        assert_ne!(run_tag("a", "bc", Take::Run(1)), run_tag("ab", "c", Take::Run(1)));
    }
}
