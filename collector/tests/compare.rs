//! `dyno compare` on real submissions of a real llama-server, and on files that do not compare.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::path::{Path, PathBuf};

use dyno_shared::submission::Submission;
use serde_json::Value;
use support::{Ran, call};

fn result(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    folder.join(name).to_string_lossy().into_owned()
}

fn real(label: &str) -> String {
    result(&format!("llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--{label}.json"))
}

fn read(path: &str) -> Submission {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn put(dir: &Path, name: &str, shard: &Submission) -> String {
    let path: PathBuf = dir.join(name);
    std::fs::write(&path, serde_json::to_string(shard).unwrap()).unwrap();
    path.to_string_lossy().into_owned()
}

/// What stdout says, in whatever lines.
#[track_caller]
fn shows(ran: &Ran, parts: &[&str]) {
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in:\n{}", ran.stdout);
    }
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

/// What a sweep of the real server found: 1.519 (1.340–1.723), p 0.005 over three cycles.
#[test]
fn two_threads_of_the_real_server_are_faster_than_one_and_the_sweep_said_the_same() {
    let ran = call(&["compare", &real("threads-1"), &real("threads-2")]).ends(0);
    shows(
        &ran,
        &[
            "1.519 (1.340–1.723) 3 cycles 0.005 ▲ faster",
            "B decodes faster on code_q128 (+52 %)",
            "requested threads 1 2",
            "unit of replication is the cycle",
        ],
    );
    let back = call(&["compare", &real("threads-2"), &real("threads-1")]).ends(0);
    assert!(back.stdout.contains("▼ slower"), "{}", back.stdout);
}

#[test]
fn speculation_that_gains_nothing_is_not_separated_and_never_called_the_same() {
    let ran = call(&["compare", &real("spec-type-none"), &real("spec-type-ngram-simple")]).ends(0);
    shows(&ran, &["? not separated"]);
    shows(&ran, &["does not mean the same"]);
}

#[test]
fn json_has_every_figure_and_null_where_there_is_none() {
    let ran = call(&["compare", "--json", &real("threads-1"), &real("threads-2")]).ends(0);
    let all = json(&ran);
    let ratios = &all["cases"][0]["against"][0]["ratios"];
    let headline = &ratios[0];
    assert_eq!(headline["metric"], "client_wall_decode_tok_s");
    assert_eq!((&headline["verdict"], &headline["n"]["first"]), (&Value::from("faster"), &Value::from(3)));
    assert!((headline["ratio"].as_f64().unwrap() - 1.519).abs() < 0.001);
    assert_eq!(headline["pairs"].as_array().unwrap().len(), 18);
    let shown = ratios.as_array().unwrap().iter().find(|of| of["role"] == "shown").unwrap();
    assert!(shown["holm_p"].is_null() && shown["verdict"].is_null() && shown["low"].is_f64());
    assert_eq!(all["differences"][0]["name"], "threads");
}

#[test]
fn markdown_is_a_table_for_a_pull_request() {
    let ran = call(&["compare", "--markdown", &real("threads-1"), &real("threads-2")]).ends(0);
    let row = r"| code\_q128 | client decode rate | 1.519 (1.340–1.723) | 3 cycles | 0.005 | ▲ faster |";
    assert!(ran.stdout.contains(row), "{}", ran.stdout);
}

#[test]
fn a_hostile_name_is_neither_markup_nor_a_control_of_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let mut shard = read(&real("threads-2"));
    shard.label = "\u{1b}[31m<img src=x onerror=alert(1)>|`x`".into();
    let hostile = put(dir.path(), "b.json", &shard);
    let ran = call(&["compare", "--markdown", &real("threads-1"), &hostile]).ends(0);
    assert!(!ran.stdout.contains("<img") && !ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    let ran = call(&["compare", &real("threads-1"), &hostile]).ends(0);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn fail_on_slower_ends_with_1_only_where_something_is() {
    let (one, two) = (real("threads-1"), real("threads-2"));
    call(&["compare", "--fail-on", "slower", &one, &two]).ends(0);
    call(&["compare", "--fail-on", "slower", &two, &one])
        .ends(1)
        .says(&["B, code_q128, decode rate: slower"]);
    call(&["compare", "--fail-on", "different", &one, &two]).ends(1).says(&["faster"]);
    let (none, ngram) = (real("spec-type-none"), real("spec-type-ngram-simple"));
    call(&["compare", "--fail-on", "slower", &none, &ngram]).ends(0);
    call(&["compare", "--fail-on", "not-equivalent", &none, &ngram]).ends(1).says(&["not separated"]);
}

#[test]
fn what_was_not_tested_does_not_pass() {
    let files =
        ["tp-4", "tp-2"].map(|tp| result(&format!("not-stated/undated/not-stated--glm53--{tp}.json")));
    call(&["compare", "--fail-on", "slower", &files[0], &files[1]]).ends(2).says(&["B was not tested"]);
    let (one, two, none) = (real("threads-1"), real("threads-2"), real("spec-type-none"));
    call(&["compare", "--fail-on", "slower", &one, &two, &none]).ends(2).says(&["C was not tested"]);
}

#[test]
fn what_does_not_compare_is_refused_with_the_reason_and_the_remedy() {
    let (one, none) = (real("threads-1"), real("spec-type-none"));
    let ran = call(&["compare", &one, &none]).ends(2).says(&[
        "the series differs",
        "--series NAME",
        "--allow-mismatch",
    ]);
    assert!(ran.stdout.contains("not comparable"), "the table is shown all the same: {}", ran.stdout);
    let ran = call(&["compare", "--allow-mismatch", &one, &none]).ends(0);
    shows(&ran, &["Unpaired, because what was asked differs"]);
    let other = result("llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct--t1-c4096.json");
    let ran = call(&["compare", &one, &other]).ends(2).says(&["no case in common"]);
    shows(&ran, &["only in A (code_q128)"]);
}

#[test]
fn a_file_is_not_compared_with_itself_nor_with_its_copy() {
    let dir = tempfile::tempdir().unwrap();
    let one = real("threads-1");
    call(&["compare", &one, &one]).ends(2).says(&["stands twice"]);
    let copy = put(dir.path(), "copy.json", &read(&one));
    call(&["compare", &one, &copy]).ends(2).says(&["the same runs", "measure twice"]);
}

#[test]
fn summaries_are_compared_by_what_they_state_without_an_interval() {
    let files =
        ["tp-2", "tp-4"].map(|tp| result(&format!("not-stated/undated/not-stated--glm53--{tp}.json")));
    let ran = call(&["compare", &files[0], &files[1]]).ends(0);
    shows(&ran, &["1.772 (no interval) stated", "117 (112–124), 32", "only what is stated"]);
    assert!(!ran.stdout.contains("faster"), "{}", ran.stdout);
}

#[test]
fn boots_of_one_configuration_are_pooled_and_their_spread_is_told() {
    let dir = tempfile::tempdir().unwrap();
    // The cycles of the real sweep, each as a submission of its own: three boots of each configuration.
    let boots = |label: &str| -> Vec<String> {
        let sweep = read(&real(label));
        (1..=3)
            .map(|cycle| {
                let mut boot = sweep.clone();
                let runs = &mut boot.cases[0].runs;
                runs.retain(|run| run.cycle == Some(cycle));
                for (at, run) in runs.iter_mut().enumerate() {
                    (run.cycle, run.number) = (None, at as u32 + 1);
                    // Cycles of a sweep have prompts of their own; here they stand for starts with the same ones.
                    run.requests.iter_mut().for_each(|request| request.prompt_sha256 = None);
                }
                put(dir.path(), &format!("{label}-{cycle}.json"), &boot)
            })
            .collect()
    };
    let (one, two) = (boots("threads-1"), boots("threads-2"));
    let all: Vec<&str> = one.iter().chain(&two).map(String::as_str).collect();
    let ran = call(&[&["compare", "--pool"], &*all].concat()).ends(0);
    for part in
        ["threads=1, 3 boots", "3 + 3 boots", "▲ faster", "unit of replication is the boot", "Between boots"]
    {
        assert!(ran.stdout.contains(part), "`{part}` is not in:\n{}", ran.stdout);
    }
    let ran = call(&[&["compare", "--pool"], &all[..2], &all[3..5]].concat()).ends(0);
    shows(&ran, &["unit of replication is the run"]);
    call(&[&["compare", "--pool"], &all[..3]].concat())
        .ends(2)
        .says(&["one configuration", "leave --pool away"]);
    let ran = call(&["compare", all[0], all[1]]).ends(0);
    shows(&ran, &["the noise between two starts"]);
    assert!(!ran.stdout.contains("faster") && !ran.stdout.contains("slower"), "{}", ran.stdout);
}

#[test]
fn files_that_are_none_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("bad.json");
    std::fs::write(&bad, "{").unwrap();
    call(&["compare", &real("threads-1"), &bad.to_string_lossy()]).ends(2).says(&["bad.json"]);
    call(&["compare", &real("threads-1")]).ends(2);
    call(&["compare", &real("threads-1"), &real("threads-2"), "--margin", "0"]).ends(2).says(&["such as 2%"]);
}
