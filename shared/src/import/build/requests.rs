//! Raw requests from what other clients keep of them.

use crate::record::{Gaps, RequestError, RequestErrorKind, RequestRecord, TokenCountSource};
use crate::submission::Run;
use crate::units::{Seconds, Tokens};

/// What a client kept of one request that was answered.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// When it was sent, in seconds on the clock of its run.
    pub sent_s: f64,
    /// From there to the first event.
    pub ttft_s: Option<f64>,
    /// Gaps between the events after it, where they were kept.
    pub gaps_s: Option<Vec<f64>>,
    /// From there to the last event, where the gaps do not say.
    pub latency_s: Option<f64>,
    /// Prompt tokens.
    pub prompt_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Whose count that is.
    pub source: Option<TokenCountSource>,
}

/// A request that was answered. A time to first token of 0 is one that nobody saw.
pub fn request(of: &Stream) -> RequestRecord {
    let sent = Seconds(of.sent_s);
    let first = of.ttft_s.filter(|ttft| ttft.is_finite() && *ttft > 0.0).map(|ttft| sent + Seconds(ttft));
    let mut arrivals: Vec<Seconds> = Vec::new();
    if let (Some(first), Some(gaps)) = (first, &of.gaps_s) {
        let mut at = first;
        arrivals.push(at);
        for gap in gaps {
            at = at + Seconds(gap.max(0.0));
            arrivals.push(at);
        }
    }
    let by_latency = of.latency_s.filter(|latency| latency.is_finite()).map(|s| sent + Seconds(s));
    let last = arrivals.last().copied().or(by_latency).filter(|last| first.is_none_or(|f| *last >= f));
    RequestRecord {
        t_send_s: Some(sent),
        t_first_s: first,
        t_last_s: last,
        // Without gaps the events were not counted.
        text_events: arrivals.len() as u64,
        gaps: Gaps::from_arrivals(&arrivals),
        prompt_tokens: of.prompt_tokens.map(Tokens),
        output_tokens: of.output_tokens.map(Tokens),
        token_count_source: of.output_tokens.and(of.source),
        ..RequestRecord::default()
    }
}

/// A request that failed, with the last line of what the client kept of its error: tracebacks end with the reason.
pub fn failed(sent_s: Option<f64>, error: &str) -> RequestRecord {
    let reason = error.trim().rsplit('\n').next().map(str::trim).unwrap_or_default();
    let says = |word: &str| error.to_ascii_lowercase().contains(word);
    let kind = if says("disconnect") || says("reset by peer") || says("payload is not completed") {
        RequestErrorKind::Disconnected
    } else if says("cannot connect") || says("refused") {
        RequestErrorKind::Connect
    } else if says("timeout") || says("timed out") {
        RequestErrorKind::FirstByteTimeout
    } else {
        RequestErrorKind::Unknown
    };
    let message = if reason.is_empty() { "failed, and the file does not say why" } else { reason };
    RequestRecord {
        t_send_s: sent_s.map(Seconds),
        error: Some(RequestError { kind, message: message.chars().take(500).collect() }),
        ..RequestRecord::default()
    }
}

/// A run of these requests, its clock at 0 where the first is sent, each on the first stream that is free then.
pub fn run(number: u32, mut requests: Vec<RequestRecord>) -> Run {
    let sent = |request: &RequestRecord| request.t_send_s.map_or(f64::INFINITY, Seconds::get);
    requests.sort_by(|a, b| sent(a).total_cmp(&sent(b)));
    let start = requests.first().map(sent).filter(|start| start.is_finite()).unwrap_or(0.0);
    let mut free: Vec<f64> = Vec::new();
    for request in &mut requests {
        for time in [
            &mut request.t_due_s,
            &mut request.t_send_s,
            &mut request.t_headers_s,
            &mut request.t_first_s,
            &mut request.t_first_answer_s,
            &mut request.t_last_s,
            &mut request.t_end_s,
        ] {
            *time = time.map(|time| time - Seconds(start));
        }
        let Some(begin) = request.t_send_s else { continue };
        let end = request.t_end_s.or(request.t_last_s).or(request.t_first_s).unwrap_or(begin).get();
        let stream = free.iter().position(|until| *until <= begin.get()).unwrap_or(free.len());
        match free.get_mut(stream) {
            Some(until) => *until = end,
            None => free.push(end),
        }
        request.stream = stream as u32;
    }
    Run { number, requests, ..Run::default() }
}

/// The runs of a benchmark.
///
/// One stream: a run for each request. Several: one batch with all that were answered, and one with those that were
/// not, because no figure is computed from a batch in which a request failed.
pub fn runs_of(concurrency: u32, requests: Vec<RequestRecord>) -> Vec<Run> {
    if concurrency <= 1 {
        return requests.into_iter().zip(1..).map(|(request, number)| run(number, vec![request])).collect();
    }
    let (answered, failed): (Vec<_>, Vec<_>) = requests.into_iter().partition(|r| r.error.is_none());
    [answered, failed]
        .into_iter()
        .filter(|part| !part.is_empty())
        .zip(1..)
        .map(|(part, n)| run(n, part))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_come_from_the_gaps_and_the_clock_starts_with_the_first_request() {
        let stream = |sent_s| {
            request(&Stream {
                sent_s,
                ttft_s: Some(0.5),
                gaps_s: Some(vec![0.25, 0.25]),
                ..Stream::default()
            })
        };
        let run = run(1, vec![stream(101.0), stream(100.0), stream(100.5)]);
        let facts: Vec<(u32, f64, f64)> =
            run.requests.iter().map(|r| (r.stream, r.t_send_s.unwrap().0, r.t_last_s.unwrap().0)).collect();
        assert_eq!(facts, [(0, 0.0, 1.0), (1, 0.5, 1.5), (0, 1.0, 2.0)]);
        assert_eq!((run.requests[0].text_events, run.requests[0].gaps.as_ref().unwrap().ticks.len()), (3, 2));
    }

    #[test]
    fn a_failed_request_keeps_the_last_line_of_its_traceback_and_no_time() {
        let record = failed(
            Some(1.0),
            "Traceback:\n  File \"x\"\naiohttp.ServerDisconnectedError: Server disconnected\n",
        );
        let error = record.error.unwrap();
        assert_eq!(error.kind, RequestErrorKind::Disconnected);
        assert_eq!(error.message, "aiohttp.ServerDisconnectedError: Server disconnected");
        assert_eq!((record.t_first_s, record.output_tokens), (None, None));
    }

    #[test]
    fn a_batch_with_failures_keeps_them_in_a_run_of_their_own() {
        let answered = || request(&Stream { ttft_s: Some(0.5), ..Stream::default() });
        let runs = runs_of(2, vec![answered(), failed(Some(0.0), ""), answered()]);
        let found: Vec<(u32, usize, bool)> =
            runs.iter().map(|r| (r.number, r.requests.len(), r.passed())).collect();
        assert_eq!(found, [(1, 2, true), (2, 1, false)]);
        assert_eq!(runs_of(1, vec![answered(), failed(None, "x"), answered()]).len(), 3);
    }

    #[test]
    fn a_time_to_first_token_that_nobody_saw_is_unknown() {
        let record = request(&Stream { ttft_s: Some(0.0), latency_s: Some(2.0), ..Stream::default() });
        assert_eq!((record.t_first_s, record.text_events), (None, 0));
    }
}
