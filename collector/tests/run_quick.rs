//! A whole measurement, from an engine to a shard.

mod support;

use dyno_shared::submission::{Evidence, Origin};
use dyno_shared::summary::summarize;
use dyno_shared::workload::Regime;

use support::{Engine, SHORT, call, case, journal, run, shard};

#[test]
fn a_quick_run_ends_well_and_its_shard_may_be_published() {
    let engine = Engine::fast(&["--timings"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("new/shard.json");
    let ran = run(&engine.url, &out, &["--quick", "--label", "fast", "--submitter", "somebody"]).ends(0);
    assert_eq!(ran.stdout.trim(), out.to_string_lossy(), "stdout is the file and nothing else");
    assert!(!journal(&out).exists(), "the journal goes when the shard is safe");
    call(&["validate", &out.to_string_lossy()]).ends(0);

    let shard = shard(&out);
    let names: Vec<&str> = shard.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(names, ["code_q128", "counting_q50", "cold_prefill_q1k", "cached_prefix_q1k"]);
    assert_eq!((&shard.provenance.origin, shard.provenance.evidence), (&Origin::Collected, Evidence::Raw));
    assert!(shard.provenance.series.is_some() && shard.provenance.started_at.is_some());
    assert_eq!(shard.provenance.partial, None);
    for case in &shard.cases {
        assert_eq!(case.runs.len(), 5, "{}", case.id);
        assert!(case.runs.iter().all(dyno_shared::submission::Run::passed), "{}", case.id);
        assert_eq!(case.sampling.temperature, Some(0.0));
        assert_eq!(case.sampling.thinking, Some(false));
        let summary = summarize(case);
        let headline =
            summary.get(case.regime.headline()).unwrap_or_else(|| panic!("{} has no headline", case.id));
        assert!(headline.interval.is_some(), "{}", case.id);
    }
}

#[test]
fn what_is_simulated_says_so_in_the_shard_and_in_every_report_whatever_its_label() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let arguments =
        [SHORT.as_slice(), &["--label", "record!", "--engine-name", "vLLM", "--cases", "code_q128"]].concat();
    run(&engine.url, &out, &arguments).ends(0).says(&["SIMULATED"]);
    let shard = shard(&out);
    assert!(shard.system.engine.simulated);
    assert_eq!(
        (shard.label.as_str(), shard.system.engine.name.as_str()),
        ("simulated record!", "dyno-simulator")
    );
    let report = call(&["report", &out.to_string_lossy()]).ends(0);
    assert!(report.stdout.contains("SIMULATED"), "{}", report.stdout);
}

#[test]
fn the_figures_are_the_truth_of_the_engine_from_both_clocks() {
    let engine = Engine::start(&[
        "--decode-tok-s",
        "200",
        "--prefill-tok-s",
        "5000",
        "--overhead-s",
        "0.01",
        "--timings",
    ]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &["--quick", "--runs", "3"]).ends(0);
    let shard = shard(&out);
    let value = |id: &str, metric: &str| {
        let summary = summarize(case(&shard, id));
        summary.get(metric).and_then(|e| e.value).unwrap_or_else(|| panic!("{id} has no {metric}"))
    };
    let near = |found: f64, truth: f64, share: f64| {
        assert!((found / truth - 1.0).abs() < share, "{found} is not near {truth}");
    };
    near(value("code_q128", "client_wall_decode_tok_s"), 200.0, 0.2);
    near(value("code_q128", "engine_decode_tok_s"), 200.0, 0.2);
    near(value("code_q128", "client_engine_decode_ratio"), 1.0, 0.2);
    near(value("cold_prefill_q1k", "engine_prefill_tok_s"), 5_000.0, 0.25);
    // 1,000 tokens at 5,000 tok/s and 10 ms of overhead.
    near(value("cold_prefill_q1k", "client_wall_ttft_s"), 0.21, 0.25);
    assert!(
        value("cached_prefix_q1k", "client_wall_ttft_s") < value("cold_prefill_q1k", "client_wall_ttft_s")
    );
    assert!(value("cached_prefix_q1k", "cached_prompt_share") > 0.9);
    assert!(value("cold_prefill_q1k", "cached_prompt_share") < 0.05);
}

#[test]
fn a_prompt_has_exactly_the_tokens_of_its_name_where_the_engine_counts_them() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &["--runs", "3", "--cases", "cold_prefill_8k,cached_prefix_2k,load2"]).ends(0);
    let shard = shard(&out);
    for (id, target) in [("cold_prefill_8k", 8_000), ("cached_prefix_2k", 2_000), ("load2", 2_000)] {
        let case = case(&shard, id);
        assert_eq!(case.prompt_tokens_target, Some(target));
        for request in case.runs.iter().flat_map(|run| &run.requests) {
            assert_eq!(request.prompt_tokens.unwrap().get(), target, "{id}");
        }
    }
}

#[test]
fn one_series_sends_the_same_bytes_on_two_set_ups_and_another_sends_others() {
    let dir = tempfile::tempdir().unwrap();
    let prompts = |name: &str, truth: &[&str], series: &str| {
        let engine = Engine::fast(truth);
        let out = dir.path().join(name);
        run(&engine.url, &out, &[SHORT.as_slice(), &["--series", series]].concat()).ends(0);
        let hashes: Vec<Option<String>> = shard(&out)
            .cases
            .iter()
            .flat_map(|case| &case.runs)
            .map(|run| run.requests[0].prompt_sha256.clone())
            .collect();
        assert!(hashes.iter().all(Option::is_some));
        hashes
    };
    let one = prompts("1.json", &[], "s");
    assert_eq!(one, prompts("2.json", &["--burst", "4", "--cache", "slots"], "s"));
    let other = prompts("3.json", &[], "t");
    assert!(one.iter().all(|hash| !other.contains(hash)));
}

#[test]
fn the_answer_to_one_prompt_sent_three_times_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    for (name, truth, identical) in
        [("same.json", [].as_slice(), true), ("other.json", &["--fault", "vary"], false)]
    {
        let engine = Engine::fast(truth);
        let out = dir.path().join(name);
        run(&engine.url, &out, &[SHORT.as_slice(), &["--cases", "code_q128"]].concat()).ends(0);
        let shard = shard(&out);
        let found = case(&shard, "code_q128").reproducibility.clone().unwrap();
        assert_eq!((found.attempts, found.identical), (Some(3), identical));
        assert_eq!(found.first_difference_chars.is_some(), !identical);
    }
}

#[test]
fn speculation_shows_in_the_steps_and_not_as_a_wrong_rate() {
    let engine =
        Engine::start(&["--decode-tok-s", "400", "--burst", "4", "--prefill-tok-s", "100000", "--timings"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &[SHORT.as_slice(), &["--cases", "code_q128"]].concat()).ends(0);
    let shard = shard(&out);
    let summary = summarize(case(&shard, "code_q128"));
    let value =
        |metric: &str| summary.get(metric).and_then(|e| e.value).unwrap_or_else(|| panic!("no {metric}"));
    assert!((value("tokens_per_step") - 4.0).abs() < 0.3, "{}", value("tokens_per_step"));
    assert!(
        (value("client_wall_decode_tok_s") / 400.0 - 1.0).abs() < 0.25,
        "{}",
        value("client_wall_decode_tok_s")
    );
}

#[test]
fn a_context_that_is_too_short_leaves_cases_out_and_the_shard_says_which() {
    let engine = Engine::fast(&["--context-tokens", "2300"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &["--runs", "1", "--warmups", "0"]).ends(0).says(&["left out: cold_prefill_8k"]);
    let shard = shard(&out);
    assert_eq!(shard.cases.iter().filter(|case| case.regime == Regime::ColdPrefill).count(), 1);
    assert_eq!(
        shard.notes.iter().filter(|note| note.starts_with("left out: ")).count(),
        11,
        "{:?}",
        shard.notes
    );
}

#[test]
fn the_report_as_json_goes_to_stdout_where_a_program_reads() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let ran =
        run(&engine.url, &out, &[SHORT.as_slice(), &["--json", "--cases", "code_q128"]].concat()).ends(0);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["cases"][0]["passed"], 3);
    let again = call(&["report", "--json", &out.to_string_lossy()]).ends(0);
    let again: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again[0]["cases"], report["cases"]);
}
