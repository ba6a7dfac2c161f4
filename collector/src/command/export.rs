//! `dyno export`: shards as Parquet or CSV.

use std::path::PathBuf;

use clap::ValueEnum;
use dyno_shared::plain::plain;

use crate::exit::{Exit, Failure};
use crate::export::{self, Compression, Dataset, Format, Options};
use crate::talk::say;

/// Write shards as Parquet or CSV for `DuckDB`, Polars, Spark and their like (docs/EXPORT.md).
///
/// `requests/` has one row for each request of a recorded run, `summaries/` one for each figure of a case; both are
/// Hive-partitioned: `engine=llama.cpp/month=2026-11/part-0.parquet`. What nobody knows is null.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Shards, and folders: every *.json below a folder is read.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,
    /// The folder to write; it is made, or must be empty.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Kind of the files.
    #[arg(long, value_enum, default_value_t = Kind::Parquet)]
    pub format: Kind,
    /// Compression of Parquet files [default: zstd].
    #[arg(long, value_enum)]
    pub compression: Option<Compression>,
    /// Write one dataset alone: the figures of a case take longer to compute than its requests to write.
    #[arg(long, value_enum, value_name = "DATASET")]
    pub only: Option<Dataset>,
    /// Replace an earlier export in the folder, as a whole.
    #[arg(long)]
    pub force: bool,
}

/// The kind of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Parquet.
    Parquet,
    /// CSV.
    Csv,
}

/// Exports, and says what was left out.
///
/// # Errors
/// If the folder may not be replaced or written.
pub fn run(args: &ExportArgs) -> Result<Exit, Failure> {
    let format = match (args.format, args.compression) {
        (Kind::Parquet, compression) => Format::Parquet(compression.unwrap_or(Compression::Zstd)),
        (Kind::Csv, None | Some(Compression::None)) => Format::Csv,
        (Kind::Csv, Some(_)) => {
            return Err(anyhow::anyhow!(
                "CSV is written as it is: leave --compression out, or take --format parquet"
            )
            .into());
        }
    };
    let options = Options {
        inputs: args.inputs.clone(),
        out: args.out.clone(),
        format,
        only: args.only,
        force: args.force,
    };
    let exported = export::export(&options).map_err(Failure::usage)?;
    for path in &exported.duplicates {
        say(format_args!("{}: the same as another shard, exported once", plain(&path.to_string_lossy())));
    }
    for bad in &exported.bad {
        say(format_args!("{}: left out: {}", plain(&bad.path.to_string_lossy()), bad.reason));
    }
    if exported.shards == 0 {
        return Err(anyhow::anyhow!("there is no shard to export: name shards, or a folder of them").into());
    }
    say(format_args!(
        "exported {} submissions: {} requests, {} figures; left out {}",
        exported.shards,
        exported.requests,
        exported.summaries,
        exported.bad.len()
    ));
    super::print(&format!("{}\n", args.out.display()))?;
    Ok(if exported.bad.is_empty() { Exit::Done } else { Exit::Usage })
}
