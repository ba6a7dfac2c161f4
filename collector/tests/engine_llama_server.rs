//! The real `llama-server` with a real small model, where `DYNO_TEST_LLAMA_SERVER` and `DYNO_TEST_MODEL` name them.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dyno_collector::engine::effective::disagreements;
use dyno_collector::engine::{identify, wait_ready};
use dyno_collector::transport::{self, Target};
use dyno_shared::record::TokenCountSource;
use dyno_shared::summary::summarize;
use dyno_shared::system::Setting;

use support::{case, run, shard};

/// A server that ends with the value.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server with one slot of 4,096 tokens: see [`server_with`].
fn server() -> Option<Server> {
    server_with(&["-c", "4096", "-np", "1"])
}

/// Starts a server, or says why the test is skipped. It is not waited for: `dyno run` does that.
fn server_with(flags: &[&str]) -> Option<Server> {
    let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file());
    let (Some(binary), Some(model)) = (named("DYNO_TEST_LLAMA_SERVER"), named("DYNO_TEST_MODEL")) else {
        eprintln!(
            "skipped: DYNO_TEST_LLAMA_SERVER and DYNO_TEST_MODEL name no files (`cargo xtask engine llama-cpp` makes them)"
        );
        return None;
    };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new(binary)
        .arg("--model")
        .arg(model)
        .args(["--alias", "smollm2", "--host", "127.0.0.1", "--port", &port.to_string(), "-t", "1"])
        .args(flags)
        .args(["--metrics", "--slots", "--props", "--no-webui", "--offline"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begin.elapsed() < Duration::from_mins(1), "llama-server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(Server { child, url: format!("http://127.0.0.1:{port}") })
}

#[test]
fn a_context_that_the_real_engine_cuts_short_is_named_with_both_values() {
    // A quarter of 65,536 is more than this model was trained for, and the server says so only in its log.
    let Some(server) = server_with(&["-c", "65536", "-np", "4", "--spec-type", "ngram-simple"]) else {
        return;
    };
    let target = Target::parse(&server.url).unwrap();
    let found = transport::runtime().unwrap().block_on(async {
        wait_ready(&target, Duration::from_mins(1), |_| ()).await.unwrap();
        identify(&target, None).await.unwrap()
    });
    let text = |word: &str| Setting::Text(word.to_owned());
    let asked = [
        ("-c".to_owned(), text("65536")),
        ("-np".to_owned(), Setting::Number(4.0)),
        ("--spec-type".to_owned(), text("ngram-simple")),
        ("--threads".to_owned(), Setting::Number(1.0)),
    ];
    let wrong = disagreements(&asked.into(), &found);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    let words = wrong[0].to_string();
    assert!(words.contains("-c 65536") && words.contains("16384") && words.contains("8192"), "{words}");
}

#[test]
fn a_real_engine_is_identified_measured_from_both_sides_and_its_cache_proven() {
    let Some(server) = server() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    // A model of this size does not always count right, so 1 (something failed its checks) is an answer too.
    let ran = run(&server.url, &out, &["--quick", "--runs", "3", "--hardware", "test machine"]);
    assert!(matches!(ran.code, 0 | 1), "{}", ran.stderr);
    let shard = shard(&out);

    let engine = &shard.system.engine;
    assert_eq!(engine.name, "llama.cpp");
    assert!(engine.version.as_ref().is_some_and(|version| version.starts_with('b')), "{engine:?}");
    assert!(!engine.simulated);
    assert!(shard.system.model.name.starts_with("SmolLM2"), "{:?}", shard.system.model);
    assert!(shard.system.model.quantisation.is_some());
    assert!(shard.configuration.effective.contains_key("context_limit_tokens"));

    let figure = |id: &str, metric: &str| {
        let summary = summarize(case(&shard, id));
        summary.get(metric).and_then(|estimate| estimate.value)
    };
    let known = |id: &str, metric: &str| figure(id, metric).unwrap_or_else(|| panic!("{id} has no {metric}"));
    for run in &case(&shard, "code_q128").runs {
        let request = &run.requests[0];
        assert_eq!(request.output_tokens.map(dyno_shared::units::Tokens::get), Some(128));
        assert_eq!(request.token_count_source, Some(TokenCountSource::Usage));
        assert!(request.engine.is_some() && run.counters.is_some(), "timings and counters: {run:?}");
    }
    assert!(
        known("code_q128", "client_wall_decode_tok_s") > 0.0
            && known("code_q128", "engine_decode_tok_s") > 0.0
    );
    let ratio = known("code_q128", "client_engine_decode_ratio");
    assert!((0.8..1.2).contains(&ratio), "client and engine disagree: {ratio}");
    let prompt = known("cold_prefill_q1k", "engine_prefill_tok_s")
        / known("cold_prefill_q1k", "client_wall_prefill_tok_s");
    assert!((0.8..1.3).contains(&prompt), "client and engine disagree on prefill: {prompt}");

    assert!(known("cached_prefix_q1k", "cached_prompt_share") > 0.9, "the cached case hit the cache");
    assert!(known("cold_prefill_q1k", "cached_prompt_share") < 0.05, "the cold one did not");
    assert!(
        known("cached_prefix_q1k", "client_wall_ttft_s") < known("cold_prefill_q1k", "client_wall_ttft_s")
    );
    assert!(figure("code_q128", "energy_per_token_j").is_none(), "what was not measured is unknown");
}

#[test]
fn a_prompt_over_the_context_is_refused_by_the_engine_and_the_other_cases_are_measured() {
    let Some(server) = server() else { return };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    // The context is claimed to be longer than it is, so that the engine itself has to refuse.
    let arguments = [
        "--context",
        "99999",
        "--runs",
        "1",
        "--warmups",
        "0",
        "--cases",
        "code_q128,cold_prefill_8k",
        "--hardware",
        "test machine",
    ];
    run(&server.url, &out, &arguments).ends(1).says(&["cold_prefill_8k, run 1: ", "400"]);
    let shard = shard(&out);
    let refused = case(&shard, "cold_prefill_8k").runs[0].requests[0].error.as_ref().unwrap();
    assert!(refused.message.contains("context"), "{}", refused.message);
    assert_eq!(case(&shard, "code_q128").runs.len(), 1);
}
