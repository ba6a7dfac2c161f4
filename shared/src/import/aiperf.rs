//! aiperf: the export `profile_export_aiperf.json` (schema 1), and `profile_export.jsonl` with a line for each request.
//!
//! The export has statistics alone, each metric with its unit, which counts. The lines have the times of every request
//! and become raw runs; they name neither the model nor the limit of streams.

mod lines;

use super::build::{self, Told, joined};
use super::{Format, Node};
use crate::format::full;
use crate::submission::{Case, Evidence, StatedEstimate, Submission};
use crate::system::Accelerator;
use crate::validate::Problem;
use crate::workload::{Arrival, Regime, Sampling};

/// See the module.
pub const FORMAT: Format = Format {
    tag: "aiperf",
    title: "aiperf",
    tried: "0.13.0, schema 1.4: the export and its lines",
    recognises: |document| {
        document.has(&["aiperf_version", "schema_version"])
            || document.has(&["input_config", "was_cancelled"])
            || lines::recognised(document)
    },
    read: |document| {
        if lines::recognised(document) {
            lines::read(document)
        } else {
            document.rows().iter().map(export).collect()
        }
    },
};

/// What becomes of a metric.
#[derive(Clone, Copy)]
enum As {
    /// A metric of ours with a distribution.
    Ours(&'static str),
    /// A metric of ours of which there is one value, a ratio of totals.
    Total(&'static str),
    /// The tool's own.
    Own,
}

const BY_TOKENISER: &str = "tokens by the client's tokeniser";

const METRICS: [(&str, As, &str); 20] = [
    (
        "time_to_first_token",
        As::Ours("client_wall_ttft_s"),
        "to the first answer with text, reasoning included",
    ),
    ("request_latency", As::Ours("client_wall_e2e_s"), "to the last answer with text"),
    (
        "output_token_throughput_per_user",
        As::Ours("client_wall_decode_tok_s"),
        "(tokens − 1) / (latency − TTFT) of each request, tokens by the client's tokeniser",
    ),
    ("inter_chunk_latency", As::Ours("client_wall_gap_s"), "n counts the gaps of all requests"),
    ("inter_token_latency", As::Ours("client_wall_token_gap_s"), BY_TOKENISER),
    (
        "output_token_throughput",
        As::Total("client_wall_aggregate_tok_s"),
        "output tokens by the client's tokeniser / benchmark_duration; failed requests give none",
    ),
    ("overall_usage_prompt_cache_read_pct", As::Total("cached_prompt_share"), "by `usage`"),
    ("time_to_second_token", As::Own, "after the first"),
    ("time_to_first_output_token", As::Own, "reasoning not counted"),
    (
        "prefill_throughput_per_user",
        As::Own,
        "prompt tokens by the client's tokeniser / TTFT, cached ones included",
    ),
    ("e2e_output_token_throughput", As::Own, "output tokens / latency"),
    ("total_token_throughput", As::Own, "prompt and output tokens together"),
    ("request_throughput", As::Own, ""),
    ("goodput", As::Own, ""),
    ("input_sequence_length", As::Own, BY_TOKENISER),
    ("output_sequence_length", As::Own, BY_TOKENISER),
    ("effective_concurrency", As::Own, "over time"),
    ("request_count", As::Own, "answered"),
    ("error_request_count", As::Own, "failed"),
    ("request_error_rate", As::Own, ""),
];

fn export(row: &Node<'_>) -> Result<Submission, Problem> {
    let schema = row.need_text("schema_version")?;
    if schema.split('.').next() != Some("1") {
        return Err(Problem {
            path: row.path_to("schema_version"),
            message: format!("is {schema}, and 1.x is what is read"),
            remedy: "Update Dyno, or export with aiperf 0.13".into(),
        });
    }
    let mut part = build::submission(&FORMAT, row.text("aiperf_version")?, Evidence::Summary);
    part.provenance.started_at = row.text("start_time")?.and_then(build::utc_text);
    part.provenance.ended_at = row.text("end_time")?.and_then(build::utc_text);
    if row.flag("was_cancelled")? == Some(true) {
        part.provenance.partial = Some("aiperf was cancelled".into());
    }
    let config = row.get("input_config");
    if let Some(model) = config.as_ref().and_then(model) {
        build::model_name(model).clone_into(&mut part.system.model.name);
    }
    accelerators(row, &mut part);
    let mut case = case(row, config.as_ref())?;
    for (key, of, note) in METRICS {
        if let Some(metric) = row.get(key) {
            case.stated.extend(figures(&metric, key, of, note)?);
        }
    }
    case.ended_early = failures(row)?;
    part.cases.push(case);
    part.notes.push(build::lacks(
        "client_wall_prefill_tok_s, client_wall_steady_tok_s",
        "the export has no requests; `profile_export.jsonl` beside it has them",
    ));
    part.notes.push(build::lacks("engine_… figures", "the export has none of them"));
    part.notes.push(
        "percentiles `adj_…`, in which a failed request counts as infinitely slow, are left out".into(),
    );
    Ok(part)
}

fn figures(metric: &Node<'_>, key: &str, of: As, note: &str) -> Result<Vec<StatedEstimate>, Problem> {
    let unit = metric.need_text("unit")?;
    let (name, ours) = match of {
        As::Ours(tag) | As::Total(tag) => (tag, true),
        As::Own => (key, false),
    };
    let (scale, into) = if ours { scale(unit, name).ok_or_else(|| foreign(metric))? } else { (1.0, unit) };
    let told = Told { metric: name, unit: into, is_ours: ours, scale, note };
    let n = metric.count("count")?;
    let mean = told.mean(metric, "avg", ("std", "sample"), n)?;
    // Of how long prompts and answers were the mean and the range are enough.
    let single = matches!(of, As::Total(_)) || n.is_none() || key.ends_with("_length");
    let mut figures: Vec<StatedEstimate> = mean
        .map(|mean| match of {
            As::Total(_) => StatedEstimate { statistic: Some("ratio of totals".into()), ..mean },
            // One number is no mean of anything.
            As::Own if single && mean.max.is_none() => StatedEstimate { statistic: None, ..mean },
            _ => mean,
        })
        .into_iter()
        .collect();
    if !single {
        figures
            .extend(told.others(metric, &[("p50", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99")])?);
    }
    Ok(figures)
}

/// What makes this unit that of a metric of ours, and its symbol.
fn scale(unit: &str, tag: &str) -> Option<(f64, &'static str)> {
    if tag.ends_with("_tok_s") {
        return unit.starts_with("tokens/sec").then_some((1.0, "tok/s"));
    }
    if tag.ends_with("_share") {
        return match unit {
            "%" => Some((0.01, "")),
            "ratio" => Some((1.0, "")),
            _ => None,
        };
    }
    let seconds = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" => 1.0,
        _ => return None,
    };
    Some((seconds, "s"))
}

fn foreign(metric: &Node<'_>) -> Problem {
    let unit = metric.get("unit");
    unit.map_or_else(|| metric.missing("unit"), |unit| unit.wrong("a unit that fits the metric"))
}

fn model<'v>(config: &Node<'v>) -> Option<&'v str> {
    let named = |list: Option<Node<'v>>| list.and_then(|list| list.items().first().cloned());
    named(config.at(&["models", "items"]))
        .and_then(|model| model.get("name"))
        .or_else(|| named(config.at(&["endpoint", "model_names"])))
        .and_then(|name| name.as_text())
}

/// The kinds of accelerator that the tool saw, whether the engine used them or not.
fn accelerators(row: &Node<'_>, part: &mut Submission) {
    let mut found: Vec<Accelerator> = Vec::new();
    let endpoints = row.at(&["telemetry_data", "endpoints"]).map(|of| of.members()).unwrap_or_default();
    for (_, endpoint) in endpoints {
        for (_, gpu) in endpoint.get("gpus").map(|of| of.members()).unwrap_or_default() {
            let Ok(Some(name)) = gpu.text("gpu_name") else { continue };
            match found.iter_mut().find(|known| known.name == name) {
                Some(known) => known.count = known.count.map(|n| n + 1),
                None => {
                    found.push(Accelerator { name: name.into(), count: Some(1), ..Accelerator::default() });
                }
            }
        }
    }
    if let [one] = found.as_slice() {
        part.system.hardware.name.clone_from(&one.name);
    }
    if !found.is_empty() {
        part.system.hardware.accelerators = Some(found);
        part.notes.push("accelerators: those that aiperf saw, whether the engine used them or not".into());
    }
}

fn case(row: &Node<'_>, config: Option<&Node<'_>>) -> Result<Case, Problem> {
    let mean = |key: &str| -> Result<Option<f64>, Problem> {
        row.get(key).map(|metric| metric.number("avg")).transpose().map(Option::flatten)
    };
    let phases = config.map(|config| config.list("phases")).transpose()?.unwrap_or_default();
    let phase = phases.into_iter().find(|phase| {
        phase
            .get("kind")
            .or_else(|| phase.get("name"))
            .is_some_and(|kind| kind.as_text() == Some("profiling"))
    });
    let load = phase.or_else(|| config?.get("loadgen"));
    let (mut streams, mut rate, mut kind) = (None, None, None);
    if let Some(load) = &load {
        streams = load.count("concurrency")?;
        rate = load.number("rate")?.or(load.number("request_rate")?).filter(|rate| *rate > 0.0);
        kind = load.text("type")?.or(load.text("request_rate_mode")?);
    }
    let open = mean("effective_concurrency")?.filter(|n| *n > 0.0).map(|n| libm::ceil(n) as u64);
    let answered = mean("request_count")?.map(|n| n as u64);
    let streams = streams.or(open).or(answered).unwrap_or(1);
    let streams = u32::try_from(streams).unwrap_or(u32::MAX).max(1);
    let id = build::load_id(mean("input_sequence_length")?, mean("output_sequence_length")?, streams);
    let mut case = build::case(&id, Regime::Load, build::NOT_STATED, streams);
    case.arrival = match kind {
        Some("constant") => rate.map(|per_s| Arrival::Constant { per_s }),
        Some("poisson") => rate.map(|per_s| Arrival::Poisson { per_s }),
        _ => None,
    };
    let asked = rate.map(|rate| format!("{} requests per second", full(rate)));
    case.description = joined(&[kind, asked.as_deref()]);
    if let Some(config) = config {
        lengths(config, &mut case)?;
        if let Some(extra) = config.at(&["endpoint", "extra"]) {
            case.sampling = Sampling {
                temperature: extra.number("temperature")?,
                top_p: extra.number("top_p")?,
                seed: extra.count("seed")?,
                ignore_eos: extra.flag("ignore_eos")?,
                ..Sampling::default()
            };
        }
    }
    Ok(case)
}

/// Lengths that were asked for, where they do not vary.
fn lengths(config: &Node<'_>, case: &mut Case) -> Result<(), Problem> {
    let sets = config.list("datasets")?;
    let [set] = sets.as_slice() else { return Ok(()) };
    let aim = |key: &str| -> Result<Option<u64>, Problem> {
        let Some(of) = set.at(&["prompts", key]) else { return Ok(None) };
        let fixed = of.number("stddev")?.is_none_or(|deviation| deviation == 0.0);
        Ok(of.number("mean")?.filter(|mean| fixed && *mean > 0.0).map(|mean| mean as u64))
    };
    case.prompt_tokens_target = aim("isl")?;
    case.output_tokens_target = aim("osl")?;
    Ok(())
}

fn failures(row: &Node<'_>) -> Result<Option<String>, Problem> {
    let count = |key: &str| -> Result<u64, Problem> {
        Ok(row.get(key).map(|metric| metric.number("avg")).transpose()?.flatten().map_or(0, |n| n as u64))
    };
    let (answered, failed) = (count("request_count")?, count("error_request_count")?);
    if failed == 0 {
        return Ok(None);
    }
    let mut reasons = Vec::new();
    for kind in row.list("error_summary")? {
        if let Some(name) = kind.at(&["error_details", "type"]).and_then(|name| name.as_text()) {
            reasons.push(name);
        }
    }
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let figures = if answered > 0 { ": the figures are those of the others" } else { "" };
    Ok(Some(format!("{failed} of {} requests failed{reasons}{figures}", answered + failed)))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, StatedEstimate, Submission};
    use crate::summary::summarize;
    use crate::testing::only;

    const EXPORT: &str = include_str!("../../tests/fixtures/import/aiperf/profile_export_aiperf.json");
    const LINES: &str = include_str!("../../tests/fixtures/import/aiperf/profile_export.jsonl");

    fn one(text: &str) -> Submission {
        only(text, "aiperf")
    }

    fn find<'a>(shard: &'a Submission, metric: &str, statistic: Option<&str>) -> &'a StatedEstimate {
        let of = |s: &&StatedEstimate| s.metric == metric && s.statistic.as_deref() == statistic;
        shard.cases[0].stated.iter().find(of).unwrap()
    }

    #[test]
    fn a_real_export_keeps_its_statistics_in_our_units() {
        let shard = one(EXPORT);
        assert_eq!(shard.provenance.evidence, Evidence::Summary);
        assert_eq!(shard.provenance.started_at.as_deref(), Some("2026-11-30T16:31:34Z"));
        assert_eq!(shard.system.model.name, "smollm2");
        let case = &shard.cases[0];
        assert_eq!((case.id.as_str(), case.concurrency), ("load_64_16_c2", 2));
        assert_eq!((case.prompt_tokens_target, case.output_tokens_target), (Some(64), Some(16)));
        let ttft = find(&shard, "client_wall_ttft_s", Some("mean"));
        assert_eq!((ttft.value, ttft.n), (Some(4.986_727_85), Some(5)));
        assert!(ttft.note.as_ref().unwrap().contains("sample standard deviation 1.91 s"));
        assert_eq!(find(&shard, "client_wall_e2e_s", Some("p50")).value, Some(11.254_901_918));
        assert_eq!(find(&shard, "client_wall_decode_tok_s", Some("mean")).value, Some(8.062_661_218_269_703));
        assert_eq!(find(&shard, "client_wall_gap_s", Some("mean")).n, Some(75));
        assert_eq!(
            find(&shard, "client_wall_aggregate_tok_s", Some("ratio of totals")).value,
            Some(1.412_720_893_487_444_7)
        );
        let own = find(&shard, "request_throughput", None);
        assert_eq!((own.value, own.unit.as_deref()), (Some(0.088_295_055_842_965_29), Some("requests/sec")));
    }

    #[test]
    fn a_percentage_becomes_the_share_that_it_is() {
        let share = find(&one(EXPORT), "cached_prompt_share", Some("ratio of totals")).value.unwrap();
        assert!((share - 120.0 / 470.0).abs() < 1e-12, "{share}");
        let fraction = EXPORT.replace("25.53191489361702", "0.25").replacen(
            "\"overall_usage_prompt_cache_read_pct\": {\n  \"unit\": \"%\"",
            "\"overall_usage_prompt_cache_read_pct\": {\n  \"unit\": \"ratio\"",
            1,
        );
        assert_eq!(find(&one(&fraction), "cached_prompt_share", Some("ratio of totals")).value, Some(0.25));
    }

    #[test]
    fn the_unit_counts_and_one_that_does_not_fit_is_named() {
        let ttft = "\"time_to_first_token\": {\n  \"unit\": \"ms\"";
        assert!(EXPORT.contains(ttft));
        let seconds = one(&EXPORT.replace(ttft, &ttft.replace("ms", "sec")));
        assert_eq!(find(&seconds, "client_wall_ttft_s", Some("mean")).value, Some(4_986.727_85));
        let said = read(&EXPORT.replace(ttft, &ttft.replace("ms", "tokens")), None).unwrap_err().to_string();
        assert!(
            said.contains(
                "time_to_first_token.unit: is not a unit that fits the metric but the text `tokens`"
            ),
            "{said}"
        );
    }

    #[test]
    fn failures_are_told_and_all_failed_leaves_no_figure() {
        let early = one(EXPORT).cases[0].ended_early.clone().unwrap();
        assert_eq!(
            early,
            "1 of 6 requests failed (ServerDisconnectedError): the figures are those of the others"
        );
        let none = r#"{"schema_version": "1.4", "aiperf_version": "0.13.0", "was_cancelled": true,
            "error_request_count": {"unit": "requests", "avg": 6.0}}"#;
        let shard = one(none);
        assert_eq!(shard.cases[0].ended_early.as_deref(), Some("6 of 6 requests failed"));
        assert_eq!(
            shard.cases[0].stated.iter().map(|s| s.metric.as_str()).collect::<Vec<_>>(),
            ["error_request_count"]
        );
        assert!(shard.provenance.partial.is_some());
    }

    #[test]
    fn the_lines_beside_the_export_are_raw_and_the_failed_request_stays_failed() {
        let shard = one(LINES);
        assert_eq!(shard.provenance.evidence, Evidence::Raw);
        let case = &shard.cases[0];
        assert_eq!((case.id.as_str(), case.concurrency), ("load_94_16_c2", 2));
        assert_eq!(
            case.runs.iter().map(|run| (run.requests.len(), run.passed())).collect::<Vec<_>>(),
            [(5, true), (1, false)]
        );
        assert!(case.runs[1].requests[0].error.as_ref().unwrap().message.contains("Server disconnected"));
        assert!(case.ended_early.as_deref().unwrap().starts_with("1 of 6 requests failed: "));
        let summary = summarize(case);
        let figure = |tag: &str| summary.get(tag).and_then(|estimate| estimate.value).unwrap();
        for (tag, expected) in [
            ("client_wall_ttft_s", 4.986_727_85),
            ("client_wall_gap_s", 1.140_506_520_186_666_6),
            ("client_wall_e2e_s", 22.094_325_652_8),
            ("cached_prompt_share", 24.0 / 94.0),
        ] {
            assert!((figure(tag) - expected).abs() < 2e-6 * expected, "{tag}: {}", figure(tag));
        }
    }

    #[test]
    fn a_newer_schema_and_a_key_that_lacks_are_named() {
        let said = |text: &str| read(text, None).unwrap_err().to_string();
        assert!(said(&EXPORT.replace("\"1.4\"", "\"2.0\"")).contains("schema_version: is 2.0"));
        assert!(
            said(r#"{"input_config": {}, "was_cancelled": false}"#).contains("schema_version: is missing")
        );
    }
}
