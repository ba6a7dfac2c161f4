//! When to give up: on a case whose requests all fail, and on an endpoint that is gone.

use dyno_shared::record::RequestErrorKind;
use dyno_shared::submission::Run;

/// Runs of one case whose requests may fail in a row, or that may find nobody in the whole measurement.
const MOST: u32 = 3;

/// What to do after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Go on.
    GoOn,
    /// Leave this case, for this reason, and try the next one.
    LeaveCase(String),
    /// Leave all: nobody is there any more.
    LeaveAll(String),
}

/// Counts failures in a row.
#[derive(Debug, Default)]
pub struct Patience {
    /// Runs since the last answer for which no connection could be opened, over all cases.
    lost: u32,
    /// Runs with a failed request since the last good one of this case.
    failed: u32,
}

impl Patience {
    /// A case begins.
    pub fn new_case(&mut self) {
        self.failed = 0;
    }

    /// Whether the last connection could not be opened.
    pub fn is_lost(&self) -> bool {
        self.lost > 0
    }

    /// A run of the case has ended; of sessions with their later turns.
    pub fn after(&mut self, run: &Run, continuation: Option<&Run>) -> Next {
        let requests = run.requests.iter().chain(continuation.iter().flat_map(|later| &later.requests));
        let errors = || requests.clone().filter_map(|request| request.error.as_ref());
        let Some(first) = errors().next() else {
            (self.lost, self.failed) = (0, 0);
            return Next::GoOn;
        };
        self.failed += 1;
        if is_unsent(run) {
            self.lost += 1;
            let reason = format!("the engine stopped answering: {}", first.message);
            return if self.lost >= MOST { Next::LeaveAll(reason) } else { Next::LeaveCase(reason) };
        }
        self.lost = 0;
        if self.failed >= MOST {
            let (what, one) = if run.requests.len() > 1 {
                ("runs", "of the last one: ")
            } else {
                ("requests", "the last one: ")
            };
            return Next::LeaveCase(format!("{MOST} {what} failed in a row, {one}{}", first.message));
        }
        Next::GoOn
    }
}

/// Whether nothing of a run was sent, because no connection could be opened.
pub fn is_unsent(run: &Run) -> bool {
    run.requests
        .iter()
        .all(|request| request.error.as_ref().is_some_and(|error| error.kind == RequestErrorKind::Connect))
}

#[cfg(test)]
mod tests {
    use dyno_shared::record::{RequestError, RequestRecord};

    use super::*;

    fn batch(kinds: &[Option<RequestErrorKind>]) -> Run {
        let request = |kind: &Option<RequestErrorKind>| RequestRecord {
            error: kind.map(|kind| RequestError { kind, message: "it broke".into() }),
            ..RequestRecord::default()
        };
        Run { requests: kinds.iter().map(request).collect(), ..Run::default() }
    }

    fn ended(kind: Option<RequestErrorKind>) -> Run {
        batch(&[kind])
    }

    #[test]
    fn single_failures_among_good_requests_end_nothing() {
        let mut patience = Patience::default();
        for _ in 0..10 {
            assert_eq!(patience.after(&ended(Some(RequestErrorKind::IdleTimeout)), None), Next::GoOn);
            assert_eq!(patience.after(&ended(Some(RequestErrorKind::Status)), None), Next::GoOn);
            assert_eq!(patience.after(&ended(None), None), Next::GoOn);
        }
    }

    #[test]
    fn three_failures_in_a_row_end_the_case_and_the_next_one_is_tried() {
        let mut patience = Patience::default();
        let status = ended(Some(RequestErrorKind::Status));
        assert_eq!(patience.after(&status, None), Next::GoOn);
        assert_eq!(patience.after(&status, None), Next::GoOn);
        assert!(matches!(patience.after(&status, None), Next::LeaveCase(why) if why.contains("it broke")));
        patience.new_case();
        assert_eq!(patience.after(&status, None), Next::GoOn);
    }

    #[test]
    fn three_lost_connections_over_all_cases_end_everything() {
        let mut patience = Patience::default();
        let lost = ended(Some(RequestErrorKind::Connect));
        for _ in 0..2 {
            assert!(matches!(patience.after(&lost, None), Next::LeaveCase(_)));
            patience.new_case();
        }
        assert!(matches!(patience.after(&lost, None), Next::LeaveAll(_)));
        assert_eq!(patience.after(&ended(None), None), Next::GoOn);
        assert!(matches!(patience.after(&lost, None), Next::LeaveCase(_)), "an answer in between counts");
    }

    #[test]
    fn a_batch_is_lost_only_where_no_stream_found_a_server() {
        let connect = Some(RequestErrorKind::Connect);
        assert!(is_unsent(&batch(&[connect, connect])));
        assert!(!is_unsent(&batch(&[connect, None])));
        assert!(!is_unsent(&batch(&[connect, Some(RequestErrorKind::Status)])));
        let mut patience = Patience::default();
        for _ in 0..2 {
            assert_eq!(patience.after(&batch(&[None, connect]), None), Next::GoOn);
        }
        let Next::LeaveCase(why) = patience.after(&batch(&[None, connect]), None) else {
            panic!("it goes on")
        };
        assert!(why.starts_with("3 runs failed in a row"), "{why}");
    }
}
