//! llama.cpp's `llama-server`.
//!
//! Tested on what llama-server b11434 answered when it was recorded.

use dyno_shared::submission::EngineCounters;
use dyno_shared::system::{Engine as SystemEngine, Model, Setting};
use dyno_shared::units::Seconds;
use serde_json::{Value, json};

use super::answers::{Answers, Route};
use super::counters::Counting;
use super::effective::{
    CONTEXT_LIMIT_TOKENS, Effective, Flag, MAX_RUNNING_REQUESTS, Meaning, Requested, SPECULATIVE, as_number,
    told,
};
use super::{Description, Engine, Tokenize, file_name, gguf_name, published_name, small};
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;
use crate::prometheus::Samples;

pub(super) const ENGINE: Engine = Engine {
    name: "llama.cpp",
    ports: &[8080],
    ready: "/health",
    dialect: Dialect::OpenAiChat,
    optional: Optional { cache_prompt: true, ..Optional::USUAL },
    probes: &["/props"],
    recognise: |answers| {
        answers.owned_by("llamacpp") || answers.json("/props")["default_generation_settings"].is_object()
    },
    loaded: None,
    routes: &[Route::get("/props"), Route::get("/slots"), Route::get("/metrics")],
    describe,
    counting: Some(Counting::Prometheus {
        route: "/metrics",
        read: |samples| counts_under("llamacpp", samples),
    }),
    tokenize: Some(Tokenize { route: "/tokenize", body: |_, text| json!({ "content": text }) }),
    flags: &[
        Flag {
            names: &["ctx-size", "c"],
            key: CONTEXT_LIMIT_TOKENS,
            means: Meaning::OneOf(context_of_a_slot),
        },
        Flag {
            names: &["parallel", "np"],
            key: MAX_RUNNING_REQUESTS,
            means: Meaning::OneOf(unless_automatic),
        },
        Flag { names: &["spec-type"], key: SPECULATIVE, means: Meaning::Same },
        Flag { names: &["model-draft", "md", "hf-repo-draft", "hfd"], key: SPECULATIVE, means: Meaning::On },
    ],
};

/// The context is shared out among the slots, in steps of 256 tokens, unless the slots share one cache.
fn context_of_a_slot(asked: &Setting, with: &Requested, effective: &Effective) -> Vec<Setting> {
    const STEP: f64 = 256.0;
    // 0 takes what the model was trained for.
    let Some(context) = as_number(asked).filter(|tokens| *tokens > 0.0) else { return Vec::new() };
    let slots = ["parallel", "np"]
        .iter()
        .find_map(|flag| with.get(*flag).and_then(as_number))
        .or_else(|| told(effective, MAX_RUNNING_REQUESTS))
        .filter(|slots| *slots >= 1.0)
        .unwrap_or(1.0);
    let up = |tokens: f64| Setting::Number((tokens / STEP).ceil() * STEP);
    let (share, all) = (up(context / slots), up(context));
    if share == all { vec![all] } else { vec![share, all] }
}

/// −1 lets the server choose.
fn unless_automatic(asked: &Setting, _: &Requested, _: &Effective) -> Vec<Setting> {
    as_number(asked).filter(|slots| *slots >= 1.0).map(Setting::Number).into_iter().collect()
}

/// Counters as llama.cpp names them, under any prefix; the simulated engine has the same ones.
pub(super) fn counts_under(prefix: &str, samples: &Samples) -> EngineCounters {
    let total = |name: &str| samples.counter(&format!("{prefix}:{name}"));
    EngineCounters {
        prompt_tokens: total("prompt_tokens_total"),
        cached_tokens: total("prompt_tokens_cached_total"),
        prompt_s: total("prompt_seconds_total").map(Seconds),
        output_tokens: total("tokens_predicted_total"),
        decode_s: total("tokens_predicted_seconds_total").map(Seconds),
        draft_tokens: total("spec_decode_num_draft_tokens_total"),
        accepted_tokens: total("spec_decode_num_accepted_tokens_total"),
        verify_steps: total("spec_decode_num_drafts_total"),
        ..EngineCounters::default()
    }
}

fn describe(answers: &Answers, entry: &Value) -> Description {
    let (props, slots) = (answers.json("/props"), answers.json("/slots"));
    let mut about = Description::default();
    let (version, commit) = build(props["build_info"].as_str().unwrap_or_default());
    about.system = SystemEngine { name: ENGINE.name.to_owned(), version, commit, simulated: false };
    about.model = model(props, entry);

    let context = props["default_generation_settings"]["n_ctx"].as_u64();
    about.context_limit_tokens = context.or_else(|| entry["meta"]["n_ctx"].as_u64());
    let source = if context.is_some() { "/props" } else { "/v1/models" };
    about.effective_number(CONTEXT_LIMIT_TOKENS, about.context_limit_tokens, source);
    about.total_slots = small(&props["total_slots"]);
    about.effective_number(MAX_RUNNING_REQUESTS, about.total_slots.map(u64::from), "/props");
    if let Some((value, source)) = speculation(props, slots) {
        about.effective(SPECULATIVE, value, source);
    }

    if about.system.version.is_none() {
        about
            .warnings
            .push("llama-server does not know its own build, so the shard has no engine version".to_owned());
    }
    if answers.text("/metrics").is_none() {
        about.warnings.push(
            "llama-server has no /metrics: start it with --metrics to have its counters, such as the verify steps of \
             speculative decoding, in the shard"
                .to_owned(),
        );
    }
    about
}

/// `b6789-abcdef1` → version and commit. `b0-unknown` is a build outside of git, which knows neither.
fn build(info: &str) -> (Option<String>, Option<String>) {
    let (number, commit) = info.split_once('-').unwrap_or((info, ""));
    let version = Some(number).filter(|n| !n.is_empty() && *n != "b0").map(ToOwned::to_owned);
    let is_hash = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (version, is_hash.then(|| commit.to_owned()))
}

fn model(props: &Value, entry: &Value) -> Model {
    // The path may hold a user's name: only the file's own name is taken.
    let file = props["model_path"].as_str().map(file_name).filter(|name| !name.is_empty());
    let (name, named_quantisation) = match file {
        Some(file) => gguf_name::read(file),
        None => (published_name(entry["id"].as_str().unwrap_or_default()).to_owned(), None),
    };
    let ftype = props["model_ftype"].as_str().or_else(|| entry["meta"]["ftype"].as_str());
    Model {
        name,
        quantisation: named_quantisation.or_else(|| ftype.and_then(gguf_name::from_ftype)),
        format: Some("GGUF".to_owned()),
        size_bytes: entry["meta"]["size"].as_u64(),
        parameters: entry["meta"]["n_params"].as_u64(),
        ..Model::default()
    }
}

/// Kinds of speculative decoding, or whether there is any, and who says so.
fn speculation(props: &Value, slots: &Value) -> Option<(Setting, &'static str)> {
    let types_of = |settings: &Value| settings["params"]["speculative.types"].as_str().map(ToOwned::to_owned);
    let slot = slots.as_array().into_iter().flatten();
    let kinds = |types: &str| {
        let kinds: Vec<&str> =
            types.split(',').map(str::trim).filter(|kind| !matches!(*kind, "" | "none")).collect();
        (!kinds.is_empty()).then(|| Setting::Text(kinds.join(",")))
    };
    let by_props = types_of(&props["default_generation_settings"]);
    if let Some(kinds) = by_props.as_deref().and_then(kinds) {
        return Some((kinds, "/props"));
    }
    if let Some(kinds) = slot.clone().find_map(|slot| kinds(&types_of(slot)?)) {
        return Some((kinds, "/slots"));
    }
    match slot.map(|slot| &slot["speculative"]).find_map(Value::as_bool) {
        Some(on) => Some((Setting::Flag(on), "/slots")),
        None => by_props.map(|_| (Setting::Flag(false), "/props")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_split_and_an_unknown_one_is_unknown() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(build("b6789-abcdef12"), (some("b6789"), some("abcdef12")));
        assert_eq!(build("b11434-unknown"), (some("b11434"), None));
        assert_eq!(build("b0-unknown"), (None, None));
        assert_eq!(build(""), (None, None));
    }

    #[test]
    fn speculation_is_named_where_the_server_names_it() {
        let with = |types: &str| json!({ "default_generation_settings": { "params": { "speculative.types": types } } });
        let slot = |on: bool| json!([{ "speculative": on }]);
        assert_eq!(
            speculation(&with("none,ngram-simple"), &Value::Null),
            Some((Setting::Text("ngram-simple".into()), "/props"))
        );
        assert_eq!(speculation(&with("none"), &slot(true)), Some((Setting::Flag(true), "/slots")));
        assert_eq!(speculation(&with("none"), &Value::Null), Some((Setting::Flag(false), "/props")));
        assert_eq!(speculation(&Value::Null, &Value::Null), None);
    }
}
