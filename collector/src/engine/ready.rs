//! Waiting for an engine that is loading its model.

use std::time::{Duration, Instant};

use dyno_shared::plain::plain;
use serde_json::Value;

use super::{ENGINES, EndpointError};
use crate::transport::{Method, Reply, Target, call};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Waits while the endpoint says that it loads, at most for `patience`; `waiting` is told how long it has been before
/// every further look. A server without `/health` is asked for its models instead.
///
/// # Errors
/// [`EndpointError::Unreachable`] at once when nothing listens or the engine says that it failed,
/// [`EndpointError::Loading`] when patience ends.
pub async fn wait_ready(
    target: &Target,
    patience: Duration,
    mut waiting: impl FnMut(Duration),
) -> Result<(), EndpointError> {
    let begin = Instant::now();
    while is_loading(target).await? {
        let waited = begin.elapsed();
        if waited >= patience {
            return Err(EndpointError::Loading { url: target.url().to_owned(), waited_s: waited.as_secs() });
        }
        waiting(waited);
        tokio::time::sleep(PAUSE.min(patience.saturating_sub(waited))).await;
    }
    Ok(())
}

/// Asks the routes by which engines tell that they are ready, in the order of the list, until one is known.
async fn is_loading(target: &Target) -> Result<bool, EndpointError> {
    let mut asked = Vec::new();
    for route in ENGINES.iter().map(|engine| engine.ready) {
        if asked.contains(&route) {
            continue;
        }
        asked.push(route);
        let reply = call(target, Method::GET, route, None).await;
        let reply = reply.map_err(|error| EndpointError::from_call(&error))?;
        match state(&reply) {
            State::Ready => return Ok(false),
            State::Loading => return Ok(true),
            State::Failed(why) => {
                return Err(EndpointError::Unreachable(format!(
                    "{}{route} says that the engine has failed: {}: restart it",
                    target.url(),
                    plain(&why)
                )));
            }
            State::Unsaid => {}
        }
    }
    Ok(false)
}

/// What an answer to a question for readiness says.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Ready,
    Loading,
    Failed(String),
    /// The route is not there, or not for us.
    Unsaid,
}

/// FreeToken binds its port before it loads and tells by `status`, in some versions with HTTP 200.
fn state(reply: &Reply) -> State {
    let body: Value = serde_json::from_str(&reply.body).unwrap_or_default();
    match (reply.status, body["status"].as_str()) {
        (200..=299 | 503, Some("loading")) => State::Loading,
        (200..=299 | 503, Some("error")) if body["message"].is_string() => {
            State::Failed(body["message"].as_str().unwrap_or_default().to_owned())
        }
        (200..=299, _) => State::Ready,
        (503, _) => State::Loading,
        _ => State::Unsaid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_in_the_body_outranks_that_of_the_answer() {
        let of = |status: u16, body: &str| state(&Reply { status, body: body.to_owned() });
        assert_eq!(of(200, ""), State::Ready);
        assert_eq!(of(200, r#"{"status":"ok"}"#), State::Ready);
        assert_eq!(of(503, r#"{"error":{"message":"Loading model"}}"#), State::Loading);
        assert_eq!(of(200, r#"{"status":"loading","phase":"weights"}"#), State::Loading);
        for status in [200, 503] {
            let failed = of(status, r#"{"status":"error","message":"out of memory"}"#);
            assert_eq!(failed, State::Failed("out of memory".into()));
        }
        assert_eq!(of(404, r#"{"status":"loading"}"#), State::Unsaid);
    }
}
