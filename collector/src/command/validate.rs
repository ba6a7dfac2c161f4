//! `dyno validate`: what keeps a shard from being published.

use std::path::{Path, PathBuf};

use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;

use crate::board::examine::{Examined, Finding, examine};
use crate::exit::{Exit, Failure};
use crate::talk::say;

/// Check shards before they are published: form, impossible values, and anything private.
///
/// What is impossible or private is an error. What is only hard to believe is a warning, and so is a field that no
/// version of the schema has.
#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// Shards.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Prints `ok` for each good file, and every problem of the others with its place and remedy.
///
/// # Errors
/// If stdout is closed.
pub fn run(args: &ValidateArgs) -> Result<Exit, Failure> {
    let mut bad = 0;
    for path in &args.files {
        let name = plain(&path.to_string_lossy());
        let examined = look_at(path);
        for error in &examined.errors {
            say(format_args!("{name}: {error}"));
        }
        for warning in &examined.warnings {
            say(format_args!("{name}: warning: {warning}"));
        }
        match &examined.shard {
            Some(shard) if examined.is_good() => super::print(&format!("ok  {name} ({})\n", facts(shard)))?,
            _ => bad += 1,
        }
    }
    if bad > 0 {
        say(format_args!("{bad} of {} files cannot be published", args.files.len()));
        return Ok(Exit::Usage);
    }
    Ok(Exit::Done)
}

fn look_at(path: &Path) -> Examined {
    match crate::input::text(path) {
        Ok(text) => examine(&text),
        Err(error) => Examined { errors: vec![Finding::whole(error.to_string())], ..Examined::default() },
    }
}

/// What a good shard holds, in words.
fn facts(shard: &Submission) -> String {
    let runs: usize = shard.cases.iter().map(|case| case.runs.len()).sum();
    format!("{} cases, {runs} runs", shard.cases.len())
}
