//! The distribution of a case's inter-token latency, between events and per token.

use crate::record::{Gaps, RequestRecord, TokenCountSource};
use crate::statistics::quantile::{quantile_of_sorted, sorted};
use crate::submission::{Case, Run};
use crate::units::Tokens;

/// Quantiles of a latency in seconds (type 7) over everything that the passing runs of a case observed. The values of
/// one run depend on each other, so there is no interval beside them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiles {
    /// Half of the values are below.
    pub p50: f64,
    /// 90 % are.
    pub p90: f64,
    /// 99 % are.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// Values.
    pub n: u64,
}

/// Inter-token latency of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapDistribution {
    /// Between one text event and the next, whatever they carry.
    pub per_event: Quantiles,
    /// Gap / tokens in the later event, once for each of its tokens. Unknown where the server does not say how many
    /// tokens its events carry.
    pub per_token: Option<Quantiles>,
}

/// The distribution over the passing runs; `None` where no gap was observed.
pub fn gap_distribution(case: &Case) -> Option<GapDistribution> {
    let requests = || case.runs.iter().filter(|run| run.passed()).flat_map(requests_of);
    let per_event: Vec<f64> = requests().filter_map(|r| r.gaps.as_ref()).flat_map(Gaps::seconds).collect();
    let mut per_token = Some(Vec::new());
    for request in requests() {
        per_token = per_token.zip(token_gaps(request)).map(|(mut all, of_request)| {
            all.extend(of_request);
            all
        });
    }
    Some(GapDistribution {
        per_event: Quantiles::of(&per_event)?,
        per_token: per_token.as_deref().and_then(Quantiles::of),
    })
}

fn requests_of(run: &Run) -> &[RequestRecord] {
    &run.requests
}

impl Quantiles {
    fn of(values: &[f64]) -> Option<Self> {
        let ascending = sorted(values)?;
        let at = |q| quantile_of_sorted(&ascending, q);
        Some(Self {
            p50: at(0.5)?,
            p90: at(0.9)?,
            p99: at(0.99)?,
            max: *ascending.last()?,
            n: ascending.len() as u64,
        })
    }
}

/// One value for each token after the first event; `None` where the server does not tell the tokens of its events.
fn token_gaps(request: &RequestRecord) -> Option<Vec<f64>> {
    let Some(gaps) = &request.gaps else { return Some(Vec::new()) };
    if let Some(tokens) = &request.event_tokens {
        if tokens.len() != gaps.ticks.len() + 1 {
            return None;
        }
        let of_event = |(gap, &tokens): (f64, &u32)| {
            std::iter::repeat_n(gap / f64::from(tokens.max(1)), tokens as usize)
        };
        return Some(gaps.seconds().zip(tokens.iter().skip(1)).flat_map(of_event).collect());
    }
    // Without a list each event carried one token, if the counts agree with that. Counted events always would.
    let counted = request.token_count_source == Some(TokenCountSource::CountedEvents);
    let agrees = request.output_tokens.map(Tokens::get) == Some(request.text_events);
    (agrees && !counted).then(|| gaps.seconds().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run, single_stream_case};

    fn case(gaps_ms: &[u32], tokens: Option<&[u32]>) -> Case {
        let mut one = run(1, 5, 1.0);
        let request = &mut one.requests[0];
        request.text_events = gaps_ms.len() as u64 + 1;
        request.output_tokens =
            Some(Tokens(tokens.map_or(request.text_events, |t| t.iter().map(|&n| u64::from(n)).sum())));
        request.gaps = Some(Gaps { tick_s: 1e-3, ticks: gaps_ms.to_vec() });
        request.event_tokens = tokens.map(<[u32]>::to_vec);
        request.token_count_source = Some(TokenCountSource::Usage);
        let mut case = single_stream_case("code", &[]);
        case.runs = vec![one];
        case
    }

    #[test]
    fn a_burst_is_divided_by_its_tokens_and_counts_once_for_each() {
        let found = gap_distribution(&case(&[40, 10], Some(&[1, 4, 1]))).unwrap();
        assert_eq!((found.per_event.n, found.per_event.max), (2, 0.04));
        let per_token = found.per_token.unwrap();
        assert_eq!((per_token.n, per_token.max, per_token.p50), (5, 0.01, 0.01));
    }

    #[test]
    fn where_counts_and_events_disagree_the_gap_per_token_is_unknown() {
        let mut coalesced = case(&[20, 20, 20], None);
        assert!(gap_distribution(&coalesced).unwrap().per_token.is_some());
        coalesced.runs[0].requests[0].output_tokens = Some(Tokens(9));
        assert_eq!(gap_distribution(&coalesced).unwrap().per_token, None);
        let mut counted = case(&[20, 20, 20], None);
        counted.runs[0].requests[0].token_count_source = Some(TokenCountSource::CountedEvents);
        assert_eq!(gap_distribution(&counted).unwrap().per_token, None);
    }

    #[test]
    fn failed_runs_and_runs_without_gaps_give_nothing() {
        let mut failed = case(&[20, 20], None);
        failed.runs[0].flags.push(crate::submission::flag::SERVED_FROM_CACHE.into());
        assert_eq!(gap_distribution(&failed), None);
        assert_eq!(gap_distribution(&single_stream_case("code", &[])), None);
    }
}
