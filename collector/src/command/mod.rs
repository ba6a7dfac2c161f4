//! One file for each subcommand.

pub mod calibrate;
pub mod chart;
pub mod check_pull_request;
pub mod compare;
pub mod discover;
pub mod export;
pub mod guard;
pub mod import;
pub mod plan;
pub mod publish;
pub mod report;
pub mod run;
pub mod schema;
pub mod simulate;
pub mod submit;
pub mod sweep;
pub mod validate;

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use dyno_shared::shard::parse;
use dyno_shared::submission::Submission;

/// Writes data to stdout. A reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to stdout"),
    }
}

/// Writes data to stdout as JSON.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value).context("cannot write JSON")? + "\n"))
}

/// Reads a shard's form without judging what it says. The error does not name the file.
fn load(path: &Path) -> anyhow::Result<Submission> {
    Ok(parse(&crate::input::text(path)?)?)
}
