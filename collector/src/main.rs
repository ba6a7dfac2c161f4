//! `dyno`, the collector.

use std::process::ExitCode;

use clap::Parser as _;
use dyno_collector::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().command.execute()
}
