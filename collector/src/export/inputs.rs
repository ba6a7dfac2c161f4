//! The shards that an export reads.

use std::fs;
use std::path::{Path, PathBuf};

use dyno_shared::shard::{content_id, read};

use super::place::Source;
use crate::input::{self, InputError};

/// A file or folder that is left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// The file or folder.
    pub path: PathBuf,
    /// Why, and what to do.
    pub reason: String,
}

/// Every file that is named, and every `*.json` below a folder that is named, in the order of the paths.
pub fn list(inputs: &[PathBuf], bad: &mut Vec<Bad>) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for input in inputs {
        if input.is_dir() {
            list_folder(input, &mut paths, bad);
        } else {
            paths.push(input.clone());
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn list_folder(folder: &Path, paths: &mut Vec<PathBuf>, bad: &mut Vec<Bad>) {
    let unreadable =
        |e: std::io::Error| Bad { path: folder.to_owned(), reason: InputError::from(e).to_string() };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) => return bad.push(unreadable(e)),
    };
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_name(), entry.file_type()?))) {
            Ok((_, name, _)) if name.to_string_lossy().starts_with('.') => {}
            Ok((path, _, kind)) if kind.is_dir() => list_folder(&path, paths, bad),
            // A pipe would keep the others waiting.
            Ok((path, _, _)) if path.extension().is_some_and(|e| e == "json") => match fs::metadata(&path) {
                Ok(file) if file.is_file() => paths.push(path),
                Ok(_) => bad.push(Bad { path, reason: "is no file: remove it from the folder".to_owned() }),
                Err(e) => bad.push(Bad { path, reason: InputError::from(e).to_string() }),
            },
            Ok(_) => {}
            Err(e) => bad.push(unreadable(e)),
        }
    }
}

/// Reads a shard that may be published.
///
/// # Errors
/// In words, if it is none.
pub fn load(path: &Path) -> Result<Source, String> {
    let text = input::text(path).map_err(|e| e.to_string())?;
    let submission = read(&text).map_err(|e| e.to_string())?;
    Ok(Source::new(content_id(&text), submission))
}
