//! Measurements that are interrupted.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::process::Stdio;

use support::{Engine, Ran, journal, run, run_command, shard, wait_for_runs};

/// Slow enough to be interrupted, fast enough for a test.
const UNHURRIED: [&str; 6] = ["--prefill-tok-s", "20000", "--decode-tok-s", "900", "--overhead-s", "0.002"];

fn signal(child: &std::process::Child, name: &str) {
    let done = std::process::Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn after_a_crash_the_measurement_goes_on_and_only_the_run_in_flight_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (out, log) = (dir.path().join("shard.json"), dir.path().join("log.jsonl"));
    let engine = Engine::start(&[UNHURRIED.as_slice(), &["--log", &log.to_string_lossy()]].concat());
    let mut child = run_command(&engine.url, &out, &["--quick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_runs(&out, 7);
    signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(!out.exists(), "a shard is written whole or not at all");
    let kept = std::fs::read_to_string(journal(&out)).unwrap();
    let kept: Vec<serde_json::Value> = kept
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|entry: &serde_json::Value| entry["entry"] == "run")
        .collect();

    run(&engine.url, &out, &["--resume"]).ends(0).says(&["of them done before"]);
    let shard = shard(&out);
    assert!(!journal(&out).exists());
    assert_eq!(shard.provenance.partial, None);
    for case in &shard.cases {
        let numbers: Vec<u32> = case.runs.iter().map(|run| run.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5], "{}", case.id);
    }
    for entry in &kept {
        let case = shard.cases.iter().find(|case| entry["case"] == case.id.as_str()).unwrap();
        let run = case.runs.iter().find(|run| entry["run"]["number"] == run.number).unwrap();
        assert_eq!(serde_json::to_value(run).unwrap(), entry["run"], "a kept run is kept to the last digit");
    }
    // 2 trials, 28 planned sendings, the one in flight, and one more warm-up for the case that was broken off.
    let requests = std::fs::read_to_string(&log).unwrap().lines().count();
    assert!(requests <= 2 + 28 + 1 + 1, "{requests} requests were made");
}

#[test]
fn ctrl_c_writes_what_there_is_as_a_partial_shard_that_can_be_completed() {
    for name in ["-INT", "-TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("shard.json");
        let engine = Engine::start(&UNHURRIED);
        let child = run_command(&engine.url, &out, &["--quick", "--label", "mine"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_runs(&out, 3);
        signal(&child, name);
        Ran::of(&child.wait_with_output().unwrap()).ends(1).says(&["--resume", "PARTIAL"]);
        let partial = shard(&out);
        let why = partial.provenance.partial.unwrap();
        assert!(why.contains("stopped by the user after") && why.contains("of 20 runs"), "{why}");
        assert!(journal(&out).exists(), "it can be gone on with");

        run(&engine.url, &out, &["--resume"]).ends(0);
        let whole = shard(&out);
        assert_eq!(whole.provenance.partial, None);
        assert_eq!(whole.cases.iter().map(|case| case.runs.len()).sum::<usize>(), 20);
        assert_eq!(whole.provenance.series, partial.provenance.series);
    }
}

#[test]
fn a_measurement_is_not_gone_on_with_as_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let engine = Engine::start(&UNHURRIED);
    let mut child = run_command(&engine.url, &out, &["--quick", "--series", "s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_runs(&out, 1);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let before = std::fs::read(journal(&out)).unwrap();
    run(&engine.url, &out, &["--quick"]).ends(2).says(&["--resume", "--force"]);
    run(&engine.url, &out, &["--resume", "--series", "t"]).ends(2).says(&["series"]);
    run(&engine.url, &out, &["--resume", "--runs", "9"]).ends(2).says(&["number of runs is 5, now it is 9"]);
    let other = Engine::start(&["--models", "other"]);
    run(&other.url, &out, &["--resume"]).ends(2).says(&["its model is simulated, now it is other"]);
    assert_eq!(std::fs::read(journal(&out)).unwrap(), before, "a refusal changes nothing");
    run(&engine.url, &out, &["--quick", "--force"]).ends(0);
}

#[test]
fn there_is_nothing_to_resume_where_nothing_was_begun() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::fast(&[]);
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &["--resume"]).ends(2).says(&["no unfinished measurement"]);
}
