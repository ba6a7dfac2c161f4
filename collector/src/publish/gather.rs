//! Finds and reads the shards below a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dyno_shared::index::Rejected;
use dyno_shared::shard::{content_id, read};
use dyno_shared::submission::Submission;

use super::PublishError;
use crate::input::{self, InputError};

/// A shard that may be published.
#[derive(Debug)]
pub struct Shard {
    /// Its content hash.
    pub id: String,
    /// Its exact text.
    pub text: String,
    /// What it says.
    pub submission: Submission,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The shards, each content once.
    pub shards: Vec<Shard>,
    /// What is no shard, with its reason, by path.
    pub rejected: Vec<Rejected>,
    /// Paths of shards that are the same as another one's, and that other's.
    pub duplicates: Vec<(String, String)>,
    /// The content of each shard, by its path.
    pub ids: BTreeMap<String, String>,
}

/// Reads every `*.json` below `folder`, in the order of the paths. What lies below `out` is not looked at.
pub(super) fn gather(folder: &Path, out: &Path) -> Result<Gathered, PublishError> {
    let mut paths = Vec::new();
    // A folder that is not there yet holds nothing that could be taken for a shard.
    let out = fs::canonicalize(out).ok();
    refuse_mixture(folder, out.as_deref())?;
    list(folder, out.as_deref(), &mut paths)?;
    paths.sort();
    let mut gathered = Gathered::default();
    let mut first_of: BTreeMap<String, String> = BTreeMap::new();
    for path in paths {
        let name = relative(folder, &path);
        match load(&path) {
            Ok(shard) => {
                gathered.ids.insert(name.clone(), shard.id.clone());
                if let Some(first) = first_of.get(&shard.id) {
                    gathered.duplicates.push((name, first.clone()));
                } else {
                    first_of.insert(shard.id.clone(), name);
                    gathered.shards.push(shard);
                }
            }
            Err(reason) => gathered.rejected.push(Rejected { path: name, reason }),
        }
    }
    Ok(gathered)
}

/// A publication among the shards would be read as shards the next time, and what it replaces might be one of them.
fn refuse_mixture(folder: &Path, out: Option<&Path>) -> Result<(), PublishError> {
    let (Some(out), Ok(folder)) = (out, fs::canonicalize(folder)) else { return Ok(()) };
    if folder == out || folder.starts_with(out.join("shards")) {
        return Err(PublishError::Mixture(folder));
    }
    Ok(())
}

fn list(folder: &Path, out: Option<&Path>, paths: &mut Vec<PathBuf>) -> Result<(), PublishError> {
    let unreadable = |cause| PublishError::Unreadable { folder: folder.to_owned(), cause };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if hidden || (kind.is_dir() && out.is_some() && fs::canonicalize(&path).ok().as_deref() == out) {
            continue;
        }
        if kind.is_dir() {
            list(&path, out, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    Ok(())
}

/// The path below `folder`, with slashes on every system.
fn relative(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn load(path: &Path) -> Result<Shard, String> {
    let unreadable = |e: std::io::Error| InputError::from(e).to_string();
    // A pipe would keep the others waiting.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is no file: remove it from the folder of shards".to_owned());
    }
    let text = input::text(path).map_err(|e| e.to_string())?;
    let submission = read(&text).map_err(|e| e.to_string())?;
    Ok(Shard { id: content_id(&text), text, submission })
}
