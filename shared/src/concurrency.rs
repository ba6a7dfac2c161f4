//! How many streams an engine really served at once.

use crate::submission::Run;

impl Run {
    /// The most streams that were between their first and their last text at one moment.
    ///
    /// An engine that takes fewer requests at once than were sent lets the others wait, and their first text comes only
    /// after another stream's last. `None` where a request has no text.
    pub fn achieved_concurrency(&self) -> Option<u32> {
        let mut spans = Vec::with_capacity(self.requests.len());
        for request in &self.requests {
            let (first, last) = (request.t_first_s?.0, request.t_last_s?.0);
            spans.push((first, last.max(first)));
        }
        // The number rises only where a stream begins.
        let at = |now: f64| spans.iter().filter(|(first, last)| (*first..=*last).contains(&now)).count();
        let most = spans.iter().map(|(first, _)| at(*first) as u32).max()?;
        (most > 0).then_some(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RequestRecord;
    use crate::units::Seconds;

    fn batch(spans: &[(f64, f64)]) -> Run {
        let request = |&(first, last): &(f64, f64)| RequestRecord {
            t_first_s: Some(Seconds(first)),
            t_last_s: Some(Seconds(last)),
            ..RequestRecord::default()
        };
        Run { requests: spans.iter().map(request).collect(), ..Run::default() }
    }

    #[test]
    fn streams_that_wait_for_others_to_end_are_not_served_at_once() {
        let all = batch(&[(0.1, 2.0), (0.2, 2.1), (0.3, 2.2), (0.4, 1.9)]);
        assert_eq!(all.achieved_concurrency(), Some(4));
        let two_at_a_time = batch(&[(0.1, 1.0), (0.1, 1.1), (1.2, 2.0), (1.3, 2.1)]);
        assert_eq!(two_at_a_time.achieved_concurrency(), Some(2));
        let one_by_one = batch(&[(0.1, 1.0), (1.1, 2.0), (2.1, 3.0)]);
        assert_eq!(one_by_one.achieved_concurrency(), Some(1));
    }

    #[test]
    fn a_stream_of_one_event_counts_and_one_without_text_makes_it_unknown() {
        assert_eq!(batch(&[(0.5, 0.5), (0.1, 1.0)]).achieved_concurrency(), Some(2));
        let mut silent = batch(&[(0.1, 1.0), (0.1, 1.0)]);
        silent.requests[1].t_first_s = None;
        assert_eq!(silent.achieved_concurrency(), None);
        assert_eq!(Run::default().achieved_concurrency(), None);
    }
}
