//! Chunks and answers of the OpenAI routes, as llama.cpp, vLLM and their kin send them.

use dyno_shared::record::EngineTimings;
use dyno_shared::units::{Seconds, Tokens};
use serde::Deserialize;
use serde_json::Value;

use super::borrowed::{Text, Word};
use super::{Event, Usage, count, refusal};

/// Reads the data of one streamed event.
///
/// # Errors
/// When the data is no JSON object, or a field that is read has another type than the API gives it.
pub fn chunk(data: &[u8]) -> Result<Event, serde_json::Error> {
    Ok(serde_json::from_slice::<Body<'_>>(data)?.event(false))
}

/// Reads a whole answer, from a server that did not stream.
///
/// # Errors
/// As [`chunk`].
pub fn answer(body: &[u8]) -> Result<Event, serde_json::Error> {
    Ok(serde_json::from_slice::<Body<'_>>(body)?.event(true))
}

/// Borrows from the event's bytes what it can: there are thousands of them a second.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    timings: Value,
    #[serde(default)]
    stats: Value,
    #[serde(default)]
    error: Value,
    #[serde(borrow, default)]
    object: Word<'a>,
    #[serde(default)]
    message: Value,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow, default)]
    delta: Option<Said<'a>>,
    #[serde(borrow, default)]
    message: Option<Box<Said<'a>>>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Option<Text<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    reasoning: Option<Text<'a>>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow, default)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    arguments: Option<Text<'a>>,
}

impl Body<'_> {
    fn event(self, whole: bool) -> Event {
        let usage = usage(&self.usage);
        let mut event = Event {
            about_the_stream: self.choices.as_ref().is_none_or(Vec::is_empty),
            usage,
            timings: timings(&self.timings)
                .or_else(|| usage_timings(&self.usage, usage?))
                .or_else(|| stats(&self.stats, usage)),
            error: self.error_message(),
            ..Event::default()
        };
        for choice in self.choices.into_iter().flatten() {
            // A streamed chunk may repeat the whole message at its end; only its deltas are new.
            if let Some(said) = if whole { choice.message.map(|said| *said) } else { choice.delta } {
                said.add_to(&mut event);
            }
            event.answer.push_str(choice.text.as_deref().unwrap_or_default());
            event.finish_reason =
                choice.finish_reason.filter(|reason| !reason.is_empty()).or(event.finish_reason);
        }
        event
    }

    /// `{"error": …}`, and the older `{"object": "error", "message": …}`.
    fn error_message(&self) -> Option<String> {
        match (&self.error, &*self.object.0) {
            (Value::Null, "error") => refusal::words(&self.message),
            (Value::Null, _) => None,
            (error, _) => refusal::words(error),
        }
    }
}

impl Said<'_> {
    fn add_to(self, event: &mut Event) {
        // Some versions of vLLM send the same reasoning under both names.
        let reasoning = self.reasoning_content.filter(|text| !text.is_empty()).or(self.reasoning);
        event.reasoning.push_str(reasoning.as_deref().unwrap_or_default());
        event.answer.push_str(self.content.as_deref().unwrap_or_default());
        let calls = self.tool_calls.into_iter().flatten().filter_map(|call| call.function);
        for call in calls.chain(self.function_call) {
            event.answer.push_str(call.arguments.as_deref().unwrap_or_default());
        }
    }
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

/// Times that stand in `usage`, as mistral.rs sends them, in seconds. It does not say which part of the prompt its
/// prefix cache answered, and then not how many tokens the prompt's time was spent on either.
fn usage_timings(value: &Value, usage: Usage) -> Option<EngineTimings> {
    let seconds = |key: &str| value[key].as_f64().filter(|s| *s >= 0.0).map(Seconds);
    let (prompt_s, decode_s) = (seconds("total_prompt_time_sec"), seconds("total_completion_time_sec"));
    prompt_s.or(decode_s)?;
    Some(EngineTimings {
        source: "response usage".to_owned(),
        prompt_tokens: usage.processed_prompt().map(Tokens),
        prompt_s,
        cached_tokens: usage.cached_tokens.map(Tokens),
        output_tokens: usage.completion_tokens.map(Tokens),
        decode_s,
        ..EngineTimings::default()
    })
}

/// LM Studio's `stats`, in seconds. Its OpenAI route leaves them empty.
fn stats(value: &Value, usage: Option<Usage>) -> Option<EngineTimings> {
    let seconds = |key: &str| value[key].as_f64().filter(|s| *s >= 0.0).map(Seconds);
    let (ttft_s, decode_s) = (seconds("time_to_first_token"), seconds("generation_time"));
    ttft_s.or(decode_s)?;
    Some(EngineTimings {
        source: "response stats".to_owned(),
        output_tokens: usage.and_then(|usage| usage.completion_tokens).map(Tokens),
        decode_s,
        ttft_s,
        ..EngineTimings::default()
    })
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
    fn times_in_the_usage_are_the_engines_and_the_processed_prompt_is_known_only_with_its_cached_part() {
        // As mistral.rs writes them.
        let usage = |more: &str| {
            let json = format!(
                r#"{{"choices":[],"usage":{{"completion_tokens":20,"prompt_tokens":10,"total_tokens":30,
                "avg_tok_per_sec":75.0,"avg_prompt_tok_per_sec":50.0,"avg_compl_tok_per_sec":100.0,"total_time_sec":0.4,
                "total_prompt_time_sec":0.25,"total_completion_time_sec":0.5{more}}}}}"#
            );
            read(&json).timings.unwrap()
        };
        let timings = usage("");
        assert_eq!((timings.prompt_s, timings.decode_s), (Some(Seconds(0.25)), Some(Seconds(0.5))));
        assert_eq!((timings.output_tokens, timings.prompt_tokens), (Some(Tokens(20)), None));
        assert_eq!(timings.source, "response usage");
        let timings = usage(r#","prompt_tokens_details":{"cached_tokens":4}"#);
        assert_eq!((timings.prompt_tokens, timings.cached_tokens), (Some(Tokens(6)), Some(Tokens(4))));
        let own = read(
            r#"{"timings":{"predicted_n":8},"usage":{"total_completion_time_sec":1.0,"completion_tokens":9}}"#,
        );
        assert_eq!(own.timings.unwrap().source, "response timings", "an engine's own timings come first");
        assert_eq!(
            read(r#"{"usage":{"completion_tokens":9,"total_completion_time_sec":"?"}}"#).timings,
            None
        );
    }

    #[test]
    fn stats_are_read_where_they_come_and_empty_ones_are_none() {
        // The example of LM Studio's documentation.
        let timings = read(
            r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9},"stats":{"tokens_per_second":57.69230769230769,
            "time_to_first_token":0.299,"generation_time":0.156,"stop_reason":"maxPredictedTokensReached"}}"#,
        )
        .timings
        .unwrap();
        assert_eq!((timings.ttft_s, timings.decode_s), (Some(Seconds(0.299)), Some(Seconds(0.156))));
        assert_eq!((timings.output_tokens, timings.source.as_str()), (Some(Tokens(9)), "response stats"));
        assert_eq!(read(r#"{"choices":[],"stats":{}}"#).timings, None);
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
