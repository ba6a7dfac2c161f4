//! Every metric of Dyno as a declaration: tag, unit, direction, family, formula, and how one run gives a sample.
//!
//! Titles, axes, tooltips and the method page read these declarations, so that they cannot drift apart.

mod client;
mod engine;

pub use engine::{PLAUSIBLE_DECODE_TOK_S, implausible_decode};

use crate::submission::{Case, Run};
use crate::units::Unit;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: a description, not a merit.
    Neither,
}

impl Better {
    /// As an axis says it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Higher => "higher is better",
            Self::Lower => "lower is better",
            Self::Neither => "neither way is better",
        }
    }
}

/// Whose clock or counter a figure comes from. The two are never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The client's wall clock.
    Client,
    /// The engine's own report.
    Engine,
    /// The ratio of the two, or a figure that needs both.
    Both,
}

impl Family {
    /// As a table says it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Engine => "engine",
            Self::Both => "client / engine",
        }
    }
}

/// What one run contributes to a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// An amount over a span: the case's rate is Σ amount / Σ span.
    Rate {
        /// Tokens, or whatever is counted.
        amount: f64,
        /// Seconds, or whatever it is divided by.
        over: f64,
    },
    /// A value: the case's figure is the mean.
    Value(f64),
}

impl Sample {
    /// Amounts and spans, where every sample is a rate: what a ratio of totals is made of.
    pub fn rates(samples: &[Self]) -> Option<(Vec<f64>, Vec<f64>)> {
        samples
            .iter()
            .map(|sample| match *sample {
                Self::Rate { amount, over } => Some((amount, over)),
                Self::Value(_) => None,
            })
            .collect()
    }

    /// The run's own figure; `None` where it would be a rate over nothing.
    pub fn figure(self) -> Option<f64> {
        let figure = match self {
            Self::Rate { over, .. } if over <= 0.0 => return None,
            Self::Rate { amount, over } => amount / over,
            Self::Value(value) => value,
        };
        figure.is_finite().then_some(figure)
    }
}

/// A metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name in shards, URLs and JSON.
    pub tag: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Whose figure it is.
    pub family: Family,
    /// The formula, in the symbols of the method page.
    pub formula: &'static str,
    /// What a reader must know, in a sentence or two.
    pub meaning: &'static str,
    /// One run's sample, or `None` where the run does not tell.
    pub sample: fn(&Run) -> Option<Sample>,
}

impl Metric {
    /// Whether it is made of [`Run::decoded_tokens`], so that its convention must be said.
    pub fn depends_on_convention(&self) -> bool {
        [client::DECODE.tag, client::TOKEN_GAP.tag].contains(&self.tag)
    }

    /// Whether it is a figure of this kind of case: the latency from a schedule is one of open loops alone.
    pub fn tells_of(&self, case: &Case) -> bool {
        self.tag != client::LATENCY_FROM_DUE.tag || case.arrival.is_some()
    }
}

/// Every metric, in documentation order.
pub const METRICS: &[&Metric] = &[
    &client::TTFT,
    &client::PREFILL,
    &client::DECODE,
    &client::E2E,
    &client::GAP,
    &client::TOKEN_GAP,
    &client::AGGREGATE,
    &client::BATCH_DECODE,
    &client::STEADY,
    &client::TWO_LENGTH,
    &client::CONNECT,
    &client::QUEUE,
    &client::LATENCY_FROM_DUE,
    &engine::PREFILL,
    &engine::DECODE,
    &engine::TTFT,
    &engine::QUEUE,
    &engine::CLIENT_ENGINE_DECODE_RATIO,
    &engine::TOKENS_PER_STEP,
    &engine::TIME_PER_STEP,
    &engine::DRAFTS_PER_STEP,
    &engine::CACHED_PROMPT_SHARE,
    &engine::ENERGY_PER_TOKEN,
];

/// The metric of a tag.
pub fn find(tag: &str) -> Option<&'static Metric> {
    METRICS.iter().copied().find(|m| m.tag == tag)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::run;

    #[test]
    fn every_declaration_is_complete_and_its_tag_says_whose_it_is() {
        let mut tags = BTreeSet::new();
        for metric in METRICS {
            assert!(tags.insert(metric.tag), "{} stands twice", metric.tag);
            for text in [metric.title, metric.formula, metric.meaning] {
                assert!(!text.is_empty(), "{} lacks words", metric.tag);
            }
            match metric.family {
                Family::Client => assert!(metric.tag.starts_with("client_wall_"), "{}", metric.tag),
                Family::Engine | Family::Both => {
                    assert!(!metric.tag.starts_with("client_wall_"), "{}", metric.tag);
                }
            }
            let suffix = match metric.unit {
                Unit::Seconds => "_s",
                Unit::TokensPerSecond => "_tok_s",
                Unit::JoulesPerToken => "_j",
                Unit::Tokens | Unit::One => "",
            };
            assert!(metric.tag.ends_with(suffix), "{} does not end in {suffix}", metric.tag);
            assert_eq!(find(metric.tag).map(|m| m.tag), Some(metric.tag));
        }
    }

    #[test]
    fn a_run_that_tells_nothing_gives_no_sample_of_anything() {
        let mut silent = run(1, 512, 5.0);
        silent.requests = vec![crate::record::RequestRecord::default()];
        for metric in METRICS {
            assert_eq!((metric.sample)(&silent), None, "{}", metric.tag);
            assert_eq!((metric.sample)(&Run::default()), None, "{}", metric.tag);
        }
    }
}
