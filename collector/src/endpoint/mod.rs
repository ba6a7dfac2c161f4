//! What is sent to an endpoint and what its events mean: body out, event in. Pure.

pub mod openai_chat;
pub mod openai_event;
pub mod refusal;

use dyno_shared::record::EngineTimings;

/// One event of a stream, or a whole answer, in the words of docs/METHOD.md §1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Text of the answer itself, tool-call arguments included; empty where there is none.
    pub answer: String,
    /// Text of the reasoning; empty where there is none.
    pub reasoning: String,
    /// Why the engine stopped, on the event that says so.
    pub finish_reason: Option<String>,
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
