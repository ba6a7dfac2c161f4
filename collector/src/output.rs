//! Files are written whole or not at all.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is one already.
    #[error("{} exists: name another file with --out, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The disk is full.
    #[error("no space left for {} ({} KB needed): free some and try again", .path.display(), needed_bytes.div_ceil(1000))]
    Full {
        /// The file.
        path: PathBuf,
        /// Its size.
        needed_bytes: usize,
    },
    /// Anything else.
    #[error("cannot write {}: {cause}. Check the folder, or name another file with --out", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Writes `bytes` to `path`, creating its folder: into a temporary file beside it, synced, then renamed. A reader
/// sees the old file or the new one, never a part.
///
/// # Errors
/// A file that exists and may not be replaced, a full disk, or what else the system refuses.
pub fn write_whole(path: &Path, bytes: &[u8], replace: bool) -> Result<(), OutputError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            OutputError::Full { path: path.to_owned(), needed_bytes: bytes.len() }
        }
        _ => OutputError::Io { path: path.to_owned(), cause: source },
    };
    let folder = folder_of(path);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::Builder::new().prefix(".dyno-").tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    readable_by_all(file.as_file()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    if replace {
        file.persist(path).map_err(|e| failed(e.error))?;
    } else {
        file.persist_noclobber(path).map_err(|e| match e.error.kind() {
            io::ErrorKind::AlreadyExists => OutputError::Exists(path.to_owned()),
            _ => failed(e.error),
        })?;
    }
    sync_folder(folder);
    Ok(())
}

/// The folder that holds `path`.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// A temporary file is for its owner only; a result is for everybody, as far as the folder allows.
#[cfg(unix)]
fn readable_by_all(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_file: &std::fs::File) -> io::Result<()> {
    Ok(())
}

/// Makes the rename itself last. Some systems cannot sync a folder; the file is there all the same.
fn sync_folder(folder: &Path) {
    let _ = std::fs::File::open(folder).and_then(|f| f.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_made_and_the_file_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/shard.json");
        write_whole(&path, b"{}", false).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        assert_eq!(
            std::fs::read_dir(dir.path().join("a/b")).unwrap().count(),
            1,
            "no temporary file is left"
        );
    }

    #[test]
    fn a_file_that_exists_is_replaced_only_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shard.json");
        write_whole(&path, b"old", false).unwrap();
        let error = write_whole(&path, b"new", false).unwrap_err();
        assert!(matches!(error, OutputError::Exists(_)), "{error}");
        assert!(error.to_string().contains("--force"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        write_whole(&path, b"new", true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("file");
        std::fs::write(&blocked, b"").unwrap();
        let error = write_whole(&blocked.join("shard.json"), b"{}", false).unwrap_err().to_string();
        assert!(error.contains("shard.json") && error.contains("--out"), "{error}");
    }
}
