//! The table of a summary without runs: what the source states, under the names that it uses.

use std::fmt::Write as _;

use dyno_shared::format::UNKNOWN;
use dyno_shared::metric;
use dyno_shared::plain::plain;
use dyno_shared::submission::StatedComparison;
use dyno_shared::summary::Estimate;

use super::CaseView;
use super::table::{Align, Column, draw, wrapped};

/// Writes the stated figures, then the stated comparisons.
pub(super) fn write(out: &mut String, views: &[CaseView<'_>], comparisons: &[StatedComparison]) {
    if !views.is_empty() {
        out.push('\n');
        out.push_str(&draw(&columns(views)));
        let kinds: std::collections::BTreeSet<&str> = views
            .iter()
            .flat_map(|view| &view.summary.estimates)
            .filter_map(|e| Some(e.interval.as_ref()?.kind.as_str()))
            .collect();
        let intervals = if kinds.is_empty() {
            "The source states no interval.".to_owned()
        } else {
            format!(
                "Intervals in brackets, as stated: {}.",
                plain(&kinds.into_iter().collect::<Vec<_>>().join("; "))
            )
        };
        let _ = writeln!(
            out,
            "\n{intervals}\na to b: the range of the observations, not an interval. {UNKNOWN}: not stated."
        );
    }
    remarks(out, views);
    super::reproducibility(out, views);
    if !comparisons.is_empty() {
        out.push('\n');
        out.push_str(&draw(&comparison_columns(comparisons)));
        let notes = comparisons
            .iter()
            .filter_map(|c| Some(format!("{} / {}, {}: {}", c.b, c.a, c.case, c.note.as_ref()?)));
        notes.for_each(|note| out.push_str(&wrapped(&plain(&note))));
    }
}

/// What a reader must know beside the figures of one case.
fn remarks(out: &mut String, views: &[CaseView<'_>]) {
    let mut told = Vec::new();
    for view in views {
        let id = &view.case.id;
        told.extend(view.case.description.as_ref().map(|description| format!("{id}: {description}")));
        let notes = view
            .summary
            .estimates
            .iter()
            .filter_map(|e| Some(format!("{id}, {}: {}", title(e), e.note.as_ref()?)));
        told.extend(notes);
    }
    if !told.is_empty() {
        out.push_str("\nBeside the figures\n");
        for line in told {
            out.push_str(&wrapped(&plain(&line)));
        }
    }
}

fn columns(views: &[CaseView<'_>]) -> Vec<Column> {
    let rows: Vec<(&CaseView<'_>, &Estimate)> = views
        .iter()
        .flat_map(|view| view.summary.estimates.iter().map(move |estimate| (view, estimate)))
        .collect();
    let cells = |cell: &dyn Fn(&CaseView<'_>, &Estimate) -> String| {
        rows.iter().map(|(view, estimate)| plain(&cell(view, estimate))).collect::<Vec<_>>()
    };
    vec![
        Column::new("case", "", Align::Left, cells(&|view, _| view.case.id.clone())),
        Column::new("figure", "", Align::Left, cells(&|_, e| title(e))),
        Column::new(
            "statistic",
            "",
            Align::Left,
            cells(&|_, e| e.statistic.clone().unwrap_or_else(|| UNKNOWN.into())),
        ),
        Column::new("value", "", Align::Left, cells(&|_, e| value(e))),
        Column::new("unit", "", Align::Left, cells(&|_, e| unit(e))),
        Column::new(
            "n",
            "",
            Align::Right,
            cells(&|_, e| e.n.map_or_else(|| UNKNOWN.into(), |n| n.to_string())),
        ),
    ]
}

fn title(estimate: &Estimate) -> String {
    metric::find(&estimate.metric).map_or_else(|| estimate.metric.clone(), |metric| metric.title.to_owned())
}

fn unit(estimate: &Estimate) -> String {
    estimate
        .unit
        .clone()
        .or_else(|| metric::find(&estimate.metric).map(|metric| metric.unit.symbol().to_owned()))
        .unwrap_or_default()
}

/// The point with its interval, or the range where there is no interval; all digits that were stated.
fn value(estimate: &Estimate) -> String {
    let interval = estimate.interval.as_ref().map(|i| (i.low, i.high));
    let range =
        estimate.min.zip(estimate.max).map(|(min, max)| format!("{} to {}", digits(min), digits(max)));
    match (estimate.value, range) {
        (Some(value), Some(range)) if interval.is_none() => format!("{}, {range}", digits(value)),
        (Some(value), _) => exact(value, interval),
        (None, range) => range.unwrap_or_else(|| UNKNOWN.to_owned()),
    }
}

fn exact(value: f64, interval: Option<(f64, f64)>) -> String {
    let value = digits(value);
    let with = |(low, high)| format!("{value} ({}–{})", digits(low), digits(high));
    interval.map_or_else(|| value.clone(), with)
}

/// All digits of a number; in scientific notation where most of them would be zeros that nobody stated.
fn digits(x: f64) -> String {
    if x == 0.0 || (1e-9..1e15).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

fn comparison_columns(comparisons: &[StatedComparison]) -> Vec<Column> {
    let cells =
        |cell: &dyn Fn(&StatedComparison) -> String| comparisons.iter().map(|c| plain(&cell(c))).collect();
    let words = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.into());
    vec![
        Column::new("comparison", "", Align::Left, cells(&|c| format!("{} / {}", c.b, c.a))),
        Column::new("case", "", Align::Left, cells(&|c| c.case.clone())),
        Column::new("of", "", Align::Left, cells(&|c| c.metric.clone())),
        Column::new(
            "ratio",
            "",
            Align::Left,
            cells(&|c| c.ratio.map_or_else(|| UNKNOWN.into(), |ratio| exact(ratio, c.low.zip(c.high)))),
        ),
        Column::new("p", "", Align::Left, cells(&|c| words(&c.p))),
        Column::new("n", "", Align::Right, cells(&|c| c.n.map_or_else(|| UNKNOWN.into(), |n| n.to_string()))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stated_digit_is_shown_and_an_absurd_number_does_not_fill_the_screen() {
        assert_eq!(exact(39.53, Some((38.0, 41.25))), "39.53 (38–41.25)");
        assert_eq!(exact(123_456_789.5, None), "123456789.5");
        assert_eq!(exact(0.0, Some((-1e308, 1e308))), "0 (-1e308–1e308)");
        assert_eq!(digits(1.25e-12), "1.25e-12");
    }
}
