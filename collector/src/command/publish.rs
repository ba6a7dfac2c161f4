//! `dyno publish`: what the explorer reads, from a folder of shards.

use std::path::PathBuf;

use dyno_shared::plain::plain;

use crate::board::flags::FILE;
use crate::exit::{Exit, Failure};
use crate::publish;
use crate::talk::say;

/// Turn a folder of shards into what the explorer reads. Bad shards are listed with their reasons and block nothing.
#[derive(Debug, clap::Args)]
pub struct PublishArgs {
    /// The folder of shards; every *.json below it is read.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The folder to write; files of earlier publications in it are replaced.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Publishes, and says what was left out.
///
/// # Errors
/// If the folder cannot be read or the output cannot be written.
pub fn run(args: &PublishArgs) -> Result<Exit, Failure> {
    let publication = publish::publish(&args.folder, &args.out).map_err(Failure::usage)?;
    for (copy, first) in &publication.duplicates {
        say(format_args!("{}: the same as {}, published once", plain(copy), plain(first)));
    }
    for lost in &publication.lost_flags {
        say(format_args!("warning: {} names {}, which is not there", FILE, plain(lost)));
    }
    let latest = &publication.latest;
    for rejected in &latest.rejected {
        say(format_args!("{}: rejected: {}", plain(&rejected.path), rejected.reason));
    }
    let rows: u64 = latest.index.iter().map(|page| page.rows).sum();
    say(format_args!(
        "published {} submissions with {rows} cases, rejected {}; data version {}",
        latest.submissions,
        latest.rejected.len(),
        latest.data_version
    ));
    super::print(&format!("{}\n", args.out.join("latest.json").display()))?;
    Ok(Exit::Done)
}
