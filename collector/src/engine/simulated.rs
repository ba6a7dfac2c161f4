//! Dyno's own simulated engine: an instrument, never a result.

use dyno_shared::system::{Engine as SystemEngine, Model, Setting};
use serde_json::{Value, json};

use super::{Answers, Description, Engine, llama_cpp, number};
use crate::endpoint::openai_chat::Optional;

/// Settings of the truth that decide what a measurement must find.
const TELLING: [&str; 4] = ["prefill_tok_s", "decode_tok_s", "overhead_s", "jitter"];

pub(super) const ENGINE: Engine = Engine {
    name: "dyno-simulator",
    optional: Optional { cache_prompt: true, ..Optional::USUAL },
    recognise: |answers| speaks(&answers.models),
    describe,
    counters: |samples| llama_cpp::counts_under("dyno_sim", samples),
    tokenize: |_, text| json!({ "content": text }),
};

/// Whether a list of models is the simulated engine's.
pub(super) fn speaks(models: &Value) -> bool {
    models["simulated"] == true || llama_cpp::owned_by(models, ENGINE.name)
}

fn describe(answers: &Answers, entry: &Value) -> Description {
    let truth = &answers.truth["truth"];
    let mut about = Description {
        system: SystemEngine { name: ENGINE.name.to_owned(), simulated: true, ..SystemEngine::default() },
        model: Model { name: entry["id"].as_str().unwrap_or_default().to_owned(), ..Model::default() },
        context_limit_tokens: entry["max_model_len"].as_u64(),
        total_slots: truth["slots"].as_u64().and_then(|n| u32::try_from(n).ok()),
        warnings: vec![
            "this engine is simulated: its figures test the instrument and say nothing of any hardware"
                .to_owned(),
        ],
        ..Description::default()
    };
    if let Some(tokens) = about.context_limit_tokens {
        about.effective("context_limit_tokens", number(tokens), "/v1/models");
    }
    if let Some(slots) = about.total_slots {
        about.effective("max_running_requests", number(u64::from(slots)), "/v1/simulator/truth");
    }
    for key in TELLING {
        if let Some(value) = truth[key].as_f64() {
            about.effective(&format!("simulated_{key}"), Setting::Number(value), "/v1/simulator/truth");
        }
    }
    about
}
