//! `llama-bench -o json` and `-o jsonl`: a row for each test of each configuration.

use super::build;
use super::{Document, Format, Node};
use crate::format::fixed;
use crate::record::{EngineTimings, RequestRecord, TokenCountSource};
use crate::submission::{Case, Evidence, Run, Submission};
use crate::system::Accelerator;
use crate::units::{Seconds, Tokens};
use crate::validate::Problem;
use crate::workload::Regime;

/// See the module.
pub const FORMAT: Format = Format {
    tag: "llama-bench",
    title: "llama-bench",
    tried: "json of November 2026; jsonl and older keys from its source",
    recognises: |document| {
        document.has(&["build_commit", "model_filename", "n_prompt", "n_gen", "samples_ns"])
    },
    read,
};

/// Keys that say what was tested, where and with which result. All others are settings, whatever a version adds.
const NO_SETTINGS: [&str; 19] = [
    "build_commit",
    "build_number",
    "cpu_info",
    "gpu_info",
    "model_filename",
    "model_type",
    "model_size",
    "model_n_params",
    "n_prompt",
    "n_gen",
    "n_depth",
    "test_time",
    "avg_ns",
    "stddev_ns",
    "avg_ts",
    "stddev_ts",
    "samples_ns",
    "samples_ts",
    "test",
];

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let parts: Result<Vec<Submission>, Problem> = document.rows().iter().map(test).collect();
    let mut shards = build::gather(parts?);
    label(&mut shards);
    Ok(shards)
}

/// One test of one configuration.
fn test(row: &Node<'_>) -> Result<Submission, Problem> {
    let mut part = build::submission(&FORMAT, None, Evidence::Raw);
    part.provenance.started_at = row.text("test_time")?.and_then(build::utc_text);
    system(row, &mut part)?;
    for (key, value) in row.members() {
        if !NO_SETTINGS.contains(&key) {
            build::requested(&mut part, key, value.setting());
        }
    }
    part.notes = vec![
        "the engine's own clock, without tokenisation, sampling and HTTP".into(),
        build::lacks("client_wall_… figures", "there is no client"),
        "a rate is all tokens over all time; the tool's own mean of the rates differs a little".into(),
    ];
    match (row.need_count("n_prompt")?, row.need_count("n_gen")?) {
        (prompt, answer) if prompt > 0 && answer > 0 => {
            let rate =
                row.number("avg_ts")?.map_or_else(String::new, |rate| format!(" ({} tok/s)", fixed(rate, 2)));
            part.notes.push(format!(
                "pp{prompt}+tg{answer}{rate} mixes prefill and decode in one rate and is left out"
            ));
        }
        (prompt, answer) => part.cases.push(case(row, prompt, answer)?),
    }
    Ok(part)
}

fn case(row: &Node<'_>, prompt: u64, answer: u64) -> Result<Case, Problem> {
    let depth = row.count("n_depth")?.filter(|depth| *depth > 0);
    let (name, tokens, regime) = match (answer, depth) {
        (0, None) => ("pp", prompt, Regime::ColdPrefill),
        (0, Some(_)) => ("pp", prompt, Regime::CachedPrefix),
        (_, None) => ("tg", answer, Regime::Decode),
        (_, Some(_)) => ("tg", answer, Regime::DecodeAtDepth),
    };
    let behind = depth.map_or_else(String::new, |depth| format!("_d{depth}"));
    let mut case = build::case(&format!("{name}{tokens}{behind}"), regime, "random tokens", 1);
    case.depth_tokens = depth;
    case.prompt_tokens_target = (answer == 0).then_some(prompt);
    case.output_tokens_target = (answer > 0).then_some(answer);
    let samples = row.numbers("samples_ns")?.ok_or_else(|| row.missing("samples_ns"))?;
    for (ns, number) in samples.iter().zip(1..) {
        let took = ns.filter(|ns| *ns > 0.0).map(|ns| Seconds(ns / 1e9));
        let mut timings = EngineTimings { source: FORMAT.title.into(), ..EngineTimings::default() };
        let mut request = RequestRecord::default();
        if answer == 0 {
            (timings.prompt_tokens, timings.prompt_s) = (Some(Tokens(prompt)), took);
            request.prompt_tokens = timings.prompt_tokens;
        } else {
            (timings.output_tokens, timings.decode_s) = (Some(Tokens(answer)), took);
            request.output_tokens = timings.output_tokens;
            request.token_count_source = Some(TokenCountSource::EngineTimings);
        }
        request.engine = Some(timings);
        case.runs.push(Run { number, requests: vec![request], ..Run::default() });
    }
    Ok(case)
}

fn system(row: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let system = &mut part.system;
    "llama.cpp".clone_into(&mut system.engine.name);
    system.engine.version = row.count("build_number")?.filter(|n| *n > 0).map(|n| format!("b{n}"));
    system.engine.commit = row.text("build_commit")?.filter(|commit| *commit != "unknown").map(str::to_owned);
    let file = row.need_text("model_filename")?;
    system.model.format = build::is_gguf(file).then(|| "GGUF".to_owned());
    // `llama 256M Q4_1`: architecture, size, quantisation.
    let quantisation = row.text("model_type")?.and_then(|words| words.splitn(3, ' ').nth(2));
    system.model.quantisation = quantisation.map(build::quantisation);
    let name = build::model_name(file);
    build::without_quantisation(name, system.model.quantisation.as_deref().unwrap_or_default())
        .clone_into(&mut system.model.name);
    system.model.size_bytes = row.count("model_size")?;
    system.model.parameters = row.count("model_n_params")?;
    let (cpu, gpu) = (row.text("cpu_info")?, row.text("gpu_info")?);
    system.hardware.cpu = cpu.map(str::to_owned);
    system.hardware.accelerators = row.has("gpu_info").then(|| accelerators(gpu.unwrap_or_default()));
    if let Some(name) = gpu.or(cpu) {
        name.clone_into(&mut system.hardware.name);
    }
    Ok(())
}

/// `A, A, B`: two of one kind and one of another.
fn accelerators(listed: &str) -> Vec<Accelerator> {
    let mut kinds: Vec<Accelerator> = Vec::new();
    for name in listed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => kind.count = kind.count.map(|n| n + 1),
            None => kinds.push(Accelerator { name: name.into(), count: Some(1), ..Accelerator::default() }),
        }
    }
    kinds
}

/// Names each configuration by the settings in which it differs from the others.
fn label(shards: &mut [Submission]) {
    let Some(first) = shards.first().map(|shard| shard.configuration.requested.clone()) else { return };
    let differs = |shards: &[Submission], key: &String| {
        shards.iter().any(|shard| shard.configuration.requested.get(key) != first.get(key))
    };
    let keys: Vec<String> = first.keys().filter(|key| differs(shards, key)).cloned().collect();
    for shard in shards {
        let settings: Vec<String> = keys
            .iter()
            .filter_map(|key| Some(format!("{key}={}", shard.configuration.requested.get(key)?)))
            .collect();
        if !settings.is_empty() {
            shard.label = settings.join(" ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::summary::summarize;
    use crate::validate::validate;

    fn row(threads: u32, prompt: u32, answer: u32, depth: u32, samples: &str) -> String {
        format!(
            r#"{{"build_commit": "abc1234", "build_number": 11434, "cpu_info": "Xeon", "gpu_info": "A, A, B",
            "backends": "CUDA", "model_filename": "/data/m.Q4_K_M.gguf", "model_type": "qwen2 7B Q4_K - Medium",
            "model_size": 96576768, "model_n_params": 134515008, "n_threads": {threads}, "type_k": "f16",
            "brand_new": true, "n_prompt": {prompt}, "n_gen": {answer}, "n_depth": {depth},
            "test_time": "2026-11-30T16:33:16Z", "avg_ts": 40.0, "samples_ns": {samples}}}"#
        )
        .replace('\n', " ")
    }

    fn shards(text: &str) -> Vec<Submission> {
        let found = read(text, None).unwrap().submissions;
        for shard in &found {
            assert_eq!(validate(shard), []);
        }
        found
    }

    #[test]
    fn each_configuration_is_a_submission_named_by_what_differs() {
        let rows =
            [row(1, 128, 0, 0, "[1000000000]"), row(2, 128, 0, 0, "[500000000]"), row(2, 0, 32, 512, "[1]")];
        for text in [format!("[{}]", rows.join(",")), rows.join("\n")] {
            let found = shards(&text);
            let labels: Vec<(&str, usize)> =
                found.iter().map(|s| (s.label.as_str(), s.cases.len())).collect();
            assert_eq!(labels, [("n_threads=1", 1), ("n_threads=2", 2)]);
            let case = &found[1].cases[1];
            assert_eq!((case.id.as_str(), case.regime), ("tg32_d512", Regime::DecodeAtDepth));
        }
    }

    #[test]
    fn repetitions_are_runs_of_the_engines_clock_and_numbers_in_quotes_are_numbers() {
        let found = shards(&row(1, 100, 0, 0, r#"["1000000000", 3000000000]"#));
        let summary = summarize(&found[0].cases[0]);
        let rate = summary.get("engine_prefill_tok_s").unwrap();
        assert_eq!((rate.value, rate.n), (Some(50.0), Some(2)));
        assert_eq!(summary.get("client_wall_prefill_tok_s"), None);
    }

    #[test]
    fn a_mixed_test_is_no_decode_rate_and_says_so() {
        let found = shards(&row(1, 512, 128, 0, "[1000000000]"));
        assert_eq!(found[0].cases.len(), 0);
        assert!(found[0].notes.iter().any(|note| note.contains("pp512+tg128 (40.00 tok/s) mixes")));
    }

    #[test]
    fn the_system_is_what_the_row_says() {
        let system = &shards(&row(1, 1, 0, 0, "[1]"))[0].system;
        assert_eq!(system.model.name, "m");
        assert_eq!(system.model.quantisation.as_deref(), Some("Q4_K_M"));
        assert_eq!(system.engine.version.as_deref(), Some("b11434"));
        let kinds = system.hardware.accelerators.as_ref().unwrap();
        assert_eq!((kinds.len(), kinds[0].count), (2, Some(2)));
    }
}
