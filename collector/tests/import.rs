//! `dyno import` on real files of other tools, and on files that are none.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use dyno_shared::submission::{Case, Evidence, Origin, Submission};
use dyno_shared::summary::summarize;
use support::{Ran, call, dyno, shard};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tests/fixtures/import").join(name)
}

/// The shards of one file, in the order in which they were written, each fit for publication.
fn imported(name: &str) -> Vec<Submission> {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let ran = call(&["import", fixture(name).to_str().unwrap(), "--out", out.to_str().unwrap()]).ends(0);
    let files: Vec<&str> = ran.stdout.lines().collect();
    assert!(!files.is_empty());
    call(&[&["validate"], files.as_slice()].concat()).ends(0);
    files.iter().map(|file| shard(Path::new(file))).collect()
}

fn case<'a>(shard: &'a Submission, id: &str) -> &'a Case {
    let ids: Vec<&str> = shard.cases.iter().map(|case| case.id.as_str()).collect();
    shard.cases.iter().find(|case| case.id == id).unwrap_or_else(|| panic!("no {id} among {ids:?}"))
}

/// A figure as it is shown, the first of its metric.
#[track_caller]
fn shows(shard: &Submission, id: &str, metric: &str, statistic: &str, value: f64) {
    let summary = summarize(case(shard, id));
    let found = summary
        .estimates
        .iter()
        .find(|e| e.metric == metric && e.statistic.as_deref().unwrap_or_default() == statistic);
    let found =
        found.and_then(|e| e.value).unwrap_or_else(|| panic!("no {statistic} of {metric} in {summary:?}"));
    assert!((found - value).abs() <= 1e-6 * value.abs(), "{metric}: {found} is not {value}");
}

#[test]
fn every_fixture_of_every_format_gives_shards_that_may_be_published() {
    let folders = std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = folders
        .filter(|path| path.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()))
        .collect();
    assert!(files.len() > 12, "{files:?}");
    for file in files {
        let name = file.strip_prefix(fixture("")).unwrap().to_str().unwrap().to_owned();
        for shard in imported(&name) {
            assert!(
                shard.cases.iter().any(|case| !case.runs.is_empty() || !case.stated.is_empty()),
                "{name}"
            );
            assert!(!shard.notes.is_empty(), "{name} does not say what it lacks");
        }
    }
}

#[test]
fn vllm_requests_become_runs_whose_figures_are_those_of_the_file() {
    let shards = imported("vllm-bench/detailed.json");
    let [shard] = shards.as_slice() else { panic!("{} shards", shards.len()) };
    assert_eq!(shard.provenance.evidence, Evidence::Raw);
    assert_eq!(shard.provenance.origin, Origin::Imported { tool: "vllm bench serve".into(), version: None });
    // mean_ttft_ms, mean_e2el_ms, and 64 tokens in the time from the first request to the last token.
    shows(shard, "load_94_16_c2", "client_wall_ttft_s", "mean", 1.455_749_992_750_156_7);
    shows(shard, "load_94_16_c2", "client_wall_e2e_s", "mean", 2.743_104_323_250_122_4);
    shows(
        shard,
        "load_94_16_c2",
        "client_wall_aggregate_tok_s",
        "ratio of totals",
        64.0 / 5.508_097_136_161_6,
    );
    let requests: Vec<bool> =
        shard.cases[0].runs.iter().flat_map(|run| &run.requests).map(|r| r.error.is_some()).collect();
    assert_eq!(requests, [false, false, false, false, true, true]);
}

#[test]
fn vllm_summaries_keep_what_they_state() {
    let shards = imported("vllm-bench/summary.jsonl");
    assert_eq!(shards[0].provenance.evidence, Evidence::Summary);
    shows(&shards[0], "load_94_16_c2", "client_wall_ttft_s", "p99", 2.224_969_824_240_274_6);
    shows(
        &shards[0],
        "load_94_16_c2",
        "client_wall_aggregate_tok_s",
        "ratio of totals",
        11.617_608_960_567_376,
    );
    shows(&shards[0], "load_94_16_c2", "tpot", "median", 86.799_988_900_005_09);
    let rust = imported("vllm-bench/rust-from-source.json");
    shows(&rust[0], "load_63_11_c2", "tokens_per_step", "ratio of totals", 2.25);
    shows(&rust[0], "load_63_11_c2", "steady_state_output_throughput", "", 16.0);
}

#[test]
fn sglang_lines_are_a_load_and_a_stream_of_requests() {
    let shards = imported("sglang-bench/from-documentation.jsonl");
    assert_eq!(shards.len(), 2);
    shows(&shards[0], "load_1024_128_c8", "client_wall_ttft_s", "mean", 0.310_75);
    shows(&shards[0], "load_1024_128_c8", "client_wall_aggregate_tok_s", "ratio of totals", 381.023_255_8);
    shows(&shards[0], "load_1024_128_c8", "cached_prompt_share", "ratio of totals", 0.125);
    // Two requests of 3 tokens after the first, in 60 and 75 ms; a third failed.
    shows(&shards[1], "load_1024_4_c1", "client_wall_decode_tok_s", "ratio of totals", 6.0 / 0.135);
    assert_eq!(shards[1].cases[0].runs.iter().filter(|run| !run.passed()).count(), 1);
}

#[test]
fn llama_benchy_splits_the_prompt_from_the_answer_and_says_which_requests_it_lost() {
    let shards = imported("llama-benchy/result.json");
    shows(&shards[0], "pp128", "client_wall_ttft_s", "mean", 1.480_975_182_499_833);
    shows(&shards[0], "tg16_pp128", "tg_req_throughput", "mean", 13.005_290_815_189_607);
    shows(&shards[0], "pp128_tg16_c2", "pp_throughput", "mean", 30.092_467_044_704_63);
    let load = case(&shards[0], "pp128_tg16_c2");
    assert_eq!(load.ended_early.as_deref(), Some("1 of 4 requests have no figures"));
}

#[test]
fn llama_bench_repetitions_are_runs_and_its_configurations_submissions() {
    let shards = imported("llama-bench/result.json");
    assert_eq!(shards.iter().map(|s| s.label.as_str()).collect::<Vec<_>>(), ["n_threads=1", "n_threads=2"]);
    shows(&shards[0], "pp128", "engine_prefill_tok_s", "ratio of totals", 256.0 / 2.016_251_788);
    shows(&shards[0], "tg32", "engine_decode_tok_s", "ratio of totals", 64.0 / 1.348_969_595);
    shows(&shards[1], "tg32", "engine_decode_tok_s", "ratio of totals", 64.0 / 4.064_001_698);
    assert_eq!(shards[0].system.model.name, "SmolLM2-135M-Instruct");
    assert_eq!(imported("llama-bench/noise.jsonl")[0].cases.len(), 2);
}

#[test]
fn ollamas_own_figures_are_the_engines() {
    let shards = imported("ollama/generate-from-documentation.jsonl");
    assert_eq!(shards[0].cases[0].runs.len(), 3);
    shows(&shards[0], "generate", "engine_decode_tok_s", "ratio of totals", 893.0 / 14.109_213);
    shows(&shards[0], "generate", "engine_prefill_tok_s", "ratio of totals", 300.0 / 0.389_079);
    shows(&shards[0], "generate", "cached_prompt_share", "ratio of totals", 26.0 / 126.0);
    let printed = imported("ollama/verbose-from-documentation.txt");
    shows(&printed[0], "generate", "engine_decode_tok_s", "ratio of totals", 259.0 / 4.232_71);
    shows(&printed[0], "generate", "engine_prefill_tok_s", "mean", 199.88);
}

#[test]
fn local_scores_tests_are_a_prefill_and_a_decode_each() {
    let shards = imported("local-score/from-source.json");
    assert_eq!(shards[0].cases.len(), 18);
    shows(&shards[0], "prefill_1024_16", "engine_prefill_tok_s", "", 4500.0);
    shows(&shards[0], "prefill_4096_256", "engine_ttft_s", "", 0.255);
    shows(&shards[0], "decode_16_1536", "engine_decode_tok_s", "", 112.0);
}

#[test]
fn what_the_file_does_not_name_is_named_by_flags_and_reads_from_stdin() {
    let mut child = dyno()
        .args([
            "import",
            "-",
            "--as",
            "vllm-bench",
            "--out",
            "-",
            "--engine-name",
            "vLLM",
            "--model-name",
            "SmolLM2",
        ])
        .args([
            "--hardware",
            "RTX 5090",
            "--label",
            "TP=1",
            "--quantisation",
            "BF16",
            "--submitter",
            "somebody",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = std::fs::read(fixture("vllm-bench/detailed.json")).unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let ran = Ran::of(&child.wait_with_output().unwrap()).ends(0);
    let shard = dyno_shared::shard::read(&ran.stdout).unwrap();
    let system = &shard.system;
    assert_eq!(
        [&system.engine.name, &system.model.name, &system.hardware.name],
        ["vLLM", "SmolLM2", "RTX 5090"]
    );
    assert_eq!((shard.label.as_str(), shard.provenance.submitter.as_deref()), ("TP=1", Some("somebody")));
}

#[test]
fn a_bad_file_does_not_keep_the_others_from_being_imported() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = fixture("vllm-bench/detailed.json");
    let whole = std::fs::read(&good).unwrap();
    let large = dir.path().join("large.json");
    std::fs::File::create(&large).unwrap().set_len(200_000_000).unwrap();
    let bad = [
        put("empty.json", b" \n"),
        put("cut.json", &whole[..whole.len() / 2]),
        put("latin.json", b"{\"a\": \"\xe9\"}"),
        put("other.json", b"{\"colour\": 3}"),
        put("shard.json", br#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw"}}"#),
        dir.path().to_str().unwrap().to_owned(),
        dir.path().join("none.json").to_str().unwrap().to_owned(),
        large.to_str().unwrap().to_owned(),
    ];
    let out = dir.path().join("out");
    let mut arguments = vec!["import", "--out", out.to_str().unwrap()];
    arguments.extend(bad.iter().map(String::as_str));
    arguments.push(good.to_str().unwrap());
    let ran = call(&arguments).ends(2).says(&[
        "empty.json: the file is empty",
        "cut.json: not JSON at line 1",
        "The file is cut off",
        "latin.json: not text from byte 7",
        "other.json: no result file that Dyno knows (keys `colour`",
        "shard.json: is a shard already",
        "is a folder: name the result files in it",
        "none.json: there is no such file",
        "large.json: larger than 50 MB",
        "8 of 9 files were not imported",
    ]);
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn what_says_who_or_where_is_removed_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(fixture("vllm-bench/detailed.json")).unwrap();
    let private = text
        .replace("\"label\": null", "\"label\": \"at 192.168.1.20\", \"node\": \"/home/alice/x\"")
        .replace(
            "ServerDisconnectedError: Server disconnected",
            "Cannot connect to host http://me:secret@gpu:8000/v1",
        );
    let path = dir.path().join("r.json");
    std::fs::write(&path, private).unwrap();
    let out = dir.path().to_str().unwrap();
    let ran = call(&["import", path.to_str().unwrap(), "--out", out, "--json"]).ends(0).says(&[
        "removed an IP address from label",
        "removed a path in a home directory from configuration.requested.node",
        "removed a URL with credentials from cases[0].runs[1].requests[0].error.message",
    ]);
    let made: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(made[0]["removed"].as_array().unwrap().len(), 4, "{made}");
    let written = std::fs::read_to_string(made[0]["out"].as_str().unwrap()).unwrap();
    for word in ["alice", "secret", "192.168"] {
        assert!(!written.contains(word) && !ran.stdout.contains(word), "{word}");
    }
}

#[test]
fn text_as_other_systems_write_it_gives_the_same_shard() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(fixture("llama-bench/result.json")).unwrap();
    let printed = |bytes: &[u8]| {
        let path = dir.path().join("r.json");
        std::fs::write(&path, bytes).unwrap();
        call(&["import", path.to_str().unwrap(), "--out", "-"]).ends(0).stdout
    };
    let plain = printed(text.as_bytes());
    assert_eq!(plain.lines().count(), 2);
    assert_eq!(printed(&[b"\xef\xbb\xbf", text.as_bytes()].concat()), plain);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(printed(&[&b"\xff\xfe"[..], &utf16].concat()), plain);
    assert_eq!(printed(text.replace('\n', "\r\n").as_bytes()), plain);
}

#[test]
fn a_shard_that_exists_is_replaced_only_when_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = fixture("llama-benchy/result.json");
    let arguments = ["import", file.to_str().unwrap(), "--out", dir.path().to_str().unwrap()];
    call(&arguments).ends(0);
    call(&arguments).ends(2).says(&["exists", "--label", "--force"]);
    call(&[&arguments[..], &["--force"]].concat()).ends(0);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
