//! Every shard under `results/` may be published and lies where its content says; the transcribed ones hold what
//! their sources state.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says by panicking what it found")]

use std::path::{Path, PathBuf};

use dyno_shared::metric;
use dyno_shared::shard;
use dyno_shared::slug::slug;
use dyno_shared::submission::{Case, Evidence, Origin, StatedComparison, StatedEstimate, Submission};
use serde_json::Value;

/// The case ids of `bench.py`, in the order of its tables.
const WORKLOADS: [&str; 6] = ["code", "prose", "structured", "counting", "mixed4", "mixed8"];

#[test]
fn every_shard_is_valid_and_lies_where_its_content_says() {
    for (path, text) in shards() {
        let submission = shard::read(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let [engine, date, file] = path.split('/').collect::<Vec<_>>()[..] else {
            panic!("{path} is not <engine>/<date>/<file>.json")
        };
        assert_eq!(engine, slug(&submission.system.engine.name), "{path}: engine");
        let measured =
            submission.provenance.started_at.as_deref().map_or("undated", |at| at.split('T').next().unwrap());
        assert_eq!(date, measured, "{path}: date");
        let name = file.strip_suffix(".json").unwrap();
        let parts: Vec<&str> = name.split("--").collect();
        assert_eq!(parts.len(), 3, "{path}: the name is not <hardware>--<model>--<label>");
        for part in parts {
            assert_eq!(part, slug(part), "{path}: `{part}` is not in lower case with hyphens");
        }
    }
}

#[test]
fn a_transcription_names_its_source_and_has_no_runs_and_a_raw_shard_has_them() {
    for (path, submission) in submissions() {
        let runs = submission.cases.iter().map(|case| case.runs.len() + case.warmups.len()).sum::<usize>();
        match &submission.provenance.origin {
            Origin::Transcribed { source, location, .. } => {
                assert_eq!(submission.provenance.evidence, Evidence::Summary, "{path}");
                assert!(!source.trim().is_empty() && location.is_some(), "{path}: where is it from?");
                assert_eq!(runs, 0, "{path}: nobody transcribes runs");
                let system = &submission.system;
                let name = [&system.hardware.name, &system.model.name, &submission.label]
                    .map(|part| slug(part))
                    .join("--");
                assert!(path.ends_with(&format!("/{name}.json")), "{path} should be named {name}.json");
                let figures = submission.cases.iter().map(|case| case.stated.len()).sum::<usize>();
                assert!(figures + submission.stated_comparisons.len() > 0, "{path} states nothing");
            }
            _ if submission.provenance.evidence == Evidence::Raw => {
                assert!(!submission.cases.is_empty(), "{path} has no case");
                for case in &submission.cases {
                    assert!(!case.runs.is_empty(), "{path}: {} has no run", case.id);
                }
            }
            _ => {}
        }
    }
}

/// A misspelt field would be read as unknown, and its figure would be lost without a word.
#[test]
fn no_word_of_a_transcription_is_lost_in_reading() {
    for (path, text) in shards() {
        let submission = shard::read(&text).unwrap();
        if matches!(submission.provenance.origin, Origin::Transcribed { .. }) {
            assert_survives(
                &path,
                &serde_json::from_str(&text).unwrap(),
                &serde_json::to_value(&submission).unwrap(),
            );
        }
    }
}

#[test]
fn a_stated_figure_is_a_metric_of_the_table_or_has_a_unit_of_its_own() {
    for (path, submission) in transcribed() {
        for case in &submission.cases {
            let mut names = std::collections::BTreeSet::new();
            for stated in &case.stated {
                let known = metric::find(&stated.metric).is_some();
                assert!(known || stated.unit.is_some(), "{path}: {} {}", case.id, stated.metric);
                assert!(names.insert(&stated.metric), "{path}: {} states {} twice", case.id, stated.metric);
            }
        }
    }
}

#[test]
fn the_results_table_of_bench_py_is_there_cell_by_cell() {
    let table = [
        (
            "tp-2",
            [
                (66.2, 61.5, 71.6),
                (42.6, 41.7, 43.6),
                (94.7, 89.1, 100.4),
                (97.2, 96.0, 98.5),
                (82.6, 79.0, 86.1),
                (109.6, 103.0, 117.6),
            ],
        ),
        (
            "tp-3",
            [
                (88.0, 82.9, 93.9),
                (54.2, 53.3, 55.1),
                (121.4, 115.2, 127.8),
                (125.0, 122.8, 127.2),
                (106.8, 100.6, 113.7),
                (138.0, 129.6, 146.1),
            ],
        ),
        (
            "tp-4",
            [
                (117.3, 111.7, 123.9),
                (70.5, 69.5, 71.6),
                (164.3, 158.3, 170.4),
                (170.5, 168.5, 172.4),
                (144.4, 139.3, 149.7),
                (194.0, 188.5, 200.2),
            ],
        ),
    ];
    for (set_up, cells) in table {
        let submission = one(&format!("not-stated/undated/not-stated--glm53--{set_up}.json"));
        assert_eq!(submission.cases.len(), WORKLOADS.len());
        for (workload, (value, low, high)) in WORKLOADS.into_iter().zip(cells) {
            let mixed = workload.starts_with("mixed");
            let tag = if mixed { "client_wall_batch_decode_tok_s" } else { "client_wall_decode_tok_s" };
            let stated = figure(&submission, workload, tag);
            let place = format!("{set_up} {workload}");
            assert_eq!(
                (stated.value, stated.low, stated.high),
                (Some(value), Some(low), Some(high)),
                "{place}"
            );
            assert_eq!(stated.statistic.as_deref(), Some("ratio of totals"), "{place}");
            assert_eq!(stated.interval.as_deref(), Some("bootstrap 95 %"), "{place}");
            assert_eq!(stated.rate_convention.as_deref(), Some("n"), "{place}");
            let boots = if set_up == "tp-4" { 2 } else { 1 };
            assert_eq!(stated.n, Some(boots * if mixed { 8 } else { 16 }), "{place}");
        }
    }
}

#[test]
fn the_two_boots_table_of_bench_py_is_there_cell_by_cell() {
    let submission = one("not-stated/undated/not-stated--glm53--tp-4.json");
    let table = [
        (1.004, 0.996, 1.015),
        (1.004, 1.001, 1.007),
        (0.998, 0.993, 1.001),
        (1.003, 1.000, 1.009),
        (0.976, 0.951, 1.000),
        (1.001, 0.968, 1.036),
    ];
    assert_eq!(submission.stated_comparisons.len(), table.len());
    for (workload, (ratio, low, high)) in WORKLOADS.into_iter().zip(table) {
        let stated = comparison(&submission, workload, "boot");
        assert_eq!(
            (stated.ratio, stated.low, stated.high),
            (Some(ratio), Some(low), Some(high)),
            "{workload}"
        );
        assert_eq!(stated.p.as_deref(), Some("Holm-corrected p ≥ 0.20"), "{workload}");
    }
}

#[test]
fn figures_of_the_benchmark_thread_are_what_its_comments_state() {
    const QUADRO: &str = "2026-08-29/quadro-rtx-4000--qwen3.6-35b-a3b";
    const RTX_3090: &str = "freetoken/2026-08-31/rtx-3090--dealignai-qwen3.8-flash-next-abliterated-nvfp4";
    const RADIXARK: &str = "radixark-qwen3.8-flash-next-nvfp4";
    let points = [
        (format!("ollama/{QUADRO}--q4-k-m-cpu-gpu"), "cold_prefill_3k", "engine_prefill_tok_s", 307.67),
        (format!("ollama/{QUADRO}--q4-k-m-cpu-gpu"), "decode_3k", "engine_decode_tok_s", 15.59),
        (format!("ollama/{QUADRO}--q4-k-m-cpu-gpu"), "decode_long", "engine_decode_tok_s", 16.07),
        (format!("freetoken/{QUADRO}--q4-k-offload"), "cold_prefill_3k", "prefill", 188.10),
        (format!("freetoken/{QUADRO}--iq3-s-offload"), "decode_3k", "decode", 45.44),
        (format!("{RTX_3090}--offload"), "decode_at_depth_75k", "client_wall_decode_tok_s", 12.6),
        (format!("{RTX_3090}--offload"), "decode_at_depth_75k", "engine_decode_tok_s", 21.3),
        (format!("{RTX_3090}--hybrid-profile"), "bench_bw", "CPU-MoE", 65.8),
        (
            format!("freetoken/2026-09-01/rtx-5090--{RADIXARK}--offload"),
            "load_2000_c8",
            "client_wall_ttft_s",
            15.1,
        ),
        (
            format!("freetoken/2026-09-01/rtx-5090--{RADIXARK}--offload"),
            "load_2000_c4",
            "client_wall_aggregate_tok_s",
            32.3,
        ),
        (
            format!("freetoken/2026-09-01/rtx-5090--{RADIXARK}--flashinfer-b12x"),
            "first_request_not_warmed",
            "wall time",
            140.0,
        ),
        (
            format!("freetoken/2026-09-02/rtx-pro-6000--{RADIXARK}--2m-pool"),
            "load_245k_c8",
            "client_wall_ttft_s",
            287.0,
        ),
        (
            format!("freetoken/2026-09-02/rtx-pro-6000--{RADIXARK}--8-sessions"),
            "session_110k_cached",
            "client_wall_ttft_s",
            5.7,
        ),
        (
            "freetoken/undated/rtx-6000-ada--deepseek-v4-flash--baseline".into(),
            "ft_bench_decode",
            "client_wall_two_length_decode_tok_s",
            15.12,
        ),
    ];
    for (path, case, tag, value) in points {
        assert_eq!(
            figure(&one(&format!("{path}.json")), case, tag).value,
            Some(value),
            "{path} {case} {tag}"
        );
    }
}

#[test]
fn a_stated_range_has_no_point_and_a_median_keeps_its_range() {
    const RTX_3090: &str = "freetoken/2026-08-31/rtx-3090--dealignai-qwen3.8-flash-next-abliterated-nvfp4";
    let offload = one(&format!("{RTX_3090}--offload.json"));
    let short = figure(&offload, "decode_70", "client_wall_decode_tok_s");
    assert_eq!((short.value, short.min, short.max, short.n), (None, Some(24.5), Some(24.7), Some(3)));
    let deep = figure(&offload, "decode_at_depth_75k", "client_wall_decode_tok_s");
    assert_eq!((deep.statistic.as_deref(), deep.min, deep.max), (Some("median"), Some(11.4), Some(13.0)));
    let unstable = one(&format!("{RTX_3090}--hybrid-no-profile.json"));
    let deep = figure(&unstable, "decode_at_depth_75k", "client_wall_decode_tok_s");
    assert_eq!((deep.value, deep.min, deep.max, deep.n), (None, Some(9.5), Some(29.1), Some(2)));
}

#[test]
fn engine_and_client_are_thirty_apart_at_depth_and_stand_as_two_figures() {
    let pool = one("freetoken/2026-09-02/rtx-pro-6000--radixark-qwen3.8-flash-next-nvfp4--2m-pool.json");
    assert_eq!(figure(&pool, "load_245k_c8", "client_wall_decode_tok_s").value, Some(1.4));
    let engine = figure(&pool, "load_245k_c8", "engine_decode_tok_s");
    assert_eq!((engine.value, engine.min, engine.max), (None, Some(325.0), Some(360.0)));
    assert_eq!(comparison(&pool, "load_245k_c8", "engine").ratio, Some(30.0));
}

#[test]
fn what_ollama_reports_is_never_a_client_figure() {
    let mut figures = 0;
    for (path, submission) in transcribed().filter(|(_, s)| s.system.engine.name == "Ollama") {
        for stated in submission.cases.iter().flat_map(|case| &case.stated) {
            assert!(!stated.metric.starts_with("client_wall_"), "{path}: {}", stated.metric);
            figures += usize::from(stated.metric.starts_with("engine_"));
        }
    }
    assert_eq!(figures, 5);
}

#[test]
fn the_microbenchmark_and_serving_disagree_as_stated() {
    let numa = one("freetoken/undated/not-stated--deepseek-v4-flash--cpu-moe-pool-on-one-numa-node.json");
    let ratios: Vec<Option<f64>> = numa.stated_comparisons.iter().map(|c| c.ratio).collect();
    assert_eq!(ratios, [Some(1.42), Some(1.30), Some(0.933), Some(0.72)]);
}

/// Path below `results/`, with `/` between the parts, and text of every shard.
fn shards() -> Vec<(String, String)> {
    let root = results();
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(!files.is_empty(), "no shard under {}", root.display());
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let below: Vec<_> =
                file.strip_prefix(&root).unwrap().iter().map(|part| part.to_str().unwrap()).collect();
            (below.join("/"), std::fs::read_to_string(&file).unwrap())
        })
        .collect()
}

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../results")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
}

fn submissions() -> impl Iterator<Item = (String, Submission)> {
    shards().into_iter().map(|(path, text)| (path, shard::read(&text).unwrap()))
}

fn transcribed() -> impl Iterator<Item = (String, Submission)> {
    submissions().filter(|(_, s)| matches!(s.provenance.origin, Origin::Transcribed { .. }))
}

fn one(path: &str) -> Submission {
    let text =
        std::fs::read_to_string(results().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    shard::read(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn figure<'a>(submission: &'a Submission, case: &str, metric: &str) -> &'a StatedEstimate {
    let case: &Case =
        submission.cases.iter().find(|c| c.id == case).unwrap_or_else(|| panic!("no case {case}"));
    case.stated.iter().find(|s| s.metric == metric).unwrap_or_else(|| panic!("no {metric} in {}", case.id))
}

/// The comparison of a case whose numerator's name holds `b`.
fn comparison<'a>(submission: &'a Submission, case: &str, b: &str) -> &'a StatedComparison {
    let found = submission.stated_comparisons.iter().find(|c| c.case == case && c.b.contains(b));
    found.unwrap_or_else(|| panic!("no comparison of {case} with {b}"))
}

/// Everything that was written is there after reading; numbers by value, since `400` and `400.0` are one.
#[track_caller]
fn assert_survives(path: &str, written: &Value, read: &Value) {
    match (written, read) {
        (Value::Object(fields), Value::Object(read)) => {
            for (key, field) in fields {
                let path = format!("{path}.{key}");
                let Some(read) = read.get(key) else { panic!("{path} is not a field of a shard") };
                assert_survives(&path, field, read);
            }
        }
        (Value::Array(items), Value::Array(read)) => {
            assert_eq!(items.len(), read.len(), "{path}");
            for (i, (item, read)) in items.iter().zip(read).enumerate() {
                assert_survives(&format!("{path}[{i}]"), item, read);
            }
        }
        (Value::Number(number), Value::Number(read)) => assert_eq!(number.as_f64(), read.as_f64(), "{path}"),
        _ => assert_eq!(written, read, "{path}"),
    }
}
