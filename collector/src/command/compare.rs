//! `dyno compare`: is it really faster?

mod json;
mod markdown;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;
use dyno_shared::comparison::{
    Comparison, FEWEST_PAIRS, Role, Side, Terms, Unit, Verdict, compare, letter, pool,
};
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;

use crate::exit::{Exit, Failure};
use crate::talk::say;
pub(in crate::command) use markdown::escaped;

/// Compare submissions run by run: ratios with intervals, exact tests corrected for many looks, and a winner only
/// where the data name one.
///
/// The first file is what the others are compared with. Runs pair within one series: measure both with the same
/// --series. Exit codes: 0 compared, 1 --fail-on found something, 2 wrong usage, or files that cannot be compared.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Shards: A, B, and more if you like.
    #[arg(required = true, value_name = "FILE", num_args = 2..)]
    pub files: Vec<PathBuf>,
    /// Take files of one configuration together: each is a boot, a start of its server.
    #[arg(long)]
    pub pool: bool,
    /// Compare what was not asked the same, unpaired, and say so.
    #[arg(long)]
    pub allow_mismatch: bool,
    /// Equivalent means within this share, e.g. 2%.
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = crate::command::run::share)]
    pub margin: f64,
    /// End with exit code 1 if a tested figure is so.
    #[arg(long, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// Print JSON instead.
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print Markdown instead, for a pull request.
    #[arg(long)]
    pub markdown: bool,
}

/// What ends with exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A figure is slower than the first file's.
    Slower,
    /// A figure is faster or slower.
    Different,
    /// A case's headline is not shown to be equivalent: neither too few runs nor "not separated" pass.
    NotEquivalent,
}

/// Compares the files.
///
/// # Errors
/// If a file is no shard, if there is nothing to compare, or if nothing of it compares.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let shards = load(&args.files)?;
    let shards: Vec<&Submission> = shards.iter().collect();
    let sides = if args.pool { pool(&shards) } else { shards.iter().map(|shard| Side::of(shard)).collect() };
    if sides.len() < 2 {
        return Err(Failure::usage(anyhow!(
            "all {} files have one configuration, so --pool leaves one side: leave --pool away to compare the boots \
             with each other",
            args.files.len()
        )));
    }
    let terms = Terms { margin_ratio: 1.0 + args.margin, allow_mismatch: args.allow_mismatch };
    let comparison = compare(&sides, terms);
    if args.json {
        super::print_json(&json::comparison(&comparison))?;
    } else if args.markdown {
        super::print(&markdown::text(&comparison, &sides))?;
    } else {
        super::print(&table::text(&comparison, &sides))?;
    }
    if comparison.is_refused() {
        return Err(Failure::usage(refusal(&comparison)));
    }
    args.fail_on.map_or(Ok(Exit::Done), |what| judge(&comparison, what))
}

fn load(files: &[PathBuf]) -> anyhow::Result<Vec<Submission>> {
    for (at, file) in files.iter().enumerate() {
        let is_same = |other: &PathBuf| other == file || are_one_file(other, file);
        if files[..at].iter().any(is_same) {
            bail!("{} stands twice: a file cannot be compared with itself", plain(&file.to_string_lossy()));
        }
    }
    let load = |file: &PathBuf| super::load(file).with_context(|| plain(&file.to_string_lossy()));
    files.iter().map(load).collect()
}

fn are_one_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Why nothing was compared, and what to do.
fn refusal(comparison: &Comparison) -> anyhow::Error {
    let reasons = comparison.reasons();
    if reasons.is_empty() {
        return anyhow!(
            "the files have no case in common: run the same suite on both, or look at the names of the cases above"
        );
    }
    if reasons.iter().all(|reason| reason.starts_with("both sides hold the same runs")) {
        return anyhow!("not comparable: {}", plain(&reasons.join("; ")));
    }
    let remedy = if reasons.contains(&"the series differs") {
        "Runs pair within one series: measure both with the same --series NAME. --allow-mismatch compares them unpaired, \
         and says so"
    } else {
        "--allow-mismatch compares unpaired what has runs on both sides, and says so"
    };
    anyhow!("not comparable: {}. {remedy}", plain(&reasons.join("; ")))
}

/// Whether the comparison is what `--fail-on` looks for; says what was found. A side of which nothing could be tested
/// does not pass.
fn judge(comparison: &Comparison, what: FailOn) -> Result<Exit, Failure> {
    let mut found = Vec::new();
    for case in &comparison.cases {
        for against in &case.against {
            for ratio in &against.ratios {
                let Some(verdict) = &ratio.verdict else { continue };
                let is_found = match what {
                    FailOn::Slower => *verdict == Verdict::Slower,
                    FailOn::Different => matches!(verdict, Verdict::Slower | Verdict::Faster),
                    FailOn::NotEquivalent => ratio.role == Role::Headline && *verdict != Verdict::Equivalent,
                };
                if is_found {
                    let side = letter(against.side);
                    let (case, title) = (plain(&case.case), ratio.metric.title);
                    found.push(format!("{side}, {case}, {title}: {}", verdict.word()));
                }
            }
        }
    }
    for line in &found {
        say(line);
    }
    if !found.is_empty() {
        return Ok(Exit::ChecksFailed);
    }
    let is_tested = |side: usize| {
        let all = comparison.cases.iter().flat_map(|case| &case.against).filter(|of| of.side == side);
        all.flat_map(|against| &against.ratios).any(|ratio| ratio.holm_p.is_some())
    };
    match (1..comparison.sides.len()).find(|&side| !is_tested(side)) {
        None => Ok(Exit::Done),
        Some(side) => Err(Failure::usage(anyhow!(
            "{} was not tested, so --fail-on cannot pass it: a test needs {FEWEST_PAIRS} runs, or {} cycles or {} boots, \
             that passed on both sides and were asked the same",
            letter(side),
            Unit::Cycle.fewest(),
            Unit::Boot.fewest()
        ))),
    }
}
