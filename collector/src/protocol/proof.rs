//! Whether a cold run was cold and a cached one was cached.

use dyno_shared::record::RequestRecord;
use dyno_shared::submission::{Run, flag};
use dyno_shared::units::Tokens;
use dyno_shared::workload::Regime;

/// A cold prompt may have this share of itself answered by the cache …
const COLD_SHARE: f64 = 0.05;

/// … or this many tokens, whichever is more: the chat template is shared by all prompts, and a cache answers whole
/// blocks.
const COLD_TOKENS: f64 = 64.0;

/// A cached prompt must have at least this share of itself answered by the cache.
const CACHED_SHARE: f64 = 0.5;

/// What the cached tokens of a run must prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// That no cache answered its prompts.
    Cold,
    /// That the cache answered them.
    Cached,
    /// Nothing.
    Nothing,
}

impl Proof {
    /// Of a regime; of a session that of its first turns.
    pub(super) const fn of(regime: Regime) -> Self {
        match regime {
            Regime::ColdPrefill | Regime::Load | Regime::Session => Self::Cold,
            Regime::CachedPrefix | Regime::DecodeAtDepth => Self::Cached,
            Regime::Decode | Regime::Other => Self::Nothing,
        }
    }

    /// The flag of so many cached tokens of a prompt (or of several) that do not prove it.
    fn flag(self, cached: f64, prompt: f64, requests: usize) -> Option<&'static str> {
        let template = COLD_TOKENS * requests as f64;
        match self {
            Self::Cold if cached > (COLD_SHARE * prompt).max(template) => Some(flag::SERVED_FROM_CACHE),
            Self::Cached if cached < CACHED_SHARE * prompt => Some(flag::NOT_CACHED),
            _ => None,
        }
    }
}

/// The flag that a run earns, if any: of one of its requests, else of all together. Where nobody tells the cached
/// tokens there is none.
pub(super) fn cache_flag(proof: Proof, run: &Run) -> Option<&'static str> {
    let told = |request: &RequestRecord| Some((cached_of(request)?, request.prompt_tokens?.get() as f64));
    let one_by_one: Option<Vec<(f64, f64)>> = run.requests.iter().map(told).collect();
    match one_by_one {
        Some(requests) if !requests.is_empty() => requests
            .into_iter()
            .filter(|(_, prompt)| *prompt > 0.0)
            .find_map(|(cached, prompt)| proof.flag(cached, prompt, 1)),
        _ => proof.flag(cached_tokens(run)?, prompt_tokens(run)?, run.requests.len()),
    }
}

/// Cached prompt tokens of a run: of the answers, else of the engine's timings, else of its counters.
pub fn cached_tokens(run: &Run) -> Option<f64> {
    let told: Option<f64> = run.requests.iter().map(cached_of).sum();
    told.or(run.counters.as_ref().and_then(|c| c.cached_tokens))
}

fn cached_of(request: &RequestRecord) -> Option<f64> {
    let of_engine = request.engine.as_ref().and_then(|engine| engine.cached_tokens);
    request.cached_prompt_tokens.or(of_engine).map(|tokens| tokens.get() as f64)
}

fn prompt_tokens(run: &Run) -> Option<f64> {
    let told: Option<u64> = run.requests.iter().map(|r| r.prompt_tokens.map(Tokens::get)).sum();
    told.map(|tokens| tokens as f64).filter(|tokens| *tokens > 0.0)
}

#[cfg(test)]
mod tests {
    use dyno_shared::submission::EngineCounters;

    use super::*;

    fn run(prompt: Option<u64>, cached: Option<u64>) -> Run {
        Run {
            requests: vec![RequestRecord {
                prompt_tokens: prompt.map(Tokens),
                cached_prompt_tokens: cached.map(Tokens),
                ..RequestRecord::default()
            }],
            ..Run::default()
        }
    }

    #[test]
    fn a_cold_run_may_share_the_template_and_nothing_more() {
        let cold = |prompt, cached| cache_flag(Proof::Cold, &run(Some(prompt), Some(cached)));
        assert_eq!(cold(2_000, 24), None);
        assert_eq!(cold(300, 24), None, "the template of a short prompt");
        assert_eq!(cold(2_000, 100), None);
        assert_eq!(cold(2_000, 101), Some(flag::SERVED_FROM_CACHE));
        assert_eq!(cold(300, 65), Some(flag::SERVED_FROM_CACHE));
    }

    #[test]
    fn a_cached_run_must_hit() {
        let cached = |prompt, cached| cache_flag(Proof::Cached, &run(Some(prompt), Some(cached)));
        assert_eq!(cached(2_000, 1_950), None);
        assert_eq!(cached(2_000, 999), Some(flag::NOT_CACHED));
        assert_eq!(cached(2_000, 0), Some(flag::NOT_CACHED));
    }

    #[test]
    fn unknown_proves_nothing_either_way() {
        for proof in [Proof::Cold, Proof::Cached] {
            assert_eq!(cache_flag(proof, &run(Some(2_000), None)), None);
            assert_eq!(cache_flag(proof, &run(None, Some(2_000))), None);
        }
        assert_eq!(cache_flag(Proof::Nothing, &run(Some(2_000), Some(2_000))), None);
    }

    #[test]
    fn counters_prove_it_where_answers_do_not_tell() {
        let mut one = run(Some(2_000), None);
        one.counters = Some(EngineCounters { cached_tokens: Some(1_920.0), ..EngineCounters::default() });
        assert_eq!(cache_flag(Proof::Cold, &one), Some(flag::SERVED_FROM_CACHE));
        assert_eq!(cache_flag(Proof::Cached, &one), None);
    }

    #[test]
    fn one_stream_of_a_batch_that_met_the_cache_is_not_hidden_by_the_others() {
        let batch = |cached: [u64; 4]| {
            let requests = cached.into_iter().flat_map(|cached| run(Some(2_000), Some(cached)).requests);
            Run { requests: requests.collect(), ..Run::default() }
        };
        assert_eq!(cache_flag(Proof::Cold, &batch([24, 24, 24, 24])), None);
        assert_eq!(cache_flag(Proof::Cold, &batch([0, 0, 120, 0])), Some(flag::SERVED_FROM_CACHE));
        assert_eq!(cache_flag(Proof::Cached, &batch([1_900, 1_900, 24, 1_900])), Some(flag::NOT_CACHED));
        assert_eq!(cache_flag(Proof::Cached, &batch([1_900; 4])), None);
    }
}
