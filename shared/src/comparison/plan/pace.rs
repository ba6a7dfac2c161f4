//! How long runs take, from those that were recorded.

use crate::statistics::quantile::median;
use crate::submission::{Case, Run};
use crate::units::Seconds;

/// Where the time from one run to the next comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From the start of a run to the start of the next, with everything between them.
    StartToStart,
    /// From the first sending of a run to its last byte: what lies between runs is missing.
    OwnSpan,
}

/// How long a case takes on one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Seconds from one run to the next, the median; `None` where the file has no times.
    pub run_s: Option<f64>,
    /// Where they come from.
    pub source: Option<Source>,
    /// Warm-ups before the first recorded run of a start, the most of all starts.
    pub warmups: usize,
    /// Seconds that they take together; 0 without any, `None` where their times are missing.
    pub warmup_s: Option<f64>,
    /// Recorded runs for each that passed; at least 1, `None` where none passed.
    pub recorded_per_passed: Option<f64>,
    /// Recorded runs of one start of the server, the most of all starts.
    pub runs_per_start: usize,
}

impl Pace {
    /// That of a case.
    pub fn of(case: &Case) -> Self {
        let starts = starts(case);
        let of_runs = |step: fn(&[&Run]) -> Vec<f64>| -> Option<f64> {
            median(&starts.iter().flat_map(|start| step(&start.runs)).collect::<Vec<f64>>())
        };
        let (run_s, source) = match (of_runs(start_to_start), of_runs(own_spans)) {
            (Some(seconds), _) => (Some(seconds), Some(Source::StartToStart)),
            (None, Some(seconds)) => (Some(seconds), Some(Source::OwnSpan)),
            (None, None) => (None, None),
        };
        let passed = case.runs.iter().filter(|run| run.passed()).count();
        let warmups = starts.iter().map(|start| start.warmups.len()).max().unwrap_or(0);
        let timed: Option<Vec<f64>> =
            starts.iter().filter(|start| !start.warmups.is_empty()).map(Start::warmup_s).collect();
        Self {
            run_s,
            source,
            warmups,
            warmup_s: if warmups == 0 { Some(0.0) } else { timed.and_then(|of| median(&of)) },
            recorded_per_passed: (passed > 0).then(|| case.runs.len() as f64 / passed as f64),
            runs_per_start: starts.iter().map(|start| start.runs.len()).max().unwrap_or(0),
        }
    }

    /// Seconds for so many passing runs after one start of the server, its warm-ups included.
    pub fn runs_take(&self, passing: u64) -> Option<f64> {
        Some(self.warmup_s? + passing as f64 * self.recorded_per_passed? * self.run_s?)
    }

    /// Seconds for so many starts of the server with the runs that one had, warm-ups included.
    pub fn starts_take(&self, starts: u64) -> Option<f64> {
        Some(starts as f64 * (self.warmup_s? + self.runs_per_start as f64 * self.run_s?))
    }
}

/// Whether two cases of a file were measured in the same rounds, as the first and the later turns of sessions are: then
/// their times are one time.
pub fn are_of_the_same_rounds(a: &Case, b: &Case) -> bool {
    let (of_a, of_b) = (starts(a), starts(b));
    let shares = |a: &Start<'_>| {
        let other = of_b.iter().find(|b| b.cycle == a.cycle);
        match (a.extent(), other.and_then(Start::extent)) {
            (Some((first_a, last_a)), Some((first_b, last_b))) => first_a < last_b && first_b < last_a,
            _ => false,
        }
    };
    of_a.iter().any(shares)
}

/// What was sent after one start of the server, in order.
#[derive(Debug, Default)]
struct Start<'a> {
    cycle: Option<u32>,
    warmups: Vec<&'a Run>,
    runs: Vec<&'a Run>,
}

impl Start<'_> {
    fn warmup_s(&self) -> Option<f64> {
        let first = |runs: &[&Run]| runs.first().and_then(|run| started(run));
        match (first(&self.warmups), first(&self.runs)) {
            (Some(begin), Some(end)) if end > begin => Some(end - begin),
            _ => {
                let spans = own_spans(&self.warmups);
                (spans.len() == self.warmups.len()).then(|| spans.iter().sum())
            }
        }
    }

    /// Starts of the first and of the last run.
    fn extent(&self) -> Option<(f64, f64)> {
        Some((started(self.runs.first()?)?, started(self.runs.last()?)?))
    }
}

fn starts(case: &Case) -> Vec<Start<'_>> {
    fn of<'s, 'a>(starts: &'s mut Vec<Start<'a>>, cycle: Option<u32>) -> &'s mut Start<'a> {
        let at = starts.iter().position(|start| start.cycle == cycle).unwrap_or_else(|| {
            starts.push(Start { cycle, ..Start::default() });
            starts.len() - 1
        });
        &mut starts[at]
    }
    let mut all = Vec::new();
    for run in &case.warmups {
        of(&mut all, run.cycle).warmups.push(run);
    }
    for run in &case.runs {
        of(&mut all, run.cycle).runs.push(run);
    }
    let order = |run: &&Run| started(run).unwrap_or(f64::INFINITY);
    for start in &mut all {
        start.warmups.sort_by(|a, b| order(a).total_cmp(&order(b)));
        start.runs.sort_by(|a, b| order(a).total_cmp(&order(b)));
    }
    all
}

fn started(run: &Run) -> Option<f64> {
    run.started_s.map(Seconds::get).filter(|at| at.is_finite())
}

fn start_to_start(runs: &[&Run]) -> Vec<f64> {
    let step = |pair: &[&Run]| Some(started(pair[1])? - started(pair[0])?).filter(|step| *step > 0.0);
    runs.windows(2).filter_map(step).collect()
}

/// From the first sending to the last byte of each run that tells.
fn own_spans(runs: &[&Run]) -> Vec<f64> {
    let span = |run: &&Run| {
        let begins = run.requests.iter().map(|of| Some(of.t_send_s?.get()));
        let ends = run.requests.iter().map(|of| Some(of.t_end_s.or(of.t_last_s)?.get()));
        let first = begins.reduce(|a, b| Some(a?.min(b?)))??;
        let last = ends.reduce(|a, b| Some(a?.max(b?)))??;
        Some(last - first).filter(|span| span.is_finite() && *span > 0.0)
    };
    runs.iter().filter_map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::Check;
    use crate::testing::{TTFT, run, single_stream_case};

    /// Runs of 5 s, 7 s apart, after two warm-ups that took 20 s together.
    fn case() -> Case {
        let mut case = single_stream_case("code", &[(501, 5.0); 4]);
        for (run, at) in case.runs.iter_mut().zip([20.0, 27.0, 34.0, 41.0]) {
            run.started_s = Some(Seconds(at));
        }
        case.warmups = vec![run(1, 501, 5.0), run(2, 501, 5.0)];
        case.warmups[0].started_s = Some(Seconds(0.0));
        case.warmups[1].started_s = Some(Seconds(9.0));
        case
    }

    #[test]
    fn the_time_of_a_run_is_from_start_to_start_and_of_warm_ups_until_the_first_run() {
        let pace = Pace::of(&case());
        assert_eq!((pace.run_s, pace.source), (Some(7.0), Some(Source::StartToStart)));
        assert_eq!((pace.warmups, pace.warmup_s), (2, Some(20.0)));
        assert_eq!(pace.runs_take(10), Some(90.0));
    }

    #[test]
    fn a_pause_between_two_runs_is_no_pace() {
        let mut case = case();
        case.runs[3].started_s = Some(Seconds(90_000.0));
        assert_eq!(Pace::of(&case).run_s, Some(7.0));
    }

    #[test]
    fn without_starts_the_runs_own_spans_count_and_without_those_nothing() {
        let mut case = case();
        for run in case.runs.iter_mut().chain(&mut case.warmups) {
            run.started_s = None;
        }
        let pace = Pace::of(&case);
        assert_eq!((pace.run_s, pace.source), (Some(5.0 + TTFT), Some(Source::OwnSpan)));
        assert_eq!(pace.warmup_s, Some(2.0 * (5.0 + TTFT)));
        for request in case.runs.iter_mut().flat_map(|run| &mut run.requests) {
            request.t_send_s = None;
        }
        let pace = Pace::of(&case);
        assert_eq!((pace.run_s, pace.source, pace.runs_take(10)), (None, None, None));
    }

    #[test]
    fn runs_that_fail_take_their_time_too() {
        let mut case = case();
        case.runs[0].checks.push(Check { name: "not_empty".into(), passed: false, detail: None });
        case.runs[1].checks.push(Check { name: "not_empty".into(), passed: false, detail: None });
        assert_eq!(Pace::of(&case).runs_take(10), Some(20.0 + 140.0));
        case.runs.iter_mut().for_each(|run| run.requests.clear());
        assert_eq!(Pace::of(&case).runs_take(10), None);
    }

    #[test]
    fn each_start_of_the_server_is_warmed_anew_and_the_way_between_them_is_no_run() {
        let mut case = case();
        case.warmups[1].cycle = Some(2);
        case.warmups[1].started_s = Some(Seconds(1_000.0));
        case.warmups[0].cycle = Some(1);
        for (at, run) in case.runs.iter_mut().enumerate() {
            run.cycle = Some(1 + at as u32 / 2);
            run.started_s = Some(Seconds([10.0, 16.0, 1_010.0, 1_016.0][at]));
        }
        let pace = Pace::of(&case);
        assert_eq!((pace.run_s, pace.warmup_s, pace.runs_per_start), (Some(6.0), Some(10.0), 2));
        assert_eq!(pace.starts_take(6), Some(6.0 * 22.0));
    }

    #[test]
    fn later_turns_are_of_the_rounds_of_the_first_and_other_cases_are_not() {
        let first = case();
        let mut later = case();
        later.runs.iter_mut().for_each(|run| run.started_s = run.started_s.map(|at| at + Seconds(3.0)));
        assert!(are_of_the_same_rounds(&first, &later));
        let mut next = case();
        next.runs.iter_mut().for_each(|run| run.started_s = run.started_s.map(|at| at + Seconds(60.0)));
        assert!(!are_of_the_same_rounds(&first, &next));
        next.runs.iter_mut().for_each(|run| run.started_s = None);
        assert!(!are_of_the_same_rounds(&first, &next));
    }
}
