//! Dyno's own simulated engine: an instrument, never a result.

use dyno_shared::system::{Engine as SystemEngine, Model, Setting};
use serde_json::{Value, json};

use super::answers::{Answers, Route};
use super::counters::Counting;
use super::effective::{CONTEXT_LIMIT_TOKENS, Flag, MAX_RUNNING_REQUESTS, Meaning};
use super::{Description, Engine, Tokenize, llama_cpp, small};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;

/// Where it tells what it was made to do.
const TRUTH: &str = "/v1/simulator/truth";

/// Settings of the truth that decide what a measurement must find.
const TELLING: [&str; 4] = ["prefill_tok_s", "decode_tok_s", "overhead_s", "jitter"];

pub(super) const ENGINE: Engine = Engine {
    name: "dyno-simulator",
    // It is named on the command line: an instrument is not found by chance.
    ports: &[],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    optional: Optional { cache_prompt: true, ..Optional::USUAL },
    probes: &[],
    recognise: |answers| answers.models()["simulated"] == true || answers.owned_by(ENGINE.name),
    loaded: None,
    routes: &[Route::get(TRUTH), Route::get("/metrics")],
    describe,
    counting: Some(Counting::Prometheus {
        route: "/metrics",
        read: |samples| llama_cpp::counts_under("dyno_sim", samples),
    }),
    tokenize: Some(Tokenize { route: "/tokenize", body: |_, text| json!({ "content": text }) }),
    flags: &[
        Flag { names: &["slots"], key: MAX_RUNNING_REQUESTS, means: Meaning::Same },
        Flag { names: &["context-tokens"], key: CONTEXT_LIMIT_TOKENS, means: Meaning::Same },
        Flag { names: &["prefill-tok-s"], key: "simulated_prefill_tok_s", means: Meaning::Same },
        Flag { names: &["decode-tok-s"], key: "simulated_decode_tok_s", means: Meaning::Same },
        Flag { names: &["overhead-s"], key: "simulated_overhead_s", means: Meaning::Same },
        Flag { names: &["jitter"], key: "simulated_jitter", means: Meaning::Same },
    ],
};

fn describe(answers: &Answers, entry: &Value) -> Description {
    let truth = &answers.json(TRUTH)["truth"];
    let mut about = Description {
        system: SystemEngine { name: ENGINE.name.to_owned(), simulated: true, ..SystemEngine::default() },
        model: Model { name: entry["id"].as_str().unwrap_or_default().to_owned(), ..Model::default() },
        context_limit_tokens: entry["max_model_len"].as_u64(),
        total_slots: small(&truth["slots"]),
        warnings: vec![
            "this engine is simulated: its figures test the instrument and say nothing of any hardware"
                .to_owned(),
        ],
        ..Description::default()
    };
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, "/v1/models");
    about.effective_number(MAX_RUNNING_REQUESTS, about.total_slots.map(u64::from), TRUTH);
    for key in TELLING {
        if let Some(value) = truth[key].as_f64() {
            about.effective(&format!("simulated_{key}"), Setting::Number(value), TRUTH);
        }
    }
    about
}
