//! Ollama's own `POST /api/chat`: the body that is sent, and the lines of the answer.
//!
//! Written from Ollama's documentation and source (docs/api.md, docs/openapi.yaml, api/types.go), not run here.
//!
//! The last line holds counts and durations in nanoseconds. What they mean, and what is made of them:
//! - `prompt_eval_count` is the length of the prompt. It is absent, not 0, where an old Ollama took the whole prompt
//!   from its cache. `prompt_eval_cached_count`, of later versions, is the part of it that the cache answered; only with it is
//!   it known how many tokens `prompt_eval_duration` was spent on, so without it there is no prefill rate.
//! - `eval_count` counts every generated token, the first one too, while `eval_duration` begins when the first one is
//!   sampled: the engine's rate, one over the other, is n tokens over n − 1 intervals, like llama.cpp's.
//! - `load_duration` is the time until the model was ready for this request: some hundredths of a second where it was in
//!   memory, seconds where it was not.
//!
//! Ollama has no `ignore_eos`: an answer may end early here.

use bytes::Bytes;
use dyno_shared::record::EngineTimings;
use dyno_shared::units::{Seconds, Tokens};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::openai_chat::{ChatRequest, Optional};
use super::{Event, Usage, count, refusal};

/// The route, after the root of the server.
pub const PATH: &str = "/api/chat";

/// The optional fields that the route has: it always streams counts, and it cannot be told to go on past the end of
/// sequence.
pub const TAKES: Optional =
    Optional { stream_options: false, ignore_eos: false, cache_prompt: false, ..Optional::USUAL };

/// The body to send: always streamed, with the sampling explicit.
///
/// `truncate: false` makes a prompt that is longer than the context an error; without it Ollama drops the beginning and
/// says nothing. What would change the server is not sent: `num_ctx` and `shift` load the model anew, `keep_alive`
/// outlives the measurement.
pub fn body(request: &ChatRequest) -> Bytes {
    let ChatRequest { sampling, optional, .. } = request;
    let mut options = Map::new();
    let mut option = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            options.insert(field.to_owned(), value);
        }
    };
    option("temperature", sampling.temperature.map(|x| json!(x)));
    option("top_p", sampling.top_p.map(|x| json!(x)));
    option("top_k", sampling.top_k.filter(|_| optional.top_k).map(|x| json!(x)));
    option("seed", sampling.seed.filter(|_| optional.seed).map(|x| json!(x)));
    option("num_predict", sampling.max_tokens.map(|x| json!(x)));
    let mut body = json!({
        "model": request.model,
        "messages": request.messages,
        "stream": true,
        "truncate": false,
        "options": options,
    });
    if let Some(on) = sampling.thinking.filter(|_| optional.thinking_switch) {
        body["think"] = json!(on);
    }
    Bytes::from(body.to_string())
}

/// Reads one line.
///
/// # Errors
/// When the line is no JSON object, or a field that is read has another type than the API gives it.
pub fn event(line: &[u8]) -> Result<Event, serde_json::Error> {
    Ok(serde_json::from_slice::<Line>(line)?.event())
}

/// Whether a finish reason says that a model was only loaded or unloaded: nothing was asked of it.
pub fn generated_nothing(finish_reason: &str) -> bool {
    matches!(finish_reason, "load" | "unload")
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    done: Option<bool>,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    load_duration: Value,
    #[serde(default)]
    prompt_eval_count: Value,
    #[serde(default)]
    prompt_eval_cached_count: Value,
    #[serde(default)]
    prompt_eval_duration: Value,
    #[serde(default)]
    eval_count: Value,
    #[serde(default)]
    eval_duration: Value,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    /// An object, and not the text of one as in OpenAI's API.
    #[serde(default)]
    arguments: Value,
}

impl Line {
    fn event(self) -> Event {
        let done = self.done == Some(true);
        let usage = self.usage().filter(|_| done);
        let mut event = Event {
            usage,
            timings: self.timings(usage.unwrap_or_default()).filter(|_| done),
            finish_reason: self.done_reason.filter(|reason| done && !reason.is_empty()),
            last: done,
            error: refusal::words(&self.error),
            ..Event::default()
        };
        if let Some(said) = self.message {
            event.reasoning = said.thinking.unwrap_or_default();
            event.answer = said.content.unwrap_or_default();
            for function in said.tool_calls.into_iter().flatten().filter_map(|call| call.function) {
                match function.arguments {
                    Value::Null => {}
                    Value::String(text) => event.answer.push_str(&text),
                    arguments => event.answer.push_str(&arguments.to_string()),
                }
            }
        }
        event
    }

    /// The counts of the last line; what it lacks is unknown.
    fn usage(&self) -> Option<Usage> {
        let usage = Usage {
            prompt_tokens: count(&self.prompt_eval_count),
            completion_tokens: count(&self.eval_count),
            cached_tokens: count(&self.prompt_eval_cached_count),
            reasoning_tokens: None,
        };
        (usage != Usage::default()).then_some(usage)
    }

    /// The durations of the last line, which are nanoseconds, and what they were spent on.
    fn timings(&self, usage: Usage) -> Option<EngineTimings> {
        let seconds = |ns: &Value| ns.as_f64().filter(|ns| *ns >= 0.0).map(|ns| Seconds(ns / 1e9));
        let (prompt_s, decode_s) = (seconds(&self.prompt_eval_duration), seconds(&self.eval_duration));
        let load_s = seconds(&self.load_duration);
        prompt_s.or(decode_s).or(load_s)?;
        Some(EngineTimings {
            source: "response timings".to_owned(),
            prompt_tokens: usage.processed_prompt().map(Tokens),
            prompt_s,
            cached_tokens: usage.cached_tokens.map(Tokens),
            output_tokens: usage.completion_tokens.map(Tokens),
            decode_s,
            load_s,
            ..EngineTimings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::openai_chat::Message;
    use super::*;
    use dyno_shared::workload::Sampling;

    fn read(json: &str) -> Event {
        event(json.as_bytes()).unwrap()
    }

    /// The last line as the documentation has it, and the cached count of later versions.
    const LAST: &str = r#"{"model":"llama3.2","created_at":"2026-09-17T15:42:59.7420965Z",
        "message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":4883583458,
        "load_duration":1334875,"prompt_eval_count":26,"prompt_eval_cached_count":16,"prompt_eval_duration":342546000,
        "eval_count":282,"eval_duration":4535599000}"#;

    fn full() -> ChatRequest {
        ChatRequest {
            model: "llama3.2".into(),
            messages: vec![Message::user("Count to \"20\".")],
            sampling: Sampling {
                temperature: Some(0.0),
                top_p: Some(1.0),
                top_k: Some(1),
                seed: Some(42),
                max_tokens: Some(512),
                ignore_eos: Some(true),
                thinking: Some(false),
            },
            optional: TAKES,
        }
    }

    #[test]
    fn everything_that_decides_an_answer_is_sent_and_nothing_that_changes_the_server() {
        let sent: Value = serde_json::from_slice(&body(&full())).unwrap();
        assert_eq!(
            sent,
            json!({
                "model": "llama3.2",
                "messages": [{ "role": "user", "content": "Count to \"20\"." }],
                "stream": true,
                "truncate": false,
                "think": false,
                "options": { "temperature": 0.0, "top_p": 1.0, "top_k": 1, "seed": 42, "num_predict": 512 },
            })
        );
        let bare = ChatRequest { sampling: Sampling::default(), ..full() };
        let sent: Value = serde_json::from_slice(&body(&bare)).unwrap();
        assert_eq!((sent.get("think"), &sent["options"]), (None, &json!({})));
    }

    #[test]
    fn a_switch_that_omits_a_field_omits_it_here_too() {
        let mut request = full();
        for (field, place) in [("top_k", "top_k"), ("seed", "seed")] {
            assert!(request.optional.omit(field));
            let sent: Value = serde_json::from_slice(&body(&request)).unwrap();
            assert!(sent["options"].get(place).is_none(), "{field}");
        }
        assert!(request.optional.omit("chat_template_kwargs"));
        assert!(serde_json::from_slice::<Value>(&body(&request)).unwrap().get("think").is_none());
    }

    #[test]
    fn durations_are_nanoseconds_and_the_prefill_counts_without_the_cached_part() {
        let last = read(LAST);
        assert!(last.last && !last.carries_text());
        assert_eq!(last.finish_reason.as_deref(), Some("stop"));
        let usage = last.usage.unwrap();
        assert_eq!(
            (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens),
            (Some(26), Some(16), Some(282))
        );
        let timings = last.timings.unwrap();
        assert_eq!((timings.prompt_tokens, timings.cached_tokens), (Some(Tokens(10)), Some(Tokens(16))));
        assert_eq!(
            (timings.prompt_s, timings.decode_s, timings.load_s),
            (Some(Seconds(0.342_546)), Some(Seconds(4.535_599)), Some(Seconds(0.001_334_875)))
        );
        assert_eq!((timings.output_tokens, timings.source.as_str()), (Some(Tokens(282)), "response timings"));
    }

    #[test]
    fn a_count_that_is_absent_is_unknown_and_not_zero() {
        let cached_whole =
            read(r#"{"done":true,"prompt_eval_duration":1000000,"eval_count":9,"eval_duration":9000}"#);
        assert_eq!(cached_whole.usage.unwrap().prompt_tokens, None);
        let old =
            read(r#"{"done":true,"prompt_eval_count":26,"prompt_eval_duration":1000000,"eval_count":9}"#);
        let timings = old.timings.unwrap();
        assert_eq!(
            (timings.prompt_tokens, timings.cached_tokens, timings.decode_s),
            (None, None, None),
            "how much of the prompt was processed is not said"
        );
        let bare = read(r#"{"message":{"role":"assistant","content":""},"done":true}"#);
        assert_eq!((bare.usage, bare.timings, bare.finish_reason, bare.last), (None, None, None, true));
        let odd = read(r#"{"done":true,"eval_count":-1,"eval_duration":"soon","load_duration":-5}"#);
        assert_eq!((odd.usage, odd.timings), (None, None));
        let more_cached =
            read(r#"{"done":true,"prompt_eval_count":5,"prompt_eval_cached_count":6,"eval_duration":1}"#);
        assert_eq!(more_cached.timings.unwrap().prompt_tokens, None);
    }

    #[test]
    fn thinking_content_and_tool_arguments_are_generated_text_and_a_role_is_none() {
        let said =
            |inside: &str| read(&format!(r#"{{"message":{{"role":"assistant",{inside}}},"done":false}}"#));
        assert!(!said(r#""content":"""#).carries_text());
        assert!(!said(r#""content":null,"tool_calls":null"#).carries_text());
        assert_eq!(said(r#""content":"a""#).answer, "a");
        let thought = said(r#""content":"","thinking":"hm""#);
        assert_eq!((thought.reasoning.as_str(), thought.answer.as_str()), ("hm", ""));
        let call = said(r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]"#);
        assert_eq!(call.answer, r#"{"x":1}"#);
        assert!(!said(r#""content":"","tool_calls":[{"function":{"name":"f"}}]"#).carries_text());
    }

    #[test]
    fn counts_before_the_end_and_a_reason_before_the_end_are_not_believed() {
        let early = read(r#"{"message":{"content":"a"},"done":false,"done_reason":"stop","eval_count":1}"#);
        assert_eq!((early.finish_reason, early.usage, early.last), (None, None, false));
    }

    #[test]
    fn an_error_is_read_in_either_shape() {
        assert_eq!(read(r#"{"error":"boom"}"#).error.as_deref(), Some("boom"));
        assert_eq!(read(r#"{"error":{"message":"boom"}}"#).error.as_deref(), Some("boom"));
        assert_eq!(read(r#"{"error":null,"done":false}"#).error, None);
        assert!(event(b"[1]").is_err() && event(b"data: {}").is_err());
        assert!(event(br#"{"message":{"content":7}}"#).is_err());
    }
}
