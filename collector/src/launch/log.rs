//! The server's own words: kept in a file, its end shown when something goes wrong.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use dyno_shared::plain::plain;

use crate::engine::LogFile;

/// Lines of a log that are shown.
const LINES: usize = 20;
/// Characters of one of them.
const LINE: usize = 300;
/// Bytes of the file that are looked at.
const BYTES: u64 = 64 * 1024;

/// Opens a log to write to, behind what it holds, and enters the line that the server is started with.
///
/// # Errors
/// If the system refuses.
pub fn open(path: &Path, line: &str) -> io::Result<File> {
    std::fs::create_dir_all(crate::output::folder_of(path))?;
    let mut file = File::options().create(true).append(true).open(path)?;
    writeln!(file, "$ {line}")?;
    Ok(file)
}

/// Its last lines, as a terminal may show them, each indented. Empty where there is nothing to read.
pub fn tail(path: &Path) -> String {
    let text = end_of(path).unwrap_or_default();
    let lines: Vec<String> = text
        .lines()
        .map(|line| plain(line).trim_end().chars().take(LINE).collect::<String>())
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(LINES);
    let mut shown = String::new();
    for line in lines.get(from..).unwrap_or_default() {
        shown.push_str("  | ");
        shown.push_str(line);
        shown.push('\n');
    }
    shown
}

fn end_of(path: &Path) -> io::Result<String> {
    let log = LogFile::new(path);
    log.since(log.end()?.saturating_sub(BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_and_a_terminal_obeys_nothing_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/a.log");
        let mut file = open(&path, "llama-server --port 1").unwrap();
        for number in 1..=30 {
            writeln!(file, "line {number}\u{1b}[2J").unwrap();
        }
        file.write_all(b"\xff\n\n").unwrap();
        let tail = tail(&path);
        assert_eq!(tail.lines().count(), 20);
        assert!(tail.starts_with("  | line 12 [2J\n") && !tail.contains('\u{1b}'), "{tail}");
        assert!(tail.ends_with("  | \u{fffd}\n"), "{tail}");
    }

    #[test]
    fn a_log_is_never_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        drop(open(&path, "one").unwrap());
        drop(open(&path, "two").unwrap());
        assert_eq!(tail(&path), "  | $ one\n  | $ two\n");
        assert_eq!(super::tail(&dir.path().join("none")), "");
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        std::fs::write(&path, "x".repeat(200_000)).unwrap();
        assert_eq!(tail(&path).trim_end().chars().count(), LINE + 4);
    }
}
