//! Whether a cold run was cold and a cached one was cached.

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

/// The flag that a run of this regime earns, if any. Where nobody tells the cached tokens there is none.
pub fn cache_flag(regime: Regime, run: &Run) -> Option<&'static str> {
    let (cached, prompt) = (cached_tokens(run)?, prompt_tokens(run)?);
    match regime {
        Regime::ColdPrefill if cached > (COLD_SHARE * prompt).max(COLD_TOKENS) => {
            Some(flag::SERVED_FROM_CACHE)
        }
        Regime::CachedPrefix if cached < CACHED_SHARE * prompt => Some(flag::NOT_CACHED),
        _ => None,
    }
}

/// Cached prompt tokens of a run: of the answers, else of the engine's timings, else of its counters.
pub fn cached_tokens(run: &Run) -> Option<f64> {
    let told: Option<u64> = run
        .requests
        .iter()
        .map(|r| r.cached_prompt_tokens.or(r.engine.as_ref().and_then(|e| e.cached_tokens)).map(Tokens::get))
        .sum();
    told.map(|tokens| tokens as f64).or(run.counters.as_ref().and_then(|c| c.cached_tokens))
}

fn prompt_tokens(run: &Run) -> Option<f64> {
    let told: Option<u64> = run.requests.iter().map(|r| r.prompt_tokens.map(Tokens::get)).sum();
    told.map(|tokens| tokens as f64).filter(|tokens| *tokens > 0.0)
}

#[cfg(test)]
mod tests {
    use dyno_shared::record::RequestRecord;
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
        let cold = |prompt, cached| cache_flag(Regime::ColdPrefill, &run(Some(prompt), Some(cached)));
        assert_eq!(cold(2_000, 24), None);
        assert_eq!(cold(300, 24), None, "the template of a short prompt");
        assert_eq!(cold(2_000, 100), None);
        assert_eq!(cold(2_000, 101), Some(flag::SERVED_FROM_CACHE));
        assert_eq!(cold(300, 65), Some(flag::SERVED_FROM_CACHE));
    }

    #[test]
    fn a_cached_run_must_hit() {
        let cached = |prompt, cached| cache_flag(Regime::CachedPrefix, &run(Some(prompt), Some(cached)));
        assert_eq!(cached(2_000, 1_950), None);
        assert_eq!(cached(2_000, 999), Some(flag::NOT_CACHED));
        assert_eq!(cached(2_000, 0), Some(flag::NOT_CACHED));
    }

    #[test]
    fn unknown_proves_nothing_either_way() {
        for regime in [Regime::ColdPrefill, Regime::CachedPrefix] {
            assert_eq!(cache_flag(regime, &run(Some(2_000), None)), None);
            assert_eq!(cache_flag(regime, &run(None, Some(2_000))), None);
        }
        assert_eq!(cache_flag(Regime::Decode, &run(Some(2_000), Some(2_000))), None);
    }

    #[test]
    fn counters_prove_it_where_answers_do_not_tell() {
        let mut one = run(Some(2_000), None);
        one.counters = Some(EngineCounters { cached_tokens: Some(1_920.0), ..EngineCounters::default() });
        assert_eq!(cache_flag(Regime::ColdPrefill, &one), Some(flag::SERVED_FROM_CACHE));
        assert_eq!(cache_flag(Regime::CachedPrefix, &one), None);
    }
}
