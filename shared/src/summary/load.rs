//! Warnings of cases with several streams.

use super::{CaseSummary, Warning};
use crate::format::percent;
use crate::submission::Case;
use crate::workload::Regime;

/// Above this share of the latency the time to first token decides what a load case measures.
const DOMINATES: f64 = 0.5;

fn is_closed_load(case: &Case) -> bool {
    case.regime == Regime::Load && case.arrival.is_none()
}

/// The engine served fewer streams at once than were sent.
pub(super) fn concurrency_not_reached(case: &Case, summary: &CaseSummary) -> Option<Warning> {
    let achieved = summary.achieved_concurrency.filter(|_| is_closed_load(case))?;
    (achieved < case.concurrency).then(|| Warning {
        name: "concurrency_not_reached",
        text: format!(
            "{} streams were sent at once and {achieved} of them served: the others waited in the engine's queue",
            case.concurrency
        ),
    })
}

/// Answers so short that the time before them is most of what is measured.
pub(super) fn ttft_dominates(case: &Case, summary: &CaseSummary) -> Option<Warning> {
    let of = |tag: &str| summary.get(tag).and_then(|estimate| estimate.value);
    let share = of("client_wall_ttft_s")? / of("client_wall_e2e_s").filter(|latency| *latency > 0.0)?;
    (is_closed_load(case) && share > DOMINATES).then(|| Warning {
        name: "ttft_dominates",
        text: format!(
            "{} of the latency passes before the first token: the answers are so short that the rates tell of prefill \
             and queue, not of decode",
            percent(Some(share))
        ),
    })
}

#[cfg(test)]
mod tests {
    use crate::submission::Case;
    use crate::summary::summarize;
    use crate::testing::{TTFT, single_stream_case};
    use crate::workload::{Arrival, Regime};

    /// Runs of four streams that follow each other by `stagger` seconds.
    fn load(span: f64, stagger: f64) -> Case {
        let mut case = single_stream_case("load4", &[(101, span); 3]);
        (case.regime, case.concurrency) = (Regime::Load, 4);
        for run in &mut case.runs {
            let first = run.requests.remove(0);
            run.requests = (0..4)
                .map(|stream| {
                    let mut request = first.clone();
                    request.stream = stream;
                    let later = |at: &mut Option<crate::units::Seconds>| {
                        if let Some(at) = at {
                            at.0 += stagger * f64::from(stream);
                        }
                    };
                    later(&mut request.t_first_s);
                    later(&mut request.t_last_s);
                    later(&mut request.t_end_s);
                    request
                })
                .collect();
        }
        case
    }

    fn warnings(case: &Case) -> Vec<&'static str> {
        summarize(case).warnings.iter().map(|warning| warning.name).collect()
    }

    #[test]
    fn streams_that_the_engine_let_wait_are_named() {
        assert_eq!(warnings(&load(5.0, 0.1)), Vec::<&str>::new());
        let queued = load(5.0, 3.0);
        let summary = summarize(&queued);
        assert_eq!(summary.achieved_concurrency, Some(2));
        assert!(
            summary.warnings.iter().any(|warning| warning.text.contains("4 streams were sent at once and 2"))
        );
        let open = Case { arrival: Some(Arrival::Constant { per_s: 1.0 }), ..queued };
        assert!(!warnings(&open).contains(&"concurrency_not_reached"), "an open loop asks for no number");
    }

    #[test]
    fn answers_so_short_that_prefill_decides_are_named() {
        assert!(warnings(&load(TTFT * 0.9, 0.0)).contains(&"ttft_dominates"));
        assert!(!warnings(&load(TTFT * 1.1, 0.0)).contains(&"ttft_dominates"));
        let single = Case { regime: Regime::ColdPrefill, ..load(TTFT * 0.9, 0.0) };
        assert!(!warnings(&single).contains(&"ttft_dominates"), "that is what a prefill case is for");
    }
}
