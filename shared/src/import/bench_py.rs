//! `bench.py`, the decode benchmark for speculative decoding that Dyno's method follows.
//!
//! The layout of its result file is not published. This reads what its description names, tolerantly:
//!
//! ```json
//! {"label": "mysetup", "series": "s1", "model": "glm53", "workloads": {
//!     "code": {"runs": [{"run": 1, "tokens": 512, "ttft": 0.31, "decode_s": 4.4, "tokens_per_step": 2.9}]},
//!     "mixed4": {"runs": [{"run": 1, "tokens": 2048, "decode_s": 14.2}]}}}
//! ```
//!
//! `workloads` may be a list of objects with a `name`, and a workload the list of its runs itself. A run of `mixed…` is a
//! batch: with `streams` it is raw, with totals alone the case states their ratio, in a submission of its own, because
//! nothing tells one stream from another. The tool's rate divides all tokens by the span: the runs keep
//! `rate_convention: n`.

use super::build;
use super::{Document, Format, Node};
use crate::record::RequestRecord;
use crate::submission::{Case, Check, EngineCounters, Evidence, Run, StatedEstimate, Submission};
use crate::units::{Seconds, Tokens};
use crate::validate::Problem;
use crate::workload::{Regime, Sampling};

/// See the module.
pub const FORMAT: Format = Format {
    tag: "bench.py",
    title: "bench.py",
    tried: "its description; the layout of its files is not published",
    recognises: |document| {
        document.only().is_some_and(|whole| {
            whole.has("label")
                && whole.has("series")
                && workloads(&whole).first().is_some_and(|(_, of)| runs(of).first().is_some_and(is_run))
        })
    },
    read,
};

const TOKENS: [&str; 3] = ["tokens", "output_tokens", "completion_tokens"];
const TTFT: [&str; 3] = ["ttft", "ttft_s", "ttft_seconds"];
const DECODE: [&str; 5] = ["decode_s", "decode", "decode_seconds", "decode_time", "decode_time_s"];

const CONVENTION: &str = "n";

fn workloads<'v>(whole: &Node<'v>) -> Vec<(&'v str, Node<'v>)> {
    let Some(all) = whole.get("workloads") else { return Vec::new() };
    let named = |of: Node<'v>| {
        let name = of.get("name").or_else(|| of.get("workload"))?.as_text()?;
        Some((name, of))
    };
    if all.is_list() { all.items().into_iter().filter_map(named).collect() } else { all.members() }
}

fn runs<'v>(of: &Node<'v>) -> Vec<Node<'v>> {
    if of.is_list() { of.items() } else { of.get("runs").map(|runs| runs.items()).unwrap_or_default() }
}

fn is_run(run: &Node<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| run.has(key));
    has(&DECODE) || (has(&TOKENS) && run.has("error"))
}

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let whole = document.only().ok_or_else(|| Problem {
        path: String::new(),
        message: "is not one JSON object".into(),
        remedy: "Import one result file of bench.py at a time".into(),
    })?;
    whole.need("workloads")?;
    let (mut raw, mut batches) = (part(&whole, Evidence::Raw)?, part(&whole, Evidence::Summary)?);
    for (name, of) in workloads(&whole) {
        let case = case(name, &of)?;
        if case.stated.is_empty() { &mut raw } else { &mut batches }.cases.push(case);
    }
    raw.notes.push(build::lacks("client_wall_gap_s", "bench.py keeps the first and the last text's time"));
    raw.notes.push(build::lacks("client_wall_prefill_tok_s", "it does not keep prompt tokens"));
    batches.label.push_str(" (batches)");
    batches.notes.push(build::lacks(
        "client_wall_decode_tok_s, client_wall_ttft_s, runs",
        "a batch is told by its totals alone; the single streams are in a submission of their own",
    ));
    Ok([raw, batches].into_iter().filter(|part| !part.cases.is_empty()).collect())
}

fn part(whole: &Node<'_>, evidence: Evidence) -> Result<Submission, Problem> {
    let mut part = build::submission(&FORMAT, None, evidence);
    if let Some(label) = whole.text("label")? {
        label.clone_into(&mut part.label);
    }
    part.provenance.series = whole.text("series")?.map(str::to_owned);
    if let Some(model) = whole.text("model")? {
        build::model_name(model).clone_into(&mut part.system.model.name);
    }
    part.system.engine.commit = whole.text("commit")?.map(str::to_owned);
    for key in ["started_at", "date", "time"] {
        let known = whole.get(key).and_then(|at| at.as_text());
        part.provenance.started_at = part.provenance.started_at.or(known.and_then(build::utc_text));
    }
    part.notes.push(
        "rates divide all tokens by the span from the first to the last: `rate_convention` is n".into(),
    );
    Ok(part)
}

fn case(name: &str, of: &Node<'_>) -> Result<Case, Problem> {
    let streams =
        of.count("streams").ok().flatten().or_else(|| name.strip_prefix("mixed")?.parse().ok()).unwrap_or(1);
    let streams = u32::try_from(streams).unwrap_or(u32::MAX).max(1);
    let regime = if streams > 1 { Regime::Load } else { Regime::Decode };
    let mut case = build::case(name, regime, name, streams);
    // As its description says of every workload.
    case.sampling = Sampling { temperature: Some(0.0), thinking: Some(false), ..Sampling::default() };
    case.output_tokens_target = matches!(name, "code" | "prose" | "structured").then_some(512);
    let rows = runs(of);
    if streams > 1 && rows.iter().all(|row| !row.has("streams") && !row.has("requests")) {
        case.stated.extend(batches(&rows)?);
        if case.stated.is_empty() {
            case.ended_early = Some(format!("all {} batches failed", rows.len()));
        }
        return Ok(case);
    }
    for (row, i) in rows.iter().zip(1..) {
        case.runs.push(run(row, i)?);
    }
    // Numbers from 0 are numbers from 1 here.
    if case.runs.iter().any(|run| run.number == 0) {
        case.runs.iter_mut().for_each(|run| run.number = run.number.saturating_add(1));
    }
    Ok(case)
}

fn run(row: &Node<'_>, position: u32) -> Result<Run, Problem> {
    let number = row.count("run")?.or(row.count("number")?).and_then(|n| u32::try_from(n).ok());
    let mut run = Run {
        number: number.unwrap_or(position),
        rate_convention: Some(CONVENTION.into()),
        ..Run::default()
    };
    let streams = if row.has("streams") { row.list("streams")? } else { row.list("requests")? };
    if streams.is_empty() {
        run.requests.push(request(row, 0)?);
    }
    for (stream, i) in streams.iter().zip(0..) {
        run.requests.push(request(stream, i)?);
    }
    run.checks.extend(check(row)?);
    run.counters = counters(row)?;
    Ok(run)
}

fn first_of(row: &Node<'_>, keys: &[&str]) -> Result<Option<f64>, Problem> {
    keys.iter().find(|key| row.has(key)).map_or(Ok(None), |key| row.number(key))
}

fn request(row: &Node<'_>, stream: u32) -> Result<RequestRecord, Problem> {
    let error = row.text("error")?;
    let tokens = TOKENS.iter().find(|key| row.has(key)).map_or(Ok(None), |key| row.count(key))?;
    let ttft = first_of(row, &TTFT)?.filter(|s| *s >= 0.0);
    let decode = first_of(row, &DECODE)?.filter(|s| *s >= 0.0);
    if let Some(error) = error {
        return Ok(RequestRecord { stream, ..build::failed(Some(0.0), error) });
    }
    if decode.is_none() {
        return Err(row.missing(DECODE[0]));
    }
    // A span without a known first token begins where the file's clock does.
    let first = ttft.unwrap_or(0.0);
    Ok(RequestRecord {
        stream,
        t_send_s: ttft.map(|_| Seconds(0.0)),
        t_first_s: Some(Seconds(first)),
        t_last_s: decode.map(|span| Seconds(first + span)),
        output_tokens: Some(Tokens(tokens.ok_or_else(|| row.missing(TOKENS[0]))?)),
        ..RequestRecord::default()
    })
}

/// The run's own verdict, under any of the names that it may have.
fn check(row: &Node<'_>) -> Result<Option<Check>, Problem> {
    let mut verdict = None;
    for key in ["ok", "passed", "valid"] {
        verdict = verdict.or(row.flag(key)?);
    }
    let mut faults = Vec::new();
    for key in ["failures", "problems", "failed_checks"] {
        faults.extend(row.list(key)?.iter().filter_map(Node::as_text).map(str::to_owned));
    }
    let passed = verdict.unwrap_or(true) && faults.is_empty();
    let is_told = verdict.is_some() || !faults.is_empty();
    let detail = (!faults.is_empty()).then(|| faults.join("; "));
    Ok(is_told.then(|| Check { name: "output".into(), passed, detail }))
}

/// Verify steps: as counted, else as many as the tokens per step make of the tokens.
fn counters(row: &Node<'_>) -> Result<Option<EngineCounters>, Problem> {
    let steps = first_of(row, &["verify_steps", "steps"])?;
    let accepted = first_of(row, &["accepted_tokens", "accepted"])?;
    let drafted = first_of(row, &["draft_tokens", "drafted"])?;
    let per_step = first_of(row, &["tokens_per_step"])?.filter(|tokens| *tokens > 0.0);
    let tokens = first_of(row, &TOKENS)?;
    let steps = steps.or(tokens.zip(per_step).map(|(tokens, per_step)| tokens / per_step));
    let Some(steps) = steps.filter(|steps| *steps > 0.0) else { return Ok(None) };
    let accepted = accepted.or(per_step.map(|per_step| (per_step - 1.0) * steps)).filter(|n| *n >= 0.0);
    Ok(Some(EngineCounters {
        source: "/metrics".into(),
        verify_steps: Some(steps),
        accepted_tokens: accepted,
        draft_tokens: drafted,
        ..EngineCounters::default()
    }))
}

/// The rate of batches that are told by their totals: of those that passed.
fn batches(rows: &[Node<'_>]) -> Result<Option<StatedEstimate>, Problem> {
    let (mut tokens, mut seconds, mut rates) = (0.0, 0.0, Vec::new());
    for row in rows {
        let passed = check(row)?.is_none_or(|check| check.passed) && row.text("error")?.is_none();
        if !passed {
            continue;
        }
        let of = first_of(row, &TOKENS)?.ok_or_else(|| row.missing(TOKENS[0]))?;
        let span = first_of(row, &DECODE)?.ok_or_else(|| row.missing(DECODE[0]))?;
        if let Some(rate) = crate::units::TokensPerSecond::over(of, Seconds(span)) {
            tokens += of;
            seconds += span;
            rates.push(rate.get());
        }
    }
    let failed = rows.len() - rates.len();
    let rate =
        build::stated("client_wall_batch_decode_tok_s", Some("ratio of totals"), Some(tokens / seconds));
    Ok(rate.map(|rate| StatedEstimate {
        min: rates.iter().copied().reduce(f64::min),
        max: rates.iter().copied().reduce(f64::max),
        n: Some(rates.len() as u64),
        rate_convention: Some(CONVENTION.into()),
        note: Some(match failed {
            0 => "total output tokens / total decode time of the batches".into(),
            _ => format!(
                "total output tokens / total decode time of the batches; {failed} failed and are left out"
            ),
        }),
        ..rate
    }))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, Submission};
    use crate::summary::{CaseSummary, summarize};
    use crate::validate::validate;

    const FILE: &str = include_str!("../../tests/fixtures/import/bench-py/from-description.json");

    fn all(text: &str) -> Vec<Submission> {
        let found = read(text, None).unwrap();
        assert_eq!(found.format, "bench.py");
        for shard in &found.submissions {
            assert_eq!(validate(shard), []);
        }
        found.submissions
    }

    fn summary(shard: &Submission, case: &str) -> CaseSummary {
        summarize(shard.cases.iter().find(|c| c.id == case).unwrap())
    }

    fn figure(of: &CaseSummary, tag: &str) -> f64 {
        of.get(tag).and_then(|estimate| estimate.value).unwrap()
    }

    #[test]
    fn runs_keep_the_rate_of_all_tokens_over_the_span_and_the_split_of_their_steps() {
        let shards = all(FILE);
        let raw = &shards[0];
        assert_eq!((raw.provenance.evidence, raw.provenance.series.as_deref()), (Evidence::Raw, Some("s1")));
        let code = summary(raw, "code");
        assert_eq!((code.runs, code.passed), (Some(3), Some(2)));
        assert_eq!(code.failures[0].reasons, ["output: a replacement character"]);
        let rate = figure(&code, "client_wall_decode_tok_s");
        assert!((rate - 1024.0 / 9.12).abs() < 1e-9, "{rate}");
        assert!(
            code.get("client_wall_decode_tok_s")
                .unwrap()
                .note
                .as_ref()
                .unwrap()
                .contains("rate convention: n")
        );
        assert!((figure(&code, "client_wall_ttft_s") - 0.3).abs() < 1e-12);
        // 160 and 200 steps of 512 tokens each.
        assert!((figure(&code, "tokens_per_step") - 1024.0 / 360.0).abs() < 1e-9);
        assert!((figure(&code, "time_per_step_s") * 360.0 - 9.12).abs() < 1e-9);
        let counting = summary(raw, "counting");
        assert_eq!(figure(&counting, "tokens_per_step"), 4.0);
        assert_eq!(figure(&counting, "drafts_per_step"), 4.0);
        assert!(counting.get("client_wall_gap_s").is_none());
    }

    #[test]
    fn batches_told_by_their_totals_are_stated_and_batches_of_streams_are_raw() {
        let shards = all(FILE);
        assert_eq!(shards.len(), 2);
        let stated = &shards[1].cases[0].stated[0];
        assert_eq!(
            (shards[1].provenance.evidence, shards[1].label.as_str()),
            (Evidence::Summary, "TP=4 (batches)")
        );
        assert_eq!(
            (stated.metric.as_str(), stated.rate_convention.as_deref()),
            ("client_wall_batch_decode_tok_s", Some("n"))
        );
        assert_eq!(
            (stated.value, stated.min, stated.max, stated.n),
            (Some(4096.0 / 30.0), Some(128.0), Some(2048.0 / 14.0), Some(2))
        );
        let mixed = summary(&shards[0], "mixed8");
        assert!((figure(&mixed, "client_wall_batch_decode_tok_s") - 2048.0 / 8.7).abs() < 1e-9);
    }

    #[test]
    fn lists_other_names_and_numbers_from_zero_are_read_alike() {
        let text = r#"{"label": "x", "series": null, "workloads": [{"name": "prose", "runs": [
            {"run": 0, "output_tokens": "512", "ttft_s": 0.3, "decode_seconds": 8, "ok": 1},
            {"run": 1, "error": "connection reset by peer", "tokens": 0, "decode_s": null}]}]}"#;
        let shard = &all(text)[0];
        let numbers: Vec<u32> = shard.cases[0].runs.iter().map(|run| run.number).collect();
        assert_eq!(numbers, [1, 2]);
        let prose = summary(shard, "prose");
        assert_eq!((prose.runs, prose.passed), (Some(2), Some(1)));
        assert_eq!(figure(&prose, "client_wall_decode_tok_s"), 64.0);
    }

    #[test]
    fn batches_that_all_failed_state_nothing() {
        let failed = FILE
            .replace("\"decode_s\": 14.0", "\"decode_s\": 14.0, \"ok\": false")
            .replace("\"decode_s\": 16.0", "\"decode_s\": 16.0, \"ok\": false");
        let shards = all(&failed);
        let mixed = shards[0].cases.iter().find(|case| case.id == "mixed4").unwrap();
        assert_eq!((shards.len(), mixed.ended_early.as_deref()), (1, Some("all 2 batches failed")));
    }

    #[test]
    fn a_run_without_its_span_is_named() {
        let said = read(&FILE.replace("\"decode_s\": 5.12,", ""), None).unwrap_err().to_string();
        assert!(said.contains("workloads.code.runs[1].decode_s: is missing"), "{said}");
    }
}
