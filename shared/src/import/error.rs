//! Why a file was not imported, and what to do.

use super::FORMATS;
use crate::shard::{LARGEST_SHARD_BYTES, ShardError};
use crate::validate::Problem;

/// Why a file was not imported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// Too large to be read at once.
    #[error(
        "larger than {} MB: import the summary that the tool writes beside it, or fewer requests",
        LARGEST_SHARD_BYTES / 1_000_000
    )]
    TooLarge,
    /// Empty, or nothing but blanks.
    #[error("the file is empty: let the tool write it again")]
    Empty,
    /// Not text.
    #[error("not text from byte {at}: expected UTF-8 or UTF-16. Import the tool's JSON file, unpacked")]
    NotText {
        /// The first byte that is none.
        at: usize,
    },
    /// Broken JSON.
    #[error("not JSON at line {line}, column {column}: {message}. {}", if *.truncated {
        "The file is cut off: copy it again, or let the tool end before you do"
    } else {
        "Copy the file again as the tool wrote it"
    })]
    NotJson {
        /// Line from 1.
        line: usize,
        /// Column from 1.
        column: usize,
        /// What was expected.
        message: String,
        /// Whether the text ended too soon.
        truncated: bool,
    },
    /// No format recognises it.
    #[error("no result file that Dyno knows ({found}). Name its format with --as: {}", tags())]
    Unrecognised {
        /// What stands in it instead.
        found: String,
    },
    /// `--as` names no format.
    #[error("no format is called `{}`: there are {}", .0, tags())]
    UnknownFormat(String),
    /// Of a known tool, and something in it does not fit.
    #[error("{title}: {problem} (read so far: {tried})")]
    Misfit {
        /// The tool.
        title: &'static str,
        /// The versions that were tried.
        tried: &'static str,
        /// What, where, and what to do.
        problem: Problem,
    },
    /// Of a known tool, and nothing was measured.
    #[error("{0}: the file holds no benchmark. Run it again, and let it end")]
    Nothing(&'static str),
    /// A shard of our own that cannot be read.
    #[error(transparent)]
    Shard(ShardError),
}

fn tags() -> String {
    let tags: Vec<&str> = FORMATS.iter().map(|format| format.tag).collect();
    tags.join(", ")
}
