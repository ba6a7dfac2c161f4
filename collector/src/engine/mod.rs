//! Which engine listens, what it serves, and how it is read: one file per engine, one list of them.

mod counters;
mod discover;
mod generic;
mod gguf_name;
mod llama_cpp;
mod ready;
mod simulated;

use std::collections::BTreeMap;

use dyno_shared::plain::plain;
use dyno_shared::submission::EngineCounters;
use dyno_shared::system::{self, Setting, Sourced};
use serde_json::Value;

use crate::endpoint::openai_chat::Optional;
use crate::prometheus::Samples;
use crate::transport::{CallError, Target, get_json, get_text, post_json};

pub use counters::{CounterDelta, Snapshot, counters};
pub use discover::{Found, USUAL_PORTS, discover};
pub use ready::wait_ready;

/// Every engine that is known, in the order in which they are asked whether it is them. The last takes all.
pub const ENGINES: [&Engine; 3] = [&simulated::ENGINE, &llama_cpp::ENGINE, &generic::ENGINE];

/// How one engine is recognised and read.
#[derive(Debug)]
pub struct Engine {
    /// Its name in shards, unless it names itself.
    pub name: &'static str,
    /// The optional fields of a request that it takes.
    pub optional: Optional,
    /// Whether these answers are its.
    recognise: fn(&Answers) -> bool,
    /// What its answers say of itself and of one model.
    describe: fn(&Answers, &Value) -> Description,
    /// Its counters since its start; `None` where there are none.
    counters: fn(&Samples) -> Option<EngineCounters>,
    /// The body for `POST /tokenize`: model, text.
    tokenize: fn(&str, &str) -> Value,
}

/// What an endpoint answered when it was looked at.
#[derive(Debug, Default)]
struct Answers {
    models: Value,
    /// `/props` of llama.cpp.
    props: Value,
    /// `/slots` of llama.cpp.
    slots: Value,
    /// `/version` of vLLM.
    version: Value,
    /// `/v1/simulator/truth` of the simulated engine.
    truth: Value,
    metrics: Option<String>,
}

/// What an engine says of itself.
#[derive(Debug, Default)]
struct Description {
    system: system::Engine,
    model: system::Model,
    context_limit_tokens: Option<u64>,
    total_slots: Option<u32>,
    effective: BTreeMap<String, Sourced>,
    warnings: Vec<String>,
}

impl Description {
    /// Notes a value in effect and where it was read.
    fn effective(&mut self, key: &str, value: Setting, source: &str) {
        self.effective.insert(key.to_owned(), Sourced { value, source: source.to_owned() });
    }
}

/// One model that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The name to ask for it by.
    pub id: String,
    /// Other names that the server takes for it.
    pub aliases: Vec<String>,
}

/// The endpoint, looked at.
#[derive(Debug)]
pub struct Identified {
    /// How to talk to it.
    pub engine: &'static Engine,
    /// Name, version and commit, for the shard.
    pub system: system::Engine,
    /// The name to ask for the model by.
    pub model_id: String,
    /// What is known of the model, for the shard.
    pub model: system::Model,
    /// All models that are served.
    pub models: Vec<ModelInfo>,
    /// Longest prompt and answer together of one request.
    pub context_limit_tokens: Option<u64>,
    /// Requests that run at once.
    pub total_slots: Option<u32>,
    /// What the engine says that it runs.
    pub effective: BTreeMap<String, Sourced>,
    /// Whether `/metrics` answers with counters that are understood.
    pub has_metrics: bool,
    /// Whether `/tokenize` counts tokens.
    pub has_tokenizer: bool,
    /// What the user may want to know before measuring.
    pub warnings: Vec<String>,
}

/// Why an endpoint cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// No connection, or no answer.
    #[error("{0}")]
    Unreachable(String),
    /// It answers 503 and goes on doing so.
    #[error(
        "{url} is still loading its model after {waited_s} s: wait until GET {url}/health answers 200, or allow it \
         more time with --load-timeout"
    )]
    Loading {
        /// The engine's root.
        url: String,
        /// How long it was waited for.
        waited_s: u64,
    },
    /// It wants a key, or another one.
    #[error("{0}")]
    Unauthorised(String),
    /// It answers, but not as an OpenAI-compatible engine.
    #[error("this is no OpenAI-compatible engine: {0}")]
    NotAnEngine(String),
    /// It serves nothing.
    #[error("{url} lists no model under /v1/models: load one, then measure")]
    NoModel {
        /// The engine's root.
        url: String,
    },
    /// It serves several, and none was chosen.
    #[error("{url} serves {} models: choose one with --model: {}", models.len(), names(models))]
    SeveralModels {
        /// The engine's root.
        url: String,
        /// Their names.
        models: Vec<String>,
    },
    /// The chosen one is not among them.
    #[error("{url} does not serve the model `{model}`: --model takes {}", names(models))]
    UnknownModel {
        /// The engine's root.
        url: String,
        /// What was asked for.
        model: String,
        /// What there is.
        models: Vec<String>,
    },
}

impl EndpointError {
    /// Whether the command line is at fault and not the endpoint.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::SeveralModels { .. } | Self::UnknownModel { .. })
    }

    fn from_call(error: &CallError) -> Self {
        let message = error.to_string();
        match (error.status(), error) {
            (Some(401 | 403), _) => Self::Unauthorised(message),
            (Some(500..=599), _) | (_, CallError::Connect { .. } | CallError::Broken { .. }) => {
                Self::Unreachable(message)
            }
            _ => Self::NotAnEngine(message),
        }
    }
}

/// Looks at an endpoint that is ready (see [`wait_ready`]) and settles which model is measured.
///
/// # Errors
/// When it cannot be reached, wants a key, is no engine, or the model is not settled.
pub async fn identify(target: &Target, model: Option<&str>) -> Result<Identified, EndpointError> {
    let answers = look(target).await?;
    let models = served(&answers.models).ok_or_else(|| {
        EndpointError::NotAnEngine(format!("{}/v1/models has no list `data`", target.url()))
    })?;
    let chosen = choose(target, &models, model)?;
    let engine = recognise(&answers);
    let entry = answers.models["data"]
        .as_array()
        .and_then(|all| all.iter().find(|entry| entry["id"] == chosen.id.as_str()))
        .unwrap_or(&Value::Null);
    let Description { system, model, context_limit_tokens, total_slots, effective, mut warnings } =
        (engine.describe)(&answers, entry);
    let counted = answers.metrics.as_deref().and_then(|text| (engine.counters)(&Samples::parse(text)));
    let has_tokenizer = tokens_of(target, engine, &chosen.id, "one two three").await.is_some();
    if !has_tokenizer {
        warnings.push(
            "the server has no /tokenize, so the sizes of prompts are estimates until they are sent"
                .to_owned(),
        );
    }
    Ok(Identified {
        engine,
        system,
        model_id: chosen.id.clone(),
        model,
        context_limit_tokens,
        total_slots,
        effective,
        has_metrics: counted.is_some(),
        has_tokenizer,
        warnings,
        models,
    })
}

/// Tokens of a text by the engine's own tokeniser, without any chat template; `None` where it has none.
pub async fn count_tokens(target: &Target, identified: &Identified, text: &str) -> Option<u64> {
    if !identified.has_tokenizer {
        return None;
    }
    tokens_of(target, identified.engine, &identified.model_id, text).await
}

async fn tokens_of(target: &Target, engine: &Engine, model: &str, text: &str) -> Option<u64> {
    let answer = post_json(target, "/tokenize", &(engine.tokenize)(model, text)).await.ok()?;
    answer["count"].as_u64().or_else(|| Some(answer["tokens"].as_array()?.len() as u64))
}

/// Asks every route that any engine is known by.
async fn look(target: &Target) -> Result<Answers, EndpointError> {
    let models = get_json(target, "/v1/models").await.map_err(|error| EndpointError::from_call(&error))?;
    // A route that is missing is an answer too.
    let optional = async |path: &str| get_json(target, path).await.unwrap_or_default();
    let truth = async {
        if simulated::speaks(&models) { optional("/v1/simulator/truth").await } else { Value::Null }
    };
    let (props, slots, version, truth, metrics) = tokio::join!(
        optional("/props"),
        optional("/slots"),
        optional("/version"),
        truth,
        get_text(target, "/metrics"),
    );
    Ok(Answers { models, props, slots, version, truth, metrics: metrics.ok() })
}

/// Names for a message: the first few, and how many there are beyond.
fn names(models: &[String]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = models.iter().take(MOST).map(|name| plain(name)).collect();
    let more = models.len().saturating_sub(MOST);
    let rest = if more > 0 { format!(" and {more} more under GET /v1/models") } else { String::new() };
    shown.join(", ") + &rest
}

fn recognise(answers: &Answers) -> &'static Engine {
    ENGINES.into_iter().find(|engine| (engine.recognise)(answers)).unwrap_or(&generic::ENGINE)
}

/// The models of `/v1/models`; `None` where that is no such list.
fn served(models: &Value) -> Option<Vec<ModelInfo>> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let info = |entry: &Value| {
        let aliases = entry["aliases"].as_array().into_iter().flatten().filter_map(text).collect();
        // What has no name cannot be asked for.
        Some(ModelInfo { id: text(&entry["id"]).filter(|id| !plain(id).trim().is_empty())?, aliases })
    };
    Some(models["data"].as_array()?.iter().filter_map(info).collect())
}

fn choose<'a>(
    target: &Target,
    models: &'a [ModelInfo],
    wanted: Option<&str>,
) -> Result<&'a ModelInfo, EndpointError> {
    let url = target.url().to_owned();
    let names = || models.iter().map(|model| model.id.clone()).collect();
    match (wanted, models) {
        (_, []) => Err(EndpointError::NoModel { url }),
        (None, [only]) => Ok(only),
        (None, _) => Err(EndpointError::SeveralModels { url, models: names() }),
        // llama-server takes any name in silence, so the list decides.
        (Some(wanted), _) => models
            .iter()
            .find(|model| model.id == wanted || model.aliases.iter().any(|alias| alias == wanted))
            .ok_or_else(|| EndpointError::UnknownModel { url, model: wanted.to_owned(), models: names() }),
    }
}

/// The last part of a path, whichever way it is written: a shard never holds a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// The last part where a name is a path of the server's machine; else the name as published (`org/model`).
fn published_name(id: &str) -> &str {
    let is_path = id.starts_with(['/', '.', '~', '\\']) || id.contains('\\') || id.matches('/').count() > 1;
    if is_path { file_name(id) } else { id }
}

/// A number of the server's as a setting.
fn number(value: u64) -> Setting {
    Setting::Number(value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn target() -> Target {
        Target::parse("http://127.0.0.1:8080").unwrap()
    }

    fn list(ids: &[&str]) -> Vec<ModelInfo> {
        served(&json!({ "data": ids.iter().map(|id| json!({ "id": id, "aliases": ["other"] })).collect::<Vec<_>>() }))
            .unwrap()
    }

    #[test]
    fn one_model_is_taken_and_several_must_be_chosen_from() {
        assert_eq!(choose(&target(), &list(&["a"]), None).unwrap().id, "a");
        let two = list(&["a", "b"]);
        assert_eq!(choose(&target(), &two, Some("b")).unwrap().id, "b");
        assert_eq!(choose(&target(), &two, Some("other")).unwrap().id, "a");
        for (models, wanted, words) in [
            (&two[..], None, "--model: a, b"),
            (&two[..], Some("c"), "does not serve the model `c`"),
            (&two[..1], Some("c"), "--model takes a"),
        ] {
            let error = choose(&target(), models, wanted).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(words), "{error}");
        }
        let none = choose(&target(), &[], None).unwrap_err();
        assert!(!none.is_usage() && none.to_string().contains("load one"));
    }

    #[test]
    fn every_engine_is_recognised_by_its_own_answers_and_the_last_takes_all() {
        let answers = |models: Value, props: Value| Answers { models, props, ..Answers::default() };
        for (answers, name) in [
            (answers(json!({ "simulated": true, "data": [] }), Value::Null), "dyno-simulator"),
            (
                answers(json!({ "data": [{ "id": "x", "owned_by": "dyno-simulator" }] }), Value::Null),
                "dyno-simulator",
            ),
            (answers(json!({ "data": [{ "id": "x", "owned_by": "llamacpp" }] }), Value::Null), "llama.cpp"),
            (
                answers(
                    json!({ "data": [] }),
                    json!({ "build_info": "b1-a", "default_generation_settings": {} }),
                ),
                "llama.cpp",
            ),
            (
                answers(json!({ "data": [{ "id": "x", "owned_by": "vllm" }] }), Value::Null),
                "openai-compatible",
            ),
            (answers(Value::Null, Value::Null), "openai-compatible"),
        ] {
            assert_eq!(recognise(&answers).name, name);
        }
        assert!((ENGINES[ENGINES.len() - 1].recognise)(&Answers::default()));
    }

    #[test]
    fn no_engine_panics_on_answers_of_any_shape() {
        for odd in
            [json!(null), json!([]), json!("x"), json!(7), json!({ "data": 7 }), json!({ "data": [7, {}] })]
        {
            let answers = Answers {
                models: odd.clone(),
                props: odd.clone(),
                slots: odd.clone(),
                version: odd.clone(),
                truth: odd.clone(),
                metrics: None,
            };
            for engine in ENGINES {
                let _ = (engine.recognise)(&answers);
                let description = (engine.describe)(&answers, &odd);
                assert_eq!(
                    (description.context_limit_tokens, description.total_slots),
                    (None, None),
                    "{}",
                    engine.name
                );
            }
        }
    }

    #[test]
    fn a_path_of_the_servers_machine_is_never_a_models_name() {
        assert_eq!(published_name("Qwen/Qwen3-8B"), "Qwen/Qwen3-8B");
        assert_eq!(published_name("/opt/models/qwen"), "qwen");
        assert_eq!(published_name("C:\\models\\qwen.gguf"), "qwen.gguf");
        assert_eq!(published_name("models/jo/qwen/"), "qwen");
    }
}
