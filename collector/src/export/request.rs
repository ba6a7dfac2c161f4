//! One row for each request of a recorded run.

use dyno_shared::record::{EngineTimings, RequestErrorKind, RequestRecord, TokenCountSource};
use dyno_shared::submission::{Run, Telemetry};
use dyno_shared::units::TokensPerSecond;

use super::column::{Column, Value, columns};

/// A request in its run.
#[derive(Debug, Clone, Copy)]
pub struct RequestRow<'a> {
    /// The run.
    pub run: &'a Run,
    /// Whether the run enters the summary.
    pub passed: bool,
    /// The request.
    pub request: &'a RequestRecord,
}

impl<'a> RequestRow<'a> {
    const fn engine(self) -> Option<&'a EngineTimings> {
        self.request.engine.as_ref()
    }

    const fn telemetry(self) -> Option<&'a Telemetry> {
        self.run.telemetry.as_ref()
    }

    /// A foreign client tells the first and the last event and not how many there were.
    fn text_events(self) -> Option<u64> {
        let counted = self.request.text_events > 0 || self.request.t_first_s.is_none();
        counted.then_some(self.request.text_events)
    }

    fn output_chars(self) -> Option<u64> {
        let counted =
            self.request.output_chars > 0 || self.request.output_tokens.is_none_or(|n| n.get() == 0);
        (counted && self.request.t_send_s.is_some()).then_some(self.request.output_chars)
    }

    fn decode_rate(self) -> Option<f64> {
        let tokens = self.run.decoded_tokens(self.request)?;
        Some(TokensPerSecond::over(tokens, self.request.decode_span()?)?.get())
    }
}

/// The way to a cell.
pub type OfRequest = for<'a> fn(RequestRow<'a>) -> Value<'a>;

/// The columns of a request.
pub const REQUEST: &[Column<OfRequest>] = columns! { OfRequest;
    Count "run_number" "The run, from 1: run 5 pairs with run 5." |r| r.run.number.into();
    Count "cycle" "The cycle of an A/B measurement, from 1." |r| r.run.cycle.into();
    Flag "run_passed" "Whether the run enters the summary: keep only true for figures that agree with the page." |r| r.passed.into();
    Text "run_flags" "Flags of the run, with commas between; null where there is none." |r| joined(&mut r.run.flags.iter().map(String::as_str));
    Text "failed_checks" "Output checks that failed, with commas between; null where there is none." |r| joined(&mut r.run.checks.iter().filter(|c| !c.passed).map(|c| c.name.as_str()));
    Number "run_started_s" "Start of the run, from the start of the submission." |r| r.run.started_s.into();
    Text "rate_convention" "`n` where the decode rate counts the first event's tokens too; null where it leaves them out." |r| (&r.run.rate_convention).into();
    Number "run_gpu_energy_j" "Energy of the accelerators over the whole run; every request of the run repeats it." |r| r.telemetry().and_then(|t| t.gpu_energy_j).into();
    Number "run_cpu_energy_j" "Energy of the CPU packages, likewise." |r| r.telemetry().and_then(|t| t.cpu_energy_j).into();
    Number "run_telemetry_window_s" "The window over which these were read, likewise." |r| r.telemetry().and_then(|t| t.window_s).into();
    Number "run_host_cpu_other_share" "Share of all cores' time that went to neither engine nor client, 0 to 1, likewise." |r| r.telemetry().and_then(|t| t.host_cpu_other_share).into();
    Number "run_gpu_throttled_share" "Share of samples in which an accelerator was throttled, 0 to 1, likewise." |r| r.telemetry().and_then(|t| t.gpu_throttled_share).into();
    Count "stream" "Which of the run's streams, from 0." |r| r.request.stream.into();
    Count "turn" "Turn of a session, from 1." |r| r.request.turn.into();
    Text "run_tag" "The tag that the prompt carried." |r| (&r.request.run_tag).into();
    Text "prompt_sha256" "SHA-256 of the prompt: what proves that two runs pair." |r| (&r.request.prompt_sha256).into();
    Number "t_due_s" "When the request should have started. All `t_` are offsets from the start of the run." |r| r.request.t_due_s.into();
    Number "t_send_s" "Just before it was written." |r| r.request.t_send_s.into();
    Number "t_headers_s" "Response headers read." |r| r.request.t_headers_s.into();
    Number "t_first_s" "First event with generated text." |r| r.request.t_first_s.into();
    Number "t_first_answer_s" "First event with text of the answer, not reasoning." |r| r.request.t_first_answer_s.into();
    Number "t_last_s" "Last event with generated text." |r| r.request.t_last_s.into();
    Number "t_end_s" "End of the stream." |r| r.request.t_end_s.into();
    Number "connect_s" "TCP and TLS set-up, done before `t_send_s`." |r| r.request.connect_s.into();
    Count "http_status" "HTTP status." |r| r.request.status.into();
    Number "ttft_s" "Time to first token: `t_first_s` − `t_send_s`." |r| r.request.ttft().into();
    Number "decode_span_s" "`t_last_s` − `t_first_s`; null with one event." |r| r.request.decode_span().into();
    Number "decoded_tokens" "Tokens that count as decoded inside that span, by the run's convention." |r| r.run.decoded_tokens(r.request).into();
    Number "decode_tok_s" "`decoded_tokens` / `decode_span_s`; null below 1 ms." |r| r.decode_rate().into();
    Count "text_events" "Events that carried text; null where a foreign client did not count." |r| r.text_events().into();
    Number "gap_max_s" "The longest gap between two text events." |r| longest_gap(r.request).into();
    Count "prompt_tokens" "Prompt tokens, cached ones included." |r| r.request.prompt_tokens.into();
    Count "cached_prompt_tokens" "Of them, answered by the prefix cache." |r| r.request.cached_prompt_tokens.into();
    Count "output_tokens" "Generated tokens, reasoning included." |r| r.request.output_tokens.into();
    Count "reasoning_tokens" "Of them, reasoning." |r| r.request.reasoning_tokens.into();
    Count "first_event_tokens" "Tokens in the first event; where null, the rate assumes 1." |r| r.request.first_event_tokens.into();
    Text "token_count_source" "Whose count `output_tokens` is: `usage`, `engine_timings`, `chunk_usage`, `counted_events`." |r| r.request.token_count_source.and_then(count_source).into();
    Text "finish_reason" "Why the engine stopped." |r| (&r.request.finish_reason).into();
    Count "output_chars" "Characters of generated text; null where a foreign client did not count." |r| r.output_chars().into();
    Text "output_sha256" "SHA-256 of the generated text." |r| (&r.request.output_sha256).into();
    Text "error_kind" "How the request failed: `connect`, `first_byte_timeout`, `idle_timeout`, `status`, `mid_stream`, `disconnected`, `no_text`, `protocol`, `unknown`; null where it did not." |r| r.request.error.as_ref().map(|e| error_kind(e.kind)).into();
    Text "error_message" "What happened, in a sentence." |r| r.request.error.as_ref().map(|e| &e.message).into();
    Text "engine_source" "Where the engine's own report was read; the next columns are from there, by the engine's clock." |r| r.engine().map(|e| &e.source).into();
    Count "engine_prompt_tokens" "Prompt tokens processed, cached ones excluded." |r| r.engine().and_then(|e| e.prompt_tokens).into();
    Number "engine_prompt_s" "Time spent on them." |r| r.engine().and_then(|e| e.prompt_s).into();
    Count "engine_cached_tokens" "Prompt tokens from the prefix cache." |r| r.engine().and_then(|e| e.cached_tokens).into();
    Count "engine_output_tokens" "Tokens generated." |r| r.engine().and_then(|e| e.output_tokens).into();
    Number "engine_decode_s" "Time spent generating them." |r| r.engine().and_then(|e| e.decode_s).into();
    Number "engine_ttft_s" "Time to first token." |r| r.engine().and_then(|e| e.ttft_s).into();
    Number "engine_queue_s" "Time in the queue." |r| r.engine().and_then(|e| e.queue_s).into();
    Number "engine_load_s" "Time until the model was ready." |r| r.engine().and_then(|e| e.load_s).into();
    Count "engine_draft_tokens" "Draft tokens proposed." |r| r.engine().and_then(|e| e.draft_tokens).into();
    Count "engine_accepted_tokens" "Draft tokens accepted." |r| r.engine().and_then(|e| e.accepted_tokens).into();
    Count "engine_verify_steps" "Verify steps." |r| r.engine().and_then(|e| e.verify_steps).into();
};

fn joined<'a>(names: &mut dyn Iterator<Item = &'a str>) -> Value<'a> {
    let Some(first) = names.next() else { return Value::Unknown };
    let Some(second) = names.next() else { return first.into() };
    names.fold([first, ",", second].concat(), |text, name| text + "," + name).into()
}

fn longest_gap(request: &RequestRecord) -> Option<f64> {
    let gaps = request.gaps.as_ref()?;
    Some(f64::from(*gaps.ticks.iter().max()?) * gaps.tick_s)
}

const fn count_source(source: TokenCountSource) -> Option<&'static str> {
    match source {
        TokenCountSource::Usage => Some("usage"),
        TokenCountSource::EngineTimings => Some("engine_timings"),
        TokenCountSource::ChunkUsage => Some("chunk_usage"),
        TokenCountSource::CountedEvents => Some("counted_events"),
        TokenCountSource::Unknown => None,
    }
}

/// A failure of a new kind is still a failure, so it has a word.
const fn error_kind(kind: RequestErrorKind) -> &'static str {
    match kind {
        RequestErrorKind::Connect => "connect",
        RequestErrorKind::FirstByteTimeout => "first_byte_timeout",
        RequestErrorKind::IdleTimeout => "idle_timeout",
        RequestErrorKind::Status => "status",
        RequestErrorKind::MidStream => "mid_stream",
        RequestErrorKind::Disconnected => "disconnected",
        RequestErrorKind::NoText => "no_text",
        RequestErrorKind::Protocol => "protocol",
        RequestErrorKind::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use dyno_shared::units::{Seconds, Tokens};

    use super::*;

    fn cell<'a>(name: &str, row: RequestRow<'a>) -> Value<'a> {
        (REQUEST.iter().find(|column| column.heading.name == name).unwrap().cell)(row)
    }

    #[test]
    fn a_request_that_nobody_observed_is_null_and_not_zero() {
        let (run, request) = (Run::default(), RequestRecord::default());
        let row = RequestRow { run: &run, passed: false, request: &request };
        for column in REQUEST {
            let known = ["run_number", "run_passed", "stream", "text_events"].contains(&column.heading.name);
            assert_eq!((column.cell)(row) == Value::Unknown, !known, "{}", column.heading.name);
        }
    }

    #[test]
    fn events_that_a_foreign_client_did_not_count_are_unknown_and_the_rate_is_not() {
        let request = RequestRecord {
            t_send_s: Some(Seconds(0.0)),
            t_first_s: Some(Seconds(0.5)),
            t_last_s: Some(Seconds(2.5)),
            output_tokens: Some(Tokens(101)),
            ..RequestRecord::default()
        };
        let run = Run::default();
        let row = RequestRow { run: &run, passed: true, request: &request };
        assert_eq!(cell("text_events", row), Value::Unknown);
        assert_eq!(cell("output_chars", row), Value::Unknown);
        assert_eq!(cell("decode_tok_s", row), Value::Number(50.0));
        let all = Run { rate_convention: Some("n".into()), ..Run::default() };
        assert_eq!(cell("decode_tok_s", RequestRow { run: &all, ..row }), Value::Number(50.5));
    }

    #[test]
    fn names_are_joined_and_none_is_null() {
        assert_eq!(joined(&mut [].into_iter()), Value::Unknown);
        assert_eq!(joined(&mut ["a", "b", "c"].into_iter()), Value::from("a,b,c"));
    }
}
