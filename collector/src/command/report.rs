//! `dyno report`: the table of a shard.

use std::path::PathBuf;

use dyno_shared::plain::plain;

use crate::exit::{Exit, Failure};
use crate::report;
use crate::talk::say_error;

/// Show what shards say: rates with intervals, runs, spread, what they detect, time to first token, outliers,
/// failed checks.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Shards.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print JSON instead: one array with an object for each file.
    #[arg(long)]
    pub json: bool,
}

/// Reports every file; a bad one does not keep the others from being shown.
///
/// # Errors
/// If a file is no shard, after all others were shown.
pub fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let mut reports = Vec::new();
    let mut texts = Vec::new();
    let mut bad = 0;
    for path in &args.files {
        // An invalid shard is shown all the same: `dyno validate` is for what may be published.
        match super::load(path) {
            Ok(shard) if args.json => reports.push(report::json::report(&path.to_string_lossy(), &shard)),
            Ok(shard) => texts.push(report::text(&shard)),
            Err(error) => {
                say_error(&error.context(plain(&path.to_string_lossy())));
                bad += 1;
            }
        }
    }
    if args.json {
        super::print_json(&reports)?;
    } else {
        super::print(&texts.join("\n────\n\n"))?;
    }
    Ok(if bad == 0 { Exit::Done } else { Exit::Usage })
}
