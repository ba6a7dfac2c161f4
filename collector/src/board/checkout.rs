//! The checkout that a command is called in.

use std::path::{Path, PathBuf};

/// The folder of a board's shards.
pub const RESULTS: &str = "results";

/// The nearest folder, from `start` upwards, that is a checkout with a folder of results.
pub fn above(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .find(|folder| folder.join(RESULTS).is_dir() && folder.join(".git").exists())
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_checkout_with_results_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("board/a/b");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir(dir.path().join("board/a/results")).unwrap();
        assert!(above(&inside).is_none_or(|found| !found.starts_with(dir.path())));
        std::fs::create_dir(dir.path().join("board/results")).unwrap();
        std::fs::create_dir(dir.path().join("board/.git")).unwrap();
        assert_eq!(above(&inside), Some(dir.path().join("board")));
    }
}
