//! What a prefix cache does to a measurement, and what the engine says about tokens.

mod support;

use dyno_shared::submission::flag;
use dyno_shared::summary::summarize;

use support::{Engine, SHORT, case, run, shard};

#[test]
fn the_same_series_twice_on_one_server_is_served_from_the_cache_and_leaves_the_summary() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let arguments = [SHORT.as_slice(), &["--series", "again"]].concat();
    run(&engine.url, &dir.path().join("1.json"), &arguments).ends(0);
    let second = dir.path().join("2.json");
    run(&engine.url, &second, &arguments).ends(1).says(&["served_from_cache"]);
    let shard = shard(&second);
    let cold = case(&shard, "cold_prefill_q1k");
    assert!(
        cold.runs.iter().all(|run| run.flags.iter().any(|f| f == flag::SERVED_FROM_CACHE)),
        "{:?}",
        cold.runs
    );
    let summary = summarize(cold);
    assert_eq!((summary.runs, summary.passed, summary.estimates.len()), (Some(3), Some(0), 0));
    assert_eq!(summarize(case(&shard, "cached_prefix_q1k")).passed, Some(3), "a cached case is as it was");
    assert_eq!(summarize(case(&shard, "code_q128")).passed, Some(3), "and so is decode");
}

#[test]
fn a_cached_case_without_a_cache_is_flagged_and_not_taken_for_a_fast_prefill() {
    let engine = Engine::fast(&["--cache", "off"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &SHORT).ends(1);
    let shard = shard(&out);
    let cached = case(&shard, "cached_prefix_q1k");
    assert!(cached.runs.iter().all(|run| run.flags.iter().any(|f| f == flag::NOT_CACHED)));
    assert_eq!(summarize(case(&shard, "cold_prefill_q1k")).passed, Some(3));
}

#[test]
fn an_engine_that_hides_its_cache_proves_nothing_and_the_shard_says_so() {
    // Only `usage` tells cached tokens, and this one is told not to; its counters are those of the simulator.
    let engine = Engine::fast(&["--report-cached", "false"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &SHORT).ends(0);
    let shard = shard(&out);
    let cached = case(&shard, "cached_prefix_q1k");
    let told_by_counters = cached.runs[0].counters.as_ref().is_some_and(|c| c.cached_tokens.is_some());
    let said = shard.notes.iter().any(|note| note.contains("not proven"));
    assert!(cached.runs.iter().all(|run| run.requests[0].cached_prompt_tokens.is_none()), "unknown is not 0");
    assert_eq!(said, !told_by_counters, "{:?}", shard.notes);
}

#[test]
fn an_end_of_sequence_before_the_limit_counts_what_was_generated() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let engine = Engine::fast(&["--finish-after", "40", "--obey-ignore-eos", "false"]);
    let arguments = [SHORT.as_slice(), &["--cases", "code_q128", "--no-ignore-eos"]].concat();
    run(&engine.url, &out, &arguments).ends(0);
    let shard = shard(&out);
    let code = case(&shard, "code_q128");
    assert_eq!(code.sampling.ignore_eos, None, "what was not sent is not claimed");
    assert!(code.runs.iter().all(|run| run.requests[0].output_tokens.unwrap().get() == 40));
}

#[test]
fn an_end_of_sequence_that_should_have_been_ignored_fails_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let engine = Engine::fast(&["--finish-after", "40", "--obey-ignore-eos", "false"]);
    let arguments = [SHORT.as_slice(), &["--cases", "code_q128"]].concat();
    run(&engine.url, &out, &arguments).ends(1).says(&["40 tokens of 128", "--no-ignore-eos"]);
}

#[test]
fn an_engine_rate_beyond_belief_is_named_and_not_averaged() {
    let engine = Engine::start(&["--prefill-tok-s", "400000", "--decode-tok-s", "95000", "--timings"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let arguments = [SHORT.as_slice(), &["--cases", "code_q128"]].concat();
    run(&engine.url, &out, &arguments).says(&["not believed"]);
    let shard = shard(&out);
    let summary = summarize(case(&shard, "code_q128"));
    assert!(summary.get("engine_decode_tok_s").is_none());
    assert!(summary.warnings.iter().any(|warning| warning.name == "engine_rate_implausible"));
}
