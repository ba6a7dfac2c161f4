//! `POST /v1/chat/completions`: the body that is sent.

use bytes::Bytes;
use dyno_shared::workload::Sampling;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The route, after the root of the server.
pub const PATH: &str = "/v1/chat/completions";

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The model, in earlier turns.
    Assistant,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    /// Instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// A message of the person.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// An earlier answer.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// The field of OpenAI's chat route in which an engine is told whether to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingField {
    /// `chat_template_kwargs`: the chat template reads it. Templates differ in the name: Qwen's reads
    /// `enable_thinking`, that of `DeepSeek` and others `thinking`.
    TemplateArguments,
    /// `enable_thinking` beside the messages, as mistral.rs has it.
    EnableThinking,
    /// `reasoning_effort: "none"`, as Ollama has it; thinking on is its default.
    ReasoningEffort,
}

impl ThinkingField {
    /// The field and its value; `None` where that is what happens without it.
    fn say(self, on: bool) -> Option<(&'static str, Value)> {
        match self {
            Self::TemplateArguments => {
                Some(("chat_template_kwargs", json!({ "enable_thinking": on, "thinking": on })))
            }
            Self::EnableThinking => Some(("enable_thinking", json!(on))),
            Self::ReasoningEffort => (!on).then(|| ("reasoning_effort", json!("none"))),
        }
    }
}

/// Which of the fields that a strict server may refuse are sent. An engine says which it takes; a switch of the
/// command line omits one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Optional {
    /// `stream_options: {include_usage: true}`: token counts at the end of the stream.
    pub stream_options: bool,
    /// `top_k`, which the official API does not have.
    pub top_k: bool,
    /// `seed`.
    pub seed: bool,
    /// `ignore_eos`: go on past the end of sequence.
    pub ignore_eos: bool,
    /// `chat_template_kwargs`, or what stands for it: thinking off or on.
    pub thinking_switch: bool,
    /// The field that it is said in.
    pub thinking_field: ThinkingField,
    /// `cache_prompt` of llama.cpp.
    pub cache_prompt: bool,
}

impl Optional {
    /// What most engines take: all but llama.cpp's own field.
    pub const USUAL: Self = Self {
        stream_options: true,
        top_k: true,
        seed: true,
        ignore_eos: true,
        thinking_switch: true,
        thinking_field: ThinkingField::TemplateArguments,
        cache_prompt: false,
    };

    /// Leaves out one field by its JSON name; false where there is no such field in [`OPTIONAL`].
    pub fn omit(&mut self, field: &str) -> bool {
        let switch = match field {
            "stream_options" => &mut self.stream_options,
            "top_k" => &mut self.top_k,
            "seed" => &mut self.seed,
            "ignore_eos" => &mut self.ignore_eos,
            "chat_template_kwargs" => &mut self.thinking_switch,
            "cache_prompt" => &mut self.cache_prompt,
            _ => return false,
        };
        *switch = false;
        true
    }
}

/// Every optional field with the flag of the command line that omits it.
pub const OPTIONAL: [(&str, &str); 6] = [
    ("stream_options", "--no-stream-options"),
    ("top_k", "--no-top-k"),
    ("seed", "--no-seed"),
    ("ignore_eos", "--no-ignore-eos"),
    ("chat_template_kwargs", "--no-thinking-switch"),
    ("cache_prompt", "--no-cache-prompt"),
];

/// One chat request.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The model by the server's own name for it.
    pub model: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The sampling; what is `None` is not sent.
    pub sampling: Sampling,
    /// Which optional fields are sent.
    pub optional: Optional,
}

impl ChatRequest {
    /// The body to send: always streamed, with token counts asked for and the sampling explicit, so that a server's
    /// defaults never decide.
    pub fn body(&self) -> Bytes {
        let Self { sampling, optional, .. } = self;
        let mut body = Map::new();
        let mut set = |field: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(field.to_owned(), value);
            }
        };
        set("model", Some(json!(self.model)));
        set("messages", Some(json!(self.messages)));
        set("stream", Some(json!(true)));
        set("stream_options", optional.stream_options.then(|| json!({ "include_usage": true })));
        set("temperature", sampling.temperature.map(|x| json!(x)));
        set("top_p", sampling.top_p.map(|x| json!(x)));
        set("top_k", sampling.top_k.filter(|_| optional.top_k).map(|x| json!(x)));
        set("seed", sampling.seed.filter(|_| optional.seed).map(|x| json!(x)));
        set("max_tokens", sampling.max_tokens.map(|x| json!(x)));
        set("ignore_eos", sampling.ignore_eos.filter(|_| optional.ignore_eos).map(|x| json!(x)));
        let thinking = sampling.thinking.filter(|_| optional.thinking_switch);
        if let Some((field, value)) = thinking.and_then(|on| optional.thinking_field.say(on)) {
            set(field, Some(value));
        }
        set("cache_prompt", optional.cache_prompt.then_some(Value::Bool(true)));
        Bytes::from(Value::Object(body).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> ChatRequest {
        ChatRequest {
            model: "smollm2".into(),
            messages: vec![Message::system("Be brief."), Message::user("Count to \"20\".")],
            sampling: Sampling {
                temperature: Some(0.0),
                top_p: Some(1.0),
                top_k: Some(1),
                seed: Some(1),
                max_tokens: Some(512),
                ignore_eos: Some(true),
                thinking: Some(false),
            },
            optional: Optional { cache_prompt: true, ..Optional::USUAL },
        }
    }

    fn sent(request: &ChatRequest) -> Value {
        serde_json::from_slice(&request.body()).unwrap()
    }

    #[test]
    fn everything_that_decides_an_answer_is_sent() {
        assert_eq!(
            sent(&full()),
            json!({
                "model": "smollm2",
                "messages": [
                    { "role": "system", "content": "Be brief." },
                    { "role": "user", "content": "Count to \"20\"." },
                ],
                "stream": true,
                "stream_options": { "include_usage": true },
                "temperature": 0.0, "top_p": 1.0, "top_k": 1, "seed": 1, "max_tokens": 512, "ignore_eos": true,
                "chat_template_kwargs": { "enable_thinking": false, "thinking": false },
                "cache_prompt": true,
            })
        );
    }

    #[test]
    fn what_is_unknown_or_omitted_is_not_sent_at_all() {
        let mut request = full();
        for (field, _) in OPTIONAL {
            assert!(sent(&request).get(field).is_some(), "{field} was not sent");
            assert!(request.optional.omit(field), "{field} cannot be omitted");
            assert!(sent(&request).get(field).is_none(), "{field} was sent");
        }
        assert!(!request.optional.omit("messages"));
        request.sampling = Sampling::default();
        let keys: Vec<String> = sent(&request).as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["messages", "model", "stream"]);
    }

    #[test]
    fn thinking_is_switched_in_the_field_that_the_engine_reads() {
        let mut request = full();
        for (field, off, on) in [
            (
                ThinkingField::EnableThinking,
                json!({ "enable_thinking": false }),
                json!({ "enable_thinking": true }),
            ),
            (ThinkingField::ReasoningEffort, json!({ "reasoning_effort": "none" }), json!({})),
        ] {
            request.optional.thinking_field = field;
            for (thinking, expected) in [(false, off), (true, on)] {
                request.sampling.thinking = Some(thinking);
                let mut body = sent(&request);
                let said = body.as_object_mut().unwrap();
                said.retain(|key, _| {
                    ["enable_thinking", "reasoning_effort", "chat_template_kwargs"].contains(&key.as_str())
                });
                assert_eq!(body, expected, "{field:?} {thinking}");
            }
        }
    }

    #[test]
    fn the_same_request_gives_the_same_bytes() {
        assert_eq!(full().body(), full().body());
    }
}
