//! The guard: a small process between Dyno and a server that it starts.
//!
//! It holds one end of a pipe. When the other end closes, because Dyno lets go of it, is interrupted, panics, or is
//! killed with a signal that nobody can catch, the guard ends the server with everything that the server started:
//! SIGTERM to the process group, a moment's grace, SIGKILL. On Linux it adopts what escapes from the group, and ends
//! that too.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, wait};
use serde::{Deserialize, Serialize};

/// Between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(5);
/// How long killed processes may take to disappear.
const AFTER_KILL: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// What the guard tells Dyno, a line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The server runs.
    Started {
        /// Its process, which leads the group.
        pid: i32,
    },
    /// It does not.
    NotStarted {
        /// What the system said.
        why: String,
    },
    /// It ended by itself.
    Ended(End),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct End {
    /// Its exit status.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl std::fmt::Display for End {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.status, self.signal) {
            (Some(status), _) => write!(out, "exit status {status}"),
            (None, Some(9)) => write!(out, "signal 9: it was killed, perhaps because memory ran out"),
            (None, Some(signal)) => write!(out, "signal {signal}"),
            (None, None) => write!(out, "a status that nobody knows"),
        }
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        Self { status: status.code(), signal: status.signal() }
    }
}

/// What the guard waits for.
enum Event {
    LetGo,
    Ended(End),
}

/// Runs a server until it ends or stdin closes; then nothing of it is left. Its output goes to this process's stderr.
pub fn hold(program: &OsStr, arguments: &[OsString]) {
    adopt_orphans();
    let server = Command::new(program)
        .args(arguments)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::from(std::io::stderr()))
        .stderr(Stdio::inherit())
        .spawn();
    let mut server = match server {
        Ok(server) => server,
        Err(error) => return tell(&Report::NotStarted { why: error.to_string() }),
    };
    let group = Pid::from_child(&server);
    tell(&Report::Started { pid: group.as_raw_nonzero().get() });
    let (events, next) = mpsc::channel();
    let let_go = events.clone();
    std::thread::spawn(move || {
        // Nothing is ever written: this returns when the other end closes.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        let _ = let_go.send(Event::LetGo);
    });
    std::thread::spawn(move || {
        let end = server.wait().map(End::from).unwrap_or_default();
        let _ = events.send(Event::Ended(end));
    });
    if let Ok(Event::Ended(end)) = next.recv() {
        tell(&Report::Ended(end));
    }
    end(group);
}

/// A Dyno that is gone cannot be told anything.
fn tell(report: &Report) {
    if let Ok(line) = serde_json::to_string(report) {
        let mut stdout = std::io::stdout().lock();
        let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    }
}

/// Ends a process group, and whatever this process has adopted.
fn end(group: Pid) {
    let _ = kill_process_group(group, Signal::TERM);
    if !is_gone(group, GRACE) {
        let _ = kill_process_group(group, Signal::KILL);
        is_gone(group, AFTER_KILL);
    }
    end_orphans();
}

/// Waits until no process of the group is left.
fn is_gone(group: Pid, patience: Duration) -> bool {
    let begin = Instant::now();
    loop {
        reap();
        if test_kill_process_group(group) == Err(Errno::SRCH) {
            return true;
        }
        if begin.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// A dead child is in its group until somebody takes note of it.
fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// Makes this process the parent of what the server's processes leave behind.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Kills what left the group, such as a daemon of its own session.
#[cfg(target_os = "linux")]
fn end_orphans() {
    let begin = Instant::now();
    loop {
        reap();
        let children = children();
        if children.is_empty() || begin.elapsed() >= AFTER_KILL {
            return;
        }
        for child in children {
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The children of this process.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

#[cfg(not(target_os = "linux"))]
fn end_orphans() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_said_in_words() {
        let said = |status, signal| End { status, signal }.to_string();
        assert_eq!(said(Some(3), None), "exit status 3");
        assert!(said(None, Some(9)).contains("memory"));
        assert_eq!(said(None, Some(11)), "signal 11");
        assert!(said(None, None).contains("nobody"));
    }

    #[test]
    fn reports_are_read_as_they_were_told() {
        for report in [
            Report::Started { pid: 7 },
            Report::NotStarted { why: "no such file\nor directory".into() },
            Report::Ended(End { status: None, signal: Some(9) }),
        ] {
            let line = serde_json::to_string(&report).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Report>(&line).unwrap(), report);
        }
    }
}
