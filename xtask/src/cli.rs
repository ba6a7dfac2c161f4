//! The command line, in the order of its help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::check::Stage;

/// Set-up, checks, demo and benchmarks. Every command installs what it lacks into a cache outside the checkout
/// ($`DYNO_CACHE`, else $`XDG_CACHE_HOME/dyno`, else ~/.cache/dyno) and is safe to run again.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure an engine, publish the result beside results/ and serve the explorer
    Demo(DemoOptions),
    /// Run every check: format, lints, tests, the wasm build, the tests in a browser
    Test(TestOptions),
    /// Build and start a real engine to measure
    #[command(subcommand)]
    Engine(Engine),
    /// Build the explorer with the data of results/, ready to upload
    Site(SiteOptions),
    /// Print figures of speed and size
    #[command(subcommand)]
    Bench(Bench),
    /// Throw bytes at the parsers of what arrives from outside
    Fuzz(FuzzOptions),
    /// Install what the other commands need (they also do it themselves)
    Setup,
}

#[derive(Debug, Args)]
pub struct DemoOptions {
    /// The engine to measure, such as <http://127.0.0.1:8080>; without it one running on the usual ports, else the
    /// built-in simulated engine
    #[arg(long)]
    pub url: Option<String>,
    /// Port of the explorer; without it 4173, or any free port if that is taken
    #[arg(long)]
    pub port: Option<u16>,
    /// Measure a real engine with the whole suite, about half an hour on a laptop, instead of the quick one
    #[arg(long)]
    pub full: bool,
    /// Measure nothing: show this shard beside the published ones; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "full"])]
    pub show: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TestOptions {
    /// Run only this stage; may be given more than once
    #[arg(long = "stage", value_name = "NAME")]
    pub stages: Vec<Stage>,
    /// Go on after a stage that failed
    #[arg(long)]
    pub keep_going: bool,
    /// Build llama-server first, so that the tests against a real engine run (always so where $CI is set)
    #[arg(long)]
    pub with_engine: bool,
}

#[derive(Debug, Subcommand)]
pub enum Engine {
    /// llama-server with `SmolLM2` 135M, on the CPU
    LlamaCpp(LlamaCppOptions),
}

#[derive(Debug, Args)]
pub struct LlamaCppOptions {
    /// Port to listen on, at 127.0.0.1
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Build, but do not start
    #[arg(long)]
    pub build_only: bool,
    /// Threads the engine computes with; without it half of the processors, so that the client has its own
    #[arg(long)]
    pub threads: Option<usize>,
    /// Context in tokens, shared by all slots
    #[arg(long, default_value_t = 8192)]
    pub ctx: u32,
    /// Slots: how many requests are served at once
    #[arg(long, default_value_t = 4)]
    pub parallel: u32,
    /// More arguments for llama-server
    #[arg(last = true)]
    pub args: Vec<OsString>,
}

#[derive(Debug, Args)]
pub struct SiteOptions {
    /// Folder to write; what it holds is replaced
    #[arg(long, default_value = "dist")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct FuzzOptions {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
}

#[derive(Debug, Args)]
pub struct BenchClientOptions {
    /// Batches that count at each number of streams
    #[arg(long, default_value_t = 3)]
    pub batches: u32,
    /// Put table and curve into docs/
    #[arg(long)]
    pub write: bool,
}

#[derive(Debug, Args)]
pub struct BenchCompareOptions {
    /// Put the figures into docs/
    #[arg(long)]
    pub write: bool,
}

#[derive(Debug, Subcommand)]
pub enum Bench {
    /// How much delay the client adds, against the simulated engine
    Client(BenchClientOptions),
    /// What a comparison costs, and how often it is wrong
    Compare(BenchCompareOptions),
    /// Compressed sizes of the built page against its budget
    Page,
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
