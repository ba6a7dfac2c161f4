//! The engine's counters, as `GET /metrics` tells them.

use std::fmt::Write;
use std::sync::Mutex;

use super::clock::lock;

/// What one request adds to the counters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Prompt tokens processed, without cached ones.
    pub prompt_tokens: u64,
    /// Prompt tokens taken from the prefix cache.
    pub cached_tokens: u64,
    /// Planned seconds of prefill.
    pub prompt_s: f64,
    /// Output tokens.
    pub predicted_tokens: u64,
    /// Planned seconds of decoding, a step for the first token among them.
    pub predicted_s: f64,
    /// Decode steps.
    pub steps: u64,
    /// Verification steps of speculative decoding: all steps when there is any speculation, else 0.
    pub drafts: u64,
    /// Tokens drafted in them.
    pub draft_tokens: u64,
    /// Drafted tokens that were accepted.
    pub accepted_tokens: u64,
}

/// The counters of one simulator.
#[derive(Debug, Default)]
pub struct Counters {
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    counts: Counts,
    waiting: u64,
    processing: u64,
}

impl Counters {
    /// Adds a request's counts.
    pub fn add(&self, counts: &Counts) {
        let sums = &mut lock(&self.sums).counts;
        sums.prompt_tokens += counts.prompt_tokens;
        sums.cached_tokens += counts.cached_tokens;
        sums.prompt_s += counts.prompt_s;
        sums.predicted_tokens += counts.predicted_tokens;
        sums.predicted_s += counts.predicted_s;
        sums.steps += counts.steps;
        sums.drafts += counts.drafts;
        sums.draft_tokens += counts.draft_tokens;
        sums.accepted_tokens += counts.accepted_tokens;
    }

    /// Counts a request as waiting for a slot until the gauge is dropped or promoted.
    pub fn waiting(&self) -> Gauge<'_> {
        lock(&self.sums).waiting += 1;
        Gauge { counters: self, processing: false }
    }

    /// The counters in Prometheus' text format.
    pub fn exposition(&self) -> String {
        let sums = lock(&self.sums);
        let counts = &sums.counts;
        let mut out = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, value: String| {
            // Writing to a string does not fail.
            let _ = writeln!(out, "# HELP dyno_sim:{name} {help}\n# TYPE dyno_sim:{name} {kind}");
            let _ = writeln!(out, "dyno_sim:{name} {value}");
        };
        let whole: [(&str, u64, &str); 7] = [
            (
                "prompt_tokens_total",
                counts.prompt_tokens,
                "Simulated prompt tokens processed, without cached ones",
            ),
            (
                "prompt_tokens_cached_total",
                counts.cached_tokens,
                "Simulated prompt tokens from the prefix cache",
            ),
            ("tokens_predicted_total", counts.predicted_tokens, "Simulated output tokens"),
            ("n_decode_total", counts.steps, "Simulated decode steps"),
            ("spec_decode_num_drafts_total", counts.drafts, "Simulated verification steps"),
            ("spec_decode_num_draft_tokens_total", counts.draft_tokens, "Simulated drafted tokens"),
            (
                "spec_decode_num_accepted_tokens_total",
                counts.accepted_tokens,
                "Simulated drafted tokens accepted",
            ),
        ];
        for (name, value, help) in whole {
            metric(name, "counter", help, value.to_string());
        }
        let seconds = [
            ("prompt_seconds_total", counts.prompt_s, "Planned seconds of prefill"),
            ("tokens_predicted_seconds_total", counts.predicted_s, "Planned seconds of decoding"),
        ];
        for (name, value, help) in seconds {
            metric(name, "counter", help, format!("{value:.9}"));
        }
        metric("requests_processing", "gauge", "Requests that have a slot", sums.processing.to_string());
        metric("requests_deferred", "gauge", "Requests that wait for a slot", sums.waiting.to_string());
        out
    }
}

/// One request in the gauges.
#[derive(Debug)]
pub struct Gauge<'a> {
    counters: &'a Counters,
    processing: bool,
}

impl Gauge<'_> {
    /// The request has got its slot.
    pub fn promote(&mut self) {
        if !self.processing {
            self.processing = true;
            let mut sums = lock(&self.counters.sums);
            sums.waiting -= 1;
            sums.processing += 1;
        }
    }
}

impl Drop for Gauge<'_> {
    fn drop(&mut self) {
        let mut sums = lock(&self.counters.sums);
        if self.processing {
            sums.processing -= 1;
        } else {
            sums.waiting -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(counters: &Counters, name: &str) -> String {
        let text = counters.exposition();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("dyno_sim:{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    }

    #[test]
    fn counters_add_up_and_every_one_has_help_and_type() {
        let counters = Counters::default();
        let counts =
            Counts { prompt_tokens: 7, prompt_s: 0.25, drafts: 2, accepted_tokens: 5, ..Counts::default() };
        counters.add(&counts);
        counters.add(&counts);
        assert_eq!(value(&counters, "prompt_tokens_total"), "14");
        assert_eq!(value(&counters, "prompt_seconds_total"), "0.500000000");
        assert_eq!(value(&counters, "spec_decode_num_accepted_tokens_total"), "10");
        let text = counters.exposition();
        let samples = text.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(text.matches("# HELP ").count(), samples);
        assert_eq!(text.matches("# TYPE ").count(), samples);
    }

    #[test]
    fn a_request_is_waiting_then_processing_then_neither() {
        let counters = Counters::default();
        let mut gauge = counters.waiting();
        assert_eq!(
            (value(&counters, "requests_deferred"), value(&counters, "requests_processing")),
            ("1".into(), "0".into())
        );
        gauge.promote();
        assert_eq!(
            (value(&counters, "requests_deferred"), value(&counters, "requests_processing")),
            ("0".into(), "1".into())
        );
        drop(gauge);
        assert_eq!(value(&counters, "requests_processing"), "0");
    }
}
