//! The runs of a case in their order.

use super::identity;
use crate::chart::{Axis, Run as DrawnRun, RunStrip, Scale};
use crate::metric::Metric;
use crate::statistics::quantile::median;
use crate::submission::{Case, Evidence, Run};
use crate::summary::CaseSummary;

/// Every run of a case by a metric, with what they were summed up to. Outliers and drift are those of the regime's
/// headline, and of no other metric.
pub fn strip(
    case: &Case,
    summary: &CaseSummary,
    metric: &Metric,
    evidence: Evidence,
    colour: usize,
) -> RunStrip {
    let figure = |run: &Run| (metric.sample)(run)?.figure();
    let passing: Vec<f64> = case.runs.iter().filter(|run| run.passed()).filter_map(figure).collect();
    let is_headline = metric.tag == case.regime.headline();
    let drifts = is_headline && summary.warnings.iter().any(|warning| warning.name == "drift");
    let told = summary.get(metric.tag).and_then(|estimate| estimate.value);
    let middle = told.or_else(|| median(&passing));
    let drawn = |run: &Run| {
        let failures = run.failures();
        DrawnRun {
            value: figure(run),
            failed: (!failures.is_empty()).then(|| failures.join("; ")),
            outlier: is_headline && summary.outliers.contains(&run.number),
            note: String::new(),
        }
    };
    RunStrip {
        axis: Axis {
            label: metric.title.to_owned(),
            unit: metric.unit,
            better: metric.better,
            scale: Scale::Linear,
        },
        kind: identity::mark(evidence, metric.tag),
        colour,
        runs: case.runs.iter().map(drawn).collect(),
        figure: middle,
        interval: summary.get(metric.tag).and_then(|e| e.interval.as_ref()).map(|i| (i.low, i.high)),
        drift: drifts.then(|| drift_line(middle?, summary.drift.as_ref()?.change_over_case)).flatten(),
    }
}

/// The ends of a line through the figure that changes by a share over the case.
fn drift_line(figure: f64, change: f64) -> Option<(f64, f64)> {
    let half = change / 2.0;
    (half.abs() < 1.0).then_some((figure * (1.0 - half), figure * (1.0 + half)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::MarkKind;
    use crate::metric;
    use crate::summary::summarize;
    use crate::testing::single_stream_case;

    #[test]
    fn an_absurd_drift_has_no_line() {
        assert_eq!(drift_line(40.0, 0.1), Some((38.0, 42.0)));
        assert_eq!(drift_line(40.0, 3.0), None);
        assert_eq!(drift_line(40.0, f64::NAN), None);
    }

    #[test]
    fn outliers_and_drift_are_of_the_headline_alone() {
        let mut case =
            single_stream_case("code", &(0..16).map(|i| (501, 5.0 + 0.1 * f64::from(i))).collect::<Vec<_>>());
        let of = |case: &Case, tag: &str| {
            strip(case, &summarize(case), metric::find(tag).unwrap(), Evidence::Raw, 0)
        };
        let rising = of(&case, "client_wall_decode_tok_s");
        assert!(rising.drift.is_some() && rising.interval.is_some() && rising.figure.is_some());
        assert_eq!((rising.runs.len(), rising.kind), (16, MarkKind::ClientSolid));
        assert!(of(&case, "client_wall_ttft_s").drift.is_none());
        case.runs.push(crate::testing::run(17, 501, 25.0));
        assert!(of(&case, "client_wall_decode_tok_s").runs[16].outlier);
        let ttft = of(&case, "client_wall_ttft_s");
        assert!(!ttft.runs.iter().any(|run| run.outlier));
        assert_eq!(ttft.axis.label, "time to first token");
    }
}
