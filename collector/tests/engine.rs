//! Engines looked at over real sockets: what llama-server and vLLM answered when they were recorded.
#![expect(clippy::unwrap_used, reason = "a test says by panicking what it found")]

#[cfg(test)]
mod common;

use std::sync::Mutex;
use std::time::Duration;

use common::capture::Capture;
use common::server::{Server, Step, answer, write};
use dyno_collector::engine::effective::disagreements;
use dyno_collector::engine::{
    CounterDelta, ENGINES, EndpointError, count_tokens, counters, discover, identify, wait_ready,
};
use dyno_collector::simulator::{Log, Simulator, Truth};
use dyno_collector::transport::Target;
use dyno_shared::metric::find;
use dyno_shared::submission::Run;
use dyno_shared::system::Setting;
use dyno_shared::units::Seconds;
use tokio::net::TcpListener;

/// The routes of one recorded server; whatever was not recorded is a 404.
async fn recorded(folder: &'static str, tokenize: &'static str) -> Server {
    Server::start(move |request| {
        let route = request.split(' ').nth(1).unwrap();
        let name = match route {
            "/v1/models" => "get_v1_models",
            "/props" => "get_props",
            "/slots" => "get_slots",
            "/metrics" => "get_metrics",
            "/health" => "get_health",
            "/version" => "get_version",
            "/tokenize" => return vec![write(answer(200, tokenize))],
            _ => "error-404",
        };
        vec![write(Capture::load(&format!("{folder}/{name}")).raw())]
    })
    .await
}

#[tokio::test]
async fn llama_server_is_known_by_its_answers_and_leaves_no_path_behind() {
    let server = recorded("llama-server", r#"{"tokens":[1,2,3]}"#).await;
    wait_ready(&server.target(), Duration::ZERO, |_| panic!("it is ready")).await.unwrap();
    let found = identify(&server.target(), None).await.unwrap();
    assert_eq!((found.engine.name, found.system.name.as_str()), ("llama.cpp", "llama.cpp"));
    assert!(found.engine.optional.cache_prompt && !found.system.simulated);
    assert_eq!((found.model_id.as_str(), found.model.name.as_str()), ("smollm2", "SmolLM2-135M-Instruct"));
    assert_eq!(
        (found.model.quantisation.as_deref(), found.model.format.as_deref()),
        (Some("Q4_1"), Some("GGUF"))
    );
    assert_eq!((found.model.size_bytes, found.model.parameters), (Some(96_576_768), Some(134_515_008)));
    assert_eq!((found.context_limit_tokens, found.total_slots), (Some(2048), Some(4)));
    let context = &found.effective["context_limit_tokens"];
    assert_eq!((&context.value, context.source.as_str()), (&Setting::Number(2048.0), "/props"));
    assert_eq!(found.effective["speculative"].value, Setting::Flag(false));
    assert!(found.has_metrics && found.has_tokenizer);
    assert_eq!(
        (found.system.version.as_ref(), found.system.commit.as_ref()),
        (None, None),
        "b0-unknown knows neither"
    );
    assert!(!format!("{found:?}").contains("/opt/"), "{found:?}");
    assert_eq!(count_tokens(&server.target(), &found, "a b c").await, Some(3));
}

#[tokio::test]
async fn vllm_is_known_by_its_answers_and_tells_its_cache() {
    let server = recorded("vllm", r#"{"count":5,"max_model_len":2048,"tokens":[1,2,3,4,5]}"#).await;
    let found = identify(&server.target(), Some("smollm2-135m")).await.unwrap();
    assert_eq!((found.engine.name, found.system.name.as_str()), ("vLLM", "vLLM"));
    assert_eq!((found.system.version.as_deref(), found.context_limit_tokens), (Some("0.32.0"), Some(2048)));
    assert!(!found.engine.optional.cache_prompt && found.has_metrics);
    assert_eq!(count_tokens(&server.target(), &found, "a b c").await, Some(5));
    let number = |key: &str| match found.effective[key].value {
        Setting::Number(number) => number,
        ref other => panic!("{key}: {other:?}"),
    };
    assert_eq!((number("kv_capacity_tokens"), number("kv_block_tokens")), (46_592.0, 128.0));
    assert_eq!((number("kv_capacity_bytes"), number("gpu_memory_share")), (1_073_741_824.0, 0.92));
    assert_eq!(found.effective["prefix_cache"].value, Setting::Flag(true));
    assert_eq!(found.effective["speculative"].value, Setting::Flag(false));
    assert!(found.effective["kv_capacity_tokens"].source.starts_with("/metrics"));
    let asked = server.requests.lock().unwrap().join("\n");
    assert!(
        !asked.contains("/props") && !asked.contains("/api/"),
        "other engines' routes are left alone: {asked}"
    );
    let error = identify(&server.target(), Some("gpt-5")).await.unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("--model takes smollm2-135m"), "{error}");
}

#[tokio::test]
async fn a_flag_that_vllm_does_not_run_with_is_named_with_both_values() {
    let server = recorded("vllm", r#"{"count":5}"#).await;
    let found = identify(&server.target(), None).await.unwrap();
    let asked = |flag: &str, value: Setting| [(flag.to_owned(), value)].into();
    assert!(disagreements(&asked("--max-model-len", Setting::Number(2048.0)), &found).is_empty());
    assert!(
        disagreements(&asked("--max-num-seqs", Setting::Number(8.0)), &found).is_empty(),
        "not verifiable"
    );
    let wrong = disagreements(&asked("--max-model-len", Setting::Text("8k".into())), &found);
    let words = wrong[0].to_string();
    assert!(words.contains("8000") && words.contains("2048") && words.contains("/v1/models"), "{words}");
}

#[tokio::test]
async fn a_server_that_loads_is_waited_for_and_one_that_loads_for_ever_is_not() {
    let loading = Capture::load("llama-server/health-loading-1").raw();
    let looks = Mutex::new(0);
    let body = loading.clone();
    let server = Server::start(move |_| {
        let mut looks = looks.lock().unwrap();
        *looks += 1;
        vec![write(if *looks < 3 { body.clone() } else { answer(200, r#"{"status":"ok"}"#) })]
    })
    .await;
    let mut told = 0;
    wait_ready(&server.target(), Duration::from_mins(1), |_| told += 1).await.unwrap();
    assert_eq!(told, 2);
    let stuck = Server::always(vec![write(&loading)]).await;
    let error = wait_ready(&stuck.target(), Duration::from_millis(10), |_| ()).await.unwrap_err();
    assert!(
        matches!(error, EndpointError::Loading { .. }) && error.to_string().contains("/health"),
        "{error}"
    );
    let error = identify(&stuck.target(), None).await.unwrap_err();
    assert!(!error.is_usage() && error.to_string().contains("Loading model"), "{error}");
}

#[tokio::test]
async fn a_server_without_a_health_route_is_ready_when_it_lists_models() {
    let server = Server::start(|request| {
        let lists = request.starts_with("GET /v1/models ");
        vec![write(if lists { answer(200, r#"{"data":[{"id":"m"}]}"#) } else { answer(404, "") })]
    })
    .await;
    wait_ready(&server.target(), Duration::ZERO, |_| panic!("it is ready")).await.unwrap();
    let found = identify(&server.target(), None).await.unwrap();
    assert_eq!((found.model_id.as_str(), found.has_tokenizer), ("m", false));
    assert!(found.warnings.iter().any(|warning| warning.contains("/tokenize")));
    assert_eq!(count_tokens(&server.target(), &found, "a").await, None);
}

#[tokio::test]
async fn what_cannot_be_measured_is_told_apart() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let nobody = Target::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let error = wait_ready(&nobody, Duration::from_mins(1), |_| ()).await.unwrap_err();
    assert!(matches!(error, EndpointError::Unreachable(_)) && error.to_string().contains("--url"), "{error}");
    for (status, body, words) in [
        (401, r#"{"error":{"message":"Invalid API Key"}}"#, "--api-key"),
        (404, r#"{"detail":"Not Found"}"#, "no OpenAI-compatible engine"),
        (200, "<html>welcome</html>", "no OpenAI-compatible engine"),
        (200, r#"{"hello":1}"#, "no OpenAI-compatible engine"),
        (200, r#"{"data":[]}"#, "load one"),
        (200, r#"{"data":[{"id":"a"},{"id":"b"}]}"#, "--model: a, b"),
        (500, "boom", "boom"),
    ] {
        let server = Server::always(vec![write(answer(status, body))]).await;
        let error = identify(&server.target(), None).await.unwrap_err();
        assert!(error.to_string().contains(words), "{status} {body}: {error}");
        assert_eq!(error.is_usage(), words.starts_with("--model:"), "{error}");
    }
}

#[tokio::test]
async fn counters_move_by_what_a_run_added_and_a_restart_is_noticed() {
    let dumps =
        ["llama-server/get_metrics", "llama-server/get_metrics-busy", "llama-server/get_metrics-deferred"];
    let next = Mutex::new(dumps.into_iter().cycle());
    let metrics =
        Server::start(move |_| vec![write(Capture::load(next.lock().unwrap().next().unwrap()).raw())]).await;
    let engine = ENGINES.into_iter().find(|engine| engine.name == "llama.cpp").unwrap();
    let (before, after, restarted) = (
        counters(&metrics.target(), engine).await.unwrap(),
        counters(&metrics.target(), engine).await.unwrap(),
        counters(&metrics.target(), engine).await.unwrap(),
    );
    let moved = before.delta(&after);
    assert!(!moved.reset && moved.counters.source == "/metrics");
    assert_eq!(moved.counters.prompt_tokens, Some(669.0));
    assert_eq!(moved.counters.cached_tokens, Some(217.0));
    assert_eq!(moved.counters.output_tokens, Some(490.0));
    assert!((moved.counters.decode_s.unwrap().0 - 55.6149).abs() < 1e-9);
    assert!((moved.counters.prompt_s.unwrap_or(Seconds(0.0)).0 - 9.35082).abs() < 1e-9);
    assert_eq!(moved.counters.verify_steps, Some(0.0));
    let reset = after.delta(&restarted);
    assert!(reset.reset && reset.counters.output_tokens.is_none());
}

/// The movement of an engine's counters between two recorded expositions.
async fn moved(engine: &str, dumps: [&'static str; 2]) -> CounterDelta {
    let next = Mutex::new(dumps.into_iter());
    let metrics =
        Server::start(move |_| vec![write(Capture::load(next.lock().unwrap().next().unwrap()).raw())]).await;
    let engine = ENGINES.into_iter().find(|known| known.name == engine).unwrap();
    let before = counters(&metrics.target(), engine).await.unwrap();
    let after = counters(&metrics.target(), engine).await.unwrap();
    before.delta(&after)
}

#[tokio::test]
async fn a_restarted_vllm_is_noticed_although_every_counter_has_grown() {
    // Recorded around a restart: from 523 prompt tokens to 1,128, of another process.
    let delta = moved("vLLM", ["vllm-ngram/get_metrics-before", "vllm-ngram/get_metrics-after-bench"]).await;
    assert!(delta.reset && delta.counters.prompt_tokens.is_none() && delta.counters.source == "/metrics");
}

#[tokio::test]
async fn vllms_counters_pair_each_time_with_the_tokens_that_belong_to_it() {
    // The same process, idle in between, and then one life from its first counts to its last.
    let idle = moved("vLLM", ["vllm-ngram/get_metrics-before", "vllm-ngram/get_metrics-before"]).await;
    assert_eq!((idle.reset, idle.counters.output_tokens), (false, Some(0.0)));
    let delta = moved("vLLM", ["vllm-ngram/get_metrics-before", "vllm-ngram/get_metrics"]).await;
    let counted = delta.counters;
    assert!(!delta.reset, "{counted:?}");
    let run = Run { counters: Some(counted.clone()), ..Run::default() };
    let figure = |tag: &str| (find(tag).unwrap().sample)(&run).and_then(dyno_shared::metric::Sample::figure);
    assert!(counted.output_tokens.unwrap() > 0.0, "{counted:?}");
    let decode = counted.decode_tokens.unwrap() / counted.decode_s.unwrap().0;
    assert_eq!(figure("engine_decode_tok_s"), Some(decode));
    assert_eq!(figure("engine_ttft_s"), Some(counted.ttft_s.unwrap().0 / counted.ttft_requests.unwrap()));
    assert!(figure("engine_queue_s").unwrap() >= 0.0 && figure("engine_prefill_tok_s").unwrap() > 0.0);
}

#[tokio::test]
async fn a_strict_server_that_nobody_knows_is_asked_once_for_what_others_have() {
    let server = Server::start(|request| {
        let lists = request.starts_with("GET /v1/models ");
        vec![write(if lists { answer(200, r#"{"data":[{"id":"m"}]}"#) } else { answer(404, "") })]
    })
    .await;
    let found = identify(&server.target(), None).await.unwrap();
    assert_eq!((found.engine.name, found.has_metrics), ("openai-compatible", false));
    let mut routes: Vec<String> = server
        .requests
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let asked = routes.len();
    routes.sort();
    routes.dedup();
    assert_eq!(routes.len(), asked, "asked twice: {routes:?}");
    assert!(routes.iter().all(|route| route.starts_with("GET ") || route == "POST /tokenize"), "{routes:?}");
}

#[tokio::test]
async fn the_simulated_engine_is_found_and_named_as_simulated() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let truth = Truth { slots: 3, context_tokens: 4096, ..Truth::default() };
    let simulator = Simulator::new(truth, Log::default()).unwrap();
    tokio::spawn(async move { simulator.serve(listener, std::future::pending()).await });
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let other = Server::always(vec![Step::Reset]).await;
    let other_port = other.url.rsplit_once(':').unwrap().1.parse().unwrap();
    let found = discover(&[closed, other_port, port]).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].port, found[0].engine.as_str(), found[0].loading), (port, "dyno-simulator", false));
    let target = Target::parse(&found[0].url).unwrap();
    let identified = identify(&target, None).await.unwrap();
    assert!(identified.system.simulated && identified.has_metrics && identified.has_tokenizer);
    assert_eq!((identified.context_limit_tokens, identified.total_slots), (Some(4096), Some(3)));
    assert!(identified.warnings.iter().any(|warning| warning.contains("simulated")));
    assert!(counters(&target, identified.engine).await.is_some());
}
