//! The shards that an export reads.

use std::fs;
use std::path::{Path, PathBuf};

use dyno_shared::shard::{content_id, parse};
use dyno_shared::submission::{SCHEMA_MAJOR, Submission};

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

/// Reads a shard's form without judging what it says: `dyno validate` is for what may be published.
///
/// # Errors
/// In words, if it is none.
pub fn load(path: &Path) -> Result<Source, String> {
    let text = input::text(path).map_err(|e| e.to_string())?;
    let submission = match quickly(&text) {
        Some(submission) => submission,
        None => parse(&text).map_err(|e| e.to_string())?,
    };
    Ok(Source::new(content_id(&text), submission))
}

/// The same as [`parse`] for a good shard, several times as fast: that reader is made to be small on the page and to say
/// what is wrong with a bad one, and goes over the text three times.
fn quickly(text: &str) -> Option<Submission> {
    let submission: Submission = serde_json::from_str(text).ok()?;
    let version = submission.schema.strip_prefix("dyno/")?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major == SCHEMA_MAJOR).then_some(submission)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_way_gives_what_the_careful_one_gives_and_leaves_the_rest_to_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
        let paths = list(&[root], &mut Vec::new());
        assert!(paths.len() > 20);
        for path in paths {
            let text = fs::read_to_string(path).unwrap();
            assert_eq!(quickly(&text), Some(parse(&text).unwrap()));
            assert_eq!(quickly(&text.replace("dyno/1.", "dyno/2.")), None);
            assert_eq!(quickly(text.trim_end().trim_end_matches('}')), None);
        }
    }
}
