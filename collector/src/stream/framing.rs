//! How the bytes of an answer fall into events: server-sent events, or a JSON object on each line.

use crate::endpoint::Dialect;
use crate::ndjson;
use crate::sse::{self, Frame, FrameTooLong};

/// Cuts the bytes of a stream.
#[derive(Debug)]
pub(super) enum Framing {
    Events(sse::Decoder),
    Lines(ndjson::Decoder),
}

impl Framing {
    /// As the answers of a route are written.
    pub(super) fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::OpenAiChat => Self::Events(sse::Decoder::default()),
            Dialect::OllamaChat => Self::Lines(ndjson::Decoder::default()),
        }
    }

    /// Takes the next bytes and hands each frame that they complete to `on_frame`, in order.
    pub(super) fn push(&mut self, bytes: &[u8], on_frame: impl FnMut(Frame<'_>)) -> Result<(), FrameTooLong> {
        match self {
            Self::Events(decoder) => decoder.push(bytes, on_frame),
            Self::Lines(decoder) => decoder.push(bytes, on_frame),
        }
    }

    /// Ends the stream: a frame still open is given with `complete: false`.
    pub(super) fn finish(self, on_frame: impl FnMut(Frame<'_>)) {
        match self {
            Self::Events(decoder) => decoder.finish(on_frame),
            Self::Lines(decoder) => decoder.finish(on_frame),
        }
    }
}

/// What the answers of a route are called.
pub(super) const fn name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenAiChat => "an event stream",
        Dialect::OllamaChat => "a stream of JSON lines",
    }
}

/// What stands at the end of such a stream.
pub(super) const fn end(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenAiChat => "a finish reason and without [DONE]",
        Dialect::OllamaChat => "the line that says `done`",
    }
}

/// Whether the first line of a body may be one of such a stream.
pub(super) fn looks_like(dialect: Dialect, head: &[u8]) -> bool {
    let line = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    match dialect {
        Dialect::OpenAiChat => [&b":"[..], b"data", b"event", b"id", b"retry", b"error"]
            .iter()
            .any(|field| line.starts_with(field)),
        Dialect::OllamaChat => line.starts_with(b"{"),
    }
}
