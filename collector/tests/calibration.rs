//! How much the client itself adds: measured, kept in the shard, told in the report.

#![cfg(unix)]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use dyno_shared::submission::Calibration;

use support::{Engine, Ran, call, dyno, journal, run, shard, wait_for_runs};

/// Slow enough to be interrupted.
const UNHURRIED: [&str; 4] = ["--decode-tok-s", "900", "--overhead-s", "0.002"];

/// `dyno run` as people call it: with a calibration.
fn calibrated(url: &str, out: &Path, arguments: &[&str]) -> Command {
    let mut command = dyno();
    command.args(["run", "--url", url, "--out"]).arg(out).args(arguments);
    command
}

#[test]
fn a_shard_says_how_much_the_client_adds_at_the_streams_of_its_cases_and_so_does_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let engine = Engine::start(&["--decode-tok-s", "2000", "--slots", "2"]);
    let arguments = ["--cases", "load1,load2", "--runs", "3", "--warmups", "0"];
    let ran = Ran::of(&calibrated(&engine.url, &out, &arguments).output().unwrap())
        .says(&["its own error at 2 stream(s) of"]);
    let found = shard(&out).provenance.calibration.unwrap();
    assert_eq!(
        (found.streams, found.lost_tokens, found.extra_tokens),
        (Some(2), Some(0), Some(0)),
        "{found:?}"
    );
    assert!(found.requests.unwrap() >= 2 && found.tokens.unwrap() > found.requests.unwrap());
    // The client sees an event only after it was written.
    assert!(found.ttft_error_median_s.unwrap().get() > 0.0, "{found:?}");
    assert!(found.ttft_error_p99_s.unwrap() >= found.ttft_error_median_s.unwrap());
    assert!(found.gap_error_p99_s.unwrap() >= found.gap_error_median_s.unwrap());
    assert!(!ran.stderr.contains("not calibrated"), "{}", ran.stderr);
}

#[test]
fn a_measurement_that_goes_on_keeps_the_calibration_it_was_begun_with() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let engine = Engine::start(&UNHURRIED);
    let mut child = calibrated(&engine.url, &out, &["--quick"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_runs(&out, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = std::fs::read_to_string(journal(&out)).unwrap();
    let header: serde_json::Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    let before: Calibration = serde_json::from_value(header["calibration"].clone()).unwrap();
    assert!(before.requests.is_some());
    Ran::of(&calibrated(&engine.url, &out, &["--resume"]).output().unwrap()).ends(0);
    assert_eq!(shard(&out).provenance.calibration, Some(before));
}

#[test]
fn without_a_calibration_the_report_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let engine = Engine::fast(&[]);
    run(&engine.url, &out, &["--cases", "counting", "--runs", "2", "--warmups", "0"])
        .says(&["the client was not calibrated"]);
    assert_eq!(shard(&out).provenance.calibration, None);
}

#[test]
fn calibrate_prints_a_level_for_each_number_of_streams() {
    let level = ["calibrate", "--streams", "4,1", "--rate", "200", "--tokens", "20", "--batches", "1"];
    let json = call(&[level.as_slice(), &["--json"]].concat()).ends(0);
    let found: Vec<Calibration> = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(found.iter().map(|c| c.streams).collect::<Vec<_>>(), [Some(1), Some(4)]);
    for level in &found {
        let streams = u64::from(level.streams.unwrap());
        assert_eq!((level.requests, level.tokens), (Some(streams), Some(streams * 20)), "{level:?}");
        assert_eq!((level.lost_tokens, level.extra_tokens), (Some(0), Some(0)), "{level:?}");
    }
    let table = call(&level).ends(0).stdout;
    assert_eq!(table.lines().count(), 3, "{table}");
    call(&["calibrate", "--rate", "0"]).ends(2).says(&["tokens per second"]);
}

#[test]
fn calibrate_draws_the_errors_over_the_streams() {
    let dir = tempfile::tempdir().unwrap();
    let chart = dir.path().join("errors.svg");
    call(&[
        "calibrate",
        "--streams",
        "1,4",
        "--rate",
        "200",
        "--tokens",
        "10",
        "--batches",
        "1",
        "--chart",
        &chart.to_string_lossy(),
    ])
    .ends(0);
    let svg = std::fs::read_to_string(&chart).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("streams") && !svg.contains("var(--"), "{svg}");
}

#[test]
fn the_simulated_engine_of_a_calibration_ends_with_the_process_that_started_it() {
    let mut child = dyno()
        .args(["simulate", "--while-stdin", "--port", "0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
