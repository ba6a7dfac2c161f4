//! `InferenceX`: a row `agg_*.json`, or the list of them that `results_bmk` is.
//!
//! Latencies are in seconds, unlike those of the client that they come from; `<statistic>_intvty` is 1 / TPOT, and tells
//! whether they are. Rates are per GPU. `std_intvty` is the reciprocal of a deviation and means nothing.

use super::build::{self, Told, joined};
use super::{Format, Node};
use crate::submission::{Case, Evidence, StatedEstimate, Submission};
use crate::system::{Accelerator, Setting};
use crate::validate::Problem;
use crate::workload::Regime;

/// See the module.
pub const FORMAT: Format = Format {
    tag: "inferencex",
    title: "InferenceX",
    tried: "rows of its own repository, of vLLM 0.21",
    recognises: |document| document.has(&["hw", "conc", "framework", "tput_per_gpu"]),
    read: |document| {
        let parts: Result<Vec<Submission>, Problem> = document.rows().iter().map(row).collect();
        Ok(build::gather(parts?))
    },
};

/// Latencies: the name in the keys, the metric of ours, unit, what a reader must know.
const LATENCIES: [(&str, Option<&str>, &str, &str); 5] = [
    (
        "ttft",
        Some("client_wall_ttft_s"),
        "s",
        "to the first chunk that its client, derived from vLLM's, counts",
    ),
    ("itl", Some("client_wall_gap_s"), "s", "between the chunks that its client counts"),
    ("e2el", Some("client_wall_e2e_s"), "s", "to the last chunk that its client counts"),
    ("tpot", None, "s", "(latency − TTFT) / (output tokens − 1) of each request"),
    ("intvty", None, "tok/s/user", "1 / TPOT at the same statistic"),
];

/// Rates and measures of power, each with its unit.
const RATES: [(&str, &str, Option<&str>); 3] = [
    ("tput_per_gpu", "tok/s/GPU", Some("prompt and output tokens together")),
    ("output_tput_per_gpu", "tok/s/GPU", None),
    ("input_tput_per_gpu", "tok/s/GPU", None),
];

const POWER: [(&str, &str); 4] = [
    ("avg_power_w", "W"),
    ("joules_per_total_token", "J/tok"),
    ("joules_per_output_token", "J/tok"),
    ("joules_per_input_token", "J/tok"),
];

fn row(row: &Node<'_>) -> Result<Submission, Problem> {
    let mut part = build::submission(&FORMAT, None, Evidence::Summary);
    system(row, &mut part)?;
    settings(row, &mut part)?;
    seconds(row)?;
    let mut case = case(row)?;
    for (key, metric, unit, note) in LATENCIES {
        case.stated.extend(latency(row, key, metric, unit, note)?);
    }
    row.need_number("tput_per_gpu")?;
    for (key, unit, note) in RATES {
        case.stated.extend(build::own(row, key, unit, note)?);
    }
    if is_true(row, "power_valid") {
        for (key, unit) in POWER {
            case.stated.extend(build::own(row, key, unit, None)?);
        }
    }
    part.cases.push(case);
    part.notes.push(build::lacks(
        "client_wall_aggregate_tok_s",
        "rates are per GPU, and of how many GPUs is not told",
    ));
    part.notes.push(build::lacks(
        "client_wall_decode_tok_s, runs",
        "a row has no requests, and not how many there were",
    ));
    part.notes.push(build::lacks("engine_… figures, tokens_per_step", "a row has none of them"));
    Ok(part)
}

/// `InferenceX` writes flags as flags, as numbers and as words.
fn is_true(row: &Node<'_>, key: &str) -> bool {
    match row.get(key).and_then(|value| value.setting()) {
        Some(Setting::Flag(flag)) => flag,
        Some(Setting::Number(n)) => n == 1.0,
        Some(Setting::Text(text)) => text.eq_ignore_ascii_case("true") || text == "1",
        None => false,
    }
}

fn degree(row: &Node<'_>, key: &str) -> Result<Option<u32>, Problem> {
    Ok(row.count(key)?.and_then(|n| u32::try_from(n).ok()))
}

fn system(row: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let framework = row.need_text("framework")?;
    let engine = match framework {
        "vllm" => "vLLM",
        "sglang" => "SGLang",
        "trt" => "TensorRT-LLM",
        other => other,
    };
    engine.clone_into(&mut part.system.engine.name);
    if let Some(model) = row.text("model")?.or(row.text("infmax_model_prefix")?) {
        build::model_name(model).clone_into(&mut part.system.model.name);
    }
    part.system.model.quantisation = row.text("precision")?.map(str::to_owned);
    let hardware = row.need_text("hw")?;
    hardware.clone_into(&mut part.system.hardware.name);
    let gpus = degree(row, "num_prefill_gpu")?.zip(degree(row, "num_decode_gpu")?);
    part.system.hardware.accelerators = Some(vec![Accelerator {
        name: hardware.to_owned(),
        // Where both do both, they are the same.
        count: gpus
            .filter(|_| is_true(row, "disagg"))
            .map(|(prefill, decode)| prefill.saturating_add(decode)),
        ..Accelerator::default()
    }]);
    part.system.topology.tensor_parallel = degree(row, "tp")?;
    part.system.topology.pipeline_parallel = degree(row, "pp")?;
    part.system.topology.expert_parallel = degree(row, "ep")?;
    Ok(())
}

fn settings(row: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let mut label = Vec::new();
    for (key, value) in row.members() {
        let of_a_side = key.starts_with("prefill_") || key.starts_with("decode_");
        let is_degree = matches!(key, "tp" | "pp" | "ep" | "dcp_size" | "pcp_size");
        let is_flag = matches!(key, "disagg" | "is_multinode" | "dp_attention");
        let is_layout =
            of_a_side && ["_tp", "_ep", "_dp_attention", "_num_workers"].iter().any(|end| key.ends_with(end));
        if is_degree || is_layout || key.starts_with("num_") {
            build::requested(part, key, value.setting());
        } else if is_flag {
            build::requested(part, key, Some(Setting::Flag(is_true(row, key))));
        }
        if is_degree && let Some(value) = value.setting() {
            label.push(format!("{key}{value}"));
        }
    }
    if is_true(row, "dp_attention") {
        label.push("dpa".into());
    }
    if is_true(row, "disagg") {
        label.push("disagg".into());
    }
    if let Some(kind) = row.text("spec_decoding")? {
        build::effective(part, "speculative", Some(Setting::Text(kind.to_owned())));
        if kind != "none" {
            label.push(kind.to_owned());
        }
    }
    build::effective(part, "image", row.get("image").and_then(|image| image.setting()));
    if !label.is_empty() {
        part.label = label.join("-");
    }
    Ok(())
}

/// Whether the latencies are in seconds, by the two of them that are each other's reciprocal.
fn seconds(row: &Node<'_>) -> Result<(), Problem> {
    for statistic in ["mean", "median", "p99"] {
        let key = format!("{statistic}_tpot");
        let (time, rate) = (row.number(&key)?, row.number(&format!("{statistic}_intvty"))?);
        let Some((time, rate)) = time.zip(rate).filter(|(time, rate)| *time > 0.0 && *rate > 0.0) else {
            continue;
        };
        if !(0.9..1.1).contains(&(time * rate)) {
            return Err(Problem {
                path: row.path_to(&key),
                message: format!("is not 1 / `{statistic}_intvty`: the latencies are not in seconds"),
                remedy: "Import the row as InferenceX wrote it".into(),
            });
        }
    }
    Ok(())
}

fn case(row: &Node<'_>) -> Result<Case, Problem> {
    let streams = degree(row, "conc")?.ok_or_else(|| row.missing("conc"))?.max(1);
    let (prompt, output) = (row.need_count("isl")?, row.need_count("osl")?);
    let id = format!("inferencex_{prompt}_{output}_c{streams}");
    let mut case = build::case(&id, Regime::Load, "random", streams);
    (case.prompt_tokens_target, case.output_tokens_target) = (Some(prompt), Some(output));
    case.description = Some(
        "Lengths are the recipe's: where its range ratio is below 1 they are upper bounds, not means.".into(),
    );
    Ok(case)
}

/// Every `<statistic>_<key>` of the row, the deviation in the note of the mean.
fn latency(
    row: &Node<'_>,
    key: &str,
    metric: Option<&str>,
    unit: &str,
    note: &str,
) -> Result<Vec<StatedEstimate>, Problem> {
    let told = Told { metric: metric.unwrap_or(key), unit, is_ours: metric.is_some(), scale: 1.0, note };
    let mut figures = Vec::new();
    for (name, _) in row.members() {
        let Some(statistic) = name.strip_suffix(key).and_then(|rest| rest.strip_suffix('_')) else {
            continue;
        };
        if statistic == "std" || statistic.contains('_') {
            continue;
        }
        let mut found = told.others(row, &[(name, statistic)])?;
        if statistic == "mean" && key != "intvty" {
            let spread = build::spread_note("population", row.number(&format!("std_{key}"))?, unit);
            for figure in &mut found {
                figure.note = joined(&[figure.note.as_deref(), spread.as_deref()]);
            }
        }
        figures.extend(found);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::submission::{Evidence, StatedEstimate, Submission};
    use crate::validate::validate;

    const FILE: &str = include_str!("../../tests/fixtures/import/inferencex/rows.json");

    fn all(text: &str) -> Vec<Submission> {
        let found = read(text, None).unwrap();
        assert_eq!(found.format, "inferencex");
        for shard in &found.submissions {
            assert_eq!(validate(shard), []);
        }
        found.submissions
    }

    fn find<'a>(
        shard: &'a Submission,
        case: usize,
        metric: &str,
        statistic: Option<&str>,
    ) -> &'a StatedEstimate {
        let of = |s: &&StatedEstimate| s.metric == metric && s.statistic.as_deref() == statistic;
        shard.cases[case].stated.iter().find(of).unwrap()
    }

    #[test]
    fn rows_of_one_configuration_are_the_cases_of_one_submission() {
        let shards = all(FILE);
        let [shard] = shards.as_slice() else { panic!("{} submissions", shards.len()) };
        assert_eq!(shard.provenance.evidence, Evidence::Summary);
        assert_eq!(shard.label, "tp8-ep1-mtp");
        assert_eq!(
            (shard.system.engine.name.as_str(), shard.system.hardware.name.as_str()),
            ("vLLM", "mi355x")
        );
        assert_eq!(shard.system.topology.tensor_parallel, Some(8));
        let ids: Vec<&str> = shard.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["inferencex_1024_1024_c4", "inferencex_8192_1024_c32"]);
        let ttft = find(shard, 0, "client_wall_ttft_s", Some("mean"));
        assert_eq!(ttft.value, Some(0.317_086_316_068_889_6));
        assert!(ttft.note.as_ref().unwrap().contains("standard deviation 0.0725 s"));
        assert_eq!(find(shard, 1, "client_wall_e2e_s", Some("p99.9")).value, Some(253.668_367_229_572_74));
        let rate = find(shard, 1, "output_tput_per_gpu", None);
        assert_eq!((rate.value, rate.unit.as_deref()), (Some(17.570_572_695_115_27), Some("tok/s/GPU")));
        assert_eq!(find(shard, 0, "tpot", Some("median")).unit.as_deref(), Some("s"));
        let told =
            |statistic: &str| shard.cases[0].stated.iter().any(|s| s.statistic.as_deref() == Some(statistic));
        assert!(told("p90") && !told("std"));
        let setting = shard.configuration.requested.get("dp_attention");
        assert_eq!(setting, Some(&crate::system::Setting::Flag(false)), "a flag in quotes");
    }

    #[test]
    fn another_configuration_is_another_submission_and_one_row_is_enough() {
        let other = FILE.replacen("\"tp\": 8", "\"tp\": 4", 1);
        assert_eq!(all(&other).len(), 2);
        let row = FILE.trim().trim_start_matches('[').split("},").next().unwrap().to_owned() + "}";
        assert_eq!(all(&row)[0].cases.len(), 1);
    }

    #[test]
    fn latencies_in_milliseconds_are_told_by_their_reciprocal_and_refused() {
        let ms = FILE.replace("\"mean_tpot\": 0.017294128568510713", "\"mean_tpot\": 17.294128568510713");
        let said = read(&ms, None).unwrap_err().to_string();
        assert!(
            said.contains("[0].mean_tpot: is not 1 / `mean_intvty`: the latencies are not in seconds"),
            "{said}"
        );
    }

    #[test]
    fn power_counts_only_where_the_row_says_that_it_is_valid() {
        let with = |valid: &str| {
            FILE.replacen(
                "\"conc\": 4",
                &format!("\"conc\": 4, \"avg_power_w\": 812.5, \"power_valid\": {valid}"),
                1,
            )
        };
        let has = |text: &str| all(text)[0].cases[0].stated.iter().any(|s| s.metric == "avg_power_w");
        assert!(has(&with("1")) && !has(&with("0")) && !has(&with("null")));
    }

    #[test]
    fn a_row_without_its_rate_is_named() {
        let said =
            read(&FILE.replacen("\"tput_per_gpu\": 55.62670336516291", "\"tput_per_gpu\": null", 1), None);
        assert!(said.unwrap_err().to_string().contains("[0].tput_per_gpu: is missing"));
    }
}
