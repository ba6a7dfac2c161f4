//! A whole measurement on Ollama's own chat route, against the simulated engine that speaks it.

mod support;

use dyno_shared::record::{RequestErrorKind, TokenCountSource};
use dyno_shared::submission::Run;
use dyno_shared::summary::summarize;
use dyno_shared::system::Setting;
use dyno_shared::units::{Seconds, Tokens};

use support::{Engine, SHORT, case, run, shard};

/// Arguments of a short measurement on Ollama's route.
fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [SHORT.as_slice(), &["--endpoint", "ollama"], more].concat()
}

#[test]
fn a_measurement_on_ollamas_route_has_the_clients_figures_and_the_engines_durations() {
    let engine = Engine::start(&[
        "--speak",
        "ollama",
        "--decode-tok-s",
        "200",
        "--prefill-tok-s",
        "5000",
        "--overhead-s",
        "0.01",
    ]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &short(&[])).ends(0).says(&["simulated"]);
    let shard = shard(&out);
    assert_eq!(shard.configuration.effective["chat_route"].value, Setting::Text("/api/chat".into()));
    for case in &shard.cases {
        assert_eq!(case.sampling.ignore_eos, None, "{}: Ollama has none", case.id);
        assert_eq!((case.sampling.temperature, case.sampling.thinking), (Some(0.0), Some(false)));
        assert!(
            case.sampling.top_k.is_some()
                && case.sampling.seed.is_some()
                && case.sampling.max_tokens.is_some()
        );
        for run in &case.runs {
            assert!(run.passed(), "{}: {:?}", case.id, run.failures());
            for request in &run.requests {
                let engine = request.engine.as_ref().unwrap_or_else(|| panic!("{}: no timings", case.id));
                assert_eq!(
                    (engine.source.as_str(), engine.load_s),
                    ("response timings", Some(Seconds(0.01)))
                );
                assert_eq!(engine.output_tokens, request.output_tokens);
                assert_eq!(request.token_count_source, Some(TokenCountSource::Usage));
                let [all, processed, cached] =
                    [request.prompt_tokens, engine.prompt_tokens, engine.cached_tokens]
                        .map(|n| n.map_or(0, Tokens::get));
                assert!(all > 0 && all == processed + cached, "{all} = {processed} + {cached}");
            }
        }
    }
    let value = |id: &str, metric: &str| {
        let summary = summarize(case(&shard, id));
        summary.get(metric).and_then(|e| e.value).unwrap_or_else(|| panic!("{id} has no {metric}"))
    };
    let near =
        |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 0.25, "{found} is not near {truth}");
    near(value("code_q128", "client_wall_decode_tok_s"), 200.0);
    near(value("code_q128", "engine_decode_tok_s"), 200.0);
    near(value("cold_prefill_q1k", "engine_prefill_tok_s"), 5_000.0);
    near(value("cold_prefill_q1k", "client_wall_ttft_s"), 0.21);
    assert!(value("cold_prefill_q1k", "cached_prompt_share") < 0.05);
    assert!(value("cached_prefix_q1k", "cached_prompt_share") > 0.9);
}

#[test]
fn who_speaks_as_ollama_and_is_simulated_is_never_published_as_ollama() {
    let engine = Engine::fast(&["--speak", "ollama"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(
        &engine.url,
        &out,
        &short(&["--label", "record!", "--engine-name", "Ollama", "--cases", "code_q128"]),
    )
    .ends(0)
    .says(&["SIMULATED"]);
    let shard = shard(&out);
    assert!(shard.system.engine.simulated);
    assert_eq!(
        (shard.system.engine.name.as_str(), shard.label.as_str()),
        ("dyno-simulator", "simulated record!")
    );
}

#[test]
fn its_openai_route_is_measured_where_nobody_chooses_and_claims_nothing_else() {
    let engine = Engine::fast(&["--speak", "ollama"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &[SHORT.as_slice(), &["--cases", "code_q128"]].concat()).ends(0);
    let shard = shard(&out);
    assert_eq!(shard.configuration.effective.get("chat_route"), None);
    assert_eq!(case(&shard, "code_q128").sampling.ignore_eos, Some(true));
}

#[test]
fn an_answer_that_ends_by_itself_is_no_failure_where_the_end_cannot_be_ignored() {
    let engine = Engine::fast(&["--speak", "ollama", "--finish-after", "40"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &short(&["--cases", "code_q128"])).ends(0);
    let shard = shard(&out);
    for run in &case(&shard, "code_q128").runs {
        let request = &run.requests[0];
        assert_eq!(request.output_tokens, Some(Tokens(40)), "counted, not the number asked for");
        assert_eq!(request.finish_reason.as_deref(), Some("stop"));
    }
}

#[test]
fn an_older_ollama_without_counts_leaves_them_unknown() {
    let engine = Engine::fast(&["--speak", "ollama", "--usage", "never"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &short(&["--cases", "code_q128"])).ends(0);
    let shard = shard(&out);
    for run in &case(&shard, "code_q128").runs {
        let request = &run.requests[0];
        let engine = request.engine.as_ref().unwrap();
        assert_eq!((request.prompt_tokens, engine.prompt_tokens, engine.output_tokens), (None, None, None));
        assert!(engine.decode_s.is_some());
        assert_eq!(request.token_count_source, Some(TokenCountSource::CountedEvents));
    }
}

#[test]
fn an_error_in_mid_stream_fails_its_run_and_the_others_stand() {
    // The trial comes first, then three repeats.
    let engine = Engine::fast(&["--speak", "ollama", "--fault", "error-event:5@6"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &short(&["--cases", "code_q128"])).ends(1);
    let shard = shard(&out);
    let runs = &case(&shard, "code_q128").runs;
    let broken: Vec<&Run> = runs.iter().filter(|run| !run.passed()).collect();
    assert_eq!((runs.len(), broken.len()), (3, 1));
    let error = broken[0].requests[0].error.as_ref().unwrap();
    assert_eq!(error.kind, RequestErrorKind::MidStream);
    assert!(error.message.contains("broke down in mid-stream"), "{}", error.message);
    assert_eq!(broken[0].requests[0].output_tokens, Some(Tokens(5)), "what had come is in the file");
}

#[test]
fn lines_that_come_in_pieces_together_or_with_other_ends_are_the_same_answer() {
    let dir = tempfile::tempdir().unwrap();
    let answer = |name: &str, faults: &[&str]| {
        let engine = Engine::fast(&[&["--speak", "ollama"], faults].concat());
        let out = dir.path().join(name);
        run(&engine.url, &out, &short(&["--cases", "counting_q50", "--series", "s"])).ends(0);
        let shard = shard(&out);
        let hashes: Vec<_> = case(&shard, "counting_q50")
            .runs
            .iter()
            .map(|run| (run.requests[0].output_sha256.clone(), run.requests[0].text_events))
            .collect();
        hashes
    };
    let plain = answer("plain.json", &[]);
    assert!(plain.iter().all(|(hash, events)| hash.is_some() && *events > 40));
    for (name, fault) in [("split.json", "split:3"), ("merged.json", "merge"), ("crlf.json", "crlf")] {
        assert_eq!(plain, answer(name, &["--fault", fault]), "{fault}");
    }
}

#[test]
fn a_route_that_the_engine_lacks_is_an_error_that_says_what_to_do() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    run(&engine.url, &dir.path().join("shard.json"), &short(&[])).ends(3).says(&["404", "--endpoint"]);
}
