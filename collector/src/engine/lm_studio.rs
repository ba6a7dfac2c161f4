//! LM Studio. Written from its documentation (REST API v0, OpenAI compatibility), not run here.
//!
//! It lists every model that it has on disk and loads one at the first request for it. Its OpenAI route tells token
//! counts and no times, and skips fields that it does not know.

use serde_json::Value;

use super::answers::{Answers, Route};
use super::effective::CONTEXT_LIMIT_TOKENS;
use super::{Description, Engine, Loaded, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;

const MODELS: &str = "/api/v0/models";

pub(super) const ENGINE: Engine = Engine {
    name: "LM Studio",
    ports: &[1234],
    ready: "/v1/models",
    dialect: Dialect::OpenAiChat,
    optional: Optional { ignore_eos: false, thinking_switch: false, ..Optional::USUAL },
    probes: &[MODELS],
    recognise: |answers| entries(answers).any(|entry| entry["compatibility_type"].is_string()),
    loaded: Some(Loaded {
        route: MODELS,
        names: |answers| {
            let chats = |entry: &&Value| entry["type"] != "embeddings" && is_loaded(entry);
            entries(answers).filter(chats).filter_map(|entry| words(&entry["id"])).collect()
        },
    }),
    routes: &[Route::get(MODELS)],
    describe,
    counting: None,
    tokenize: None,
    flags: &[],
};

fn entries(answers: &Answers) -> impl Iterator<Item = &Value> {
    answers.json(MODELS)["data"].as_array().into_iter().flatten()
}

fn is_loaded(entry: &Value) -> bool {
    entry["state"] == "loaded"
}

fn describe(answers: &Answers, listed: &Value) -> Description {
    let id = listed["id"].as_str().unwrap_or_default();
    let entry = entries(answers).find(|entry| entry["id"] == id).unwrap_or(&Value::Null);
    let mut about = Description {
        // What a model could have is not what it runs with.
        context_limit_tokens: entry["loaded_context_length"].as_u64().filter(|_| is_loaded(entry)),
        warnings: vec![
            "LM Studio does not tell its version, so the shard has none, and through its OpenAI route thinking cannot \
             be turned off: a model that thinks will think"
                .to_owned(),
        ],
        ..Description::of(ENGINE.name, None, listed)
    };
    about.model.quantisation = words(&entry["quantization"]);
    about.model.format = words(&entry["compatibility_type"]).map(|format| format.to_uppercase());
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, MODELS);
    let most = entry["max_context_length"].as_u64();
    if let (Some(tokens), Some(most)) = (about.context_limit_tokens, most)
        && tokens < most
    {
        about.warnings.push(format!(
            "LM Studio loaded this model with a context of {tokens} of its {most} tokens: longer cases are left out; \
             load it with more (`lms load --context-length`) to measure them"
        ));
    }
    about
}

#[cfg(test)]
mod tests {
    use super::super::answers::recognise;
    use super::*;
    use serde_json::json;

    /// Answers as the documentation writes them, one model loaded.
    fn documented() -> Answers {
        let mut answers = Answers::default();
        let model = |id: &str, kind: &str, format: &str, quantisation: &str, state: &str, most: u64| {
            json!({ "id": id, "object": "model", "type": kind, "publisher": "lmstudio-community", "arch": "llama",
                    "compatibility_type": format, "quantization": quantisation, "state": state,
                    "max_context_length": most })
        };
        let mut loaded = model("meta-llama-3.1-8b-instruct", "llm", "gguf", "Q4_K_M", "loaded", 131_072);
        loaded["loaded_context_length"] = json!(4_096);
        let list = json!({ "object": "list", "data": [
            model("qwen2-vl-7b-instruct", "vlm", "mlx", "4bit", "not-loaded", 32_768),
            loaded,
            model("text-embedding-nomic-embed-text-v1.5", "embeddings", "gguf", "Q4_0", "loaded", 2_048),
        ] });
        answers.put(MODELS, list.to_string());
        answers
    }

    #[test]
    fn a_loaded_model_tells_its_context_and_another_only_its_format() {
        let answers = documented();
        assert_eq!(recognise(&answers).name, "LM Studio");
        let about = describe(&answers, &json!({ "id": "meta-llama-3.1-8b-instruct" }));
        assert_eq!(
            (about.model.quantisation.as_deref(), about.model.format.as_deref(), about.context_limit_tokens),
            (Some("Q4_K_M"), Some("GGUF"), Some(4_096))
        );
        assert!(about.warnings.iter().any(|w| w.contains("4096 of its 131072")), "{:?}", about.warnings);
        let other = describe(&answers, &json!({ "id": "qwen2-vl-7b-instruct" }));
        assert_eq!((other.model.format.as_deref(), other.context_limit_tokens), (Some("MLX"), None));
        assert_eq!(other.system.version, None);
    }

    #[test]
    fn only_a_loaded_model_that_can_chat_is_taken_by_itself() {
        assert_eq!((ENGINE.loaded.unwrap().names)(&documented()), ["meta-llama-3.1-8b-instruct"]);
    }

    #[test]
    fn a_list_of_openai_models_is_not_it() {
        let mut answers = Answers::default();
        answers.put(MODELS, json!({ "data": [{ "id": "m", "owned_by": "organization_owner" }] }).to_string());
        assert!(!(ENGINE.recognise)(&answers));
    }
}
