//! The client's stamps held against the engine's log. Pure.

use dyno_shared::record::RequestRecord;
use dyno_shared::statistics::{moments, quantile};
use dyno_shared::submission::Calibration;
use dyno_shared::units::Seconds;

use crate::simulator::RequestLog;

/// What the client saw of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The client's port: what the engine's log knows the request by.
    pub port: u16,
    /// When each text event came, in seconds from the start of the batch.
    pub arrivals_s: Vec<f64>,
}

impl Seen {
    /// What is needed of a record.
    pub fn of(port: u16, record: &RequestRecord) -> Self {
        Self { port, arrivals_s: record.arrivals() }
    }
}

/// A request that the engine's log does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the engine's log lacks the request of port {0}")]
pub struct NotLogged(u16);

/// Errors of many requests. In seconds: the client's stamp minus the engine's just before its write, so that the
/// kernel's own share is in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Errors {
    /// Of the first text of each request.
    pub ttft_s: Vec<f64>,
    /// Absolute, of the time between two texts that follow each other.
    pub gap_s: Vec<f64>,
    /// Tokens that were sent.
    pub sent_tokens: u64,
    /// Tokens that were sent and not seen.
    pub lost_tokens: u64,
    /// Tokens that were seen and not sent, an event without a counterpart counting as one.
    pub extra_tokens: u64,
}

impl Errors {
    /// Adds a batch that began at `start_ns` of the engine's clock. Where events are missing or too many, nobody knows
    /// which: only the first one of such a request is held against the log.
    ///
    /// # Errors
    /// [`NotLogged`].
    pub fn add(&mut self, seen: &[Seen], log: &[RequestLog], start_ns: u64) -> Result<(), NotLogged> {
        for Seen { port, arrivals_s } in seen {
            let logged = log.iter().find(|request| request.client_port == *port).ok_or(NotLogged(*port))?;
            let texts: Vec<(f64, u32)> = logged
                .sent
                .iter()
                .filter(|event| event.tokens > 0)
                .map(|event| (seconds_since(start_ns, event.before_ns), event.tokens))
                .collect();
            self.sent_tokens += logged.output_tokens();
            let missed = texts.iter().skip(arrivals_s.len());
            self.lost_tokens += missed.map(|(_, tokens)| u64::from(*tokens)).sum::<u64>();
            self.extra_tokens += arrivals_s.len().saturating_sub(texts.len()) as u64;
            let late: Vec<f64> = arrivals_s.iter().zip(&texts).map(|(seen, (sent, _))| seen - sent).collect();
            self.ttft_s.extend(late.first());
            if arrivals_s.len() == texts.len() {
                self.gap_s.extend(late.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
            }
        }
        Ok(())
    }

    /// The statistics that a certificate states.
    pub fn calibration(&self) -> Calibration {
        let of = |values: &[f64], q: f64| quantile::quantile(values, q).map(Seconds);
        Calibration {
            requests: Some(self.ttft_s.len() as u64),
            tokens: Some(self.sent_tokens),
            ttft_error_mean_s: moments::mean(&self.ttft_s).map(Seconds),
            ttft_error_median_s: of(&self.ttft_s, 0.5),
            ttft_error_p99_s: of(&self.ttft_s, 0.99),
            gap_error_median_s: of(&self.gap_s, 0.5),
            gap_error_p99_s: of(&self.gap_s, 0.99),
            lost_tokens: Some(self.lost_tokens),
            extra_tokens: Some(self.extra_tokens),
            ..Calibration::default()
        }
    }
}

fn seconds_since(from_ns: u64, to_ns: u64) -> f64 {
    to_ns as f64 / 1e9 - from_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulator::{End, Kind, Sent};

    const MS: u64 = 1_000_000;
    const START: u64 = 7_000 * MS;

    /// A request of port 1 whose texts of one token each were written so many milliseconds after the start.
    fn log(at_ms: &[u64]) -> RequestLog {
        let event = |kind, tokens, at_ms: &u64| {
            let at = START + at_ms * MS;
            Sent { kind, tokens, due_ns: at, before_ns: at, after_ns: at + 1 }
        };
        let mut sent = vec![event(Kind::Role, 0, &0)];
        sent.extend(at_ms.iter().map(|at| event(Kind::Text, 1, at)));
        sent.push(event(Kind::Done, 0, &999));
        RequestLog {
            number: 1,
            client_port: 1,
            request_id: None,
            arrived_ns: START,
            admitted_ns: Some(START),
            slot: Some(0),
            prefill_ns: Some(0),
            prompt_tokens: 4,
            cached_tokens: Some(0),
            faults: Vec::new(),
            end: End::Done,
            sent,
        }
    }

    fn errors(seen_ms: &[f64], sent_ms: &[u64]) -> Errors {
        let seen = Seen { port: 1, arrivals_s: seen_ms.iter().map(|ms| ms / 1e3).collect() };
        let mut errors = Errors::default();
        errors.add(&[seen], &[log(sent_ms)], START).unwrap();
        errors
    }

    fn milliseconds(seconds: &[f64]) -> Vec<f64> {
        seconds.iter().map(|s| (s * 1e6).round() / 1e3).collect()
    }

    #[test]
    fn a_known_lateness_is_the_error_and_a_constant_one_leaves_the_gaps_right() {
        let all_late = errors(&[100.5, 120.5, 140.5], &[100, 120, 140]);
        assert_eq!(milliseconds(&all_late.ttft_s), [0.5]);
        assert_eq!(milliseconds(&all_late.gap_s), [0.0, 0.0]);
        let one_late = errors(&[100.0, 123.0, 140.0], &[100, 120, 140]);
        assert_eq!(milliseconds(&one_late.ttft_s), [0.0]);
        assert_eq!(milliseconds(&one_late.gap_s), [3.0, 3.0], "too long before, too short after");
        assert_eq!((one_late.sent_tokens, one_late.lost_tokens, one_late.extra_tokens), (3, 0, 0));
    }

    #[test]
    fn a_lost_token_is_counted_and_its_request_says_nothing_of_gaps() {
        let errors = errors(&[100.2, 140.0], &[100, 120, 140]);
        assert_eq!((errors.lost_tokens, errors.extra_tokens), (1, 0));
        assert_eq!(milliseconds(&errors.ttft_s), [0.2]);
        assert!(errors.gap_s.is_empty(), "which one is missing is not known");
    }

    #[test]
    fn an_extra_token_is_counted_apart() {
        let errors = errors(&[100.0, 110.0, 120.0], &[100, 120]);
        assert_eq!((errors.lost_tokens, errors.extra_tokens, errors.gap_s.len()), (0, 1, 0));
    }

    #[test]
    fn a_request_of_which_nothing_came_has_lost_all_and_adds_no_latency() {
        let errors = errors(&[], &[100, 120]);
        assert_eq!((errors.lost_tokens, errors.ttft_s.len()), (2, 0));
        assert_eq!(errors.calibration().ttft_error_p99_s, None, "unknown, not zero");
    }

    #[test]
    fn a_request_that_the_log_lacks_is_an_error() {
        let seen = Seen { port: 2, arrivals_s: vec![0.1] };
        assert_eq!(Errors::default().add(&[seen], &[log(&[100])], START), Err(NotLogged(2)));
    }

    #[test]
    fn a_certificate_states_mean_median_and_p99() {
        let errors = Errors {
            ttft_s: (0..=100).map(|i| f64::from(i) / 1e3).collect(),
            gap_s: vec![0.001, 0.002, 0.009],
            ..Errors::default()
        };
        let stated = errors.calibration();
        let ms = |s: Option<Seconds>| (s.unwrap().get() * 1e6).round() / 1e3;
        assert_eq!(ms(stated.ttft_error_mean_s), 50.0);
        assert_eq!((ms(stated.ttft_error_median_s), ms(stated.ttft_error_p99_s)), (50.0, 99.0));
        assert_eq!(ms(stated.gap_error_median_s), 2.0);
        assert_eq!(stated.requests, Some(101));
    }
}
