//! The clock that every stamp of the simulator is read from, and a timer finer than tokio's millisecond.
//!
//! On Linux and other Unix systems a stamp is `CLOCK_MONOTONIC` in nanoseconds, so a client in another
//! process of the same machine can hold its own stamps against the simulator's log.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Nanoseconds of the machine's monotonic clock. Comparable between processes on Unix.
#[cfg(unix)]
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Neither field is ever negative on this clock.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Nanoseconds since the first call in this process.
#[cfg(not(unix))]
pub fn now_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

/// Seconds as nanoseconds; negative or absurd spans become 0 or the largest value.
pub fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Locks, and goes on after a panic elsewhere: all that is guarded here stays whole between statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes tasks at absolute deadlines, from a thread of its own.
///
/// tokio's timer ticks in milliseconds. This one waits on a condition variable with the kernel's own
/// resolution, so that a wake is late by tens of microseconds on an idle machine. It never spins: the
/// client under test may share the processor.
#[derive(Debug)]
pub struct Timer {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    sleepers: BinaryHeap<Reverse<Sleeper>>,
    registered: u64,
    stopped: bool,
}

#[derive(Debug)]
struct Sleeper {
    due_ns: u64,
    order: u64,
    waker: Waker,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        (self.due_ns, self.order) == (other.due_ns, other.order)
    }
}
impl Eq for Sleeper {}
impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.order).cmp(&(other.due_ns, other.order))
    }
}

impl Timer {
    /// Starts the timer's thread.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("simulator-timer".to_owned()).spawn(move || tick(&theirs))?;
        Ok(Self { shared })
    }

    /// Completes at `due_ns` of [`now_ns`], or at once when that has passed.
    pub fn until(&self, due_ns: u64) -> Until {
        Until { shared: Arc::clone(&self.shared), due_ns, registered: None }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        lock(&self.shared.queue).stopped = true;
        self.shared.changed.notify_one();
    }
}

fn tick(shared: &Shared) {
    #[cfg(target_os = "linux")]
    {
        // Without this the kernel may add 50 µs to every wait; if it refuses, wakes are that much later.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
    let mut due: Vec<Waker> = Vec::new();
    let mut queue = lock(&shared.queue);
    while !queue.stopped {
        let now = now_ns();
        while queue.sleepers.peek().is_some_and(|Reverse(first)| first.due_ns <= now) {
            due.extend(queue.sleepers.pop().map(|Reverse(sleeper)| sleeper.waker));
        }
        if !due.is_empty() {
            drop(queue);
            due.drain(..).for_each(Waker::wake);
            queue = lock(&shared.queue);
            continue;
        }
        queue = match queue.sleepers.peek() {
            None => shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            Some(Reverse(first)) => {
                let wait = Duration::from_nanos(first.due_ns - now);
                shared.changed.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// The wait of [`Timer::until`].
#[derive(Debug)]
pub struct Until {
    shared: Arc<Shared>,
    due_ns: u64,
    registered: Option<Waker>,
}

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if now_ns() >= self.due_ns {
            return Poll::Ready(());
        }
        if self.registered.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            return Poll::Pending;
        }
        let waker = context.waker().clone();
        let earliest = {
            let mut queue = lock(&self.shared.queue);
            let order = queue.registered;
            queue.registered += 1;
            let earliest = queue.sleepers.peek().is_none_or(|Reverse(first)| self.due_ns < first.due_ns);
            queue.sleepers.push(Reverse(Sleeper { due_ns: self.due_ns, order, waker: waker.clone() }));
            earliest
        };
        if earliest {
            self.shared.changed.notify_one();
        }
        self.registered = Some(waker);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_end_in_the_order_of_their_deadlines_and_never_early() {
        let timer = Timer::start().unwrap();
        let start = now_ns();
        let order = Mutex::new(Vec::new());
        let wait = async |milliseconds: u64| {
            let due = start + milliseconds * 1_000_000;
            timer.until(due).await;
            assert!(now_ns() >= due, "woke before its deadline");
            order.lock().unwrap().push(milliseconds);
        };
        tokio::join!(wait(9), wait(3), wait(6), wait(0));
        assert_eq!(*order.lock().unwrap(), [0, 3, 6, 9]);
    }

    #[tokio::test]
    async fn a_nearer_deadline_is_kept_while_a_far_one_waits() {
        let timer = Timer::start().unwrap();
        let far = timer.until(now_ns() + ns(3600.0));
        let near = timer.until(now_ns() + ns(0.002));
        tokio::select! {
            biased;
            () = far => panic!("the far deadline came first"),
            () = near => {}
        }
    }

    #[test]
    fn seconds_become_nanoseconds_without_wrapping() {
        assert_eq!(ns(0.02), 20_000_000);
        assert_eq!(ns(-1.0), 0);
        assert_eq!(ns(f64::INFINITY), u64::MAX);
    }
}
