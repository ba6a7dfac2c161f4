//! Metrics that the engine itself reports, and those that need both sides.

use super::{Better, Family, Metric, Sample};
use crate::record::EngineTimings;
use crate::submission::Run;
use crate::units::{Seconds, Tokens, TokensPerSecond, Unit};

/// The fastest decode of one stream that is believed of an engine's counter, in tokens per second. The fastest
/// hardware known decodes a few thousand; a counter that says more has divided by a window that is not the decode.
pub const PLAUSIBLE_DECODE_TOK_S: f64 = 20_000.0;

pub(super) const PREFILL: Metric = Metric {
    tag: "engine_prefill_tok_s",
    title: "prefill rate, by the engine",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Engine,
    formula: "prompt tokens processed / time on them, as reported",
    meaning: "What the engine itself reports: the response's timings first, deltas of its counters second.",
    sample: |run| {
        timings(run, |t| Some((t.prompt_tokens?.get() as f64, t.prompt_s?))).or_else(|| {
            let counters = run.counters.as_ref()?;
            let counted = counters.prompt_tokens.zip(counters.prompt_s);
            counted
                .and_then(|(tokens, span)| rate(tokens, span))
                .or_else(|| stated(counters.stated_prefill_tok_s))
        })
    },
};

pub(super) const DECODE: Metric = Metric {
    tag: "engine_decode_tok_s",
    title: "decode rate, by the engine",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Engine,
    formula: "tokens generated / time generating them, as reported",
    meaning: "What the engine itself reports. At deep concurrent context it may be 30 times the client's figure: \
              the client's span includes other streams' prefill. Both are right. Above 20,000 tok/s for one stream \
              the counter is not believed.",
    sample: engine_decode,
};

pub(super) const TTFT: Metric = Metric {
    tag: "engine_ttft_s",
    title: "time to first token, by the engine",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Engine,
    formula: "as reported; of counters, the sum over the run / its requests",
    meaning: "Without the network and the client: the response's timings first, deltas of the engine's counters second.",
    sample: |run| {
        mean(run, |t| t.ttft_s).or_else(|| {
            let counters = run.counters.as_ref()?;
            mean_of(counters.ttft_s?, counters.ttft_requests?)
        })
    },
};

pub(super) const QUEUE: Metric = Metric {
    tag: "engine_queue_s",
    title: "time in the engine's queue",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Engine,
    formula: "as reported; of counters, the sum over the run / its requests",
    meaning: "How long the engine let the request wait.",
    sample: |run| {
        mean(run, |t| t.queue_s).or_else(|| {
            let counters = run.counters.as_ref()?;
            mean_of(counters.queue_s?, counters.queue_requests?)
        })
    },
};

pub(super) const CLIENT_ENGINE_DECODE_RATIO: Metric = Metric {
    tag: "client_engine_decode_ratio",
    title: "client / engine decode ratio",
    unit: Unit::One,
    better: Better::Neither,
    family: Family::Both,
    formula: "client_wall_decode_tok_s / engine_decode_tok_s",
    meaning: "Near 1 on short prompts; down to 1/30 at deep concurrent context. A row of its own, because neither \
              number is wrong.",
    sample: |run| {
        let client = (super::client::DECODE.sample)(run)?.figure()?;
        let engine = engine_decode(run)?.figure()?;
        (engine > 0.0).then(|| Sample::Value(client / engine))
    },
};

pub(super) const TOKENS_PER_STEP: Metric = Metric {
    tag: "tokens_per_step",
    title: "tokens per step",
    unit: Unit::Tokens,
    better: Better::Neither,
    family: Family::Engine,
    formula: "1 + accepted draft tokens / verify steps",
    meaning: "How easy the answer was to draft: a property of the text as much as of the set-up.",
    sample: |run| {
        let s = speculation(run)?;
        Some(Sample::Rate { amount: s.steps + s.accepted, over: s.steps })
    },
};

pub(super) const TIME_PER_STEP: Metric = Metric {
    tag: "time_per_step_s",
    title: "time per step",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Both,
    formula: "(t_last − t_first) / verify steps",
    meaning: "How long one verify step takes: a property of the set-up.",
    sample: |run| {
        let steps = speculation(run)?.steps;
        let mut span = 0.0;
        for request in &run.requests {
            span += request.decode_span()?.0;
        }
        (span > 0.0).then_some(Sample::Rate { amount: span, over: steps })
    },
};

pub(super) const DRAFTS_PER_STEP: Metric = Metric {
    tag: "drafts_per_step",
    title: "drafts per step",
    unit: Unit::Tokens,
    better: Better::Neither,
    family: Family::Engine,
    formula: "drafted tokens / verify steps",
    meaning: "How many tokens the engine chose to draft at each step.",
    sample: |run| {
        let s = speculation(run)?;
        Some(Sample::Rate { amount: s.drafted?, over: s.steps })
    },
};

pub(super) const CACHED_PROMPT_SHARE: Metric = Metric {
    tag: "cached_prompt_share",
    title: "cached share of the prompt",
    unit: Unit::One,
    better: Better::Neither,
    family: Family::Engine,
    formula: "cached prompt tokens / prompt tokens",
    meaning: "As the engine reports it. A cold case proves itself with it, and so does a cached one.",
    sample: |run| {
        let (mut cached, mut prompt) = (0.0, 0.0);
        for request in &run.requests {
            cached += request.cached_prompt_tokens.map(Tokens::get)? as f64;
            prompt += request.prompt_tokens.map(Tokens::get)? as f64;
        }
        (prompt > 0.0).then_some(Sample::Rate { amount: cached, over: prompt })
    },
};

pub(super) const ENERGY_PER_TOKEN: Metric = Metric {
    tag: "energy_per_token_j",
    title: "energy per token",
    unit: Unit::JoulesPerToken,
    better: Better::Lower,
    family: Family::Both,
    formula: "energy over the run's window / output tokens",
    meaning: "Energy of the accelerators on which the engine computes, by their own counter or by power over time; \
              where there are none, that of the CPU packages through RAPL. All output tokens of a batch share it, and \
              the energy that goes into the prompt is in it: compare it between runs of one shape.",
    sample: |run| {
        let telemetry = run.telemetry.as_ref()?;
        // Of accelerators whose energy is not known, the processor's alone would be too little.
        let joules = match telemetry.gpus {
            Some(gpus) if gpus > 0 => telemetry.gpu_energy_j,
            _ => telemetry.gpu_energy_j.or(telemetry.cpu_energy_j),
        };
        let joules = joules?.get();
        let mut tokens = 0.0;
        for request in &run.requests {
            tokens += request.output_tokens?.get() as f64;
        }
        (tokens > 0.0 && joules > 0.0 && joules.is_finite())
            .then_some(Sample::Rate { amount: joules, over: tokens })
    },
};

fn engine_decode(run: &Run) -> Option<Sample> {
    let sample = reported_decode(run)?;
    (sample.figure()? <= PLAUSIBLE_DECODE_TOK_S).then_some(sample)
}

/// What the engine says of decode when it is beyond belief, in tokens per second; the report names it.
pub fn implausible_decode(run: &Run) -> Option<f64> {
    reported_decode(run)?.figure().filter(|rate| *rate > PLAUSIBLE_DECODE_TOK_S)
}

/// Tokens and time of decode, of the answers' timings, else of the counters; else the rate that the engine states.
fn reported_decode(run: &Run) -> Option<Sample> {
    timings(run, |t| Some((t.output_tokens?.get() as f64, t.decode_s?))).or_else(|| {
        let counters = run.counters.as_ref()?;
        let counted = counters.decode_tokens.or(counters.output_tokens).zip(counters.decode_s);
        counted.and_then(|(tokens, span)| rate(tokens, span)).or_else(|| stated(counters.stated_decode_tok_s))
    })
}

fn timings(run: &Run, of: impl Fn(&EngineTimings) -> Option<(f64, Seconds)>) -> Option<Sample> {
    let mut total = (0.0, 0.0);
    for request in &run.requests {
        let (tokens, span) = of(request.engine.as_ref()?)?;
        total = (total.0 + tokens, total.1 + span.0);
    }
    rate(total.0, Seconds(total.1))
}

fn rate(tokens: f64, span: Seconds) -> Option<Sample> {
    TokensPerSecond::over(tokens, span)?;
    Some(Sample::Rate { amount: tokens, over: span.0 })
}

fn mean(run: &Run, of: impl Fn(&EngineTimings) -> Option<Seconds>) -> Option<Sample> {
    let mut sum = 0.0;
    for request in &run.requests {
        sum += of(request.engine.as_ref()?)?.0;
    }
    (!run.requests.is_empty()).then(|| Sample::Value(sum / run.requests.len() as f64))
}

/// The mean of what a counter added up.
fn mean_of(sum: Seconds, requests: f64) -> Option<Sample> {
    let sample = Sample::Rate { amount: sum.0, over: requests };
    (requests >= 1.0 && sample.figure().is_some()).then_some(Sample::Value(sum.0 / requests))
}

/// A rate that the engine states without what it was made of.
fn stated(rate: Option<f64>) -> Option<Sample> {
    rate.filter(|rate| rate.is_finite() && *rate > 0.0).map(Sample::Value)
}

struct Speculation {
    steps: f64,
    accepted: f64,
    drafted: Option<f64>,
}

/// Verify steps and what they accepted; `None` where nothing was drafted or the counters are not there.
fn speculation(run: &Run) -> Option<Speculation> {
    let counters = run.counters.as_ref()?;
    let steps = counters.verify_steps.filter(|s| *s > 0.0)?;
    Some(Speculation { steps, accepted: counters.accepted_tokens?, drafted: counters.draft_tokens })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::{EngineCounters, Telemetry};
    use crate::testing::run;
    use crate::units::Joules;

    fn with_timings(tokens: u64, seconds: f64) -> Run {
        let mut one = run(1, 512, 5.11);
        one.requests[0].engine = Some(EngineTimings {
            source: "response timings".into(),
            output_tokens: Some(Tokens(tokens)),
            decode_s: Some(Seconds(seconds)),
            ..EngineTimings::default()
        });
        one
    }

    fn figure(metric: &Metric, run: &Run) -> Option<f64> {
        (metric.sample)(run)?.figure()
    }

    #[test]
    fn an_engine_counter_beyond_belief_is_named_and_not_averaged() {
        let one = with_timings(512, 512.0 / 95_000.0);
        assert_eq!(figure(&DECODE, &one), None);
        assert_eq!(figure(&CLIENT_ENGINE_DECODE_RATIO, &one), None);
        assert!((implausible_decode(&one).unwrap() - 95_000.0).abs() < 1.0);
        assert_eq!(implausible_decode(&with_timings(512, 5.0)), None);
    }

    #[test]
    fn an_engine_that_does_not_count_the_prompt_leaves_prefill_unknown() {
        let mut one = with_timings(512, 5.0);
        one.requests[0].engine.as_mut().unwrap().prompt_s = Some(Seconds(1.0));
        assert_eq!(figure(&PREFILL, &one), None);
    }

    #[test]
    fn counters_stand_in_where_answers_carry_no_timings() {
        let mut one = run(1, 512, 5.0);
        let counters = EngineCounters {
            source: "/metrics".into(),
            output_tokens: Some(512.0),
            decode_s: Some(Seconds(5.11)),
            decode_tokens: Some(511.0),
            ttft_s: Some(Seconds(0.6)),
            ttft_requests: Some(2.0),
            queue_s: Some(Seconds(0.0)),
            queue_requests: Some(2.0),
            ..EngineCounters::default()
        };
        one.counters = Some(counters.clone());
        assert_eq!(figure(&DECODE, &one), Some(100.0));
        assert_eq!((figure(&TTFT, &one), figure(&QUEUE, &one)), (Some(0.3), Some(0.0)));
        one.counters = Some(EngineCounters { ttft_requests: Some(0.0), queue_requests: None, ..counters });
        assert_eq!((figure(&TTFT, &one), figure(&QUEUE, &one)), (None, None), "a mean over nothing");
    }

    #[test]
    fn a_rate_that_the_engine_states_counts_where_it_gives_neither_tokens_nor_time() {
        let mut one = run(1, 512, 5.0);
        let stated = |rate: f64| EngineCounters {
            source: "log".into(),
            prompt_tokens: Some(2_000.0),
            output_tokens: Some(512.0),
            stated_decode_tok_s: Some(rate),
            stated_prefill_tok_s: Some(4_000.0),
            ..EngineCounters::default()
        };
        one.counters = Some(stated(95.0));
        assert_eq!((figure(&DECODE, &one), figure(&PREFILL, &one)), (Some(95.0), Some(4_000.0)));
        for unbelievable in [95_000.0, 0.0, f64::NAN, f64::INFINITY] {
            one.counters = Some(stated(unbelievable));
            assert_eq!(figure(&DECODE, &one), None, "{unbelievable}");
        }
        one.counters = Some(stated(95_000.0));
        assert_eq!(implausible_decode(&one), Some(95_000.0), "it is named wherever it comes from");
    }

    #[test]
    fn the_ratio_reaches_one_thirtieth_and_stays() {
        let one = with_timings(512, 512.0 / 3000.0);
        let ratio = figure(&CLIENT_ENGINE_DECODE_RATIO, &one).unwrap();
        assert!((ratio - 100.0 / 3000.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn energy_is_shared_by_all_tokens_of_a_batch_and_never_by_what_is_unknown() {
        let of = |told: Telemetry| {
            let mut batch = run(1, 100, 5.0);
            batch.requests.push(run(1, 300, 5.0).requests.remove(0));
            batch.telemetry = Some(told);
            figure(&ENERGY_PER_TOKEN, &batch)
        };
        let cpu = Telemetry { cpu_energy_j: Some(Joules(40.0)), ..Telemetry::default() };
        assert_eq!(of(cpu.clone()), Some(0.1));
        assert_eq!(of(Telemetry { gpus: Some(0), ..cpu.clone() }), Some(0.1));
        let both = Telemetry { gpu_energy_j: Some(Joules(800.0)), gpus: Some(1), ..cpu.clone() };
        assert_eq!(of(both), Some(2.0));
        assert_eq!(of(Telemetry { gpus: Some(1), ..cpu }), None, "a card of unknown energy");
        assert_eq!(of(Telemetry::default()), None);
        assert_eq!(of(Telemetry { cpu_energy_j: Some(Joules(0.0)), ..Telemetry::default() }), None);
    }

    #[test]
    fn steps_split_into_tokens_per_step_and_time_per_step() {
        let mut one = run(1, 512, 5.0);
        one.counters = Some(EngineCounters {
            source: "/metrics".into(),
            verify_steps: Some(100.0),
            accepted_tokens: Some(250.0),
            draft_tokens: Some(400.0),
            ..EngineCounters::default()
        });
        assert_eq!(figure(&TOKENS_PER_STEP, &one), Some(3.5));
        assert_eq!(figure(&DRAFTS_PER_STEP, &one), Some(4.0));
        assert_eq!(figure(&TIME_PER_STEP, &one), Some(0.05));
        one.counters.as_mut().unwrap().verify_steps = Some(0.0);
        assert_eq!(figure(&TOKENS_PER_STEP, &one), None);
    }
}
