//! `dyno run` against a scripted server that answers as Ollama's documentation says, down to loading its model at the
//! first request for it.
#![expect(clippy::unwrap_used, reason = "a test says by panicking what it found")]

#[cfg(test)]
mod common;
#[cfg(test)]
mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use common::server::{STREAM, Server, Step, answer, event, say, write};
use dyno_shared::system::Setting;
use dyno_shared::units::Tokens;
use serde_json::{Value, json};

use support::{Ran, case, run_command, shard};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n";

/// An Ollama with two models on disk, none of them in memory.
async fn ollama() -> Server {
    let loaded = AtomicBool::new(false);
    let details = json!({ "format": "gguf", "family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M" });
    let entry = move |name: &str| json!({ "name": name, "model": name, "size": 5_225_388_164_u64, "digest": "500a1f067a9f", "details": details });
    Server::start(move |request| {
        let route = request.split(' ').nth(1).unwrap_or_default();
        let said = match route {
            "/" => return vec![write(answer(200, "Ollama is running"))],
            "/api/version" => json!({ "version": "0.35.1" }),
            "/v1/models" => json!({ "object": "list", "data": [
                { "id": "qwen3:latest", "object": "model", "created": 1, "owned_by": "library" },
                { "id": "nomic-embed-text:latest", "object": "model", "created": 1, "owned_by": "library" },
            ] }),
            "/api/tags" => json!({ "models": [entry("qwen3:latest"), entry("nomic-embed-text:latest")] }),
            "/api/ps" if loaded.load(Ordering::SeqCst) => {
                let mut running = entry("qwen3:latest");
                running["size_vram"] = json!(5_225_388_164_u64);
                running["context_length"] = json!(4_096);
                json!({ "models": [running] })
            }
            "/api/ps" => json!({ "models": [] }),
            "/api/show" => json!({
                "details": entry("")["details"],
                "model_info": { "general.architecture": "qwen3", "general.parameter_count": 8_190_735_360_u64,
                                "qwen3.context_length": 40_960 },
            }),
            "/api/chat" => {
                loaded.store(true, Ordering::SeqCst);
                return chat();
            }
            "/v1/chat/completions" => return openai_chat(),
            _ => return vec![write(answer(404, "404 page not found"))],
        };
        vec![write(answer(200, &said.to_string()))]
    })
    .await
}

fn chat() -> Vec<Step> {
    let line = |text: &str| json!({ "model": "qwen3", "message": { "role": "assistant", "content": text }, "done": false });
    let last = json!({
        "model": "qwen3", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
        "total_duration": 90_000_000, "load_duration": 20_000_000, "prompt_eval_count": 60,
        "prompt_eval_duration": 30_000_000, "eval_count": 3, "eval_duration": 40_000_000,
    });
    let mut steps = vec![write(HEAD)];
    for text in ["fn ", "main", "() {}"] {
        steps.extend([write(format!("{}\n", line(text))), Step::Wait(5)]);
    }
    steps.push(write(format!("{last}\n")));
    steps
}

fn openai_chat() -> Vec<Step> {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":60,"completion_tokens":1}}"#;
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    vec![write(STREAM), event(&say("fn main() {}")), event(stop), event(usage), event("[DONE]")]
}

/// `dyno run`, while this thread goes on serving.
async fn run(server: &Server, out: &std::path::Path, arguments: &[&str]) -> Ran {
    let mut command = run_command(&server.url, out, arguments);
    Ran::of(&tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ollama_is_asked_on_its_own_route_and_its_context_is_known_once_the_model_is_loaded() {
    let server = ollama().await;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let arguments = ["--model", "qwen3", "--cases", "code,cold_prefill_8k", "--runs", "3", "--warmups", "0"];
    let ran = run(&server, &out, &arguments).await.ends(0);
    ran.says(&["4096 of its 40960 tokens", "left out: cold_prefill_8k"]);

    let shard = shard(&out);
    let engine = &shard.system.engine;
    assert_eq!((engine.name.as_str(), engine.version.as_deref()), ("Ollama", Some("0.35.1")));
    assert!(!engine.simulated);
    let model = &shard.system.model;
    assert_eq!(
        (model.name.as_str(), model.quantisation.as_deref(), model.revision.as_deref(), model.parameters),
        ("qwen3", Some("Q4_K_M"), Some("500a1f067a9f"), Some(8_190_735_360))
    );
    let effective = |key: &str| shard.configuration.effective[key].value.clone();
    assert_eq!(effective("context_limit_tokens"), Setting::Number(4_096.0));
    assert_eq!(effective("chat_route"), Setting::Text("/api/chat".into()));

    let case = case(&shard, "code");
    assert_eq!(case.sampling.ignore_eos, None);
    for run in &case.runs {
        let request = &run.requests[0];
        assert_eq!((request.output_tokens, request.prompt_tokens), (Some(Tokens(3)), Some(Tokens(60))));
        let timings = request.engine.as_ref().unwrap();
        assert_eq!((timings.output_tokens, timings.prompt_tokens), (Some(Tokens(3)), None), "{timings:?}");
    }
    let requests = server.requests.lock().unwrap().clone();
    let chats: Vec<Value> = requests
        .iter()
        .filter(|request| request.starts_with("POST /api/chat "))
        .map(|request| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap())
        .collect();
    assert!(chats.len() > 3, "{}", chats.len());
    for chat in &chats {
        assert_eq!(
            (&chat["model"], &chat["think"], &chat["truncate"], &chat["stream"]),
            (&json!("qwen3:latest"), &json!(false), &json!(false), &json!(true))
        );
        assert!(chat.get("ignore_eos").is_none() && chat["options"].get("num_ctx").is_none(), "{chat}");
    }
    assert!(requests.iter().all(|request| !request.starts_with("POST /v1/chat/completions ")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_models_on_disk_none_is_taken_by_chance_but_the_one_in_memory_is() {
    let server = ollama().await;
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--cases", "code", "--runs", "1", "--warmups", "0"];
    run(&server, &dir.path().join("none.json"), &arguments)
        .await
        .ends(2)
        .says(&["choose one with --model: qwen3:latest, nomic-embed-text:latest"]);
    let chosen = [arguments.as_slice(), &["--model", "qwen3"]].concat();
    run(&server, &dir.path().join("chosen.json"), &chosen).await.ends(0);
    let out = dir.path().join("loaded.json");
    run(&server, &out, &arguments).await.ends(0);
    assert_eq!(shard(&out).system.model.name, "qwen3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_measurement_that_was_begun_on_one_route_does_not_go_on_by_the_other() {
    let server = ollama().await;
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let begin =
        ["--model", "qwen3", "--cases", "code", "--runs", "60", "--warmups", "0", "--endpoint", "ollama"];
    let mut child =
        run_command(&server.url, &out, &begin).stderr(std::process::Stdio::null()).spawn().unwrap();
    let journal = out.clone();
    let wait = move || {
        support::wait_for_runs(&journal, 1);
        child.kill().unwrap();
        child.wait().unwrap();
    };
    tokio::task::spawn_blocking(wait).await.unwrap();
    run(&server, &out, &["--resume", "--model", "qwen3", "--endpoint", "openai"])
        .await
        .ends(2)
        .says(&["its engine is Ollama 0.35.1, now it is Ollama 0.35.1 on /v1/chat/completions"]);
    run(&server, &out, &["--resume", "--model", "qwen3"]).await.ends(0);
    assert_eq!(case(&shard(&out), "code").runs.len(), 60);
}
