//! Telemetry: what the machine does beside a run: energy, power, clocks, and who else is at work.
//!
//! A thread of its own reads it, into no memory that a measurement looks at. A run's window is opened before its first
//! request is sent and closed after its last answer ended, so nothing of this stands between two streams. What a machine does not have is
//! absent, and [`Sampler::absent`] says why.

mod amd;
mod cards;
#[cfg(test)]
pub(crate) mod fakes;
mod files;
mod gpu;
mod host;
mod nvidia;
mod processes;
mod rapl;
mod window;
mod worker;

use std::path::Path;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use dyno_shared::submission::Telemetry;

pub use gpu::{GpuFacts, Gpus, accelerators};

use host::Host;
use processes::EngineProcesses;
use rapl::Rapl;
use worker::{Ask, Sources, serve};

/// How long a measurement waits for the thread: a driver that hangs must not hold it up.
const PATIENCE: Duration = Duration::from_millis(500);

/// Watches the machine on which the engine runs.
#[derive(Debug)]
pub struct Sampler {
    /// None where nothing is watched.
    asks: Option<Sender<Ask>>,
    absent: Vec<String>,
}

/// The time of one run. Dropped without an end it is forgotten.
#[derive(Debug)]
#[must_use = "a window that is dropped says nothing"]
pub struct Window {
    asks: Option<Sender<Ask>>,
    id: u64,
}

impl Sampler {
    /// Begins to watch this machine for an engine that listens on `port`; `None` for an engine on another machine, of
    /// which nothing can be seen. It never fails: what cannot be watched is absent.
    pub fn start(port: Option<u16>) -> Self {
        let Some(port) = port else {
            let why = "all of the machine: the engine runs on another one";
            return Self { asks: None, absent: vec![why.to_owned()] };
        };
        let root = Path::new("/");
        Self::watch(root, port, accelerators(root))
    }

    fn watch(root: &Path, port: u16, gpus: Result<Box<dyn Gpus>, String>) -> Self {
        let mut absent = Vec::new();
        let mut keep = |what: &str, reason: String| absent.push(format!("{what}: {reason}"));
        let gpus = gpus.map_err(|reason| keep("accelerators", reason)).ok();
        let rapl = Rapl::open(root).map_err(|reason| keep("CPU energy", reason)).ok();
        let host = Host::open(root).map_err(|reason| keep("the host", reason)).ok();
        let engine = EngineProcesses::find(root, port);
        if engine.family().is_empty() {
            keep(
                "the work of other programs",
                "the engine's own processes cannot be told from them".to_owned(),
            );
        }
        let sources = Sources { gpus, rapl, host, engine };
        let (asks, asked) = channel();
        let started =
            thread::Builder::new().name("telemetry".to_owned()).spawn(move || serve(sources, &asked));
        match started {
            Ok(_) => Self { asks: Some(asks), absent },
            Err(error) => {
                Self { asks: None, absent: vec![format!("all of the machine: no thread for it ({error})")] }
            }
        }
    }

    /// What is not measured here, and why.
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// The same as one note for the shard; `None` where all is measured.
    pub fn note(&self) -> Option<String> {
        (!self.absent.is_empty()).then(|| format!("not measured beside the runs: {}", self.absent.join("; ")))
    }

    /// Opens the window of a run, right before its first request. It returns when the counters are read: within a
    /// millisecond where there is no accelerator, a few with them, half a second where a driver hangs.
    pub fn begin(&self) -> Window {
        let nothing = Window { asks: None, id: 0 };
        let Some(asks) = &self.asks else { return nothing };
        let (reply, answer) = sync_channel(1);
        if asks.send(Ask::Begin(reply)).is_err() {
            return nothing;
        }
        match answer.recv_timeout(PATIENCE) {
            Ok(id) => Window { asks: Some(asks.clone()), id },
            Err(_) => nothing,
        }
    }
}

impl Window {
    /// Closes the window, right after the run's last answer. `None` where nothing was seen.
    pub fn end(mut self) -> Option<Telemetry> {
        let asks = self.asks.take()?;
        let (reply, answer) = sync_channel(1);
        asks.send(Ask::End(self.id, reply)).ok()?;
        answer.recv_timeout(PATIENCE).ok()?
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(asks) = &self.asks {
            // A thread that is gone watches nothing.
            let _ = asks.send(Ask::Forget(self.id));
        }
    }
}

#[cfg(test)]
mod tests;
