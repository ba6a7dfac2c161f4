//! `dyno validate`: what keeps a shard from being published.

use std::path::{Path, PathBuf};

use dyno_shared::plain::plain;
use dyno_shared::validate::validate;

use crate::exit::{Exit, Failure};
use crate::talk::say;

/// Check shards before they are published: form, impossible values, and anything private.
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
        match check(path) {
            Ok(facts) => super::print(&format!("ok  {name} ({facts})\n"))?,
            Err(problems) => {
                bad += 1;
                for problem in problems {
                    say(format_args!("{name}: {problem}"));
                }
            }
        }
    }
    if bad > 0 {
        say(format_args!("{bad} of {} files cannot be published", args.files.len()));
        return Ok(Exit::Usage);
    }
    Ok(Exit::Done)
}

/// What a good shard holds, in words; or every problem of a bad one.
fn check(path: &Path) -> Result<String, Vec<String>> {
    let shard = super::load(path).map_err(|error| vec![format!("{error:#}")])?;
    let problems = validate(&shard);
    if problems.is_empty() {
        let runs: usize = shard.cases.iter().map(|case| case.runs.len()).sum();
        Ok(format!("{} cases, {runs} runs", shard.cases.len()))
    } else {
        Err(problems.iter().map(ToString::to_string).collect())
    }
}
