//! Running other programs: output is streamed, errors name the command.
//!
//! Our stdout is for results. What other tools say on theirs is talk, and goes to stderr, unless the caller asks for it.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail};

/// Runs a command; what it writes is talk.
///
/// # Errors
/// When it cannot be started or does not exit with 0; the error holds the command line.
pub fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("`{}` failed ({status})", describe(command));
    }
    Ok(())
}

/// As [`run`], and leaves it to the caller what the exit means.
pub fn status(command: &mut Command) -> Result<ExitStatus> {
    command.stdout(Stdio::from(io::stderr()));
    command.status().with_context(|| format!("cannot start `{}`", describe(command)))
}

/// Whether a command can be started and exits with 0. Its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What a command writes to stdout, without the last line break. Its stderr is ours.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{}`", describe(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", describe(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// As [`capture`], but quiet, and `None` when anything goes wrong: for asking which version is there.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Runs a command, passes its stdout on line by line as it comes, and shows each line to `each` too.
pub fn echo(command: &mut Command, mut each: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", describe(command)))?;
    let mut out = io::stdout();
    if let Some(pipe) = child.stdout.take() {
        let mut lines = BufReader::new(pipe);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            out.write_all(&line)?;
            out.flush()?;
            each(String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    }
    child.wait().with_context(|| format!("lost `{}`", describe(command)))
}

/// The command line as one would type it (without its environment).
fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut line = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        line.push(' ');
        if argument.is_empty() || argument.contains(char::is_whitespace) {
            line.push('\'');
            line.push_str(&argument);
            line.push('\'');
        } else {
            line.push_str(&argument);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_command_and_its_arguments() {
        let error = run(Command::new("/nowhere/prog").args(["a b", "c"])).unwrap_err();
        assert!(error.to_string().contains("prog 'a b' c"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn lines_reach_the_caller_even_without_a_last_line_break() {
        let mut lines = Vec::new();
        let status = echo(Command::new("sh").args(["-c", "printf 'one\\ntwo'; exit 3"]), |line| {
            lines.push(line.to_owned());
        })
        .unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(status.code(), Some(3));
    }
}
