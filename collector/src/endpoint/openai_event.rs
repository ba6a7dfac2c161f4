//! Chunks and answers of the OpenAI routes, as llama.cpp, vLLM and their kin send them.

use dyno_shared::record::EngineTimings;
use dyno_shared::units::{Seconds, Tokens};
use serde::Deserialize;
use serde_json::Value;

use super::{Event, Usage, refusal};

/// Reads the data of one streamed event.
///
/// # Errors
/// When the data is no JSON object, or a field that is read has another type than the API gives it.
pub fn chunk(data: &[u8]) -> Result<Event, serde_json::Error> {
    Ok(serde_json::from_slice::<Body>(data)?.event(false))
}

/// Reads a whole answer, from a server that did not stream.
///
/// # Errors
/// As [`chunk`].
pub fn answer(body: &[u8]) -> Result<Event, serde_json::Error> {
    Ok(serde_json::from_slice::<Body>(body)?.event(true))
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    timings: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    message: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Said>,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
    #[serde(default)]
    function_call: Option<Function>,
}

#[derive(Deserialize)]
struct ToolCall {
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    #[serde(default)]
    arguments: Option<String>,
}

impl Body {
    fn event(self, whole: bool) -> Event {
        let mut event = Event {
            about_the_stream: self.choices.as_ref().is_none_or(Vec::is_empty),
            usage: usage(&self.usage),
            timings: timings(&self.timings),
            error: self.error_message(),
            ..Event::default()
        };
        for choice in self.choices.into_iter().flatten() {
            // A streamed chunk may repeat the whole message at its end; only its deltas are new.
            if let Some(said) = if whole { choice.message } else { choice.delta } {
                said.add_to(&mut event);
            }
            event.answer.push_str(&choice.text.unwrap_or_default());
            event.finish_reason =
                choice.finish_reason.filter(|reason| !reason.is_empty()).or(event.finish_reason);
        }
        event
    }

    /// `{"error": …}`, and the older `{"object": "error", "message": …}`.
    fn error_message(&self) -> Option<String> {
        match (&self.error, self.object.as_str()) {
            (Value::Null, Some("error")) => refusal::words(&self.message),
            (Value::Null, _) => None,
            (error, _) => refusal::words(error),
        }
    }
}

impl Said {
    fn add_to(self, event: &mut Event) {
        // Some versions of vLLM send the same reasoning under both names.
        let reasoning = self.reasoning_content.filter(|text| !text.is_empty()).or(self.reasoning);
        event.reasoning.push_str(&reasoning.unwrap_or_default());
        event.answer.push_str(&self.content.unwrap_or_default());
        let calls = self.tool_calls.into_iter().flatten().filter_map(|call| call.function);
        for call in calls.chain(self.function_call) {
            event.answer.push_str(&call.arguments.unwrap_or_default());
        }
    }
}

/// A count that a server reports: a whole number of at least 0, also one written as `8.0`.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let x = value.as_f64()?;
        (x.fract() == 0.0 && (0.0..9e15).contains(&x)).then_some(x as u64)
    })
}

fn usage(value: &Value) -> Option<Usage> {
    let reported = Usage {
        prompt_tokens: count(&value["prompt_tokens"]),
        completion_tokens: count(&value["completion_tokens"]),
        cached_tokens: count(&value["prompt_tokens_details"]["cached_tokens"]),
        reasoning_tokens: count(&value["completion_tokens_details"]["reasoning_tokens"]),
    };
    (reported != Usage::default()).then_some(reported)
}

/// llama.cpp's `timings`: milliseconds there, seconds here. What is missing stays unknown.
fn timings(value: &Value) -> Option<EngineTimings> {
    let tokens = |key: &str| count(&value[key]).map(Tokens);
    let seconds = |key: &str| Some(Seconds(value[key].as_f64().filter(|ms| *ms >= 0.0)? / 1e3));
    let read = EngineTimings {
        prompt_tokens: tokens("prompt_n"),
        prompt_s: seconds("prompt_ms"),
        cached_tokens: tokens("cache_n"),
        output_tokens: tokens("predicted_n"),
        decode_s: seconds("predicted_ms"),
        draft_tokens: tokens("draft_n"),
        accepted_tokens: tokens("draft_n_accepted"),
        ..EngineTimings::default()
    };
    (read != EngineTimings::default())
        .then(|| EngineTimings { source: "response timings".to_owned(), ..read })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Event {
        chunk(json.as_bytes()).unwrap()
    }

    #[test]
    fn every_name_of_generated_text_is_read_and_a_role_is_none() {
        let delta = |inside: &str| read(&format!(r#"{{"choices":[{{"delta":{inside}}}]}}"#));
        assert!(!delta(r#"{"role":"assistant","content":null}"#).carries_text());
        assert!(!delta(r#"{"role":"assistant","content":""}"#).carries_text());
        assert!(!delta(r#"{"tool_calls":[{"function":{"name":"f","arguments":""}}]}"#).carries_text());
        assert_eq!(delta(r#"{"content":"a"}"#).answer, "a");
        assert_eq!(delta(r#"{"reasoning_content":"a"}"#).reasoning, "a");
        assert_eq!(delta(r#"{"reasoning":"a"}"#).reasoning, "a");
        assert_eq!(delta(r#"{"reasoning":"a","reasoning_content":"a"}"#).reasoning, "a");
        assert_eq!(delta(r#"{"reasoning":"a","reasoning_content":""}"#).reasoning, "a");
        assert_eq!(delta(r#"{"tool_calls":[{"function":{"arguments":"{\"x\":"}}]}"#).answer, "{\"x\":");
        assert_eq!(read(r#"{"choices":[{"text":"a","finish_reason":null}]}"#).answer, "a");
    }

    #[test]
    fn a_usage_chunk_without_choices_and_one_with_them_are_both_read() {
        let own = read(r#"{"choices":[],"usage":{"prompt_tokens":43,"completion_tokens":8}}"#);
        assert!(own.about_the_stream && own.usage.unwrap().completion_tokens == Some(8));
        let with = read(r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":8.0}}"#);
        assert_eq!(with.usage.unwrap(), Usage { completion_tokens: Some(8), ..Usage::default() });
        for nothing in
            [r#"{"choices":[],"usage":null}"#, r#"{"usage":{}}"#, r#"{"choices":null,"usage":"?"}"#]
        {
            assert_eq!(read(nothing).usage, None);
        }
        assert_eq!(read(r#"{"usage":{"completion_tokens":-1}}"#).usage, None);
    }

    #[test]
    fn engine_timings_are_seconds_and_what_is_missing_is_unknown() {
        let event = read(r#"{"choices":[],"timings":{"predicted_n":8,"predicted_ms":219.5,"prompt_ms":0}}"#);
        let timings = event.timings.unwrap();
        assert_eq!(timings.output_tokens, Some(Tokens(8)));
        assert_eq!(timings.decode_s, Some(Seconds(0.2195)));
        assert_eq!(timings.prompt_s, Some(Seconds(0.0)));
        assert_eq!((timings.prompt_tokens, timings.cached_tokens), (None, None));
        assert_eq!(read(r#"{"choices":[],"timings":{}}"#).timings, None);
    }

    #[test]
    fn errors_come_in_several_shapes_and_a_null_error_is_none() {
        let message = |json: &str| read(json).error;
        assert_eq!(message(r#"{"error":{"message":"boom","code":500}}"#).as_deref(), Some("boom"));
        assert_eq!(message(r#"{"error":"boom"}"#).as_deref(), Some("boom"));
        assert_eq!(message(r#"{"object":"error","message":"boom","code":400}"#).as_deref(), Some("boom"));
        assert_eq!(message(r#"{"error":null,"choices":[]}"#), None);
        assert!(message(r#"{"error":{}}"#).is_some());
    }

    #[test]
    fn a_whole_answer_is_read_from_its_message() {
        let body =
            br#"{"choices":[{"message":{"content":"b","reasoning_content":"a"},"finish_reason":"stop"}]}"#;
        let event = answer(body).unwrap();
        assert_eq!((event.answer.as_str(), event.reasoning.as_str()), ("b", "a"));
        assert!(!chunk(body).unwrap().carries_text());
    }
}
