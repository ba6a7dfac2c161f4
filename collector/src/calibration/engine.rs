//! The simulated engine as a child process, so that its work and its memory are not the client's.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::simulator::{LogReply, RequestLog};
use crate::transport::{Target, get_text};

/// Requests whose log is read at once: a part of a few megabytes.
const LOG_PART: u64 = 64;

/// A running simulated engine; it ends with this value, and with this process however that ends.
#[derive(Debug)]
pub(super) struct Engine {
    child: Child,
    /// Where it listens.
    pub(super) target: Target,
}

impl Engine {
    /// Starts `dyno`, this very program, as an engine of so many slots that decodes at `rate_tok_s`.
    pub(super) async fn start(dyno: &Path, slots: u32, rate_tok_s: f64, jitter: f64) -> anyhow::Result<Self> {
        let mut child = Command::new(dyno)
            .args(["simulate", "--while-stdin", "--port", "0", "--cache", "off"])
            .args(["--slots", &slots.to_string(), "--decode-tok-s", &rate_tok_s.to_string()])
            .args(["--jitter", &jitter.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the simulated engine, which is this very program")?;
        let stdout = child.stdout.take();
        let mut engine = Self { child, target: Target::parse("http://127.0.0.1:1")? };
        let stdout =
            tokio::process::ChildStdout::from_std(stdout.context("the simulated engine has no stdout")?)?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address).await.context("the simulated engine says nothing")?;
        engine.target = Target::parse(&address)
            .context("the simulated engine does not start: `dyno simulate` says why")?;
        Ok(engine)
    }

    /// The log of the requests numbered above `since` and up to `until`, in parts that need little memory.
    pub(super) async fn log(&self, since: u64, until: u64) -> anyhow::Result<Vec<RequestLog>> {
        let mut all = Vec::new();
        let mut from = since;
        while from < until {
            let to = until.min(from + LOG_PART);
            let path = format!("/v1/simulator/log?since={from}&until={to}");
            let part: LogReply = serde_json::from_str(&get_text(&self.target, &path).await?)
                .context("the simulated engine's log cannot be read")?;
            all.extend(part.requests);
            from = to;
        }
        Ok(all)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
