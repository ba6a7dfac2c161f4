//! guidellm, schema version 2: `benchmarks.json`.
//!
//! Every request comes with its times, so a benchmark is raw where the file has them all. Its clock is the time of day,
//! which can step. `time_per_output_token_ms` has the time to first token in it and keeps guidellm's name.

use super::build::{self, Told, joined};
use super::{Document, Format, Node, Value};
use crate::format::full;
use crate::json::Input;
use crate::record::{RequestError, RequestErrorKind, RequestRecord};
use crate::shard::sha256_hex;
use crate::submission::{Case, Evidence, StatedEstimate, Submission};
use crate::units::{Seconds, Tokens};
use crate::validate::Problem;
use crate::workload::{Arrival, Regime, Sampling};

/// See the module.
pub const FORMAT: Format = Format {
    tag: "guidellm",
    title: "guidellm",
    tried: "0.8.1, schema version 2",
    recognises: |document| {
        let Some(whole) = document.only() else { return false };
        let names_itself = whole.at(&["metadata", "guidellm_version"]).is_some();
        whole.has("benchmarks") && (names_itself || benchmarks(&whole).first().is_some_and(is_of_guidellm))
    },
    read,
};

/// Distributions of the tool's own, each with its unit and what a reader must know; `None` for ours, in seconds.
struct Distribution {
    key: &'static str,
    metric: Option<&'static str>,
    unit: &'static str,
    note: &'static str,
}

const DISTRIBUTIONS: [Distribution; 9] = [
    Distribution {
        key: "time_to_first_token_ms",
        metric: Some("client_wall_ttft_s"),
        unit: "s",
        note: "to the first chunk with text, reasoning or a tool call",
    },
    Distribution {
        key: "inter_token_latency_ms",
        metric: Some("client_wall_token_gap_s"),
        unit: "s",
        note: "(last − first token) / (tokens − 1) of each request, weighted by tokens; n counts those",
    },
    Distribution {
        key: "request_latency",
        metric: Some("client_wall_e2e_s"),
        unit: "s",
        note: "to the end of the answer",
    },
    Distribution {
        key: "time_per_output_token_ms",
        metric: None,
        unit: "ms",
        note: "(last token − start of the request) / tokens: the time to first token is in it",
    },
    Distribution {
        key: "time_to_first_output_token_ms",
        metric: None,
        unit: "ms",
        note: "reasoning not counted",
    },
    Distribution { key: "requests_per_second", metric: None, unit: "req/s", note: LOCAL },
    Distribution { key: "output_tokens_per_second", metric: None, unit: "tok/s", note: LOCAL },
    Distribution { key: "tokens_per_second", metric: None, unit: "tok/s", note: LOCAL },
    Distribution { key: "request_concurrency", metric: None, unit: "requests", note: "weighted by time" },
];

const LOCAL: &str = "a distribution of local rates, weighted by time";

/// guidellm's names of percentiles, whose first digits are those of a per mille or per cent: `p001` is 0.1 %.
const PERCENTILES: [(&str, &str); 4] = [("p90", "p90"), ("p95", "p95"), ("p99", "p99"), ("p999", "p99.9")];

fn benchmarks<'v>(whole: &Node<'v>) -> Vec<Node<'v>> {
    whole.get("benchmarks").map(|list| list.items()).unwrap_or_default()
}

fn is_of_guidellm(benchmark: &Node<'_>) -> bool {
    benchmark.has("metrics")
        && ["scheduler_metrics", "run_stats", "scheduler"].iter().any(|key| benchmark.has(key))
}

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let whole = document.only().ok_or_else(several)?;
    let metadata = whole.get("metadata");
    let version = match &metadata {
        Some(metadata) => metadata.count("version")?,
        None => None,
    };
    if version != Some(2) {
        return Err(other_version(version));
    }
    let tool = match &metadata {
        Some(metadata) => metadata.text("guidellm_version")?,
        None => None,
    };
    whole.need("benchmarks")?;
    let mut parts = Vec::new();
    for row in whole.list("benchmarks")? {
        parts.push(benchmark(&row, tool)?);
    }
    Ok(build::gather(parts))
}

fn several() -> Problem {
    Problem {
        path: String::new(),
        message: "is not one JSON object".into(),
        remedy: "Import one `benchmarks.json` of guidellm at a time".into(),
    }
}

fn other_version(version: Option<u64>) -> Problem {
    let (message, remedy) = match version {
        Some(version) if version > 2 => (
            format!("is {version}, and 2 is the newest that is read"),
            "Update Dyno, or measure with guidellm 0.8",
        ),
        Some(version) => (format!("is {version}: only 2 is read"), "Measure again with guidellm 0.8"),
        None => (
            "is missing: the file is of version 1, whose keys mean other things".into(),
            "Measure again with guidellm 0.8, which writes version 2",
        ),
    };
    Problem { path: "metadata.version".into(), message, remedy: remedy.into() }
}

fn benchmark(row: &Node<'_>, version: Option<&str>) -> Result<Submission, Problem> {
    let metrics = row.need("metrics")?;
    let totals = metrics.need("request_totals")?;
    let counts = Counts {
        successful: totals.need_count("successful")?,
        incomplete: totals.count("incomplete")?.unwrap_or(0),
        errored: totals.count("errored")?.unwrap_or(0),
    };
    let config = row.need("config")?;
    let mut case = case(&config, &metrics, &counts)?;
    let requests = requests(row, &counts)?;
    let evidence = if requests.is_some() { Evidence::Raw } else { Evidence::Summary };
    let mut part = build::submission(&FORMAT, version, evidence);
    if let Some(model) = config.at(&["backend", "model"]).and_then(|model| model.as_text()) {
        build::model_name(model).clone_into(&mut part.system.model.name);
    }
    part.provenance.started_at = row.number("start_time")?.and_then(build::utc);
    part.provenance.ended_at = row.number("end_time")?.and_then(build::utc);
    if let Some(format) = config.at(&["backend", "request_format"]) {
        build::requested(&mut part, "request_format", format.setting());
    }
    part.notes.push("guidellm's clock is the time of day, which can step".into());
    part.notes.push("output tokens: from `usage`, or one for each chunk; the file does not say which".into());
    if let Some(requests) = requests {
        let (warm, measured) = without_warmup(row, requests)?;
        if !warm.is_empty() {
            case.warmups = build::runs_of(case.concurrency, warm);
        }
        case.runs = build::runs_of(case.concurrency, measured);
        case.sampling = sampling(row);
        part.notes.push(build::lacks(
            "client_wall_steady_tok_s, distribution of client_wall_gap_s",
            "guidellm keeps the first and the last chunk's time and how many there were",
        ));
        part.notes.push(build::lacks("engine_… figures", "the client does not ask the engine"));
    } else {
        part.notes.push(build::lacks(
            "client_wall_decode_tok_s, client_wall_aggregate_tok_s",
            "the file does not have every request; guidellm keeps all where `sample_size` is not set",
        ));
        part.notes.push("percentiles are not interpolated".into());
        if counts.successful > 0 {
            case.stated = stated(&metrics)?;
        }
    }
    part.cases.push(case);
    Ok(part)
}

struct Counts {
    successful: u64,
    incomplete: u64,
    errored: u64,
}

fn case(config: &Node<'_>, metrics: &Node<'_>, counts: &Counts) -> Result<Case, Problem> {
    let strategy = config.need("strategy")?;
    let kind = strategy.need_text("type_")?;
    let streams = strategy.count("streams")?.or(strategy.count("max_concurrency")?);
    let all = counts.successful + counts.incomplete + counts.errored;
    let concurrency = match kind {
        "synchronous" => 1,
        _ => streams.unwrap_or(all),
    };
    let concurrency = u32::try_from(concurrency).unwrap_or(u32::MAX).max(1);
    let mean = |key: &str| -> Result<Option<f64>, Problem> {
        let of = metrics.at(&[key, "successful"]);
        Ok(of.map(|of| of.number("mean")).transpose()?.flatten().filter(|_| counts.successful > 0))
    };
    let (prompt, output) = (mean("prompt_token_count")?, mean("output_token_count")?);
    let id = build::load_id(prompt, output, concurrency);
    let mut case = build::case(&id, Regime::Load, build::NOT_STATED, concurrency);
    let rate = strategy.number("rate")?.filter(|rate| *rate > 0.0);
    case.arrival = match kind {
        "constant" => rate.map(|per_s| Arrival::Constant { per_s }),
        "poisson" => rate.map(|per_s| Arrival::Poisson { per_s }),
        _ => None,
    };
    let asked = rate.map(|rate| format!("{} requests per second", full(rate)));
    case.description = joined(&[Some(kind), Some(&format!("{all} requests")), asked.as_deref()]);
    if all > counts.successful {
        case.ended_early = Some(format!(
            "{} of {all} requests failed and {} were not complete: the figures are those of the others",
            counts.errored, counts.incomplete
        ));
    }
    Ok(case)
}

/// Every request, where the file has them all.
fn requests(row: &Node<'_>, counts: &Counts) -> Result<Option<Vec<RequestRecord>>, Problem> {
    let Some(lists) = row.get("requests") else { return Ok(None) };
    let mut all = Vec::new();
    for (kind, count) in
        [("successful", counts.successful), ("incomplete", counts.incomplete), ("errored", counts.errored)]
    {
        let list = lists.list(kind)?;
        if list.len() as u64 != count {
            return Ok(None);
        }
        for request in list {
            all.push(record(&request, kind)?);
        }
    }
    let sent = |request: &RequestRecord| request.t_send_s.map_or(f64::INFINITY, Seconds::get);
    all.sort_by(|a, b| sent(a).total_cmp(&sent(b)));
    Ok((!all.is_empty()).then_some(all))
}

/// Requests that were sent before the tool began to measure, and the others.
fn without_warmup(
    row: &Node<'_>,
    requests: Vec<RequestRecord>,
) -> Result<(Vec<RequestRecord>, Vec<RequestRecord>), Problem> {
    let start = match row.get("scheduler_metrics") {
        Some(metrics) if row.number("warmup_duration")?.is_some_and(|s| s > 0.0) => {
            metrics.number("measure_start_time")?
        }
        _ => None,
    };
    let is_warmup =
        |request: &RequestRecord| start.zip(request.t_send_s).is_some_and(|(start, sent)| sent.get() < start);
    Ok(requests.into_iter().partition(is_warmup))
}

fn record(request: &Node<'_>, kind: &str) -> Result<RequestRecord, Problem> {
    let info = request.need("info")?;
    let timings = info.need("timings")?;
    let at = |key: &str| -> Result<Option<Seconds>, Problem> { Ok(timings.number(key)?.map(Seconds)) };
    let tokens = |key: &str| -> Result<Option<Tokens>, Problem> { Ok(request.count(key)?.map(Tokens)) };
    let sent = at("request_start")?;
    if kind != "successful" {
        let said = info.text("error")?;
        let mut record = build::failed(sent.map(Seconds::get), said.unwrap_or_default());
        if kind == "incomplete" {
            let message = "not complete when the benchmark ended".to_owned();
            record.error = Some(RequestError { kind: RequestErrorKind::Unknown, message });
        }
        return Ok(record);
    }
    let text = request.text("output")?.unwrap_or_default();
    let reasoning = request.text("reasoning_output")?.unwrap_or_default();
    let has_text = !(text.is_empty() && reasoning.is_empty());
    Ok(RequestRecord {
        t_due_s: at("targeted_start")?,
        t_send_s: Some(sent.ok_or_else(|| timings.missing("request_start"))?),
        t_first_s: at("first_token_iteration")?,
        t_first_answer_s: at("first_output_token_iteration")?,
        t_last_s: at("last_token_iteration")?,
        t_end_s: at("request_end")?,
        text_events: timings.count("token_iterations")?.unwrap_or(0),
        prompt_tokens: tokens("prompt_tokens")?,
        cached_prompt_tokens: tokens("cached_tokens")?,
        output_tokens: tokens("output_tokens")?,
        output_chars: (text.chars().count() + reasoning.chars().count()) as u64,
        output_sha256: has_text.then(|| sha256_hex([reasoning, text].concat().as_bytes())),
        ..RequestRecord::default()
    })
}

/// What was sent with the first request that was answered; unknown where the file does not have it whole.
fn sampling(row: &Node<'_>) -> Sampling {
    let answered = row.at(&["requests", "successful"]).map(|list| list.items()).unwrap_or_default();
    let sent = answered.first().and_then(|request| request.get("request_args"));
    let mut input = Input::new(sent.as_ref().and_then(Node::as_text).unwrap_or_default());
    let Ok(sent) = Value::next(&mut input) else { return Sampling::default() };
    let Some(body) = Node::root(&sent).get("body") else { return Sampling::default() };
    let number = |key: &str| body.number(key).ok().flatten();
    let count = |key: &str| body.count(key).ok().flatten();
    Sampling {
        temperature: number("temperature"),
        top_p: number("top_p"),
        top_k: count("top_k").and_then(|k| u32::try_from(k).ok()),
        seed: count("seed"),
        max_tokens: count("max_completion_tokens").or_else(|| count("max_tokens")),
        ignore_eos: body.flag("ignore_eos").ok().flatten(),
        thinking: None,
    }
}

/// The statistics of the requests that were answered.
fn stated(metrics: &Node<'_>) -> Result<Vec<StatedEstimate>, Problem> {
    let mut figures = Vec::new();
    for of in &DISTRIBUTIONS {
        let Some(answered) = metrics.at(&[of.key, "successful"]) else { continue };
        let told = Told {
            metric: of.metric.unwrap_or(of.key),
            unit: of.unit,
            is_ours: of.metric.is_some(),
            // The milliseconds of a metric of ours are seconds there.
            scale: if of.metric.is_some() && of.key.ends_with("_ms") { 1e-3 } else { 1.0 },
            note: of.note,
        };
        let n = answered.count("count")?.filter(|n| *n > 0);
        figures.extend(told.mean(&answered, "mean", ("std_dev", "population"), n)?);
        figures.extend(told.others(&answered, &[("median", "median")])?);
        if let Some(percentiles) = answered.get("percentiles") {
            figures.extend(told.others(&percentiles, &PERCENTILES)?);
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, Submission};
    use crate::summary::summarize;
    use crate::testing::only;

    const FILE: &str = include_str!("../../tests/fixtures/import/guidellm/benchmarks.json");

    fn one(text: &str) -> Submission {
        only(text, "guidellm")
    }

    /// The file without its requests, as with `sample_size`.
    fn sampled() -> String {
        FILE.replace("\"requests\": {\"successful\": [", "\"requests\": {\"successful\": [], \"rest\": [")
    }

    fn close(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!((value - expected).abs() < 1e-5 * expected, "{value} is not {expected}");
    }

    #[test]
    fn every_request_of_a_real_file_is_raw_and_gives_the_files_own_means() {
        let shard = one(FILE);
        assert_eq!(shard.provenance.evidence, Evidence::Raw);
        assert_eq!(shard.provenance.started_at.as_deref(), Some("2026-11-30T16:26:24Z"));
        let case = &shard.cases[0];
        assert_eq!((case.id.as_str(), case.concurrency, case.runs.len()), ("load_94_16_c2", 2, 1));
        assert_eq!((case.sampling.max_tokens, case.sampling.ignore_eos), (Some(16), Some(true)));
        let run = &case.runs[0];
        assert_eq!((run.requests.len(), run.requests[1].stream, run.requests[2].stream), (6, 1, 0));
        let first = &run.requests[0];
        assert_eq!(
            (first.text_events, first.cached_prompt_tokens.map(crate::units::Tokens::get)),
            (16, Some(24))
        );
        let summary = summarize(case);
        let figure = |tag: &str| summary.get(tag).and_then(|estimate| estimate.value);
        close(figure("client_wall_ttft_s"), 2.828_109_820_683_797);
        // inter_token_latency_ms, per token as there.
        close(figure("client_wall_token_gap_s"), 0.595_585_804_515_414_7);
        close(figure("client_wall_gap_s"), 0.595_585_804_515_414_7);
        close(figure("cached_prompt_share"), 152.0 / 564.0);
        assert!(figure("client_wall_aggregate_tok_s").is_some_and(|rate| (2.71..2.73).contains(&rate)));
    }

    #[test]
    fn without_every_request_the_statistics_keep_their_names_and_a_tpot_with_ttft_is_no_metric_of_ours() {
        let shard = one(&sampled());
        assert_eq!(shard.provenance.evidence, Evidence::Summary);
        let case = &shard.cases[0];
        assert!(case.runs.is_empty());
        let find = |metric: &str, statistic: &str| {
            let of = |s: &&crate::submission::StatedEstimate| {
                s.metric == metric && s.statistic.as_deref() == Some(statistic)
            };
            case.stated.iter().find(of)
        };
        close(find("client_wall_ttft_s", "mean").unwrap().value, 2.828_109_820_683_797);
        close(find("client_wall_ttft_s", "p99").unwrap().value, 3.939_675_807_952_881);
        close(find("client_wall_ttft_s", "median").unwrap().value, 1.991_553_068_161_010_7);
        let tpot = find("time_per_output_token_ms", "mean").unwrap();
        close(tpot.value, 735.118_555_525_938_6);
        assert_eq!((tpot.unit.as_deref(), tpot.n), (Some("ms"), Some(96)));
        // p999 is 99.9 %, and p001 and p01 are 0.1 % and 1 %, not the first percentiles of something.
        assert!(find("request_latency", "p999").is_none() && find("client_wall_e2e_s", "p99.9").is_some());
        assert!(
            case.stated.iter().all(|s| !s.statistic.as_deref().is_some_and(|name| name.starts_with("p0")))
        );
        let ttft = find("client_wall_ttft_s", "mean").unwrap().note.clone().unwrap();
        assert!(ttft.contains("population standard deviation 0.962 s"), "{ttft}");
    }

    #[test]
    fn a_request_that_was_not_complete_stays_failed_and_leaves_the_batch() {
        let text = FILE
            .replacen(
                "\"successful\": 6, \"errored\": 0, \"incomplete\": 0",
                "\"successful\": 5, \"errored\": 0, \"incomplete\": 1",
                2,
            )
            .replacen("\"incomplete\": [], ", "", 1);
        let cut = text.rfind("{\"type_\": \"generative_request_stats\"").unwrap();
        let (before, after) = text.split_at(cut);
        let end = after.find("}], ").unwrap();
        let (last, rest) = after.split_at(end + 1);
        let before = before.trim_end().trim_end_matches(',');
        let moved = [before, "], \"incomplete\": [", last, rest].concat();
        let shard = one(&moved);
        let runs = &shard.cases[0].runs;
        assert_eq!(
            runs.iter().map(|run| (run.requests.len(), run.passed())).collect::<Vec<_>>(),
            [(5, true), (1, false)]
        );
        assert!(shard.cases[0].ended_early.as_deref().unwrap().contains("1 were not complete"));
    }

    #[test]
    fn one_stream_makes_a_run_of_each_request() {
        let single = FILE.replace("\"type_\": \"concurrent\"", "\"type_\": \"synchronous\"");
        let shard = one(&single);
        let numbers: Vec<u32> = shard.cases[0].runs.iter().map(|run| run.number).collect();
        assert_eq!((numbers, shard.cases[0].concurrency), (vec![1, 2, 3, 4, 5, 6], 1));
    }

    #[test]
    fn another_version_is_refused_in_words() {
        let said = |text: &str| read(text, None).unwrap_err().to_string();
        assert!(
            said(&FILE.replacen("\"version\": 2, ", "", 1))
                .contains("metadata.version: is missing: the file is of version 1")
        );
        assert!(
            said(&FILE.replacen("\"version\": 2", "\"version\": 3", 1)).contains("3, and 2 is the newest")
        );
        assert!(said(r#"{"benchmarks": [{"metrics": {}, "run_stats": {}}]}"#).contains("of version 1"));
        assert!(
            said(&FILE.replacen("\"request_totals\"", "\"totals\"", 1))
                .contains("benchmarks[0].metrics.request_totals: is missing")
        );
    }
}
