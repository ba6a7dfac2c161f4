//! The part of an engine's log that was written over a run.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// The longest part that is read: a run logs a line or two per 40 steps.
const MOST_BYTES: u64 = 16 << 20;

/// A log that an engine goes on writing.
#[derive(Debug, Clone)]
pub struct LogFile {
    path: PathBuf,
}

impl LogFile {
    /// The log at this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it ends now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn end(&self) -> std::io::Result<u64> {
        Ok(std::fs::metadata(&self.path)?.len())
    }

    /// What was written since it ended there, at most 16 MiB of it, whatever is no UTF-8 replaced. A log that is shorter
    /// by now was begun anew, so all of it was.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn since(&self, end: u64) -> std::io::Result<String> {
        let mut file = File::open(&self.path)?;
        let from = if file.metadata()?.len() < end { 0 } else { end };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_what_was_written_over_the_run_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let log = LogFile::new(file.path());
        file.write_all(b"before\n").unwrap();
        let end = log.end().unwrap();
        assert_eq!(log.since(end).unwrap(), "");
        file.write_all(b"Decode \xff\n").unwrap();
        assert_eq!(log.since(end).unwrap(), "Decode \u{fffd}\n");
        file.as_file().set_len(0).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"new\n").unwrap();
        assert_eq!(log.since(end).unwrap(), "new\n", "rotated");
        assert!(LogFile::new("/nonexistent/log").end().is_err());
    }
}
