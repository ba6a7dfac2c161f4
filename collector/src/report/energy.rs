//! Joules per output token of every case whose runs tell them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dyno_shared::format::with_interval;
use dyno_shared::metric;
use dyno_shared::plain::plain;
use dyno_shared::summary::Estimate;
use dyno_shared::workload::Regime;

use super::CaseView;
use super::table::{Align, Column, draw, wrapped};

const METRIC: &str = "energy_per_token_j";

/// Sources that are named; a file may hold any number of them.
const SOURCES_NAMED: usize = 3;

/// The table of energies; nothing where no energy is known.
pub(super) fn write(out: &mut String, views: &[CaseView<'_>]) {
    let rows: Vec<(&CaseView<'_>, &Estimate)> = views
        .iter()
        .filter(|view| is_of_output(view.case.regime))
        .filter_map(|view| Some((view, view.summary.get(METRIC)?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    let unit = metric::find(METRIC).map_or("", |metric| metric.unit.symbol());
    let cells = |cell: &dyn Fn(&CaseView<'_>, &Estimate) -> String| {
        rows.iter().map(|(view, estimate)| cell(view, estimate)).collect::<Vec<_>>()
    };
    let energies = cells(&|_, estimate| {
        let interval = estimate.interval.as_ref().map(|i| (i.low, i.high));
        with_interval(estimate.value, interval)
    });
    let table = draw(&[
        Column::new("energy", "", Align::Left, cells(&|view, _| plain(&view.case.id))),
        Column::new("per token", unit, Align::Left, energies),
        Column::new("runs", "", Align::Right, cells(&|_, e| e.n.map_or_else(String::new, |n| n.to_string()))),
    ]);
    let sources: BTreeSet<&str> = rows
        .iter()
        .flat_map(|(view, _)| &view.case.runs)
        .filter_map(|run| run.telemetry.as_ref()?.energy_source.as_deref())
        .collect();
    let sources: Vec<String> = sources.into_iter().take(SOURCES_NAMED).map(plain).collect();
    let by = if sources.is_empty() { String::new() } else { format!(", by {}", sources.join(", or ")) };
    let note = format!("energy of the whole run, its prompt included, over its output tokens{by}");
    let _ = write!(out, "\n{table}{}", wrapped(&note));
}

/// Whether a run's energy goes into its answer. Cases about prompts answer in a few tokens, and would divide the
/// prompt's energy by those.
fn is_of_output(regime: Regime) -> bool {
    !matches!(regime, Regime::ColdPrefill | Regime::CachedPrefix)
}
