//! Writes a publication so that a reader never sees half of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{Publication, embed};
use crate::board::flags::FlagsError;
use crate::output::{OutputError, write_whole};

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The folder of shards cannot be read.
    #[error("cannot read {}: {cause}. Name the folder that holds the shards", .folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The output lies among the shards.
    #[error("{} holds the shards and cannot hold what is published of them: name another folder with --out", .0.display())]
    Mixture(PathBuf),
    /// What maintainers say of submissions cannot be read.
    #[error(transparent)]
    Flags(#[from] FlagsError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// What an earlier publication left cannot be removed.
    #[error("cannot remove {}: {cause}. Check the folder named with --out", .path.display())]
    Stale {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// The hashed files first, then `latest.json`, which makes them seen; what nobody names any more goes last.
///
/// Names carry hashes, so a file that is there already has the right bytes unless it was damaged; it is then
/// replaced like any other.
pub(super) fn write(publication: &Publication, out: &Path) -> Result<(), PublishError> {
    for (name, bytes) in &publication.files {
        let path = out.join(name);
        if fs::read(&path).ok().as_deref() != Some(bytes.as_slice()) {
            write_whole(&path, bytes, true)?;
        }
    }
    let latest = serde_json::to_string(&publication.latest)
        .map_err(|e| OutputError::Io { path: out.join("latest.json"), cause: e.into() })?;
    write_whole(&out.join("latest.json"), (latest + "\n").as_bytes(), true)?;
    remove_stale(publication, out)
}

/// Removes hashed files of earlier publications, and nothing else that may lie there.
fn remove_stale(publication: &Publication, out: &Path) -> Result<(), PublishError> {
    let kept: BTreeSet<PathBuf> = publication.files.iter().map(|(name, _)| out.join(name)).collect();
    let stale = |path: &Path, prefix: &str, end: &str| is_hashed(path, prefix, end) && !kept.contains(path);
    for (folder, prefix) in [(out.to_owned(), "index-"), (out.join("shards"), "")] {
        for path in entries(&folder)? {
            if stale(&path, prefix, ".json") {
                fs::remove_file(&path).map_err(|cause| PublishError::Stale { path, cause })?;
            }
        }
    }
    for folder in entries(&out.join(embed::FOLDER))? {
        if !is_hashed(&folder, "", "") || !folder.is_dir() {
            continue;
        }
        for path in entries(&folder)? {
            if path.extension().is_some_and(|of| of == "svg") && !kept.contains(&path) {
                fs::remove_file(&path).map_err(|cause| PublishError::Stale { path, cause })?;
            }
        }
        // One that still holds something stays.
        let _ = fs::remove_dir(&folder);
    }
    Ok(())
}

/// What lies in a folder; nothing where there is none.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, PublishError> {
    let unreadable = |cause| PublishError::Stale { path: folder.to_owned(), cause };
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path()).map_err(unreadable)).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(unreadable(cause)),
    }
}

/// `<prefix><16 hex digits><end>`.
fn is_hashed(path: &Path, prefix: &str, end: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let hash = name.and_then(|name| name.strip_prefix(prefix)?.strip_suffix(end));
    hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}
