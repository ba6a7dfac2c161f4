//! Any server that speaks OpenAI's chat API.

use serde_json::{Value, json};

use super::answers::{Answers, Route};
use super::effective::CONTEXT_LIMIT_TOKENS;
use super::{Description, Engine, Tokenize, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;

/// Values of `owned_by` that say whose the model is and not what serves it.
const OWNERS: [&str; 6] = ["openai", "system", "library", "user", "organization_owner", "organization-owner"];

pub(super) const ENGINE: Engine = Engine {
    name: "openai-compatible",
    ports: &[8080, 8000],
    ready: "/v1/models",
    dialect: Dialect::OpenAiChat,
    optional: Optional::USUAL,
    probes: &[],
    recognise: |_| true,
    loaded: None,
    routes: &[Route::get("/version")],
    describe,
    counting: None,
    // As vLLM has it, and what was made after it.
    tokenize: Some(Tokenize {
        route: "/tokenize",
        body: |model, text| json!({ "model": model, "prompt": text }),
    }),
    flags: &[],
};

fn describe(answers: &Answers, entry: &Value) -> Description {
    let name = named_by_itself(entry).unwrap_or_else(|| ENGINE.name.to_owned());
    let mut about = Description {
        context_limit_tokens: entry["max_model_len"].as_u64().or_else(|| entry["context_length"].as_u64()),
        ..Description::of(&name, words(&answers.json("/version")["version"]), entry)
    };
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, "/v1/models");
    about
}

/// The engine's name where `owned_by` is one: vLLM, SGLang and others sign their models.
fn named_by_itself(entry: &Value) -> Option<String> {
    let owner = entry["owned_by"].as_str()?.trim();
    let is_name = (1..=32).contains(&owner.len())
        && owner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        && !OWNERS.contains(&owner);
    is_name.then(|| owner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_signs_its_models_is_called_by_its_name() {
        let name =
            |owner: &str| describe(&Answers::default(), &json!({ "id": "m", "owned_by": owner })).system.name;
        assert_eq!(name("vllm"), "vllm");
        assert_eq!(name("some-new.engine"), "some-new.engine");
        for owner in ["", "library", "<img src=x>", "a very long sentence about who owns the model"] {
            assert_eq!(name(owner), "openai-compatible", "{owner}");
        }
    }
}
