//! `dyno discover`: engines that run on this machine.

use serde_json::json;

use crate::engine::{Found, USUAL_PORTS, discover};
use crate::exit::{Exit, Failure};
use crate::transport;

/// Look for engines on the usual ports of this machine.
#[derive(Debug, clap::Args)]
pub struct DiscoverArgs {
    /// Print JSON: the address that `dyno run` would take, and every engine found.
    #[arg(long)]
    pub json: bool,
}

/// Prints what was found; the first one is what `dyno run` takes.
///
/// # Errors
/// If nothing was found.
pub fn run(args: &DiscoverArgs) -> Result<Exit, Failure> {
    let runtime = transport::runtime().map_err(anyhow::Error::from)?;
    let found = runtime.block_on(discover(&USUAL_PORTS));
    let Some(first) = found.first() else {
        return Err(Failure::endpoint(anyhow::anyhow!("{}", super::run::nothing_found())));
    };
    if args.json {
        let engines: Vec<serde_json::Value> = found.iter().map(entry).collect();
        super::print_json(&json!({ "url": first.url, "engines": engines }))?;
    } else {
        let lines: Vec<String> = found.iter().map(line).collect();
        super::print(&(lines.join("\n") + "\n"))?;
    }
    Ok(Exit::Done)
}

fn entry(found: &Found) -> serde_json::Value {
    let engine = (!found.loading).then_some(&found.engine);
    json!({ "url": found.url, "engine": engine, "models": found.models, "loading": found.loading })
}

fn line(found: &Found) -> String {
    if found.loading {
        return format!("{}  loading its model", found.url);
    }
    let models = if found.models.is_empty() { "no model".to_owned() } else { found.models.join(", ") };
    format!("{}  {}  {}", found.url, found.engine, dyno_shared::plain::plain(&models))
}
