//! `vllm bench serve` and its Rust twin `vllm-bench`: one object, a line of it for each benchmark, or the list that a
//! sweep sums up in.

use super::build::{self, Latency, Stream};
use super::{Document, Format, Node};
use crate::format::full;
use crate::record::RequestRecord;
use crate::shard::sha256_hex;
use crate::submission::{Case, EngineCounters, Evidence, StatedEstimate, Submission};
use crate::system::Setting;
use crate::validate::Problem;
use crate::workload::{Arrival, Regime};

/// See the module.
pub const FORMAT: Format = Format {
    tag: "vllm-bench",
    title: "vllm bench serve",
    tried: "a file of November 2026 with --save-detailed; the Rust client and older keys from their sources",
    recognises: |document| {
        document.has(&["model_id", "num_prompts", "total_output_tokens", "request_throughput"])
            || document.only().is_some_and(|whole| is_multi_turn(&whole))
    },
    read,
};

const CHUNKS: &str = "an event is a chunk with `choices`, those with the role or the finish reason included";

const LATENCIES: [Latency; 6] = [
    Latency {
        key: "ttft",
        metric: Some("client_wall_ttft_s"),
        note: "to the first chunk with `choices`, one with the role alone included",
        per_request: true,
    },
    Latency { key: "itl", metric: Some("client_wall_gap_s"), note: CHUNKS, per_request: false },
    Latency {
        key: "e2el",
        metric: Some("client_wall_e2e_s"),
        note: "to the last chunk with `choices`",
        per_request: true,
    },
    Latency {
        key: "tpot",
        metric: None,
        note: "(latency − TTFT) / (output tokens − 1) of each request; answers of one token are left out",
        per_request: false,
    },
    Latency {
        key: "client_queue_time",
        metric: None,
        note: "waiting for a free slot of the client",
        per_request: true,
    },
    Latency { key: "e2el_including_client_queue", metric: None, note: "", per_request: true },
];

/// Figures that keep their name, with their unit and what a reader must know.
const OWN: [(&str, &str, Option<&str>); 6] = [
    ("request_throughput", "req/s", None),
    ("request_goodput", "req/s", None),
    ("input_throughput", "tok/s", None),
    ("total_token_throughput", "tok/s", Some("prompt and output tokens together")),
    ("max_output_tokens_per_s", "chunks/s", Some("the fullest second, counted in chunks and not in tokens")),
    ("spec_decode_acceptance_rate", "%", None),
];

fn is_multi_turn(whole: &Node<'_>) -> bool {
    whole.get("mode").is_some_and(|mode| mode.as_text() == Some("multi_turn"))
        && whole.has("per_turn_metrics")
}

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let mut parts = Vec::new();
    for row in document.rows() {
        if is_multi_turn(&row) {
            return Err(Problem {
                path: row.path_to("mode"),
                message: "is `multi_turn`, a file of another shape that is not read".into(),
                remedy: "Import a file of single-turn requests".into(),
            });
        }
        parts.push(benchmark(&row)?);
    }
    Ok(build::gather(parts))
}

/// One benchmark.
fn benchmark(row: &Node<'_>) -> Result<Submission, Problem> {
    let load = Load::of(row)?;
    let requests = requests(row, &load)?;
    let evidence = if requests.is_some() { Evidence::Raw } else { Evidence::Summary };
    let mut part = build::submission(&FORMAT, None, evidence);
    build::model_name(row.need_text("model_id")?).clone_into(&mut part.system.model.name);
    part.provenance.started_at = row.text("date")?.and_then(build::day);
    if let Some(label) = row.text("label")? {
        label.clone_into(&mut part.label);
    }
    settings(row, &mut part)?;
    part.notes = notes(row)?;
    let mut case = load.case(row)?;
    match requests {
        Some(requests) => raw(row, &mut part, &mut case, &load, requests)?,
        None => summary(row, &mut part, &mut case, &load)?,
    }
    part.cases.push(case);
    Ok(part)
}

/// What was asked of the engine.
struct Load {
    prompts: u64,
    completed: u64,
    failed: u64,
    concurrency: u32,
    arrival: Option<Arrival>,
}

impl Load {
    fn of(row: &Node<'_>) -> Result<Self, Problem> {
        let prompts = row.need_count("num_prompts")?;
        let completed = row.need_count("completed")?;
        // Files from before there was `failed` know only what was completed.
        let failed = row.count("failed")?.unwrap_or_else(|| prompts.saturating_sub(completed));
        let limit = row.count("max_concurrency")?;
        let rate = row.number("request_rate")?.filter(|rate| *rate > 0.0);
        let seen = row.count("max_concurrent_requests")?;
        let concurrency = match (limit, rate) {
            (Some(limit), _) => limit.min(prompts),
            (None, None) => prompts,
            (None, Some(_)) => seen.unwrap_or(prompts),
        };
        let is_poisson = row.number("burstiness")?.is_none_or(|shape| shape == 1.0);
        let arrival = rate.filter(|_| limit.is_none() && is_poisson).map(|per_s| Arrival::Poisson { per_s });
        let concurrency = u32::try_from(concurrency).unwrap_or(u32::MAX);
        Ok(Self { prompts, completed, failed, concurrency, arrival })
    }

    fn case(&self, row: &Node<'_>) -> Result<Case, Problem> {
        let mean = |total: Option<u64>| {
            total.filter(|_| self.completed > 0).map(|n| n as f64 / self.completed as f64)
        };
        let prompt = mean(row.count("total_input_tokens")?);
        let output = mean(row.count("total_output_tokens")?);
        let id = build::load_id(prompt, output, self.concurrency);
        let mut case = build::case(&id, Regime::Load, build::NOT_STATED, self.concurrency);
        case.arrival = self.arrival;
        let mut asked = vec![format!("{} prompts", self.prompts)];
        for key in ["request_rate", "burstiness", "max_concurrency", "ramp_up_strategy"] {
            if let Some(value) = row.get(key).and_then(|value| value.setting()) {
                asked.push(format!("{key} {value}"));
            }
        }
        case.description = Some(asked.join(", "));
        if self.failed > 0 {
            let figures = if self.completed > 0 { ": the figures are those of the others" } else { "" };
            case.ended_early = Some(format!("{} of {} requests failed{figures}", self.failed, self.prompts));
        }
        Ok(case)
    }
}

/// Words that the user gave with `--metadata`, and flags that a sweep changed.
fn settings(row: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    const KNOWN: [&str; 10] = [
        "date",
        "endpoint_type",
        "backend",
        "label",
        "model_id",
        "tokenizer_id",
        "request_rate",
        "ramp_up_strategy",
        "goodput",
        "mode",
    ];
    for (key, value) in row.members() {
        if value.as_text().is_some() && !KNOWN.contains(&key) {
            build::requested(part, key, value.setting());
        }
    }
    build::effective(part, "context_limit_tokens", row.number("max_model_len")?.map(Setting::Number));
    Ok(())
}

fn notes(row: &Node<'_>) -> Result<Vec<String>, Problem> {
    let mut notes = Vec::new();
    if let Some(backend) = row.text("backend")?.or(row.text("endpoint_type")?) {
        notes.push(format!("the client spoke `{backend}`, which does not say which engine answered"));
    }
    notes.push("request 0 is also the one that warms up and probes: the prefix cache may answer it".into());
    notes.push(build::lacks("cached_prompt_share, engine_… figures", "the client does not ask the engine"));
    Ok(notes)
}

/// Every request, where the file has them and says when each was sent.
fn requests(row: &Node<'_>, load: &Load) -> Result<Option<Vec<RequestRecord>>, Problem> {
    let lists = ["ttfts", "output_lens", "input_lens", "itls"];
    if !lists.iter().all(|key| row.get(key).is_some_and(|list| list.is_list())) {
        return Ok(None);
    }
    let starts = row.numbers("start_times")?;
    if starts.is_none() && load.concurrency > 1 {
        return Ok(None);
    }
    let ttfts = column(row, "ttfts")?;
    let (inputs, outputs) = (column(row, "input_lens")?, column(row, "output_lens")?);
    let latencies = row.numbers("latencies")?.unwrap_or_default();
    let (gaps, errors, texts) = (row.list("itls")?, row.list("errors")?, row.list("generated_texts")?);
    let mut requests = Vec::with_capacity(ttfts.len());
    for (i, ttft) in ttfts.iter().enumerate() {
        let at = |list: &[Option<f64>]| list.get(i).copied().flatten();
        let sent = starts.as_deref().map_or(Some(0.0), at);
        let error = errors.get(i).and_then(Node::as_text).unwrap_or_default();
        let tokens = at(&outputs).filter(|n| *n >= 0.0).map(|n| n as u64);
        // A failed row keeps zeros. Without errors, an answer of no tokens at no time is one.
        let is_failed =
            !error.is_empty() || (errors.is_empty() && tokens == Some(0) && ttft.is_none_or(|t| t == 0.0));
        if is_failed {
            requests.push(build::failed(sent, error));
            continue;
        }
        let gaps = gaps.get(i).map(Node::as_numbers).transpose()?;
        let mut record = build::request(&Stream {
            sent_s: sent.ok_or_else(|| row.missing(&format!("start_times[{i}]")))?,
            ttft_s: *ttft,
            gaps_s: gaps.and_then(|gaps| gaps.into_iter().collect()),
            latency_s: at(&latencies),
            prompt_tokens: at(&inputs).filter(|n| *n >= 0.0).map(|n| n as u64),
            output_tokens: tokens,
            source: None,
        });
        if let Some(text) = texts.get(i).and_then(Node::as_text) {
            record.output_chars = text.chars().count() as u64;
            record.output_sha256 = Some(sha256_hex(text.as_bytes()));
        }
        requests.push(record);
    }
    if requests.len() as u64 == load.completed {
        // The Rust client keeps those that failed in a list of their own.
        for failed in row.list("failed_requests")? {
            requests.push(build::failed(None, failed.text("error")?.unwrap_or_default()));
        }
    }
    if requests.len() as u64 != load.prompts {
        return Err(Problem {
            path: row.path_to("ttfts"),
            message: format!("has {} elements for {} prompts", requests.len(), load.prompts),
            remedy: "Import the file as the tool wrote it, whole".into(),
        });
    }
    Ok(Some(requests))
}

/// A list with a number for each request.
fn column(row: &Node<'_>, key: &str) -> Result<Vec<Option<f64>>, Problem> {
    row.numbers(key)?.ok_or_else(|| row.missing(key))
}

fn raw(
    row: &Node<'_>,
    part: &mut Submission,
    case: &mut Case,
    load: &Load,
    requests: Vec<RequestRecord>,
) -> Result<(), Problem> {
    part.notes.push(format!("time to first token: to the first chunk with `choices`; {CHUNKS}"));
    part.notes.push(
        "output tokens: from `usage`, or counted by the client's tokeniser; the file does not say which"
            .into(),
    );
    case.runs = build::runs_of(load.concurrency, requests);
    if load.failed > 0 && load.concurrency > 1 && load.completed > 0 {
        part.notes.push("requests that failed stand in a run of their own, which fails".into());
    }
    if row.get("steady_state").is_some() {
        part.notes.push(
            "the tool's steady-state figures are left out: every figure is computed from the requests".into(),
        );
    }
    if let Some(counters) = speculation(row)? {
        match case.runs.as_mut_slice() {
            [one] => one.counters = Some(counters),
            _ => part.notes.push(build::lacks("tokens_per_step", "its counters are not those of one run")),
        }
    }
    Ok(())
}

fn speculation(row: &Node<'_>) -> Result<Option<EngineCounters>, Problem> {
    let Some(steps) = row.number("spec_decode_num_drafts")? else { return Ok(None) };
    Ok(Some(EngineCounters {
        source: "/metrics".into(),
        verify_steps: Some(steps),
        draft_tokens: row.number("spec_decode_draft_tokens")?,
        accepted_tokens: row.number("spec_decode_accepted_tokens")?,
        ..EngineCounters::default()
    }))
}

fn summary(row: &Node<'_>, part: &mut Submission, case: &mut Case, load: &Load) -> Result<(), Problem> {
    let why = if row.has("ttfts") {
        "the file does not say when each request was sent"
    } else {
        "the file has no requests; --save-detailed keeps them"
    };
    part.notes.push(build::lacks("client_wall_decode_tok_s, client_wall_steady_tok_s", why));
    if load.completed == 0 {
        // The tool writes zeros where nothing was answered.
        return Ok(());
    }
    case.stated = build::latencies(row, &LATENCIES, Some(load.completed))?;
    let rate = build::stated(
        "client_wall_aggregate_tok_s",
        Some("ratio of totals"),
        row.number("output_throughput")?,
    );
    case.stated.extend(rate.map(|figure| StatedEstimate {
        note: Some("over the whole benchmark, from before the first request to after the last".into()),
        ..figure
    }));
    let steps = row.number("spec_decode_acceptance_length")?;
    case.stated.extend(build::stated("tokens_per_step", Some("ratio of totals"), steps));
    for (key, unit, note) in OWN {
        case.stated.extend(build::own(row, key, unit, note)?);
    }
    if let Some(steady) = row.get("steady_state") {
        case.stated.extend(steady_state(&steady)?);
    }
    Ok(())
}

/// The Rust client's figures of the time in which enough streams were open. They keep its name for them.
fn steady_state(steady: &Node<'_>) -> Result<Vec<StatedEstimate>, Problem> {
    let window = steady.need("window")?;
    let (from, to) = (window.number("start_s")?, window.number("end_s")?);
    let bounds = from.zip(to).map(|(from, to)| format!("from {} s to {} s", full(from), full(to)));
    let note = build::joined(&[bounds.as_deref(), window.text("warning")?]);
    let mut figures = Vec::new();
    for (key, unit) in [("output_throughput", "tok/s"), ("request_throughput", "req/s")] {
        figures.extend(build::own(steady, key, unit, note.as_deref())?);
    }
    let mut latencies = build::latencies(steady, &LATENCIES, None)?;
    for figure in &mut latencies {
        // Of a part of the requests: not the figure of the benchmark.
        figure.unit = Some(if figure.metric == "tpot" { "ms" } else { "s" }.into());
        figure.note.clone_from(&note);
    }
    figures.extend(latencies);
    for figure in &mut figures {
        figure.metric = format!("steady_state_{}", figure.metric.trim_start_matches("client_wall_"));
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, Submission};
    use crate::summary::summarize;
    use crate::testing::only;
    use crate::workload::Arrival;

    const SUMMARY: &str = r#"{"date": "20261130-163723", "backend": "vllm", "label": null, "model_id": "m",
        "tokenizer_id": "m", "num_prompts": 6, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 2,
        "duration": 5.5, "completed": 4, "failed": 2, "total_input_tokens": 376, "total_output_tokens": 64,
        "request_throughput": 0.72, "request_goodput:": null, "output_throughput": 11.6,
        "max_output_tokens_per_s": 34.0, "mean_ttft_ms": 1455.7, "std_ttft_ms": 553.9, "p99.9_ttft_ms": 2240.0,
        "mean_tpot_ms": 85.8, "p99_tpot_ms": 119.4}"#;

    fn one(text: &str) -> Submission {
        only(text, "vllm-bench")
    }

    #[test]
    fn statistics_keep_their_names_and_a_tpot_is_no_metric_of_ours() {
        let shard = one(SUMMARY);
        assert_eq!(shard.provenance.evidence, Evidence::Summary);
        let stated: Vec<(&str, Option<&str>, Option<f64>)> = shard.cases[0]
            .stated
            .iter()
            .map(|s| (s.metric.as_str(), s.statistic.as_deref(), s.value))
            .collect();
        assert_eq!(
            stated,
            [
                ("client_wall_ttft_s", Some("mean"), Some(1.4557)),
                ("client_wall_ttft_s", Some("p99.9"), Some(2.24)),
                ("tpot", Some("mean"), Some(85.8)),
                ("tpot", Some("p99"), Some(119.4)),
                ("client_wall_aggregate_tok_s", Some("ratio of totals"), Some(11.6)),
                ("request_throughput", None, Some(0.72)),
                ("max_output_tokens_per_s", None, Some(34.0)),
            ]
        );
        assert!(shard.cases[0].stated[0].note.as_ref().unwrap().contains("standard deviation 0.554 s"));
        assert_eq!(
            shard.cases[0].ended_early.as_deref().unwrap().split(':').next(),
            Some("2 of 6 requests failed")
        );
    }

    #[test]
    fn zeros_of_a_benchmark_in_which_all_failed_are_no_figures() {
        let shard = one(&SUMMARY.replace("\"completed\": 4", "\"completed\": 0"));
        assert_eq!(shard.cases[0].stated, []);
        assert!(shard.cases[0].ended_early.is_some());
    }

    #[test]
    fn a_rate_of_requests_is_an_open_loop_and_infinity_in_any_spelling_is_none() {
        let open =
            SUMMARY.replace("\"inf\"", "2.5").replace("\"max_concurrency\": 2", "\"max_concurrency\": null");
        assert_eq!(one(&open).cases[0].arrival, Some(Arrival::Poisson { per_s: 2.5 }));
        for infinite in ["\"inf\"", "Infinity"] {
            let shard = one(&SUMMARY.replace("\"inf\"", infinite));
            assert_eq!((shard.cases[0].arrival, shard.cases[0].concurrency), (None, 2));
        }
    }

    #[test]
    fn lines_of_one_configuration_are_one_submission() {
        let line = SUMMARY.replace('\n', " ");
        let more = line.replace("\"max_concurrency\": 2", "\"max_concurrency\": 4");
        let shard = one(&[line.as_str(), &more, &line].join("\n"));
        let ids: Vec<&str> = shard.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["load_94_16_c2", "load_94_16_c4", "load_94_16_c2_2"]);
    }

    #[test]
    fn requests_without_the_time_when_they_were_sent_make_no_batch() {
        let lists = r#""ttfts": [1.0, 1.0], "itls": [[0.1], [0.1]], "input_lens": [9, 9], "output_lens": [2, 2],
            "num_prompts": 2, "completed": 2, "failed": 0"#;
        let detailed =
            SUMMARY.replace("\"num_prompts\": 6", lists).replace("\"completed\": 4, \"failed\": 2,", "");
        assert_eq!(one(&detailed).provenance.evidence, Evidence::Summary);
        let single = one(&detailed.replace("\"max_concurrency\": 2", "\"max_concurrency\": 1"));
        assert_eq!((single.provenance.evidence, single.cases[0].runs.len()), (Evidence::Raw, 2));
        let rate = summarize(&single.cases[0]).get("client_wall_decode_tok_s").unwrap().value.unwrap();
        assert!((rate - 10.0).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn requests_that_stand_in_a_list_of_failures_fail() {
        let lists = r#""ttfts": [1.0], "itls": [[0.1]], "input_lens": [9], "output_lens": [2], "start_times": [7.0],
            "failed_requests": [{"error": "refused"}], "num_prompts": 2, "completed": 1, "failed": 1"#;
        let detailed =
            SUMMARY.replace("\"num_prompts\": 6", lists).replace("\"completed\": 4, \"failed\": 2,", "");
        let shard = one(&detailed);
        let passed: Vec<bool> = shard.cases[0].runs.iter().map(crate::submission::Run::passed).collect();
        assert_eq!(passed, [true, false]);
        let error = read(&detailed.replace("\"num_prompts\": 2", "\"num_prompts\": 999999999999999"), None);
        assert!(error.unwrap_err().to_string().contains("ttfts: has 2 elements for 999999999999999 prompts"));
    }

    #[test]
    fn the_rust_clients_steady_state_keeps_its_own_name() {
        let steady = r#""steady_state": {"window": {"start_s": 1.0, "end_s": 4.0, "warning": "short"},
            "output_throughput": 12.5, "request_throughput": 0.8, "mean_ttft_ms": 900.0,
            "percentiles_ttft_ms": [[99.0, 950.0]], "mean_tpot_ms": 50.0}, "duration""#;
        let shard = one(&SUMMARY.replace("\"duration\"", steady));
        let find = |name: &str| shard.cases[0].stated.iter().find(|s| s.metric == name).unwrap();
        assert_eq!(find("steady_state_output_throughput").value, Some(12.5));
        assert_eq!(find("steady_state_ttft_s").value, Some(0.9));
        assert_eq!(find("steady_state_tpot").note.as_deref(), Some("from 1 s to 4 s; short"));
    }

    #[test]
    fn another_shape_or_a_key_that_lacks_is_named() {
        let said = |text: &str| read(text, None).unwrap_err().to_string();
        assert!(said(r#"{"mode": "multi_turn", "per_turn_metrics": []}"#).contains("another shape"));
        assert!(
            said(&SUMMARY.replace("\"completed\": 4,", ""))
                .contains("vllm bench serve: completed: is missing")
        );
        assert!(said(&SUMMARY.replace("11.6", "\"fast\"")).contains("output_throughput: is not a number"));
    }
}
