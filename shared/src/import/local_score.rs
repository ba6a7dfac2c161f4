//! `LocalScore`: what its program sends to its site.

use super::build;
use super::{Document, Format, Node};
use crate::format::fixed;
use crate::submission::{Case, Evidence, Submission};
use crate::system::Accelerator;
use crate::validate::Problem;
use crate::workload::Regime;

/// See the module.
pub const FORMAT: Format = Format {
    tag: "local-score",
    title: "LocalScore",
    tried: "its source of November 2026",
    recognises: |document| document.has(&["accelerator_info", "runtime_info", "results"]),
    read,
};

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    let mut parts = Vec::new();
    for whole in document.rows() {
        for test in whole.list("results")? {
            parts.push(part(&whole, &test)?);
        }
    }
    Ok(build::gather(parts))
}

/// One test: a prompt and an answer, which are two regimes.
fn part(whole: &Node<'_>, test: &Node<'_>) -> Result<Submission, Problem> {
    let mut part = build::submission(&FORMAT, None, Evidence::Summary);
    system(whole, test, &mut part)?;
    part.notes = vec![
        "the runtime's own clock, without HTTP".into(),
        build::lacks("client_wall_… figures", "there is no client"),
        "which statistic over which repetitions a figure is, the file does not say".into(),
    ];
    if let Some(score) = whole.at(&["results_summary", "performance_score"]) {
        let score = score.as_number()?.map(|score| fixed(score, 1));
        part.notes.extend(score.map(|score| format!("the tool's own score over all its tests: {score}")));
    }
    let (prompt, answer) = (test.need_count("n_prompt")?, test.need_count("n_gen")?);
    let case = |kind: &str, regime| {
        let mut case = build::case(&format!("{kind}_{prompt}_{answer}"), regime, build::NOT_STATED, 1);
        case.prompt_tokens_target = Some(prompt);
        case.output_tokens_target = Some(answer);
        case
    };
    let state = |case: &mut Case, metric: &str, value| {
        case.stated.extend(build::stated(metric, None, positive(value)));
    };
    let mut prefill = case("prefill", Regime::ColdPrefill);
    state(&mut prefill, "engine_prefill_tok_s", test.number("prompt_tps")?);
    state(&mut prefill, "engine_ttft_s", build::seconds_of_ms(test.number("ttft_ms")?));
    let mut decode = case("decode", Regime::Decode);
    state(&mut decode, "engine_decode_tok_s", test.number("gen_tps")?);
    for (case, per_watt) in [(&mut prefill, "prompt_tps_watt"), (&mut decode, "gen_tps_watt")] {
        for (key, unit) in [(per_watt, "tok/s/W"), ("power_watts", "W")] {
            let figure = build::own(test, key, unit, None)?;
            case.stated.extend(figure.filter(|figure| positive(figure.value).is_some()));
        }
    }
    part.cases.extend([prefill, decode]);
    Ok(part)
}

/// The tool writes 0 for what it did not measure.
fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|x| *x > 0.0)
}

fn system(whole: &Node<'_>, test: &Node<'_>, part: &mut Submission) -> Result<(), Problem> {
    let system = &mut part.system;
    let words =
        |node: &Node<'_>, key| -> Result<Option<String>, Problem> { Ok(node.text(key)?.map(str::to_owned)) };
    let gigabytes = |node: &Node<'_>, key| -> Result<Option<u64>, Problem> {
        Ok(positive(node.number(key)?).map(|gb| libm::round(gb * 1e9) as u64))
    };
    let (runtime, accelerator) = (whole.need("runtime_info")?, whole.need("accelerator_info")?);
    if let Some(name) = words(&runtime, "name")? {
        system.engine.name = name;
    }
    system.engine.version = words(&runtime, "version")?;
    system.engine.commit = words(&runtime, "commit")?;
    build::model_name(test.need_text("model_name")?).clone_into(&mut system.model.name);
    system.model.quantisation = test.text("model_quant_str")?.map(build::quantisation);
    system.model.parameters = test.count("model_n_params")?;
    if let Some(name) = words(&accelerator, "name")? {
        let is_cpu = accelerator.text("type")? == Some("CPU");
        system.hardware.accelerators = Some(if is_cpu {
            Vec::new()
        } else {
            let memory_bytes = gigabytes(&accelerator, "memory_gb")?;
            vec![Accelerator { name: name.clone(), count: Some(1), memory_bytes, ..Accelerator::default() }]
        });
        system.hardware.name = name;
    }
    if let Some(host) = whole.get("system_info") {
        system.hardware.cpu = words(&host, "cpu_name")?;
        system.hardware.memory_bytes = gigabytes(&host, "ram_gb")?;
        let kernel = [host.text("kernel_type")?, host.text("kernel_release")?];
        let kernel: Vec<&str> = kernel.into_iter().flatten().collect();
        system.hardware.os = (!kernel.is_empty()).then(|| kernel.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::validate::validate;

    const FILE: &str = r#"{"system_info": {"cpu_name": "Ryzen", "ram_gb": 64, "kernel_type": "Linux"},
        "accelerator_info": {"name": "RTX 4090", "type": "GPU", "memory_gb": 24},
        "runtime_info": {"name": "llamafile", "version": "0.9.2", "commit": "abc"},
        "results_summary": {"performance_score": 812.34},
        "results": [
            {"name": "pp1024+tg16", "model_name": "Llama 3.2 1B", "model_quant_str": "Q4_K - Medium",
             "n_prompt": 1024, "n_gen": 16, "prompt_tps": 9000.5, "gen_tps": 210.0, "ttft_ms": 118.0, "power_watts": 0},
            {"name": "pp16+tg1536", "model_name": "Llama 3.2 1B", "model_quant_str": "Q4_K - Medium",
             "n_prompt": 16, "n_gen": 1536, "prompt_tps": 900.0, "gen_tps": 220.0, "ttft_ms": 20.0}]}"#;

    #[test]
    fn a_test_is_a_prefill_and_a_decode_whose_figures_are_the_engines() {
        let shard = read(FILE, None).unwrap().submissions.remove(0);
        assert_eq!(validate(&shard), []);
        let ids: Vec<&str> = shard.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["prefill_1024_16", "decode_1024_16", "prefill_16_1536", "decode_16_1536"]);
        let stated: Vec<(&str, Option<f64>)> =
            shard.cases[0].stated.iter().map(|s| (s.metric.as_str(), s.value)).collect();
        assert_eq!(stated, [("engine_prefill_tok_s", Some(9000.5)), ("engine_ttft_s", Some(0.118))]);
        assert!(shard.notes.iter().any(|note| note.contains("score over all its tests: 812.3")));
    }

    #[test]
    fn a_processor_is_no_accelerator_and_a_test_without_lengths_is_named() {
        let cpu = FILE.replace("\"GPU\"", "\"CPU\"");
        assert_eq!(read(&cpu, None).unwrap().submissions[0].system.hardware.accelerators, Some(Vec::new()));
        let error = read(&FILE.replace("\"n_prompt\": 16,", ""), None).unwrap_err().to_string();
        assert!(error.contains("LocalScore: results[1].n_prompt: is missing"), "{error}");
    }
}
