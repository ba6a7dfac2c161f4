//! The engine's counters before and after a run.

use std::collections::BTreeMap;

use dyno_shared::submission::EngineCounters;
use dyno_shared::units::Seconds;
use serde_json::Value;

use super::Engine;
use crate::prometheus::{Delta, Samples, counter_delta};
use crate::transport::{Target, get_text};

/// Where an engine's counters are, and how they are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counting {
    /// A Prometheus exposition.
    Prometheus {
        /// Its route.
        route: &'static str,
        /// The counters by their names; default where there are none.
        read: fn(&Samples) -> EngineCounters,
    },
    /// A JSON document.
    Json {
        /// Its route.
        route: &'static str,
        /// The counters; default where there are none.
        read: fn(&Value) -> EngineCounters,
        /// What stays the same as long as the engine's process lives.
        life: fn(&Value) -> Option<String>,
    },
}

impl Counting {
    /// Where the counters are.
    pub const fn route(&self) -> &'static str {
        match self {
            Self::Prometheus { route, .. } | Self::Json { route, .. } => route,
        }
    }

    /// Whether a text holds counters.
    pub fn reads(&self, text: &str) -> bool {
        self.snapshot(text).is_some()
    }

    fn snapshot(&self, text: &str) -> Option<Snapshot> {
        let (counters, births) = match self {
            Self::Prometheus { read, .. } => {
                let samples = Samples::parse(text);
                (read(&samples), samples.births())
            }
            Self::Json { read, life, .. } => {
                let json = serde_json::from_str(text).ok()?;
                (read(&json), life(&json).into_iter().map(|life| (String::new(), life)).collect())
            }
        };
        (counters != EngineCounters::default()).then(|| Snapshot {
            counters: EngineCounters { source: self.route().to_owned(), ..counters },
            births,
        })
    }
}

/// An engine's counters since its start, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    counters: EngineCounters,
    /// When each counter began, or what else tells one life of the engine from the next.
    births: BTreeMap<String, String>,
}

/// What the counters moved by.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterDelta {
    /// Each counter's movement; unknown where it was missing, and everywhere after a reset.
    pub counters: EngineCounters,
    /// A counter went back or began anew: the engine was restarted in between.
    pub reset: bool,
}

/// Reads the counters now; `None` where the engine has none or does not answer.
pub async fn counters(target: &Target, engine: &Engine) -> Option<Snapshot> {
    let counting = engine.counting?;
    counting.snapshot(&get_text(target, counting.route()).await.ok()?)
}

impl Snapshot {
    /// By how much the counters moved until `later`.
    pub fn delta(&self, later: &Self) -> CounterDelta {
        let mut reset = self
            .births
            .iter()
            .any(|(name, birth)| later.births.get(name).is_some_and(|later| later != birth));
        let mut moved = |before: Option<f64>, after: Option<f64>| match counter_delta(before, after) {
            Delta::Moved(by) => Some(by),
            Delta::Reset => {
                reset = true;
                None
            }
            Delta::Unknown => None,
        };
        let (a, b) = (&self.counters, &later.counters);
        let mut moved_s = |before: Option<Seconds>, after: Option<Seconds>| {
            moved(before.map(Seconds::get), after.map(Seconds::get)).map(Seconds)
        };
        let (prompt_s, decode_s) = (moved_s(a.prompt_s, b.prompt_s), moved_s(a.decode_s, b.decode_s));
        let (ttft_s, queue_s) = (moved_s(a.ttft_s, b.ttft_s), moved_s(a.queue_s, b.queue_s));
        let counters = EngineCounters {
            source: b.source.clone(),
            prompt_tokens: moved(a.prompt_tokens, b.prompt_tokens),
            cached_tokens: moved(a.cached_tokens, b.cached_tokens),
            prompt_s,
            output_tokens: moved(a.output_tokens, b.output_tokens),
            decode_s,
            decode_tokens: moved(a.decode_tokens, b.decode_tokens),
            ttft_s,
            ttft_requests: moved(a.ttft_requests, b.ttft_requests),
            queue_s,
            queue_requests: moved(a.queue_requests, b.queue_requests),
            draft_tokens: moved(a.draft_tokens, b.draft_tokens),
            accepted_tokens: moved(a.accepted_tokens, b.accepted_tokens),
            verify_steps: moved(a.verify_steps, b.verify_steps),
            // Rates do not add up, so none can be had of two moments.
            stated_decode_tok_s: None,
            stated_prefill_tok_s: None,
        };
        if reset {
            // One that did not go back may have passed its old value since, so none can be believed.
            let source = counters.source;
            return CounterDelta { counters: EngineCounters { source, ..EngineCounters::default() }, reset };
        }
        CounterDelta { counters, reset }
    }
}

/// The times that vLLM counts of every request, and TensorRT-LLM after it, by the engine's own counter of a name.
pub(super) fn request_times(total: impl Fn(&str) -> Option<f64>) -> EngineCounters {
    EngineCounters {
        prompt_s: total("request_prefill_time_seconds_sum").map(Seconds),
        decode_s: total("request_decode_time_seconds_sum").map(Seconds),
        ttft_s: total("time_to_first_token_seconds_sum").map(Seconds),
        ttft_requests: total("time_to_first_token_seconds_count"),
        queue_s: total("request_queue_time_seconds_sum").map(Seconds),
        queue_requests: total("request_queue_time_seconds_count"),
        ..EngineCounters::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(prompt: f64, output: Option<f64>) -> Snapshot {
        let counters = EngineCounters {
            source: "/metrics".into(),
            prompt_tokens: Some(prompt),
            output_tokens: output,
            ..EngineCounters::default()
        };
        Snapshot { counters, births: BTreeMap::new() }
    }

    #[test]
    fn a_counter_moves_by_the_difference_and_a_missing_one_is_unknown() {
        let delta = at(10.0, Some(5.0)).delta(&at(25.0, Some(5.0)));
        assert_eq!(
            (delta.counters.prompt_tokens, delta.counters.output_tokens, delta.reset),
            (Some(15.0), Some(0.0), false)
        );
        assert_eq!(at(10.0, None).delta(&at(25.0, Some(5.0))).counters.output_tokens, None);
    }

    #[test]
    fn after_a_reset_no_counter_is_believed() {
        let delta = at(10.0, Some(5.0)).delta(&at(25.0, Some(4.0)));
        assert!(delta.reset);
        assert_eq!((delta.counters.prompt_tokens, delta.counters.output_tokens), (None, None));
    }
}
