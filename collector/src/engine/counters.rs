//! The engine's counters before and after a run.

use dyno_shared::submission::EngineCounters;
use dyno_shared::units::Seconds;

use super::Engine;
use crate::prometheus::{Delta, Samples, counter_delta};
use crate::transport::{Target, get_text};

/// An engine's counters since its start, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot(EngineCounters);

/// What the counters moved by.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterDelta {
    /// Each counter's movement; unknown where it was missing, and everywhere after a reset.
    pub counters: EngineCounters,
    /// A counter went back: the engine was restarted in between.
    pub reset: bool,
}

/// Reads the counters now; `None` where the engine has none or does not answer.
pub async fn counters(target: &Target, engine: &Engine) -> Option<Snapshot> {
    let text = get_text(target, "/metrics").await.ok()?;
    (engine.counters)(&Samples::parse(&text)).map(Snapshot)
}

impl Snapshot {
    /// By how much the counters moved until `later`.
    pub fn delta(&self, later: &Self) -> CounterDelta {
        let mut reset = false;
        let mut moved = |before: Option<f64>, after: Option<f64>| match counter_delta(before, after) {
            Delta::Moved(by) => Some(by),
            Delta::Reset => {
                reset = true;
                None
            }
            Delta::Unknown => None,
        };
        let (a, b) = (&self.0, &later.0);
        let counters = EngineCounters {
            source: b.source.clone(),
            prompt_tokens: moved(a.prompt_tokens, b.prompt_tokens),
            cached_tokens: moved(a.cached_tokens, b.cached_tokens),
            prompt_s: moved(a.prompt_s.map(Seconds::get), b.prompt_s.map(Seconds::get)).map(Seconds),
            output_tokens: moved(a.output_tokens, b.output_tokens),
            decode_s: moved(a.decode_s.map(Seconds::get), b.decode_s.map(Seconds::get)).map(Seconds),
            draft_tokens: moved(a.draft_tokens, b.draft_tokens),
            accepted_tokens: moved(a.accepted_tokens, b.accepted_tokens),
            verify_steps: moved(a.verify_steps, b.verify_steps),
        };
        if reset {
            // One that did not go back may have passed its old value since, so none can be believed.
            let source = counters.source;
            return CounterDelta { counters: EngineCounters { source, ..EngineCounters::default() }, reset };
        }
        CounterDelta { counters, reset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(prompt: f64, output: Option<f64>) -> Snapshot {
        Snapshot(EngineCounters {
            source: "/metrics".into(),
            prompt_tokens: Some(prompt),
            output_tokens: output,
            ..EngineCounters::default()
        })
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
