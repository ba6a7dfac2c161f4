//! Ollama. Written from its documentation and source (docs/api.md, docs/openapi.yaml, server/routes.go), not run here.
//!
//! It has no counters and no tokeniser route: what it reports stands in the answers of its own chat route. It loads a
//! model at the first request for it, and only then does `/api/ps` tell the context that it runs with, which is 4,096
//! tokens on small machines however long the model's is.

use dyno_shared::plain::plain;
use dyno_shared::system::{Engine as SystemEngine, Model};
use serde_json::{Value, json};

use super::answers::{Answers, Route};
use super::effective::{CONTEXT_LIMIT_TOKENS, MODEL_MEMORY_BYTES, MODEL_VRAM_BYTES};
use super::{Description, Engine, Loaded, words};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::{Optional, ThinkingField};

const VERSION: &str = "/api/version";
const SHOW: &str = "/api/show";
const PS: &str = "/api/ps";
const TAGS: &str = "/api/tags";

pub(super) const ENGINE: Engine = Engine {
    name: "Ollama",
    ports: &[11434],
    ready: VERSION,
    dialect: Dialect::OllamaChat,
    // Its OpenAI route skips what it does not know in silence.
    optional: Optional {
        top_k: false,
        ignore_eos: false,
        thinking_field: ThinkingField::ReasoningEffort,
        ..Optional::USUAL
    },
    probes: &["/", VERSION],
    // Others imitate its routes, and `library` is only the name space of its models.
    recognise: |answers| {
        let says_so = answers.text("/").is_some_and(|text| text.trim() == "Ollama is running");
        says_so || (answers.json(VERSION)["version"].is_string() && answers.owned_by("library"))
    },
    loaded: Some(Loaded {
        route: PS,
        names: |answers| entries(answers, PS).filter_map(|entry| words(&entry["name"])).collect(),
    }),
    routes: &[
        Route::get(VERSION),
        Route::get(PS),
        Route::get(TAGS),
        Route::post(SHOW, |model| json!({ "model": model })),
    ],
    describe,
    counting: None,
    tokenize: None,
    flags: &[],
};

/// The models of a route that lists some.
fn entries<'a>(answers: &'a Answers, route: &str) -> impl Iterator<Item = &'a Value> {
    answers.json(route)["models"].as_array().into_iter().flatten()
}

/// One model of such a list.
fn entry<'a>(answers: &'a Answers, route: &str, name: &str) -> &'a Value {
    entries(answers, route)
        .find(|entry| entry["name"] == name || entry["model"] == name)
        .unwrap_or(&Value::Null)
}

fn describe(answers: &Answers, listed: &Value) -> Description {
    let id = listed["id"].as_str().unwrap_or_default();
    let (show, stored) = (answers.json(SHOW), entry(answers, TAGS, id));
    let mut about = Description {
        system: SystemEngine {
            name: ENGINE.name.to_owned(),
            version: words(&answers.json(VERSION)["version"]),
            ..SystemEngine::default()
        },
        model: model(id, show, stored),
        ..Description::default()
    };
    running(&mut about, entry(answers, PS, id), context_of_model(show));
    about
}

fn model(id: &str, show: &Value, stored: &Value) -> Model {
    let details = |key: &str| {
        words(&show["details"][key])
            .or_else(|| words(&stored["details"][key]))
            .filter(|word| !word.eq_ignore_ascii_case("unknown"))
    };
    Model {
        name: published_name(id).to_owned(),
        revision: words(&stored["digest"]),
        quantisation: details("quantization_level"),
        format: details("format").map(|format| format.to_uppercase()),
        size_bytes: stored["size"].as_u64(),
        parameters: show["model_info"]["general.parameter_count"].as_u64(),
        ..Model::default()
    }
}

/// The name without the host of a registry and without the tag that means none.
fn published_name(id: &str) -> &str {
    let name = match id.split_once('/') {
        Some((_, rest)) if rest.contains('/') => rest,
        _ => id,
    };
    name.strip_suffix(":latest").unwrap_or(name)
}

/// The longest context that the model has.
fn context_of_model(show: &Value) -> Option<u64> {
    let info = &show["model_info"];
    info[format!("{}.context_length", info["general.architecture"].as_str()?)].as_u64()
}

/// How the model runs, where it is in memory.
fn running(about: &mut Description, loaded: &Value, most: Option<u64>) {
    about.context_limit_tokens = loaded["context_length"].as_u64().filter(|tokens| *tokens > 0);
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, PS);
    if let (Some(tokens), Some(most)) = (about.context_limit_tokens, most)
        && tokens < most
    {
        about.warnings.push(format!(
            "Ollama runs this model with a context of {tokens} of its {most} tokens: longer cases are left out; start \
             `ollama serve` with OLLAMA_CONTEXT_LENGTH for more"
        ));
    }
    let (size, in_vram) = (loaded["size"].as_u64(), loaded["size_vram"].as_u64());
    about.effective_number(MODEL_MEMORY_BYTES, size, PS);
    about.effective_number(MODEL_VRAM_BYTES, in_vram, PS);
    if let (Some(size), Some(in_vram)) = (size, in_vram)
        && (1..size).contains(&in_vram)
    {
        let name = plain(&about.model.name);
        about.warnings.push(format!(
            "{} % of {name} are in the accelerator's memory, the rest runs on the processor",
            (in_vram as f64 / size as f64 * 100.0).round()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::recognise;
    use super::*;
    use dyno_shared::system::Setting;

    /// Answers as the documentation writes them.
    fn documented() -> Answers {
        let mut answers = Answers::default();
        for (path, json) in [
            (
                "/v1/models",
                json!({ "object": "list", "data": [
                    { "id": "gemma4:latest", "object": "model", "created": 1_789_000_000, "owned_by": "library" },
                    { "id": "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "object": "model", "created": 1, "owned_by": "unsloth" },
                ] }),
            ),
            (VERSION, json!({ "version": "0.35.1" })),
            (
                PS,
                json!({ "models": [{
                    "name": "gemma4:latest", "model": "gemma4:latest", "size": 6_591_830_464_u64,
                    "digest": "c6eb396dbd5992bbe3f5cdb947e8bbc0ee413d7c17e2beaae69f5d569cf982eb",
                    "details": { "parent_model": "", "format": "gguf", "family": "gemma4", "families": ["gemma4"],
                                 "parameter_size": "8.0B", "quantization_level": "Q4_K_M" },
                    "expires_at": "2026-10-17T16:47:07.93355-07:00", "size_vram": 5_333_539_264_u64,
                    "context_length": 4096,
                }] }),
            ),
            (
                TAGS,
                json!({ "models": [{
                    "name": "gemma4:latest", "model": "gemma4:latest", "modified_at": "2026-10-03T23:34:03.409490317-07:00",
                    "size": 3_338_801_804_u64,
                    "digest": "c6eb396dbd5992bbe3f5cdb947e8bbc0ee413d7c17e2beaae69f5d569cf982eb",
                    "details": { "format": "gguf", "family": "gemma4", "parameter_size": "8.0B", "quantization_level": "Q4_K_M" },
                }] }),
            ),
            (
                SHOW,
                json!({
                    "details": { "format": "gguf", "family": "gemma4", "parameter_size": "8.0B", "quantization_level": "Q4_K_M" },
                    "model_info": { "general.architecture": "gemma4", "general.parameter_count": 7_996_157_418_u64,
                                    "gemma4.context_length": 131_072 },
                    "capabilities": ["completion", "thinking"],
                }),
            ),
        ] {
            answers.put(path, json.to_string());
        }
        answers
    }

    fn entry_of(id: &str) -> Value {
        json!({ "id": id, "owned_by": "library" })
    }

    #[test]
    fn it_is_known_by_what_it_says_and_not_by_a_name_space_or_a_route_that_others_have_too() {
        let mut answers = Answers::default();
        answers.put("/v1/models", json!({ "data": [] }).to_string());
        answers.put("/", "Ollama is running".to_owned());
        assert_eq!(recognise(&answers).name, "Ollama", "without any model");
        assert_eq!(recognise(&documented()).name, "Ollama");
        let mut other = Answers::default();
        other.put("/v1/models", json!({ "data": [{ "id": "m", "owned_by": "library" }] }).to_string());
        other.put("/", "<html>a gateway</html>".to_owned());
        assert!(!(ENGINE.recognise)(&other));
        other.put("/v1/models", json!({ "data": [{ "id": "m", "owned_by": "koboldcpp" }] }).to_string());
        other.put(VERSION, json!({ "version": "0.7.0" }).to_string());
        assert!(!(ENGINE.recognise)(&other));
    }

    #[test]
    fn a_loaded_model_tells_its_context_and_where_it_lies() {
        let about = describe(&documented(), &entry_of("gemma4:latest"));
        assert_eq!((about.system.name.as_str(), about.system.version.as_deref()), ("Ollama", Some("0.35.1")));
        let Model { name, revision, quantisation, format, size_bytes, parameters, .. } = about.model;
        assert_eq!(
            (name.as_str(), quantisation.as_deref(), format.as_deref(), size_bytes, parameters),
            ("gemma4", Some("Q4_K_M"), Some("GGUF"), Some(3_338_801_804), Some(7_996_157_418))
        );
        assert!(revision.is_some_and(|digest| digest.starts_with("c6eb396d")));
        assert_eq!(about.context_limit_tokens, Some(4_096));
        assert_eq!(about.effective[CONTEXT_LIMIT_TOKENS].value, Setting::Number(4_096.0));
        assert_eq!(about.effective[CONTEXT_LIMIT_TOKENS].source, PS);
        assert!(
            about.warnings.iter().any(|w| w.contains("4096 of its 131072 tokens")),
            "{:?}",
            about.warnings
        );
        assert!(about.warnings.iter().any(|w| w.starts_with("81 %")), "{:?}", about.warnings);
    }

    #[test]
    fn of_a_model_that_is_not_loaded_the_context_is_unknown() {
        let about = describe(&documented(), &entry_of("hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M"));
        assert_eq!(about.context_limit_tokens, None);
        assert!(about.warnings.is_empty() && about.effective.is_empty());
        assert_eq!(about.model.name, "unsloth/Qwen3-8B-GGUF:Q4_K_M", "without the registry's host");
        assert_eq!(about.model.revision, None);
    }

    #[test]
    fn the_model_in_memory_is_named_and_its_openai_route_claims_only_what_it_reads() {
        let loaded = ENGINE.loaded.unwrap();
        assert_eq!((loaded.names)(&documented()), ["gemma4:latest"]);
        assert!((loaded.names)(&Answers::default()).is_empty());
        let optional = Dialect::OpenAiChat.optional(ENGINE.optional);
        assert!(!optional.top_k && !optional.ignore_eos && optional.seed);
        let native = ENGINE.dialect.optional(ENGINE.optional);
        assert!(native.top_k && !native.ignore_eos, "{native:?}");
    }
}
