//! `dyno chart` on published results.

mod support;

use support::{call, results};

const ONE: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct--t1-c4096.json";
const THREADS_1: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--threads-1.json";
const THREADS_2: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--threads-2.json";
const LOADS: &str = "freetoken/2026-09-01/rtx-5090--radixark-qwen3.8-flash-next-nvfp4--offload.json";

/// Texts of a document that say a thing.
fn draws(arguments: &[&str], parts: &[&str]) -> String {
    let svg = call(&[&["chart"], arguments].concat()).ends(0).stdout;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    for part in parts {
        assert!(svg.contains(part), "`{part}` is not in:\n{svg}");
    }
    svg
}

#[test]
fn the_runs_of_a_published_case_are_drawn_with_their_failures() {
    let svg = draws(
        &["runs", &results(ONE), "--case", "cold_prefill_2k"],
        &["prefill rate, tok/s", "16 of 16 runs passed"],
    );
    assert_eq!(svg.matches("<circle").count(), 16, "a dot for each run");
    draws(&["runs", &results(ONE), "--case", "code"], &["5 of 16 runs passed", "crossed: failed"]);
    let ttft = ["runs", &results(ONE), "--case", "code", "--metric", "client_wall_ttft_s"];
    draws(&ttft, &["time to first token, s, lower is better"]);
}

#[test]
fn several_submissions_stand_on_one_axis_under_what_they_share() {
    let files = [results(THREADS_1), results(THREADS_2)];
    let svg = draws(
        &["intervals", &files[0], &files[1], "--theme", "dark"],
        &[
            "\nthreads=1\n",
            "\nthreads=2\n",
            "SmolLM2-135M-Instruct Q4_1",
            "95 % bootstrap, expanded",
            "#16181b",
        ],
    );
    assert!(!svg.contains("var("), "a file has no page to give it colours");
    // Answers of a few tokens are not judged by their decode rate.
    let svg = draws(&["intervals", &results(ONE)], &["\ncode\n"]);
    assert!(!svg.contains("cold_prefill_2k"), "{svg}");
}

#[test]
fn stated_loads_are_a_curve_over_their_streams() {
    let svg =
        draws(&["concurrency", &results(LOADS)], &["aggregate rate over streams", "as stated by its source"]);
    assert_eq!(svg.matches("<circle").count(), 4, "1, 2, 4 and 8 streams");
    call(&["chart", "length", &results(LOADS)]).ends(2).says(&["two lengths", "cold_prefill_8k"]);
}

#[test]
fn a_comparison_is_drawn_with_the_numbers_of_compare() {
    let files = [results(THREADS_1), results(THREADS_2)];
    let compared = call(&["compare", "--json", &files[0], &files[1]]).ends(0).stdout;
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    assert!(compared.is_object(), "{compared}");
    draws(
        &["forest", &files[0], &files[1]],
        &["threads=2 against threads=1", "▲ faster", "1.519 (1.340–1.723)"],
    );
    call(&["chart", "forest", &files[0], &results(ONE)]).ends(2).says(&["no case in common", "dyno compare"]);
}

#[test]
fn a_file_is_written_whole_and_another_is_not_overwritten_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("figure.svg");
    let out = out.to_string_lossy();
    let arguments = ["chart", "runs", &results(ONE), "--case", "code", "--out", &out];
    let ran = call(&arguments).ends(0);
    assert_eq!(ran.stdout, "");
    assert!(std::fs::read_to_string(&*out).unwrap().ends_with("</svg>\n"));
    call(&arguments).ends(2).says(&["exists", "--force"]);
    call(&[&arguments[..], &["--force"]].concat()).ends(0);
}

#[test]
fn wrong_usage_names_what_there_is() {
    call(&["chart", "pie", &results(ONE)]).ends(2).says(&[
        "runs",
        "intervals",
        "length",
        "concurrency",
        "forest",
    ]);
    call(&["chart", "runs", &results(ONE)]).ends(2).says(&["--case takes one of code, prose"]);
    call(&["chart", "runs", &results(ONE), "--case", "code", "--metric", "speed"])
        .ends(2)
        .says(&["client_wall_decode_tok_s"]);
    call(&["chart", "runs", "nowhere.json"]).ends(2).says(&["check the name"]);
}
