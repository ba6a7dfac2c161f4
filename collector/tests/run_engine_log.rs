//! What an engine tells only in its log: `dyno run` against a scripted server that answers and logs as SGLang does.
#![expect(clippy::unwrap_used, reason = "a test says by panicking what it found")]

#[cfg(test)]
mod common;
#[cfg(test)]
mod support;

use std::io::Write as _;
use std::path::Path;

use common::server::{STREAM, Server, Step, answer, event, say, write};

use support::{Ran, run_command, shard};

const DECODE: &str =
    "[12:00:00 TP0] Decode batch, #running-req: 1, #token: 73, gen throughput (token/s): 80.00\n";

/// A server that logs two batches with every answer.
async fn sglang(log: &Path) -> Server {
    let log = log.to_owned();
    Server::start(move |request| {
        let route = request.split(' ').nth(1).unwrap_or_default();
        match route {
            "/health" => vec![write(answer(200, ""))],
            "/v1/models" => {
                let models =
                    r#"{"object":"list","data":[{"id":"m","owned_by":"sglang","max_model_len":4096}]}"#;
                vec![write(answer(200, models))]
            }
            "/v1/chat/completions" => {
                let mut file = std::fs::File::options().append(true).open(&log).unwrap();
                file.write_all(DECODE.repeat(2).as_bytes()).unwrap();
                chat()
            }
            _ => vec![write(answer(404, "{}"))],
        }
    })
    .await
}

fn chat() -> Vec<Step> {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":60,"completion_tokens":3}}"#;
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let mut steps = vec![write(STREAM)];
    for word in ["fn ", "main", "() {}"] {
        steps.extend([event(&say(word)), Step::Wait(5)]);
    }
    steps.extend([event(stop), event(usage), event("[DONE]")]);
    steps
}

async fn run(server: &Server, out: &Path, log: &Path) -> Ran {
    let log = log.to_string_lossy().into_owned();
    let arguments =
        ["--cases", "code", "--runs", "2", "--warmups", "0", "--no-ignore-eos", "--engine-log", &log];
    let mut command = run_command(&server.url, out, &arguments);
    Ran::of(&tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_of_the_log_are_in_the_shard_and_say_where_they_come_from() {
    let dir = tempfile::tempdir().unwrap();
    let (out, log) = (dir.path().join("shard.json"), dir.path().join("engine.log"));
    std::fs::write(&log, "WARNING no usable ft bench bw profile: fixed fetch cap of 1\n").unwrap();
    let server = sglang(&log).await;
    run(&server, &out, &log).await.ends(0);
    let shard = shard(&out);
    assert_eq!(shard.configuration.effective["bandwidth_profile"].source, "log", "what the start said");
    for run in &shard.cases[0].runs {
        let counters = run.counters.as_ref().unwrap();
        assert_eq!((counters.source.as_str(), counters.stated_decode_tok_s), ("log", Some(80.0)));
    }
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(!text.contains(&*dir.path().to_string_lossy()), "no folder of this machine is in the shard");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_cannot_be_read_is_refused_before_anything_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let (out, log) = (dir.path().join("shard.json"), dir.path().join("none.log"));
    let server = sglang(&log).await;
    run(&server, &out, &log).await.ends(2).says(&["none.log", "--engine-log"]);
    assert!(!out.exists());
}
