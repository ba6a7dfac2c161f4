//! Ollama's own routes: `POST /api/chat` as JSON lines with durations in nanoseconds, and what tells about its models.
//!
//! Written from Ollama's documentation. It answers the same words at the same times as OpenAI's chat route, has no
//! `ignore_eos`, and says in every answer that tells who answers that it is simulated.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::Engine;
use super::ask::Ask;
use super::chat::{Call, member};
use super::clock::now_ns;
use super::http::{Answer, Request, head};
use super::log::{End, Kind};
use super::talk::{Ended, Talk, Turn};
use super::truth::UsagePlacement;
use super::wire::{Gone, escape};
use crate::calendar::rfc3339;

/// The chat route.
pub const CHAT: &str = "/api/chat";

#[derive(Deserialize)]
struct Chat {
    #[serde(default)]
    messages: Vec<Value>,
    stream: Option<bool>,
    think: Option<bool>,
    #[serde(default)]
    options: BTreeMap<String, Value>,
}

/// Answers one chat request. `Ok` tells whether the connection stays open.
pub async fn answer(
    engine: &Engine,
    stream: &mut TcpStream,
    request: &Request,
    client_port: u16,
) -> Result<bool, Gone> {
    let read = ask(&request.body, engine);
    let mut call =
        Call::new(engine, stream, request, client_port, read.as_ref().ok().and_then(Option::as_ref));
    if let Some(ended) = call.fail_at_once().await {
        return ended;
    }
    match read {
        Err(refusal) => call.refuse(&refusal, End::Refused).await,
        Ok(None) => {
            let loaded = format!(r#"{},"done":true,"done_reason":"load"}}"#, Lines::new(engine).silent());
            call.refuse(&Answer::json(loaded), End::Done).await
        }
        Ok(Some(ask)) => call.lines(&ask).await,
    }
}

/// The request in the words of OpenAI's route; `None` for one without messages, which only loads the model.
fn ask(body: &[u8], engine: &Engine) -> Result<Option<Ask>, Answer> {
    let refused =
        |status, message: &str| Answer { status, ..Answer::json(json!({ "error": message }).to_string()) };
    let chat: Chat = serde_json::from_slice(body).map_err(|error| refused(400, &error.to_string()))?;
    if chat.messages.is_empty() {
        return Ok(None);
    }
    if chat.stream == Some(false) {
        return Err(refused(400, "the simulated engine only streams here: leave out `stream`"));
    }
    let thinking = chat.think.map(|on| json!({ "enable_thinking": on }));
    let translated = json!({
        "messages": chat.messages,
        "stream": true,
        "max_tokens": chat.options.get("num_predict"),
        "chat_template_kwargs": thinking,
    });
    Ask::read(translated.to_string().as_bytes(), &engine.truth).map(Some).map_err(|answer| {
        let said: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        refused(answer.status, said["error"]["message"].as_str().unwrap_or_default())
    })
}

impl Call<'_> {
    async fn lines(&mut self, ask: &Ask) -> Result<bool, Gone> {
        let head = head(200, self.keep_alive)
            + "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        let lines = Lines::new(self.engine);
        let mut talk = self.admit(ask).await?;
        // Ollama's headers come with its first line.
        self.wire.put(Kind::Head, 0, head.as_bytes());
        self.wire.wait(talk.due_ns()).await?;
        self.remember(&ask.prompt);
        let spoken = self.tell(&lines, &mut talk).await;
        self.engine.counters.add(&talk.counts());
        match spoken? {
            Ended::Strike(fault) => {
                self.strike(fault).await?;
                let error = br#"{"error":"simulated fault: the engine broke down in mid-stream"}"#;
                self.last(Kind::Error, error, End::Fault).await
            }
            Ended::Finish(reason) => {
                self.leave(talk.sequence());
                self.pause().await?;
                let end = format!(
                    r#"{},"done":true,"done_reason":"{reason}"{}}}"#,
                    lines.silent(),
                    figures(self.engine, &talk)
                );
                self.last(Kind::Finish, end.as_bytes(), End::Done).await
            }
        }
    }

    /// The text, line by line.
    async fn tell(&mut self, lines: &Lines, talk: &mut Talk<'_>) -> Result<Ended, Gone> {
        let (mut text, mut escaped) = (String::new(), Vec::new());
        loop {
            let (reasoning, tokens, due_ns) = match talk.turn(&mut text) {
                Turn::Say { reasoning, tokens, due_ns } => (reasoning, tokens, due_ns),
                Turn::End(ended) => return Ok(ended),
            };
            escaped.clear();
            escape(&text, &mut escaped);
            let (kind, key): (_, &[u8]) = if reasoning {
                (Kind::Reasoning, br#""content":"","thinking":""#)
            } else {
                (Kind::Text, br#""content":""#)
            };
            let parts = [lines.open.as_bytes(), key, &escaped, br#""},"done":false}"#];
            self.wire.put_line(kind, tokens, due_ns, &parts);
            self.wire.send_at(due_ns).await?;
        }
    }

    async fn last(&mut self, kind: Kind, line: &[u8], end: End) -> Result<bool, Gone> {
        self.wire.put_line(kind, 0, now_ns(), &[line]);
        self.wire.put_end();
        self.wire.close(end).await?;
        Ok(self.keep_alive)
    }
}

/// Counts and durations of the last line, from the plan and not from the clock.
fn figures(engine: &Engine, talk: &Talk<'_>) -> String {
    let truth = &engine.truth;
    let counts = talk.counts();
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    let mut figures = vec![
        ("total_duration", ns(truth.overhead_s + counts.prompt_s + counts.predicted_s)),
        ("load_duration", ns(truth.overhead_s)),
        ("prompt_eval_duration", ns(counts.prompt_s)),
        ("eval_duration", ns(counts.predicted_s)),
    ];
    if truth.usage != UsagePlacement::Never {
        figures.push(("prompt_eval_count", counts.prompt_tokens + counts.cached_tokens));
        if truth.report_cached {
            figures.push(("prompt_eval_cached_count", counts.cached_tokens));
        }
        figures.push(("eval_count", counts.predicted_tokens));
    }
    figures.iter().fold(String::new(), |said, (name, figure)| said + &member(name, &figure.to_string()))
}

/// What stands in every line of one answer, made once.
struct Lines {
    /// From the beginning to the role's comma.
    open: String,
}

impl Lines {
    fn new(engine: &Engine) -> Self {
        let (model, created) = (json!(engine.truth.models.first()), rfc3339(engine.started_unix as f64));
        let open = format!(
            r#"{{"model":{model},"created_at":"{created}","system_fingerprint":"dyno-simulator","message":{{"role":"assistant","#
        );
        Self { open }
    }

    /// A line without text, up to its message.
    fn silent(&self) -> String {
        format!(r#"{}"content":""}}"#, self.open)
    }
}

/// The routes that tell about the server and its models; `None` for any other.
pub fn reply(engine: &Engine, request: &Request) -> Option<Answer> {
    let truth = &engine.truth;
    let details = json!({
        "format": "simulated", "family": "simulated", "parameter_size": "0B", "quantization_level": "none",
    });
    let list = |loaded: bool| {
        let entry = |name: &String| {
            let mut entry =
                json!({ "name": name, "model": name, "simulated": true, "size": 0, "details": details });
            if loaded {
                entry["size_vram"] = json!(0);
                entry["context_length"] = json!(truth.context_tokens);
            }
            entry
        };
        json!({ "simulated": true, "models": truth.models.iter().map(entry).collect::<Vec<_>>() })
    };
    let answer = match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/api/version") => json!({ "version": "dyno-simulator", "simulated": true }),
        ("GET", "/api/tags") => list(false),
        ("GET", "/api/ps") => list(true),
        ("POST", "/api/show") => json!({
            "simulated": true,
            "details": details,
            "model_info": { "general.architecture": "simulated", "simulated.context_length": truth.context_tokens },
            "capabilities": ["completion"],
        }),
        _ => return None,
    };
    Some(Answer::json(answer.to_string()))
}
