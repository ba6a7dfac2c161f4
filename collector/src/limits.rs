//! How many files may be open: every stream is one.

/// Files that are open beside the streams: the journal, the runtime's own, standard streams, side calls.
const OTHERS: u64 = 64;

/// Too few files may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{streams} streams need {needed} open files and the system allows {allowed}: raise the limit (`ulimit -n {needed}` as \
     root, or `nofile` in /etc/security/limits.conf), or choose a lower concurrency"
)]
pub struct TooFewFiles {
    streams: u64,
    needed: u64,
    allowed: u64,
}

/// Sees to it that so many streams can be open at once: raises the soft limit as far as the hard one allows.
///
/// # Errors
/// [`TooFewFiles`].
pub fn need_open_files(streams: u64) -> Result<(), TooFewFiles> {
    let needed = streams.saturating_add(OTHERS);
    let allowed = raise(needed);
    if allowed.is_some_and(|allowed| allowed < needed) {
        return Err(TooFewFiles { streams, needed, allowed: allowed.unwrap_or_default() });
    }
    Ok(())
}

/// More than anybody opens, and no more than Linux grants.
const MOST: u64 = 1 << 20;

/// Raises the soft limit as far as the hard one, for a process that does not know how many streams will come.
pub fn raise_open_files() {
    raise(MOST);
}

/// What is allowed now; `None` is no limit.
#[cfg(unix)]
fn raise(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= wanted) {
        return current;
    }
    let new = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    match setrlimit(Resource::Nofile, Rlimit { current: Some(new), maximum }) {
        Ok(()) => Some(new),
        // Some systems have a lower limit than they say.
        Err(_) => current,
    }
}

/// Other systems have no such limit.
#[cfg(not(unix))]
fn raise(_wanted: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_streams_always_fit_and_more_than_any_system_allows_is_refused_with_what_to_do() {
        assert_eq!(need_open_files(8), Ok(()));
        if let Err(error) = need_open_files(1 << 60) {
            assert!(error.to_string().contains("ulimit -n"), "{error}");
        }
    }
}
