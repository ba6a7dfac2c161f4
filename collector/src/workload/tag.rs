//! Run tags: what makes the prompt of one run unlike any other, and the same on every set-up of one series.

use dyno_shared::shard::sha256_hex;

/// Hex digits of a tag: 40 bits, so that two of a thousand prompts share one with a chance of 1 in 2 million.
const LENGTH: usize = 10;

/// Which sending of a case's prompt this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// A recorded run, from 1.
    Run(u32),
    /// A recorded run that was in flight when the measurement broke off, made again with bytes of its own: an engine
    /// may have seen those of the earlier attempts.
    Again {
        /// The run, from 1.
        number: u32,
        /// Attempts before this one.
        attempts: u32,
    },
    /// An unrecorded one, from 1.
    Warmup(u32),
    /// One of the three sendings of the first prompt, all with one tag: whether the answers are the same.
    Repeat,
    /// The request that fills the prefix cache.
    Prime,
}

impl Take {
    /// The number of a recorded run.
    pub const fn recorded(self) -> Option<u32> {
        match self {
            Self::Run(number) | Self::Again { number, .. } => Some(number),
            Self::Warmup(_) | Self::Repeat | Self::Prime => None,
        }
    }

    fn word(self) -> String {
        match self {
            Self::Run(number) => number.to_string(),
            Self::Again { number, attempts } => format!("{number} again after {attempts}"),
            Self::Warmup(number) => format!("warm-up {number}"),
            Self::Repeat => "repeat".to_owned(),
            Self::Prime => "prime".to_owned(),
        }
    }
}

/// The tag of one stream of one sending; streams are numbered from 0.
pub fn run_tag(series: &str, case: &str, take: Take, stream: u32) -> String {
    let word = take.word();
    match stream {
        0 => hash(&[series, case, &word]),
        _ => hash(&[series, case, &word, &stream.to_string()]),
    }
}

/// The tag of what all runs of a case's stream share: the prefix of a cached case.
pub fn case_tag(series: &str, case: &str, stream: u32) -> String {
    match stream {
        0 => hash(&[series, case, "prefix"]),
        _ => hash(&[series, case, "prefix", &stream.to_string()]),
    }
}

/// The tag of a later turn of a session, whose first turn has the tag `first`.
pub fn turn_tag(first: &str, turn: u32) -> String {
    hash(&[first, "turn", &turn.to_string()])
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
    fn a_run_has_the_same_tag_in_the_same_series_and_no_other_run_or_stream_has_it() {
        assert_eq!(run_tag("s", "code", Take::Run(5), 3), run_tag("s", "code", Take::Run(5), 3));
        let mut tags = BTreeSet::new();
        for series in ["s", "t"] {
            for case in ["code", "prose"] {
                for stream in 0..5 {
                    for number in 1..=30 {
                        let again = [1, 2].map(|attempts| Take::Again { number, attempts });
                        for take in [Take::Run(number), again[0], again[1], Take::Warmup(number)] {
                            let tag = run_tag(series, case, take, stream);
                            assert!(tags.insert(turn_tag(&tag, 2)));
                            assert!(tags.insert(tag));
                        }
                    }
                    assert!(tags.insert(run_tag(series, case, Take::Repeat, stream)));
                    assert!(tags.insert(run_tag(series, case, Take::Prime, stream)));
                    assert!(tags.insert(case_tag(series, case, stream)));
                }
            }
        }
    }

    #[test]
    fn names_that_run_together_are_still_told_apart() {
        assert_ne!(run_tag("a", "bc", Take::Run(1), 0), run_tag("ab", "c", Take::Run(1), 0));
    }
}
