//! What an endpoint answers: the routes that are read, all at once, and what came of each.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::{ENGINES, EndpointError, Engine, Loaded, generic};
use crate::transport::{Target, Timeouts, get_json, get_text, post_json};

/// The list of models: what every engine here has, and what is asked first.
pub(super) const MODELS: &str = "/v1/models";

/// An engine that does not know a route says so at once; one that says nothing is not waited for.
const PROBE: Duration = Duration::from_secs(3);

static NOTHING: Value = Value::Null;

/// One route that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    /// Its path.
    pub path: &'static str,
    /// The body to post, from the model's name; GET without one.
    body: Option<fn(&str) -> Value>,
}

impl Route {
    /// A route that is read by GET.
    pub const fn get(path: &'static str) -> Self {
        Self { path, body: None }
    }

    /// A route that is read by POST.
    pub const fn post(path: &'static str, body: fn(&str) -> Value) -> Self {
        Self { path, body: Some(body) }
    }
}

/// What was answered, by route. A route that is missing is an answer too: it is not here.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<&'static str, Answer>);

#[derive(Debug)]
struct Answer {
    text: String,
    json: Value,
}

impl Answers {
    /// The JSON of a route; null where it did not answer, or not with JSON.
    pub fn json(&self, path: &str) -> &Value {
        self.0.get(path).map_or(&NOTHING, |answer| &answer.json)
    }

    /// The text of a route; `None` where it did not answer.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(|answer| answer.text.as_str())
    }

    /// The list of models.
    pub fn models(&self) -> &Value {
        self.json(MODELS)
    }

    /// Whether the list of models says who owns one of them.
    pub fn owned_by(&self, owner: &str) -> bool {
        self.models()["data"].as_array().into_iter().flatten().any(|entry| entry["owned_by"] == owner)
    }

    /// Takes what a route answered.
    pub fn put(&mut self, path: &'static str, text: String) {
        let json = serde_json::from_str(&text).unwrap_or_default();
        self.0.insert(path, Answer { text, json });
    }

    /// Asks the routes that have not answered yet, all at once.
    async fn ask(&mut self, target: &Target, routes: &[Route], model: &str) {
        let mut asked = JoinSet::new();
        for &Route { path, body } in routes.iter().filter(|route| !self.0.contains_key(route.path)) {
            let (target, body) = (target.clone(), body.map(|body| body(model)));
            asked.spawn(async move {
                let text = match body {
                    None => get_text(&target, path).await,
                    Some(body) => post_json(&target, path, &body).await.map(|json| json.to_string()),
                };
                (path, text)
            });
        }
        while let Some(answered) = asked.join_next().await {
            if let Ok((path, Ok(text))) = answered {
                self.put(path, text);
            }
        }
    }

    /// The models in memory, by an engine that tells.
    pub async fn loaded(&mut self, target: &Target, engine: &Engine) -> Vec<String> {
        let Some(Loaded { route, names }) = engine.loaded else { return Vec::new() };
        self.ask(target, &[Route::get(route)], "").await;
        names(self)
    }

    /// Everything that the engine, once known, is read by. `model` is the one that is measured.
    pub async fn read(&mut self, target: &Target, engine: &Engine, model: &str) {
        self.ask(target, engine.routes, model).await;
    }
}

/// The list of models, then, where it does not say whose it is, the routes by which engines are known.
pub(super) async fn look(target: &Target) -> Result<Answers, EndpointError> {
    let models = get_json(target, MODELS).await.map_err(|error| EndpointError::from_call(&error))?;
    let mut answers = Answers::default();
    answers.put(MODELS, models.to_string());
    if recognise(&answers).name == generic::ENGINE.name {
        let probes: Vec<Route> =
            ENGINES.iter().flat_map(|engine| engine.probes).map(|path| Route::get(path)).collect();
        let usual = target.timeouts();
        let hurried = Timeouts { call: usual.call.min(PROBE), ..usual };
        answers.ask(&target.clone().with_timeouts(hurried), &probes, "").await;
    }
    Ok(answers)
}

/// The first engine of the list whose answers these are.
pub(super) fn recognise(answers: &Answers) -> &'static Engine {
    ENGINES.into_iter().find(|engine| (engine.recognise)(answers)).unwrap_or(&generic::ENGINE)
}
