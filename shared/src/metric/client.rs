//! Metrics of the client's wall clock.

use super::{Better, Family, Metric, Sample};
use crate::record::RequestRecord;
use crate::submission::Run;
use crate::units::{Seconds, Tokens, TokensPerSecond, Unit};

pub(super) const TTFT: Metric = Metric {
    tag: "client_wall_ttft_s",
    title: "time to first token",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "t_first − t_send",
    meaning: "From just before the request is written to the first event that carries generated text, \
              reasoning included. The connection is open before. Includes the engine's queue and the network.",
    sample: |run| mean_over_requests(run, |r| r.ttft().map(Seconds::get)),
};

pub(super) const PREFILL: Metric = Metric {
    tag: "client_wall_prefill_tok_s",
    title: "prefill rate",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Client,
    formula: "uncached prompt tokens / (t_first − t_send)",
    meaning: "Prompt tokens that no cache answered, over the time to first token. Includes the queue, the network \
              and the fixed overhead, so that short prompts look slow.",
    sample: |run| rate_over_requests(run, |r| Some((r.uncached_prompt_tokens()?, r.ttft()?))),
};

pub(super) const DECODE: Metric = Metric {
    tag: "client_wall_decode_tok_s",
    title: "decode rate",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Client,
    formula: "(output_tokens − first_event_tokens) / (t_last − t_first)",
    meaning: "Per stream. Tokens after the first event, over the span from the first to the last text event: \
              prefill and time to first token are not in it. Other streams' prefill is, where the engine interleaves.",
    sample: |run| rate_over_requests(run, |r| Some((run.decoded_tokens(r)?, r.decode_span()?))),
};

pub(super) const E2E: Metric = Metric {
    tag: "client_wall_e2e_s",
    title: "request latency",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "t_last − t_send",
    meaning: "From just before the request is written to the last generated text.",
    sample: |run| mean_over_requests(run, |r| Some((r.t_last_s? - r.t_send_s?).0)),
};

pub(super) const GAP: Metric = Metric {
    tag: "client_wall_gap_s",
    title: "inter-token latency, per event",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "(t_last − t_first) / (text events − 1)",
    meaning: "Mean gap between text events. An event may carry several tokens, so bursts make it long.",
    sample: |run| {
        rate(run, |r| {
            let gaps = r.text_events.checked_sub(1).filter(|&n| n > 0)?;
            Some((r.decode_span()?.0, gaps as f64))
        })
    },
};

pub(super) const TOKEN_GAP: Metric = Metric {
    tag: "client_wall_token_gap_s",
    title: "inter-token latency, per token",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "(t_last − t_first) / (output_tokens − first_event_tokens)",
    meaning: "Mean time per token after the first event: the reciprocal of the decode rate.",
    sample: |run| {
        rate(run, |r| {
            let (tokens, span) = (run.decoded_tokens(r)?, r.decode_span()?);
            TokensPerSecond::over(tokens, span)?;
            Some((span.0, tokens))
        })
    },
};

pub(super) const AGGREGATE: Metric = Metric {
    tag: "client_wall_aggregate_tok_s",
    title: "aggregate rate",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Client,
    formula: "Σ output_tokens / (last t_last − first t_send)",
    meaning: "All output tokens of a batch over its whole wall time, prefill included.",
    sample: |run| batch_rate(run, |r| r.t_send_s),
};

pub(super) const BATCH_DECODE: Metric = Metric {
    tag: "client_wall_batch_decode_tok_s",
    title: "batch decode rate",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Client,
    formula: "Σ output_tokens / (last t_last − first t_first)",
    meaning: "All output tokens of a batch from its first token on.",
    sample: |run| batch_rate(run, |r| r.t_first_s),
};

pub(super) const STEADY: Metric = Metric {
    tag: "client_wall_steady_tok_s",
    title: "steady rate",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Client,
    formula: "output tokens inside the window where every stream decodes / that window",
    meaning: "The window runs from the last stream's first token to the first stream's last one. Unknown where it is \
              under 20 % of the batch or under 1 s. Comparable with an engine's decode-batch counter.",
    sample: steady,
};

pub(super) const TWO_LENGTH: Metric = Metric {
    tag: "client_wall_two_length_decode_tok_s",
    title: "decode rate from two lengths",
    unit: Unit::TokensPerSecond,
    better: Better::Higher,
    family: Family::Client,
    formula: "(n − 1) / (t_n − t_1)",
    meaning: "The same prompt timed at two output lengths, 1 and n tokens, so that prefill cancels. Works without \
              streaming. Both requests are preceded by the same priming, so that they share no cache state.",
    sample: two_length,
};

pub(super) const CONNECT: Metric = Metric {
    tag: "client_wall_connect_s",
    title: "connection set-up",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "TCP and TLS set-up, before t_send",
    meaning: "Never part of the time to first token.",
    sample: |run| mean_over_requests(run, |r| r.connect_s.map(Seconds::get)),
};

pub(super) const QUEUE: Metric = Metric {
    tag: "client_wall_queue_s",
    title: "our own lateness",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "t_send − t_due",
    meaning: "How late the client itself was. Always published.",
    sample: |run| mean_over_requests(run, |r| Some((r.t_send_s? - r.t_due_s?).0)),
};

pub(super) const LATENCY_FROM_DUE: Metric = Metric {
    tag: "client_wall_latency_from_due_s",
    title: "latency from the schedule",
    unit: Unit::Seconds,
    better: Better::Lower,
    family: Family::Client,
    formula: "t_last − t_due",
    meaning: "Of an open loop: from when the request was due to the last generated text. What waits for its turn, in \
              our queue or the engine's, is in it, so that a slow engine does not hide by being asked less.",
    sample: |run| mean_over_requests(run, |r| Some((r.t_last_s? - r.t_due_s?).0)),
};

/// Σ tokens / Σ seconds over the run's requests; `None` unless every request tells and the rate is plausible.
fn rate_over_requests(run: &Run, of: impl Fn(&RequestRecord) -> Option<(f64, Seconds)>) -> Option<Sample> {
    rate(run, |r| {
        let (tokens, span) = of(r)?;
        TokensPerSecond::over(tokens, span)?;
        Some((tokens, span.0))
    })
}

/// Σ amount / Σ divisor over the run's requests; `None` unless every request tells.
fn rate(run: &Run, of: impl Fn(&RequestRecord) -> Option<(f64, f64)>) -> Option<Sample> {
    let mut total = (0.0, 0.0);
    for request in &run.requests {
        let (amount, over) = of(request)?;
        total = (total.0 + amount, total.1 + over);
    }
    (total.0 > 0.0 && total.1 > 0.0).then_some(Sample::Rate { amount: total.0, over: total.1 })
}

/// Mean over the run's requests; `None` unless every request tells.
fn mean_over_requests(run: &Run, of: impl Fn(&RequestRecord) -> Option<f64>) -> Option<Sample> {
    let mut sum = 0.0;
    for request in &run.requests {
        sum += of(request)?;
    }
    (!run.requests.is_empty()).then(|| Sample::Value(sum / run.requests.len() as f64))
}

/// All output tokens over the span from the earliest `start` to the latest `t_last`; only for batches.
fn batch_rate(run: &Run, start: impl Fn(&RequestRecord) -> Option<Seconds>) -> Option<Sample> {
    let (mut tokens, mut first, mut last) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    for request in &run.requests {
        tokens += request.output_tokens.map(Tokens::get)? as f64;
        first = first.min(start(request)?.0);
        last = last.max(request.t_last_s?.0);
    }
    TokensPerSecond::over(tokens, Seconds(last - first))?;
    Some(Sample::Rate { amount: tokens, over: last - first })
}

/// See [`STEADY`]. Tokens are spread over the events as the server told, else evenly over the events after the first.
fn steady(run: &Run) -> Option<Sample> {
    if run.requests.len() < 2 {
        return None;
    }
    let (mut open, mut close) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut start, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
    for request in &run.requests {
        let (first, last) = (request.t_first_s?.0, request.t_last_s?.0);
        open = open.max(first);
        close = close.min(last);
        start = start.min(request.t_send_s?.0);
        end = end.max(last);
    }
    let window = close - open;
    if window < 1.0 || window < 0.2 * (end - start) {
        return None;
    }
    let mut tokens = 0.0;
    for request in &run.requests {
        let arrivals = request.arrivals();
        if arrivals.len() as u64 != request.text_events || arrivals.len() < 2 {
            return None;
        }
        let evenly = request.decoded_tokens()? / (arrivals.len() - 1) as f64;
        for (i, at) in arrivals.iter().enumerate().skip(1) {
            if *at > open && *at <= close {
                tokens += request
                    .event_tokens
                    .as_ref()
                    .and_then(|per_event| per_event.get(i))
                    .map_or(evenly, |&n| f64::from(n));
            }
        }
    }
    TokensPerSecond::over(tokens, Seconds(window))?;
    Some(Sample::Rate { amount: tokens, over: window })
}

/// See [`TWO_LENGTH`]: a run of exactly two requests of one prompt, one of which has one output token.
fn two_length(run: &Run) -> Option<Sample> {
    let [a, b] = run.requests.as_slice() else { return None };
    let tokens = |r: &RequestRecord| r.output_tokens.map(Tokens::get);
    let (one, many) = if tokens(a)? <= tokens(b)? { (a, b) } else { (b, a) };
    let same_prompt = one.prompt_sha256.is_some() && one.prompt_sha256 == many.prompt_sha256;
    if !same_prompt || tokens(one)? != 1 {
        return None;
    }
    let took = |r: &RequestRecord| Some((r.t_end_s? - r.t_send_s?).0);
    let (rest, longer) = ((tokens(many)? - 1) as f64, took(many)? - took(one)?);
    TokensPerSecond::over(rest, Seconds(longer))?;
    Some(Sample::Rate { amount: rest, over: longer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Gaps;
    use crate::testing::run;

    fn figure(metric: &Metric, run: &Run) -> Option<f64> {
        (metric.sample)(run)?.figure()
    }

    fn close(value: Option<f64>, expected: f64) {
        let value = value.expect("a figure");
        assert!((value - expected).abs() < 1e-6 * expected.abs(), "{value} is not {expected}");
    }

    /// Two streams of one token per event every 10 ms; the second starts 1 s later.
    fn staggered() -> Run {
        let mut both = run(1, 301, 3.0);
        let first = both.requests[0].clone();
        both.requests.push(first);
        for (request, begin) in both.requests.iter_mut().zip([0.5, 1.5]) {
            let arrivals: Vec<Seconds> = (0..=300).map(|i| Seconds(begin + 0.01 * f64::from(i))).collect();
            request.t_first_s = arrivals.first().copied();
            request.t_last_s = arrivals.last().copied();
            request.text_events = 301;
            request.gaps = Gaps::from_arrivals(&arrivals);
        }
        both
    }

    #[test]
    fn decode_leaves_out_the_tokens_of_the_first_event() {
        let mut one = run(1, 512, 5.11);
        close(figure(&DECODE, &one), 100.0);
        one.requests[0].first_event_tokens = Some(Tokens(5));
        close(figure(&DECODE, &one), 507.0 / 5.11);
    }

    #[test]
    fn prefill_counts_only_what_no_cache_answered() {
        let mut one = run(1, 512, 5.0);
        close(figure(&PREFILL, &one), 200.0);
        one.requests[0].cached_prompt_tokens = Some(Tokens(25));
        close(figure(&PREFILL, &one), 100.0);
        one.requests[0].cached_prompt_tokens = Some(Tokens(50));
        assert_eq!(figure(&PREFILL, &one), None);
    }

    #[test]
    fn an_implausible_span_has_no_rate() {
        let mut one = run(1, 512, 0.000_5);
        assert_eq!(figure(&DECODE, &one), None);
        one = run(1, 512, 5.0);
        one.requests[0].text_events = 1;
        assert_eq!(figure(&DECODE, &one), None);
    }

    #[test]
    fn aggregate_batch_and_steady_each_have_their_own_window() {
        let both = staggered();
        close(figure(&AGGREGATE, &both), 602.0 / 4.5);
        close(figure(&BATCH_DECODE, &both), 602.0 / 4.0);
        let steady = figure(&STEADY, &both).expect("a window of 2 s");
        assert!((steady - 200.0).abs() < 1.0, "{steady}");
        close(figure(&DECODE, &both), 100.0);
    }

    #[test]
    fn a_short_steady_window_is_unknown() {
        let mut both = staggered();
        both.requests[1].t_first_s = Some(Seconds(3.0));
        both.requests[1].t_last_s = Some(Seconds(6.0));
        assert_eq!(figure(&STEADY, &both), None);
    }

    #[test]
    fn a_batch_in_which_one_stream_tells_nothing_has_no_figure() {
        let mut both = staggered();
        both.requests[1].output_tokens = None;
        for metric in [&DECODE, &AGGREGATE, &BATCH_DECODE, &STEADY] {
            assert_eq!(figure(metric, &both), None, "{}", metric.tag);
        }
    }

    #[test]
    fn two_lengths_of_one_prompt_cancel_the_prefill() {
        let mut both = run(1, 1, 0.5);
        both.requests.push(run(1, 101, 2.5).requests.remove(0));
        assert_eq!(figure(&TWO_LENGTH, &both), None, "nothing says that the prompts are the same");
        for request in &mut both.requests {
            request.prompt_sha256 = Some("ab".into());
        }
        close(figure(&TWO_LENGTH, &both), 50.0);
        both.requests.swap(0, 1);
        close(figure(&TWO_LENGTH, &both), 50.0);
        both.requests[1].output_tokens = Some(Tokens(2));
        assert_eq!(figure(&TWO_LENGTH, &both), None);
    }
}
