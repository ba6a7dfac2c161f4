//! What is sent to an endpoint and what its events mean: body out, event in. Pure.

mod borrowed;
pub mod ollama;
pub mod openai_chat;
pub mod openai_event;
pub mod refusal;

use bytes::Bytes;
use dyno_shared::record::EngineTimings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use openai_chat::{ChatRequest, Optional};

/// How a chat is asked for and how its answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Dialect {
    /// OpenAI's chat route, which every engine has: server-sent events.
    #[default]
    #[serde(rename = "openai")]
    #[value(name = "openai")]
    OpenAiChat,
    /// Ollama's own chat route: a JSON object on each line, the engine's durations in the last one.
    #[serde(rename = "ollama")]
    #[value(name = "ollama")]
    OllamaChat,
}

impl Dialect {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::OpenAiChat, Self::OllamaChat];

    /// The route, after the root of the server.
    pub const fn path(self) -> &'static str {
        match self {
            Self::OpenAiChat => openai_chat::PATH,
            Self::OllamaChat => ollama::PATH,
        }
    }

    /// The dialect that is spoken on a route; OpenAI's on every one that is nobody's.
    pub fn on(path: &str) -> Self {
        Self::ALL.into_iter().find(|dialect| dialect.path() == path).unwrap_or_default()
    }

    /// The body that asks for this chat.
    pub fn body(self, request: &ChatRequest) -> Bytes {
        match self {
            Self::OpenAiChat => request.body(),
            Self::OllamaChat => ollama::body(request),
        }
    }

    /// The optional fields of a request on this route, of an engine whose OpenAI route takes `of_engine`. What a route
    /// cannot say is not claimed to have been said.
    #[must_use]
    pub const fn optional(self, of_engine: Optional) -> Optional {
        match self {
            Self::OpenAiChat => of_engine,
            Self::OllamaChat => ollama::TAKES,
        }
    }

    /// Reads one streamed event.
    ///
    /// # Errors
    /// When the data is no JSON object, or a field that is read has another type than the API gives it.
    pub fn event(self, data: &[u8]) -> Result<Event, serde_json::Error> {
        match self {
            Self::OpenAiChat => openai_event::chunk(data),
            Self::OllamaChat => ollama::event(data),
        }
    }
}

/// One event of a stream, or a whole answer, in the words of docs/METHOD.md §1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Text of the answer itself, tool-call arguments included; empty where there is none.
    pub answer: String,
    /// Text of the reasoning; empty where there is none.
    pub reasoning: String,
    /// Why the engine stopped, on the event that says so.
    pub finish_reason: Option<String>,
    /// Whether the answer ends with this event, by its own words.
    pub last: bool,
    /// Whether the event belongs to no choice (`choices: []`): a report about the stream, not a part of it.
    pub about_the_stream: bool,
    /// Token counts, where the event carries them.
    pub usage: Option<Usage>,
    /// The engine's own timings, where the event carries them.
    pub timings: Option<EngineTimings>,
    /// The server's words, where the event is an error.
    pub error: Option<String>,
}

impl Event {
    /// Whether the event carries generated text.
    pub fn carries_text(&self) -> bool {
        !(self.answer.is_empty() && self.reasoning.is_empty())
    }
}

/// Token counts as the server reports them; what it does not report is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt_tokens: Option<u64>,
    /// Tokens generated so far.
    pub completion_tokens: Option<u64>,
    /// Prompt tokens that a prefix cache answered.
    pub cached_tokens: Option<u64>,
    /// Generated tokens that were reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Prompt tokens that the engine worked on; unknown where it does not say how many its cache answered.
    pub fn processed_prompt(&self) -> Option<u64> {
        self.prompt_tokens?.checked_sub(self.cached_tokens?)
    }
}

/// A count that a server reports: a whole number of at least 0, also one written as `8.0`.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let x = value.as_f64()?;
        (x.fract() == 0.0 && (0.0..9e15).contains(&x)).then_some(x as u64)
    })
}
