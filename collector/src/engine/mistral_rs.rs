//! mistral.rs's server. Written from its documentation and source (docs/HTTP.md, mistralrs-server-core), not run here.
//!
//! Its times stand in the `usage` of every answer; counters are in `/metrics` of later versions. It lists each model and
//! once more, under the name `default`, the one that is taken where none is named.

use dyno_shared::submission::EngineCounters;
use dyno_shared::units::Seconds;
use serde_json::Value;

use super::answers::{Answers, MODELS, Route};
use super::counters::Counting;
use super::{Description, Engine, Loaded, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::{Optional, ThinkingField};
use crate::prometheus::Samples;

/// Who owns its models, by its list.
const OWNER: &str = "local";
/// The model that is taken where none is named.
const UNNAMED: &str = "default";

pub(super) const ENGINE: Engine = Engine {
    name: "mistral.rs",
    ports: &[1234, 8080],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    // It has no seed and skips what it does not know in silence.
    optional: Optional {
        seed: false,
        ignore_eos: false,
        thinking_field: ThinkingField::EnableThinking,
        ..Optional::USUAL
    },
    probes: &["/health"],
    recognise: |answers| {
        let names_none = |entry: &Value| entry["id"] == UNNAMED && entry["owned_by"] == OWNER;
        let is_well = || answers.text("/health").is_some_and(|text| text.trim().trim_matches('"') == "OK");
        entries(answers).any(names_none) || (answers.owned_by(OWNER) && is_well())
    },
    loaded: Some(Loaded {
        route: MODELS,
        names: |answers| {
            let in_memory = |entry: &&Value| {
                entry["id"] != UNNAMED && (entry["status"].is_null() || entry["status"] == "loaded")
            };
            entries(answers).filter(in_memory).filter_map(|entry| words(&entry["id"])).collect()
        },
    }),
    routes: &[Route::get("/metrics")],
    describe,
    counting: Some(Counting::Prometheus { route: "/metrics", read: counts }),
    tokenize: None,
    flags: &[],
};

fn entries(answers: &Answers) -> impl Iterator<Item = &Value> {
    answers.models()["data"].as_array().into_iter().flatten()
}

fn describe(_: &Answers, listed: &Value) -> Description {
    Description {
        warnings: vec![
            "mistral.rs tells neither its version nor its quantisation nor its context: give them with --quantisation \
             and --context"
                .to_owned(),
        ],
        ..Description::of(ENGINE.name, None, listed)
    }
}

/// Its histograms time every request; its one count of tokens mixes prompts and answers, so it is none of ours.
fn counts(samples: &Samples) -> EngineCounters {
    let total = |name: &str| samples.sum(&format!("mistralrs_{name}"));
    let seconds = |name: &str| total(name).map(Seconds);
    EngineCounters {
        cached_tokens: total("prefix_cache_tokens_reused_total"),
        decode_s: seconds("inter_token_latency_seconds_sum"),
        decode_tokens: total("inter_token_latency_seconds_count"),
        ttft_s: seconds("time_to_first_token_seconds_sum"),
        ttft_requests: total("time_to_first_token_seconds_count"),
        queue_s: seconds("request_queue_duration_seconds_sum"),
        queue_requests: total("request_queue_duration_seconds_count"),
        draft_tokens: total("speculative_draft_tokens_proposed_total"),
        accepted_tokens: total("speculative_draft_tokens_accepted_total"),
        verify_steps: total("speculative_drafts_total"),
        ..EngineCounters::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::recognise;
    use super::*;
    use serde_json::json;

    fn answers(list: &Value, health: Option<&str>) -> Answers {
        let mut answers = Answers::default();
        answers.put(MODELS, list.to_string());
        if let Some(health) = health {
            answers.put("/health", health.to_owned());
        }
        answers
    }

    #[test]
    fn it_is_known_by_its_unnamed_model_and_older_ones_by_their_health() {
        let new = json!({ "object": "list", "data": [
            { "id": "default", "object": "model", "created": 1, "owned_by": "local" },
            { "id": "Qwen/Qwen3-4B", "object": "model", "created": 1, "owned_by": "local", "status": "loaded" },
            { "id": "google/gemma-3-4b-it", "object": "model", "created": 1, "owned_by": "local", "status": "unloaded" },
        ] });
        assert_eq!(recognise(&answers(&new, None)).name, "mistral.rs");
        assert_eq!((ENGINE.loaded.unwrap().names)(&answers(&new, None)), ["Qwen/Qwen3-4B"]);
        let old = json!({ "data": [{ "id": "mistralai/Mistral-7B-Instruct-v0.1", "owned_by": "local" }] });
        assert_eq!(recognise(&answers(&old, Some("OK"))).name, "mistral.rs");
        assert!(
            !(ENGINE.recognise)(&answers(&old, Some(r#"{"status":"ok"}"#))),
            "somebody else's local model"
        );
        assert!(!(ENGINE.recognise)(&answers(&json!({ "data": [] }), Some("OK"))));
    }

    #[test]
    fn its_counters_time_requests_and_count_drafts() {
        let text = "# TYPE mistralrs_time_to_first_token_seconds histogram\n\
            mistralrs_time_to_first_token_seconds_bucket{path=\"/v1/chat/completions\",le=\"0.1\"} 1\n\
            mistralrs_time_to_first_token_seconds_sum{path=\"/v1/chat/completions\"} 0.5\n\
            mistralrs_time_to_first_token_seconds_count{path=\"/v1/chat/completions\"} 2\n\
            mistralrs_inter_token_latency_seconds_sum{path=\"/v1/chat/completions\"} 4\n\
            mistralrs_inter_token_latency_seconds_count{path=\"/v1/chat/completions\"} 100\n\
            mistralrs_speculative_drafts_total 10\nmistralrs_speculative_draft_tokens_proposed_total 40\n\
            mistralrs_speculative_draft_tokens_accepted_total 25\n\
            mistralrs_prefix_cache_tokens_reused_total 64\nmistralrs_tokens_processed_total 999\n";
        let counts = counts(&Samples::parse(text));
        assert_eq!((counts.ttft_s, counts.ttft_requests), (Some(Seconds(0.5)), Some(2.0)));
        assert_eq!((counts.decode_s, counts.decode_tokens), (Some(Seconds(4.0)), Some(100.0)));
        assert_eq!(
            (counts.verify_steps, counts.draft_tokens, counts.accepted_tokens),
            (Some(10.0), Some(40.0), Some(25.0))
        );
        assert_eq!(
            (counts.cached_tokens, counts.prompt_tokens, counts.output_tokens),
            (Some(64.0), None, None)
        );
        assert_eq!(super::counts(&Samples::parse("other_total 1\n")), EngineCounters::default());
    }
}
