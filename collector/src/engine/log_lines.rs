//! The lines in which SGLang and FreeToken log their batches, for the figures that no route of theirs tells.
//!
//! No accelerator was at hand, so the tests read lines from their documentation and from logs that users published.

use dyno_shared::submission::EngineCounters;
use dyno_shared::system::{Setting, Sourced};

use super::effective::BANDWIDTH_PROFILE;

/// The name of a log as a source of counters and settings.
pub const SOURCE: &str = "log";

/// One line about a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BatchLine {
    /// Prompts, or pieces of them.
    Prefill(PrefillBatch),
    /// Some steps of decode (40 unless the engine was told otherwise).
    Decode(DecodeBatch),
}

/// What a line says of a prefill.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PrefillBatch {
    /// Requests whose prompt is in it.
    pub new_requests: Option<f64>,
    /// Prompt tokens computed.
    pub new_tokens: Option<f64>,
    /// Prompt tokens taken from the prefix cache.
    pub cached_tokens: Option<f64>,
    /// Requests that run.
    pub running: Option<f64>,
    /// Requests that wait.
    pub queued: Option<f64>,
    /// Tokens per second since the line before, all waiting in between included.
    pub tok_s: Option<f64>,
}

/// What a line says of decode.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DecodeBatch {
    /// Requests that run.
    pub running: Option<f64>,
    /// Requests that wait.
    pub queued: Option<f64>,
    /// Tokens per second of all requests together since the line before, all waiting in between included.
    pub tok_s: Option<f64>,
}

/// Reads one line, whatever stands before the batch: time, rank, colours. `None` where it is about something else.
pub fn line(text: &str) -> Option<BatchLine> {
    let after = |words: &str| {
        let (_, rest) = text.split_once(words)?;
        // `Prefill batch, #…`, `Prefill batch. #…`, `Prefill batch [12], #…`.
        rest.starts_with([',', '.', ' ', ':']).then(|| rest.split_once('#').map(|(_, fields)| fields))?
    };
    if let Some(fields) = after("Prefill batch") {
        let of = |name: &str| field(fields, name);
        return Some(BatchLine::Prefill(PrefillBatch {
            new_requests: of("new-seq"),
            new_tokens: of("new-token"),
            cached_tokens: of("cached-token"),
            running: of("running-req"),
            queued: of("queue-req"),
            tok_s: of("input throughput (token/s)"),
        }));
    }
    let fields = after("Decode batch")?;
    let of = |name: &str| field(fields, name);
    Some(BatchLine::Decode(DecodeBatch {
        running: of("running-req"),
        queued: of("queue-req"),
        tok_s: of("gen throughput (token/s)"),
    }))
}

/// The number after `name: `.
fn field(fields: &str, name: &str) -> Option<f64> {
    let (_, value) = fields.split(", ").find_map(|field| {
        let (found, value) = field.split_once(": ")?;
        (found.trim().trim_start_matches('#') == name).then_some((found, value))
    })?;
    // A colour may be switched off at the end of the line.
    let end = value.find(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | '+' | '-')).unwrap_or(value.len());
    value.get(..end)?.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// The counters of a run from what the engine logged over it; `None` where there is no line about a batch.
///
/// A rate is taken only from a line that follows one of its own kind: any other covers what happened between, such as the
/// wait for the run, and is not the rate of a batch. So a prompt of one piece tells no rate of prefill, and a short answer
/// none of decode. Decode is told per stream: steps of `r` requests at `f` tok/s together take `r`/`f` s each, so over the
/// lines it is Σ r / Σ (r²/f).
pub fn counters(log: &str) -> Option<EngineCounters> {
    let batches: Vec<BatchLine> = log.lines().filter_map(line).collect();
    if batches.is_empty() {
        return None;
    }
    let prefills = || {
        batches.iter().filter_map(|batch| match batch {
            BatchLine::Prefill(prefill) => Some(prefill),
            BatchLine::Decode(_) => None,
        })
    };
    let (mut prefill, mut decode) = (Ratio::default(), Ratio::default());
    for pair in batches.windows(2) {
        match pair {
            [BatchLine::Prefill(_), BatchLine::Prefill(PrefillBatch { new_tokens: Some(tokens), tok_s: Some(rate), .. })] => {
                prefill.add(*tokens, tokens / rate);
            }
            [BatchLine::Decode(before), BatchLine::Decode(DecodeBatch { running: Some(streams), tok_s: Some(rate), .. })]
                // Else some request came or went in between.
                if before.running == Some(*streams) =>
            {
                decode.add(*streams, streams * streams / rate);
            }
            _ => {}
        }
    }
    // An unknown in one line leaves the sum unknown.
    let sum =
        |of: fn(&PrefillBatch) -> Option<f64>| prefills().map(of).reduce(|a, b| Some(a? + b?)).flatten();
    Some(EngineCounters {
        source: SOURCE.to_owned(),
        prompt_tokens: sum(|batch| batch.new_tokens),
        cached_tokens: sum(|batch| batch.cached_tokens),
        stated_prefill_tok_s: prefill.value(),
        stated_decode_tok_s: decode.value(),
        ..EngineCounters::default()
    })
}

/// Fills what no route told with what the log tells, and names both as the source.
pub fn complete(told: Option<EngineCounters>, log: &str) -> Option<EngineCounters> {
    let (mut told, logged) = match (told, counters(log)) {
        (Some(told), Some(logged)) => (told, logged),
        (told, logged) => return told.or(logged),
    };
    let before = told.clone();
    told.prompt_tokens = told.prompt_tokens.or(logged.prompt_tokens);
    told.cached_tokens = told.cached_tokens.or(logged.cached_tokens);
    // Where tokens and time are known there is a rate already.
    if told.decode_s.is_none() {
        told.stated_decode_tok_s = told.stated_decode_tok_s.or(logged.stated_decode_tok_s);
    }
    if told.prompt_s.is_none() {
        told.stated_prefill_tok_s = told.stated_prefill_tok_s.or(logged.stated_prefill_tok_s);
    }
    if told != before {
        told.source = format!("{}, {SOURCE}", told.source);
    }
    Some(told)
}

/// What the log of a start says of the configuration, by key of [`super::effective::KEYS`].
pub fn effective(log: &str) -> Vec<(&'static str, Sourced)> {
    let said = |value: bool| Sourced { value: Setting::Flag(value), source: SOURCE.to_owned() };
    // FreeToken says nothing of a profile that it found.
    let missed = log.lines().any(|line| line.contains("no usable ft bench bw profile"));
    if missed { vec![(BANDWIDTH_PROFILE, said(false))] } else { Vec::new() }
}

#[derive(Default)]
struct Ratio {
    amount: f64,
    over: f64,
}

impl Ratio {
    fn add(&mut self, amount: f64, over: f64) {
        // A line that gives 0 tok/s tells no span.
        if amount > 0.0 && over.is_finite() && over > 0.0 {
            self.amount += amount;
            self.over += over;
        }
    }

    fn value(&self) -> Option<f64> {
        (self.over > 0.0).then(|| self.amount / self.over).filter(|rate| rate.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RUN: &str = "\
[2026-04-18 23:02:14] Prefill batch, #new-seq: 1, #new-token: 2048, #cached-token: 512, full token usage: 0.36, mamba usage: 0.03, #running-req: 0, #queue-req: 0, cuda graph: False, input throughput (token/s): 2.06
[2026-04-18 23:02:15] Prefill batch, #new-seq: 1, #new-token: 2048, #cached-token: 0, token usage: 0.36, #running-req: 0, #queue-req: 1, input throughput (token/s): 4096.00
[2026-04-18 23:02:15] INFO:     172.18.0.1:45748 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK
[2026-04-18 23:02:15 TP0] Decode batch, #running-req: 1, #full token: 95186, full token usage: 0.36, cuda graph: True, gen throughput (token/s): 0.14, #queue-req: 0
[2026-04-18 23:02:15 TP0] Decode batch, #running-req: 1, #token: 73, token usage: 0.00, cuda graph: True, gen throughput (token/s): 80.00, #queue-req: 0
[2026-04-18 23:02:16 TP0] Decode batch, #running-req: 1, #token: 113, token usage: 0.00, accept len: 2.70, cuda graph: True, gen throughput (token/s): 120.00, #queue-req: 0
";

    #[test]
    fn a_line_that_covers_a_wait_is_no_rate() {
        let counted = counters(RUN).unwrap();
        assert_eq!(
            (counted.source.as_str(), counted.prompt_tokens, counted.cached_tokens),
            ("log", Some(4_096.0), Some(512.0))
        );
        assert_eq!(counted.stated_prefill_tok_s, Some(4_096.0), "the first line waited for the run");
        assert!((counted.stated_decode_tok_s.unwrap() - 96.0).abs() < 1e-9, "equal steps: the harmonic mean");
        assert_eq!(counters("INFO: nothing here\n"), None);
    }

    #[test]
    fn streams_of_one_batch_share_its_rate() {
        let decode = |streams: u32, rate: f64| {
            format!(
                "Decode batch, #running-req: {streams}, #token: 9, token usage: 0.01, gen throughput (token/s): {rate}, #queue-req: 0\n"
            )
        };
        let counted =
            counters(&[decode(4, 1.0), decode(4, 200.0), decode(4, 200.0), decode(2, 150.0)].concat())
                .unwrap();
        assert_eq!(
            counted.stated_decode_tok_s,
            Some(50.0),
            "the line on which two streams had gone is left out"
        );
        assert_eq!(counters(&decode(1, 50.0)).unwrap().stated_decode_tok_s, None);
        let silent = counters(&[decode(1, 50.0), decode(1, 0.0)].concat()).unwrap();
        assert_eq!(silent.stated_decode_tok_s, None, "no rate over nothing");
    }

    #[test]
    fn prefixes_colours_and_older_punctuation_do_not_matter() {
        let coloured = "\u{1b}[32mINFO\u{1b}[0m 11:02 Decode batch. #running-req: 3, #token: 9, token usage: 0.01, \
                        #queue-req: 2, gen throughput (token/s): 77.90\u{1b}[0m";
        assert_eq!(
            line(coloured),
            Some(BatchLine::Decode(DecodeBatch { running: Some(3.0), queued: Some(2.0), tok_s: Some(77.9) }))
        );
        let numbered =
            line("Prefill batch [12], #new-seq: 2, #new-token: 7, input throughput (token/s): 2.5");
        assert!(matches!(
            numbered,
            Some(BatchLine::Prefill(PrefillBatch { new_tokens: Some(7.0), cached_tokens: None, .. }))
        ));
        assert_eq!(line("Prefill rank batch, #new-token: 16384"), None);
        assert_eq!(line("Prefill batches are logged"), None);
    }

    #[test]
    fn a_log_tells_only_what_no_route_told() {
        let by_stats = EngineCounters {
            source: "/v1/stats".into(),
            output_tokens: Some(160.0),
            ..EngineCounters::default()
        };
        let both = complete(Some(by_stats.clone()), RUN).unwrap();
        assert_eq!((both.source.as_str(), both.output_tokens), ("/v1/stats, log", Some(160.0)));
        assert!((both.stated_decode_tok_s.unwrap() - 96.0).abs() < 1e-9);
        let timed = EngineCounters {
            source: "/metrics".into(),
            prompt_tokens: Some(1.0),
            cached_tokens: Some(0.0),
            prompt_s: Some(dyno_shared::units::Seconds(1.0)),
            decode_s: Some(dyno_shared::units::Seconds(1.0)),
            ..EngineCounters::default()
        };
        assert_eq!(complete(Some(timed.clone()), RUN), Some(timed));
        assert_eq!(complete(Some(by_stats.clone()), "nothing\n"), Some(by_stats));
        assert_eq!(complete(None, RUN), counters(RUN));
    }

    #[test]
    fn a_missing_bandwidth_profile_is_said() {
        let log =
            "WARNING no usable ft bench bw profile for nvfp4: hybrid runs with a fixed fetch cap of 1\n";
        let said = effective(log);
        assert_eq!((said[0].0, &said[0].1.value), (BANDWIDTH_PROFILE, &Setting::Flag(false)));
        assert!(effective("ready\n").is_empty());
    }

    proptest! {
        #[test]
        fn no_log_panics(text in "(Prefill|Decode|, | batch|#|: |running-req|gen throughput \\(token/s\\)|[0-9.e+-]|🦊|\n){0,40}") {
            let counted = counters(&text);
            prop_assert!(counted.is_none_or(|c| c.stated_decode_tok_s.is_none_or(|rate| rate > 0.0)));
        }
    }
}
