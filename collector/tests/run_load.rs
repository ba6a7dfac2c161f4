//! Several streams at once: batches, sessions, and requests on a schedule, against the truth of a simulated engine.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use dyno_shared::submission::{Run, Submission, flag};
use dyno_shared::summary::{CaseSummary, summarize};
use dyno_shared::workload::{Arrival, Regime};

use support::{Engine, Ran, case, run, shard};

/// A suite of one's own, measured.
fn suite(engine: &Engine, toml: &str, code: i32, arguments: &[&str]) -> (Ran, Submission) {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("suite.toml"), dir.path().join("shard.json"));
    std::fs::write(&file, toml).unwrap();
    let file = file.to_string_lossy().into_owned();
    let ran = run(&engine.url, &out, &[&["--suite", &file], arguments].concat()).ends(code);
    (ran, shard(&out))
}

fn value(summary: &CaseSummary, metric: &str) -> f64 {
    summary.get(metric).and_then(|e| e.value).unwrap_or_else(|| panic!("no {metric}"))
}

#[track_caller]
fn near(found: f64, truth: f64, share: f64) {
    assert!((found / truth - 1.0).abs() < share, "{found} is not near {truth}");
}

fn names(summary: &CaseSummary) -> Vec<&'static str> {
    summary.warnings.iter().map(|warning| warning.name).collect()
}

#[test]
fn four_streams_at_50_tokens_per_second_add_up_to_200() {
    let engine = Engine::start(&["--decode-tok-s", "50", "--prefill-tok-s", "20000", "--overhead-s", "0.01"]);
    let toml = "[[case]]\nid = 'four'\nregime = 'load'\nworkload = 'mixed'\nconcurrency = 4\nmax_tokens = 100\nruns = 3\nwarmups = 1";
    let (_, shard) = suite(&engine, toml, 0, &[]);
    let four = case(&shard, "four");
    assert_eq!((four.regime, four.concurrency, four.workload.as_str()), (Regime::Load, 4, "mixed"));
    assert!(four.warmups.iter().all(|warmup| warmup.requests.len() == 4), "warm at that very concurrency");
    for run in &four.runs {
        assert_eq!(run.requests.iter().map(|r| r.stream).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let mut tags: Vec<&str> = run.requests.iter().map(|r| r.run_tag.as_str()).collect();
        tags.dedup();
        assert_eq!(tags.len(), 4, "each stream has a tag of its own");
        let due: Vec<_> = run.requests.iter().map(|r| r.t_due_s).collect();
        assert!(due.iter().all(|at| *at == due[0]), "all are due at one moment");
        assert_eq!(run.achieved_concurrency(), Some(4));
    }
    let summary = summarize(four);
    near(value(&summary, "client_wall_decode_tok_s"), 50.0, 0.1);
    near(value(&summary, "client_wall_steady_tok_s"), 200.0, 0.1);
    // 400 tokens in 99 steps of 20 ms and the time to the first of them.
    near(value(&summary, "client_wall_aggregate_tok_s"), 400.0 / 2.0, 0.1);
    assert!(value(&summary, "client_wall_queue_s") < 0.05, "our own lateness");
    assert_eq!(summary.achieved_concurrency, Some(4));
    assert!(!names(&summary).contains(&"concurrency_not_reached"));
}

#[test]
fn an_engine_that_takes_fewer_streams_than_were_sent_is_found_out() {
    let engine = Engine::start(&["--decode-tok-s", "1000", "--prefill-tok-s", "100000", "--slots", "5"]);
    let toml =
        "[[case]]\nid = 'eight'\nregime = 'load'\nconcurrency = 8\nmax_tokens = 200\nruns = 3\nwarmups = 1";
    let (ran, shard) = suite(&engine, toml, 0, &[]);
    ran.says(&["the engine serves 5 requests at once, so its queue is measured along in: eight", "5 of 8"]);
    let summary = summarize(case(&shard, "eight"));
    assert_eq!((summary.passed, summary.achieved_concurrency), (Some(3), Some(5)));
    assert!(names(&summary).contains(&"concurrency_not_reached"), "{:?}", summary.warnings);
}

#[test]
fn one_failing_stream_fails_its_batch_and_is_named() {
    // The trial is request 1; of runs of four the second has the requests 6 to 9.
    let engine = Engine::fast(&["--fault", "die:5@7"]);
    let toml =
        "[[case]]\nid = 'four'\nregime = 'load'\nconcurrency = 4\nmax_tokens = 50\nruns = 4\nwarmups = 0";
    let (_, shard) = suite(&engine, toml, 1, &[]);
    let four = case(&shard, "four");
    let failed: Vec<&Run> = four.runs.iter().filter(|run| !run.passed()).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].requests.iter().filter(|r| r.error.is_some()).count(), 1);
    assert_eq!(failed[0].requests.len(), 4, "what the others did is kept");
    let summary = summarize(four);
    assert_eq!((summary.runs, summary.passed), (Some(4), Some(3)));
    assert_eq!(summary.get("client_wall_aggregate_tok_s").unwrap().n, Some(3));

    let engine = Engine::fast(&["--fault", "replacement@7"]);
    let (_, shard) = suite(&engine, toml, 1, &[]);
    let check = case(&shard, "four").runs.iter().flat_map(|run| &run.checks).find(|check| !check.passed);
    let detail = check.and_then(|check| check.detail.as_deref()).unwrap();
    assert!(detail.starts_with("stream ") && detail.contains("U+FFFD"), "{detail}");
}

#[test]
fn a_stream_that_stalls_for_ever_costs_its_run_and_no_more() {
    let engine = Engine::fast(&["--fault", "stall:5@7"]);
    let toml = "[[case]]\nid = 'four'\nregime = 'load'\nconcurrency = 4\nmax_tokens = 50\nruns = 4\nwarmups = 0\n\
                [[case]]\nid = 'after'\nregime = 'decode'\nworkload = 'code'\nmax_tokens = 20\nruns = 2\nwarmups = 0";
    let (_, shard) = suite(&engine, toml, 1, &["--idle-timeout", "0.3"]);
    assert_eq!(summarize(case(&shard, "four")).passed, Some(3));
    assert_eq!(summarize(case(&shard, "after")).passed, Some(2));
}

#[test]
fn answers_that_end_before_their_limit_are_counted_as_they_came() {
    let engine = Engine::fast(&["--finish-after", "30", "--obey-ignore-eos", "false"]);
    let toml = "[[case]]\nid = 'two'\nregime = 'load'\nworkload = 'prose'\nconcurrency = 2\nmax_tokens = 100\nignore_eos = false\nruns = 3\nwarmups = 0";
    let (_, shard) = suite(&engine, toml, 0, &[]);
    let tokens =
        case(&shard, "two").runs.iter().flat_map(|run| &run.requests).map(|r| r.output_tokens.unwrap().get());
    assert!(tokens.into_iter().all(|tokens| tokens == 30));
}

#[test]
fn a_load_whose_answers_are_short_says_that_prefill_decides_it() {
    let engine = Engine::start(&["--decode-tok-s", "2000", "--prefill-tok-s", "5000"]);
    let toml = "[[case]]\nid = 'short'\nregime = 'load'\nworkload = 'long_text'\nprompt_tokens = 1000\nconcurrency = 2\nmax_tokens = 20\nruns = 3\nwarmups = 1";
    let (ran, shard) = suite(&engine, toml, 0, &[]);
    assert!(names(&summarize(case(&shard, "short"))).contains(&"ttft_dominates"));
    ran.says(&["passes before the first token"]);
}

#[test]
fn a_load_met_by_the_cache_is_flagged() {
    let engine = Engine::fast(&[]);
    let toml = "[[case]]\nid = 'two'\nregime = 'load'\nworkload = 'long_text'\nprompt_tokens = 500\nconcurrency = 2\nmax_tokens = 30\nruns = 2\nwarmups = 0";
    suite(&engine, toml, 0, &["--series", "same"]);
    let (_, again) = suite(&engine, toml, 1, &["--series", "same"]);
    let two = case(&again, "two");
    assert!(two.runs.iter().all(|run| run.flags.iter().any(|f| f == flag::SERVED_FROM_CACHE)));
}

#[test]
fn at_depth_the_context_is_cached_and_the_answer_is_long() {
    let engine = Engine::fast(&[]);
    let toml = "[[case]]\nid = 'deep'\nregime = 'decode_at_depth'\ndepth_tokens = 3000\nmax_tokens = 100\nruns = 3\nwarmups = 1";
    let (_, shard) = suite(&engine, toml, 0, &[]);
    let deep = case(&shard, "deep");
    assert_eq!(deep.depth_tokens, Some(3_000));
    for run in &deep.runs {
        let request = &run.requests[0];
        let (prompt, cached) =
            (request.prompt_tokens.unwrap().get(), request.cached_prompt_tokens.unwrap().get());
        // The tail of a run may happen to begin as that of the run before it: the first tokens of it are cached, then.
        assert!(
            (2_990..=3_003).contains(&cached) && (3_040..3_150).contains(&prompt),
            "{cached} of {prompt}"
        );
        assert_eq!(request.output_tokens.unwrap().get(), 100);
    }
    let engine = Engine::fast(&["--cache", "off"]);
    let (_, shard) = suite(&engine, toml, 1, &[]);
    let runs = &case(&shard, "deep").runs;
    assert!(runs.iter().all(|run| run.flags.iter().any(|f| f == flag::NOT_CACHED)), "it must prove the hit");
}

#[test]
fn a_session_is_cold_at_first_and_cached_in_its_later_turns() {
    let engine = Engine::start(&["--decode-tok-s", "2000", "--prefill-tok-s", "20000", "--timings"]);
    let toml = "[[case]]\nid = 'chat'\nregime = 'session'\nconcurrency = 3\nturns = 4\nprompt_tokens = 800\nmax_tokens = 32\nruns = 3\nwarmups = 1";
    let (_, shard) = suite(&engine, toml, 0, &[]);
    assert_eq!(
        shard.cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(),
        ["chat_admission", "chat_continuation"]
    );
    let (first, later) = (case(&shard, "chat_admission"), case(&shard, "chat_continuation"));
    assert_eq!((first.regime, first.turns, first.concurrency), (Regime::Session, Some(4), 3));
    for (a, b) in first.runs.iter().zip(&later.runs) {
        assert_eq!(a.number, b.number);
        assert!(a.started_s < b.started_s, "the later turns begin when all first ones have ended");
        assert!(a.requests.iter().all(|r| r.turn == Some(1) && r.prompt_tokens.unwrap().get() == 800));
        let turns: Vec<(u32, Option<u32>)> = b.requests.iter().map(|r| (r.stream, r.turn)).collect();
        let expected: Vec<(u32, Option<u32>)> =
            (0..3).flat_map(|session| (2..=4).map(move |turn| (session, Some(turn)))).collect();
        assert_eq!(turns, expected);
        for session in b.requests.chunks(3) {
            let ends = session.windows(2).all(|pair| pair[0].t_last_s <= pair[1].t_due_s);
            assert!(ends, "a turn begins when the last answer of its session has ended");
            let prompts: Vec<u64> = session.iter().map(|r| r.prompt_tokens.unwrap().get()).collect();
            assert!(
                prompts[0] > 832 && prompts[1] > prompts[0] + 32,
                "the answers are in the history: {prompts:?}"
            );
        }
        assert!(a.counters.is_some() && b.counters.is_some(), "each part has its own counters");
    }
    let (first, later) = (summarize(first), summarize(later));
    assert_eq!((first.passed, later.passed), (Some(3), Some(3)));
    assert!(value(&first, "cached_prompt_share") < 0.05);
    assert!(value(&later, "cached_prompt_share") > 0.9);
    assert!(value(&later, "client_wall_ttft_s") < value(&first, "client_wall_ttft_s"));
}

#[test]
fn a_session_whose_turn_fails_says_which_turns_are_missing() {
    // The trial is request 1, the first turns are 2 and 3, the second ones 4 and 5.
    let engine = Engine::fast(&["--fault", "status:500@4"]);
    let toml = "[[case]]\nid = 'chat'\nregime = 'session'\nconcurrency = 2\nturns = 3\nprompt_tokens = 300\nmax_tokens = 16\nruns = 1\nwarmups = 0";
    let (_, shard) = suite(&engine, toml, 1, &[]);
    assert!(case(&shard, "chat_admission").runs[0].passed());
    let later = &case(&shard, "chat_continuation").runs[0];
    assert_eq!(later.requests.len(), 3, "one turn failed and ended its session, the other session went on");
    let failures = later.failures().join("; ");
    assert!(failures.contains("3 of 4 turns were sent") && failures.contains("500"), "{failures}");
}

#[test]
fn two_lengths_of_one_prompt_give_the_decode_rate_without_the_stream() {
    let engine = Engine::start(&["--decode-tok-s", "200", "--prefill-tok-s", "2000", "--overhead-s", "0.05"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    run(&engine.url, &out, &["--cases", "two_length", "--runs", "3", "--warmups", "1"])
        .ends(0)
        .says(&["two lengths"]);
    let shard = shard(&out);
    let both = case(&shard, "two_length");
    for run in &both.runs {
        let tokens: Vec<u64> = run.requests.iter().map(|r| r.output_tokens.unwrap().get()).collect();
        assert_eq!(tokens, [1, 256]);
        assert_eq!(run.requests[0].prompt_sha256, run.requests[1].prompt_sha256);
        let cached: Vec<_> = run.requests.iter().map(|r| r.cached_prompt_tokens).collect();
        assert_eq!(cached[0], cached[1], "both meet the same state of the cache");
    }
    near(value(&summarize(both), "client_wall_two_length_decode_tok_s"), 200.0, 0.1);
}

#[test]
fn requests_on_a_schedule_are_due_by_it_and_not_by_the_answers_before_them() {
    let engine =
        Engine::start(&["--decode-tok-s", "100", "--prefill-tok-s", "100000", "--overhead-s", "0.01"]);
    // Each answer takes half a second, and one is due every tenth.
    let toml = "[[case]]\nid = 'steady'\nregime = 'load'\nworkload = 'prose'\nmax_tokens = 50\narrival = { constant = 10.0 }\nrequests = 12\nruns = 2\nwarmups = 0";
    let (ran, shard) = suite(&engine, toml, 0, &[]);
    ran.says(&["10/s", "from due"]);
    let steady = case(&shard, "steady");
    assert_eq!(steady.arrival, Some(Arrival::Constant { per_s: 10.0 }));
    for run in &steady.runs {
        let due: Vec<f64> = run.requests.iter().map(|r| r.t_due_s.unwrap().get()).collect();
        for (k, at) in due.iter().enumerate() {
            assert!((at - due[0] - 0.1 * k as f64).abs() < 1e-6, "{due:?}");
        }
        assert!(run.requests.iter().all(|r| r.t_send_s >= r.t_due_s), "nothing is sent before it is due");
    }
    let summary = summarize(steady);
    let (latency, from_due, late) = (
        value(&summary, "client_wall_e2e_s"),
        value(&summary, "client_wall_latency_from_due_s"),
        value(&summary, "client_wall_queue_s"),
    );
    assert!((from_due - latency - late).abs() < 1e-6);
    assert!(late < 0.1, "{late} s late on average: the next request waited for an answer");
    assert!(!names(&summary).contains(&"concurrency_not_reached"));
}

#[test]
fn the_wait_of_our_own_queue_is_reported_and_so_is_the_latency_from_the_schedule() {
    // One at a time, one due every 0.1 s, and each takes 0.5 s: the k-th waits 0.4 s for each before it.
    let engine =
        Engine::start(&["--decode-tok-s", "100", "--prefill-tok-s", "100000", "--overhead-s", "0.01"]);
    let toml = "[[case]]\nid = 'queue'\nregime = 'load'\nworkload = 'prose'\nmax_tokens = 50\nconcurrency = 1\narrival = { constant = 10.0 }\nrequests = 5\nruns = 1\nwarmups = 0";
    let (_, shard) = suite(&engine, toml, 0, &[]);
    let queue = case(&shard, "queue");
    let run = &queue.runs[0];
    for (k, request) in run.requests.iter().enumerate() {
        let wait = request.t_send_s.unwrap().get() - request.t_due_s.unwrap().get();
        assert!((wait - 0.4 * k as f64).abs() < 0.3, "request {k} waited {wait} s");
    }
    let apart = run.requests.windows(2).all(|pair| pair[0].t_last_s <= pair[1].t_send_s);
    assert!(apart, "one at a time");
    let summary = summarize(queue);
    near(value(&summary, "client_wall_queue_s"), 0.8, 0.3);
    near(value(&summary, "client_wall_latency_from_due_s"), 1.3, 0.3);
    near(value(&summary, "client_wall_e2e_s"), 0.5, 0.3);
}

#[test]
fn users_arrive_at_random_and_the_same_on_every_set_up_of_a_series() {
    let engine = Engine::fast(&[]);
    let toml = "[[case]]\nid = 'users'\nregime = 'load'\nworkload = 'prose'\nmax_tokens = 20\narrival = { poisson = 40.0 }\nrequests = 20\nruns = 2\nwarmups = 0";
    let gaps = |series: &str| -> Vec<Vec<f64>> {
        let (_, shard) = suite(&engine, toml, 0, &["--series", series]);
        let of_run = |run: &Run| -> Vec<f64> {
            let due: Vec<f64> = run.requests.iter().map(|r| r.t_due_s.unwrap().get()).collect();
            due.windows(2).map(|pair| ((pair[1] - pair[0]) * 1e6).round()).collect()
        };
        case(&shard, "users").runs.iter().map(of_run).collect()
    };
    let (one, again, other) = (gaps("s"), gaps("s"), gaps("t"));
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1.0);
    assert!(same(&one[0], &again[0]) && same(&one[1], &again[1]), "{one:?}\n{again:?}");
    assert!(!same(&one[0], &one[1]), "each run has a schedule of its own");
    assert!(!same(&one[0], &other[0]));
}

#[test]
fn until_goes_on_to_the_precision_that_was_asked_for_or_to_the_end_of_its_budget() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let steady = Engine::fast(&[]);
    let arguments = ["--cases", "code_q128", "--warmups", "1", "--until", "40%"];
    run(&steady.url, &out, &arguments).ends(0).says(&["as many runs as their figures need", "±"]);
    let known = shard(&out);
    let code = case(&known, "code_q128");
    assert!((5..50).contains(&code.runs.len()), "{} runs", code.runs.len());
    assert_eq!((&known.provenance.partial, &code.ended_early), (&None, &None));
    assert!(known.notes.iter().any(|note| note.contains("measured until ± 40 %")), "{:?}", known.notes);

    let noisy = Engine::fast(&["--request-jitter", "0.8"]);
    let arguments =
        ["--cases", "code_q128", "--warmups", "0", "--until", "0.1%", "--budget", "1s", "--force"];
    run(&noisy.url, &out, &arguments).ends(0).says(&["the budget of 1"]);
    let ended = shard(&out);
    let code = case(&ended, "code_q128");
    assert!(
        code.ended_early.as_ref().unwrap().contains("before ± 0.1 % was reached"),
        "{:?}",
        code.ended_early
    );
    assert!(code.runs.len() > 5);
}
