//! FreeToken's `ft serve`.
//!
//! No accelerator was at hand, so the tests read small answers written after its documentation.

use dyno_shared::submission::EngineCounters;
use dyno_shared::system::Setting;
use serde_json::Value;

use super::answers::{Answers, Route};
use super::counters::Counting;
use super::effective::{
    CONTEXT_LIMIT_TOKENS, Effective, Flag, KV_BLOCK_TOKENS, KV_CAPACITY_BYTES, KV_CAPACITY_TOKENS,
    MOE_BACKEND, MOE_EXPERTS, MOE_RESIDENT_EXPERTS, Meaning, Requested, as_number, told,
};
use super::{Description, Engine, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;

const STATS: &str = "/v1/stats";
const CACHE: &str = "/v1/cache/status";

pub(super) const ENGINE: Engine = Engine {
    name: "FreeToken",
    ports: &[1919],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    // It knows no `seed`, and at temperature 0 needs none.
    optional: Optional { seed: false, ..Optional::USUAL },
    probes: &[STATS],
    recognise: |answers| answers.owned_by("FreeToken") || is_stats(answers.json(STATS)),
    loaded: None,
    routes: &[Route::get("/health"), Route::get(STATS), Route::get(CACHE)],
    describe,
    counting: Some(Counting::Json { route: STATS, read: counts, life: |stats| words(&stats["instance_id"]) }),
    tokenize: None,
    flags: &[
        Flag { names: &["max-seq-len-override"], key: CONTEXT_LIMIT_TOKENS, means: Meaning::Same },
        Flag { names: &["num-tokens"], key: KV_CAPACITY_TOKENS, means: Meaning::OneOf(whole_pages) },
        Flag { names: &["num-pages"], key: KV_CAPACITY_TOKENS, means: Meaning::OneOf(tokens_of_pages) },
        Flag { names: &["page-size"], key: KV_BLOCK_TOKENS, means: Meaning::Same },
        Flag { names: &["moe-cache-size"], key: MOE_RESIDENT_EXPERTS, means: Meaning::Same },
        Flag {
            names: &["moe-cache-rate"],
            key: MOE_RESIDENT_EXPERTS,
            means: Meaning::OneOf(share_of_experts),
        },
        Flag { names: &["moe-strategy", "moe-backend"], key: MOE_BACKEND, means: Meaning::OneOf(strategy) },
    ],
};

fn is_stats(stats: &Value) -> bool {
    stats["instance_id"].is_string() && stats["throughput"]["decode_tps"].is_number()
}

fn whole_pages(asked: &Setting, _: &Requested, effective: &Effective) -> Vec<Setting> {
    let Some(tokens) = as_number(asked) else { return Vec::new() };
    let page = told(effective, KV_BLOCK_TOKENS).filter(|page| *page >= 1.0).unwrap_or(1.0);
    let (below, above) = ((tokens / page).floor() * page, (tokens / page).ceil() * page);
    if below == above {
        vec![Setting::Number(above)]
    } else {
        vec![Setting::Number(below), Setting::Number(above)]
    }
}

fn tokens_of_pages(asked: &Setting, _: &Requested, effective: &Effective) -> Vec<Setting> {
    let pages = as_number(asked).zip(told(effective, KV_BLOCK_TOKENS));
    pages.map(|(pages, size)| Setting::Number(pages * size)).into_iter().collect()
}

fn share_of_experts(asked: &Setting, _: &Requested, effective: &Effective) -> Vec<Setting> {
    let share = as_number(asked).zip(told(effective, MOE_EXPERTS));
    share.map(|(share, experts)| Setting::Number((share * experts).ceil())).into_iter().collect()
}

/// `auto` leaves it to the engine.
fn strategy(asked: &Setting, _: &Requested, _: &Effective) -> Vec<Setting> {
    if asked.to_string().trim() == "auto" { Vec::new() } else { vec![asked.clone()] }
}

/// What `/v1/stats` counts for a run: generated tokens. Its prompt tokens are not said to be without the cached ones;
/// its rates are means over the last seconds with all idling in them; its time to first token is a mean over the last
/// requests, whosever they were. None of these is a run's figure. The log tells the rates: see [`super::log_lines`].
fn counts(stats: &Value) -> EngineCounters {
    EngineCounters {
        output_tokens: stats["requests"]["completion_tokens_total"].as_u64().map(|tokens| tokens as f64),
        ..EngineCounters::default()
    }
}

fn describe(answers: &Answers, entry: &Value) -> Description {
    let (stats, cache) = (answers.json(STATS), answers.json(CACHE));
    let in_force = stats["model"]["ctx"].as_u64();
    let mut about = Description {
        context_limit_tokens: in_force.or_else(|| entry["max_model_len"].as_u64()),
        ..Description::of(ENGINE.name, words(&answers.json("/health")["version"]), entry)
    };
    let source = if in_force.is_some() { STATS } else { "/v1/models" };
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, source);

    let geometry = &cache["geometry"];
    // A size of 0 says that nothing is known, or that the model has no such pool.
    let of = |value: &Value| value.as_u64().filter(|n| *n > 0);
    let pool = |units: &Value, size: &Value| Some((of(units)?, of(size)?));
    let kv = pool(&geometry["num_pages"], &geometry["page_size"]).map(|pool| (pool, CACHE));
    let kv = kv.or_else(|| Some((pool(&stats["kv"]["total_pages"], &stats["kv"]["page_size"])?, STATS)));
    if let Some(((pages, size), source)) = kv {
        let tokens = pages.checked_mul(size);
        about.effective_number(KV_BLOCK_TOKENS, Some(size), source);
        about.effective_number(KV_CAPACITY_TOKENS, tokens, source);
        let bytes = tokens.zip(of(&geometry["unit_bytes"]["kv_per_token"]));
        about.effective_number(KV_CAPACITY_BYTES, bytes.and_then(|(n, each)| n.checked_mul(each)), CACHE);
    }
    about.effective_number(MOE_RESIDENT_EXPERTS, of(&geometry["moe_cache_size"]), CACHE);
    let experts = pool(&geometry["num_experts"], &geometry["num_moe_layers"]);
    about.effective_number(MOE_EXPERTS, experts.and_then(|(each, layers)| each.checked_mul(layers)), CACHE);
    about.warnings.push(
        "FreeToken tells the rates of a run in its log alone, so without the log there are client figures only; \
         start it with --enable-cache-report to have cached tokens counted in its answers"
            .to_owned(),
    );
    about
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stats() -> Value {
        json!({
            "instance_id": "5e9c", "model": { "id": "GLM-5.3-Flash", "ctx": 131_072, "attn": "mha", "moe": true },
            "uptime_s": 12, "kv": { "used_pages": 10, "total_pages": 65_536, "page_size": 1 }, "mamba": null,
            "swa": null, "vram_bytes": 30_000_000_000_u64, "throughput": { "decode_tps": 0.0, "prefill_tps": 0.0 },
            "requests": { "active": 0, "completed": 3, "p95_ms": 900, "ttft_mean_ms": 120,
                          "prompt_tokens_total": 300, "completion_tokens_total": 1_536 },
        })
    }

    #[test]
    fn pools_and_residency_are_read_from_the_route_that_knows_them_best() {
        let mut answers = Answers::default();
        answers.put(STATS, stats().to_string());
        answers.put("/health", json!({ "status": "ok", "version": "0.4.1" }).to_string());
        let entry = json!({ "id": "GLM-5.3-Flash", "owned_by": "FreeToken", "max_model_len": 202_752 });
        let value = |about: &Description, key: &str| {
            about.effective.get(key).map(|s| (s.value.clone(), s.source.clone()))
        };
        let number = |n: f64, source: &str| Some((Setting::Number(n), source.to_owned()));
        let about = describe(&answers, &entry);
        assert_eq!(value(&about, KV_CAPACITY_TOKENS), number(65_536.0, STATS));
        assert_eq!(
            value(&about, CONTEXT_LIMIT_TOKENS),
            number(131_072.0, STATS),
            "in force, not the model's own"
        );
        assert_eq!(about.system.version.as_deref(), Some("0.4.1"));
        let geometry = json!({
            "num_pages": 4_096, "page_size": 16, "moe_cache_size": 1_077, "num_experts": 256, "num_moe_layers": 40,
            "unit_bytes": { "kv_per_token": 1_000 },
        });
        answers.put(CACHE, json!({ "state": "serving", "geometry": geometry }).to_string());
        let about = describe(&answers, &entry);
        assert_eq!(value(&about, KV_CAPACITY_TOKENS), number(65_536.0, CACHE));
        assert_eq!(value(&about, KV_CAPACITY_BYTES), number(65_536_000.0, CACHE));
        assert_eq!(value(&about, MOE_RESIDENT_EXPERTS), number(1_077.0, CACHE));
        assert_eq!(value(&about, MOE_EXPERTS), number(10_240.0, CACHE));
    }

    #[test]
    fn no_mean_over_the_last_seconds_is_a_runs_rate() {
        let counted = counts(&stats());
        assert_eq!(counted.output_tokens, Some(1_536.0));
        assert_eq!((counted.prompt_tokens, counted.stated_decode_tok_s, counted.ttft_s), (None, None, None));
    }
}
