//! What a shard may say and is hard to believe: warnings for whoever submits it and whoever reviews it.
//!
//! None of these keeps a shard from being published: engines have bugs, and some are new. What cannot be is an error,
//! in [`validate`](mod@crate::validate).

use std::collections::BTreeMap;

use crate::date;
use crate::plain::plain;
use crate::record::RequestRecord;
use crate::submission::{Case, Evidence, Run, Submission};
use crate::units::Tokens;
use crate::validate::Problem;

/// Tokens per second of one stream that no engine is known to reach.
const FASTEST_STREAM_TOK_S: f64 = 20_000.0;
/// Prompt tokens per second of a whole machine, likewise.
const FASTEST_PREFILL_TOK_S: f64 = 2_000_000.0;
/// Bytes per second that one accelerator or socket reads at most: the fastest memory sold reads 8 TB/s.
const FASTEST_MEMORY_BYTES_S: f64 = 1e13;
/// Watts of one accelerator.
const HIGHEST_POWER_W: f64 = 2_500.0;
/// Seconds between clocks that are not one.
const CLOCK_SLACK_S: f64 = 5.0;

/// Everything in a shard that is hard to believe, where, and what to look at.
pub fn doubts(shard: &Submission) -> Vec<Problem> {
    let mut doubts = Doubts(Vec::new());
    for (i, case) in shard.cases.iter().enumerate() {
        let path = format!("cases[{i}]");
        for (j, run) in case.runs.iter().enumerate() {
            of_run(&mut doubts, &format!("{path}.runs[{j}]"), run);
        }
        in_order(&mut doubts, &path, case);
        copied(&mut doubts, &path, &case.runs);
        memory(&mut doubts, &path, shard, case);
        stated(&mut doubts, &path, case);
        if shard.provenance.evidence == Evidence::Raw && case.runs.is_empty() {
            doubts.add(&path, "has no run", "Measure it, or leave the case out");
        }
    }
    duration(&mut doubts, shard);
    doubts.0
}

struct Doubts(Vec<Problem>);

impl Doubts {
    fn add(&mut self, path: &str, message: &str, remedy: &str) {
        self.0.push(Problem { path: plain(path), message: plain(message), remedy: remedy.to_owned() });
    }
}

const LOOK_AT_COUNTS: &str = "Look at what the engine counts, and report it there if it is wrong";
const LOOK_AT_CLOCK: &str = "Look at the clock and the stamps of whatever wrote the file";

fn of_run(doubts: &mut Doubts, path: &str, run: &Run) {
    for (k, request) in run.requests.iter().enumerate() {
        let path = format!("{path}.requests[{k}]");
        counts(doubts, &path, request);
        rates(doubts, &path, request);
        engine(doubts, &path, request);
    }
    if let Some(telemetry) = &run.telemetry
        && let (Some(energy), Some(window)) = (telemetry.gpu_energy_j, telemetry.window_s)
        && window.0 > 0.0
        && energy.0 / window.0 > HIGHEST_POWER_W * f64::from(telemetry.gpus.unwrap_or(1).max(1))
    {
        doubts.add(
            &format!("{path}.telemetry.gpu_energy_j"),
            "is more than the accelerators can take in that time",
            "Look at the unit: joules, not millijoules",
        );
    }
}

fn counts(doubts: &mut Doubts, path: &str, request: &RequestRecord) {
    let output = request.output_tokens;
    for (name, part) in
        [("first_event_tokens", request.first_event_tokens), ("reasoning_tokens", request.reasoning_tokens)]
    {
        if part.zip(output).is_some_and(|(part, all)| part > all) {
            doubts.add(&format!("{path}.{name}"), "exceeds `output_tokens`", LOOK_AT_COUNTS);
        }
    }
    if let (Some(events), Some(all)) = (&request.event_tokens, output) {
        let sum: u64 = events.iter().map(|&n| u64::from(n)).sum();
        if sum > all.get() {
            doubts.add(
                &format!("{path}.event_tokens"),
                "add up to more than `output_tokens`",
                LOOK_AT_COUNTS,
            );
        }
    }
    // Not even one character for four tokens, and of a length at which that is no chance.
    if request.output_chars > 0
        && output.is_some_and(|all| all.get() > 64 && all.get() / 4 > request.output_chars)
    {
        doubts.add(
            &format!("{path}.output_tokens"),
            "is more than four for each character of the text",
            LOOK_AT_COUNTS,
        );
    }
}

fn rates(doubts: &mut Doubts, path: &str, request: &RequestRecord) {
    if let (Some(span), Some(tokens)) = (request.decode_span(), request.decoded_tokens())
        && span.0 >= 0.0
        && tokens >= 16.0
        && tokens > FASTEST_STREAM_TOK_S * span.0
    {
        doubts.add(
            &format!("{path}.t_last_s"),
            "is so soon after `t_first_s` that no engine decodes so fast: the answer was not streamed, or the times are wrong",
            LOOK_AT_CLOCK,
        );
    }
    if let (Some(ttft), Some(prompt)) = (request.ttft(), request.uncached_prompt_tokens())
        && prompt > FASTEST_PREFILL_TOK_S * ttft.0.max(1e-3)
    {
        doubts.add(
            &format!("{path}.t_first_s"),
            "is sooner than any machine reads so long a prompt",
            "Look at whether the prefix cache answered: `cached_prompt_tokens`",
        );
    }
    if let (Some(gaps), Some(first), Some(last)) = (&request.gaps, request.t_first_s, request.t_last_s) {
        let (sum, span) = (gaps.seconds().sum::<f64>(), last.0 - first.0);
        if (sum - span).abs() > 0.01 + 0.02 * span.max(sum) {
            doubts.add(
                &format!("{path}.gaps"),
                "do not add up to the time between `t_first_s` and `t_last_s`",
                LOOK_AT_CLOCK,
            );
        }
    }
}

/// The engine cannot have worked on a request for longer than it took.
fn engine(doubts: &mut Doubts, path: &str, request: &RequestRecord) {
    let (Some(engine), Some(sent), Some(end)) = (&request.engine, request.t_send_s, request.t_end_s) else {
        return;
    };
    let most = (end.0 - sent.0) * 1.05 + 0.05;
    for (name, time) in
        [("prompt_s", engine.prompt_s), ("decode_s", engine.decode_s), ("ttft_s", engine.ttft_s)]
    {
        if time.is_some_and(|time| time.0 > most) {
            doubts.add(
                &format!("{path}.engine.{name}"),
                "is longer than the whole request took",
                LOOK_AT_CLOCK,
            );
        }
    }
    let cached = engine.cached_tokens.zip(request.prompt_tokens);
    if cached.is_some_and(|(cached, all): (Tokens, Tokens)| cached > all) {
        doubts.add(&format!("{path}.engine.cached_tokens"), "exceeds `prompt_tokens`", LOOK_AT_COUNTS);
    }
}

/// Runs of a case begin one after the other.
fn in_order(doubts: &mut Doubts, path: &str, case: &Case) {
    let mut latest = f64::NEG_INFINITY;
    for (j, run) in case.runs.iter().enumerate() {
        let Some(started) = run.started_s else { continue };
        if started.0 < latest {
            doubts.add(
                &format!("{path}.runs[{j}].started_s"),
                "is before that of the run before it",
                "Look at the order: time does not go back",
            );
        }
        latest = latest.max(started.0);
    }
}

/// Two runs never agree to the microsecond in all their times.
fn copied(doubts: &mut Doubts, path: &str, runs: &[Run]) {
    let mut seen: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
    for (j, run) in runs.iter().enumerate() {
        let times: Vec<u64> = run
            .requests
            .iter()
            .flat_map(|request| [request.t_send_s, request.t_first_s, request.t_last_s])
            .flatten()
            .map(|time| time.0.to_bits())
            .collect();
        // A clock in whole seconds repeats itself.
        let is_fine = times.iter().any(|&bits| (f64::from_bits(bits) * 1e3).fract() != 0.0);
        if times.len() < 3 || !is_fine {
            continue;
        }
        if let Some(first) = seen.get(&times) {
            doubts.add(
                &format!("{path}.runs[{j}]"),
                &format!("has the same times as run {first}, to the last digit"),
                "Remove the copy: every run is measured",
            );
        } else {
            seen.insert(times, run.number);
        }
    }
}

/// A dense model is read from memory once a token (Williams, Waterman and Patterson, "Roofline", 2009); of a mixture of
/// experts the active share. Speculation reads once for several tokens, so a request that drafts is passed over.
fn memory(doubts: &mut Doubts, path: &str, shard: &Submission, case: &Case) {
    let model = &shard.system.model;
    let Some(bytes) = model.size_bytes else { return };
    let share = match (model.active_parameters, model.parameters) {
        (Some(active), Some(all)) if all > 0 => (active as f64 / all as f64).min(1.0),
        (Some(_), _) => return,
        _ => 1.0,
    };
    let drafts = |request: &RequestRecord| {
        request.event_tokens.is_some()
            || request.engine.as_ref().is_some_and(|engine| engine.draft_tokens.is_some())
    };
    let units = shard
        .system
        .hardware
        .accelerators
        .as_ref()
        .map_or(1, |of| of.iter().map(|accelerator| accelerator.count.unwrap_or(1)).sum::<u32>().max(1));
    let units = f64::from(units) * f64::from(shard.system.topology.nodes.unwrap_or(1).max(1));
    for (j, run) in case.runs.iter().enumerate() {
        for (k, request) in run.requests.iter().enumerate().filter(|(_, request)| !drafts(request)) {
            let (Some(span), Some(tokens)) = (request.decode_span(), request.decoded_tokens()) else {
                continue;
            };
            if tokens >= 16.0 && tokens * bytes as f64 * share > FASTEST_MEMORY_BYTES_S * units * span.0 {
                doubts.add(
                    &format!("{path}.runs[{j}].requests[{k}].output_tokens"),
                    "in that time means reading the weights faster than any memory is read",
                    "Say what explains it in `notes`: speculation, accelerators that are not listed, a wrong `size_bytes`",
                );
                return;
            }
        }
    }
}

fn stated(doubts: &mut Doubts, path: &str, case: &Case) {
    for (j, stated) in case.stated.iter().enumerate() {
        let path = format!("{path}.stated[{j}]");
        let outside = |low: Option<f64>, high: Option<f64>| {
            stated.value.is_some_and(|x| low.is_some_and(|low| x < low) || high.is_some_and(|high| x > high))
        };
        if outside(stated.low, stated.high) || outside(stated.min, stated.max) {
            doubts.add(&format!("{path}.value"), "is outside its own interval", "Compare it with the source");
        }
        if stated.n == Some(0) {
            doubts.add(&format!("{path}.n"), "is 0", "Leave it out where the source does not say");
        }
        let is_of_a_stream = stated.metric.ends_with("decode_tok_s") && case.concurrency == 1;
        if is_of_a_stream && stated.value.is_some_and(|x| x > FASTEST_STREAM_TOK_S) {
            doubts.add(
                &format!("{path}.value"),
                "is faster than any engine decodes",
                "Compare it with the source",
            );
        }
    }
}

/// The runs fit between the start and the end.
fn duration(doubts: &mut Doubts, shard: &Submission) {
    let moment = |text: &Option<String>| text.as_deref().filter(|t| t.len() > 10).and_then(date::seconds);
    let provenance = &shard.provenance;
    let (Some(start), Some(end)) = (moment(&provenance.started_at), moment(&provenance.ended_at)) else {
        return;
    };
    let last = shard
        .cases
        .iter()
        .flat_map(|case| &case.runs)
        .filter_map(|run| {
            let end =
                run.requests.iter().filter_map(|request| request.t_end_s).map(|t| t.0).fold(0.0, f64::max);
            Some(run.started_s?.0 + end)
        })
        .fold(0.0, f64::max);
    if last > end - start + CLOCK_SLACK_S {
        doubts.add("provenance.ended_at", "is before the end of the last run", LOOK_AT_CLOCK);
    }
}

#[cfg(test)]
mod tests;
