//! Writes a publication so that a reader never sees half of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Publication;
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
    for (folder, prefix) in [(out.to_owned(), "index-"), (out.join("shards"), "")] {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(PublishError::Stale { path: folder, cause }),
        };
        for entry in entries {
            let path = entry.map_err(|cause| PublishError::Stale { path: folder.clone(), cause })?.path();
            if is_hashed(&path, prefix) && !kept.contains(&path) {
                fs::remove_file(&path).map_err(|cause| PublishError::Stale { path, cause })?;
            }
        }
    }
    Ok(())
}

/// `<prefix><16 hex digits>.json`.
fn is_hashed(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let hash = name.and_then(|name| name.strip_prefix(prefix)?.strip_suffix(".json"));
    hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}
