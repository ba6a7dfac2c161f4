//! A server that was started: what becomes of it, and its end.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::guard::{End, GRACE, Report};
use super::{Invocation, LaunchError, log};

/// The hidden subcommand that is the guard.
pub const GUARD: &str = "guard";

/// How long the guard may take beyond the grace that it gives.
const BEYOND_GRACE: Duration = Duration::from_secs(12);

/// A server that runs. It ends with the value, and so does everything that it started.
#[derive(Debug)]
pub struct Server {
    guard: Child,
    /// The guard ends the server when this closes.
    leash: Option<ChildStdin>,
    reports: UnboundedReceiver<Report>,
    group: Option<Pid>,
    ended: Option<End>,
}

impl Server {
    /// Starts a server; its output goes to the log.
    ///
    /// # Errors
    /// If the log cannot be written or the program cannot be started.
    pub async fn start(invocation: &Invocation, log: &Path) -> Result<Self, LaunchError> {
        let not_started = |why: String| LaunchError::NotStarted { program: invocation.program.clone(), why };
        let output = log::open(log, &invocation.line())
            .map_err(|cause| LaunchError::Log { path: log.to_owned(), cause })?;
        let mut guard = Command::new(this_program().map_err(|error| not_started(error.to_string()))?)
            .arg(GUARD)
            .arg("--")
            .arg(&invocation.program)
            .args(&invocation.arguments)
            .envs(&invocation.environment)
            // Ctrl-C in a terminal reaches Dyno alone, which then ends the server.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(output)
            .spawn()
            .map_err(|error| not_started(format!("its guard cannot be started: {error}")))?;
        let (tell, reports) = unbounded_channel();
        if let Some(stdout) = guard.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let Ok(report) = serde_json::from_str(&line) else { continue };
                    if tell.send(report).is_err() {
                        return;
                    }
                }
            });
        }
        let leash = guard.stdin.take();
        let mut server = Self { guard, leash, reports, group: None, ended: None };
        match server.reports.recv().await {
            Some(Report::Started { pid }) => {
                server.group = Pid::from_raw(pid);
                Ok(server)
            }
            Some(Report::NotStarted { why }) => Err(not_started(why)),
            Some(Report::Ended(_)) | None => Err(not_started("its guard ended".to_owned())),
        }
    }

    /// Completes when the server has ended by itself.
    pub async fn ended(&mut self) -> End {
        while self.ended.is_none() {
            match self.reports.recv().await {
                Some(Report::Ended(end)) => self.ended = Some(end),
                Some(_) => {}
                None => self.ended = Some(End::default()),
            }
        }
        self.ended.unwrap_or_default()
    }

    /// Ends it with everything that it started, and waits until it is gone.
    pub async fn end(self) {
        // Whoever waits here blocks a thread, which is not to be one that other work waits for.
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.leash.take());
        let begin = Instant::now();
        let status = loop {
            match self.guard.try_wait() {
                Ok(None) if begin.elapsed() < GRACE + BEYOND_GRACE => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        // A guard that was killed itself has ended nothing.
        if !status.is_some_and(|status| status.success()) {
            if let Some(group) = self.group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.guard.kill();
            let _ = self.guard.wait();
        }
    }
}

/// This very program, even where another one has taken its place on the disk since.
fn this_program() -> std::io::Result<PathBuf> {
    let itself = Path::new("/proc/self/exe");
    if itself.exists() { Ok(itself.to_owned()) } else { std::env::current_exe() }
}
