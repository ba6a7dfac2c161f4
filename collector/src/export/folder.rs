//! The folder of an export: its datasets are written aside and appear whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::ExportError;
use super::options::Dataset;

/// What the folder holds while an export is made; readers of datasets pass over names that begin with a dot.
const ASIDE: &str = ".dyno-export-";

/// Makes the folder and one in it to write aside.
///
/// # Errors
/// If it is not empty and may not be replaced, or holds what no export wrote.
pub fn prepare(out: &Path, force: bool) -> Result<TempDir, ExportError> {
    fs::create_dir_all(out).map_err(ExportError::at(out))?;
    if !force && entries(out)?.iter().any(|path| !is_aside(path)) {
        return Err(ExportError::NotEmpty(out.to_owned()));
    }
    for dataset in Dataset::ALL {
        check_own(&out.join(dataset.folder()), 0)?;
    }
    tempfile::Builder::new().prefix(ASIDE).tempdir_in(out).map_err(ExportError::at(out))
}

/// Puts the datasets in place, and those of an earlier export away.
///
/// # Errors
/// If the system refuses.
pub fn publish(aside: TempDir, out: &Path) -> Result<(), ExportError> {
    for dataset in Dataset::ALL {
        let (place, made) = (out.join(dataset.folder()), aside.path().join(dataset.folder()));
        if place.exists() {
            fs::rename(&place, aside.path().join(format!("old-{}", dataset.folder())))
                .map_err(ExportError::at(&place))?;
        }
        if made.exists() {
            fs::rename(&made, &place).map_err(ExportError::at(&place))?;
        }
    }
    let path = aside.path().to_owned();
    aside.close().map_err(ExportError::at(&path))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    read().map_err(ExportError::at(folder))
}

fn is_aside(path: &Path) -> bool {
    name(path).starts_with(ASIDE)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Nothing but `engine=*/month=*/part-*` below a dataset's folder, which may be absent.
fn check_own(path: &Path, depth: usize) -> Result<(), ExportError> {
    let kind = match fs::symlink_metadata(path) {
        Ok(kind) => kind,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(ExportError::at(path)(e)),
    };
    let beginning = ["", "engine=", "month=", "part-"].get(depth);
    let is_own = beginning.is_some_and(|beginning| name(path).starts_with(beginning));
    if !is_own || kind.is_dir() != (depth < 3) {
        return Err(ExportError::Foreign(path.to_owned()));
    }
    if kind.is_dir() {
        for entry in entries(path)? {
            check_own(&entry, depth + 1)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }

    #[test]
    fn what_others_left_is_neither_mixed_with_an_export_nor_replaced_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        put(&out.join("requests/notes.txt"));
        assert!(matches!(prepare(&out, false), Err(ExportError::NotEmpty(_))));
        assert!(
            matches!(prepare(&out, true), Err(ExportError::Foreign(path)) if path.ends_with("notes.txt"))
        );
        assert!(out.join("requests/notes.txt").exists());
    }

    #[test]
    fn an_export_replaces_an_earlier_one_as_a_whole_and_leaves_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        put(&out.join("requests/engine=a/month=2026-11/part-0.parquet"));
        put(&out.join("summaries/engine=a/month=2026-11/part-0.parquet"));
        put(&out.join("README.md"));
        let aside = prepare(&out, true).unwrap();
        put(&aside.path().join("requests/engine=b/month=2026-12/part-0.parquet"));
        publish(aside, &out).unwrap();
        let mut left: Vec<_> = entries(&out).unwrap().iter().map(|path| name(path).to_owned()).collect();
        left.sort();
        assert_eq!(left, ["README.md", "requests"]);
        assert_eq!(entries(&out.join("requests")).unwrap(), [out.join("requests/engine=b")]);
    }

    #[test]
    fn what_an_export_that_was_killed_left_aside_does_not_stop_the_next() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join(".dyno-export-abc/requests/x"));
        prepare(dir.path(), false).unwrap();
    }
}
