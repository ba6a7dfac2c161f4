//! Frames with their arrival stamps → events → the [`RequestRecord`] of one request. Pure: no socket, no clock.
//!
//! The transport hands over each read's bytes with the instant at which they left the socket; nothing is parsed
//! before that. All of docs/METHOD.md §1 is decided here.

mod alike;
mod framing;
mod tokens;

use std::mem;

use dyno_shared::privacy;
use dyno_shared::record::{Gaps, RequestError, RequestErrorKind, RequestRecord};
use dyno_shared::units::Seconds;
use sha2::{Digest, Sha256};

use crate::endpoint::{Dialect, Event, ollama, openai_event, refusal};
use crate::sse::{Frame, FrameTooLong};
use alike::Alike;
use framing::Framing;
use tokens::Ledger;

/// The most bytes of an answer that does not stream.
const MAX_WHOLE_BYTES: usize = 64 << 20;
/// The most text of an answer that streams, in bytes, and the most events that carry it: far more than any case asks
/// for. A server that never ends does not fill the memory.
const MAX_TEXT_BYTES: usize = 16 << 20;
const MAX_TEXT_EVENTS: u64 = 1 << 20;
/// The most bytes that are kept of an error body.
const MAX_REFUSAL_BYTES: usize = 64 << 10;
/// Bytes from the start of the body that an error may quote.
const HEAD_BYTES: usize = 120;

/// What was observed of one request: the record, and the text, which is not part of a shard.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// The facts.
    pub record: RequestRecord,
    /// The answer, tool-call arguments included.
    pub text: String,
    /// The reasoning before it.
    pub reasoning: String,
}

/// Watches one response and ends as [`Observed`].
///
/// Stamps are offsets from the start of the run and never go back.
#[derive(Debug)]
pub struct Observer {
    dialect: Dialect,
    record: RequestRecord,
    body: Body,
    /// The first bytes of the body, for messages.
    head: Vec<u8>,
    /// When the last bytes came.
    last_bytes: Option<Seconds>,
    arrivals: Vec<Seconds>,
    ledger: Ledger,
    alike: Alike,
    text: String,
    reasoning: String,
    /// Data events so far: the place that an error names.
    events: u64,
    /// `[DONE]` came.
    done: bool,
    error: Option<RequestError>,
}

/// How the body is read; the status and its first byte decide.
#[derive(Debug)]
enum Body {
    /// Nothing has come.
    Empty,
    Stream(Box<Framing>),
    /// One JSON document, from a server that ignored `stream`.
    Whole(Vec<u8>),
    /// The body of an HTTP error.
    Refusal(Vec<u8>),
}

impl Observer {
    /// Starts from what is known before the response: stream, run tag, `t_due`, `t_send`, connection time. The answer
    /// is that of OpenAI's chat route.
    pub fn new(seed: RequestRecord) -> Self {
        Self::of(Dialect::OpenAiChat, seed)
    }

    /// The same for the answer of any route.
    pub fn of(dialect: Dialect, seed: RequestRecord) -> Self {
        Self {
            dialect,
            record: seed,
            body: Body::Empty,
            head: Vec::new(),
            last_bytes: None,
            arrivals: Vec::new(),
            ledger: Ledger::default(),
            alike: Alike::default(),
            text: String::new(),
            reasoning: String::new(),
            events: 0,
            done: false,
            error: None,
        }
    }

    /// The response's headers were read.
    pub fn headers(&mut self, at: Seconds, status: u16) {
        self.record.t_headers_s = Some(at);
        self.record.status = Some(status);
    }

    /// Bytes of the body, in any split, with the stamp of the read that brought them.
    pub fn bytes(&mut self, at: Seconds, bytes: &[u8]) {
        if bytes.is_empty() || self.is_over() {
            return;
        }
        self.last_bytes = Some(at);
        let room = HEAD_BYTES.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        // Blanks before a body are no part of it, whether they come with it or in a read of their own.
        let bytes = if matches!(self.body, Body::Empty) { bytes.trim_ascii_start() } else { bytes };
        if matches!(self.body, Body::Empty) {
            self.body = self.kind_of_body(bytes);
        }
        match mem::replace(&mut self.body, Body::Empty) {
            Body::Stream(mut decoder) => {
                if decoder.push(bytes, |frame| self.frame(at, frame)).is_err() {
                    self.protocol_error(FrameTooLong.to_string());
                }
                self.body = Body::Stream(decoder);
            }
            Body::Whole(mut whole) => {
                if whole.len() + bytes.len() > MAX_WHOLE_BYTES {
                    self.protocol_error(format!("the answer is larger than {} MiB", MAX_WHOLE_BYTES >> 20));
                } else {
                    whole.extend_from_slice(bytes);
                }
                self.body = Body::Whole(whole);
            }
            Body::Refusal(mut refusal) => {
                let room = MAX_REFUSAL_BYTES.saturating_sub(refusal.len());
                refusal.extend_from_slice(&bytes[..bytes.len().min(room)]);
                self.body = Body::Refusal(refusal);
            }
            // All blanks so far: what the body is shows later.
            Body::Empty => {}
        }
    }

    /// Whether nothing that may still come matters: `[DONE]` came, or the bytes were not the protocol.
    pub fn is_over(&self) -> bool {
        self.done || self.error.as_ref().is_some_and(|error| error.kind == RequestErrorKind::Protocol)
    }

    /// When the last text came.
    pub fn last_text(&self) -> Option<Seconds> {
        self.record.t_last_s
    }

    /// The body ended as HTTP says it should.
    pub fn end(mut self, at: Seconds) -> Observed {
        match mem::replace(&mut self.body, Body::Empty) {
            Body::Stream(decoder) => {
                let stamp = self.last_bytes.unwrap_or(at);
                decoder.finish(|frame| self.last_frame(stamp, frame));
                self.judge_stream_end();
            }
            Body::Whole(whole) => self.whole_answer(&whole),
            Body::Refusal(refusal) => self.refused(&refusal),
            Body::Empty if self.is_refused() => self.refused(&[]),
            Body::Empty => self.fail(RequestErrorKind::NoText, "the answer was empty".to_owned()),
        }
        self.record.t_end_s.get_or_insert(at);
        self.observed()
    }

    /// The response ended otherwise. A stream that had given its finish reason by then is whole all the same:
    /// some servers close without `[DONE]`, or never close.
    pub fn failed(mut self, at: Seconds, kind: RequestErrorKind, message: impl Into<String>) -> Observed {
        if kind == RequestErrorKind::Disconnected {
            self.record.t_end_s.get_or_insert(at);
        }
        let streamed = matches!(self.body, Body::Stream(_));
        match mem::replace(&mut self.body, Body::Empty) {
            Body::Refusal(refusal) => self.refused(&refusal),
            Body::Stream(_) if self.error.is_none() && self.is_finished() => self.judge_stream_end(),
            _ if self.error.is_none() && self.is_refused() => self.refused(&[]),
            _ => {
                let after = match self.record.text_events {
                    _ if !streamed => String::new(),
                    0 => " (before any text)".to_owned(),
                    1 => " (after 1 text event)".to_owned(),
                    n => format!(" (after {n} text events)"),
                };
                self.fail(kind, message.into() + &after);
            }
        }
        self.observed()
    }

    fn kind_of_body(&self, bytes: &[u8]) -> Body {
        if self.is_refused() {
            return Body::Refusal(Vec::new());
        }
        let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        match (self.dialect, start) {
            (_, None) => Body::Empty,
            // No line of an event stream starts with a brace or a bracket.
            (Dialect::OpenAiChat, Some(b'{' | b'[')) => Body::Whole(Vec::new()),
            // An answer that did not stream is a stream of one line there.
            (dialect, Some(_)) => Body::Stream(Box::new(Framing::of(dialect))),
        }
    }

    fn is_refused(&self) -> bool {
        self.record.status.is_some_and(|status| !(200..300).contains(&status))
    }

    fn is_finished(&self) -> bool {
        self.done || self.record.finish_reason.is_some()
    }

    fn frame(&mut self, at: Seconds, frame: Frame<'_>) {
        let data = frame.data.trim_ascii();
        if data.is_empty() || self.is_over() {
            return;
        }
        if data == b"[DONE]" {
            self.done = true;
            self.record.t_end_s = Some(at);
            return;
        }
        self.events += 1;
        if let Some(text) = self.alike.text(data).filter(|_| frame.event.is_empty()) {
            self.ledger.note_text();
            self.text(at, text, "");
            return;
        }
        match self.dialect.event(data) {
            Ok(event) => {
                self.alike.learn(self.dialect, data, &event);
                self.event(at, &event, frame.event == b"error");
            }
            Err(_) if frame.event == b"error" => {
                self.fail(RequestErrorKind::MidStream, mid_stream(&String::from_utf8_lossy(data)));
            }
            Err(error) => self.protocol_error(format!(
                "event {} of the stream cannot be read: {error}: `{}`",
                self.events,
                excerpt(data)
            )),
        }
    }

    /// A frame that the end of the body cut: taken when it is whole, else left to the verdict on the end.
    fn last_frame(&mut self, at: Seconds, frame: Frame<'_>) {
        let data = frame.data.trim_ascii();
        if frame.complete || data == b"[DONE]" || self.dialect.event(data).is_ok() {
            self.frame(at, frame);
        }
    }

    fn event(&mut self, at: Seconds, event: &Event, named_error: bool) {
        let said =
            event.error.clone().or_else(|| named_error.then(|| "an error event without words".to_owned()));
        if let Some(said) = said {
            self.fail(RequestErrorKind::MidStream, mid_stream(&said));
            return;
        }
        if event.finish_reason.is_some() {
            self.record.finish_reason.clone_from(&event.finish_reason);
        }
        if event.last {
            self.done = true;
            self.record.t_end_s = Some(at);
        }
        self.ledger.note(event, self.is_finished());
        if event.carries_text() {
            self.text(at, &event.answer, &event.reasoning);
        }
    }

    fn text(&mut self, at: Seconds, answer: &str, reasoning: &str) {
        self.arrivals.push(at);
        self.record.text_events += 1;
        self.record.t_first_s.get_or_insert(at);
        self.record.t_last_s = Some(at);
        if !answer.is_empty() {
            self.record.t_first_answer_s.get_or_insert(at);
        }
        self.text.push_str(answer);
        self.reasoning.push_str(reasoning);
        if self.record.text_events > MAX_TEXT_EVENTS
            || self.text.len() + self.reasoning.len() > MAX_TEXT_BYTES
        {
            self.protocol_error(format!(
                "the answer does not end: {} text events with {} MiB so far, which no case asks for. Does the engine \
                 obey max_tokens?",
                self.record.text_events,
                (self.text.len() + self.reasoning.len()) >> 20
            ));
        }
    }

    fn judge_stream_end(&mut self) {
        if self.events == 0 && !self.done && !framing::looks_like(self.dialect, &self.head) {
            let name = framing::name(self.dialect);
            let message = format!("the answer is not {name}: it starts with `{}`", excerpt(&self.head));
            self.fail(RequestErrorKind::Protocol, message);
        } else if !self.is_finished() {
            let after = match self.record.text_events {
                0 => "before any text".to_owned(),
                1 => "after 1 text event".to_owned(),
                n => format!("after {n} text events"),
            };
            let message = format!(
                "the stream ended {after}, without {}: the engine stopped or the connection was cut; the engine's log \
                 says more",
                framing::end(self.dialect)
            );
            self.fail(RequestErrorKind::Disconnected, message);
        } else if self.record.text_events == 0 {
            let loaded = self.record.finish_reason.as_deref().is_some_and(ollama::generated_nothing);
            let message = if loaded {
                "the engine loaded or unloaded its model and generated nothing: measure again"
            } else {
                "the stream ended well but carried no generated text: check the model, its chat template, and that \
                 max_tokens is not 0"
            };
            self.fail(RequestErrorKind::NoText, message.to_owned());
        }
    }

    fn whole_answer(&mut self, body: &[u8]) {
        let at = self.last_bytes.unwrap_or(Seconds(0.0));
        match openai_event::answer(body) {
            Ok(event) => {
                self.event(at, &event, false);
                if self.record.text_events == 0 {
                    self.fail(RequestErrorKind::NoText, "the answer carried no generated text".to_owned());
                }
            }
            Err(error) => self.protocol_error(format!(
                "the answer is neither an event stream nor JSON: {error}: `{}`",
                excerpt(&self.head)
            )),
        }
    }

    fn refused(&mut self, body: &[u8]) {
        let status = self.record.status.unwrap_or_default();
        self.fail(RequestErrorKind::Status, refusal::explain(status, &String::from_utf8_lossy(body)));
    }

    fn protocol_error(&mut self, message: String) {
        self.fail(RequestErrorKind::Protocol, message);
    }

    /// Keeps the first error: what follows is its consequence.
    fn fail(&mut self, kind: RequestErrorKind, message: String) {
        self.error.get_or_insert(RequestError { kind, message });
    }

    fn observed(self) -> Observed {
        let Self { dialect, mut record, arrivals, ledger, text, reasoning, error, events, .. } = self;
        // Of an answer that came whole, no event was counted, or one line is all there was.
        let streamed = events > u64::from(dialect == Dialect::OllamaChat);
        record.gaps = Gaps::from_arrivals(&arrivals);
        record.output_chars = (reasoning.chars().count() + text.chars().count()) as u64;
        record.output_sha256 = (record.text_events > 0).then(|| sha256(&[&reasoning, &text]));
        ledger.settle(&mut record, !reasoning.is_empty(), streamed);
        // A server's words may hold a path or an address of its machine.
        record.error = error.map(|error| RequestError { message: privacy::scrub(&error.message), ..error });
        Observed { record, text, reasoning }
    }
}

fn mid_stream(said: &str) -> String {
    format!("the server broke off with an error: {}", refusal::quote(said))
}

/// The start of some bytes as text on one line.
fn excerpt(bytes: &[u8]) -> String {
    refusal::quote(&String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]))
}

/// SHA-256 of the parts in order, in hex.
fn sha256(parts: &[&str]) -> String {
    use std::fmt::Write as _;
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_shared::record::TokenCountSource;
    use dyno_shared::units::Tokens;

    const ROLE: &str = r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#;
    const EMPTY: &str = r#"{"choices":[{"delta":{"content":""}}]}"#;
    const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

    fn say(text: &str) -> String {
        format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#)
    }

    /// A stream of data lines at milliseconds, ended well or not.
    fn watch(lines: &[(u32, &str)]) -> Observer {
        let mut observer = Observer::new(RequestRecord::default());
        observer.headers(Seconds(0.001), 200);
        for (ms, line) in lines {
            observer.bytes(at(*ms), format!("data: {line}\n\n").as_bytes());
        }
        observer
    }

    fn at(ms: u32) -> Seconds {
        Seconds(f64::from(ms) / 1e3)
    }

    fn error_of(observed: &Observed) -> (RequestErrorKind, &str) {
        let error = observed.record.error.as_ref().expect("an error");
        (error.kind, &error.message)
    }

    #[test]
    fn a_role_chunk_an_empty_delta_and_a_comment_are_no_first_token() {
        let mut observer = watch(&[(5, ROLE), (50, EMPTY)]);
        observer.bytes(at(100), b": still here\n\n");
        observer.bytes(at(214), format!("data: {}\n\n", say("a")).as_bytes());
        observer.bytes(at(244), format!("data: {}\n\ndata: {STOP}\n\ndata: [DONE]\n\n", say("b")).as_bytes());
        let observed = observer.end(at(250));
        let record = &observed.record;
        assert_eq!(
            (record.t_first_s, record.t_last_s, record.t_end_s),
            (Some(at(214)), Some(at(244)), Some(at(244)))
        );
        assert_eq!((record.text_events, record.error.as_ref()), (2, None));
        assert_eq!(record.gaps.as_ref().map(|gaps| gaps.ticks.clone()), Some(vec![30_000]));
        assert_eq!(observed.text, "ab");
    }

    #[test]
    fn two_events_in_one_read_are_two_events() {
        let mut observer = watch(&[]);
        observer.bytes(
            at(10),
            format!("data: {}\n\ndata: {}\n\ndata: {STOP}\n\n", say("a"), say("b")).as_bytes(),
        );
        let record = observer.end(at(20)).record;
        assert_eq!(record.text_events, 2);
        assert_eq!(record.gaps.map(|gaps| gaps.ticks), Some(vec![0]));
    }

    #[test]
    fn usage_and_done_long_after_the_last_text_do_not_stretch_the_decode_span() {
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
        let record = watch(&[(10, &say("a")), (40, &say("b")), (41, STOP), (340, usage), (341, "[DONE]")])
            .end(at(342))
            .record;
        assert_eq!(record.decode_span(), Some(Seconds(0.04) - Seconds(0.01)));
        assert_eq!((record.t_end_s, record.output_tokens), (Some(at(341)), Some(Tokens(2))));
    }

    #[test]
    fn reasoning_is_generated_text_and_the_answer_has_its_own_first_stamp() {
        let think = r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#;
        let usage = r#"{"choices":[],"usage":{"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":0}}}"#;
        let observed = watch(&[(10, think), (30, &say("a")), (31, STOP), (32, usage)]).end(at(33));
        let record = &observed.record;
        assert_eq!((record.t_first_s, record.t_first_answer_s), (Some(at(10)), Some(at(30))));
        assert_eq!(record.reasoning_tokens, None, "0 while reasoning was seen is unknown");
        assert_eq!(
            (observed.text.as_str(), observed.reasoning.as_str(), record.output_chars),
            ("a", "hm", 3)
        );
    }

    #[test]
    fn a_stream_without_text_is_a_failure_of_its_own() {
        let observed = watch(&[(5, ROLE), (9, STOP), (9, "[DONE]")]).end(at(10));
        assert_eq!(error_of(&observed).0, RequestErrorKind::NoText);
        assert_eq!((observed.record.t_first_s, observed.record.output_sha256), (None, None));
    }

    #[test]
    fn an_error_event_is_kept_though_done_follows() {
        let lines =
            [(5, say("a")), (6, r#"{"error":{"message":"boom","code":500}}"#.into()), (7, "[DONE]".into())];
        let lines: Vec<(u32, &str)> = lines.iter().map(|(ms, line)| (*ms, line.as_str())).collect();
        let observed = watch(&lines).end(at(8));
        let (kind, message) = error_of(&observed);
        assert_eq!(kind, RequestErrorKind::MidStream);
        assert!(message.contains("boom"));
        assert_eq!((observed.text.as_str(), observed.record.t_end_s), ("a", Some(at(7))));
        let mut older = watch(&[(5, ROLE)]);
        older.bytes(at(6), b"error: {\"code\":500,\"message\":\"boom\"}\n\n");
        let observed = older.end(at(8));
        assert_eq!(error_of(&observed).0, RequestErrorKind::MidStream);
    }

    #[test]
    fn an_end_without_done_is_fine_after_a_finish_reason_and_a_cut_before() {
        let whole = watch(&[(5, &say("a")), (6, STOP)]);
        assert_eq!(whole.end(at(7)).record.error, None);
        let never_closed =
            watch(&[(5, &say("a")), (6, STOP)]).failed(at(900), RequestErrorKind::IdleTimeout, "silence");
        assert_eq!((never_closed.record.error, never_closed.record.t_end_s), (None, None));
        let cut = watch(&[(5, &say("a"))]).end(at(7));
        assert_eq!(error_of(&cut).0, RequestErrorKind::Disconnected);
        assert!(error_of(&cut).1.contains("after 1 text event"));
        let mut mid_frame = watch(&[]);
        mid_frame.bytes(at(5), b"data: {\"choices\":[{\"delta\":{\"content\":\"\xF0\x9F");
        assert_eq!(error_of(&mid_frame.end(at(6))).0, RequestErrorKind::Disconnected);
        let mut comment_only = watch(&[]);
        comment_only.bytes(at(5), b":\n\n");
        assert_eq!(error_of(&comment_only.end(at(6))).0, RequestErrorKind::Disconnected);
    }

    #[test]
    fn a_last_done_without_its_blank_line_counts() {
        let mut observer = watch(&[(5, &say("a"))]);
        observer.bytes(at(6), b"data: [DONE]");
        assert_eq!(observer.end(at(7)).record.error, None);
    }

    #[test]
    fn blanks_before_a_body_leave_no_trace_wherever_the_reads_divide() {
        for text in [
            " [   ",
            "  data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
            "\n {\"error\": \"full\"}",
        ] {
            let of = |pieces: &[&[u8]]| {
                let mut observer = Observer::new(RequestRecord::default());
                observer.headers(Seconds(0.1), 200);
                for piece in pieces {
                    observer.bytes(Seconds(0.2), piece);
                }
                observer.end(Seconds(0.2)).record
            };
            let (first, rest) = text.as_bytes().split_at(1);
            assert_eq!(of(&[first, rest]), of(&[text.as_bytes()]), "{text}");
        }
    }

    #[test]
    fn what_is_not_the_protocol_is_an_error_that_names_the_place() {
        let bad = watch(&[(5, &say("a")), (6, "{\"choices\":[{\"delta\":{\"content\":7}}]}")]).end(at(7));
        assert_eq!(error_of(&bad).0, RequestErrorKind::Protocol);
        assert!(error_of(&bad).1.contains("event 2 of the stream") && error_of(&bad).1.contains("column"));
        assert_eq!((bad.text.as_str(), bad.record.text_events), ("a", 1));
        let mut page = watch(&[]);
        page.bytes(at(5), b"<html>Bad gateway</html>");
        let page = page.end(at(6));
        assert_eq!(error_of(&page).0, RequestErrorKind::Protocol);
        assert!(error_of(&page).1.contains("<html>"));
        let mut split_utf8 = watch(&[]);
        split_utf8.bytes(at(5), b"data: {\"choices\":[{\"delta\":{\"content\":\"\xF0\x9F\"}}]}\n\n");
        let split_utf8 = split_utf8.end(at(6));
        assert_eq!(error_of(&split_utf8).0, RequestErrorKind::Protocol);
        assert!(!split_utf8.text.contains('\u{fffd}'));
    }

    #[test]
    fn an_answer_that_did_not_stream_is_one_event_without_a_decode_span() {
        let mut observer = watch(&[]);
        let body = r#"{"choices":[{"message":{"content":"all of it"},"finish_reason":"stop"}],
                       "usage":{"prompt_tokens":9,"completion_tokens":4}}"#;
        observer.bytes(at(400), &body.as_bytes()[..20]);
        observer.bytes(at(500), &body.as_bytes()[20..]);
        let record = observer.end(at(501)).record;
        assert_eq!((record.error.as_ref(), record.text_events), (None, 1));
        assert_eq!((record.t_first_s, record.decode_span()), (Some(at(500)), None));
        assert_eq!(
            (record.output_tokens, record.token_count_source),
            (Some(Tokens(4)), Some(TokenCountSource::Usage))
        );
        let mut uncounted = watch(&[]);
        uncounted.bytes(at(5), br#"{"choices":[{"message":{"content":"all of it"}}]}"#);
        assert_eq!(uncounted.end(at(6)).record.output_tokens, None);
    }

    #[test]
    fn an_http_error_keeps_the_servers_words_even_when_its_body_is_cut() {
        let mut observer = Observer::new(RequestRecord::default());
        observer.headers(at(1), 401);
        observer.bytes(at(2), br#"{"error":{"message":"Invalid API key in /home/jo/keys"}}"#);
        let observed = observer.failed(at(3), RequestErrorKind::Disconnected, "cut");
        let (kind, message) = error_of(&observed);
        assert_eq!(kind, RequestErrorKind::Status);
        assert!(message.contains("Invalid API key") && message.contains("--api-key"), "{message}");
        assert!(!message.contains("/home/jo"), "{message}");
        let mut silent = Observer::new(RequestRecord::default());
        silent.headers(at(1), 503);
        assert_eq!(error_of(&silent.end(at(2))).0, RequestErrorKind::Status);
    }
}
