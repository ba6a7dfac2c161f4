//! llama-benchy: one object with a benchmark for each depth, length and concurrency.

use super::build;
use super::{Document, Format, Node};
use crate::submission::{Case, Evidence, StatedEstimate, Submission};
use crate::system::Setting;
use crate::validate::Problem;
use crate::workload::Regime;

/// See the module.
pub const FORMAT: Format = Format {
    tag: "llama-benchy",
    title: "llama-benchy",
    tried: "0.4.0",
    recognises: |document| document.has(&["latency_mode", "prefix_caching_enabled", "benchmarks"]),
    read,
};

/// A figure with one value for each request or batch.
struct Figure {
    key: &'static str,
    /// Ours, in seconds; `None` where it keeps the tool's name and unit.
    metric: Option<&'static str>,
    unit: &'static str,
    note: &'static str,
    /// Whether it tells of the prompt or of the answer.
    of_prompt: bool,
}

const FIGURES: [Figure; 9] = [
    Figure {
        key: "e2e_ttft",
        metric: Some("client_wall_ttft_s"),
        unit: "ms",
        note: "to the first event with text, reasoning or a tool call; where the server sends its timings, newer \
               versions take its time instead",
        of_prompt: true,
    },
    Figure {
        key: "ttfr",
        metric: None,
        unit: "ms",
        note: "to the first event with `choices`, one with the role alone included",
        of_prompt: true,
    },
    Figure {
        key: "est_ppt",
        metric: None,
        unit: "ms",
        note: "ttfr − the latency that the tool measured",
        of_prompt: true,
    },
    Figure {
        key: "pp_throughput",
        metric: None,
        unit: "tok/s",
        note: "of the batch: prompt tokens / est_ppt",
        of_prompt: true,
    },
    Figure {
        key: "pp_req_throughput",
        metric: None,
        unit: "tok/s",
        note: "of each request: prompt tokens / est_ppt",
        of_prompt: true,
    },
    Figure {
        key: "tg_throughput",
        metric: None,
        unit: "tok/s",
        note: "of the batch: (tokens − requests) / (last token − first token)",
        of_prompt: false,
    },
    Figure {
        key: "tg_req_throughput",
        metric: None,
        unit: "tok/s",
        note: "of each request: (tokens − 1) / (end − first token), `[DONE]` being the end; where the server sends its \
               timings, newer versions take those",
        of_prompt: false,
    },
    Figure {
        key: "peak_throughput",
        metric: None,
        unit: "tok/s",
        note: "of the batch, in its best second",
        of_prompt: false,
    },
    Figure {
        key: "peak_req_throughput",
        metric: None,
        unit: "tok/s",
        note: "of each request, in its best second",
        of_prompt: false,
    },
];

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    document.rows().iter().map(file).collect()
}

fn file(whole: &Node<'_>) -> Result<Submission, Problem> {
    let mut shard = build::submission(&FORMAT, whole.text("version")?, Evidence::Summary);
    shard.provenance.started_at = whole.text("timestamp")?.and_then(build::utc_text);
    build::model_name(whole.need_text("model")?).clone_into(&mut shard.system.model.name);
    let caches = whole.flag("prefix_caching_enabled")?.unwrap_or(false);
    build::requested(&mut shard, "prefix caching in the benchmark", Some(Setting::Flag(caches)));
    shard.notes = vec![
        "the file does not name the engine".into(),
        build::lacks(
            "client_wall_decode_tok_s, client_wall_prefill_tok_s",
            "its rates are made differently and keep their names",
        ),
        build::lacks("client_wall_e2e_s, client_wall_aggregate_tok_s", "the file has neither"),
        "prompt tokens are those aimed at where the server's count is more than 20 % off".into(),
    ];
    for row in whole.list("benchmarks")? {
        for case in cases(&row, caches)? {
            build::add_case(&mut shard.cases, case);
        }
    }
    Ok(shard)
}

/// One case of the prompt and one of the answer for a single stream, one case for a load.
fn cases(row: &Node<'_>, caches: bool) -> Result<Vec<Case>, Problem> {
    let concurrency = u32::try_from(row.need_count("concurrency")?).unwrap_or(u32::MAX);
    let (context, prompt, answer) =
        (row.need_count("context_size")?, row.need_count("prompt_size")?, row.need_count("response_size")?);
    let is_filling = row.flag("is_context_prefill_phase")?.unwrap_or(false);
    let (name, regime, depth, sent) = match (is_filling, context, caches) {
        (true, _, _) => (format!("ctx{context}"), Regime::ColdPrefill, None, context),
        (false, 0, _) => (format!("pp{prompt}"), Regime::ColdPrefill, None, prompt),
        (false, _, true) => (format!("pp{prompt}_d{context}"), Regime::CachedPrefix, Some(context), prompt),
        // Nothing is cached, so the whole is a cold prompt.
        (false, _, false) => (format!("pp{prompt}_d{context}"), Regime::ColdPrefill, None, prompt + context),
    };
    let described = match (is_filling, context, caches) {
        (true, _, _) => Some(format!("loads a context of {context} tokens, cold")),
        (false, 0, _) => None,
        (false, _, true) => Some(format!("continues a cached context of {context} tokens")),
        (false, _, false) => {
            Some(format!("{context} tokens of context and {prompt} of prompt, nothing cached"))
        }
    };
    let case = |id: &str, regime, depth, of: Option<bool>| -> Result<Case, Problem> {
        let mut case = build::case(id, regime, build::NOT_STATED, concurrency);
        case.prompt_tokens_target = Some(sent);
        case.output_tokens_target = Some(answer);
        case.depth_tokens = depth;
        case.description.clone_from(&described);
        for figure in FIGURES.iter().filter(|figure| of.is_none_or(|prompt| prompt == figure.of_prompt)) {
            case.stated.extend(stated(row, figure)?);
        }
        case.ended_early = lost(row, concurrency)?;
        Ok(case)
    };
    if concurrency > 1 {
        return Ok(vec![case(&format!("{name}_tg{answer}_c{concurrency}"), Regime::Load, depth, None)?]);
    }
    let behind = if context > 0 { Some(context) } else { None };
    let decode = if behind.is_some() { Regime::DecodeAtDepth } else { Regime::Decode };
    Ok(vec![
        case(&name, regime, depth, Some(true))?,
        case(&format!("tg{answer}_{name}"), decode, behind, Some(false))?,
    ])
}

fn stated(row: &Node<'_>, of: &Figure) -> Result<Option<StatedEstimate>, Problem> {
    let Some(figure) = row.get(of.key) else { return Ok(None) };
    let values = figure.numbers("values")?.unwrap_or_default();
    let scaled = |value: Option<f64>| if of.metric.is_some() { build::seconds_of_ms(value) } else { value };
    let known = || values.iter().copied().flatten();
    let unit = if of.metric.is_some() { "s" } else { of.unit };
    let spread = build::spread_note("population", scaled(figure.number("std")?), unit);
    let mean = build::stated(of.metric.unwrap_or(of.key), Some("mean"), scaled(figure.number("mean")?));
    Ok(mean.filter(|_| known().next().is_some()).map(|mean| StatedEstimate {
        unit: of.metric.is_none().then(|| of.unit.to_owned()),
        min: scaled(known().reduce(f64::min)),
        max: scaled(known().reduce(f64::max)),
        n: Some(known().count() as u64),
        note: build::joined(&[Some(of.note), spread.as_deref()]),
        ..mean
    }))
}

/// Requests that no figure tells of: the tool leaves them out without a word.
fn lost(row: &Node<'_>, concurrency: u32) -> Result<Option<String>, Problem> {
    let values = |key: &str| -> Result<u64, Problem> {
        Ok(row
            .get(key)
            .map(|figure| figure.numbers("values"))
            .transpose()?
            .flatten()
            .map_or(0, |v| v.len() as u64))
    };
    let (batches, told) = (values("pp_throughput")?, values("ttfr")?);
    let sent = batches * u64::from(concurrency);
    Ok((told < sent).then(|| format!("{} of {sent} requests have no figures", sent - told)))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Case, Submission};
    use crate::validate::validate;
    use crate::workload::Regime;

    fn file(caches: bool, benchmarks: &[(u64, u64, u64, bool)]) -> Submission {
        let figure = r#"{"mean": 1500.0, "std": 20.0, "values": [1480.0, 1520.0]}"#;
        let rows: Vec<String> = benchmarks
            .iter()
            .map(|(streams, context, prompt, filling)| {
                format!(
                    r#"{{"concurrency": {streams}, "context_size": {context}, "prompt_size": {prompt},
                    "response_size": 32, "is_context_prefill_phase": {filling}, "pp_throughput": {figure},
                    "tg_req_throughput": {figure}, "ttfr": {figure}, "est_ppt": null, "e2e_ttft": {figure}}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"version": "0.4.0", "timestamp": "2026-11-30 16:29:44Z", "latency_mode": "api", "model": "m",
            "prefix_caching_enabled": {caches}, "benchmarks": [{}]}}"#,
            rows.join(",")
        );
        let shard = read(&text, None).unwrap().submissions.remove(0);
        assert_eq!(validate(&shard), []);
        shard
    }

    fn shape(case: &Case) -> (&str, Regime, Option<u64>, Option<u64>) {
        (&case.id, case.regime, case.depth_tokens, case.prompt_tokens_target)
    }

    #[test]
    fn cold_context_cached_continuation_and_what_is_cold_as_a_whole_are_told_apart() {
        let cached = file(true, &[(1, 4096, 512, true), (1, 4096, 512, false)]);
        let shapes: Vec<_> = cached.cases.iter().map(shape).collect();
        assert_eq!(
            shapes,
            [
                ("ctx4096", Regime::ColdPrefill, None, Some(4096)),
                ("tg32_ctx4096", Regime::DecodeAtDepth, Some(4096), Some(4096)),
                ("pp512_d4096", Regime::CachedPrefix, Some(4096), Some(512)),
                ("tg32_pp512_d4096", Regime::DecodeAtDepth, Some(4096), Some(512)),
            ]
        );
        let cold = file(false, &[(1, 4096, 512, false)]);
        assert_eq!(shape(&cold.cases[0]), ("pp512_d4096", Regime::ColdPrefill, None, Some(4608)));
    }

    #[test]
    fn requests_that_the_tool_lost_are_said_and_its_rates_are_no_metrics_of_ours() {
        let shard = file(false, &[(2, 0, 128, false)]);
        let case = &shard.cases[0];
        assert_eq!((case.id.as_str(), case.regime), ("pp128_tg32_c2", Regime::Load));
        assert_eq!(case.ended_early.as_deref(), Some("2 of 4 requests have no figures"));
        let ttft = &case.stated[0];
        assert_eq!(
            (ttft.metric.as_str(), ttft.value, ttft.min),
            ("client_wall_ttft_s", Some(1.5), Some(1.48))
        );
        assert!(
            case.stated.iter().any(|s| s.metric == "tg_req_throughput" && s.unit.as_deref() == Some("tok/s"))
        );
    }
}
