//! Servers that run beside us and must not outlive us.

use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Every child under watch, for the thread that waits for signals.
static WATCHED: Mutex<Vec<Arc<Mutex<Child>>>> = Mutex::new(Vec::new());

/// A child that is killed when this is dropped, and when we are told to end.
#[derive(Debug)]
pub struct Watched(Arc<Mutex<Child>>);

impl Watched {
    pub fn new(child: Child) -> Self {
        let child = Arc::new(Mutex::new(child));
        lock(&WATCHED).push(Arc::clone(&child));
        Self(child)
    }

    /// How the child ended, `None` while it runs.
    pub fn ended(&self) -> Result<Option<ExitStatus>> {
        lock(&self.0).try_wait().context("lost a child process")
    }

    /// Waits until the child ends. Polls, so that the thread that waits for signals can kill it meanwhile.
    pub fn wait(&self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        end(&self.0);
        lock(&WATCHED).retain(|child| !Arc::ptr_eq(child, &self.0));
    }
}

/// From now on Ctrl-C and SIGTERM end the watched children, then us, with the exit code a shell would give.
pub fn end_with_us() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen for signals")?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            lock(&WATCHED).iter().for_each(end);
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

fn end(child: &Arc<Mutex<Child>>) {
    let mut child = lock(child);
    // Both fail only for a child that has already ended.
    let _ = child.kill();
    let _ = child.wait();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_dropped_child_is_dead_and_forgotten() {
        let watched = Watched::new(Command::new("sleep").arg("60").spawn().unwrap());
        let child = Arc::clone(&watched.0);
        assert!(watched.ended().unwrap().is_none());
        drop(watched);
        assert!(lock(&child).try_wait().unwrap().is_some_and(|status| !status.success()));
        assert!(!lock(&WATCHED).iter().any(|other| Arc::ptr_eq(other, &child)));
    }
}
