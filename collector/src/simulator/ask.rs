//! A chat request as the simulated engine understands it.

use serde::Deserialize;

use super::http::Answer;
use super::token;
use super::truth::Truth;

/// Output tokens when a request names no limit and nothing else ends the answer.
const UNLIMITED: u32 = 512;

/// What is asked, ready to be answered.
#[derive(Debug)]
pub struct Ask {
    /// The framed prompt, as tokens.
    pub prompt: Vec<u32>,
    /// The text that decides what is said: the last user message.
    pub topic: String,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether the stream tells its usage.
    pub include_usage: bool,
    /// Whether every chunk tells the usage so far.
    pub continuous_usage: bool,
    /// Whether the end of sequence is passed over.
    pub endless: bool,
    /// First tokens that are reasoning.
    pub reasoning: u32,
    /// Output tokens at which the answer is cut off.
    pub limit: u32,
    /// Output tokens at which the sequence ends by itself, if the words do not end before.
    pub stop_at: u32,
}

#[derive(Deserialize)]
struct Body {
    messages: Vec<Message>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_tokens: Option<i64>,
    max_completion_tokens: Option<i64>,
    ignore_eos: Option<bool>,
    chat_template_kwargs: Option<TemplateArguments>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

#[derive(Deserialize)]
struct TemplateArguments {
    enable_thinking: Option<bool>,
    thinking: Option<bool>,
}

impl Message {
    fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
        }
    }
}

impl Ask {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// The error answer to give: the body is no chat request, there is no model, or the prompt is too long.
    pub fn read(body: &[u8], truth: &Truth) -> Result<Self, Answer> {
        let body: Body = serde_json::from_slice(body).map_err(|error| {
            Answer::error(400, "invalid_request_error", &format!("this is no chat request: {error}"))
        })?;
        if truth.models.is_empty() {
            return Err(Answer::error(404, "not_found_error", "the simulated engine has no model loaded"));
        }
        let mut prompt = Vec::new();
        let mut topic = String::new();
        for message in &body.messages {
            let text = message.text();
            token::push_message(&message.role, &text, &mut prompt);
            if message.role == "user" {
                topic = text;
            }
        }
        token::push_answer(&mut prompt);
        let used = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        if used >= truth.context_tokens {
            let message = format!(
                "request ({used} tokens) exceeds the available context size ({} tokens), try increasing it",
                truth.context_tokens
            );
            return Err(Answer::error(400, "exceed_context_size_error", &message));
        }
        Ok(Self::new(body, truth, prompt, topic))
    }

    fn new(body: Body, truth: &Truth, prompt: Vec<u32>, topic: String) -> Self {
        let endless = body.ignore_eos == Some(true) && truth.obey_ignore_eos;
        let asked = body.max_completion_tokens.or(body.max_tokens).filter(|tokens| *tokens >= 0);
        let asked = asked.map(|tokens| u32::try_from(tokens.max(1)).unwrap_or(u32::MAX));
        let room = truth.context_tokens.saturating_sub(u32::try_from(prompt.len()).unwrap_or(u32::MAX));
        let natural = truth.finish_after.unwrap_or(if asked.is_some() { u32::MAX } else { UNLIMITED });
        let off = body.chat_template_kwargs.is_some_and(|arguments| {
            arguments.enable_thinking == Some(false) || arguments.thinking == Some(false)
        });
        let options = body.stream_options;
        let wants =
            |option: fn(&StreamOptions) -> Option<bool>| options.as_ref().and_then(option) == Some(true);
        Self {
            prompt,
            topic,
            stream: body.stream == Some(true),
            include_usage: wants(|options| options.include_usage),
            continuous_usage: wants(|options| options.continuous_usage_stats),
            endless,
            reasoning: if off && !truth.always_reason { 0 } else { truth.reasoning_tokens },
            limit: asked.unwrap_or(u32::MAX).min(room),
            stop_at: if endless { u32::MAX } else { natural },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str, truth: &Truth) -> Ask {
        Ask::read(body.as_bytes(), truth).unwrap_or_else(|answer| panic!("{}", answer.body))
    }

    #[test]
    fn limits_come_from_the_request_the_context_and_the_truth() {
        let truth = Truth { context_tokens: 100, finish_after: Some(20), ..Truth::default() };
        let body =
            |rest: &str| format!(r#"{{"messages":[{{"role":"user","content":"Hello there"}}]{rest}}}"#);
        let ask = |rest: &str| read(&body(rest), &truth);
        assert_eq!(ask("").prompt.len(), 5);
        assert_eq!((ask("").limit, ask("").stop_at), (95, 20));
        assert_eq!(ask(r#","max_tokens":7"#).limit, 7);
        assert_eq!(ask(r#","max_tokens":7,"max_completion_tokens":8"#).limit, 8);
        assert_eq!(ask(r#","max_tokens":-1"#).limit, 95);
        assert_eq!(ask(r#","ignore_eos":true"#).stop_at, u32::MAX);
        let stubborn = Truth { obey_ignore_eos: false, ..truth };
        assert_eq!(read(&body(r#","ignore_eos":true"#), &stubborn).stop_at, 20);
    }

    #[test]
    fn content_may_be_text_parts_or_null() {
        let truth = Truth::default();
        let parts = r#"{"messages":[{"role":"system","content":null},
            {"role":"user","content":[{"type":"text","text":"Count "},{"type":"text","text":"to 5"}]}]}"#;
        assert_eq!(read(parts, &truth).topic, "Count to 5");
    }

    #[test]
    fn thinking_is_off_when_the_request_says_so_unless_the_truth_does_not_care() {
        let body = r#"{"messages":[],"chat_template_kwargs":{"enable_thinking":false}}"#;
        let truth = Truth { reasoning_tokens: 9, ..Truth::default() };
        assert_eq!(read(body, &truth).reasoning, 0);
        assert_eq!(read(r#"{"messages":[]}"#, &truth).reasoning, 9);
        assert_eq!(read(body, &Truth { always_reason: true, ..truth }).reasoning, 9);
    }

    #[test]
    fn what_cannot_be_answered_gets_an_error_that_says_why() {
        let refuse = |body: &str, truth: &Truth| Ask::read(body.as_bytes(), truth).unwrap_err();
        let truth = Truth { context_tokens: 16, ..Truth::default() };
        let long = format!(r#"{{"messages":[{{"role":"user","content":"{}"}}]}}"#, "word ".repeat(20));
        assert_eq!(refuse("{", &truth).status, 400);
        assert!(refuse(&long, &truth).body.contains("exceeds the available context size (16 tokens)"));
        let empty = Truth { models: Vec::new(), ..truth };
        assert_eq!(refuse(r#"{"messages":[]}"#, &empty).status, 404);
    }
}
