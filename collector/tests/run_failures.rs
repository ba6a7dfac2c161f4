//! Engines that fail, each in its own way: a clear message, the right exit code, no lost runs.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use dyno_shared::record::RequestErrorKind;
use dyno_shared::summary::summarize;

use support::{Engine, Ran, SHORT, case, journal, run, run_command, shard, wait_for_runs};

fn scratch() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    (dir, out)
}

/// Chat request of the first recorded run of `code_q128`: the trial comes first, then three repeats.
const FIRST_RUN: u32 = 5;

/// Runs `code_q128` against an engine with one fault, at the request of its second run.
fn with_fault(fault: &str, code: i32, arguments: &[&str]) -> (Ran, dyno_shared::submission::Submission) {
    let (_dir, out) = scratch();
    let engine = Engine::fast(&["--fault", &format!("{fault}@{}", FIRST_RUN + 1)]);
    let all = ["--quick", "--runs", "5", "--cases", "code_q128,counting_q50"];
    let ran = run(&engine.url, &out, &[all.as_slice(), arguments].concat()).ends(code);
    let shard = shard(&out);
    (ran, shard)
}

#[test]
fn a_wrong_address_says_what_to_do() {
    let (_dir, out) = scratch();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    run(&format!("http://{closed}"), &out, &SHORT).ends(3).says(&[&closed.to_string()]);
    run("localhost:8080", &out, &SHORT).ends(2).says(&["http://127.0.0.1:8080"]);
    run("http://me:secret@127.0.0.1:1", &out, &SHORT).ends(2).says(&["--api-key"]);
    assert!(!out.exists() && !journal(&out).exists());
}

#[test]
fn something_that_is_no_engine_is_named_as_such() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // One read is a whole request here; who has gone does not matter.
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\nconnection: close\r\n\r\n<html>hi</html>",
            );
        }
    });
    let (_dir, out) = scratch();
    run(&format!("http://{address}"), &out, &SHORT).ends(3).says(&["no OpenAI-compatible engine"]);
}

#[test]
fn an_engine_that_loads_its_model_is_waited_for() {
    let (_dir, out) = scratch();
    let engine = Engine::fast(&["--load-s", "1.5"]);
    run(&engine.url, &out, &[SHORT.as_slice(), &["--cases", "code_q128"]].concat())
        .ends(0)
        .says(&["is loading its model"]);
    let stuck = Engine::fast(&["--load-s", "600"]);
    let impatient = [SHORT.as_slice(), &["--load-timeout", "0.3"]].concat();
    run(&stuck.url, &out, &[impatient.as_slice(), &["--force"]].concat()).ends(3).says(&["still loading"]);
}

#[test]
fn no_model_and_two_models_are_told_apart() {
    let (_dir, out) = scratch();
    let none = Engine::fast(&["--models"]);
    run(&none.url, &out, &SHORT).ends(3).says(&["lists no model"]);
    let two = Engine::fast(&["--models", "alpha,beta"]);
    run(&two.url, &out, &SHORT).ends(2).says(&["--model", "alpha", "beta"]);
    run(&two.url, &out, &[SHORT.as_slice(), &["--model", "gamma"]].concat()).ends(2).says(&["gamma"]);
    let chosen = [SHORT.as_slice(), &["--model", "beta", "--cases", "code_q128"]].concat();
    run(&two.url, &out, &chosen).ends(0);
    assert_eq!(shard(&out).system.model.name, "beta");
}

#[test]
fn an_engine_that_refuses_everything_is_not_measured() {
    let (_dir, out) = scratch();
    let engine = Engine::fast(&["--fault", "status:401"]);
    run(&engine.url, &out, &SHORT).ends(3).says(&["401"]);
    let silent = Engine::fast(&["--fault", "no-text"]);
    run(&silent.url, &out, &SHORT).ends(3).says(&["text"]);
    assert!(!out.exists() && !journal(&out).exists(), "nothing was measured, so nothing is left behind");
}

#[test]
fn one_failing_request_of_five_is_counted_shown_and_left_out_of_the_rate() {
    for (fault, kind, words) in [
        ("status:500", RequestErrorKind::Status, "500"),
        ("error-event:5", RequestErrorKind::MidStream, "error"),
        ("die:5", RequestErrorKind::Disconnected, ""),
        ("no-text", RequestErrorKind::NoText, "text"),
    ] {
        let (ran, shard) = with_fault(fault, 1, &[]);
        ran.says(&["code_q128: 4 of 5 passed", "code_q128, run 2: ", words]);
        let code = case(&shard, "code_q128");
        let error = code.runs[1].requests[0].error.as_ref().unwrap_or_else(|| panic!("{fault}: no error"));
        assert_eq!(error.kind, kind, "{fault}: {}", error.message);
        let summary = summarize(code);
        assert_eq!((summary.runs, summary.passed), (Some(5), Some(4)), "{fault}");
        assert_eq!(summary.get("client_wall_decode_tok_s").unwrap().n, Some(4), "{fault}");
        assert_eq!(summarize(case(&shard, "counting_q50")).passed, Some(5), "{fault}: the rest goes on");
    }
}

#[test]
fn an_endless_silence_in_mid_stream_ends_with_the_idle_time_out_and_the_rest_goes_on() {
    let (_, shard) = with_fault("stall:5", 1, &["--idle-timeout", "0.3"]);
    let stalled = &case(&shard, "code_q128").runs[1].requests[0];
    assert_eq!(stalled.error.as_ref().unwrap().kind, RequestErrorKind::IdleTimeout);
    assert_eq!(stalled.text_events, 5, "what came is kept");
    assert_eq!(summarize(case(&shard, "code_q128")).passed, Some(4));
}

#[test]
fn an_engine_that_takes_a_request_and_never_answers_is_given_up() {
    let (_, shard) = with_fault("stall-headers", 1, &["--first-byte-timeout", "0.5"]);
    let silent = &case(&shard, "code_q128").runs[1].requests[0];
    assert_eq!(silent.error.as_ref().unwrap().kind, RequestErrorKind::FirstByteTimeout);
}

#[test]
fn answers_that_are_rubbish_fail_their_run_and_keep_their_text() {
    for (fault, check) in [
        ("replacement", "no_replacement_character"),
        ("hangul", "expected_script"),
        ("loop", "no_repetition"),
    ] {
        let (_, shard) = with_fault(fault, 1, &[]);
        let run = &case(&shard, "code_q128").runs[1];
        let failed: Vec<&str> = run.checks.iter().filter(|c| !c.passed).map(|c| c.name.as_str()).collect();
        assert_eq!(failed, [check]);
        assert!(run.requests[0].output_text.is_some());
        assert!(
            case(&shard, "code_q128").runs[0].requests[0].output_text.is_none(),
            "only that of failed checks"
        );
    }
}

#[test]
fn a_wrong_line_in_counting_fails_the_run() {
    let (_dir, out) = scratch();
    let engine = Engine::fast(&["--fault", &format!("miscount@{FIRST_RUN}")]);
    run(&engine.url, &out, &["--quick", "--runs", "3", "--cases", "counting_q50"])
        .ends(1)
        .says(&["line 3 is `4`"]);
    let shard = shard(&out);
    let counting = case(&shard, "counting_q50");
    assert!(!counting.runs[0].passed() && counting.runs[1].passed());
}

#[test]
fn a_case_that_fails_three_times_in_a_row_is_left_and_the_others_are_measured() {
    let (_dir, out) = scratch();
    let faults: Vec<String> = (2..=4).map(|n| format!("status:400@{n}")).collect();
    let flags: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault.as_str()]).collect();
    let engine = Engine::fast(&flags);
    run(&engine.url, &out, &SHORT).ends(1).says(&["code_q128: ended early: 3 requests failed in a row"]);
    let shard = shard(&out);
    assert!(case(&shard, "code_q128").ended_early.as_ref().unwrap().contains("400"));
    assert_eq!(summarize(case(&shard, "counting_q50")).passed, Some(3));
    assert_eq!(shard.provenance.partial, None);
}

#[test]
fn an_engine_that_dies_leaves_a_partial_shard_with_every_run_before_it() {
    let (_dir, out) = scratch();
    let mut engine =
        Engine::start(&["--prefill-tok-s", "20000", "--decode-tok-s", "900", "--overhead-s", "0.002"]);
    let child = run_command(&engine.url, &out, &["--quick"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_runs(&out, 2);
    engine.kill();
    Ran::of(&child.wait_with_output().unwrap()).ends(3).says(&["code_q128: ended early", "--resume"]);
    let partial = shard(&out);
    assert!(partial.provenance.partial.is_some());
    let kept = case(&partial, "code_q128").runs.iter().filter(|run| run.passed()).count();
    assert!(kept >= 2, "{kept} good runs are left");
    assert!(journal(&out).exists());

    // It comes back on the same port, and the measurement goes on.
    let back = Engine::start_on(&engine.port(), &["--decode-tok-s", "4000"]);
    run(&back.url, &out, &["--resume"]);
    let whole = shard(&out);
    assert_eq!(whole.provenance.partial, None);
    assert_eq!(whole.cases.iter().map(|case| case.runs.len()).sum::<usize>(), 20);
}

#[test]
fn a_key_in_the_command_line_is_not_in_the_shard_and_neither_is_a_folder() {
    let (dir, out) = scratch();
    let engine = Engine::fast(&[]);
    let key = "s3cr3t-Token-0123456789abcdef";
    let arguments =
        [SHORT.as_slice(), &["--cases", "code_q128", "--api-key", key, "--set", "path=/home/jo/model.gguf"]]
            .concat();
    run(&engine.url, &out, &arguments).ends(0);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(
        !text.contains(key) && !text.contains("/home/jo") && !text.contains(&*dir.path().to_string_lossy()),
        "{text}"
    );
    assert!(shard(&out).provenance.command.unwrap().contains("--api-key [removed]"));
}
