//! Which engine listens, what it serves, and how it is read: one file per engine, one list of them.

mod answers;
mod counters;
mod discover;
pub mod effective;
mod free_token;
mod generic;
mod gguf_name;
mod identify;
mod llama_cpp;
mod lm_studio;
pub mod log_file;
pub mod log_lines;
mod mistral_rs;
mod ollama;
mod ready;
mod sglang;
mod simulated;
mod tensorrt_llm;
mod vllm;

use std::collections::BTreeMap;

use dyno_shared::system::{self, Setting, Sourced};
use serde_json::Value;

use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;
use answers::{Answers, Route};
use counters::Counting;
use effective::Flag;

pub use counters::{CounterDelta, Snapshot, counters};
pub use discover::{Found, USUAL_PORTS, discover};
pub use identify::{EndpointError, Identified, ModelInfo, count_tokens, identify};
pub use log_file::LogFile;
pub use ready::wait_ready;

/// Every engine that is known, in the order in which they are asked whether it is them. The last takes all.
pub const ENGINES: [&Engine; 10] = [
    &simulated::ENGINE,
    &llama_cpp::ENGINE,
    &vllm::ENGINE,
    &sglang::ENGINE,
    &free_token::ENGINE,
    &tensorrt_llm::ENGINE,
    &ollama::ENGINE,
    &lm_studio::ENGINE,
    &mistral_rs::ENGINE,
    &generic::ENGINE,
];

/// How one engine is found, recognised, asked and read.
#[derive(Debug)]
pub struct Engine {
    /// Its name in shards, unless it names itself.
    pub name: &'static str,
    /// Where it listens when nobody says otherwise.
    pub ports: &'static [u16],
    /// The route that answers 2xx as soon as it can be measured.
    pub ready: &'static str,
    /// How it is asked.
    pub dialect: Dialect,
    /// The optional fields of a request that it takes.
    pub optional: Optional,
    /// Routes, read by GET, that tell it from others where the list of models does not.
    probes: &'static [&'static str],
    /// Whether these answers are its. The list of models is always among them, the probes only where it did not tell.
    recognise: fn(&Answers) -> bool,
    /// Where it says which of its models are in memory; `None` where all that it lists are.
    loaded: Option<Loaded>,
    /// Routes that are read once it is recognised.
    routes: &'static [Route],
    /// What its answers say of itself and of one model, by the model's entry in the list.
    describe: fn(&Answers, &Value) -> Description,
    /// Where its counters are; `None` where it has none.
    counting: Option<Counting>,
    /// How its tokeniser is asked; `None` where it has none that can be.
    tokenize: Option<Tokenize>,
    /// The launch flags that show in what it answers.
    flags: &'static [Flag],
}

/// How it is known which models are in memory. Where several are served and none was chosen, the only one that is in
/// memory is measured.
#[derive(Debug, Clone, Copy)]
struct Loaded {
    /// The route that tells.
    route: &'static str,
    /// The names of those that can chat.
    names: fn(&Answers) -> Vec<String>,
}

/// A route that counts tokens: it answers with `count` or with the list `tokens`.
#[derive(Debug, Clone, Copy)]
struct Tokenize {
    route: &'static str,
    /// The body to post: model, text.
    body: fn(&str, &str) -> Value,
}

/// What an engine says of itself.
#[derive(Debug, Default)]
struct Description {
    system: system::Engine,
    model: system::Model,
    context_limit_tokens: Option<u64>,
    total_slots: Option<u32>,
    topology: system::Topology,
    effective: BTreeMap<String, Sourced>,
    warnings: Vec<String>,
}

impl Description {
    /// An engine of that name, and the model by its entry in the list.
    fn of(engine: &str, version: Option<String>, entry: &Value) -> Self {
        let id = entry["id"].as_str().unwrap_or_default();
        Self {
            system: system::Engine { name: engine.to_owned(), version, ..system::Engine::default() },
            model: system::Model { name: published_name(id).to_owned(), ..system::Model::default() },
            ..Self::default()
        }
    }

    /// Notes a value in effect and where it was read.
    fn effective(&mut self, key: &str, value: Setting, source: &str) {
        self.effective.insert(key.to_owned(), Sourced { value, source: source.to_owned() });
    }

    /// Notes words where there are some.
    fn effective_words(&mut self, key: &str, value: Option<String>, source: &str) {
        if let Some(words) = value {
            self.effective(key, Setting::Text(words), source);
        }
    }

    /// Notes a number where there is one.
    fn effective_number(&mut self, key: &str, value: Option<u64>, source: &str) {
        if let Some(value) = value {
            self.effective(key, number(value), source);
        }
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

/// A number of the server's that counts things and fits.
fn small(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|n| u32::try_from(n).ok())
}

/// Words of the server's that are not empty.
fn words(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::answers::recognise;
    use super::*;

    /// One engine's answers, by route.
    fn answers(of: &[(&'static str, Value)]) -> Answers {
        let mut answers = Answers::default();
        for (path, json) in of {
            answers.put(path, json.to_string());
        }
        answers
    }

    /// For every engine, answers by which it is known: from recordings where there are some, else from documentation.
    fn signatures() -> Vec<(&'static str, Answers)> {
        let models = |entry: Value| ("/v1/models", json!({ "object": "list", "data": [entry] }));
        let owned = |owner: &str| models(json!({ "id": "x", "owned_by": owner }));
        let unsaid = || models(json!({ "id": "x" }));
        let exposition = |path: &'static str, text: &str| {
            let mut answers = answers(&[unsaid()]);
            answers.put(path, text.to_owned());
            answers
        };
        let stats = json!({ "instance_id": "5e9c", "throughput": { "decode_tps": 0.0, "prefill_tps": 0.0 } });
        vec![
            ("dyno-simulator", answers(&[("/v1/models", json!({ "simulated": true, "data": [] }))])),
            ("dyno-simulator", answers(&[owned("dyno-simulator")])),
            ("llama.cpp", answers(&[owned("llamacpp")])),
            ("llama.cpp", answers(&[unsaid(), ("/props", json!({ "default_generation_settings": {} }))])),
            ("vLLM", answers(&[owned("vllm")])),
            ("vLLM", exposition("/metrics", "# HELP x\nvllm:num_requests_running{engine=\"0\"} 0.0\n")),
            ("SGLang", answers(&[owned("sglang")])),
            ("SGLang", answers(&[unsaid(), ("/get_server_info", json!({ "disable_radix_cache": false }))])),
            ("FreeToken", answers(&[owned("FreeToken")])),
            ("FreeToken", answers(&[unsaid(), ("/v1/stats", stats)])),
            ("TensorRT-LLM", answers(&[owned("tensorrt_llm")])),
            (
                "TensorRT-LLM",
                exposition("/prometheus/metrics", "# HELP x\ntrtllm_num_requests_running 0.0\n"),
            ),
            ("Ollama", exposition("/", "Ollama is running")),
            ("Ollama", answers(&[owned("library"), ("/api/version", json!({ "version": "0.9.1" }))])),
            (
                "LM Studio",
                answers(&[
                    owned("organization_owner"),
                    ("/api/v0/models", json!({ "data": [{ "id": "x", "compatibility_type": "gguf" }] })),
                ]),
            ),
            ("mistral.rs", answers(&[owned("local"), ("/health", json!("OK"))])),
            ("openai-compatible", answers(&[owned("somebody-new")])),
            ("openai-compatible", answers(&[owned("library")])),
            ("openai-compatible", answers(&[owned("local")])),
            ("openai-compatible", Answers::default()),
        ]
    }

    #[test]
    fn every_engine_is_recognised_by_its_own_answers_and_the_last_takes_all() {
        for (name, answers) in signatures() {
            assert_eq!(recognise(&answers).name, name, "{answers:?}");
        }
        let tried: BTreeSet<&str> = signatures().iter().map(|(name, _)| *name).collect();
        let known: BTreeSet<&str> = ENGINES.iter().map(|engine| engine.name).collect();
        assert_eq!(tried, known, "an engine without a signature");
        assert!((ENGINES[ENGINES.len() - 1].recognise)(&Answers::default()));
    }

    #[test]
    fn what_an_engine_is_recognised_by_is_asked_for_and_its_flags_name_keys() {
        for engine in ENGINES {
            let name = engine.name;
            assert!(!engine.ready.is_empty(), "{name}");
            if let Some(counting) = engine.counting {
                let read = engine.routes.iter().any(|route| route.path == counting.route());
                assert!(
                    read,
                    "{name}: the route of the counters is not read, so nobody knows that they are there"
                );
            }
            for flag in engine.flags {
                let is_key = effective::KEYS.iter().any(|(key, _)| *key == flag.key);
                assert!(is_key || flag.key.starts_with("simulated_"), "{name}: {}", flag.key);
                for spelling in flag.names {
                    assert!(!spelling.starts_with('-') && !spelling.contains('_'), "{name}: {spelling}");
                }
            }
        }
    }

    #[test]
    fn the_page_about_engines_has_a_row_for_each_with_its_ports_and_routes() {
        let page = include_str!("../../../docs/ENGINES.md");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        let named: Vec<String> = ENGINES.iter().map(|engine| format!("`{}`", engine.name)).collect();
        assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), named);
        for (engine, row) in ENGINES.iter().zip(&rows) {
            let [_, found, _, ready, asked, counters, ..] = row[..] else { panic!("{row:?}") };
            let ports: Vec<u16> = found.split(", ").filter_map(|port| port.parse().ok()).collect();
            assert_eq!(ports, engine.ports, "{}", engine.name);
            assert!(ready.starts_with(&format!("`{}`", engine.ready)), "{}", engine.name);
            assert!(asked.starts_with(&format!("`{}`", engine.dialect.path())), "{}", engine.name);
            match engine.counting {
                Some(counting) => {
                    assert!(counters.contains(&format!("`{}`", counting.route())), "{}", engine.name);
                }
                None => assert!(!counters.contains("`/"), "{}", engine.name),
            }
        }
    }

    #[test]
    fn no_engine_panics_on_answers_of_any_shape() {
        let routes: BTreeSet<&'static str> = ENGINES
            .iter()
            .flat_map(|engine| {
                engine.routes.iter().map(|route| route.path).chain(engine.probes.iter().copied())
            })
            .chain(["/v1/models"])
            .collect();
        for odd in
            [json!(null), json!([]), json!("x"), json!(7), json!({ "data": 7 }), json!({ "data": [7, {}] })]
        {
            let mut answers = Answers::default();
            for path in &routes {
                answers.put(path, odd.to_string());
            }
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
