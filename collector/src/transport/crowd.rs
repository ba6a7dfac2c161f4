//! What many streams at once ask of the client.
//!
//! An engine speaks to the streams of a batch one after the other, some microseconds apart. A client that wakes for
//! each of them spends more on waking than on reading. From some number of streams on it lets what comes gather for a
//! moment before it looks: stamps are late by half of that on average, which `dyno calibrate` shows, and the engine
//! on the same machine keeps the time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Streams from which on it is worth it.
const MANY: u64 = 128;
/// Moment for each stream.
const NS_PER_STREAM: u64 = 250;
/// The longest moment.
const LONGEST: Duration = Duration::from_micros(250);

/// Streams under way in this process.
static UNDER_WAY: AtomicU64 = AtomicU64::new(0);

/// Whether so many streams are a crowd.
pub(super) const fn are_many(streams: u64) -> bool {
    streams >= MANY
}

/// One stream under way, for as long as this value lives.
#[derive(Debug)]
pub(super) struct UnderWay(());

impl UnderWay {
    pub(super) fn begin() -> Self {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets events gather, on a thread that has nothing to do until the next one.
pub(super) fn gather() {
    if let Some(moment) = moment(UNDER_WAY.load(Ordering::Relaxed)) {
        std::thread::sleep(moment);
    }
}

fn moment(streams: u64) -> Option<Duration> {
    are_many(streams).then(|| Duration::from_nanos(streams.saturating_mul(NS_PER_STREAM)).min(LONGEST))
}

/// Asks the system to end a thread's waits when they are over: it may add 50 µs to each otherwise.
pub(super) fn wake_in_time() {
    #[cfg(target_os = "linux")]
    {
        // If it refuses, moments are that much longer, and the calibration shows it.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_streams_are_read_at_once_and_many_within_a_moment_that_is_bounded() {
        assert_eq!(moment(0), None);
        assert_eq!(moment(64), None);
        assert_eq!(moment(256), Some(Duration::from_micros(64)));
        assert_eq!(moment(1_000_000), Some(LONGEST));
        assert_eq!(moment(u64::MAX), Some(LONGEST));
    }
}
