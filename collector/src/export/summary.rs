//! One row for each figure of a case.

use dyno_shared::metric::{self, Better, Metric};
use dyno_shared::summary::{CaseSummary, Estimate};
use dyno_shared::workload::Regime;

use super::column::{Column, Value, columns};

/// A figure among those of its case.
#[derive(Debug, Clone, Copy)]
pub struct SummaryRow<'a> {
    /// The regime of the case.
    pub regime: Regime,
    /// What the case's runs say.
    pub summary: &'a CaseSummary,
    /// The figure.
    pub estimate: &'a Estimate,
}

impl SummaryRow<'_> {
    fn metric(self) -> Option<&'static Metric> {
        metric::find(&self.estimate.metric)
    }
}

/// The way to a cell.
pub type OfSummary = for<'a> fn(SummaryRow<'a>) -> Value<'a>;

/// The columns of a figure.
pub const SUMMARY: &[Column<OfSummary>] = columns! { OfSummary;
    Text "metric" "Tag of the metric (docs/METHOD.md), or the source's own name of it." |s| (&s.estimate.metric).into();
    Flag "headline" "Whether it is the metric that a leaderboard of this regime shows first." |s| (s.estimate.metric == s.regime.headline()).into();
    Text "unit" "Unit of all figures of the row: `s`, `tok/s`, `tok`, `J/tok`, or the source's own; null for a pure number." |s| unit(s);
    Text "better" "`higher`, `lower` or `neither`; null for a source's own metric." |s| s.metric().map(|m| better(m.better)).into();
    Text "family" "Whose clock: `client`, `engine`, `client / engine`; null for a source's own metric." |s| s.metric().map(|m| m.family.title()).into();
    Text "statistic" "`ratio of totals`, `mean`, or what a source states." |s| (&s.estimate.statistic).into();
    Number "value" "The point, in `unit`." |s| s.estimate.value.into();
    Number "interval_low" "Lower end of its interval, in `unit`." |s| s.estimate.interval.as_ref().map(|i| i.low).into();
    Number "interval_high" "Upper end." |s| s.estimate.interval.as_ref().map(|i| i.high).into();
    Text "interval_kind" "What the interval is." |s| s.estimate.interval.as_ref().map(|i| &i.kind).into();
    Number "min" "Smallest run, or lower end of a stated range, in `unit`." |s| s.estimate.min.into();
    Number "max" "Largest run, or upper end of a stated range, in `unit`." |s| s.estimate.max.into();
    Count "n" "Runs behind the figure." |s| s.estimate.n.into();
    Number "spread_share" "Standard deviation over mean, a share." |s| s.estimate.spread.into();
    Number "detects_share" "The smallest difference that an unpaired comparison of this many runs finds, a share." |s| s.estimate.detects.into();
    Text "note" "What a reader must know beside the figure." |s| (&s.estimate.note).into();
    Count "case_runs" "Recorded runs of the case; null without runs." |s| s.summary.runs.into();
    Count "case_runs_passed" "Those that passed." |s| s.summary.passed.into();
    Number "case_prompt_tokens" "Mean prompt tokens of the passing runs' requests, as measured." |s| s.summary.prompt_tokens.into();
    Number "case_output_tokens" "Mean output tokens of them." |s| s.summary.output_tokens.into();
    Count "achieved_concurrency" "The most streams that were served at once in each passing run, the least of them." |s| s.summary.achieved_concurrency.into();
    Text "warnings" "Names of the case's warnings, with commas between; null where there is none." |s| warnings(s.summary).into();
};

fn unit(row: SummaryRow<'_>) -> Value<'_> {
    row.metric().map_or_else(|| (&row.estimate.unit).into(), |metric| metric.unit.symbol().into())
}

const fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    }
}

fn warnings(summary: &CaseSummary) -> String {
    summary.warnings.iter().map(|warning| warning.name).collect::<Vec<_>>().join(",")
}
