//! Going on until a figure is known well enough, or a budget is spent.

use dyno_shared::format::{duration, percent};
use dyno_shared::metric;
use dyno_shared::record::RequestRecord;
use dyno_shared::statistics::Interval;
use dyno_shared::submission::Run;
use dyno_shared::summary::estimate_of_runs;

use super::ledger::{CaseLedger, Part};
use crate::workload::Until;

/// Passing runs below which no interval decides anything.
pub(super) const FEWEST_RUNS: usize = 5;

/// Where a case that goes on until a figure is known stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not known well enough, and there is time.
    GoOn,
    /// Known well enough.
    Reached,
    /// The time is over.
    OutOfBudget,
}

/// Looks at what there is after a run.
pub(super) fn standing(case: &CaseLedger, until: Until) -> Standing {
    let passing = case.parts().iter().map(|part| passing(*part).count()).min().unwrap_or(0);
    let reached = || half_width(case).is_some_and(|half_width| half_width <= until.half_width);
    if passing >= FEWEST_RUNS && reached() {
        Standing::Reached
    } else if spent_s(case) >= until.budget_s {
        Standing::OutOfBudget
    } else {
        Standing::GoOn
    }
}

/// Half the width of the headline's interval as a share of the figure; of several parts the widest.
pub(super) fn half_width(case: &CaseLedger) -> Option<f64> {
    let headline = metric::find(case.plan.regime.headline())?;
    let of_part = |part: Part<'_>| {
        let runs: Vec<&Run> = passing(part).collect();
        let estimate = estimate_of_runs(&runs, headline)?;
        let interval = estimate.interval?;
        Interval { low: interval.low, high: interval.high }.relative_half_width(estimate.value?)
    };
    let widths: Option<Vec<f64>> = case.parts().into_iter().map(of_part).collect();
    widths?.into_iter().reduce(f64::max)
}

/// Seconds that the recorded runs took.
fn spent_s(case: &CaseLedger) -> f64 {
    let end = |r: &RequestRecord| r.t_end_s.or(r.t_last_s).or(r.t_send_s).map_or(0.0, |at| at.0);
    let took = |run: &Run| run.requests.iter().map(end).fold(0.0, f64::max);
    case.parts().iter().flat_map(|part| part.runs).map(took).sum()
}

fn passing(part: Part<'_>) -> impl Iterator<Item = &Run> {
    part.runs.iter().filter(|run| run.passed())
}

/// What a reader must know of a case that ended because its figure was known well enough.
pub(super) fn remark(case: &CaseLedger) -> Option<String> {
    let until = case.plan.until?;
    (standing(case, until) == Standing::Reached).then(|| {
        format!(
            "{}: measured until ± {}: ± {} after {} runs; an interval that decides when to stop is a little too narrow",
            case.plan.id,
            percent(Some(until.half_width)),
            percent(half_width(case)),
            case.runs.len()
        )
    })
}

/// Why a case ended before its figure was known well enough, if it did.
pub(super) fn shortfall(case: &CaseLedger) -> Option<String> {
    let until = case.plan.until?;
    (standing(case, until) == Standing::OutOfBudget).then(|| {
        format!(
            "the budget of {} ended before ± {} was reached: ± {} after {} runs",
            duration(until.budget_s),
            percent(Some(until.half_width)),
            percent(half_width(case)),
            case.runs.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use dyno_shared::units::{Seconds, Tokens};

    use super::*;
    use crate::protocol::Ledger;
    use crate::workload::suite;

    /// Runs whose decode rates are these.
    fn ledger(rates: &[f64], until: Until) -> CaseLedger {
        let mut plan = suite::full(suite::Counts::default()).swap_remove(0);
        (plan.until, plan.runs) = (Some(until), 10_000);
        let mut ledger = Ledger::new(&[plan]).cases.swap_remove(0);
        ledger.runs = (1..)
            .zip(rates)
            .map(|(number, rate)| Run {
                number,
                requests: vec![RequestRecord {
                    t_send_s: Some(Seconds(0.0)),
                    t_first_s: Some(Seconds(1.0)),
                    t_last_s: Some(Seconds(1.0 + 100.0 / rate)),
                    t_end_s: Some(Seconds(1.0 + 100.0 / rate)),
                    text_events: 101,
                    output_tokens: Some(Tokens(101)),
                    ..RequestRecord::default()
                }],
                ..Run::default()
            })
            .collect();
        ledger
    }

    #[test]
    fn a_steady_figure_ends_after_five_runs_and_a_noisy_one_goes_on_until_the_budget_ends() {
        let two_percent = Until { half_width: 0.02, budget_s: 60.0 };
        let steady = [50.0, 50.1, 49.9, 50.0, 50.1, 50.0];
        assert_eq!(standing(&ledger(&steady[..4], two_percent), two_percent), Standing::GoOn);
        let five = ledger(&steady[..5], two_percent);
        assert_eq!(standing(&five, two_percent), Standing::Reached);
        assert!(five.is_complete() && remark(&five).unwrap().contains("after 5 runs"));
        assert_eq!(shortfall(&five), None);
        let noisy = [50.0, 30.0, 70.0, 45.0, 55.0, 20.0];
        assert_eq!(standing(&ledger(&noisy, two_percent), two_percent), Standing::GoOn);
        let short = Until { budget_s: 10.0, ..two_percent };
        let ended = ledger(&noisy, short);
        assert_eq!(standing(&ended, short), Standing::OutOfBudget);
        assert!(ended.is_complete());
        let words = shortfall(&ended).unwrap();
        assert!(words.contains("budget of 10.0 s") && words.contains("after 6 runs"), "{words}");
    }

    #[test]
    fn failed_runs_decide_nothing_but_cost_their_time() {
        let until = Until { half_width: 0.02, budget_s: 60.0 };
        let mut case = ledger(&[50.0; 6], until);
        for run in &mut case.runs[..2] {
            run.flags.push(dyno_shared::submission::flag::NOT_CACHED.into());
        }
        assert_eq!(standing(&case, until), Standing::GoOn, "four passing runs");
        let short = Until { budget_s: 17.0, ..until };
        assert_eq!(standing(&case, short), Standing::OutOfBudget);
    }
}
