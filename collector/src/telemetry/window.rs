//! One window: what is read at its two ends and in between, and what that says of the machine. Pure.

use std::collections::BTreeMap;
use std::time::Instant;

use dyno_shared::submission::Telemetry;
use dyno_shared::units::{Joules, Seconds};

use super::cards::CardWatch;
use super::host::{CpuTime, throttled};

/// CPU time is counted in ticks of 10 ms on each CPU: below this many in all, a share says nothing.
const FEWEST_TICKS: u64 = 100;

/// What is read at an end of a window.
#[derive(Debug, Clone)]
pub struct Ends {
    /// When the counters of energy were read.
    pub at: Instant,
    /// The counters of the accelerators' energy, in joules.
    pub gpu_j: Vec<Option<f64>>,
    /// That of the CPU packages.
    pub cpu_j: Option<f64>,
    /// CPU time of the host.
    pub cpu: Option<CpuTime>,
    /// CPU time of the engine's processes, by their number; `None` when they are not known.
    pub engine: Option<BTreeMap<u32, u64>>,
    /// CPU time of this client.
    pub client: Option<u64>,
    /// How often each CPU was throttled.
    pub throttles: Option<Vec<u64>>,
}

impl Ends {
    /// An end at which nothing was read yet.
    pub fn at(at: Instant) -> Self {
        Self { at, gpu_j: Vec::new(), cpu_j: None, cpu: None, engine: None, client: None, throttles: None }
    }
}

/// A mean in the making.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mean {
    sum: f64,
    n: u32,
}

impl Mean {
    /// Takes in a value.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.n += 1;
    }

    /// The mean; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / f64::from(self.n))
    }
}

/// What a window has seen of the host between its ends.
#[derive(Debug, Default)]
pub struct HostWatch {
    /// Clock of the cores.
    pub clock: Mean,
    /// Highest memory in use.
    pub memory_bytes: Option<u64>,
    /// One-minute load at the end.
    pub load: Option<f64>,
}

/// All that a window says; `None` where it says nothing.
pub fn telemetry(
    before: &Ends,
    after: &Ends,
    gpu: Option<(CardWatch, &'static str)>,
    host: &HostWatch,
) -> Option<Telemetry> {
    let span = after.at.saturating_duration_since(before.at);
    let mut out = Telemetry::default();
    let mut sources = Vec::new();
    if let Some((watch, source)) = gpu {
        watch.tell(&mut out, before, after, source, &mut sources);
    }
    if let (Some(before), Some(after)) = (before.cpu_j, after.cpu_j)
        && after > before
    {
        out.cpu_energy_j = Some(Joules(round(after - before, 1e3)));
        sources.push("RAPL packages".to_owned());
    }
    out.energy_source = (!sources.is_empty()).then(|| sources.join("; "));
    out.host_cores = after.cpu.map(|cpu| cpu.cores);
    out.host_load = host.load;
    out.host_memory_bytes = host.memory_bytes;
    out.cpu_clock_mhz = host.clock.value().map(|mhz| round(mhz, 1.0));
    out.cpu_throttle_events = match (&before.throttles, &after.throttles) {
        (Some(before), Some(after)) => throttled(before, after),
        _ => None,
    };
    shares(&mut out, before, after);
    if out == Telemetry::default() {
        return None;
    }
    out.window_s = Some(Seconds(round(span.as_secs_f64(), 1e6)));
    Some(out)
}

/// What the CPUs' time went to.
fn shares(out: &mut Telemetry, before: &Ends, after: &Ends) {
    let (Some(cpu_before), Some(cpu_after)) = (before.cpu, after.cpu) else { return };
    let ticks = |of: fn(CpuTime) -> u64| of(cpu_after).checked_sub(of(cpu_before));
    let Some(total) = ticks(|cpu| cpu.total).filter(|total| *total >= FEWEST_TICKS) else { return };
    // Counters of idle time go back a little now and then.
    let share = |ticks: Option<u64>| ticks.map(|ticks| round(ticks as f64 / total as f64, 1e4).min(1.0));
    let busy = ticks(|cpu| cpu.busy);
    out.host_cpu_busy_share = share(busy);
    out.host_steal_share = share(ticks(|cpu| cpu.steal));
    out.host_iowait_share = share(ticks(|cpu| cpu.iowait));
    out.host_cpu_other_share = share(ours(before, after).and_then(|ours| Some(busy?.saturating_sub(ours))));
}

/// Ticks of the engine and of this client; `None` where one of them is not known.
fn ours(before: &Ends, after: &Ends) -> Option<u64> {
    let client = after.client?.checked_sub(before.client?)?;
    let (before, after) = (before.engine.as_ref()?, after.engine.as_ref()?);
    let engine = after.iter().filter_map(|(pid, ticks)| ticks.checked_sub(*before.get(pid)?));
    Some(engine.fold(client, u64::saturating_add))
}

/// To the next multiple of 1 / `parts`: a shard needs no sixteen digits.
pub(super) fn round(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn two_ends(seconds: f64) -> (Ends, Ends) {
        let begin = Instant::now();
        (Ends::at(begin), Ends::at(begin + Duration::from_secs_f64(seconds)))
    }

    fn cpu(busy: u64, steal: u64, total: u64) -> CpuTime {
        CpuTime { busy, iowait: 10, steal, total, cores: 4 }
    }

    #[test]
    fn the_work_of_others_is_what_neither_engine_nor_client_did() {
        let (mut before, mut after) = two_ends(1.0);
        (before.cpu, after.cpu) = (Some(cpu(1_000, 0, 5_000)), Some(cpu(1_300, 20, 5_400)));
        (before.client, after.client) = (Some(7), Some(17));
        before.engine = Some(BTreeMap::from([(10, 100), (11, 500), (12, 900)]));
        // Process 12 ended, and process 13 was not watched when the window began.
        after.engine = Some(BTreeMap::from([(10, 250), (11, 550), (13, 5_000)]));
        let told = telemetry(&before, &after, None, &HostWatch::default()).unwrap();
        assert_eq!((told.host_cpu_busy_share, told.host_steal_share), (Some(0.75), Some(0.05)));
        assert_eq!(told.host_cpu_other_share, Some((300.0 - 10.0 - 200.0) / 400.0));
        assert_eq!((told.host_cores, told.host_iowait_share), (Some(4), Some(0.0)));
        after.engine = None;
        let told = telemetry(&before, &after, None, &HostWatch::default()).unwrap();
        assert_eq!((told.host_cpu_other_share, told.host_cpu_busy_share), (None, Some(0.75)));
    }

    #[test]
    fn a_share_of_a_moment_is_unknown() {
        let (mut before, mut after) = two_ends(0.02);
        (before.cpu, after.cpu) = (Some(cpu(1_000, 0, 5_000)), Some(cpu(1_004, 0, 5_008)));
        let told = telemetry(&before, &after, None, &HostWatch::default()).unwrap();
        assert_eq!(told.host_cpu_busy_share, None);
        assert_eq!(told.host_cores, Some(4));
    }

    #[test]
    fn a_window_that_saw_nothing_says_nothing() {
        let (before, after) = two_ends(1.0);
        assert_eq!(telemetry(&before, &after, None, &HostWatch::default()), None);
    }
}
