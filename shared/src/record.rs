//! What was observed of one request: facts only. Every number is derived from these later.

use serde::{Deserialize, Serialize};

use crate::units::{Seconds, Tokens};

/// One HTTP call, as the client's clock and the server's own words describe it.
///
/// All `t_…` fields are offsets in seconds from the start of the run, on one monotonic clock, stamped when the
/// bytes left the socket read and before anything was parsed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RequestRecord {
    /// Which of the run's concurrent streams this is, from 0.
    pub stream: u32,
    /// The turn of a session, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The run tag that the prompt carried: the same on every set-up of one series.
    pub run_tag: String,
    /// SHA-256 of the request's prompt, in hex: what proves that two runs pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<String>,
    /// When the request should have started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_due_s: Option<Seconds>,
    /// Just before the request was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_send_s: Option<Seconds>,
    /// Response headers read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_headers_s: Option<Seconds>,
    /// First event that carried generated text, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_first_s: Option<Seconds>,
    /// First event that carried text of the answer itself (not reasoning).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_first_answer_s: Option<Seconds>,
    /// Last event that carried generated text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_last_s: Option<Seconds>,
    /// `[DONE]`, or the end of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_end_s: Option<Seconds>,
    /// TCP and TLS set-up of this request's own connection, done before `t_send_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_s: Option<Seconds>,
    /// HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Events that carried generated text; 0 beside a first and a last of them where a foreign client did not count.
    pub text_events: u64,
    /// Gaps between the text events, in order: one fewer than `text_events`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Gaps>,
    /// Tokens in each text event, where the server told and they were not all 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_tokens: Option<Vec<u32>>,
    /// Prompt tokens, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Tokens>,
    /// Prompt tokens answered by the prefix cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_prompt_tokens: Option<Tokens>,
    /// Generated tokens, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Tokens>,
    /// Generated tokens that were reasoning, where the server told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<Tokens>,
    /// Tokens that the first text event carried; unknown where the server does not let us know, and then 1 is
    /// assumed and said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_event_tokens: Option<Tokens>,
    /// Where `output_tokens` comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_count_source: Option<TokenCountSource>,
    /// Why the engine stopped: `stop`, `length`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// What the engine itself reported for this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineTimings>,
    /// Characters of generated text, reasoning included.
    pub output_chars: u64,
    /// SHA-256 of the generated text, in hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_sha256: Option<String>,
    /// The generated text: its first 2 KB where a check failed, all of it with `--keep-output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_text: Option<String>,
    /// Why the request failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RequestError>,
}

/// Gaps between text events as whole ticks, which keeps a shard small without losing anything a clock can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gaps {
    /// Length of one tick in seconds (1e-6 as the collector writes it).
    pub tick_s: f64,
    /// Each gap in ticks.
    pub ticks: Vec<u32>,
}

impl Gaps {
    /// Gaps of whole microseconds from arrival offsets in order.
    pub fn from_arrivals(arrivals: &[Seconds]) -> Option<Self> {
        if arrivals.len() < 2 {
            return None;
        }
        // Rounding the arrivals, not the gaps, keeps rounding errors from adding up.
        let micros = |s: Seconds| libm::round(s.0 * 1e6) as i64;
        let ticks = arrivals
            .windows(2)
            .map(|pair| u32::try_from((micros(pair[1]) - micros(pair[0])).max(0)).unwrap_or(u32::MAX))
            .collect();
        Some(Self { tick_s: 1e-6, ticks })
    }

    /// The gaps in seconds.
    pub fn seconds(&self) -> impl Iterator<Item = f64> + '_ {
        self.ticks.iter().map(|&t| f64::from(t) * self.tick_s)
    }
}

/// Whose count `output_tokens` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TokenCountSource {
    /// The response's `usage`.
    Usage,
    /// The engine's own timings.
    EngineTimings,
    /// The last `usage` of a stream that reports one per chunk.
    ChunkUsage,
    /// Events were counted, because the server said nothing: a lower bound.
    CountedEvents,
    /// A source that this version does not know.
    #[serde(other)]
    Unknown,
}

/// What the engine reported for one request, in its own terms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EngineTimings {
    /// Where it was read: `response timings`, `/metrics`, ….
    pub source: String,
    /// Prompt tokens processed, cached ones excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Tokens>,
    /// Time spent on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_s: Option<Seconds>,
    /// Prompt tokens taken from the prefix cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<Tokens>,
    /// Tokens generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Tokens>,
    /// Time spent generating them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decode_s: Option<Seconds>,
    /// Time to first token, by the engine's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_s: Option<Seconds>,
    /// Time in the engine's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_s: Option<Seconds>,
    /// Time until the model was ready for the request: long where it had to be loaded into memory first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_s: Option<Seconds>,
    /// Draft tokens proposed by speculative decoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_tokens: Option<Tokens>,
    /// Draft tokens accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_tokens: Option<Tokens>,
    /// Verify steps of speculative decoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_steps: Option<u64>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestError {
    /// The kind of failure.
    pub kind: RequestErrorKind,
    /// What happened, in a sentence, with what the server said.
    pub message: String,
}

/// The kinds of failure of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestErrorKind {
    /// No connection could be made.
    Connect,
    /// Nothing came within the first-byte time-out.
    FirstByteTimeout,
    /// The stream went silent for longer than the idle time-out.
    IdleTimeout,
    /// The server answered with an HTTP error.
    Status,
    /// The server sent an error inside a stream that had begun well.
    MidStream,
    /// The connection ended before the stream did.
    Disconnected,
    /// The stream ended well but carried no generated text.
    NoText,
    /// The bytes were not the protocol.
    Protocol,
    /// A failure that this version does not know.
    #[serde(other)]
    Unknown,
}

impl RequestRecord {
    /// Arrival offsets of all text events, rebuilt from the first and the gaps.
    pub fn arrivals(&self) -> Vec<f64> {
        let Some(first) = self.t_first_s else { return Vec::new() };
        let mut at = first.0;
        let mut arrivals = vec![at];
        if let Some(gaps) = &self.gaps {
            arrivals.extend(gaps.seconds().map(|gap| {
                at += gap;
                at
            }));
        }
        arrivals
    }

    /// The span from the first to the last text event; `None` where they are one and the same.
    pub fn decode_span(&self) -> Option<Seconds> {
        (self.text_events != 1).then_some(())?;
        Some(self.t_last_s? - self.t_first_s?)
    }

    /// Tokens decoded inside [`Self::decode_span`]: all but those of the first event (1 where unknown).
    pub fn decoded_tokens(&self) -> Option<f64> {
        let first = self.first_event_tokens.map_or(1, Tokens::get);
        let rest = self.output_tokens?.get().checked_sub(first)?;
        Some(rest as f64)
    }

    /// Prompt tokens that the prefix cache did not answer; where the server does not report cached tokens, all.
    pub fn uncached_prompt_tokens(&self) -> Option<f64> {
        let cached = self.cached_prompt_tokens.map_or(0, Tokens::get);
        Some(self.prompt_tokens?.get().saturating_sub(cached) as f64)
    }

    /// Time to first token as the client saw it: `t_first − t_send`.
    pub fn ttft(&self) -> Option<Seconds> {
        Some(self.t_first_s? - self.t_send_s?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_rebuild_the_arrivals() {
        let arrivals = [0.214_000_4, 0.245_1, 0.245_1, 0.3].map(Seconds);
        let record = RequestRecord {
            t_first_s: Some(arrivals[0]),
            gaps: Gaps::from_arrivals(&arrivals),
            ..RequestRecord::default()
        };
        for (rebuilt, true_one) in record.arrivals().iter().zip(arrivals) {
            assert!((rebuilt - true_one.0).abs() < 2e-6, "{rebuilt} is not {}", true_one.0);
        }
    }

    #[test]
    fn unknown_stays_unknown_through_json() {
        let record = RequestRecord::default();
        let json = serde_json::to_string(&record).unwrap();
        assert!(!json.contains("null") && !json.contains("output_tokens"), "{json}");
        assert_eq!(serde_json::from_str::<RequestRecord>(&json).unwrap(), record);
    }

    #[test]
    fn a_span_needs_two_events_or_a_client_that_did_not_count_them() {
        let of = |text_events| RequestRecord {
            text_events,
            t_first_s: Some(Seconds(0.5)),
            t_last_s: Some(Seconds(2.5)),
            ..RequestRecord::default()
        };
        assert_eq!(
            [0, 1, 2].map(|events| of(events).decode_span()),
            [Some(Seconds(2.0)), None, Some(Seconds(2.0))]
        );
        assert_eq!(RequestRecord::default().decode_span(), None);
    }

    #[test]
    fn more_tokens_in_the_first_event_than_in_all_is_unknown() {
        let record = RequestRecord {
            output_tokens: Some(Tokens(3)),
            first_event_tokens: Some(Tokens(4)),
            ..RequestRecord::default()
        };
        assert_eq!(record.decoded_tokens(), None);
    }
}
