//! The sampling thread: it reads the machine when a window opens and closes, and ten times a second in between. While
//! no window is open it sleeps.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use dyno_shared::submission::Telemetry;

use super::cards::{CardWatch, Users};
use super::gpu::{GpuSample, Gpus};
use super::host::Host;
use super::processes::EngineProcesses;
use super::rapl::Rapl;
use super::window::{Ends, HostWatch, telemetry};

/// Time between two looks.
const PERIOD: Duration = Duration::from_millis(100);

/// What is dear to read, or slow to change, is looked at every so many times.
const SLOW: u32 = 10;

/// What the thread is asked.
#[derive(Debug)]
pub(super) enum Ask {
    /// Open a window, and answer with its number.
    Begin(SyncSender<u64>),
    /// Close it, and answer with what it saw.
    End(u64, SyncSender<Option<Telemetry>>),
    /// Close it; nobody wants to know.
    Forget(u64),
}

/// All that is read.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) gpus: Option<Box<dyn Gpus>>,
    pub(super) rapl: Option<Rapl>,
    pub(super) host: Option<Host>,
    pub(super) engine: EngineProcesses,
}

struct Open {
    id: u64,
    before: Ends,
    gpu: Option<CardWatch>,
    host: HostWatch,
    looks: u32,
}

/// Serves until nobody can ask any more.
pub(super) fn serve(mut sources: Sources, asks: &Receiver<Ask>) {
    let mut open: Vec<Open> = Vec::new();
    let mut opened: u64 = 0;
    let mut next = Instant::now();
    loop {
        let ask = if open.is_empty() {
            asks.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            asks.recv_timeout(next.saturating_duration_since(Instant::now()))
        };
        match ask {
            Ok(Ask::Begin(reply)) => {
                opened += 1;
                if open.is_empty() {
                    next = Instant::now() + PERIOD;
                }
                let window = sources.begin(opened);
                // Who does not wait any more does not measure either.
                if reply.send(opened).is_ok() {
                    open.push(window);
                }
            }
            Ok(Ask::End(id, reply)) => {
                let found = open.iter().position(|window| window.id == id);
                let seen = found.and_then(|at| sources.end(open.swap_remove(at)));
                // Nobody waits: then nobody misses it.
                let _ = reply.send(seen);
            }
            Ok(Ask::Forget(id)) => open.retain(|window| window.id != id),
            Err(RecvTimeoutError::Timeout) => {
                for window in &mut open {
                    sources.look(window);
                }
                // A look that came late is not made up for.
                next = Instant::now() + PERIOD;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Sources {
    /// Everything slow first, so that the counters of energy are read next to the run.
    fn begin(&mut self, id: u64) -> Open {
        self.engine.refresh();
        let pids = self.compute_pids();
        let gpu = pids.as_ref().map(|pids| {
            let mut watch = CardWatch::new(pids.len(), Users::of(pids, self.engine.family()));
            watch.add_users(pids, self.engine.family());
            watch
        });
        let mut window =
            Open { id, before: Ends::at(Instant::now()), gpu, host: HostWatch::default(), looks: 0 };
        self.read_host(&mut window.before);
        self.look(&mut window);
        self.read_energy(&mut window.before);
        window
    }

    fn end(&mut self, mut window: Open) -> Option<Telemetry> {
        let mut after = Ends::at(Instant::now());
        self.read_energy(&mut after);
        self.read_host(&mut after);
        self.look(&mut window);
        if let Some(pids) = self.compute_pids()
            && let Some(watch) = window.gpu.as_mut()
        {
            watch.add_users(&pids, self.engine.family());
        }
        window.host.load = self.host.as_ref().and_then(Host::load);
        let source = self.gpus.as_ref().map(|gpus| gpus.source());
        telemetry(&window.before, &after, window.gpu.zip(source), &window.host)
    }

    /// One look at what is not counted up by the machine itself.
    fn look(&mut self, window: &mut Open) {
        let slow = window.looks.is_multiple_of(SLOW);
        window.looks += 1;
        if let Some(host) = &self.host {
            window.host.memory_bytes = window.host.memory_bytes.max(host.memory_bytes());
            if let Some(mhz) = host.clock_mhz().filter(|_| slow) {
                window.host.clock.add(mhz);
            }
        }
        let Some(watch) = window.gpu.as_mut() else { return };
        if let Some(gpus) = self.gpus.as_mut() {
            let samples: Vec<GpuSample> = watch.gpus().iter().map(|gpu| gpus.sample(*gpu)).collect();
            watch.add(Instant::now(), &samples);
        }
        if slow
            && window.looks > 1
            && let Some(pids) = self.compute_pids()
        {
            watch.add_users(&pids, self.engine.family());
        }
    }

    fn compute_pids(&mut self) -> Option<Vec<Option<Vec<u32>>>> {
        let gpus = self.gpus.as_mut()?;
        Some((0..gpus.count()).map(|gpu| gpus.compute_pids(gpu)).collect())
    }

    fn read_energy(&mut self, ends: &mut Ends) {
        ends.at = Instant::now();
        ends.cpu_j = self.rapl.as_mut().and_then(Rapl::joules);
        if let Some(gpus) = self.gpus.as_mut() {
            ends.gpu_j = (0..gpus.count()).map(|gpu| gpus.energy_j(gpu)).collect();
        }
    }

    fn read_host(&self, ends: &mut Ends) {
        let Some(host) = &self.host else { return };
        ends.cpu = host.cpu_time();
        ends.throttles = host.throttles();
        let (own, own_ticks) = host.own_time().unzip();
        ends.client = own_ticks;
        let family = self.engine.family();
        let of_engine: BTreeMap<u32, u64> = family
            .iter()
            // A client that is the engine, as in tests, works once.
            .filter(|pid| Some(**pid) != own)
            .filter_map(|pid| Some((*pid, host.process_time(*pid)?)))
            .collect();
        ends.engine = (!family.is_empty()).then_some(of_engine);
    }
}
