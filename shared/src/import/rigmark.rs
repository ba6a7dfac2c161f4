//! RigMark, schema 1: decode of one stream, cold and warm prefill, rounds of concurrent streams.
//!
//! Every request becomes a record whose clock starts when it was sent. The streams of a round are taken to have been
//! sent together, as RigMark's threads are. Its decode rate leaves the first token out, as ours does.

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
    notes.push("the first text may be reasoning; prompts are RigMark's, not those of Dyno's workloads".into());
    if part.cases.iter().any(|case| case.regime == Regime::Load) {
        notes.push("the streams of a round are taken to have been sent together: the file has no times of day".into());
    }
    if part.cases.iter().any(|case| matches!(case.regime, Regime::ColdPrefill | Regime::CachedPrefix)) {
        notes.push(build::lacks(
            "cached_prompt_share",
            "RigMark does not ask the engine, so that neither cold nor warm is proven",
        ));
    }
    notes.push(build::lacks("client_wall_gap_s, client_wall_steady_tok_s", "RigMark keeps the first and last text's time"));
    notes.push(build::lacks("engine_… figures, tokens_per_step", "the client does not ask the engine"));
}

/// What was measured, in the words of whoever measured it.
fn system(run: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let appliance = run.need("appliance")?;
    if let Some(engine) = appliance.text("serving_engine")? {
        let (name, version) = match engine.rsplit_once(' ') {
            Some((name, version)) if version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()) => {
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
        let words = topology.split(|c: char| !c.is_ascii_alphanumeric());
        part.system.topology.tensor_parallel =
            words.filter_map(|word| word.strip_prefix("TP")?.parse().ok()).next();
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
    part.provenance.partial = match whole.get("error") {
        None => None,
        Some(error) => Some(error.as_text().unwrap_or("RigMark broke off with an error").to_owned()),
    };
    if let Some(prompts) = whole.at(&["protocol", "prompts_version"]) {
        build::requested(part, "prompts_version", prompts.setting());
    }
    if whole.at(&["protocol", "repository_dirty"]).is_some_and(|dirty| dirty.setting() == Some(Setting::Flag(true))) {
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

/// A case of single-stream runs. The prompts are RigMark's, so that its name is, too.
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
    let of_list = |node: &Node<'_>, key: &str| node.list(key).unwrap_or_default();
    of_list(of, "runs").iter().any(some)
        || of_list(of, "rounds").iter().any(|round| of_list(round, "streams").iter().any(some))
}

fn prefill(depth: &str, of: &Node<'_>, regime: Regime, name: &str, sampling: &Sampling) -> Result<Case, Problem> {
    let mut case = build::case(&format!("{name}_{depth}"), regime, build::NOT_STATED, 1);
    case.runs = runs(of)?;
    case.prompt_tokens_target = depth.parse().ok();
    case.sampling = Sampling { max_tokens: None, ..sampling.clone() };
    if regime == Regime::CachedPrefix {
        case.description = Some("The very prompt of the cold runs, sent again.".into());
    }
    Ok(case)
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
