//! SGLang's `bench_serving`: JSONL, an object for each benchmark.

use super::build::{self, Latency, Stream};
use super::{Document, Format, Node};
use crate::record::RequestRecord;
use crate::shard::sha256_hex;
use crate::submission::{Case, Evidence, StatedEstimate, Submission};
use crate::system::Setting;
use crate::units::Tokens;
use crate::validate::Problem;
use crate::workload::{Arrival, Regime};

/// See the module.
pub const FORMAT: Format = Format {
    tag: "sglang-bench",
    title: "sglang.bench_serving",
    tried: "its source and documentation of November 2026",
    recognises: |document| {
        document.has(&["backend", "dataset_name", "request_throughput", "total_output_tokens_retokenized"])
    },
    read,
};

const LATENCIES: [Latency; 4] = [
    Latency {
        key: "ttft",
        metric: Some("client_wall_ttft_s"),
        note: "to the first chunk with text, reasoning included",
        per_request: true,
    },
    Latency {
        key: "itl",
        metric: Some("client_wall_gap_s"),
        note: "per chunk; with the native backend a chunk's gap is shared among its tokens",
        per_request: false,
    },
    Latency {
        key: "e2e_latency",
        metric: Some("client_wall_e2e_s"),
        note: "to the last line, with OpenAI's route that of `[DONE]`",
        per_request: true,
    },
    Latency {
        key: "tpot",
        metric: None,
        note: "(latency − TTFT) / (output tokens − 1) of each request, the tail after the last token included",
        per_request: false,
    },
];

const OWN: [(&str, &str, Option<&str>); 6] = [
    ("request_throughput", "req/s", None),
    ("input_throughput", "tok/s", None),
    ("total_throughput", "tok/s", Some("prompt and output tokens together")),
    ("concurrency", "requests", Some("sum of the latencies / duration")),
    ("accept_length", "tok", Some("as the server says it, since it started")),
    ("max_output_tokens_per_s", "chunks/s", Some("the fullest second, counted in chunks and not in tokens")),
];

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let parts: Result<Vec<Submission>, Problem> = document.rows().iter().map(benchmark).collect();
    Ok(build::gather(parts?))
}

fn benchmark(row: &Node<'_>) -> Result<Submission, Problem> {
    let completed = row.need_count("completed")?;
    let concurrency = concurrency(row, completed)?;
    let requests = if concurrency == 1 { requests(row)? } else { None };
    let evidence = if requests.is_some() { Evidence::Raw } else { Evidence::Summary };
    let mut part = build::submission(&FORMAT, None, evidence);
    system(row, &mut part)?;
    if let Some(tag) = row.text("tag")? {
        tag.clone_into(&mut part.label);
    }
    let mut case = case(row, completed, concurrency)?;
    let failed =
        row.list("errors")?.iter().filter(|error| error.as_text().is_some_and(|e| !e.is_empty())).count();
    if failed > 0 {
        case.ended_early = Some(format!("{failed} requests failed: the figures are those of the others"));
    } else if !row.has("errors") {
        part.notes.push("how many requests failed is not told; --output-details says so".into());
    }
    part.notes.push("prompt tokens are the client's count of its data set, not the server's".into());
    match requests {
        Some(requests) => case.runs = build::runs_of(1, requests),
        None => summary(row, &mut part, &mut case, completed)?,
    }
    part.cases.push(case);
    Ok(part)
}

/// The limit; without one, all at once, or as many as an open loop had open.
fn concurrency(row: &Node<'_>, completed: u64) -> Result<u32, Problem> {
    let limit = row.count("max_concurrency")?;
    let is_open = rate(row)?.is_some();
    let seen = row.count("max_concurrent_requests")?;
    let mean = row.number("concurrency")?.filter(|x| *x >= 0.0).map(|x| libm::ceil(x) as u64);
    let streams = limit.or(if is_open { seen.or(mean) } else { None }).unwrap_or(completed);
    Ok(u32::try_from(streams).unwrap_or(u32::MAX).max(1))
}

/// Requests per second; `None` where all are sent at once, or as a trace says.
fn rate(row: &Node<'_>) -> Result<Option<f64>, Problem> {
    match row.get("request_rate") {
        Some(rate) if rate.as_text() != Some("trace") => Ok(rate.as_number()?.filter(|rate| *rate > 0.0)),
        _ => Ok(None),
    }
}

/// The engine: SGLang where its own route was asked or its own state is there; the other names are of routes.
fn system(row: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let backend = row.need_text("backend")?;
    let info = row.get("server_info").filter(|info| !info.members().is_empty());
    if matches!(backend, "sglang" | "sglang-native") || info.is_some() {
        "SGLang".clone_into(&mut part.system.engine.name);
    } else {
        part.notes.push(format!("the client spoke `{backend}`, which does not say which engine answered"));
    }
    let Some(info) = info else {
        part.notes.push("the file does not name the model".into());
        return Ok(());
    };
    part.system.engine.version = info.text("version")?.map(str::to_owned);
    if let Some(path) = info.text("model_path")?.or(info.text("served_model_name")?) {
        build::model_name(path).clone_into(&mut part.system.model.name);
    }
    part.system.model.quantisation = info.text("quantization")?.map(str::to_owned);
    let degree =
        |key| -> Result<Option<u32>, Problem> { Ok(info.count(key)?.and_then(|n| u32::try_from(n).ok())) };
    part.system.topology.tensor_parallel = degree("tp_size")?;
    part.system.topology.pipeline_parallel = degree("pp_size")?;
    part.system.topology.expert_parallel = degree("ep_size")?;
    for (name, key) in [
        ("context_limit_tokens", "context_length"),
        ("kv_capacity_tokens", "max_total_num_tokens"),
        ("max_running_requests", "max_running_requests"),
    ] {
        let value = info.number(key)?.map(Setting::Number);
        build::effective(part, name, value);
    }
    Ok(())
}

fn case(row: &Node<'_>, completed: u64, concurrency: u32) -> Result<Case, Problem> {
    let mean =
        |total: Option<u64>| total.filter(|n| *n > 0 && completed > 0).map(|n| n as f64 / completed as f64);
    let (prompt, output) = (mean(row.count("total_input_tokens")?), mean(row.count("total_output_tokens")?));
    let workload = row.need_text("dataset_name")?;
    let mut case =
        build::case(&build::load_id(prompt, output, concurrency), Regime::Load, workload, concurrency);
    if row.count("max_concurrency")?.is_none() {
        case.arrival = rate(row)?.map(|per_s| Arrival::Poisson { per_s });
    }
    let mut asked = Vec::new();
    for key in
        ["request_rate", "max_concurrency", "random_input_len", "random_output_len", "random_range_ratio"]
    {
        if let Some(value) = row.get(key).and_then(|value| value.setting()) {
            asked.push(format!("{key} {value}"));
        }
    }
    case.description = (!asked.is_empty()).then(|| asked.join(", "));
    Ok(case)
}

/// Every request of a single stream. When it was sent is not told, so that of several streams no batch is made.
fn requests(row: &Node<'_>) -> Result<Option<Vec<RequestRecord>>, Problem> {
    let (Some(ttfts), Some(outputs)) = (row.numbers("ttfts")?, row.numbers("output_lens")?) else {
        return Ok(None);
    };
    let (inputs, cached) = (row.numbers("input_lens")?, row.numbers("cached_tokens")?);
    let (gaps, errors, texts) = (row.list("itls")?, row.list("errors")?, row.list("generated_texts")?);
    let mut requests = Vec::with_capacity(ttfts.len());
    for (i, ttft) in ttfts.iter().enumerate() {
        let error = errors.get(i).and_then(Node::as_text).unwrap_or_default();
        if !error.is_empty() {
            requests.push(build::failed(Some(0.0), error));
            continue;
        }
        let count =
            |list: &[Option<f64>]| list.get(i).copied().flatten().filter(|n| *n >= 0.0).map(|n| n as u64);
        let prompt = inputs.as_deref().and_then(count);
        let gaps = gaps.get(i).map(Node::as_numbers).transpose()?;
        let mut record = build::request(&Stream {
            ttft_s: *ttft,
            gaps_s: gaps.and_then(|gaps| gaps.into_iter().collect()),
            prompt_tokens: prompt,
            output_tokens: count(&outputs),
            ..Stream::default()
        });
        // The server's count of what was cached, against the client's count of the prompt.
        let hit = cached.as_deref().and_then(count);
        record.cached_prompt_tokens = hit.filter(|hit| prompt.is_some_and(|all| *hit <= all)).map(Tokens);
        if let Some(text) = texts.get(i).and_then(Node::as_text) {
            record.output_chars = text.chars().count() as u64;
            record.output_sha256 = Some(sha256_hex(text.as_bytes()));
        }
        requests.push(record);
    }
    Ok((!requests.is_empty()).then_some(requests))
}

fn summary(row: &Node<'_>, part: &mut Submission, case: &mut Case, completed: u64) -> Result<(), Problem> {
    let why = if row.has("ttfts") {
        "the file has every request, but not when it was sent, so that no batch can be made of them"
    } else {
        "the file has no requests"
    };
    part.notes.push(build::lacks("client_wall_decode_tok_s, client_wall_steady_tok_s", why));
    if completed == 0 {
        return Ok(());
    }
    case.stated = build::latencies(row, &LATENCIES, Some(completed))?;
    let rate = build::stated(
        "client_wall_aggregate_tok_s",
        Some("ratio of totals"),
        row.number("output_throughput")?,
    );
    case.stated.extend(rate.map(|figure| StatedEstimate {
        note: Some(
            "over the whole benchmark; tokens that the server did not count are those asked for".into(),
        ),
        ..figure
    }));
    if let Some(cache) = row.get("cache_report") {
        let share = cache.number("cache_hit_rate_pct")?.map(|percent| percent / 100.0);
        case.stated.extend(build::stated("cached_prompt_share", Some("ratio of totals"), share));
    }
    for (key, unit, note) in OWN {
        case.stated.extend(build::own(row, key, unit, note)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::submission::{Evidence, Submission};
    use crate::summary::summarize;
    use crate::testing::only;

    const LINE: &str = r#"{"tag": null, "backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 4, "random_input_len": 64, "random_output_len": 16, "server_info": {"version": "0.5.5", "model_path": "/data/Qwen3-8B", "tp_size": 2}, "duration": 4.0, "completed": 8, "total_input_tokens": 512, "total_output_tokens": 128, "total_output_tokens_retokenized": 127, "request_throughput": 2.0, "output_throughput": 32.0, "mean_e2e_latency_ms": NaN, "mean_ttft_ms": 100.0, "p95_itl_ms": 60.0, "mean_tpot_ms": 55.0, "concurrency": 3.4, "accept_length": null, "cache_report": {"cache_hit_rate_pct": 12.5}}"#;

    fn one(text: &str) -> Submission {
        only(text, "sglang-bench")
    }

    #[test]
    fn a_bare_infinity_is_no_rate_and_a_bare_nan_no_figure() {
        let shard = one(LINE);
        let case = &shard.cases[0];
        assert_eq!((case.id.as_str(), case.concurrency, case.arrival), ("load_64_16_c4", 4, None));
        assert!(!case.stated.iter().any(|s| s.metric == "client_wall_e2e_s"));
        assert_eq!(shard.system.engine.version.as_deref(), Some("0.5.5"));
        assert_eq!(shard.system.model.name, "Qwen3-8B");
        assert_eq!(shard.system.topology.tensor_parallel, Some(2));
    }

    #[test]
    fn a_percentage_of_hits_is_a_share() {
        let summary = summarize(&one(LINE).cases[0]);
        assert_eq!(summary.get("cached_prompt_share").unwrap().value, Some(0.125));
        assert_eq!(summary.get("tpot").unwrap().value, Some(55.0));
        assert_eq!(summary.get("client_wall_gap_s").unwrap().statistic.as_deref(), Some("p95"));
    }

    #[test]
    fn requests_of_one_stream_are_runs_and_of_several_they_are_not() {
        let details =
            r#""errors": ["", "boom"], "ttfts": [0.5, 0.0], "itls": [[0.1, 0.1], []], "output_lens": [3, 0],
            "input_lens": [64, 64], "cached_tokens": [32, 0], "completed": 1"#
                .replace('\n', " ");
        let detailed = LINE.replace("\"completed\": 8", &details);
        let several = one(&detailed);
        assert_eq!(several.provenance.evidence, Evidence::Summary);
        assert!(several.cases[0].ended_early.as_deref().unwrap().starts_with("1 requests failed"));
        let shard = one(&detailed.replace("\"max_concurrency\": 4", "\"max_concurrency\": 1"));
        assert_eq!(shard.provenance.evidence, Evidence::Raw);
        let summary = summarize(&shard.cases[0]);
        assert_eq!((summary.runs, summary.passed), (Some(2), Some(1)));
        assert_eq!(summary.failures[0].reasons, ["boom"]);
        assert_eq!(summary.get("cached_prompt_share").unwrap().value, Some(0.5));
    }

    #[test]
    fn another_route_does_not_name_the_engine() {
        let vllm = LINE.replace("\"sglang\"", "\"vllm\"").replace(
            "\"server_info\": {\"version\": \"0.5.5\", \"model_path\": \"/data/Qwen3-8B\", \"tp_size\": 2}",
            "\"server_info\": null",
        );
        assert_eq!(one(&vllm).system.engine.name, "not stated");
    }
}
