//! When to give up: on a case whose requests all fail, and on an endpoint that is gone.

use dyno_shared::record::{RequestErrorKind, RequestRecord};

/// Requests of one case that may fail in a row, or connections of the whole measurement.
const MOST: u32 = 3;

/// What to do after a request.
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
    /// Failed connections since the last answer, over all cases.
    lost: u32,
    /// Failed requests since the last good one of this case.
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

    /// A request of the case has ended.
    pub fn after(&mut self, request: &RequestRecord) -> Next {
        let Some(error) = &request.error else {
            (self.lost, self.failed) = (0, 0);
            return Next::GoOn;
        };
        self.failed += 1;
        if error.kind == RequestErrorKind::Connect {
            self.lost += 1;
            let reason = format!("the engine stopped answering: {}", error.message);
            return if self.lost >= MOST { Next::LeaveAll(reason) } else { Next::LeaveCase(reason) };
        }
        self.lost = 0;
        if self.failed >= MOST {
            return Next::LeaveCase(format!(
                "{MOST} requests failed in a row, the last one: {}",
                error.message
            ));
        }
        Next::GoOn
    }
}

#[cfg(test)]
mod tests {
    use dyno_shared::record::RequestError;

    use super::*;

    fn ended(kind: Option<RequestErrorKind>) -> RequestRecord {
        RequestRecord {
            error: kind.map(|kind| RequestError { kind, message: "it broke".into() }),
            ..RequestRecord::default()
        }
    }

    #[test]
    fn single_failures_among_good_requests_end_nothing() {
        let mut patience = Patience::default();
        for _ in 0..10 {
            assert_eq!(patience.after(&ended(Some(RequestErrorKind::IdleTimeout))), Next::GoOn);
            assert_eq!(patience.after(&ended(Some(RequestErrorKind::Status))), Next::GoOn);
            assert_eq!(patience.after(&ended(None)), Next::GoOn);
        }
    }

    #[test]
    fn three_failures_in_a_row_end_the_case_and_the_next_one_is_tried() {
        let mut patience = Patience::default();
        let status = ended(Some(RequestErrorKind::Status));
        assert_eq!(patience.after(&status), Next::GoOn);
        assert_eq!(patience.after(&status), Next::GoOn);
        assert!(matches!(patience.after(&status), Next::LeaveCase(why) if why.contains("it broke")));
        patience.new_case();
        assert_eq!(patience.after(&status), Next::GoOn);
    }

    #[test]
    fn three_lost_connections_over_all_cases_end_everything() {
        let mut patience = Patience::default();
        let lost = ended(Some(RequestErrorKind::Connect));
        for _ in 0..2 {
            assert!(matches!(patience.after(&lost), Next::LeaveCase(_)));
            patience.new_case();
        }
        assert!(matches!(patience.after(&lost), Next::LeaveAll(_)));
        assert_eq!(patience.after(&ended(None)), Next::GoOn);
        assert!(matches!(patience.after(&lost), Next::LeaveCase(_)), "an answer in between counts");
    }
}
