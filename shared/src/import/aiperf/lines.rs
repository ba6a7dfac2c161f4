//! `profile_export.jsonl`: a line for each request, with its times.

use super::super::build::{self, Stream};
use super::super::{Document, Node};
use super::{FORMAT, foreign, scale};
use crate::record::{RequestRecord, TokenCountSource};
use crate::submission::{Evidence, Submission};
use crate::units::{Seconds, Tokens};
use crate::validate::Problem;
use crate::workload::Regime;

pub(super) fn recognised(document: &Document<'_>) -> bool {
    let rows = document.rows();
    rows.first().is_some_and(|row| {
        row.has("metrics")
            && row.get("metadata").is_some_and(|of| of.has("benchmark_phase") && of.has("request_start_ns"))
    })
}

pub(super) fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let (mut warmups, mut requests) = (Vec::new(), Vec::new());
    let rows = document.rows();
    let agent = rows.iter().find_map(|row| row.at(&["trace_data", "request_headers", "User-Agent"]));
    let version = agent.and_then(|agent| agent.as_text()).and_then(|agent| agent.strip_prefix("aiperf/"));
    for row in &rows {
        let metadata = row.need("metadata")?;
        let is_warmup = metadata.need_text("benchmark_phase")? != "profiling";
        let record = record(row, &metadata)?;
        if is_warmup { &mut warmups } else { &mut requests }.push(record);
    }
    requests.sort_by(|a, b| sent(a).total_cmp(&sent(b)));
    let streams = at_once(&requests);
    let mean = |of: fn(&RequestRecord) -> Option<Tokens>| {
        let known: Vec<f64> = requests.iter().filter_map(of).map(|tokens| tokens.get() as f64).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let id = build::load_id(mean(|r| r.prompt_tokens), mean(|r| r.output_tokens), streams);
    let mut part = build::submission(&FORMAT, version, Evidence::Raw);
    part.provenance.started_at = requests.first().map(sent).and_then(build::utc);
    let mut case = build::case(&id, Regime::Load, build::NOT_STATED, streams);
    case.description = Some("as many streams as were open at once".into());
    if !warmups.is_empty() {
        case.warmups = build::runs_of(streams, warmups);
    }
    let (all, failed) = (requests.len(), requests.iter().filter(|request| request.error.is_some()).count());
    if failed > 0 {
        let figures = if failed < all { ": the figures are those of the others" } else { "" };
        case.ended_early = Some(format!("{failed} of {all} requests failed{figures}"));
    }
    case.runs = build::runs_of(streams, requests);
    part.cases.push(case);
    part.notes.push("the lines name neither the model nor the limit of streams".into());
    part.notes.push("a connection that a request had to make is part of its time to first token".into());
    part.notes.push(build::lacks("engine_… figures", "the client does not ask the engine"));
    Ok(vec![part])
}

fn sent(request: &RequestRecord) -> f64 {
    request.t_send_s.map_or(f64::INFINITY, Seconds::get)
}

/// The most requests that were open at one moment.
fn at_once(requests: &[RequestRecord]) -> u32 {
    let mut ends: Vec<f64> = Vec::new();
    let mut most = 1;
    for request in requests {
        let now = sent(request);
        ends.retain(|end| *end > now);
        ends.push(request.t_end_s.or(request.t_last_s).map_or(now, Seconds::get));
        most = most.max(ends.len());
    }
    u32::try_from(most).unwrap_or(u32::MAX)
}

fn record(row: &Node<'_>, metadata: &Node<'_>) -> Result<RequestRecord, Problem> {
    let time = |key: &str| -> Result<Option<f64>, Problem> { Ok(metadata.number(key)?.map(|ns| ns * 1e-9)) };
    let start = time("request_start_ns")?;
    let error = match row.get("error") {
        Some(error) => Some(error.text("message")?.or(error.text("type")?).unwrap_or_default()),
        None => (metadata.flag("was_cancelled")? == Some(true)).then_some("cancelled"),
    };
    if let Some(error) = error {
        let mut record = build::failed(start, error);
        record.t_end_s = time("request_end_ns")?.map(Seconds);
        return Ok(record);
    }
    let metrics = row.need("metrics")?;
    let value =
        |key: &str| metrics.get(key).map(|metric| metric.number("value")).transpose().map(Option::flatten);
    let seconds = |key: &str| -> Result<Option<f64>, Problem> {
        let Some(metric) = metrics.get(key) else { return Ok(None) };
        let scale = scale_of(&metric)?;
        Ok(metric.number("value")?.map(|x| x * scale))
    };
    let tokens = |key: &str| -> Result<Option<u64>, Problem> {
        Ok(value(key)?.filter(|n| *n >= 0.0).map(|n| n as u64))
    };
    let gaps = match metrics.get("inter_chunk_latency") {
        Some(metric) => {
            let scale = scale_of(&metric)?;
            metric.numbers("value")?.and_then(|gaps| gaps.into_iter().map(|gap| Some(gap? * scale)).collect())
        }
        None => None,
    };
    let usage = tokens("usage_completion_tokens")?;
    let mut record = build::request(&Stream {
        sent_s: start.ok_or_else(|| metadata.missing("request_start_ns"))?,
        ttft_s: seconds("time_to_first_token")?,
        gaps_s: gaps,
        latency_s: seconds("request_latency")?,
        prompt_tokens: tokens("usage_prompt_tokens")?.or(tokens("input_sequence_length")?),
        output_tokens: usage.or(tokens("output_sequence_length")?),
        source: usage.map(|_| TokenCountSource::Usage),
    });
    record.t_end_s =
        time("request_end_ns")?.map(Seconds).filter(|end| record.t_last_s.is_none_or(|last| *end >= last));
    record.t_due_s = time("credit_issued_ns")?.map(Seconds);
    record.cached_prompt_tokens = tokens("usage_prompt_cache_read_tokens")?.map(Tokens);
    record.reasoning_tokens = tokens("reasoning_token_count")?.map(Tokens);
    if let Some(trace) = row.get("trace_data") {
        record.status = trace.count("response_status_code")?.and_then(|status| u16::try_from(status).ok());
    }
    Ok(record)
}

/// What makes a time of a request seconds.
fn scale_of(metric: &Node<'_>) -> Result<f64, Problem> {
    scale(metric.need_text("unit")?, "_s").map(|(scale, _)| scale).ok_or_else(|| foreign(metric))
}
