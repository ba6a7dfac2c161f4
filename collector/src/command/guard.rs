//! `dyno guard`: between `dyno sweep` and a server that it starts; see [`crate::launch::guard`].

use std::ffi::OsString;

use crate::exit::{Exit, Failure};
use crate::launch::guard::hold;

/// Run a program until it ends or stdin closes, and leave nothing of it behind.
#[derive(Debug, Clone, clap::Args)]
pub struct GuardArgs {
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Holds the program.
///
/// # Errors
/// If no program is named.
pub fn run(args: &GuardArgs) -> Result<Exit, Failure> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::usage(anyhow::anyhow!("name a program after --")));
    };
    hold(program, arguments);
    Ok(Exit::Done)
}
