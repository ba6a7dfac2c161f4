//! Side calls: health, models, counters. Never measured.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use serde_json::Value;

use super::Target;
use super::exchange::{Asking, Broken, Exchange, request};
use super::socket::dial;
use crate::endpoint::refusal;

/// The largest answer that is taken.
const MAX_REPLY_BYTES: usize = 16 << 20;

/// An answer of any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The body, invalid UTF-8 replaced.
    pub body: String,
}

/// Why a side call gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No connection.
    #[error("{url}: {reason}")]
    Connect {
        /// The engine's root.
        url: String,
        /// What happened and what to do.
        reason: String,
    },
    /// Connected, but no whole answer came.
    #[error("{url}{path}: {reason}")]
    Broken {
        /// The engine's root.
        url: String,
        /// The route.
        path: String,
        /// What happened and what to do.
        reason: String,
    },
    /// An HTTP error.
    #[error("{url}{path}: {reason}")]
    Status {
        /// The engine's root.
        url: String,
        /// The route.
        path: String,
        /// HTTP status.
        status: u16,
        /// What the server said and what to do.
        reason: String,
    },
    /// An answer that is not JSON.
    #[error("{url}{path} did not answer with JSON: {reason}")]
    NotJson {
        /// The engine's root.
        url: String,
        /// The route.
        path: String,
        /// Where it stops being JSON, and how it starts.
        reason: String,
    },
}

impl CallError {
    /// The HTTP status, where there was an answer with an error status.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// Asks a route and gives its answer, whatever its status.
///
/// # Errors
/// When no connection or no whole answer came within the time-outs.
pub async fn call(
    target: &Target,
    method: Method,
    path: &str,
    body: Option<Bytes>,
) -> Result<Reply, CallError> {
    let broken =
        |reason: String| CallError::Broken { url: target.url().to_owned(), path: path.to_owned(), reason };
    let limit = target.timeouts().call;
    match tokio::time::timeout(limit, exchange(target, method, path, body, limit)).await {
        Err(_) => Err(broken(format!(
            "no whole answer within {} s: is the engine overloaded?",
            limit.as_secs_f64()
        ))),
        Ok(Ok(reply)) => Ok(reply),
        Ok(Err(Failure::Dial(reason))) => Err(CallError::Connect { url: target.url().to_owned(), reason }),
        Ok(Err(Failure::Answer(reason))) => Err(broken(reason)),
    }
}

/// GET of any route, an error status being an error.
///
/// # Errors
/// As [`call`], and when the status is not 2xx.
pub async fn get(target: &Target, path: &str) -> Result<Reply, CallError> {
    successful(target, path, call(target, Method::GET, path, None).await?)
}

/// GET of a text.
///
/// # Errors
/// As [`get`].
pub async fn get_text(target: &Target, path: &str) -> Result<String, CallError> {
    Ok(get(target, path).await?.body)
}

/// GET of JSON.
///
/// # Errors
/// As [`get`], and when the answer is not JSON.
pub async fn get_json(target: &Target, path: &str) -> Result<Value, CallError> {
    json(target, path, &get(target, path).await?)
}

/// POST of JSON, answered by JSON.
///
/// # Errors
/// As [`get_json`].
pub async fn post_json(target: &Target, path: &str, body: &Value) -> Result<Value, CallError> {
    let reply = call(target, Method::POST, path, Some(Bytes::from(body.to_string()))).await?;
    json(target, path, &successful(target, path, reply)?)
}

fn successful(target: &Target, path: &str, reply: Reply) -> Result<Reply, CallError> {
    if (200..300).contains(&reply.status) {
        return Ok(reply);
    }
    Err(CallError::Status {
        url: target.url().to_owned(),
        path: path.to_owned(),
        status: reply.status,
        reason: refusal::explain(reply.status, &reply.body),
    })
}

fn json(target: &Target, path: &str, reply: &Reply) -> Result<Value, CallError> {
    serde_json::from_str(&reply.body).map_err(|error| CallError::NotJson {
        url: target.url().to_owned(),
        path: path.to_owned(),
        reason: format!("{error}: `{}`", refusal::quote(&reply.body)),
    })
}

enum Failure {
    Dial(String),
    Answer(String),
}

async fn exchange(
    target: &Target,
    method: Method,
    path: &str,
    body: Option<Bytes>,
    patience: Duration,
) -> Result<Reply, Failure> {
    let answer = |broken: Broken| {
        Failure::Answer(match broken {
            Broken::Silent(limit) => format!("no answer within {} s", limit.as_secs_f64()),
            Broken::Closed(cause) => {
                format!("the server closed the connection before its answer was whole ({cause})")
            }
            Broken::NotHttp(cause) => {
                format!("the answer is not HTTP ({cause}): is it the port of another program?")
            }
        })
    };
    let socket = dial(target).await.map_err(|failure| Failure::Dial(failure.explain()))?;
    let mut exchange = Exchange::new(socket);
    let asking = Asking { method, route: path, body, accept: "application/json, text/plain" };
    let status = exchange.send(request(target, &asking), Instant::now(), patience).await.map_err(answer)?;
    let mut bytes = Vec::new();
    while !exchange.is_over() {
        exchange.read(patience, |_, more| bytes.extend_from_slice(more)).await.map_err(answer)?;
        if bytes.len() > MAX_REPLY_BYTES {
            return Err(Failure::Answer(format!("the answer is larger than {} MiB", MAX_REPLY_BYTES >> 20)));
        }
    }
    Ok(Reply { status, body: target.without_key(String::from_utf8_lossy(&bytes).into_owned()) })
}
