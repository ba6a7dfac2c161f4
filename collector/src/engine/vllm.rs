//! vLLM's `vllm serve`.
//!
//! Tested on what vLLM 0.32.0 answered on a CPU when it was recorded.

use dyno_shared::submission::EngineCounters;
use dyno_shared::system::Setting;
use serde_json::{Value, json};

use super::answers::{Answers, Route};
use super::counters::{Counting, request_times};
use super::effective::{
    CONTEXT_LIMIT_TOKENS, Effective, Flag, GPU_MEMORY_SHARE, KV_BLOCK_TOKENS, KV_CAPACITY_BYTES,
    KV_CAPACITY_TOKENS, KV_DTYPE, Meaning, PREFIX_CACHE, Requested, SPECULATIVE, as_number, told,
};
use super::{Description, Engine, Tokenize, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;
use crate::prometheus::{Sample, Samples};

pub(super) const ENGINE: Engine = Engine {
    name: "vLLM",
    ports: &[8000],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    optional: Optional::USUAL,
    // A proxy that hides who owns the model still passes the counters on.
    probes: &["/metrics"],
    recognise: |answers| {
        answers.owned_by("vllm") || answers.text("/metrics").is_some_and(|text| text.contains("\nvllm:"))
    },
    loaded: None,
    routes: &[Route::get("/version"), Route::get("/metrics")],
    describe,
    counting: Some(Counting::Prometheus { route: "/metrics", read: counts }),
    tokenize: Some(Tokenize {
        route: "/tokenize",
        // A text in the middle of a prompt has no special tokens.
        body: |model, text| json!({ "model": model, "prompt": text, "add_special_tokens": false }),
    }),
    flags: &[
        Flag { names: &["max-model-len"], key: CONTEXT_LIMIT_TOKENS, means: Meaning::OneOf(tokens) },
        Flag { names: &["enable-prefix-caching"], key: PREFIX_CACHE, means: Meaning::On },
        Flag { names: &["no-enable-prefix-caching"], key: PREFIX_CACHE, means: Meaning::Off },
        Flag { names: &["gpu-memory-utilization"], key: GPU_MEMORY_SHARE, means: Meaning::Same },
        Flag { names: &["block-size"], key: KV_BLOCK_TOKENS, means: Meaning::Same },
        Flag { names: &["kv-cache-dtype"], key: KV_DTYPE, means: Meaning::Same },
        Flag { names: &["num-gpu-blocks-override"], key: KV_CAPACITY_TOKENS, means: Meaning::OneOf(blocks) },
        Flag { names: &["speculative-config", "sc"], key: SPECULATIVE, means: Meaning::On },
    ],
};

/// `8k` is 8,000 and `8K` 8,192; −1 and `auto` take what fits.
fn tokens(asked: &Setting, _: &Requested, _: &Effective) -> Vec<Setting> {
    let written = asked.to_string();
    let factor = match written.trim().chars().last() {
        Some('k') => 1e3,
        Some('K') => 1024.0,
        Some('m') => 1e6,
        Some('M') => 1024.0 * 1024.0,
        _ => 1.0,
    };
    let number = written.trim().trim_end_matches(['k', 'K', 'm', 'M']).parse::<f64>();
    number.ok().filter(|n| *n > 0.0).map(|n| Setting::Number(n * factor)).into_iter().collect()
}

fn blocks(asked: &Setting, _: &Requested, effective: &Effective) -> Vec<Setting> {
    let sized = as_number(asked).zip(told(effective, KV_BLOCK_TOKENS));
    sized.map(|(blocks, tokens)| Setting::Number(blocks * tokens)).into_iter().collect()
}

/// vLLM's counters.
///
/// Prompt and decode are counted when a request ends, so each time has the tokens that belong to it: the prompt tokens
/// that were computed, and for decode all tokens but the first, with which the time of decode begins. The time of the
/// prompt runs from the first scheduling to the first token.
fn counts(samples: &Samples) -> EngineCounters {
    let total = |name: &str| samples.counter(&format!("vllm:{name}"));
    let cached = total("prompt_tokens_cached_total").or_else(|| total("prefix_cache_hits_total"));
    let computed = total("request_prefill_kv_computed_tokens_sum")
        .or_else(|| Some(total("prompt_tokens_total")? - cached?))
        .filter(|tokens| *tokens >= 0.0);
    let ended = total("request_generation_tokens_sum").zip(total("request_generation_tokens_count"));
    EngineCounters {
        prompt_tokens: computed,
        cached_tokens: cached,
        output_tokens: total("generation_tokens_total"),
        decode_tokens: ended.map(|(tokens, requests)| tokens - requests).filter(|tokens| *tokens >= 0.0),
        draft_tokens: total("spec_decode_num_draft_tokens_total"),
        accepted_tokens: total("spec_decode_num_accepted_tokens_total"),
        verify_steps: total("spec_decode_num_drafts_total"),
        ..request_times(total)
    }
}

fn describe(answers: &Answers, entry: &Value) -> Description {
    let mut about = Description {
        context_limit_tokens: entry["max_model_len"].as_u64(),
        ..Description::of(ENGINE.name, words(&answers.json("/version")["version"]), entry)
    };
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, "/v1/models");
    let Some(text) = answers.text("/metrics") else {
        about.warnings.push("vLLM has no /metrics, so its counters will not be in the shard".to_owned());
        return about;
    };
    let samples = Samples::parse(text);
    if let Some(cache) = samples.first("vllm:cache_config_info") {
        cache_config(&mut about, cache);
    }
    // The counters of speculation are there exactly where there is speculation.
    if samples.first("vllm:generation_tokens_total").is_some() {
        let speculates = samples.first("vllm:spec_decode_num_drafts_total").is_some();
        about.effective(SPECULATIVE, Setting::Flag(speculates), "/metrics");
    } else {
        about.warnings.push(
            "vLLM's /metrics holds no counters: start it without --disable-log-stats to have them in the shard"
                .to_owned(),
        );
    }
    about
}

/// The labels of a gauge tell the configuration of the cache.
fn cache_config(about: &mut Description, cache: &Sample) {
    const SOURCE: &str = "/metrics (cache_config_info)";
    let stated = |label: &str| cache.label(label).filter(|value| !matches!(*value, "" | "None"));
    let whole = |label: &str| stated(label).and_then(|value| value.parse::<u64>().ok());
    let block = whole("block_size");
    let by_blocks = whole("num_gpu_blocks").zip(block).and_then(|(blocks, size)| blocks.checked_mul(size));
    about.effective_number(KV_BLOCK_TOKENS, block, SOURCE);
    about.effective_number(KV_CAPACITY_TOKENS, whole("kv_cache_size_tokens").or(by_blocks), SOURCE);
    about.effective_number(KV_CAPACITY_BYTES, whole("kv_cache_memory_bytes"), SOURCE);
    about.effective_words(KV_DTYPE, stated("cache_dtype").map(ToOwned::to_owned), SOURCE);
    if let Some(on) = stated("enable_prefix_caching") {
        about.effective(PREFIX_CACHE, Setting::Flag(on == "True"), SOURCE);
    }
    if let Some(share) = stated("gpu_memory_utilization").and_then(|share| share.parse().ok()) {
        about.effective(GPU_MEMORY_SHARE, Setting::Number(share), SOURCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_is_blocks_times_their_size_where_no_tokens_are_stated() {
        let mut answers = Answers::default();
        let labels = r#"block_size="16",num_gpu_blocks="1000",enable_prefix_caching="False""#;
        answers.put("/metrics", format!("vllm:cache_config_info{{{labels}}} 1\n"));
        let about = describe(&answers, &json!({ "id": "m" }));
        assert_eq!(about.effective[KV_CAPACITY_TOKENS].value, Setting::Number(16_000.0));
        assert_eq!(about.effective[PREFIX_CACHE].value, Setting::Flag(false));
        assert!(!about.effective.contains_key(SPECULATIVE), "nothing was counted, so nothing is known");
    }

    #[test]
    fn lengths_are_read_as_vllm_reads_them() {
        let read = |asked: Setting| tokens(&asked, &Requested::new(), &Effective::new());
        assert_eq!(read(Setting::Text("8k".into())), [Setting::Number(8_000.0)]);
        assert_eq!(read(Setting::Text("8K".into())), [Setting::Number(8_192.0)]);
        assert_eq!(read(Setting::Number(2_048.0)), [Setting::Number(2_048.0)]);
        assert_eq!(read(Setting::Text("auto".into())), []);
        assert_eq!(read(Setting::Number(-1.0)), []);
    }
}
