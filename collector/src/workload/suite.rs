//! The standard suite and its quick subset. Names are part of the schema: cases of one name pair.

use dyno_shared::workload::{Arrival, Regime};
use serde::{Deserialize, Serialize};

use super::{Take, Workload};

/// How often the first prompt of a decode workload is sent to see whether the answer is the same.
const REPEATS: u32 = 3;

/// Tokens that an answer to a long prompt may have.
const SHORT_ANSWER: u64 = 16;

/// What a prompt of a decode workload has at most, template included.
const SHORT_PROMPT: u64 = 160;

/// One case to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CasePlan {
    /// Its name.
    pub id: String,
    /// Its regime.
    pub regime: Regime,
    /// What is asked.
    pub workload: Workload,
    /// Recorded runs.
    pub runs: u32,
    /// Unrecorded ones before them.
    pub warmups: u32,
    /// The most tokens that an answer may have.
    pub max_tokens: u64,
    /// Whether the answer goes on past the end of sequence, so that every run decodes the same number of tokens.
    pub ignore_eos: bool,
    /// Prompt tokens aimed at.
    pub prompt_tokens: Option<u64>,
    /// Streams at once; of an open loop the most that may be under way.
    #[serde(default = "one")]
    pub concurrency: u32,
    /// Cached context before the prompt, in tokens.
    #[serde(default)]
    pub depth_tokens: Option<u64>,
    /// Turns of each session.
    #[serde(default)]
    pub turns: Option<u32>,
    /// How requests arrive in an open loop.
    #[serde(default)]
    pub arrival: Option<Arrival>,
}

const fn one() -> u32 {
    1
}

impl CasePlan {
    /// How often the first prompt is sent to see whether the answers agree. 0 without warm-ups, which they are.
    pub fn repeats(&self) -> u32 {
        if self.regime == Regime::Decode && self.warmups > 0 { REPEATS } else { 0 }
    }

    /// What is sent before the recorded runs. The repeated sendings serve as warm-ups, and so does the priming of
    /// a prefix cache.
    pub fn warmup_takes(&self) -> Vec<Take> {
        let mut takes = vec![Take::Repeat; self.repeats() as usize];
        if self.regime == Regime::CachedPrefix {
            takes.push(Take::Prime);
        }
        let done = takes.len() as u32;
        takes.extend((done + 1..=self.warmups).map(Take::Warmup));
        takes
    }

    /// What is sent before the runs that are left after an interruption. `sent` warm-ups were recorded before.
    pub fn rewarm_takes(&self, sent: u32) -> Vec<Take> {
        match self.regime {
            Regime::CachedPrefix => vec![Take::Prime],
            _ if self.warmups == 0 => Vec::new(),
            // A tag of its own, so that an engine that was not restarted has not seen it.
            _ => vec![Take::Warmup(sent.max(self.warmups) + 1)],
        }
    }

    /// Context that one request needs, in tokens: a long prompt may be off its target by 1 %.
    pub fn context_needed(&self) -> u64 {
        let prompt = self.prompt_tokens.map_or(SHORT_PROMPT, |target| target + target / 100 + 32);
        prompt + self.max_tokens
    }

    /// Tokens to be processed for one sending, weighted for a first guess of the time: decoding is slower by far, and
    /// of a cached prompt only the tail is processed.
    pub fn weight(&self, take: Take) -> f64 {
        let prompt = self.prompt_tokens.unwrap_or(SHORT_PROMPT) as f64;
        let is_cached = self.regime == Regime::CachedPrefix && take != Take::Prime;
        let prompt = if is_cached { prompt / 20.0 } else { prompt };
        self.max_tokens as f64 + prompt / 4.0
    }
}

/// The standard suite.
pub fn full(runs: u32, warmups: u32) -> Vec<CasePlan> {
    let decode = |id: &str, workload| decode(id, workload, 512, runs, warmups);
    let mut cases = vec![
        decode("code", Workload::Code),
        decode("prose", Workload::Prose),
        decode("structured", Workload::Structured),
        counting("counting", 200, 1_024, runs, warmups),
    ];
    for (regime, name) in [(Regime::ColdPrefill, "cold_prefill"), (Regime::CachedPrefix, "cached_prefix")] {
        for (suffix, tokens) in [("2k", 2_000), ("8k", 8_000), ("32k", 32_000)] {
            cases.push(long_prompt(&format!("{name}_{suffix}"), regime, tokens, runs, warmups));
        }
    }
    cases
}

/// A subset that ends within a few minutes on a laptop's processor. Its sizes are its own, and so are its names.
pub fn quick(runs: u32, warmups: u32) -> Vec<CasePlan> {
    vec![
        decode("code_q128", Workload::Code, 128, runs, warmups),
        counting("counting_q50", 50, 256, runs, warmups),
        long_prompt("cold_prefill_q1k", Regime::ColdPrefill, 1_000, runs, warmups),
        long_prompt("cached_prefix_q1k", Regime::CachedPrefix, 1_000, runs, warmups),
    ]
}

fn decode(id: &str, workload: Workload, max_tokens: u64, runs: u32, warmups: u32) -> CasePlan {
    CasePlan {
        id: id.to_owned(),
        regime: Regime::Decode,
        workload,
        runs,
        warmups,
        max_tokens,
        ignore_eos: true,
        prompt_tokens: None,
        concurrency: 1,
        depth_tokens: None,
        turns: None,
        arrival: None,
    }
}

/// Counting ends by itself: an engine that goes on past the last number would write wrong lines.
fn counting(id: &str, last: u32, max_tokens: u64, runs: u32, warmups: u32) -> CasePlan {
    CasePlan { ignore_eos: false, ..decode(id, Workload::Counting { last }, max_tokens, runs, warmups) }
}

fn long_prompt(id: &str, regime: Regime, tokens: u64, runs: u32, warmups: u32) -> CasePlan {
    CasePlan {
        id: id.to_owned(),
        regime,
        workload: Workload::Needle,
        runs,
        warmups,
        max_tokens: SHORT_ANSWER,
        ignore_eos: false,
        prompt_tokens: Some(tokens),
        concurrency: 1,
        depth_tokens: None,
        turns: None,
        arrival: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_stands_for_two_sizes() {
        let all: Vec<CasePlan> = full(16, 2).into_iter().chain(quick(16, 2)).collect();
        let names: BTreeSet<&str> = all.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn the_suite_has_the_names_of_the_schema() {
        let names: Vec<String> = full(16, 2).into_iter().map(|c| c.id).collect();
        let expected = [
            "code",
            "prose",
            "structured",
            "counting",
            "cold_prefill_2k",
            "cold_prefill_8k",
            "cold_prefill_32k",
            "cached_prefix_2k",
            "cached_prefix_8k",
            "cached_prefix_32k",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_prompt_of_8k_fits_a_context_of_8192_and_one_of_32k_fits_32768() {
        let needed =
            |id: &str| full(16, 2).iter().find(|c| c.id == id).map(CasePlan::context_needed).unwrap();
        assert!(needed("cold_prefill_8k") <= 8_192, "{}", needed("cold_prefill_8k"));
        assert!(needed("cached_prefix_32k") <= 32_768);
        assert!(needed("cold_prefill_2k") > 2_048);
    }

    #[test]
    fn repeats_and_priming_are_warm_ups() {
        let takes = |id: &str, warmups| {
            full(16, warmups).into_iter().find(|c| c.id == id).map(|c| c.warmup_takes()).unwrap()
        };
        assert_eq!(takes("code", 2), [Take::Repeat; 3]);
        assert_eq!(takes("code", 4), [Take::Repeat, Take::Repeat, Take::Repeat, Take::Warmup(4)]);
        assert_eq!(takes("code", 0), []);
        assert_eq!(takes("cold_prefill_2k", 2), [Take::Warmup(1), Take::Warmup(2)]);
        assert_eq!(takes("cached_prefix_2k", 2), [Take::Prime, Take::Warmup(2)]);
        assert_eq!(takes("cached_prefix_2k", 0), [Take::Prime]);
    }
}
