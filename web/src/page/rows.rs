//! The table of the leaderboard: a row per submission and case, with dot and interval on one axis.

use dyno_shared::chart::{Axis, Estimate, FittedAxis, Row as DrawnRow, Scale, axis_strip, interval_cell};
use dyno_shared::format::significant;
use dyno_shared::index::{Entry, Row};
use dyno_shared::metric::{self, Better};
use dyno_shared::query::{self, Board, CaseKey, Column, Query, Selection, Sort, TTFT};
use dyno_shared::workload::Regime;
use yew::Html;

use super::leaderboard::{go, some};
use super::picks;
use crate::component::{badges, figure as drawn, mark_cell, unknown};
use crate::dom::{El, button, el, link, td, text};
use crate::route::Route;
use crate::{badge, figure, identity};

/// Below this width a row is two lines.
pub const PHONE: u32 = 900;
/// Height of a row's figure.
const HEIGHT: u32 = 35;

/// What the table's cells share.
struct Look<'a> {
    query: &'a Query,
    selection: &'a Selection,
    axis: FittedAxis,
    /// Width of the figures.
    chart: u32,
    all_cases: bool,
    prompt: bool,
    /// Whether any row says something behind its number.
    behind: bool,
    ttft: bool,
}

/// The table, as far as `shown` rows.
pub fn table(board: &Board, query: &Query, selection: &Selection, window: u32, shown: usize) -> Html {
    let look = Look::new(board, query, selection, window);
    let row = |i: &usize| {
        let row = board.rows.get(*i)?;
        Some(look.row(board.entry(row)?, row))
    };
    let caption = format!("{} by submission", figure::title(&selection.metric));
    el("table")
        .class("rows")
        .el(el("caption").class("hidden").text(caption))
        .el(el("thead").with(look.head()))
        .el(el("tbody").each(selection.rows.iter().take(shown).filter_map(row)))
        .done()
}

/// Room for the figure beside the other columns; on a phone, beside the number and what stands behind it.
fn chart_width(window: u32, behind: bool) -> u32 {
    match window {
        ..PHONE => window.saturating_sub(if behind { 206 } else { 110 }).max(96),
        PHONE..1000 => 200,
        1000..1360 => 240,
        _ => 320,
    }
}

fn estimate(row: &Row, tag: &str) -> Estimate {
    let cell = row.cells.get(tag);
    cell.map_or_else(Estimate::default, |c| Estimate { value: c.value, low: c.low, high: c.high })
}

impl<'a> Look<'a> {
    fn new(board: &'a Board, query: &'a Query, selection: &'a Selection, window: u32) -> Self {
        let tag = selection.metric.as_str();
        let estimates = || selection.rows.iter().map(|&i| estimate(&board.rows[i], tag));
        let behind =
            selection.rows.iter().any(|&i| !figure::of_cell(board.rows[i].cells.get(tag)).behind.is_empty());
        let axis = Axis {
            label: figure::title(tag),
            unit: figure::unit(tag),
            better: metric::find(tag).map_or(Better::Neither, |m| m.better),
            scale: Scale::choose(estimates().filter_map(|e| e.value)),
        };
        Self {
            query,
            selection,
            axis: axis.fit(estimates()),
            chart: chart_width(window, behind),
            all_cases: selection.case.is_none(),
            prompt: matches!(
                selection.regime,
                Regime::ColdPrefill | Regime::CachedPrefix | Regime::DecodeAtDepth
            ),
            behind,
            ttft: tag != TTFT,
        }
    }

    fn head(&self) -> Html {
        let unit = figure::unit(&self.selection.metric).symbol();
        let pick = el("th").attr("scope", "col").class("pick").el(el("span").class("hidden").text("compare"));
        let mut row = el("tr").el(pick).el(self.sortable(Column::Name, "name", "submission"));
        if self.all_cases {
            row = row.el(self.sortable(Column::Case, "case", "case"));
        }
        if self.prompt {
            row = row.el(self.sortable(Column::Prompt, "prompt number", "prompt, tok"));
        }
        let number = if unit.is_empty() { "figure" } else { unit };
        row = row.el(self.axis_head()).el(self.sortable(Column::Value, "value number", number));
        if self.behind {
            row = row.el(el("th").attr("scope", "col").class("behind").text("interval"));
        }
        if self.ttft {
            row = row.el(self.sortable(Column::Ttft, "ttft number", "TTFT, s"));
        }
        row.el(self.sortable(Column::Runs, "runs number", "n"))
            .el(el("th").attr("scope", "col").class("evidence").text("evidence"))
            .done()
    }

    /// What the axis measures, which way is better, and its ticks.
    fn axis_head(&self) -> El {
        let tag = &self.selection.metric;
        let mut title = figure::title(tag);
        let unit = figure::unit(tag).symbol();
        let log = if self.axis.span().scale().is_log() { "(log)" } else { "" };
        for (part, before) in [(unit, ", "), (log, " ")] {
            if !part.is_empty() {
                title.push_str(before);
                title.push_str(part);
            }
        }
        let better = match metric::find(tag).map(|m| m.better) {
            Some(Better::Higher) => "higher is better →",
            Some(Better::Lower) => "← lower is better",
            _ => "",
        };
        el("th")
            .attr("scope", "col")
            .class("chart")
            .el(el("span").class("axis-title").text(title))
            .el(el("span").class("axis-better").text(better))
            .el(el("span").attr("aria-hidden", "true").with(drawn(&axis_strip(&self.axis, self.chart))))
    }

    /// A head that orders the rows by its column: once the natural way, once more the other way.
    fn sortable(&self, column: Column, class: &'static str, name: &'static str) -> El {
        let now = (self.selection.sort.column == column).then_some(self.selection.sort);
        let natural = match column {
            Column::Value => query::best_first(&self.selection.metric),
            Column::Runs | Column::Date => Sort { column, descending: true },
            Column::Name | Column::Case | Column::Prompt | Column::Ttft => Sort { column, descending: false },
        };
        let next = now.map_or(natural, |sort| Sort { descending: !sort.descending, ..sort });
        let there = Query { sort: Some(next), ..self.query.clone() };
        let (aria, sign) = match now {
            Some(Sort { descending: true, .. }) => ("descending", "▼"),
            Some(_) => ("ascending", "▲"),
            None => ("none", ""),
        };
        let sign = el("span").class("sort-sign").attr("aria-hidden", "true").text(sign);
        let button = button(name, move || go(there.clone())).el(sign);
        el("th").attr("scope", "col").class(class).attr("aria-sort", aria).el(button)
    }

    fn row(&self, entry: &Entry, row: &Row) -> Html {
        let tag = self.selection.metric.as_str();
        let (name, subtitle) = (identity::name(entry), identity::subtitle(entry));
        let case = CaseKey::of(row).title();
        let written = figure::of_cell(row.cells.get(tag));
        let link = link(Route::Submission(entry.id.clone()).to_hash(), name.clone())
            .attr("title", format!("{name}\n{subtitle}"));
        let pick = picks::cell(self.query, &entry.id, &identity::joined(&[&name, &entry.label]));
        let mut cells =
            el("tr").key(format!("{} {} {}", entry.id, row.case, row.concurrency)).el(pick).el(el("th")
                .attr("scope", "row")
                .class("name")
                .el(link)
                .el(el("span").class("subtitle").text(subtitle)));
        if self.all_cases {
            let streams = some(row.concurrency as usize, "stream");
            cells = cells.el(el("td")
                .class("case")
                .attr("title", case.clone())
                .el(el("span").text(row.case.clone()))
                .el(el("span").class("subtitle").text(streams)));
        }
        if self.prompt {
            cells = cells.el(el("td").class("prompt number").with(count(row.prompt_tokens)));
        }
        let number = if written.is_unknown() {
            unknown(figure::why_unknown(tag, row.cells.names()))
        } else {
            text(written.value)
        };
        cells = cells
            .el(el("td").class("chart").with(self.mark(entry, row, format!("{name} · {case}"))))
            .el(el("td").class("value number").with(number));
        if self.behind {
            cells = cells.with(td("behind", written.behind));
        }
        if self.ttft {
            cells = cells.el(el("td").class("ttft number").with(ttft(row)));
        }
        cells
            .el(el("td").class("runs number").with(runs(row, tag)))
            .el(el("td").class("evidence").with(badges(&badge::of_row(entry, row))))
            .done()
    }

    /// The figure of a row; without a point, the empty axis.
    fn mark(&self, entry: &Entry, row: &Row, label: String) -> Html {
        let tag = self.selection.metric.as_str();
        let cell = row.cells.get(tag);
        let row = DrawnRow {
            label,
            group: None,
            estimate: estimate(row, tag),
            kind: identity::mark(entry.evidence, tag),
            colour: identity::colour(&entry.engine),
            note: cell.and_then(|cell| cell.statistic.clone()).unwrap_or_default(),
        };
        if row.estimate.value.is_some() {
            return mark_cell(&self.axis, &row, self.chart, HEIGHT);
        }
        let empty = drawn(&interval_cell(&self.axis, &row, self.chart, HEIGHT));
        el("span").attr("aria-hidden", "true").with(empty).done()
    }
}

/// A count of tokens; the mean over runs need not be whole.
fn count(tokens: Option<f64>) -> Html {
    tokens.map_or_else(|| unknown("not stated"), |n| text(significant(n, 4)))
}

fn ttft(row: &Row) -> Html {
    let written = figure::of_cell(row.cells.get(TTFT));
    if written.is_unknown() { unknown("not measured") } else { text(written.value) }
}

/// `13 of 16`: passing runs of all; of a summary the n that it states.
fn runs(row: &Row, tag: &str) -> Html {
    match (row.runs, row.cells.get(tag).and_then(|cell| cell.n)) {
        (Some(runs), _) if row.failed > 0 => text(format!("{} of {runs}", runs.saturating_sub(row.failed))),
        (Some(n), _) | (None, Some(n)) => text(n.to_string()),
        (None, None) => unknown("not stated"),
    }
}
