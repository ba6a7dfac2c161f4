//! The command line: subcommands in the order of the help.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::command::calibrate::CalibrateArgs;
use crate::command::chart::ChartArgs;
use crate::command::check_pull_request::CheckPullRequestArgs;
use crate::command::compare::CompareArgs;
use crate::command::discover::DiscoverArgs;
use crate::command::export::ExportArgs;
use crate::command::guard::GuardArgs;
use crate::command::import::ImportArgs;
use crate::command::plan::PlanArgs;
use crate::command::publish::PublishArgs;
use crate::command::report::ReportArgs;
use crate::command::run::RunArgs;
use crate::command::simulate::SimulateArgs;
use crate::command::submit::SubmitArgs;
use crate::command::sweep::SweepArgs;
use crate::command::validate::ValidateArgs;
use crate::command::{
    calibrate, chart, check_pull_request, compare, discover, export, guard, import, plan, publish, report,
    run, schema, simulate, submit, sweep, validate,
};
use crate::exit::{Exit, Failure};
use crate::talk::say_error;

/// A dynamometer for LLM serving engines: prefill, decode and time to first token as separate regimes, with intervals.
///
/// stdout is data, stderr is talk. Exit codes: 0 done, 1 measured and something failed its checks, 2 wrong usage or
/// input, 3 the endpoint failed.
#[derive(Debug, Parser)]
#[command(name = "dyno", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a running engine and write one shard.
    Run(Box<RunArgs>),
    /// Start a server in several variants, measure each of them, and compare.
    Sweep(Box<SweepArgs>),
    /// Compare shards: is it really faster?
    Compare(CompareArgs),
    /// Tell how many runs would see a difference, and how long that takes.
    Plan(PlanArgs),
    /// Draw a figure of shards as SVG.
    Chart(ChartArgs),
    /// Show the table of a shard.
    Report(ReportArgs),
    /// Read other tools' result files and write shards of them.
    Import(ImportArgs),
    /// Check shards before they are published.
    Validate(ValidateArgs),
    /// Put shards into a checkout, ready for a pull request.
    Submit(SubmitArgs),
    /// Check the shards that a pull request adds, and write a report in Markdown.
    CheckPullRequest(CheckPullRequestArgs),
    /// Turn a folder of shards into what the explorer reads.
    Publish(PublishArgs),
    /// Write shards as Parquet or CSV.
    Export(ExportArgs),
    /// Look for engines on this machine.
    Discover(DiscoverArgs),
    /// Measure how much the client itself adds.
    Calibrate(CalibrateArgs),
    /// Serve a simulated engine with a known truth.
    Simulate(Box<SimulateArgs>),
    /// Run a program until it ends or stdin closes, and leave nothing of it behind.
    #[command(hide = true)]
    Guard(GuardArgs),
    /// Print the JSON Schema of the shard.
    #[command(hide = true)]
    Schema,
}

impl Command {
    /// Runs it; an error is said once, on stderr.
    pub fn execute(&self) -> ExitCode {
        let outcome = match self {
            Self::Run(args) => run::run(args),
            Self::Sweep(args) => sweep::run(args),
            Self::Compare(args) => compare::run(args),
            Self::Plan(args) => plan::run(args),
            Self::Chart(args) => chart::run(args),
            Self::Report(args) => report::run(args),
            Self::Import(args) => import::run(args),
            Self::Validate(args) => validate::run(args),
            Self::Submit(args) => submit::run(args),
            Self::CheckPullRequest(args) => check_pull_request::run(args),
            Self::Publish(args) => publish::run(args),
            Self::Export(args) => export::run(args),
            Self::Discover(args) => discover::run(args),
            Self::Calibrate(args) => calibrate::run(args),
            Self::Simulate(args) => simulate::run(args).map(|()| Exit::Done).map_err(Failure::from),
            Self::Guard(args) => guard::run(args),
            Self::Schema => schema::run(),
        };
        match outcome {
            Ok(exit) => exit.into(),
            Err(Failure { exit, error }) => {
                say_error(&error);
                exit.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
