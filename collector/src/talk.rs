//! What is said on stderr. Names, labels and errors in it come from files and servers.

use std::fmt::{Display, Write as _};
use std::io::Write as _;

use dyno_shared::plain::plain;

/// Says something, with a line break after it. A stderr that nobody reads any more is no reason to lose a run, and no
/// text from outside reaches the terminal as a command.
pub fn say(text: impl Display) {
    let mut line = harmless(&text.to_string());
    line.push('\n');
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// An error with its causes, once.
pub fn say_error(error: &anyhow::Error) {
    say(format_args!("error: {error:#}"));
}

/// Line breaks stay, every other character that a terminal obeys is a blank.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        let line = plain(line);
        // Writing to a String cannot fail.
        let _ = if at == 0 { out.write_str(&line) } else { write!(out, "\n{line}") };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_a_terminal_obeys_nothing_in_them() {
        assert_eq!(harmless("error: `\u{1b}[2J`\n\u{202e}two\n"), "error: ` [2J`\n two\n");
    }
}
