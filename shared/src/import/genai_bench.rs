//! genai-bench: the file of one run, e.g. `D64_16_text-to-text_num_concurrency_2_time_20s.json`.
//!
//! Its requests have no time at which they were sent. Of one stream each makes a run; of several no batch can be put
//! together, and the file's statistics are stated. The experiment, with engine and model, is in another file.

use super::build::{self, Stream, Told};
use super::{Format, Node};
use crate::record::RequestRecord;
use crate::submission::{Case, Evidence, StatedEstimate, Submission};
use crate::units::Seconds;
use crate::validate::Problem;
use crate::workload::Regime;

/// See the module.
pub const FORMAT: Format = Format {
    tag: "genai-bench",
    title: "genai-bench",
    tried: "a file of November 2026",
    recognises: |document| document.has(&["aggregated_metrics", "individual_request_metrics"]),
    read: |document| {
        let parts: Result<Vec<Submission>, Problem> = document.rows().iter().map(run).collect();
        Ok(build::gather(parts?))
    },
};

/// The event that ends the tool's latency.
const TO_THE_FINISH: &str = "to the chunk with the finish reason or the usage";

/// Statistics: the tool's name, the metric of ours, what a reader must know.
const STATISTICS: [(&str, Option<&str>, &str); 8] = [
    ("ttft", Some("client_wall_ttft_s"), "to the first chunk with text, reasoning included"),
    ("e2e_latency", Some("client_wall_e2e_s"), TO_THE_FINISH),
    (
        "output_inference_speed",
        Some("client_wall_decode_tok_s"),
        "(tokens − 1) / (latency − TTFT) of each request, the latency to the chunk with the finish reason or the usage",
    ),
    ("tpot", None, "(latency − TTFT) / (tokens − 1) of each request"),
    ("input_throughput", None, "prompt tokens / TTFT of each request, cached ones included"),
    ("num_input_tokens", None, ""),
    ("num_output_tokens", None, ""),
    ("num_reasoning_tokens", None, ""),
];

fn run(row: &Node<'_>) -> Result<Submission, Problem> {
    let told = row.need("aggregated_metrics")?;
    let unit = Unit::of(row)?;
    let streams = told.need_count("num_concurrency")?;
    let streams = u32::try_from(streams).unwrap_or(u32::MAX).max(1);
    let requests = requests(row, &told, &unit, streams)?;
    let evidence = if requests.is_some() { Evidence::Raw } else { Evidence::Summary };
    let mut part = build::submission(&FORMAT, None, evidence);
    let mut case = case(&told, streams)?;
    if let Some(requests) = requests {
        case.runs = build::runs_of(1, requests);
        part.notes.push(format!("latency and decode rate: {TO_THE_FINISH}"));
        part.notes.push(build::lacks("client_wall_gap_s", "the file has no times of chunks"));
    } else {
        case.stated = stated(&told, &unit)?;
        part.notes.push(build::lacks(
            "client_wall_prefill_tok_s, client_wall_gap_s, client_wall_steady_tok_s, runs",
            "the file does not say when each request was sent",
        ));
    }
    if unit.is_assumed {
        part.notes.push(
            "the file does not name its unit of time: seconds, as genai-bench wrote before it did".into(),
        );
    }
    part.notes.push("engine and model are in the experiment's own file, `experiment_metadata.json`".into());
    part.notes
        .push(build::lacks("cached_prompt_share, engine_… figures", "the client does not ask the engine"));
    part.cases.push(case);
    Ok(part)
}

/// The unit of the file's times.
struct Unit {
    name: &'static str,
    seconds: f64,
    is_assumed: bool,
}

impl Unit {
    fn of(row: &Node<'_>) -> Result<Self, Problem> {
        match row.text("_time_unit")? {
            Some("ms") => Ok(Self { name: "ms", seconds: 1e-3, is_assumed: false }),
            Some("s") => Ok(Self { name: "s", seconds: 1.0, is_assumed: false }),
            None => Ok(Self { name: "s", seconds: 1.0, is_assumed: true }),
            Some(_) => Err(row.need("_time_unit")?.wrong("`s` or `ms`")),
        }
    }
}

fn case(told: &Node<'_>, streams: u32) -> Result<Case, Problem> {
    let mean = |key: &str| -> Result<Option<f64>, Problem> {
        told.at(&["stats", key]).map(|of| of.number("mean")).transpose().map(Option::flatten)
    };
    let id = build::load_id(mean("num_input_tokens")?, mean("num_output_tokens")?, streams);
    let mut case = build::case(&id, Regime::Load, build::NOT_STATED, streams);
    if let Some(scenario) = told.text("scenario")? {
        case.description = Some(format!("scenario {scenario}"));
        // `D(100,100)`: both lengths are fixed.
        let lengths = scenario.strip_prefix("D(").and_then(|rest| rest.strip_suffix(')')?.split_once(','));
        if let Some((prompt, output)) = lengths {
            case.prompt_tokens_target = prompt.trim().parse().ok();
            case.output_tokens_target = output.trim().parse().ok();
        }
    }
    case.ended_early = failures(told)?;
    Ok(case)
}

/// What failed. The tool's own `error_rate` is 0 whatever happens, because it divides before it counts.
fn failures(told: &Node<'_>) -> Result<Option<String>, Problem> {
    let failed = told.count("num_error_requests")?.unwrap_or(0);
    if failed == 0 {
        return Ok(None);
    }
    let answered = told.count("num_completed_requests")?.unwrap_or(0);
    let codes: Vec<&str> = told
        .get("error_codes_frequency")
        .map(|codes| codes.members().iter().map(|(code, _)| *code).collect())
        .unwrap_or_default();
    let codes = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
    let figures = if answered > 0 { ": the figures are those of the others" } else { "" };
    Ok(Some(format!("{failed} of {} requests failed{codes}{figures}", answered + failed)))
}

/// The requests of a single stream, where the file has them all.
fn requests(
    row: &Node<'_>,
    told: &Node<'_>,
    unit: &Unit,
    streams: u32,
) -> Result<Option<Vec<RequestRecord>>, Problem> {
    let rows = row.list("individual_request_metrics")?;
    let all = told.count("num_requests")?;
    if streams != 1 || rows.is_empty() || all.is_some_and(|all| all != rows.len() as u64) {
        return Ok(None);
    }
    let mut requests = Vec::with_capacity(rows.len());
    for row in &rows {
        requests.push(request(row, unit)?);
    }
    Ok(Some(requests))
}

fn request(row: &Node<'_>, unit: &Unit) -> Result<RequestRecord, Problem> {
    if let Some(code) = row.get("error_code").and_then(|code| code.setting()) {
        let message = row.text("error_message")?.unwrap_or_default();
        let mut record = build::failed(Some(0.0), &format!("{code}: {message}"));
        record.status = row.count("error_code").ok().flatten().and_then(|code| u16::try_from(code).ok());
        return Ok(record);
    }
    let latency = row.number("e2e_latency")?.map(|x| x * unit.seconds);
    let mut record = build::request(&Stream {
        sent_s: 0.0,
        ttft_s: row.number("ttft")?.map(|x| x * unit.seconds),
        latency_s: latency,
        prompt_tokens: row.count("num_input_tokens")?,
        output_tokens: row.count("num_output_tokens")?,
        ..Stream::default()
    });
    record.t_end_s = latency.map(Seconds);
    Ok(record)
}

fn stated(told: &Node<'_>, unit: &Unit) -> Result<Vec<StatedEstimate>, Problem> {
    let n = told.count("num_completed_requests")?;
    if n == Some(0) {
        return Ok(Vec::new());
    }
    let mut figures = Vec::new();
    for (key, metric, note) in STATISTICS {
        let Some(of) = told.at(&["stats", key]) else { continue };
        let (own_unit, scale) = match key {
            "tpot" => (unit.name, 1.0),
            "ttft" | "e2e_latency" => ("s", unit.seconds),
            "input_throughput" | "output_inference_speed" => ("tok/s", 1.0),
            _ => ("tok", 1.0),
        };
        let told =
            Told { metric: metric.unwrap_or(key), unit: own_unit, is_ours: metric.is_some(), scale, note };
        let convention = (key == "output_inference_speed").then(|| "n_minus_first".to_owned());
        let mean = told.mean(&of, "mean", ("stddev", "population"), n)?;
        // Of how long prompts and answers were the mean and the range are enough.
        let percentiles: &[(&str, &str)] = match own_unit {
            "tok" => &[],
            _ => &[("p50", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99")],
        };
        let others = told.others(&of, percentiles)?;
        let with_convention = |figure| StatedEstimate { rate_convention: convention.clone(), ..figure };
        figures.extend(mean.into_iter().chain(others).map(with_convention));
    }
    let rate = build::stated(
        "client_wall_aggregate_tok_s",
        Some("ratio of totals"),
        told.number("mean_output_throughput_tokens_per_s")?,
    );
    figures.extend(
        rate.map(|figure| StatedEstimate {
            note: Some("over the whole run, `run_duration`".into()),
            ..figure
        }),
    );
    for (key, unit, note) in [
        ("mean_total_tokens_throughput_tokens_per_s", "tok/s", Some("prompt and output tokens together")),
        ("mean_input_throughput_tokens_per_s", "tok/s", None),
        ("requests_per_second", "req/s", None),
    ] {
        figures.extend(build::own(told, key, unit, note)?);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, StatedEstimate, Submission};
    use crate::summary::summarize;
    use crate::testing::only;

    const FILE: &str = include_str!(
        "../../tests/fixtures/import/genai-bench/D64_16_text-to-text_num_concurrency_2_time_20s.json"
    );

    fn one(text: &str) -> Submission {
        only(text, "genai-bench")
    }

    fn find<'a>(shard: &'a Submission, metric: &str, statistic: &str) -> &'a StatedEstimate {
        let of = |s: &&StatedEstimate| s.metric == metric && s.statistic.as_deref() == Some(statistic);
        shard.cases[0].stated.iter().find(of).unwrap()
    }

    #[test]
    fn a_real_file_of_several_streams_states_its_statistics() {
        let shard = one(FILE);
        assert_eq!(shard.provenance.evidence, Evidence::Summary);
        let case = &shard.cases[0];
        assert_eq!((case.id.as_str(), case.concurrency, case.runs.len()), ("load_94_16_c2", 2, 0));
        assert_eq!((case.prompt_tokens_target, case.output_tokens_target), (Some(64), Some(16)));
        let ttft = find(&shard, "client_wall_ttft_s", "mean");
        assert_eq!((ttft.value, ttft.n), (Some(3.257_259_131_000_106_7), Some(6)));
        assert!(ttft.note.as_ref().unwrap().contains("population standard deviation 0.859 s"));
        assert_eq!(find(&shard, "client_wall_e2e_s", "p99").value, Some(7.180_827_123_350_196));
        let speed = find(&shard, "client_wall_decode_tok_s", "p50");
        assert_eq!(
            (speed.value, speed.rate_convention.as_deref()),
            (Some(5.330_926_555_648_583), Some("n_minus_first"))
        );
        assert_eq!(
            find(&shard, "client_wall_aggregate_tok_s", "ratio of totals").value,
            Some(4.736_058_328_037_705)
        );
        assert_eq!(find(&shard, "tpot", "mean").unit.as_deref(), Some("s"));
    }

    #[test]
    fn times_in_milliseconds_become_seconds_and_another_unit_is_refused() {
        let ms = one(&FILE.replace("\"_time_unit\": \"s\"", "\"_time_unit\": \"ms\""));
        assert_eq!(find(&ms, "client_wall_ttft_s", "mean").value, Some(3.257_259_131_000_106_7 * 1e-3));
        let tpot = find(&ms, "tpot", "mean");
        assert_eq!((tpot.unit.as_deref(), tpot.value), (Some("ms"), Some(0.222_881_825_166_662_88)));
        let said = read(&FILE.replace("\"_time_unit\": \"s\"", "\"_time_unit\": \"min\""), None).unwrap_err();
        assert!(said.to_string().contains("_time_unit: is not `s` or `ms` but the text `min`"));
        let older = one(&FILE.replace(",\n    \"_time_unit\": \"s\"", ""));
        assert!(older.notes.iter().any(|note| note.contains("does not name its unit")));
    }

    #[test]
    fn requests_of_one_stream_are_runs_and_a_failed_one_stays_failed() {
        let single = FILE.replace("\"num_concurrency\": 2", "\"num_concurrency\": 1").replacen(
            "\"error_code\": null,\n            \"error_message\": null",
            "\"error_code\": 503, \"error_message\": \"overloaded\"",
            1,
        );
        let shard = one(&single);
        assert_eq!(shard.provenance.evidence, Evidence::Raw);
        let case = &shard.cases[0];
        let summary = summarize(case);
        assert_eq!((summary.runs, summary.passed), (Some(6), Some(5)));
        assert_eq!(summary.failures[0].reasons, ["503: overloaded"]);
        assert_eq!(case.runs[0].requests[0].status, Some(503));
        let speed = |run: &crate::submission::Run| {
            crate::metric::find("client_wall_decode_tok_s").and_then(|m| (m.sample)(run)?.figure())
        };
        assert!((speed(&case.runs[1]).unwrap() - 6.261_983_469_052_856).abs() < 1e-9);
        assert_eq!(summary.get("client_wall_gap_s").map(|e| e.value), None);
    }

    #[test]
    fn the_rate_of_errors_is_counted_and_not_taken_from_the_file_where_it_is_always_zero() {
        let failed = FILE
            .replace("\"num_error_requests\": 0", "\"num_error_requests\": 2")
            .replace("\"error_codes_frequency\": {}", "\"error_codes_frequency\": {\"503\": 2}");
        let shard = one(&failed);
        let early = shard.cases[0].ended_early.as_deref().unwrap();
        assert_eq!(early, "2 of 8 requests failed (503): the figures are those of the others");
        let all = FILE
            .replace("\"num_completed_requests\": 6", "\"num_completed_requests\": 0")
            .replace("\"num_error_requests\": 0", "\"num_error_requests\": 6");
        assert_eq!(one(&all).cases[0].stated, []);
    }
}
