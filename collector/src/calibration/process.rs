//! What this process has used.

/// CPU time of this process in seconds, where the system tells.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not tell")]
pub(super) fn cpu_seconds() -> Option<f64> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(used.tv_sec as f64 + used.tv_nsec as f64 / 1e9)
}

/// CPU time of this process in seconds, where the system tells.
#[cfg(not(unix))]
pub(super) fn cpu_seconds() -> Option<f64> {
    None
}

/// The most memory that this process has held, where the system tells.
pub(super) fn peak_memory_bytes() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// `VmHWM:  1234 kB` of `/proc/self/status`.
fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_in_bytes_and_what_is_not_said_is_unknown() {
        assert_eq!(peak_of("Name:\tdyno\nVmHWM:\t   12345 kB\nVmRSS:\t 1 kB\n"), Some(12_345 * 1024));
        assert_eq!(peak_of("Name:\tdyno\n"), None);
        assert_eq!(peak_of("VmHWM:\tmuch\n"), None);
    }
}
