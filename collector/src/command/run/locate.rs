//! Where the engine is, and waiting for it.

use std::time::Duration;

use anyhow::anyhow;

use super::RunArgs;
use crate::engine::{EndpointError, USUAL_PORTS, discover, wait_ready};
use crate::exit::Failure;
use crate::talk::say;
use crate::transport::{API_KEY_ENV, Target};

/// The engine that is named, else the first one found on the usual ports.
pub(super) async fn target(args: &RunArgs) -> Result<Target, Failure> {
    let url = match &args.url {
        Some(url) => url.clone(),
        None => found().await?,
    };
    let target = Target::parse(&url).map_err(Failure::usage)?.with_timeouts(args.timeouts());
    match key(args)? {
        Some(key) => target.with_api_key(&key).map_err(Failure::usage),
        None => Ok(target),
    }
}

async fn found() -> Result<String, Failure> {
    let found = discover(&USUAL_PORTS).await;
    let Some((first, others)) = found.split_first() else {
        return Err(Failure::endpoint(anyhow!("{}", nothing_found())));
    };
    let engine = if first.loading { "an engine that is loading" } else { first.engine.as_str() };
    say(format_args!("found {engine} at {}", first.url));
    for other in others {
        say(format_args!("there is also one at {}: --url chooses", other.url));
    }
    Ok(first.url.clone())
}

/// What to do where no engine was found.
pub fn nothing_found() -> String {
    let ports: Vec<String> = USUAL_PORTS.iter().map(ToString::to_string).collect();
    format!(
        "no engine was found on this machine (ports {}). Start one, or name it with --url; to try Dyno without one, \
         run `dyno simulate` in another terminal and measure the address that it prints",
        ports.join(", ")
    )
}

/// The key: given, or of the variable that is named, or of the usual one where it is set.
fn key(args: &RunArgs) -> Result<Option<String>, Failure> {
    if let Some(key) = &args.api_key {
        return Ok(Some(key.clone()));
    }
    let named = args.api_key_env.as_deref();
    match (std::env::var(named.unwrap_or(API_KEY_ENV)), named) {
        (Ok(key), _) if !key.trim().is_empty() => Ok(Some(key)),
        (_, Some(variable)) => Err(Failure::usage(anyhow!(
            "the environment variable {variable} holds no key: set it, or leave out --api-key-env"
        ))),
        (_, None) => Ok(None),
    }
}

/// Waits for an engine that is loading, and says so.
pub(super) async fn wait(args: &RunArgs, target: &Target) -> Result<(), Failure> {
    let mut said = None::<Duration>;
    let waiting = |waited: Duration| {
        if said.is_none_or(|last| waited.saturating_sub(last) >= Duration::from_secs(10)) {
            say(format_args!("{} is loading its model: waiting ({} s)", target.url(), waited.as_secs()));
            said = Some(waited);
        }
    };
    wait_ready(target, args.load_timeout, waiting).await.map_err(failure)
}

/// The command line's fault, or the endpoint's.
pub(super) fn failure(error: EndpointError) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::endpoint(error) }
}
