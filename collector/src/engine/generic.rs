//! Any server that speaks OpenAI's chat API.

use dyno_shared::system::{Engine as SystemEngine, Model};
use serde_json::{Value, json};

use super::{Answers, Description, Engine, number, published_name};
use crate::endpoint::openai_chat::Optional;

/// Values of `owned_by` that say whose the model is and not what serves it.
const OWNERS: [&str; 6] = ["openai", "system", "library", "user", "organization_owner", "organization-owner"];

pub(super) const ENGINE: Engine = Engine {
    name: "openai-compatible",
    optional: Optional::USUAL,
    recognise: |_| true,
    describe,
    counters: |_| None,
    tokenize: |model, text| json!({ "model": model, "prompt": text }),
};

fn describe(answers: &Answers, entry: &Value) -> Description {
    let text =
        |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let id = entry["id"].as_str().unwrap_or_default();
    let mut about = Description {
        system: SystemEngine {
            name: named_by_itself(entry).unwrap_or_else(|| ENGINE.name.to_owned()),
            version: text(&answers.version["version"]),
            commit: None,
            simulated: false,
        },
        model: Model { name: published_name(id).to_owned(), ..Model::default() },
        context_limit_tokens: entry["max_model_len"].as_u64().or_else(|| entry["context_length"].as_u64()),
        ..Description::default()
    };
    if let Some(tokens) = about.context_limit_tokens {
        about.effective("context_limit_tokens", number(tokens), "/v1/models");
    }
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
