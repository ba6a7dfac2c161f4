//! The standard suite and its quick subset. Names are part of the schema: cases of one name pair.

use dyno_shared::workload::Regime;

use super::{CasePlan, Workload};

/// Tokens that an answer to a long prompt may have.
const SHORT_ANSWER: u64 = 16;

/// Tokens of an answer at depth.
const DEEP_ANSWER: u64 = 256;

/// How often each case is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Recorded runs of a single stream.
    pub runs: u32,
    /// Recorded batches of concurrent streams.
    pub batches: u32,
    /// Unrecorded ones before them.
    pub warmups: u32,
}

impl Default for Counts {
    /// Those of the standard suite.
    fn default() -> Self {
        Self { runs: 16, batches: 8, warmups: 2 }
    }
}

impl Counts {
    /// Those of the quick suite.
    pub const QUICK: Self = Self { runs: 5, batches: 3, warmups: 1 };

    /// Recorded runs of a case of this regime.
    pub(super) fn of(self, regime: Regime) -> u32 {
        if matches!(regime, Regime::Load | Regime::Session) { self.batches } else { self.runs }
    }
}

/// The standard suite.
pub fn full(counts: Counts) -> Vec<CasePlan> {
    let sizes = [("2k", 2_000), ("8k", 8_000), ("32k", 32_000)];
    let mut cases = vec![
        decode("code", Workload::Code, 512),
        decode("prose", Workload::Prose, 512),
        decode("structured", Workload::Structured, 512),
        counting("counting", 200, 1_024),
    ];
    cases
        .extend(sizes.map(|(name, size)| needle(&format!("cold_prefill_{name}"), Regime::ColdPrefill, size)));
    cases.extend(
        sizes.map(|(name, size)| needle(&format!("cached_prefix_{name}"), Regime::CachedPrefix, size)),
    );
    cases.extend(sizes.map(|(name, size)| at_depth(&format!("decode_at_depth_{name}"), size)));
    cases.extend([1, 2, 4, 8].map(load));
    cases.extend([4, 8].map(mixed));
    cases.push(session(4, 4));
    counted(cases, counts)
}

/// A subset that ends within a few minutes on a laptop's processor. Its sizes are its own, and so are its names.
pub fn quick(counts: Counts) -> Vec<CasePlan> {
    let cases = vec![
        decode("code_q128", Workload::Code, 128),
        counting("counting_q50", 50, 256),
        needle("cold_prefill_q1k", Regime::ColdPrefill, 1_000),
        needle("cached_prefix_q1k", Regime::CachedPrefix, 1_000),
    ];
    counted(cases, counts)
}

/// Cases that are measured only where they are asked for by name.
pub fn extra(counts: Counts) -> Vec<CasePlan> {
    let two_length = CasePlan { two_length: true, ..decode("two_length", Workload::Prose, 256) };
    counted(vec![two_length], counts)
}

/// Every case that has a name of ours.
pub fn known(counts: Counts) -> Vec<CasePlan> {
    [full(counts), quick(counts), extra(counts)].concat()
}

fn counted(cases: Vec<CasePlan>, counts: Counts) -> Vec<CasePlan> {
    let counted = |case: CasePlan| CasePlan { runs: counts.of(case.regime), warmups: counts.warmups, ..case };
    cases.into_iter().map(counted).collect()
}

fn decode(id: &str, workload: Workload, max_tokens: u64) -> CasePlan {
    CasePlan { max_tokens, ignore_eos: true, ..CasePlan::new(id, Regime::Decode, workload) }
}

/// Counting ends by itself: an engine that goes on past the last number would write wrong lines.
fn counting(id: &str, last: u32, max_tokens: u64) -> CasePlan {
    CasePlan { ignore_eos: false, ..decode(id, Workload::Counting { last }, max_tokens) }
}

fn needle(id: &str, regime: Regime, tokens: u64) -> CasePlan {
    CasePlan {
        max_tokens: SHORT_ANSWER,
        prompt_tokens: Some(tokens),
        ..CasePlan::new(id, regime, Workload::Needle)
    }
}

fn at_depth(id: &str, tokens: u64) -> CasePlan {
    CasePlan {
        max_tokens: DEEP_ANSWER,
        ignore_eos: true,
        depth_tokens: Some(tokens),
        ..CasePlan::new(id, Regime::DecodeAtDepth, Workload::LongText)
    }
}

fn load(concurrency: u32) -> CasePlan {
    CasePlan {
        max_tokens: 400,
        ignore_eos: true,
        prompt_tokens: Some(2_000),
        concurrency,
        ..CasePlan::new(&format!("load{concurrency}"), Regime::Load, Workload::LongText)
    }
}

fn mixed(concurrency: u32) -> CasePlan {
    CasePlan {
        max_tokens: 512,
        ignore_eos: true,
        concurrency,
        ..CasePlan::new(&format!("mixed{concurrency}"), Regime::Load, Workload::Mixed)
    }
}

fn session(sessions: u32, turns: u32) -> CasePlan {
    CasePlan {
        max_tokens: 64,
        ignore_eos: true,
        prompt_tokens: Some(1_500),
        concurrency: sessions,
        turns: Some(turns),
        ..CasePlan::new(&format!("session{sessions}"), Regime::Session, Workload::Dialogue)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workload::Take;

    fn all() -> Vec<CasePlan> {
        let counts = Counts::default();
        full(counts).into_iter().chain(quick(counts)).chain(extra(counts)).collect()
    }

    #[test]
    fn no_name_stands_for_two_sizes() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn the_suite_has_the_names_of_the_schema() {
        let names: Vec<String> = full(Counts::default()).into_iter().map(|case| case.id).collect();
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
            "decode_at_depth_2k",
            "decode_at_depth_8k",
            "decode_at_depth_32k",
            "load1",
            "load2",
            "load4",
            "load8",
            "mixed4",
            "mixed8",
            "session4",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_single_stream_is_taken_sixteen_times_and_a_batch_eight_times() {
        for case in full(Counts::default()) {
            let batch = ["load", "mixed", "session"].iter().any(|name| case.id.starts_with(name));
            assert_eq!(case.runs, if batch { 8 } else { 16 }, "{}", case.id);
            assert_eq!(case.warmups, 2);
        }
    }

    #[test]
    fn a_prompt_of_8k_fits_a_context_of_8192_and_one_of_32k_fits_32768() {
        let needed = |id: &str| all().iter().find(|c| c.id == id).map(CasePlan::context_needed).unwrap();
        assert!(needed("cold_prefill_8k") <= 8_192, "{}", needed("cold_prefill_8k"));
        assert!(needed("cached_prefix_32k") <= 32_768);
        assert!(needed("cold_prefill_2k") > 2_048);
        assert!(needed("decode_at_depth_8k") > 8_192, "an answer of 256 tokens does not fit behind it");
        assert!(needed("session4") > 1_500 + 4 * 64, "all turns are in the last one's context");
    }

    #[test]
    fn repeats_and_priming_are_warm_ups() {
        let takes = |id: &str, warmups| {
            let counts = Counts { warmups, ..Counts::default() };
            full(counts).into_iter().find(|case| case.id == id).map(|case| case.warmup_takes()).unwrap()
        };
        assert_eq!(takes("code", 2), [Take::Repeat; 3]);
        assert_eq!(takes("code", 4), [Take::Repeat, Take::Repeat, Take::Repeat, Take::Warmup(4)]);
        assert_eq!(takes("code", 0), []);
        assert_eq!(takes("cold_prefill_2k", 2), [Take::Warmup(1), Take::Warmup(2)]);
        assert_eq!(takes("cached_prefix_2k", 2), [Take::Prime, Take::Warmup(2)]);
        assert_eq!(takes("decode_at_depth_2k", 0), [Take::Prime]);
        assert_eq!(takes("load8", 2), [Take::Warmup(1), Take::Warmup(2)]);
    }
}
