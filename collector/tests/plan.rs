//! `dyno plan` on published results.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use serde_json::Value;
use support::{call, results};

const ONE: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct--t1-c4096.json";
const THREADS_1: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--threads-1.json";
const THREADS_2: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--threads-2.json";
const OTHER_SERIES: &str =
    "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--spec-type-none.json";
const STATED: &str = "ollama/2026-08-29/ryzen-9-7945hx--qwen3.6-35b-a3b--q4-k-m-cpu-only.json";

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&call(&[&["plan", "--json"], arguments].concat()).ends(0).stdout).unwrap()
}

fn case<'a>(plan: &'a Value, id: &str) -> &'a Value {
    plan["cases"].as_array().unwrap().iter().find(|case| case["case"] == id).unwrap()
}

#[test]
fn the_plan_and_the_report_of_a_file_speak_of_one_spread() {
    let file = results(ONE);
    let plan = json(&[&file, "--see", "2%"]);
    let report: Value = serde_json::from_str(&call(&["report", "--json", &file]).ends(0).stdout).unwrap();
    let mut seen = 0;
    for of_report in report[0]["cases"].as_array().unwrap() {
        let of_plan = case(&plan, of_report["case"].as_str().unwrap());
        let Some(metric) = of_plan["metric"].as_str() else { continue };
        let estimate =
            of_report["estimates"].as_array().unwrap().iter().find(|of| of["metric"] == metric).unwrap();
        let basis = &of_plan["unpaired"];
        assert_eq!(basis["spread"], estimate["spread"], "{metric}");
        // What n runs detect shrinks with √n: as many more as the square of how much smaller 2 % is.
        let n = estimate["n"].as_f64().unwrap();
        let expected = n * (estimate["detects"].as_f64().unwrap() / 0.02).powi(2);
        let needed = basis["plans"][0]["needed"].as_f64().unwrap();
        assert!((needed - expected.ceil()).abs() <= 1.0, "{metric}: {needed} against {expected}");
        assert!(basis["plans"][0]["seconds"].as_f64().unwrap() > 0.0);
        seen += 1;
    }
    assert_eq!(seen, 5, "every case but counting, of which no run passed");
    assert_eq!(case(&plan, "counting")["unpaired_unknown"], "no run passed");
    assert!(case(&plan, "code")["paired"].is_null());
}

#[test]
fn the_table_says_what_it_plans_from_what_it_counts_and_that_pairs_are_unknown() {
    let shown = call(&["plan", &results(ONE)]).ends(0).stdout;
    for part in [
        "client decode rate, tok/s",
        "client prefill rate, tok/s",
        "client time to first token, s",
        "16 runs",
        "both configurations",
        "warm-ups",
        "Paired: unknown",
        "counting: no run passed",
        "69 % of its runs failed",
    ] {
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "`{part}` is not in:\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 110), "too wide:\n{shown}");
}

#[test]
fn two_files_of_a_sweep_have_a_paired_plan_in_cycles_and_fewer_than_six_are_never_planned() {
    let plan = json(&[&results(THREADS_1), &results(THREADS_2), "--see", "1%,50%"]);
    let paired = &case(&plan, "code_q128")["paired"];
    assert_eq!((paired["counted"].as_str(), paired["n"].as_u64()), (Some("cycle"), Some(3)));
    let needed = |at: usize| paired["plans"][at]["needed"].as_u64().unwrap();
    assert!(needed(0) > 50);
    assert_eq!(needed(1), 6);
    let shown = call(&["plan", &results(THREADS_1), &results(THREADS_2)]).ends(0).stdout;
    assert!(shown.contains("3 cycles is rough") && !shown.contains("Paired: unknown"), "{shown}");
}

#[test]
fn files_that_do_not_pair_say_why_and_keep_their_unpaired_plan() {
    let plan = json(&[&results(THREADS_1), &results(OTHER_SERIES)]);
    let of = case(&plan, "code_q128");
    assert!(of["paired"].is_null() && of["unpaired"]["n"].as_u64() == Some(18));
    assert!(of["paired_unknown"].as_str().unwrap().contains("the series differs"));
    let shown = call(&["plan", &results(THREADS_1), &results(OTHER_SERIES)]).ends(0).stdout;
    assert!(shown.contains("not paired: the series differs"), "{shown}");
}

#[test]
fn a_file_without_runs_is_no_plan_and_wrong_usage_says_what_to_do() {
    call(&["plan", &results(STATED)]).ends(2).says(&["only what a source states", "Give a file with runs"]);
    call(&["plan", "nowhere.json"]).ends(2).says(&["nowhere.json", "check the name"]);
    call(&["plan", &results(ONE), "--see", "0%"]).ends(2).says(&["0.01% to 50%"]);
}
