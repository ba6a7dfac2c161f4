//! Small reads of the kernel's files. What is not there, or is no number, is unknown.

use std::fs;
use std::path::{Path, PathBuf};

/// The number that a file holds alone.
pub(super) fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A file's text without the blanks around it; `None` where there is none.
pub(super) fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Entries of a folder whose names are `prefix` and a number, in the order of the numbers.
pub(super) fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// At most `most` of the paths, evenly spread: a machine has hundreds of CPUs, and reading is not free.
pub(super) fn spread(paths: Vec<PathBuf>, most: usize) -> Vec<PathBuf> {
    let step = paths.len().div_ceil(most.max(1)).max(1);
    paths.into_iter().step_by(step).collect()
}

#[cfg(test)]
pub(super) mod testing {
    //! A tree of files that looks like a kernel's.

    use std::fs;
    use std::path::Path;

    pub(in super::super) struct Tree(tempfile::TempDir);

    impl Tree {
        pub(in super::super) fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        pub(in super::super) fn path(&self) -> &Path {
            self.0.path()
        }

        /// Writes a file as the kernel does: with a line break at its end.
        pub(in super::super) fn write(&self, path: &str, text: &str) {
            let path = self.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }

        pub(in super::super) fn remove(&self, path: &str) {
            fs::remove_file(self.path().join(path)).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Tree;
    use super::*;

    #[test]
    fn numbered_entries_come_in_the_order_of_their_numbers_and_alone() {
        let tree = Tree::new();
        for name in ["cpu10", "cpu2", "cpufreq", "cpu", "cpu0-x"] {
            tree.write(&format!("cpu/{name}/online"), "1");
        }
        let names: Vec<String> = numbered(&tree.path().join("cpu"), "cpu")
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["cpu2", "cpu10"]);
    }

    #[test]
    fn a_spread_keeps_within_its_bound_and_reaches_far() {
        let paths = |n: usize| (0..n).map(|i| PathBuf::from(i.to_string())).collect::<Vec<_>>();
        assert_eq!(spread(paths(3), 16).len(), 3);
        let of_many = spread(paths(250), 16);
        assert!(of_many.len() <= 16 && of_many.last().unwrap() >= &PathBuf::from("224"), "{of_many:?}");
        assert_eq!(spread(paths(0), 16).len(), 0);
    }
}
