//! `dyno schema`: the JSON Schema of the shard, as `schema/dyno-1.schema.json` holds it.

use dyno_shared::submission::Submission;

use crate::exit::{Exit, Failure};

/// The schema as text.
pub fn text() -> String {
    let schema = schemars::schema_for!(Submission);
    // A schema is a JSON value already, so it is always written.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Prints it.
///
/// # Errors
/// If stdout is closed.
pub fn run() -> Result<Exit, Failure> {
    super::print(&text())?;
    Ok(Exit::Done)
}
