//! `dyno sweep` with simulated engines, whose truth is known, and with servers that misbehave.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use dyno_shared::submission::Submission;
use serde_json::Value;

use support::{Ran, case, dyno, shard};

/// The engine under test as a launch line.
fn simulate(more: &str) -> String {
    let dyno = assert_cmd::cargo::cargo_bin!("dyno").display();
    format!("'{dyno}' simulate --port {{port}} --overhead-s 0.002 --prefill-tok-s 400000 {more} {{flags}}")
}

/// `dyno sweep` into a folder, not yet started.
fn sweep(folder: &Path, launch: &str, arguments: &[&str]) -> Command {
    let mut command = dyno();
    command.args(["sweep", "--launch", launch, "--hardware", "test machine", "--connect-timeout", "2"]);
    command.args(["--cases", "code_q128", "--runs", "1", "--out-dir"]).arg(folder).args(arguments);
    // Away from `results/` of the checkout.
    command.current_dir(folder);
    command
}

fn ran(folder: &Path, launch: &str, arguments: &[&str]) -> Ran {
    Ran::of(&sweep(folder, launch, arguments).output().unwrap())
}

/// A program of its own, for servers that misbehave.
fn script(folder: &Path, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("server.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The shards of a folder by their label.
fn shards(folder: &Path) -> Vec<(String, Submission)> {
    let mut shards: Vec<(String, Submission)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| shard(&path))
        .map(|shard| (shard.label.clone(), shard))
        .collect();
    shards.sort_by(|a, b| a.0.cmp(&b.0));
    shards
}

/// Numbers, cycles and prompts of a shard's runs.
fn sent(shard: &Submission) -> Vec<(u32, Option<u32>, Option<String>)> {
    let runs = &case(shard, "code_q128").runs;
    runs.iter().map(|run| (run.number, run.cycle, run.requests[0].prompt_sha256.clone())).collect()
}

/// Processes whose command line holds a text that no other test uses.
fn processes(marker: &str) -> Vec<String> {
    let holds = |path: PathBuf| {
        let bytes = std::fs::read(path.join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&bytes).replace('\0', " ");
        line.contains(marker).then_some(line)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| holds(entry.path())).collect()
}

/// Waits for something that must come to be.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_mins(1), "{what} has not come to be in a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The line of stderr that begins so.
#[track_caller]
fn line<'a>(ran: &'a Ran, begin: &str) -> &'a str {
    let found = ran.stderr.lines().find(|line| line.starts_with(begin));
    found.unwrap_or_else(|| panic!("no line begins with `{begin}`:\n{}", ran.stderr))
}

#[test]
fn four_times_as_fast_is_found_faster_and_each_variant_is_a_shard_that_pairs() {
    let dir = tempfile::tempdir().unwrap();
    let ran = ran(dir.path(), &simulate("--seed 8731"), &["--vary", "decode-tok-s=200,800"]).ends(0);

    let order: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("cycle ")).collect();
    let order: Vec<String> = order
        .iter()
        .map(|line| line.split_whitespace().skip(1).take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let expected = ["1 200", "1 800", "2 800", "2 200", "3 200", "3 800"];
    assert_eq!(order, expected.map(|of| of.replace(' ', " decode-tok-s=")), "{}", ran.stderr);
    assert!(line(&ran, "cycle 1  decode-tok-s=200").contains(" tok/s  ("), "{}", ran.stderr);
    let verdict = ran.stdout.lines().find(|line| line.contains("decode-tok-s=800")).unwrap();
    assert!(verdict.contains("faster"), "{}", ran.stdout);

    let shards = shards(dir.path());
    let labels: Vec<&str> = shards.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["simulated decode-tok-s=200", "simulated decode-tok-s=800"]);
    let (a, b) = (&shards[0].1, &shards[1].1);
    assert_eq!(sent(a), sent(b), "the same bytes meet both in the same cycle");
    let numbers: Vec<(u32, Option<u32>)> = sent(a).iter().map(|of| (of.0, of.1)).collect();
    assert_eq!(numbers, [(1, Some(1)), (2, Some(2)), (3, Some(3))]);
    let prompts: std::collections::BTreeSet<_> = sent(a).into_iter().map(|of| of.2).collect();
    assert_eq!(prompts.len(), 3, "no cycle repeats the prompts of another");
    assert!(a.provenance.series.is_some() && a.provenance.series == b.provenance.series);
    assert_eq!(a.configuration.requested.len(), 1);
    assert!(a.notes.iter().any(|note| note.contains("launched with: dyno simulate")), "{:?}", a.notes);
    for (_, shard) in &shards {
        assert_eq!(shard.provenance.partial, None);
        let warmups = &case(shard, "code_q128").warmups;
        assert!(
            (1..=3).all(|cycle| warmups.iter().any(|run| run.cycle == Some(cycle))),
            "every start is warmed"
        );
    }
    assert!(dir.path().join("logs/cycle-3--decode-tok-s-800.log").is_file());
    assert!(!dir.path().join("sweep.journal").exists());
    assert!(!dir.path().join("journals").exists());
    assert_eq!(processes("--seed 8731"), Vec::<String>::new());
}

#[test]
fn one_cycle_names_no_winner_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--vary", "decode-tok-s=1000,2000", "--cycles", "1"];
    let ran = ran(dir.path(), &simulate(""), &arguments).ends(0);
    assert!(ran.stdout.contains("too few") && !ran.stdout.contains("faster"), "{}", ran.stdout);
    for part in ["one cycle", "No winner is named, because", "at least 2 cycles"] {
        assert!(ran.stdout.contains(part), "`{part}` is not in:\n{}", ran.stdout);
    }
}

#[test]
fn the_same_configuration_twice_shows_what_this_sweep_takes_for_a_difference() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--vary", "decode-tok-s=250,250", "--cycles", "2", "--json"];
    let ran = ran(dir.path(), &simulate(""), &arguments).ends(0);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["variants"][1]["label"], "simulated decode-tok-s=250 (2)");
    assert!(Path::new(found["variants"][1]["file"].as_str().unwrap()).is_file());
    let row = &found["cases"][0]["headline"]["variants"][1];
    let ratio = row["ratio"].as_f64().unwrap();
    assert!((0.9..1.1).contains(&ratio), "{row}");
    // One in twenty comparisons of equals is separated: by a hair, or something is wrong.
    let is_separated = matches!(row["verdict"].as_str().unwrap(), "faster" | "slower");
    assert!(!is_separated || (0.98..1.02).contains(&ratio), "{row}");
    assert_eq!(row["ratios"].as_array().unwrap().len(), 2);
}

#[test]
fn streams_at_once_are_compared_by_what_they_yield_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = dyno();
    command.args(["sweep", "--launch", &simulate("--decode-tok-s 1000"), "--vary", "slots=1,2"]);
    command
        .args(["--concurrency", "2", "--runs", "1", "--cycles", "2", "--json", "--out-dir"])
        .arg(dir.path());
    let ran = Ran::of(&command.current_dir(dir.path()).output().unwrap()).ends(0);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let case = &found["cases"][0];
    assert_eq!((case["case"].as_str(), case["concurrency"].as_u64()), (Some("load2"), Some(2)));
    assert_eq!(case["headline"]["metric"], "client_wall_aggregate_tok_s");
    let ratio = case["headline"]["variants"][1]["ratio"].as_f64().unwrap();
    assert!((1.4..2.3).contains(&ratio), "{case}");
}

#[test]
fn a_flag_that_the_engine_ignores_is_an_error_that_names_both() {
    let dir = tempfile::tempdir().unwrap();
    let dyno = assert_cmd::cargo::cargo_bin!("dyno").display();
    let server = script(dir.path(), &format!("exec '{dyno}' simulate --port $1 --decode-tok-s 4000"));
    let launch = format!("{} {{port}} {{flags}}", server.display());
    let ran = ran(dir.path(), &launch, &["--vary", "decode-tok-s=4000,2000"]).ends(2);
    let error = line(&ran, "error: decode-tok-s=2000");
    assert!(error.contains("2,000") || error.contains("2000"), "{error}");
    assert!(error.contains("4,000") || error.contains("4000"), "{error}");
    assert!(line(&ran, "cycle 1  decode-tok-s=4000").contains("tok/s"));
}

#[test]
fn a_server_that_does_not_start_is_said_with_its_status_and_the_end_of_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let server = script(dir.path(), "seq 1 30; echo 'no such model' >&2; exit 7");
    let launch = format!("{} {{port}} {{flags}}", server.display());
    let ran = ran(dir.path(), &launch, &["--vary", "a=1,2"]).ends(3);
    assert!(line(&ran, "cycle 1  a=1").contains("exit status 7"), "{}", ran.stderr);
    assert!(ran.stderr.contains("  | no such model") && !ran.stderr.contains("  | 11\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("logs/cycle-1--a-1.log"));
    assert!(!ran.stderr.contains("cycle 2"), "what never starts is not started again: {}", ran.stderr);

    let missing = self::ran(dir.path(), "no-such-server {port} {flags}", &["--vary", "a=1,2"]).ends(2);
    assert!(missing.stderr.contains("`no-such-server` cannot be started"), "{}", missing.stderr);
}

#[test]
fn a_server_that_is_never_ready_is_given_up_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--vary", "load-s=300,301", "--load-timeout", "1"];
    let ran = ran(dir.path(), &simulate(""), &arguments).ends(3);
    assert!(line(&ran, "cycle 1  load-s=300").contains("--load-timeout"), "{}", ran.stderr);
}

#[test]
fn a_server_that_dies_in_the_second_cycle_fails_its_measurement_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let dyno = assert_cmd::cargo::cargo_bin!("dyno").display();
    // The third start is that of the second variant in the second cycle.
    let server = script(
        dir.path(),
        &format!(
            "port=$1; shift; echo x >> starts; echo 'about to serve'\n\
             if [ $(wc -l < starts) = 3 ]; then exec timeout -s KILL 1 '{dyno}' simulate --port $port \"$@\"; fi\n\
             exec '{dyno}' simulate --port $port \"$@\""
        ),
    );
    let launch = format!("{} {{port}} {{flags}}", server.display());
    let arguments = ["--vary", "decode-tok-s=90,100", "--cycles", "2", "--cases", "counting_q50"];
    let of = |more: &[&str]| {
        let mut command = dyno_sweep(dir.path(), &launch);
        Ran::of(&command.args(arguments).args(more).output().unwrap())
    };
    let ran = of(&[]).ends(1);
    assert!(line(&ran, "cycle 2  decode-tok-s=100").contains("failed: the server ended"), "{}", ran.stderr);
    assert!(ran.stderr.contains("  | about to serve"), "{}", ran.stderr);
    assert!(line(&ran, "cycle 2  decode-tok-s=90").contains("tok/s"), "the other goes on");
    assert!(ran.stderr.contains("--resume"), "{}", ran.stderr);
    let before = shards(dir.path());
    assert_eq!(before[1].1.provenance.partial, None);
    let lost = &before[0].1;
    assert_eq!(lost.label, "simulated decode-tok-s=100");
    assert_eq!(lost.provenance.partial.as_deref(), Some("runs of cycle 2 of 2 are missing"));
    assert!(lost.notes.iter().any(|note| note.contains("cycle 2 failed")), "{:?}", lost.notes);

    let again = of(&["--resume"]).ends(0);
    assert_eq!(
        again.stderr.matches("cycle ").count(),
        again.stderr.matches("cycle 2  decode-tok-s=100").count()
    );
    let after = shards(dir.path());
    assert!(after[1].1.cases == before[1].1.cases, "what was there is as it was");
    assert_eq!(after[0].1.provenance.partial, None);
    let runs = &case(&after[0].1, "counting_q50").runs;
    assert_eq!(
        runs.iter().map(|run| (run.number, run.cycle)).collect::<Vec<_>>(),
        [(1, Some(1)), (2, Some(2))]
    );
}

/// A sweep of one run a cycle without the cases of [`sweep`].
fn dyno_sweep(folder: &Path, launch: &str) -> Command {
    let mut command = dyno();
    command.args(["sweep", "--launch", launch, "--hardware", "test machine", "--connect-timeout", "2"]);
    command.args(["--runs", "1", "--warmups", "0", "--out-dir"]).arg(folder).current_dir(folder);
    command
}

/// A server whose second start has children: one that ignores SIGTERM, and one in a session of its own.
fn with_children(folder: &Path, marker: &str) -> String {
    let dyno = assert_cmd::cargo::cargo_bin!("dyno").display();
    let server = script(
        folder,
        &format!(
            "echo x >> starts\n\
             if [ $(wc -l < starts) = 2 ]; then\n\
             sh -c 'trap \"\" TERM; while true; do sleep 0.1; done' {marker}-stubborn &\n\
             setsid sh -c 'while true; do sleep 0.1; done' {marker}-escaped &\n\
             fi\n\
             port=$1; shift; '{dyno}' simulate --port $port --models {marker} \"$@\""
        ),
    );
    format!("{} {{port}} {{flags}}", server.display())
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_ends_every_process_of_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let marker = format!("marker-ctrl-c-{}", std::process::id());
    let launch = with_children(dir.path(), &marker);
    let arguments = ["--vary", "decode-tok-s=2000,40", "--cycles", "2"];
    let child = sweep(dir.path(), &launch, &arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let journal = dir.path().join("journals/decode-tok-s-40.journal");
    wait_until("the second variant", || journal.exists());
    assert!(["stubborn", "escaped"].iter().all(|child| !processes(&format!("{marker}-{child}")).is_empty()));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let ran = Ran::of(&child.wait_with_output().unwrap()).ends(1).says(&["stopped", "--resume"]);
    assert_eq!(processes(&marker), Vec::<String>::new(), "{}", ran.stderr);
    let shards = shards(dir.path());
    assert_eq!(shards[0].0, "simulated decode-tok-s=2000");
    let partial = shards[0].1.provenance.partial.as_deref().unwrap();
    assert!(partial.contains("stopped by the user") && partial.contains("cycle 2 of 2"), "{partial}");
    assert_eq!(case(&shards[0].1, "code_q128").runs.len(), 1);
}

#[test]
fn a_dyno_that_is_killed_leaves_no_server_behind_and_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let marker = format!("marker-kill-{}", std::process::id());
    let launch = with_children(dir.path(), &marker);
    let arguments = ["--vary", "decode-tok-s=1000,2000", "--cycles", "1"];
    let mut child = sweep(dir.path(), &launch, &arguments)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let journal = dir.path().join("journals/decode-tok-s-2000.journal");
    wait_until("the second variant", || journal.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the end of the server", || processes(&marker).is_empty());

    let first = shards(dir.path());
    assert_eq!(first.len(), 1, "the finished measurement is in its shard");
    let ran = ran(dir.path(), &launch, &[arguments.as_slice(), &["--resume"]].concat()).ends(0);
    assert!(!ran.stderr.contains("cycle 1  decode-tok-s=1000"), "{}", ran.stderr);
    let shards = shards(dir.path());
    assert_eq!(sent(&shards[0].1), sent(&shards[1].1));
    assert!(shards[0].1.cases == first[0].1.cases, "what was measured before is as it was, to the last bit");
    assert_eq!(processes(&marker), Vec::<String>::new());
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_started() {
    let dir = tempfile::tempdir().unwrap();
    for (launch, arguments, said) in [
        ("s {port} {flags} {nonsense}", &["--vary", "a=1,2"][..], "{nonsense}"),
        ("s {flags}", &["--vary", "a=1,2"], "{port}"),
        ("s {port}", &["--vary", "a=1,2"], "{flags}"),
        ("s {port} {flags}", &["--vary", "a=1,2", "--vary", "a=3,4"], "a is given twice"),
        ("s {port} {flags}", &["--vary", "a=1,2", "--resume"], "no unfinished sweep"),
        ("s {port} 'x {flags}", &["--vary", "a=1,2"], "quotation mark"),
    ] {
        ran(dir.path(), launch, arguments).ends(2).says(&[said]);
    }
    assert!(!dir.path().join("logs").exists());
}

#[test]
fn an_unfinished_sweep_is_not_lost_and_another_one_is_not_taken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let server = script(dir.path(), "exit 1");
    let bad = format!("{} {{port}} {{flags}}", server.display());
    ran(dir.path(), &bad, &["--vary", "a=1,2"]).ends(3);
    // One that answers, and dies before its first recorded run.
    let dies = simulate("--fault die:3");
    ran(dir.path(), &dies, &["--vary", "decode-tok-s=1000,2000", "--warmups", "0"]).ends(3);
    // Nothing was measured, so there is nothing to go on with.
    let arguments = ["--vary", "decode-tok-s=1000,2000", "--cycles", "1"];
    ran(dir.path(), &simulate(""), &arguments).ends(0);
    ran(dir.path(), &simulate(""), &arguments).ends(2).says(&["exists", "--force"]);
    ran(dir.path(), &simulate(""), &[arguments.as_slice(), &["--force"]].concat()).ends(0);
    assert_eq!(shards(dir.path()).len(), 2);
}
