//! Measurements that are interrupted.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dyno_shared::submission::{Run, Submission, flag};

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

/// Slow enough to be killed within each run.
const SLOW: [&str; 6] = ["--prefill-tok-s", "4000", "--decode-tok-s", "400", "--overhead-s", "0.05"];

/// A case of every course, small ones.
const EVERY_COURSE: &str = "
    warmups = 1
    runs = 3
    [[case]]
    id = 'decode'
    regime = 'decode'
    workload = 'code'
    max_tokens = 60
    [[case]]
    id = 'cold'
    regime = 'cold_prefill'
    prompt_tokens = 600
    [[case]]
    id = 'deep'
    regime = 'decode_at_depth'
    depth_tokens = 600
    max_tokens = 40
    [[case]]
    id = 'load'
    regime = 'load'
    workload = 'mixed'
    concurrency = 3
    max_tokens = 60
    [[case]]
    id = 'chat'
    regime = 'session'
    concurrency = 2
    turns = 3
    prompt_tokens = 400
    max_tokens = 20
    [[case]]
    id = 'users'
    regime = 'load'
    workload = 'prose'
    arrival = { poisson = 60.0 }
    requests = 6
    max_tokens = 20
";

/// Of each request its case, run, stream and turn, and with them its tag and the hash of its prompt.
type Sent = BTreeMap<(String, u32, u32, Option<u32>), (String, Option<String>)>;

fn sent(shard: &Submission) -> Sent {
    let mut all = Sent::new();
    for case in &shard.cases {
        for run in &case.runs {
            for request in &run.requests {
                let key = (case.id.clone(), run.number, request.stream, request.turn);
                let what = (request.run_tag.clone(), request.prompt_sha256.clone());
                assert_eq!(all.insert(key, what), None, "{} has a request twice", case.id);
            }
        }
    }
    all
}

/// Runs that were made again with bytes of their own.
fn made_again(shard: &Submission) -> BTreeSet<(String, u32)> {
    let runs = shard.cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run)));
    runs.filter(|(_, run)| run.flags.iter().any(|f| f == flag::MADE_AGAIN))
        .map(|(case, run)| (case.id.clone(), run.number))
        .collect()
}

/// How often a run was begun.
fn begun(out: &Path, case: &str, number: u32) -> usize {
    let begun = format!(r#"{{"entry":"begun","case":"{case}","number":{number}}}"#);
    std::fs::read_to_string(journal(out)).unwrap_or_default().matches(&begun).count()
}

/// Kills it some milliseconds after a run was begun for the `times`th time.
fn kill_in(
    child: &mut std::process::Child,
    out: &Path,
    (case, number, times): (&str, u32, usize),
    later: u64,
) {
    while begun(out, case, number) < times {
        assert!(child.try_wait().unwrap().is_none(), "it ended before run {number} of {case}");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(later));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killed_at_any_moment_and_resumed_it_is_what_it_would_have_been() {
    let dir = tempfile::tempdir().unwrap();
    let suite = dir.path().join("suite.toml");
    std::fs::write(&suite, EVERY_COURSE).unwrap();
    let suite = suite.to_string_lossy().into_owned();
    let arguments = ["--suite", &suite, "--series", "s"];
    let (calm, killed) = (dir.path().join("calm.json"), dir.path().join("killed.json"));
    run(&Engine::start(&UNHURRIED).url, &calm, &arguments).ends(0);
    let calm = shard(&calm);
    assert!(made_again(&calm).is_empty());

    let engine = Engine::start(&SLOW);
    for (case, number, later) in [
        ("decode", 1, 0),
        ("decode", 3, 60),
        ("cold", 2, 40),
        ("cold", 2, 5),
        ("deep", 2, 20),
        ("load", 1, 70),
        ("load", 3, 1),
        ("chat", 1, 30),
        ("chat", 2, 160),
        ("users", 3, 50),
    ] {
        let resume = if journal(&killed).exists() { &["--resume"][..] } else { &[] };
        let times = begun(&killed, case, number) + 1;
        let mut child = run_command(&engine.url, &killed, &[&arguments[..], resume].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        kill_in(&mut child, &killed, (case, number, times), later);
        assert!(!killed.exists(), "a shard is written whole or not at all");
    }
    run(&engine.url, &killed, &["--resume"]).ends(0);
    assert!(!journal(&killed).exists());
    let killed = shard(&killed);
    assert_eq!(killed.provenance.partial, None);
    let again = made_again(&killed);
    let (expected, found) = (sent(&calm), sent(&killed));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (key, what) in &expected {
        let differs = found[key] != *what;
        assert_eq!(differs, again.contains(&(key.0.clone(), key.1)), "{key:?}");
    }
    let cold = ["cold", "load", "users", "chat_admission", "chat_continuation"];
    assert!(again.iter().all(|(case, _)| cold.contains(&case.as_str())), "{again:?}");
    assert!(again.contains(&("cold".into(), 2)) && again.contains(&("load".into(), 3)), "{again:?}");
    for (case, other) in calm.cases.iter().zip(&killed.cases) {
        let passed = other.runs.iter().all(Run::passed);
        assert!(passed, "{}: {:?}", case.id, other.runs.iter().map(Run::failures).collect::<Vec<_>>());
        assert_eq!(case.sampling, other.sampling);
    }
}
