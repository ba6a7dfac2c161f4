//! From cold prefill at several lengths: the fixed overhead of a request and the marginal prefill rate.

use crate::metric;
use crate::statistics::linear_fit::{LinearFit, linear_fit};
use crate::submission::{Case, Run};
use crate::workload::Regime;

/// `ttft = a + b·tokens` over every passing cold run of one stream: `a` is the fixed overhead in seconds, `1/b` the
/// marginal prefill rate in tokens per second. Shallow prompts measure `a`, deep ones `b`.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefillFit {
    /// The line.
    pub line: LinearFit,
    /// The fewest prompt tokens among the runs.
    pub shortest: f64,
    /// The most.
    pub longest: f64,
}

/// The fit; `None` unless two cases of different length have passing runs.
pub fn prefill_fit(cases: &[Case]) -> Option<PrefillFit> {
    let cold = || cases.iter().filter(|c| c.regime == Regime::ColdPrefill && c.concurrency == 1);
    let points: Vec<(f64, f64)> =
        cold().flat_map(|case| &case.runs).filter(|run| run.passed()).filter_map(point).collect();
    let lengths = cold()
        .filter(|case| case.runs.iter().any(|run| run.passed() && point(run).is_some()))
        .map(|case| case.prompt_tokens_target)
        .collect::<std::collections::BTreeSet<_>>();
    if lengths.len() < 2 {
        return None;
    }
    let (tokens, seconds): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    Some(PrefillFit {
        line: linear_fit(&tokens, &seconds)?,
        shortest: tokens.iter().copied().reduce(f64::min)?,
        longest: tokens.iter().copied().reduce(f64::max)?,
    })
}

/// Uncached prompt tokens and TTFT of a run.
fn point(run: &Run) -> Option<(f64, f64)> {
    let [request] = run.requests.as_slice() else { return None };
    let ttft = (metric::find("client_wall_ttft_s")?.sample)(run)?.figure()?;
    Some((request.uncached_prompt_tokens()?, ttft))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run, single_stream_case};
    use crate::units::{Seconds, Tokens};

    /// Runs whose TTFT is 0.2 s and 1 ms per token.
    fn cold(tokens: u64, runs: u32) -> Case {
        let mut case = single_stream_case("cold", &[]);
        case.regime = Regime::ColdPrefill;
        case.prompt_tokens_target = Some(tokens);
        for number in 1..=runs {
            let mut one = run(number, 16, 0.1);
            let request = &mut one.requests[0];
            request.prompt_tokens = Some(Tokens(tokens + u64::from(number)));
            let ttft = 0.2 + 0.001 * (tokens + u64::from(number)) as f64;
            request.t_first_s = request.t_send_s.map(|sent| Seconds(sent.0 + ttft));
            case.runs.push(one);
        }
        case
    }

    #[test]
    fn overhead_and_marginal_rate_come_apart() {
        let fit = prefill_fit(&[cold(2_000, 4), cold(8_000, 4)]).unwrap();
        assert!((fit.line.intercept - 0.2).abs() < 1e-9, "{:?}", fit.line);
        assert!((fit.line.marginal_rate().unwrap() - 1_000.0).abs() < 1e-3);
        assert_eq!((fit.line.points, fit.shortest, fit.longest), (8, 2_001.0, 8_004.0));
    }

    #[test]
    fn one_length_measures_no_line() {
        assert_eq!(prefill_fit(&[cold(2_000, 16)]), None);
        let mut failed = cold(8_000, 2);
        for run in &mut failed.runs {
            run.flags.push(crate::submission::flag::SERVED_FROM_CACHE.into());
        }
        assert_eq!(prefill_fit(&[cold(2_000, 16), failed]), None);
    }

    #[test]
    fn concurrent_cold_runs_measure_the_queue_and_are_left_out() {
        let mut concurrent = cold(8_000, 4);
        concurrent.concurrency = 4;
        assert_eq!(prefill_fit(&[cold(2_000, 4), concurrent]), None);
    }
}
