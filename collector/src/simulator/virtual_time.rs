//! The simulated engine in virtual time: what a client without any error of its own would record of it, at once.
//!
//! Statistics need hundreds of measurements whose truth is known; a server that really waits would take days for them.
//! The schedule is the one that the server keeps to.

use dyno_shared::record::{Gaps, RequestRecord, TokenCountSource};
use dyno_shared::submission::{Case, Evidence, Origin, Run, Submission};
use dyno_shared::system::{Engine, Hardware, Model, System};
use dyno_shared::units::{Seconds, Tokens};
use dyno_shared::workload::Regime;

use super::random::Random;
use super::schedule::Schedule;
use super::truth::Truth;

/// What a case asks.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Its name.
    pub id: &'static str,
    /// Its regime.
    pub regime: Regime,
    /// Its streams, all started at once.
    pub streams: u32,
    /// Tokens of each prompt.
    pub prompt_tokens: u32,
    /// Tokens of each answer.
    pub output_tokens: u32,
}

/// A submission of these cases with that many runs each. `prompt_spread` is the standard deviation over mean of a factor
/// on the speed of each prompt, the same on every engine: what pairing takes out.
pub fn submission(truth: &Truth, label: &str, cases: &[Asked], runs: u32, prompt_spread: f64) -> Submission {
    let simulated = || "simulated".to_owned();
    let system = System {
        engine: Engine { name: simulated(), simulated: true, ..Engine::default() },
        model: Model { name: simulated(), ..Model::default() },
        hardware: Hardware { name: "none".to_owned(), ..Hardware::default() },
        ..System::default()
    };
    let mut number = 0;
    let cases = cases
        .iter()
        .enumerate()
        .map(|(at, asked)| {
            let mut case = empty(asked);
            for run in 1..=runs {
                let mut of = Run { number: run, ..Run::default() };
                for stream in 0..asked.streams {
                    number += 1;
                    let prompt = (u64::from(stream) << 48) | ((at as u64) << 32) | u64::from(run);
                    let factor = Random::new(PROMPTS, prompt).factor(prompt_spread);
                    of.requests.push(RequestRecord { stream, ..request(truth, number, asked, factor) });
                }
                case.runs.push(of);
            }
            case
        })
        .collect();
    let mut shard = Submission::new(label, Origin::Collected, Evidence::Raw, system);
    shard.provenance.collector_version = Some(env!("CARGO_PKG_VERSION").to_owned());
    shard.provenance.series = Some("simulated in virtual time".to_owned());
    shard.notes = vec!["Simulated in virtual time: an instrument, never a result.".to_owned()];
    shard.cases = cases;
    shard
}

/// The seed of what the prompts are like, on every engine.
const PROMPTS: u64 = 7;

fn empty(asked: &Asked) -> Case {
    Case {
        prompt_tokens_target: Some(u64::from(asked.prompt_tokens)),
        output_tokens_target: Some(u64::from(asked.output_tokens)),
        ..Case::new(asked.id, asked.regime, asked.id, asked.streams)
    }
}

fn request(truth: &Truth, number: u64, asked: &Asked, factor: f64) -> RequestRecord {
    let mut schedule = Schedule::new(truth, number, 0, asked.prompt_tokens as usize);
    let mut arrivals = Vec::with_capacity(asked.output_tokens as usize);
    let mut left = asked.output_tokens;
    let mut first_event_tokens = None;
    while left > 0 {
        let step = schedule.step(left);
        left -= step.tokens;
        first_event_tokens.get_or_insert(Tokens(u64::from(step.tokens)));
        arrivals.push(Seconds(step.due_ns as f64 / 1e9 * factor));
    }
    RequestRecord {
        t_send_s: Some(Seconds(0.0)),
        t_headers_s: Some(Seconds(0.0)),
        t_first_s: arrivals.first().copied(),
        t_last_s: arrivals.last().copied(),
        t_end_s: arrivals.last().copied(),
        text_events: arrivals.len() as u64,
        gaps: Gaps::from_arrivals(&arrivals),
        prompt_tokens: Some(Tokens(u64::from(asked.prompt_tokens))),
        cached_prompt_tokens: Some(Tokens(0)),
        output_tokens: Some(Tokens(u64::from(asked.output_tokens))),
        token_count_source: Some(TokenCountSource::Usage),
        first_event_tokens,
        ..RequestRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use dyno_shared::metric;
    use dyno_shared::summary::summarize;

    use super::*;

    const DECODE: Asked =
        Asked { id: "code", regime: Regime::Decode, streams: 1, prompt_tokens: 100, output_tokens: 201 };

    #[test]
    fn a_measurement_in_virtual_time_finds_the_truth() {
        let truth = Truth { prefill_tok_s: 1_000.0, overhead_s: 0.1, ..Truth::default() };
        let shard = submission(&truth, "a", &[DECODE], 3, 0.0);
        let summary = summarize(&shard.cases[0]);
        let value = |tag: &str| summary.get(tag).and_then(|of| of.value).unwrap();
        assert!((value("client_wall_decode_tok_s") - 50.0).abs() < 1e-6);
        assert!((value("client_wall_ttft_s") - 0.2).abs() < 1e-6);
    }

    #[test]
    fn prompts_are_alike_on_every_engine_and_differ_from_run_to_run() {
        let [a, b] = [1, 2].map(|seed| {
            submission(&Truth { seed, ..Truth::default() }, "a", &[DECODE], 4, 0.15).cases.remove(0)
        });
        let decode = metric::find("client_wall_decode_tok_s").unwrap();
        let rates = |case: &Case| -> Vec<f64> {
            case.runs.iter().filter_map(|run| (decode.sample)(run)?.figure()).collect()
        };
        assert_eq!(rates(&a), rates(&b));
        assert!((rates(&a)[0] / rates(&a)[1] - 1.0).abs() > 0.01);
    }
}
