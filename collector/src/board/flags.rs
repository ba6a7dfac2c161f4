//! `results/flags.toml`: what maintainers say of submissions, without deleting them.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use dyno_shared::index::Flag;
use serde::Deserialize;

/// Its name, below `results/`.
pub const FILE: &str = "flags.toml";
/// Characters of a reason, at most: it stands in a table.
const LONGEST_REASON: usize = 300;

/// Why it cannot be used. Nothing is published then: a mark that is lost would clear a submission.
#[derive(Debug, thiserror::Error)]
pub enum FlagsError {
    /// It cannot be read.
    #[error("cannot read {FILE}: {0}. Check the file")]
    Unreadable(io::Error),
    /// It is not of this form.
    #[error("{FILE} is not of the form that results/README.md shows: {0}")]
    WrongForm(#[from] Box<toml::de::Error>),
    /// One of its entries says too little or too much.
    #[error("{FILE}, flag {number}: {message}")]
    Entry {
        /// Its place in the file, from 1.
        number: usize,
        /// What is wrong, and what to do.
        message: &'static str,
    },
}

/// The flags of a board.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Flags(Vec<Entry>);

/// One of them.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: Option<String>,
    id: Option<String>,
    reason: String,
    link: String,
    superseded_by: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    flag: Vec<Entry>,
}

impl Flags {
    /// Those of a folder of results; none where it has no such file.
    ///
    /// # Errors
    /// Any [`FlagsError`].
    pub fn of(results: &Path) -> Result<Self, FlagsError> {
        match fs::read_to_string(results.join(FILE)) {
            Ok(text) => Self::read(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(FlagsError::Unreadable(error)),
        }
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// [`FlagsError::WrongForm`] and [`FlagsError::Entry`].
    pub fn read(text: &str) -> Result<Self, FlagsError> {
        let File { flag } = toml::from_str(text).map_err(Box::new)?;
        for (i, entry) in flag.iter().enumerate() {
            let wrong = |message| Err(FlagsError::Entry { number: i + 1, message });
            if entry.path.is_some() == entry.id.is_some() {
                return wrong("name the submission either by `path` or by `id`");
            }
            if entry.id.as_deref().is_some_and(|id| !is_id(id)) {
                return wrong("`id` is 16 digits or letters a to f, as the page shows it");
            }
            if entry.reason.trim().is_empty() || entry.reason.chars().count() > LONGEST_REASON {
                return wrong("`reason` is a sentence of at most 300 characters");
            }
            if !entry.link.starts_with("https://")
                || entry.link.contains(|c: char| c.is_whitespace() || c == '"')
            {
                return wrong(
                    "`link` begins with https:// and says more, such as the issue that it was discussed in",
                );
            }
        }
        Ok(Self(flag))
    }

    /// The flag of each submission that has one, by content, and the entries that fit none; `ids` are contents by path
    /// below `results/`. Of several flags of a submission the first counts.
    pub fn resolve(&self, ids: &BTreeMap<String, String>) -> (BTreeMap<String, Flag>, Vec<String>) {
        let (mut by_id, mut lost) = (BTreeMap::new(), Vec::new());
        let known =
            |name: &str| ids.get(name).cloned().or_else(|| ids.values().find(|id| *id == name).cloned());
        for entry in &self.0 {
            let name = entry.path.as_deref().or(entry.id.as_deref()).unwrap_or_default();
            let Some(id) = known(name) else {
                lost.push(name.to_owned());
                continue;
            };
            let superseded_by = entry.superseded_by.as_deref().and_then(known);
            if let (Some(later), None) = (&entry.superseded_by, &superseded_by) {
                lost.push(later.clone());
            }
            let flag = Flag { reason: entry.reason.clone(), link: entry.link.clone(), superseded_by };
            by_id.entry(id).or_insert(flag);
        }
        (by_id, lost)
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [[flag]]
        path = "e/2026-11-30/a.json"
        reason = "Measured while another job ran."
        link = "https://example.org/issues/7"
        superseded_by = "e/2026-12-01/a.json"
        [[flag]]
        id = "00000000000000bb"
        reason = "Withdrawn by its submitter."
        link = "https://example.org/issues/8"
    "#;

    #[test]
    fn a_flag_finds_its_submission_by_path_or_content_and_what_fits_none_is_said() {
        let ids: BTreeMap<String, String> =
            [("e/2026-11-30/a.json", "00000000000000aa"), ("e/2026-12-01/a.json", "00000000000000bb")]
                .map(|(path, id)| (path.to_owned(), id.to_owned()))
                .into();
        let (flags, lost) = Flags::read(GOOD).unwrap().resolve(&ids);
        assert_eq!(lost, [""; 0]);
        assert_eq!(flags["00000000000000aa"].superseded_by.as_deref(), Some("00000000000000bb"));
        assert_eq!(flags["00000000000000bb"].reason, "Withdrawn by its submitter.");
        let (flags, lost) = Flags::read(GOOD).unwrap().resolve(&BTreeMap::new());
        assert_eq!((flags.len(), lost.len()), (0, 2));
        assert_eq!(Flags::read("").unwrap(), Flags::default());
    }

    #[test]
    fn a_flag_that_says_too_little_or_something_unknown_is_refused_with_what_to_do() {
        for (from, to, said) in [
            ("reason = \"Withdrawn by its submitter.\"", "", "missing field `reason`"),
            ("\"Withdrawn by its submitter.\"", "\" \"", "flag 2: `reason`"),
            ("https://example.org/issues/8", "javascript:alert(1)", "flag 2: `link`"),
            ("00000000000000bb", "BB", "flag 2: `id`"),
            ("id = ", "path = \"x\"\nid = ", "either by `path` or by `id`"),
            ("superseded_by", "superseeded_by", "unknown field `superseeded_by`"),
        ] {
            let error = Flags::read(&GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
}
