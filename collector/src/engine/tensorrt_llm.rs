//! TensorRT-LLM's `trtllm-serve`.
//!
//! No accelerator was at hand, so the tests read small answers written after its documentation.

use dyno_shared::submission::EngineCounters;
use dyno_shared::system::Topology;
use serde_json::Value;

use super::answers::{Answers, Route};
use super::counters::{Counting, request_times};
use super::effective::{
    EXPERT_PARALLEL, Flag, KV_BLOCK_TOKENS, KV_CAPACITY_TOKENS, MAX_RUNNING_REQUESTS, Meaning,
    PIPELINE_PARALLEL, PREFILL_CHUNK_TOKENS, QUANTISATION, SPECULATIVE, TENSOR_PARALLEL,
};
use super::{Description, Engine, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;
use crate::prometheus::Samples;

/// Its Prometheus counters. `/metrics` holds statistics of iterations as JSON, which are gone once they were read: they
/// belong to whoever watches the server and are left alone.
const METRICS: &str = "/prometheus/metrics";

pub(super) const ENGINE: Engine = Engine {
    name: "TensorRT-LLM",
    ports: &[8000],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    optional: Optional::USUAL,
    probes: &[METRICS],
    recognise: |answers| {
        answers.owned_by("tensorrt_llm")
            || answers.text(METRICS).is_some_and(|text| text.contains("\ntrtllm_"))
    },
    loaded: None,
    routes: &[Route::get("/version"), Route::get(METRICS)],
    describe,
    counting: Some(Counting::Prometheus { route: METRICS, read: counts }),
    tokenize: None,
    flags: &[
        Flag { names: &["max-batch-size"], key: MAX_RUNNING_REQUESTS, means: Meaning::Same },
        Flag { names: &["max-num-tokens"], key: PREFILL_CHUNK_TOKENS, means: Meaning::Same },
        Flag { names: &["tp-size", "tensor-parallel-size"], key: TENSOR_PARALLEL, means: Meaning::Same },
        Flag { names: &["pp-size", "pipeline-parallel-size"], key: PIPELINE_PARALLEL, means: Meaning::Same },
        Flag { names: &["ep-size"], key: EXPERT_PARALLEL, means: Meaning::Same },
    ],
};

/// TensorRT-LLM's counters, which it has with `return_perf_metrics: true` in its configuration.
///
/// All are counted when a request ends. The time of decode begins with the first token, so one token of each request is
/// left out. Drafts are counted per position and not per step, so the verify steps are unknown.
fn counts(samples: &Samples) -> EngineCounters {
    let total = |name: &str| samples.counter(&format!("trtllm_{name}"));
    // The counter of cached tokens comes into being with the first of them.
    let prompt = total("prompt_tokens_total");
    let cached = prompt.map(|_| total("prompt_cached_tokens_total").unwrap_or(0.0));
    let output = total("generation_tokens_total");
    let ended = output.zip(total("request_success_total"));
    EngineCounters {
        prompt_tokens: prompt.zip(cached).map(|(all, cached)| all - cached).filter(|tokens| *tokens >= 0.0),
        cached_tokens: cached,
        output_tokens: output,
        decode_tokens: ended.map(|(tokens, requests)| tokens - requests).filter(|tokens| *tokens >= 0.0),
        draft_tokens: total("spec_decode_drafted_tokens_total"),
        accepted_tokens: total("spec_decode_accepted_tokens_total"),
        ..request_times(total)
    }
}

fn describe(answers: &Answers, entry: &Value) -> Description {
    let mut about = Description {
        context_limit_tokens: entry["max_model_len"].as_u64(),
        ..Description::of(ENGINE.name, words(&answers.json("/version")["version"]), entry)
    };
    match answers.text(METRICS) {
        Some(text) => configuration(&mut about, &Samples::parse(text)),
        None => about.warnings.push(
            "TensorRT-LLM has no /prometheus/metrics: start it with return_perf_metrics: true in the file of \
             --extra_llm_api_options to have its counters in the shard"
                .to_owned(),
        ),
    }
    about
}

fn configuration(about: &mut Description, samples: &Samples) {
    // A gauge is 0 until an iteration was counted.
    let gauge = |name: &str| samples.sum(&format!("trtllm_{name}")).and_then(whole);
    let running = gauge("max_batch_size_runtime").or_else(|| gauge("max_batch_size_static"));
    let running = running.or_else(|| gauge("max_num_active_requests"));
    about.total_slots = running.and_then(|n| u32::try_from(n).ok());
    about.effective_number(MAX_RUNNING_REQUESTS, about.total_slots.map(u64::from), METRICS);
    about.effective_number(PREFILL_CHUNK_TOKENS, gauge("max_num_tokens_runtime"), METRICS);
    let block = gauge("kv_cache_tokens_per_block");
    about.effective_number(KV_BLOCK_TOKENS, block, METRICS);
    let capacity =
        gauge("kv_cache_max_blocks").zip(block).and_then(|(blocks, size)| blocks.checked_mul(size));
    about.effective_number(KV_CAPACITY_TOKENS, capacity, METRICS);

    let stated = |info: &str, label: &str| {
        let value = samples.first(&format!("trtllm_{info}_config_info"))?.label(label)?;
        (!matches!(value, "" | "None" | "unknown")).then(|| value.to_owned())
    };
    let spread = |label: &str| stated("parallel", label).and_then(|n| n.parse::<u32>().ok());
    about.topology = Topology {
        tensor_parallel: spread("tp_size"),
        pipeline_parallel: spread("pp_size"),
        expert_parallel: spread("ep_size"),
        nodes: None,
    };
    for (key, label) in
        [(TENSOR_PARALLEL, "tp_size"), (PIPELINE_PARALLEL, "pp_size"), (EXPERT_PARALLEL, "ep_size")]
    {
        about.effective_number(key, spread(label).map(u64::from), METRICS);
    }
    about.model.quantisation = stated("model", "quantization");
    about.effective_words(QUANTISATION, stated("model", "quantization"), METRICS);
    about.effective_words(SPECULATIVE, stated("speculative", "method"), METRICS);
}

fn whole(value: f64) -> Option<u64> {
    (value >= 1.0 && value < 2f64.powi(53)).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use dyno_shared::system::Setting;
    use serde_json::json;

    use super::*;
    use dyno_shared::units::Seconds;

    const EXPOSITION: &str = r#"# TYPE trtllm_request_success_total counter
trtllm_request_success_total{model_name="m",engine_type="trtllm",finished_reason="stop"} 3
trtllm_request_success_total{model_name="m",engine_type="trtllm",finished_reason="length"} 5
trtllm_prompt_tokens_total{model_name="m"} 8000
trtllm_prompt_cached_tokens_total{model_name="m"} 1000
trtllm_generation_tokens_total{model_name="m"} 808
trtllm_request_prefill_time_seconds_sum{model_name="m"} 3.5
trtllm_request_decode_time_seconds_sum{model_name="m"} 8
trtllm_time_to_first_token_seconds_sum{model_name="m"} 4
trtllm_time_to_first_token_seconds_count{model_name="m"} 8
trtllm_spec_decode_drafted_tokens_total{model_name="m",token_position="0"} 400
trtllm_spec_decode_drafted_tokens_total{model_name="m",token_position="1"} 300
trtllm_max_batch_size_runtime{model_name="m"} 32
trtllm_max_num_tokens_runtime{model_name="m"} 8192
trtllm_kv_cache_max_blocks{model_name="m"} 5358
trtllm_kv_cache_tokens_per_block{model_name="m"} 32
trtllm_parallel_config_info{model_name="m",tp_size="2",pp_size="1"} 1
trtllm_model_config_info{model_name="m",quantization="NVFP4"} 1
"#;

    #[test]
    fn counters_and_configuration_are_read_from_the_exposition() {
        let counted = counts(&Samples::parse(EXPOSITION));
        assert_eq!((counted.prompt_tokens, counted.cached_tokens), (Some(7_000.0), Some(1_000.0)));
        assert_eq!((counted.decode_tokens, counted.decode_s), (Some(800.0), Some(Seconds(8.0))));
        assert_eq!((counted.draft_tokens, counted.verify_steps), (Some(700.0), None));
        let mut answers = Answers::default();
        answers.put(METRICS, EXPOSITION.to_owned());
        answers.put("/version", json!({ "version": "1.2.1" }).to_string());
        let about = describe(&answers, &json!({ "id": "m", "owned_by": "tensorrt_llm" }));
        assert_eq!(about.effective[KV_CAPACITY_TOKENS].value, Setting::Number(171_456.0));
        assert_eq!((about.total_slots, about.topology.tensor_parallel), (Some(32), Some(2)));
        assert_eq!(about.model.quantisation.as_deref(), Some("NVFP4"));
        assert!(!about.effective.contains_key(SPECULATIVE), "nobody said");
    }
}
