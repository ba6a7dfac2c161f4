//! Waiting for an engine that is loading its model.

use std::time::{Duration, Instant};

use super::EndpointError;
use crate::transport::{CallError, Method, Target, call};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Waits while the endpoint answers 503, at most for `patience`; `waiting` is told how long it has been before every
/// further look. A server without `/health` is asked for its models instead.
///
/// # Errors
/// [`EndpointError::Unreachable`] at once when nothing listens, [`EndpointError::Loading`] when patience ends.
pub async fn wait_ready(
    target: &Target,
    patience: Duration,
    mut waiting: impl FnMut(Duration),
) -> Result<(), EndpointError> {
    let begin = Instant::now();
    while is_loading(target).await.map_err(|error| EndpointError::from_call(&error))? {
        let waited = begin.elapsed();
        if waited >= patience {
            return Err(EndpointError::Loading { url: target.url().to_owned(), waited_s: waited.as_secs() });
        }
        waiting(waited);
        tokio::time::sleep(PAUSE.min(patience.saturating_sub(waited))).await;
    }
    Ok(())
}

async fn is_loading(target: &Target) -> Result<bool, CallError> {
    let health = call(target, Method::GET, "/health", None).await?.status;
    if (200..300).contains(&health) || health == 503 {
        return Ok(health == 503);
    }
    Ok(call(target, Method::GET, "/v1/models", None).await?.status == 503)
}
