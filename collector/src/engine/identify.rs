//! Looking at an endpoint and settling which model is measured.

use std::collections::BTreeMap;

use dyno_shared::plain::plain;
use dyno_shared::system::{self, Setting, Sourced};
use serde_json::Value;

use super::answers::{look, recognise};
use super::effective::CHAT_ROUTE;
use super::{Description, Engine};
use crate::endpoint::Dialect;
use crate::transport::{CallError, Target, post_json};

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
    /// How it is asked: the engine's own way, unless somebody chose another.
    pub dialect: Dialect,
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
    /// How the model is spread over accelerators, as far as the engine says.
    pub topology: system::Topology,
    /// What the engine says that it runs.
    pub effective: BTreeMap<String, Sourced>,
    /// Whether the engine's counters were there and understood.
    pub has_metrics: bool,
    /// Whether the engine's tokeniser can be asked.
    pub has_tokenizer: bool,
    /// What the user may want to know before measuring.
    pub warnings: Vec<String>,
}

impl Identified {
    /// The same, asked by the route that somebody chose, if somebody did. Where there are two it is a part of the
    /// configuration.
    #[must_use]
    pub fn asked_by(mut self, chosen: Option<Dialect>) -> Self {
        self.dialect = chosen.unwrap_or(self.dialect);
        if self.dialect != Dialect::default() || self.engine.dialect != Dialect::default() {
            let value = Setting::Text(self.dialect.path().to_owned());
            self.effective
                .insert(CHAT_ROUTE.to_owned(), Sourced { value, source: "the requests".to_owned() });
        }
        self
    }
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

    pub(super) fn from_call(error: &CallError) -> Self {
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
    let mut answers = look(target).await?;
    let models = served(answers.models()).ok_or_else(|| {
        EndpointError::NotAnEngine(format!("{}/v1/models has no list `data`", target.url()))
    })?;
    let engine = recognise(&answers);
    let loaded = if model.is_none() { answers.loaded(target, engine).await } else { Vec::new() };
    let chosen = choose(target, &models, &loaded, model)?;
    answers.read(target, engine, &chosen.id).await;
    let entry = answers.models()["data"]
        .as_array()
        .and_then(|all| all.iter().find(|entry| entry["id"] == chosen.id.as_str()))
        .unwrap_or(&Value::Null);
    let Description { system, model, context_limit_tokens, total_slots, topology, effective, mut warnings } =
        (engine.describe)(&answers, entry);
    let has_metrics = engine
        .counting
        .is_some_and(|counting| answers.text(counting.route()).is_some_and(|text| counting.reads(text)));
    let has_tokenizer = tokens_of(target, engine, &chosen.id, "one two three").await.is_some();
    if !has_tokenizer {
        warnings.push(
            "the server has no route that counts tokens (/tokenize), so the sizes of prompts are estimates until they \
             are sent"
                .to_owned(),
        );
    }
    Ok(Identified {
        engine,
        dialect: engine.dialect,
        system,
        model_id: chosen.id.clone(),
        model,
        context_limit_tokens,
        total_slots,
        topology,
        effective,
        has_metrics,
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
    let tokenize = engine.tokenize?;
    let answer = post_json(target, tokenize.route, &(tokenize.body)(model, text)).await.ok()?;
    answer["count"].as_u64().or_else(|| Some(answer["tokens"].as_array()?.len() as u64))
}

/// Names for a message: the first few, and how many there are beyond.
fn names(models: &[String]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = models.iter().take(MOST).map(|name| plain(name)).collect();
    let more = models.len().saturating_sub(MOST);
    let rest = if more > 0 { format!(" and {more} more under GET /v1/models") } else { String::new() };
    shown.join(", ") + &rest
}

/// The models of `/v1/models`; `None` where that is no such list.
pub(super) fn served(models: &Value) -> Option<Vec<ModelInfo>> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let info = |entry: &Value| {
        // What has no name cannot be asked for.
        let id = text(&entry["id"]).filter(|id| !plain(id).trim().is_empty())?;
        // Ollama takes a name without its tag for that.
        let untagged = id.strip_suffix(":latest").map(ToOwned::to_owned);
        let aliases = entry["aliases"].as_array().into_iter().flatten().filter_map(text);
        Some(ModelInfo { aliases: aliases.chain(untagged).collect(), id })
    };
    Some(models["data"].as_array()?.iter().filter_map(info).collect())
}

/// The model that is wanted; else the only one, or the only one that is in memory.
fn choose<'a>(
    target: &Target,
    models: &'a [ModelInfo],
    loaded: &[String],
    wanted: Option<&str>,
) -> Result<&'a ModelInfo, EndpointError> {
    let url = target.url().to_owned();
    let names = || models.iter().map(|model| model.id.clone()).collect();
    match (wanted, models) {
        (_, []) => Err(EndpointError::NoModel { url }),
        (None, [only]) => Ok(only),
        (None, _) => {
            let mut in_memory = models.iter().filter(|model| loaded.contains(&model.id));
            match (in_memory.next(), in_memory.next()) {
                (Some(only), None) => Ok(only),
                _ => Err(EndpointError::SeveralModels { url, models: names() }),
            }
        }
        // llama-server takes any name in silence, so the list decides.
        (Some(wanted), _) => models
            .iter()
            .find(|model| model.id == wanted || model.aliases.iter().any(|alias| alias == wanted))
            .ok_or_else(|| EndpointError::UnknownModel { url, model: wanted.to_owned(), models: names() }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target() -> Target {
        Target::parse("http://127.0.0.1:8080").unwrap()
    }

    fn list(ids: &[&str]) -> Vec<ModelInfo> {
        served(&json!({ "data": ids.iter().map(|id| json!({ "id": id, "aliases": ["other"] })).collect::<Vec<_>>() }))
            .unwrap()
    }

    #[test]
    fn one_model_is_taken_and_several_must_be_chosen_from() {
        assert_eq!(choose(&target(), &list(&["a"]), &[], None).unwrap().id, "a");
        let two = list(&["a", "b"]);
        assert_eq!(choose(&target(), &two, &[], Some("b")).unwrap().id, "b");
        assert_eq!(choose(&target(), &two, &[], Some("other")).unwrap().id, "a");
        for (models, wanted, words) in [
            (&two[..], None, "--model: a, b"),
            (&two[..], Some("c"), "does not serve the model `c`"),
            (&two[..1], Some("c"), "--model takes a"),
        ] {
            let error = choose(&target(), models, &[], wanted).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(words), "{error}");
        }
        let none = choose(&target(), &[], &[], None).unwrap_err();
        assert!(!none.is_usage() && none.to_string().contains("load one"));
    }
}
