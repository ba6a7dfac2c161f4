//! Reading a file that should be a shard, whatever it is.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use dyno_shared::shard::{LARGEST_SHARD_BYTES, ShardError};

/// Why a file gave no text.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// There is none.
    #[error("there is no such file: check the name")]
    Missing,
    /// A folder.
    #[error("is a folder: name the shards in it")]
    Folder,
    /// Too large.
    #[error(transparent)]
    TooLarge(ShardError),
    /// Not UTF-8.
    #[error(
        "not UTF-8 text from byte {at}: a shard is UTF-8 JSON. Copy the file again as `dyno run` wrote it"
    )]
    NotText {
        /// The first byte that is none.
        at: usize,
    },
    /// The system refuses.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::IsADirectory => Self::Folder,
            _ => Self::Unreadable(error),
        }
    }
}

/// The text of a file or pipe. No more is read than a shard may have, even where the system knows no size.
///
/// # Errors
/// Any [`InputError`].
pub fn text(path: &Path) -> Result<String, InputError> {
    bounded(File::open(path)?, LARGEST_SHARD_BYTES)
}

fn bounded(source: impl io::Read, largest: usize) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    source.take(largest as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > largest {
        return Err(InputError::TooLarge(ShardError::TooLarge));
    }
    String::from_utf8(bytes).map_err(|e| InputError::NotText { at: e.utf8_error().valid_up_to() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_end_is_too_large_and_does_not_fill_the_memory() {
        assert!(matches!(bounded(io::repeat(0), 1000), Err(InputError::TooLarge(_))));
        assert_eq!(bounded(&b"12345"[..], 5).unwrap(), "12345");
    }

    #[test]
    fn what_is_no_readable_text_is_told_apart_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let said = |path: &Path| text(path).unwrap_err().to_string();
        assert!(said(dir.path()).contains("name the shards in it"));
        assert!(said(&dir.path().join("none.json")).contains("check the name"));
        let utf16 = dir.path().join("utf16.json");
        std::fs::write(&utf16, b"\xff\xfe{\0}\0").unwrap();
        assert!(said(&utf16).contains("UTF-8"));
    }
}
