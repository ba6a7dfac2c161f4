//! `dyno plan`: how many runs see a difference, before they are made.

mod json;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyno_shared::comparison::plan::plan;
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;

use crate::exit::{Exit, Failure};

/// Tell how many runs would see a difference of 1 %, 2 % and 5 %, and how long that takes, from the spread of runs
/// that were made.
///
/// From one file, what an unpaired comparison needs. What a paired one needs goes by the spread of the ratios, which
/// one file does not tell: a second file of the same series does, of a second start of the server or of another
/// set-up.
#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// A shard.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A second one of the same series, for the paired plan.
    #[arg(value_name = "FILE2")]
    pub second: Option<PathBuf>,
    /// Differences to see.
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',', default_value = "1%,2%,5%",
          value_parser = super::run::share)]
    pub see: Vec<f64>,
    /// Print JSON instead.
    #[arg(long)]
    pub json: bool,
}

/// Plans.
///
/// # Errors
/// If a file is no shard, or if no case of the first tells a spread.
pub fn run(args: &PlanArgs) -> Result<Exit, Failure> {
    let load = |path: &Path| -> anyhow::Result<Submission> {
        super::load(path).with_context(|| plain(&path.to_string_lossy()))
    };
    let first = load(&args.file)?;
    let second = args.second.as_deref().map(load).transpose()?;
    let mut differences = args.see.clone();
    differences.sort_by(f64::total_cmp);
    differences.dedup();
    let plans = plan(&first, second.as_ref());
    if !plans.iter().any(|of| of.unpaired.is_ok() || matches!(of.paired, Some(Ok(_)))) {
        return Err(Failure::usage(
            anyhow!("{}", table::why_not(&plans)).context(plain(&args.file.to_string_lossy())),
        ));
    }
    if args.json {
        let labels = [Some(&first), second.as_ref()].map(|of| of.map(|shard| shard.label.as_str()));
        super::print_json(&json::plans(labels, &plans, &differences))?;
    } else {
        super::print(&table::text(&first, second.as_ref(), &plans, &differences))?;
    }
    Ok(Exit::Done)
}
