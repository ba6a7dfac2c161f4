//! `dyno check-pull-request`: the shards that a pull request adds, for its reviewers.

mod added;
mod markdown;

use std::path::PathBuf;

use anyhow::anyhow;

use crate::board::checkout::RESULTS;
use crate::board::examine::Examined;
use crate::board::similar::Similar;
use crate::exit::{Exit, Failure};
use crate::output::write_whole;
use crate::talk::say;
use added::Change;

/// Check the shards that a pull request adds to results/, and write a report in Markdown to stdout.
///
/// Two folders are compared: the board before the pull request and after it. Only what was added is read, as data, and
/// links are not followed.
#[derive(Debug, clap::Args)]
pub struct CheckPullRequestArgs {
    /// Root of the board before.
    #[arg(long, value_name = "DIR")]
    pub base: PathBuf,
    /// Root of the board with the pull request.
    #[arg(long, value_name = "DIR")]
    pub head: PathBuf,
    /// Folder for a figure of each shard, as SVG.
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
}

/// A shard that is added.
struct Addition {
    /// Below `results/`.
    path: String,
    examined: Examined,
    similar: Similar,
    /// Name of its figure, if it has one.
    chart: Option<String>,
}

/// Reports; a pull request that must not be merged as it is ends with 2.
///
/// # Errors
/// If a folder cannot be read, a figure cannot be written, or stdout is closed.
pub fn run(args: &CheckPullRequestArgs) -> Result<Exit, Failure> {
    for root in [&args.base, &args.head] {
        if !root.join(RESULTS).is_dir() {
            return Err(anyhow!("{} has no {RESULTS}/: name the root of a checkout", root.display()).into());
        }
    }
    let changes = added::changes(&args.base.join(RESULTS), &args.head.join(RESULTS))?;
    let mut additions = Vec::new();
    let mut others = Vec::new();
    for change in changes {
        match change {
            Change::Shard(path) => {
                let mut addition = added::look_at(args, path, &additions);
                addition.chart = chart(args, additions.len(), &addition)?;
                additions.push(addition);
            }
            Change::Other(finding) => others.push(finding),
        }
    }
    let good = additions.iter().all(|addition| addition.examined.is_good())
        && others.iter().all(|other| !other.refused);
    super::print(&markdown::text(&additions, &others, good))?;
    let bad = additions.iter().filter(|addition| !addition.examined.is_good()).count();
    say(format_args!("{} shards added, {bad} of them cannot be published", additions.len()));
    Ok(if good { Exit::Done } else { Exit::Usage })
}

/// Draws a shard that may be published. One that has nothing to draw is none the worse.
fn chart(args: &CheckPullRequestArgs, number: usize, addition: &Addition) -> Result<Option<String>, Failure> {
    let (Some(folder), Some(shard), true) =
        (&args.charts, &addition.examined.shard, addition.examined.is_good())
    else {
        return Ok(None);
    };
    let Ok(svg) = super::chart::standalone("intervals", shard, None) else { return Ok(None) };
    let name = format!("{}.svg", number + 1);
    write_whole(&folder.join(&name), svg.as_bytes(), true).map_err(anyhow::Error::from)?;
    Ok(Some(name))
}
