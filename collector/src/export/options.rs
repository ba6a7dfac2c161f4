//! What an export is to be.

use std::path::PathBuf;

/// Options of an export.
#[derive(Debug, Clone)]
pub struct Options {
    /// Shards, and folders of them.
    pub inputs: Vec<PathBuf>,
    /// The folder to write.
    pub out: PathBuf,
    /// Its files.
    pub format: Format,
    /// One dataset alone, or both.
    pub only: Option<Dataset>,
    /// Whether an earlier export in that folder is replaced.
    pub force: bool,
}

/// The kind of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Parquet.
    Parquet(Compression),
    /// CSV.
    Csv,
}

impl Format {
    /// The end of the files' names.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Parquet(_) => "parquet",
            Self::Csv => "csv",
        }
    }
}

/// How the pages of a Parquet file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Compression {
    /// Small.
    Zstd,
    /// Quick, and read by everything.
    Snappy,
    /// Not at all.
    None,
}

/// A dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dataset {
    /// One row for each request of a recorded run.
    Requests,
    /// One row for each figure of a case.
    Summaries,
}

impl Dataset {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Requests, Self::Summaries];

    /// Its folder.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Summaries => "summaries",
        }
    }
}
