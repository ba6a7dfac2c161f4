//! `RigMark`, schema 1: decode of one stream, cold and warm prefill, rounds of concurrent streams.
//!
//! Every request becomes a record whose clock starts when it was sent. The streams of a round are taken to have been
//! sent together, as `RigMark`'s threads are. Its decode rate leaves the first token out, as ours does.

use super::build;
use super::{Document, Format, Node};
use crate::record::{RequestRecord, TokenCountSource};
use crate::submission::{Case, Check, Evidence, Run, Submission};
use crate::system::Setting;
use crate::units::{Seconds, Tokens};
use crate::validate::Problem;
use crate::workload::{Regime, Sampling};

/// See the module.
pub const FORMAT: Format = Format {
    tag: "rigmark",
    title: "RigMark",
    tried: "schema 1, protocol 1.0.0",
    recognises: |document| {
        document.only().is_some_and(|whole| {
            whole.has("protocol") && whole.has("settings") && whole.at(&["run", "appliance"]).is_some()
        })
    },
    read,
};

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let whole = document.only().ok_or_else(|| Problem {
        path: String::new(),
        message: "is not one JSON object".into(),
        remedy: "Import one result file of RigMark at a time".into(),
    })?;
    let schema = whole.need_count("schema")?;
    if schema != 1 {
        return Err(Problem {
            path: "schema".into(),
            message: format!("is {schema}, and 1 is what is read"),
            remedy: "Update Dyno, or measure with a RigMark that writes schema 1".into(),
        });
    }
    let (run, protocol) = (whole.need("run")?, whole.need("protocol")?);
    let mut part = build::submission(&FORMAT, protocol.text("version")?, Evidence::Raw);
    system(&run, &mut part)?;
    provenance(&whole, &run, &mut part)?;
    let sampling = sampling(&whole.need("settings")?)?;
    for (workload, of) in members(&whole, "decode") {
        part.cases.push(decode(workload, &of, &sampling)?);
    }
    for (depth, of) in members(&whole, "prefill") {
        for (key, regime, name) in [
            ("cold", Regime::ColdPrefill, "cold_prefill"),
            ("warm_replay", Regime::CachedPrefix, "cached_prefix_resent"),
        ] {
            if let Some(of) = of.get(key) {
                part.cases.push(prefill(depth, &of, regime, name, &sampling)?);
            }
        }
    }
    let load = Load::of(&whole.need("settings")?)?;
    for (streams, of) in members(&whole, "concurrency") {
        part.cases.push(load.case(streams, &of, &sampling)?);
    }
    notes(&mut part);
    Ok(vec![part])
}

fn members<'v>(whole: &Node<'v>, key: &str) -> Vec<(&'v str, Node<'v>)> {
    whole.get(key).map(|of| of.members()).unwrap_or_default()
}

fn notes(part: &mut Submission) {
    let notes = &mut part.notes;
    notes
        .push("the first text may be reasoning; prompts are RigMark's, not those of Dyno's workloads".into());
    if part.cases.iter().any(|case| case.regime == Regime::Load) {
        notes.push(
            "the streams of a round are taken to have been sent together: the file has no times of day"
                .into(),
        );
    }
    if part.cases.iter().any(|case| matches!(case.regime, Regime::ColdPrefill | Regime::CachedPrefix)) {
        notes.push(build::lacks(
            "cached_prompt_share",
            "RigMark does not ask the engine, so that neither cold nor warm is proven",
        ));
    }
    notes.push(build::lacks(
        "client_wall_gap_s, client_wall_steady_tok_s",
        "RigMark keeps the first and last text's time",
    ));
    notes.push(build::lacks("engine_… figures, tokens_per_step", "the client does not ask the engine"));
}

/// What was measured, in the words of whoever measured it.
fn system(run: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let appliance = run.need("appliance")?;
    if let Some(engine) = appliance.text("serving_engine")? {
        let (name, version) = match engine.rsplit_once(' ') {
            Some((name, version))
                if version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()) =>
            {
                (name, Some(version))
            }
            _ => (engine, None),
        };
        name.clone_into(&mut part.system.engine.name);
        part.system.engine.version = version.map(str::to_owned);
    }
    if let Some(model) = appliance.text("model")?.or(run.text("model")?) {
        build::model_name(model).clone_into(&mut part.system.model.name);
    }
    part.system.model.revision = appliance.text("model_revision")?.map(str::to_owned);
    part.system.model.quantisation = appliance.text("quantisation")?.map(str::to_owned);
    if let Some(hardware) = appliance.text("hardware")? {
        hardware.clone_into(&mut part.system.hardware.name);
    }
    if let Some(topology) = appliance.text("topology")? {
        let mut words = topology.split(|c: char| !c.is_ascii_alphanumeric());
        part.system.topology.tensor_parallel = words.find_map(|word| word.strip_prefix("TP")?.parse().ok());
    }
    for (key, value) in appliance.members() {
        let name = match key {
            "serving_engine" | "model" | "model_revision" | "quantisation" | "hardware" => continue,
            "context_limit" => "context_limit_tokens",
            other => other,
        };
        build::effective(part, name, value.setting());
    }
    Ok(())
}

fn provenance(whole: &Node<'_>, run: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    if let Some(label) = run.text("label")? {
        label.clone_into(&mut part.label);
    }
    part.provenance.series = run.text("comparison_id")?.map(str::to_owned);
    part.provenance.started_at = run.text("started_at")?.and_then(build::utc_text);
    part.provenance.ended_at = run.text("finished_at")?.and_then(build::utc_text);
    part.provenance.partial = whole
        .get("error")
        .map(|error| error.as_text().unwrap_or("RigMark broke off with an error").to_owned());
    if let Some(prompts) = whole.at(&["protocol", "prompts_version"]) {
        build::requested(part, "prompts_version", prompts.setting());
    }
    if whole
        .at(&["protocol", "repository_dirty"])
        .is_some_and(|dirty| dirty.setting() == Some(Setting::Flag(true)))
    {
        part.notes.push("RigMark's own files had been changed: `repository_dirty`".into());
    }
    Ok(())
}

fn sampling(settings: &Node<'_>) -> Result<Sampling, Problem> {
    let thinking = settings.at(&["extra_body", "chat_template_kwargs"]).and_then(|kwargs| {
        let flag = |key: &str| kwargs.flag(key).ok().flatten();
        flag("enable_thinking").or_else(|| flag("thinking"))
    });
    Ok(Sampling {
        temperature: settings.number("temperature")?,
        top_p: settings.number("top_p")?,
        seed: settings.count("seed")?,
        max_tokens: settings.count("decode_tokens")?,
        thinking,
        ..Sampling::default()
    })
}

/// A case of single-stream runs. The prompts are `RigMark`'s, so that its name is, too.
fn decode(workload: &str, of: &Node<'_>, sampling: &Sampling) -> Result<Case, Problem> {
    let mut case = build::case(&format!("rigmark_{workload}"), Regime::Decode, workload, 1);
    case.runs = runs(of)?;
    case.output_tokens_target = sampling.max_tokens;
    case.sampling = sampling.clone();
    if reasons(of) {
        case.sampling.thinking = Some(true);
    }
    Ok(case)
}

/// Whether an answer had reasoning in it.
fn reasons(of: &Node<'_>) -> bool {
    let some = |row: &Node<'_>| row.number("reasoning_characters").ok().flatten().is_some_and(|n| n > 0.0);
    let some_of = |node: &Node<'_>, key: &str| node.list(key).unwrap_or_default().iter().any(some);
    some_of(of, "runs") || of.list("rounds").unwrap_or_default().iter().any(|round| some_of(round, "streams"))
}

fn prefill(
    depth: &str,
    of: &Node<'_>,
    regime: Regime,
    name: &str,
    sampling: &Sampling,
) -> Result<Case, Problem> {
    let id = format!("{name}_{}", length(depth));
    let mut case = build::case(&id, regime, build::NOT_STATED, 1);
    case.runs = runs(of)?;
    case.prompt_tokens_target = depth.parse().ok();
    case.sampling = Sampling { max_tokens: None, ..sampling.clone() };
    if regime == Regime::CachedPrefix {
        case.description = Some("The very prompt of the cold runs, sent again.".into());
    }
    Ok(case)
}

/// A length as Dyno's suite calls it, where it is near one of those; else as `RigMark` does.
fn length(depth: &str) -> String {
    let near = |aim: f64| depth.parse::<f64>().is_ok_and(|depth| (depth - aim).abs() <= 0.05 * aim);
    let suite = [(2_000.0, "2k"), (8_000.0, "8k"), (32_000.0, "32k")];
    suite.iter().find(|(aim, _)| near(*aim)).map_or(depth, |(_, name)| name).to_owned()
}

fn runs(of: &Node<'_>) -> Result<Vec<Run>, Problem> {
    let mut runs = Vec::new();
    for (row, i) in of.list("runs")?.iter().zip(1..) {
        let number = row.count("run")?.and_then(|n| u32::try_from(n).ok()).unwrap_or(i);
        let mut run = Run { number, requests: vec![request(row, 0)?], ..Run::default() };
        run.checks.extend(validation(row)?);
        runs.push(run);
    }
    Ok(runs)
}

fn validation(row: &Node<'_>) -> Result<Option<Check>, Problem> {
    let Some(found) = row.get("completion_validation") else { return Ok(None) };
    let passed = found.flag("valid")?.ok_or_else(|| found.missing("valid"))?;
    let detail = found.text("error")?.map(str::to_owned);
    Ok(Some(Check { name: "completion_validation".into(), passed, detail }))
}

struct Load {
    workload: String,
    tokens: Option<u64>,
}

impl Load {
    fn of(settings: &Node<'_>) -> Result<Self, Problem> {
        let workload = settings.text("concurrency_workload")?.unwrap_or(build::NOT_STATED).to_owned();
        Ok(Self { workload, tokens: settings.count("concurrency_tokens")? })
    }

    fn case(&self, streams: &str, of: &Node<'_>, sampling: &Sampling) -> Result<Case, Problem> {
        let concurrency: u32 = streams.parse().map_err(|_| of.wrong("under a number of streams"))?;
        let id = format!("rigmark_{}_c{concurrency}", self.workload);
        let mut case = build::case(&id, Regime::Load, &self.workload, concurrency);
        for (round, i) in of.list("rounds")?.iter().zip(1..) {
            let number = round.count("round")?.and_then(|n| u32::try_from(n).ok()).unwrap_or(i);
            let mut run = Run { number, ..Run::default() };
            for (row, stream) in round.list("streams")?.iter().zip(0..) {
                run.requests.push(request(row, stream)?);
                run.checks.extend(validation(row)?);
            }
            case.runs.push(run);
        }
        case.output_tokens_target = self.tokens;
        case.sampling = Sampling { max_tokens: self.tokens, ..sampling.clone() };
        if reasons(of) {
            case.sampling.thinking = Some(true);
        }
        Ok(case)
    }
}

/// A request, its clock at 0 where it was sent. The tool's own rate is not needed: an answer of one event gives it a
/// window of a nanosecond, where there is no rate.
fn request(row: &Node<'_>, stream: u32) -> Result<RequestRecord, Problem> {
    let first = row.need_number("ttft_seconds")?;
    let last = row.number("decode_seconds")?.filter(|span| *span >= 0.0).map(|span| first + span);
    // The three are rounded to a microsecond each.
    let end = row.number("wall_seconds")?.map(|wall| wall.max(last.unwrap_or(first)));
    let hash = row.text("stream_sha256")?.or(row.text("output_sha256")?);
    let chars = |key: &str| -> Result<u64, Problem> { Ok(row.count(key)?.unwrap_or(0)) };
    Ok(RequestRecord {
        stream,
        t_send_s: Some(Seconds(0.0)),
        t_first_s: Some(Seconds(first)),
        t_last_s: last.map(Seconds),
        t_end_s: end.map(Seconds),
        prompt_tokens: row.count("prompt_tokens")?.map(Tokens),
        output_tokens: Some(Tokens(row.need_count("completion_tokens")?)),
        token_count_source: Some(TokenCountSource::Usage),
        finish_reason: row.text("finish_reason")?.map(str::to_owned),
        output_chars: chars("output_characters")? + chars("reasoning_characters")?,
        output_sha256: hash.map(str::to_owned),
        ..RequestRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, Submission};
    use crate::summary::summarize;
    use crate::testing::only;
    use crate::workload::Regime;

    const FILE: &str = include_str!("../../tests/fixtures/import/rigmark/result.json");

    fn one(text: &str) -> Submission {
        only(text, "rigmark")
    }

    fn figure(shard: &Submission, case: &str, tag: &str) -> Option<f64> {
        let case = shard.cases.iter().find(|c| c.id == case).unwrap();
        summarize(case).get(tag).and_then(|estimate| estimate.value)
    }

    fn close(value: Option<f64>, expected: f64) {
        let value = value.unwrap();
        assert!((value - expected).abs() < 1e-4 * expected, "{value} is not {expected}");
    }

    #[test]
    fn a_real_file_gives_raw_runs_whose_figures_are_the_files() {
        let shard = one(FILE);
        assert_eq!(shard.provenance.evidence, Evidence::Raw);
        let ids: Vec<&str> = shard.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "rigmark_structured",
                "cold_prefill_8k",
                "cached_prefix_resent_8k",
                "cold_prefill_32k",
                "cached_prefix_resent_32k",
                "cold_prefill_65536",
                "cached_prefix_resent_65536",
                "rigmark_code_c1",
                "rigmark_code_c2",
            ]
        );
        let decode = &shard.cases[0];
        let rates: Vec<f64> = decode
            .runs
            .iter()
            .filter_map(|run| {
                summarize(&crate::submission::Case { runs: vec![run.clone()], ..decode.clone() })
                    .get("client_wall_decode_tok_s")
                    .and_then(|e| e.value)
            })
            .collect();
        assert_eq!(rates.len(), 5);
        close(Some(rates[0]), 136.027);
        close(Some(rates[3]), 135.034);
        close(
            figure(&shard, "cold_prefill_8k", "client_wall_ttft_s"),
            (0.998_942 + 1.002_364 + 1.003_681) / 3.0,
        );
        close(
            figure(&shard, "cold_prefill_65536", "client_wall_prefill_tok_s"),
            3.0 * 65_536.0 / (11.300_96 + 11.283_417 + 11.244_759),
        );
        // The wall of the round ends a moment after the last text.
        let aggregate = figure(&shard, "rigmark_code_c2", "client_wall_aggregate_tok_s").unwrap();
        assert!(
            (aggregate / (3.0 * 512.0 / (2.4856 + 2.485_193 + 2.627_953)) - 1.0).abs() < 1e-3,
            "{aggregate}"
        );
        assert_eq!(
            figure(&shard, "rigmark_structured", "client_wall_gap_s"),
            None,
            "events were not counted"
        );
    }

    #[test]
    fn what_was_measured_is_in_the_words_of_the_file() {
        let shard = one(FILE);
        let engine = &shard.system.engine;
        assert_eq!((engine.name.as_str(), engine.version.as_deref()), ("vLLM", Some("0.27.1")));
        assert_eq!(
            (shard.system.model.name.as_str(), shard.system.topology.tensor_parallel),
            ("Qwen/Qwen3.8-27B-FP8", Some(1))
        );
        assert_eq!(shard.provenance.series.as_deref(), Some("2026-09-05-rigmark-standard-v2"));
        assert_eq!(shard.provenance.started_at.as_deref(), Some("2026-09-05T16:32:06Z"));
        assert!(shard.configuration.effective.contains_key("context_limit_tokens"));
        let sampling = &shard.cases[0].sampling;
        assert_eq!(
            (sampling.temperature, sampling.seed, sampling.thinking),
            (Some(0.0), Some(20_260_905), Some(true))
        );
        assert_eq!(shard.cases[1].sampling.thinking, None, "eight tokens without reasoning tell nothing");
    }

    #[test]
    fn an_answer_of_one_event_has_no_rate_instead_of_a_hundred_billion() {
        let single = FILE.replace("\"decode_seconds\": 7.741097", "\"decode_seconds\": 1e-9");
        let shard = one(&single);
        assert_eq!(shard.cases[0].runs.len(), 5);
        let summary = summarize(&shard.cases[0]);
        let decode = summary.get("client_wall_decode_tok_s").unwrap();
        assert_eq!((decode.n, decode.note.as_deref()), (Some(4), Some("1 of 5 passing runs do not tell")));
    }

    #[test]
    fn an_answer_that_did_not_pass_its_gate_fails_its_run() {
        let text = FILE.replacen("\"valid\": true", "\"valid\": false, \"error\": \"line 7 is missing\"", 1);
        let summary = summarize(&one(&text).cases[0]);
        assert_eq!((summary.runs, summary.passed), (Some(5), Some(4)));
        assert_eq!(summary.failures[0].reasons, ["completion_validation: line 7 is missing"]);
    }

    #[test]
    fn a_measurement_that_broke_off_is_partial_and_other_schemas_are_refused() {
        let broken =
            FILE.replacen("\"schema\": 1", "\"error\": \"no usage in the answer\", \"schema\": 1", 1);
        assert_eq!(one(&broken).provenance.partial.as_deref(), Some("no usage in the answer"));
        let said = |text: &str| read(text, None).unwrap_err().to_string();
        assert!(
            said(&FILE.replacen("\"schema\": 1", "\"schema\": 2", 1))
                .contains("schema: is 2, and 1 is what is read")
        );
        assert!(
            said(&FILE.replacen("\"ttft_seconds\": 0.072342", "\"ttft_seconds\": null", 1))
                .contains("decode.structured.runs[0].ttft_seconds: is missing")
        );
    }

    #[test]
    fn warm_replays_are_no_cold_prefill() {
        let shard = one(FILE);
        let warm = shard.cases.iter().find(|case| case.id == "cached_prefix_resent_8k").unwrap();
        assert_eq!((warm.regime, warm.runs.len()), (Regime::CachedPrefix, 3));
    }
}
