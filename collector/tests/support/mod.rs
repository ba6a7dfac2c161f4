//! A simulated engine as a process of its own, the `dyno` binary, and shards as they were written.

#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy knows tests by their attribute, and these only serve them"
)]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use dyno_shared::submission::{Case, Submission};

/// A truth that is over in a moment.
pub const FAST: [&str; 6] = ["--prefill-tok-s", "400000", "--decode-tok-s", "4000", "--overhead-s", "0.002"];

/// Recorded runs of each case in tests that need no statistics.
pub const SHORT: [&str; 5] = ["--quick", "--runs", "3", "--connect-timeout", "2"];

/// A simulated engine; it ends with the value.
#[derive(Debug)]
pub struct Engine {
    child: Child,
    /// Its address.
    pub url: String,
}

impl Engine {
    /// Starts one on any free port. Later arguments win over [`FAST`]'s only where those do not stand twice.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_on("0", arguments)
    }

    /// A fast one with these further arguments.
    pub fn fast(arguments: &[&str]) -> Self {
        Self::start(&[FAST.as_slice(), arguments].concat())
    }

    /// Starts one on a port.
    pub fn start_on(port: &str, arguments: &[&str]) -> Self {
        let mut child = dyno()
            .args(["simulate", "--port", port])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://"), "no simulated engine: {url}");
        Self { child, url: url.trim().to_owned() }
    }

    /// Its port.
    pub fn port(&self) -> String {
        self.url.rsplit(':').next().unwrap().to_owned()
    }

    /// Ends it at once, as a crash does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary under test, away from the variables of the developer's machine.
pub fn dyno() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("dyno"));
    command.env_remove("DYNO_API_KEY");
    command
}

/// A measurement that was made.
#[derive(Debug)]
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Ran {
    /// Of a process that has ended.
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails the test with everything that was said, unless the exit code is this one.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stderr:\n{}\nstdout:\n{}", self.stderr, self.stdout);
        self
    }

    /// Fails the test unless stderr says all of this.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is not in:\n{}", self.stderr);
        }
        self
    }
}

/// `dyno run` against an engine, into `out`.
pub fn run(url: &str, out: &Path, arguments: &[&str]) -> Ran {
    Ran::of(&run_command(url, out, arguments).output().unwrap())
}

/// The same, not yet started.
pub fn run_command(url: &str, out: &Path, arguments: &[&str]) -> Command {
    let mut command = dyno();
    // The client is measured in tests of its own.
    command.args(["run", "--no-calibration", "--url", url, "--out"]).arg(out).args(arguments);
    command
}

/// Any other subcommand.
pub fn call(arguments: &[&str]) -> Ran {
    Ran::of(&dyno().args(arguments).output().unwrap())
}

/// A shard that must be fit for publication.
#[track_caller]
pub fn shard(path: &Path) -> Submission {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    dyno_shared::shard::read(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A case of a shard.
#[track_caller]
pub fn case<'a>(shard: &'a Submission, id: &str) -> &'a Case {
    shard.cases.iter().find(|case| case.id == id).unwrap_or_else(|| panic!("no case {id}"))
}

/// The journal of a shard.
pub fn journal(out: &Path) -> PathBuf {
    PathBuf::from(format!("{}.journal", out.display()))
}

/// Waits until a journal holds so many recorded runs.
#[track_caller]
pub fn wait_for_runs(out: &Path, runs: usize) {
    let begin = Instant::now();
    loop {
        let text = std::fs::read_to_string(journal(out)).unwrap_or_default();
        if text.lines().filter(|line| line.starts_with(r#"{"entry":"run""#)).count() >= runs {
            return;
        }
        assert!(begin.elapsed() < Duration::from_mins(2), "no {runs} runs after two minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A published result, below `results/`.
pub fn results(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    root.join(path).to_string_lossy().into_owned()
}
