//! SGLang's `sglang.launch_server`.
//!
//! No accelerator was at hand, so the tests read small answers written after its documentation: the production metrics,
//! the server's information about itself and its list of models.

use dyno_shared::submission::EngineCounters;
use dyno_shared::system::{Setting, Topology};
use dyno_shared::units::Seconds;
use serde_json::{Value, json};

use super::answers::{Answers, Route};
use super::counters::Counting;
use super::effective::{
    ATTENTION_BACKEND, CONTEXT_LIMIT_TOKENS, DATA_PARALLEL, EXPERT_PARALLEL, Effective, Flag,
    GPU_MEMORY_SHARE, KV_BLOCK_TOKENS, KV_CAPACITY_TOKENS, KV_DTYPE, MAX_RUNNING_REQUESTS, MOE_BACKEND,
    Meaning, PIPELINE_PARALLEL, PREFILL_CHUNK_TOKENS, PREFIX_CACHE, QUANTISATION, Requested, SPECULATIVE,
    SPECULATIVE_DRAFT_TOKENS, TENSOR_PARALLEL,
};
use super::{Description, Engine, Tokenize, small, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;
use crate::prometheus::Samples;

/// Where the server tells how it runs: the new name of the route, and the old one.
const INFO: [&str; 2] = ["/server_info", "/get_server_info"];

pub(super) const ENGINE: Engine = Engine {
    name: "SGLang",
    ports: &[30_000],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    optional: Optional::USUAL,
    probes: &[INFO[1]],
    recognise: |answers| {
        answers.owned_by("sglang") || answers.json(INFO[1])["disable_radix_cache"].is_boolean()
    },
    loaded: None,
    routes: &[Route::get(INFO[0]), Route::get(INFO[1]), Route::get("/metrics")],
    describe,
    counting: Some(Counting::Prometheus { route: "/metrics", read: counts }),
    tokenize: Some(Tokenize {
        route: "/tokenize",
        // A text in the middle of a prompt has no special tokens.
        body: |model, text| json!({ "model": model, "prompt": text, "add_special_tokens": false }),
    }),
    flags: &[
        Flag { names: &["context-length"], key: CONTEXT_LIMIT_TOKENS, means: Meaning::Same },
        Flag { names: &["max-running-requests"], key: MAX_RUNNING_REQUESTS, means: Meaning::Same },
        Flag { names: &["max-total-tokens"], key: KV_CAPACITY_TOKENS, means: Meaning::Same },
        Flag { names: &["mem-fraction-static"], key: GPU_MEMORY_SHARE, means: Meaning::Same },
        Flag { names: &["page-size"], key: KV_BLOCK_TOKENS, means: Meaning::Same },
        Flag { names: &["chunked-prefill-size"], key: PREFILL_CHUNK_TOKENS, means: Meaning::Same },
        Flag { names: &["kv-cache-dtype"], key: KV_DTYPE, means: Meaning::Same },
        Flag { names: &["disable-radix-cache"], key: PREFIX_CACHE, means: Meaning::Off },
        Flag { names: &["attention-backend"], key: ATTENTION_BACKEND, means: Meaning::Same },
        Flag { names: &["moe-runner-backend"], key: MOE_BACKEND, means: Meaning::Same },
        Flag { names: &["quantization"], key: QUANTISATION, means: Meaning::Same },
        Flag {
            names: &["speculative-algorithm", "speculative-algo"],
            key: SPECULATIVE,
            means: Meaning::OneOf(algorithm),
        },
        Flag {
            names: &["speculative-num-draft-tokens"],
            key: SPECULATIVE_DRAFT_TOKENS,
            means: Meaning::Same,
        },
        Flag {
            names: &["tp-size", "tp", "tensor-parallel-size"],
            key: TENSOR_PARALLEL,
            means: Meaning::Same,
        },
        Flag {
            names: &["pp-size", "pp", "pipeline-parallel-size"],
            key: PIPELINE_PARALLEL,
            means: Meaning::Same,
        },
        Flag {
            names: &["ep-size", "ep", "expert-parallel-size"],
            key: EXPERT_PARALLEL,
            means: Meaning::Same,
        },
        Flag { names: &["dp-size", "dp", "data-parallel-size"], key: DATA_PARALLEL, means: Meaning::Same },
    ],
};

/// NEXTN is run as EAGLE.
fn algorithm(asked: &Setting, _: &Requested, _: &Effective) -> Vec<Setting> {
    let is_alias = matches!(asked, Setting::Text(name) if name.eq_ignore_ascii_case("NEXTN"));
    let alias = is_alias.then(|| Setting::Text("EAGLE".to_owned()));
    [asked.clone()].into_iter().chain(alias).collect()
}

/// SGLang's counters, which it has with `--enable-metrics`.
///
/// The latencies between tokens are counted per token and begin at the first one, so they are the time of decode and the
/// tokens that belong to it. Accepted drafts are told only as gauges of the last moments, so they are unknown here.
fn counts(samples: &Samples) -> EngineCounters {
    let total = |name: &str| samples.counter(&format!("sglang:{name}"));
    let cached = total("cached_tokens_total");
    let computed = total("prompt_tokens_total").zip(cached).map(|(all, cached)| all - cached);
    // Every rank of tensor parallelism may report the same prefill.
    let prefill_s = samples.sum_where("sglang:per_stage_req_latency_seconds_sum", |sample| {
        sample.label("stage") == Some("prefill_forward")
            && matches!(sample.label("tp_rank"), None | Some("0"))
    });
    // The older name came before the newer one and counts the same.
    let decode = |end: &str| {
        total(&format!("inter_token_latency_seconds_{end}"))
            .or_else(|| total(&format!("time_per_output_token_seconds_{end}")))
    };
    EngineCounters {
        prompt_tokens: computed.filter(|tokens| *tokens >= 0.0),
        cached_tokens: cached,
        prompt_s: prefill_s.filter(|seconds| *seconds >= 0.0).map(Seconds),
        output_tokens: total("generation_tokens_total"),
        decode_s: decode("sum").map(Seconds),
        decode_tokens: decode("count"),
        ttft_s: total("time_to_first_token_seconds_sum").map(Seconds),
        ttft_requests: total("time_to_first_token_seconds_count"),
        queue_s: total("queue_time_seconds_sum").map(Seconds),
        queue_requests: total("queue_time_seconds_count"),
        verify_steps: total("spec_verify_calls_total"),
        ..EngineCounters::default()
    }
}

fn describe(answers: &Answers, entry: &Value) -> Description {
    let source = INFO.into_iter().find(|route| answers.json(route).is_object()).unwrap_or(INFO[0]);
    let info = answers.json(source);
    let listed = entry["max_model_len"].as_u64();
    let mut about = Description {
        context_limit_tokens: listed.or_else(|| info["context_length"].as_u64()),
        topology: Topology {
            tensor_parallel: small(&info["tp_size"]),
            pipeline_parallel: small(&info["pp_size"]),
            expert_parallel: small(&info["ep_size"]),
            nodes: small(&info["nnodes"]),
        },
        ..Description::of(ENGINE.name, words(&info["version"]), entry)
    };
    about.model.quantisation = words(&info["quantization"]);
    about.model.revision = words(&info["revision"]);
    let context_source = if listed.is_some() { "/v1/models" } else { source };
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, context_source);
    capacity(&mut about, info, source);
    backends(&mut about, info, source);
    if answers.text("/metrics").is_none() {
        about.warnings.push(
            "SGLang has no /metrics: start it with --enable-metrics to have its counters in the shard"
                .to_owned(),
        );
    }
    about
}

fn capacity(about: &mut Description, info: &Value, source: &str) {
    // One state for each copy of the model under data parallelism.
    let states = || info["internal_states"].as_array().into_iter().flatten();
    let in_effect = states().map(|state| state["effective_max_running_requests_per_dp"].as_u64());
    let in_effect = in_effect.reduce(|sum, more| sum?.checked_add(more?)).flatten();
    let running = in_effect.or_else(|| info["max_running_requests"].as_u64());
    about.total_slots = running.and_then(|n| u32::try_from(n).ok());
    about.effective_number(MAX_RUNNING_REQUESTS, about.total_slots.map(u64::from), source);
    let capacity = info["max_total_num_tokens"]
        .as_u64()
        .or_else(|| states().next()?["memory_usage"]["token_capacity"].as_u64());
    about.effective_number(KV_CAPACITY_TOKENS, capacity, source);
    about.effective_number(KV_BLOCK_TOKENS, info["page_size"].as_u64(), source);
    about.effective_number(PREFILL_CHUNK_TOKENS, info["chunked_prefill_size"].as_u64(), source);
    if let Some(share) = info["mem_fraction_static"].as_f64() {
        about.effective(GPU_MEMORY_SHARE, Setting::Number(share), source);
    }
    if let Some(disabled) = info["disable_radix_cache"].as_bool() {
        about.effective(PREFIX_CACHE, Setting::Flag(!disabled), source);
    }
}

fn backends(about: &mut Description, info: &Value, source: &str) {
    if info.get("speculative_algorithm").is_some_and(Value::is_null) {
        about.effective(SPECULATIVE, Setting::Flag(false), source);
    }
    for (key, field) in [
        (KV_DTYPE, "kv_cache_dtype"),
        (ATTENTION_BACKEND, "attention_backend"),
        (MOE_BACKEND, "moe_runner_backend"),
        (QUANTISATION, "quantization"),
        (SPECULATIVE, "speculative_algorithm"),
    ] {
        about.effective_words(key, words(&info[field]), source);
    }
    for (key, field) in [
        (SPECULATIVE_DRAFT_TOKENS, "speculative_num_draft_tokens"),
        (TENSOR_PARALLEL, "tp_size"),
        (PIPELINE_PARALLEL, "pp_size"),
        (EXPERT_PARALLEL, "ep_size"),
        (DATA_PARALLEL, "dp_size"),
    ] {
        about.effective_number(key, info[field].as_u64(), source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPOSITION: &str = r#"# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{is_streaming="true",model_name="m"} 4000
sglang:prompt_tokens_total{is_streaming="false",model_name="m"} 100
sglang:cached_tokens_total{cache_source="device",model_name="m"} 1000
sglang:cached_tokens_total{cache_source="host",model_name="m"} 50
sglang:generation_tokens_total{model_name="m"} 560
sglang:spec_verify_calls_total{model_name="m"} 200
sglang:spec_accept_length{model_name="m"} 2.7
sglang:inter_token_latency_seconds_sum{model_name="m"} 5.5
sglang:inter_token_latency_seconds_count{model_name="m"} 550
sglang:per_stage_req_latency_seconds_sum{stage="prefill_forward",tp_rank="0"} 2
sglang:per_stage_req_latency_seconds_sum{stage="prefill_forward",tp_rank="1"} 2
sglang:per_stage_req_latency_seconds_sum{stage="request_process",tp_rank="0"} 9
sglang:time_to_first_token_seconds_sum{model_name="m"} 0.9
sglang:time_to_first_token_seconds_count{model_name="m"} 3
sglang:queue_time_seconds_sum{model_name="m"} 0.03
sglang:queue_time_seconds_count{model_name="m"} 3
"#;

    #[test]
    fn counters_are_without_the_cached_tokens_and_each_prefill_is_counted_once() {
        let counted = counts(&Samples::parse(EXPOSITION));
        assert_eq!((counted.prompt_tokens, counted.cached_tokens), (Some(3_050.0), Some(1_050.0)));
        assert_eq!((counted.prompt_s, counted.decode_s), (Some(Seconds(2.0)), Some(Seconds(5.5))));
        assert_eq!((counted.decode_tokens, counted.output_tokens), (Some(550.0), Some(560.0)));
        assert_eq!((counted.ttft_s, counted.queue_requests), (Some(Seconds(0.9)), Some(3.0)));
        assert_eq!(
            (counted.verify_steps, counted.accepted_tokens),
            (Some(200.0), None),
            "only a gauge tells"
        );
    }

    #[test]
    fn the_configuration_is_what_runs_and_not_what_was_asked_for() {
        let mut answers = Answers::default();
        let info = json!({
            "model_path": "/srv/models/m", "version": "0.5.9", "context_length": null, "quantization": "fp8",
            "max_running_requests": 999, "max_total_num_tokens": 326_223, "page_size": 1, "tp_size": 16,
            "ep_size": 1, "nnodes": 2, "mem_fraction_static": 0.8, "disable_radix_cache": false,
            "attention_backend": "fa3", "moe_runner_backend": "auto", "speculative_algorithm": null,
            "internal_states": [
                { "effective_max_running_requests_per_dp": 48 },
                { "effective_max_running_requests_per_dp": 48 },
            ],
        });
        answers.put("/get_server_info", info.to_string());
        let about = describe(&answers, &json!({ "id": "/srv/models/m", "max_model_len": 163_840 }));
        let value = |key: &str| about.effective.get(key).map(|sourced| sourced.value.clone());
        assert_eq!(about.model.name, "m");
        assert_eq!((about.total_slots, about.context_limit_tokens), (Some(96), Some(163_840)));
        assert_eq!(value(KV_CAPACITY_TOKENS), Some(Setting::Number(326_223.0)));
        assert_eq!(value(PREFIX_CACHE), Some(Setting::Flag(true)));
        assert_eq!(value(SPECULATIVE), Some(Setting::Flag(false)));
        assert_eq!(value(ATTENTION_BACKEND), Some(Setting::Text("fa3".into())));
        assert_eq!(about.effective[KV_CAPACITY_TOKENS].source, "/get_server_info");
        assert_eq!((about.topology.tensor_parallel, about.topology.nodes), (Some(16), Some(2)));
        assert!(about.warnings.iter().any(|warning| warning.contains("--enable-metrics")));
    }
}
