//! The only network code: the three kinds of published file, all below `data/` beside the page.

use dyno_shared::index::{IndexPage, Latest, SITE_SCHEMA};
use dyno_shared::summary::summarize_calibrated;
use dyno_shared::{objects, shard};
use gloo::utils::window;
use js_sys::Error;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{RequestCache, RequestInit, Response};

use crate::state::Shard;

/// Where a raw shard lies.
pub fn shard_path(id: &str) -> String {
    format!("data/shards/{id}.json")
}

/// The entry point; never from a cache.
pub async fn latest() -> Result<Box<Latest>, String> {
    let path = "data/latest.json";
    let text = text(path, RequestCache::NoCache).await.map_err(|failure| match failure {
        Failure::Status(404) => {
            "No data is published beside this page yet. Publish some with `dyno publish results/ --out data`."
                .to_owned()
        }
        other => other.words(path),
    })?;
    let latest: Box<Latest> = read(path, &text)?;
    let major = |schema: &str| schema.split('.').next().map(str::to_owned);
    if major(&latest.schema) != major(SITE_SCHEMA) {
        return Err(format!(
            "The data is of the form `{}`, and this page reads `{SITE_SCHEMA}`: reload the page.",
            latest.schema
        ));
    }
    Ok(latest)
}

/// A page of the index, by its path below `data/`.
pub async fn index_page(path: &str) -> Result<Box<IndexPage>, String> {
    let path = format!("data/{path}");
    let text = text(&path, RequestCache::Default).await.map_err(|failure| failure.words(&path))?;
    read(&path, &text)
}

/// A raw shard, by its id.
pub async fn shard(id: &str) -> Result<Box<Shard>, String> {
    let path = shard_path(id);
    let text = text(&path, RequestCache::Default).await.map_err(|failure| match failure {
        Failure::Status(404) => {
            "There is no submission of this name in the published data. It may have been \
                                 measured again or withdrawn since the link was made."
                .to_owned()
        }
        other => other.words(&path),
    })?;
    let submission = shard::parse(&text).map_err(|e| format!("{path} cannot be read: {e}."))?;
    let calibration = submission.provenance.calibration.as_ref();
    let summaries = submission.cases.iter().map(|case| summarize_calibrated(case, calibration)).collect();
    Ok(Box::new(Shard { submission, summaries, text }))
}

enum Failure {
    Status(u16),
    Network(String),
}

impl Failure {
    fn words(self, path: &str) -> String {
        match self {
            Self::Status(status) => format!("The server answered HTTP {status} for {path}."),
            Self::Network(why) => format!("{path} could not be fetched: {why}. Is the network there?"),
        }
    }
}

fn read<T: objects::Slot>(path: &str, text: &str) -> Result<Box<T>, String> {
    objects::read(text).map(Box::new).map_err(|wrong| format!("{path} is damaged: {wrong}."))
}

async fn text(path: &str, cache: RequestCache) -> Result<String, Failure> {
    let options = RequestInit::new();
    options.set_cache(cache);
    let response =
        JsFuture::from(window().fetch_with_str_and_init(path, &options)).await.map_err(|e| network(&e))?;
    let response: Response = response.unchecked_into();
    if !response.ok() {
        return Err(Failure::Status(response.status()));
    }
    let text = JsFuture::from(response.text().map_err(|e| network(&e))?).await.map_err(|e| network(&e))?;
    text.as_string().ok_or_else(|| Failure::Network("the answer is not a text".to_owned()))
}

/// What the browser says of a request that came to nothing.
fn network(error: &JsValue) -> Failure {
    let message = error.dyn_ref::<Error>().map(|error| String::from(error.message()));
    Failure::Network(message.unwrap_or_else(|| "the browser does not say why".to_owned()))
}
