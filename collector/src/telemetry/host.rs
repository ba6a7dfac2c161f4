//! The host: how busy its processors are and with what, its load, memory, clocks and throttling.
//!
//! Load, memory and CPU time were read on real machines (virtual ones, Linux 6.18); clocks and throttle counters were
//! tested against a fabricated tree only, because virtual machines have none.

use std::path::{Path, PathBuf};

use super::files::{number, numbered, spread, text};

/// CPUs whose clocks are asked: each answer may wake a sleeping core.
const CLOCKS: usize = 16;
/// CPUs whose throttle counters are read.
const THROTTLES: usize = 64;

/// What is read of the host.
#[derive(Debug)]
pub struct Host {
    proc: PathBuf,
    clocks: Vec<PathBuf>,
    throttles: Vec<PathBuf>,
}

/// CPU time since the machine started, in the kernel's ticks, all CPUs together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Busy with whatever.
    pub busy: u64,
    /// Nothing to do but to wait for a disk.
    pub iowait: u64,
    /// Wanted by this machine and given to another by the hypervisor.
    pub steal: u64,
    /// All of it, idle time too.
    pub total: u64,
    /// CPUs behind it.
    pub cores: u32,
}

impl Host {
    /// The host whose `/proc` and `/sys` lie below `root`.
    ///
    /// # Errors
    /// Why there is nothing to read, in words for a reader of the shard.
    pub fn open(root: &Path) -> Result<Self, String> {
        let cpus = numbered(&root.join("sys/devices/system/cpu"), "cpu");
        let having = |file: &str| -> Vec<PathBuf> {
            cpus.iter().map(|cpu| cpu.join(file)).filter(|path| path.exists()).collect()
        };
        let host = Self {
            proc: root.join("proc"),
            clocks: spread(having("cpufreq/scaling_cur_freq"), CLOCKS),
            throttles: spread(having("thermal_throttle"), THROTTLES),
        };
        if host.cpu_time().is_none() {
            return Err("the kernel shows no CPU time (/proc/stat)".to_owned());
        }
        Ok(host)
    }

    /// CPU time so far.
    pub fn cpu_time(&self) -> Option<CpuTime> {
        cpu_time(&text(&self.proc.join("stat"))?)
    }

    /// CPU time of a process so far, in ticks; `None` when it is gone.
    pub fn process_time(&self, pid: u32) -> Option<u64> {
        process_time(&text(&self.proc.join(pid.to_string()).join("stat"))?)
    }

    /// This process's number, and its CPU time so far in ticks.
    pub fn own_time(&self) -> Option<(u32, u64)> {
        let stat = text(&self.proc.join("self/stat"))?;
        Some((stat.split_whitespace().next()?.parse().ok()?, process_time(&stat)?))
    }

    /// The one-minute load.
    pub fn load(&self) -> Option<f64> {
        text(&self.proc.join("loadavg"))?.split_whitespace().next()?.parse().ok()
    }

    /// Bytes of memory that are neither free nor to be had at once.
    pub fn memory_bytes(&self) -> Option<u64> {
        let text = text(&self.proc.join("meminfo"))?;
        let kib = |key: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            line.trim().strip_suffix("kB")?.trim().parse().ok()
        };
        kib("MemTotal")?.checked_sub(kib("MemAvailable")?)?.checked_mul(1024)
    }

    /// Mean clock of the cores.
    pub fn clock_mhz(&self) -> Option<f64> {
        let clocks: Vec<u64> = self.clocks.iter().filter_map(|path| number(path)).collect();
        let sum: f64 = clocks.iter().map(|khz| *khz as f64 / 1e3).sum();
        (!clocks.is_empty()).then(|| sum / clocks.len() as f64)
    }

    /// How often each CPU was throttled because of heat, alone or with its package, since the machine started.
    pub fn throttles(&self) -> Option<Vec<u64>> {
        let count = |folder: &PathBuf| {
            let core = number(&folder.join("core_throttle_count"));
            let package = number(&folder.join("package_throttle_count"));
            core.or(package).map(|_| core.unwrap_or(0) + package.unwrap_or(0))
        };
        let counts: Option<Vec<u64>> = self.throttles.iter().map(count).collect();
        counts.filter(|counts| !counts.is_empty())
    }
}

/// The events of the CPU that was throttled most between two readings; `None` where they do not fit together.
pub fn throttled(before: &[u64], after: &[u64]) -> Option<u64> {
    if before.len() != after.len() {
        return None;
    }
    let events: Option<Vec<u64>> =
        before.iter().zip(after).map(|(before, after)| after.checked_sub(*before)).collect();
    events?.into_iter().max()
}

/// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`; guests are in `user` already.
fn cpu_time(stat: &str) -> Option<CpuTime> {
    let fields: Vec<u64> = stat
        .lines()
        .find_map(|line| line.strip_prefix("cpu "))?
        .split_whitespace()
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or(0);
    let busy = [0, 1, 2, 5, 6].into_iter().map(field).fold(0, u64::saturating_add);
    let total = fields.iter().copied().fold(0, u64::saturating_add);
    let is_core = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let cores = stat.lines().filter(is_core).count() as u32;
    (fields.len() >= 4 && total > 0 && cores > 0).then_some(CpuTime {
        busy,
        iowait: field(4),
        steal: field(7),
        total,
        cores,
    })
}

/// User and system time of `pid (name) state …`; the name may hold anything, so the fields begin at the last bracket.
fn process_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.checked_add(system)
}

#[cfg(test)]
mod tests {
    use super::super::files::testing::Tree;
    use super::*;

    const STAT: &str = "cpu  775091 819345 101882 564937 2407 5 3592 1741 11 12\n\
        cpu0 448223 352855 47652 282332 1137 0 1601 857 0 0\n\
        cpu1 326867 466490 54230 282604 1270 0 1990 883 0 0\nintr 12004108 0\nctxt 26646765\ncpus_of_a_later_kernel 3";

    #[test]
    fn cpu_time_is_split_and_guests_are_not_counted_twice() {
        let time = cpu_time(STAT).unwrap();
        assert_eq!(time.busy, 775_091 + 819_345 + 101_882 + 5 + 3_592);
        assert_eq!((time.iowait, time.steal, time.cores), (2_407, 1_741, 2));
        assert_eq!(time.total, time.busy + 564_937 + 2_407 + 1_741);
        for bad in ["", "cpu ", "cpu  1 2 3", "cpu  0 0 0 0 0 0 0 0\ncpu0 0 0 0 0", "cpu  a b c d"] {
            assert_eq!(cpu_time(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_process_may_be_called_anything() {
        let line = "42 (a) R 1) (x) S 1 42 42 0 -1 4194560 5 0 0 0 700 33 1 2 20 0 9 0 100 1000 10 18446744073709551615";
        assert_eq!(process_time(line), Some(733));
        assert_eq!(process_time("42 (x) S 1 2"), None);
        assert_eq!(process_time(""), None);
    }

    #[test]
    fn a_host_is_read_in_base_units() {
        let tree = Tree::new();
        tree.write("proc/stat", STAT);
        tree.write("proc/loadavg", "3.27 1.18 1.66 1/88 17711");
        tree.write("proc/meminfo", "MemTotal:        8000000 kB\nMemFree: 1 kB\nMemAvailable:    6000000 kB");
        for (cpu, khz, core, package) in [(0, 3_000_000, 4, 9), (1, 4_000_000, 4, 9)] {
            let at = format!("sys/devices/system/cpu/cpu{cpu}");
            tree.write(&format!("{at}/cpufreq/scaling_cur_freq"), &khz.to_string());
            tree.write(&format!("{at}/thermal_throttle/core_throttle_count"), &core.to_string());
            tree.write(&format!("{at}/thermal_throttle/package_throttle_count"), &package.to_string());
        }
        let host = Host::open(tree.path()).unwrap();
        assert_eq!(host.load(), Some(3.27));
        assert_eq!(host.memory_bytes(), Some(2_000_000 * 1024));
        assert_eq!(host.clock_mhz(), Some(3_500.0));
        let before = host.throttles().unwrap();
        tree.write("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "12");
        assert_eq!(throttled(&before, &host.throttles().unwrap()), Some(3));
        assert_eq!(throttled(&[5], &[4]), None);
    }

    #[test]
    fn what_a_host_does_not_show_is_unknown() {
        let tree = Tree::new();
        assert!(Host::open(tree.path()).is_err());
        tree.write("proc/stat", STAT);
        let host = Host::open(tree.path()).unwrap();
        assert_eq!((host.load(), host.memory_bytes(), host.clock_mhz()), (None, None, None));
        assert_eq!(host.throttles(), None);
    }
}
