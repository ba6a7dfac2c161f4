//! Why there is no export.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder is not empty.
    #[error("{} is not empty: name another folder with --out, or replace the export in it with --force", .0.display())]
    NotEmpty(PathBuf),
    /// The folder holds what no export wrote.
    #[error("{} was not written by an export, and --force replaces exports only: name another folder with --out", .0.display())]
    Foreign(PathBuf),
    /// Something could not be written.
    #[error("cannot write {}: {cause}. Check the folder and the space on its disk, or name another with --out", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

impl ExportError {
    /// For `map_err`: what the system, or the writer of a format, said about a path.
    pub(super) fn at<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |cause| Self::Write { path: path.to_owned(), cause: io::Error::other(cause) }
    }
}
