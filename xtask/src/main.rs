//! `cargo xtask`: set-up, checks, demo and benchmarks of this workspace.
#![expect(clippy::print_stdout, reason = "stdout is where these commands put their results")]

use std::process::ExitCode;

use clap::Parser as _;

mod bench;
mod cache;
mod check;
mod children;
mod cli;
mod demo;
mod fuzz;
mod http;
mod llama_cpp;
mod process;
mod serve;
mod setup;
mod site;
mod squeeze;
mod versions;
mod workshop;

use cli::{Bench, Cli, Command, Engine};
use workshop::Workshop;

fn main() -> ExitCode {
    match dispatch(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> anyhow::Result<()> {
    let shop = Workshop::open()?;
    match command {
        Command::Setup => setup::ensure(&shop, &setup::Group::ALL),
        Command::Test(options) => check::run(&shop, &options),
        Command::Demo(options) => demo::run(&shop, &options),
        Command::Site(options) => site::run(&shop, &options),
        Command::Engine(Engine::LlamaCpp(options)) => llama_cpp::run(&shop, &options),
        Command::Bench(Bench::Client(options)) => bench::client::run(&shop, &options),
        Command::Bench(Bench::Compare(options)) => bench::compare::run(&shop, &options),
        Command::Bench(Bench::Page) => bench::page(&shop),
        Command::Fuzz(options) => fuzz::run(&shop, &options),
    }
}
