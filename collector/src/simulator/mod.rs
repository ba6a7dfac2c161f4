//! An engine with known truth, for calibration, demonstration and tests.
//!
//! It is an HTTP server that looks like an engine with OpenAI's chat API and says of itself that it is
//! simulated: in `/v1/models`, in its `Server` header and in every answer's `system_fingerprint`. It computes
//! nothing. It sends words at the times that its [`Truth`] sets, and keeps a [`Log`] of what it really sent and
//! when, so that a client's measurement can be held against both.
//!
//! | endpoint | |
//! |---|---|
//! | `POST /v1/chat/completions` | streamed and whole answers |
//! | `POST /tokenize` | `{"content": …}` → `{"tokens": […]}`, by the rule in [`token`] |
//! | `GET /v1/models`, `GET /health` | as engines have them; 503 while "loading" |
//! | `GET /metrics` | Prometheus text, prefix `dyno_sim:` |
//! | `POST /api/chat`, `GET /api/version`, `/api/tags`, `/api/ps`, `POST /api/show` | Ollama's, with `--speak ollama` |
//! | `GET /v1/simulator/truth` | the truth |
//! | `GET /v1/simulator/log?since=N&until=M` | what was sent, for chat requests numbered above N and up to M |
//!
//! Times: a request that gets a slot at `t` (on arrival of its last byte when one is free) has its first token due
//! at `t + overhead + uncached prompt tokens ÷ prefill rate`, and each further chunk a step later. Deadlines are sums of planned spans and never of what a
//! clock said, so that lateness does not add up. The first chunk has as many tokens as any other.

mod ask;
mod cache;
mod chat;
pub mod clock;
mod counters;
mod fault;
mod http;
mod log;
mod ollama;
mod random;
mod schedule;
mod speech;
mod talk;
pub mod token;
mod truth;
pub mod virtual_time;
mod wire;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use cache::Slots;
use clock::{Timer, now_ns, ns};
use counters::Counters;
use http::{Answer, NoRequest, Request, read_request};

pub use fault::{Fault, FaultRule};
pub use log::{End, Kind, Log, LogReply, RequestLog, Sent};
pub use truth::{Burst, CachePolicy, InvalidTruth, KeepAlive, Opening, Speak, Truth, UsagePlacement};

/// Why there is no simulated engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The truth cannot be simulated.
    #[error(transparent)]
    Truth(#[from] InvalidTruth),
    /// No thread for its timer.
    #[error("the system gives no thread for the simulated engine's timer; end some processes and try again")]
    Thread(#[from] io::Error),
}

/// Serves `truth` on `listener` until `shutdown` completes; then open connections are cut.
///
/// # Errors
/// A truth that cannot be simulated, or no thread for the timer.
pub async fn serve(
    listener: TcpListener,
    truth: Truth,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    Simulator::new(truth, Log::default())?.serve(listener, shutdown).await;
    Ok(())
}

/// A simulated engine whose log can be read from the same process.
#[derive(Debug)]
pub struct Simulator {
    engine: Arc<Engine>,
}

impl Simulator {
    /// An engine that logs to `log`. Its time of loading begins now.
    ///
    /// # Errors
    /// A truth that cannot be simulated, or no thread for the timer.
    pub fn new(truth: Truth, log: Log) -> Result<Self, Error> {
        truth.validate()?;
        let engine = Engine {
            timer: Timer::start()?,
            slots: Arc::new(Slots::new(truth.slots, truth.cache)),
            counters: Counters::default(),
            requests: AtomicU64::new(0),
            ready_ns: now_ns().saturating_add(ns(truth.load_s)),
            started_unix: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
            log,
            truth,
        };
        Ok(Self { engine: Arc::new(engine) })
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.engine.log
    }

    /// Serves until `shutdown` completes; then open connections are cut.
    pub async fn serve(&self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, client)) => {
                        connections.spawn(converse(Arc::clone(&self.engine), stream, client.port()));
                    }
                    // The client has gone again, or there are no more file descriptors: others may finish.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
            }
        }
    }
}

/// What all connections share.
#[derive(Debug)]
struct Engine {
    truth: Truth,
    log: Log,
    timer: Timer,
    slots: Arc<Slots>,
    counters: Counters,
    requests: AtomicU64,
    ready_ns: u64,
    started_unix: u64,
}

impl Engine {
    /// Numbers chat requests from 1 in order of arrival.
    fn next_number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Answers one connection's requests until one side ends it.
async fn converse(engine: Arc<Engine>, mut stream: TcpStream, client_port: u16) {
    // Where this fails the connection is already broken, and reading says so.
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    loop {
        let request = match read_request(&mut stream, &mut buffer).await {
            Ok(request) => request,
            Err(NoRequest::Closed) => return,
            Err(NoRequest::Refused(status, message)) => {
                let refusal = Answer::error(status, "invalid_request_error", message);
                // The connection ends here either way.
                let _ = stream.write_all(&refusal.bytes(false)).await;
                return;
            }
        };
        let loading = now_ns() < engine.ready_ns;
        let asks = |path: &str| request.method == "POST" && request.path == path && !loading;
        let stays = if asks("/v1/chat/completions") {
            chat::answer(&engine, &mut stream, &request, client_port).await.unwrap_or(false)
        } else if asks(ollama::CHAT) && engine.truth.speak == Speak::Ollama {
            ollama::answer(&engine, &mut stream, &request, client_port).await.unwrap_or(false)
        } else {
            let answer = reply(&engine, &request, loading).await;
            let written = stream.write_all(&answer.bytes(request.keep_alive)).await;
            written.is_ok() && request.keep_alive
        };
        if !stays {
            return;
        }
    }
}

/// Everything but chat.
async fn reply(engine: &Engine, request: &Request, loading: bool) -> Answer {
    if engine.truth.speak == Speak::Ollama
        && !loading
        && let Some(answer) = ollama::reply(engine, request)
    {
        return answer;
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/v1/simulator/truth") => truth(engine),
        ("GET", "/v1/simulator/log") => log_since(engine, &request.query).await,
        _ if loading => Answer::error(503, "unavailable_error", "Loading model"),
        ("GET", "/health") => Answer::json(r#"{"status":"ok"}"#.to_owned()),
        ("GET", "/v1/models") => models(engine),
        ("GET", "/metrics") => Answer {
            status: 200,
            content_type: "text/plain; version=0.0.4",
            body: engine.counters.exposition(),
        },
        ("POST", "/tokenize") => tokenize(&request.body),
        _ => Answer::error(
            404,
            "not_found_error",
            "the simulated engine has POST /v1/chat/completions, POST /tokenize, GET /v1/models, GET /health, \
             GET /metrics, GET /v1/simulator/truth and GET /v1/simulator/log",
        ),
    }
}

fn truth(engine: &Engine) -> Answer {
    let truth = serde_json::json!({
        "simulated": true,
        "truth": engine.truth,
        "expected_decode_tok_s": engine.truth.expected_decode_tok_s(),
        "chat_requests": engine.requests.load(Ordering::Relaxed),
    });
    Answer::json(truth.to_string())
}

async fn log_since(engine: &Engine, query: &str) -> Answer {
    let number = |name: &str, otherwise: u64| {
        let given = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        given.map_or(Ok(otherwise), |(_, value)| value.parse())
    };
    let (Ok(since), Ok(until)) = (number("since", 0), number("until", u64::MAX)) else {
        let message = "`since` and `until` are numbers of chat requests";
        return Answer::error(400, "invalid_request_error", message);
    };
    match serde_json::to_string(&engine.log.between(since, until).await) {
        Ok(body) => Answer::json(body),
        Err(error) => Answer::error(500, "internal_error", &error.to_string()),
    }
}

fn models(engine: &Engine) -> Answer {
    let truth = &engine.truth;
    let model = |id: &String| {
        serde_json::json!({
            "id": id,
            "object": "model",
            "created": engine.started_unix,
            "owned_by": "dyno-simulator",
            "simulated": true,
            "max_model_len": truth.context_tokens,
        })
    };
    let data: Vec<_> = truth.models.iter().map(model).collect();
    Answer::json(serde_json::json!({ "object": "list", "simulated": true, "data": data }).to_string())
}

fn tokenize(body: &[u8]) -> Answer {
    #[derive(Deserialize)]
    struct Text {
        content: String,
    }
    match serde_json::from_slice::<Text>(body) {
        Ok(text) => {
            let tokens: Vec<u32> = token::pieces(&text.content).map(token::id).collect();
            Answer::json(serde_json::json!({ "tokens": tokens }).to_string())
        }
        Err(error) => {
            let message = format!("send {{\"content\": \"…\"}}: {error}");
            Answer::error(400, "invalid_request_error", &message)
        }
    }
}
