//! The cases of a regime: the figure, then its table.

use dyno_shared::chart::{Estimate, Forest, ForestRow, forest};
use dyno_shared::comparison::{CaseComparison, Found, Ratio, Role, Verdict, letter};
use dyno_shared::format::p_value;
use dyno_shared::metric::{Better, Metric};
use dyno_shared::query::CaseKey;
use dyno_shared::workload::Regime;
use yew::{Html, html};

use super::table::{self, found, replicates};
use crate::compare::{Asked, Compared};
use crate::component::MarkedFigure;
use crate::dom::{el, p};

/// The section of a regime; `None` where no side has a case of it.
pub fn section(compared: &Compared, regime: Regime, asked: &Asked, width: u32) -> Option<Html> {
    let of = &compared.comparison;
    let cases: Vec<&CaseComparison> = of.cases.iter().filter(|case| case.regime == regime).collect();
    if cases.is_empty() {
        return None;
    }
    let two = of.sides.len() == 2;
    let (title, faster) = if two { ("B / A", "B faster") } else { ("ratio to A", "faster than A") };
    let figure = Forest { title: title.to_owned(), faster: faster.to_owned(), rows: rows(&cases, two) };
    let noise = cases.iter().any(|case| case.noise.is_some()).then(|| {
        p("muted", "Grey: how far two starts of one configuration lie apart. A difference within is one that a restart makes, too.")
    });
    Some(
        el("section")
            .class("regime")
            .attr("data-regime", regime.tag())
            .el(el("h2").text(regime.title()))
            .with(p("muted", regime.meaning()))
            .with(html! {
                <MarkedFigure
                    drawing={forest(&figure, width)}
                    about="Ratios; the arrow keys read them out"
                    hint="Point at a ratio, or use the arrow keys, to read it."
                />
            })
            .when(noise)
            .with(table::table(compared, &cases, asked))
            .done(),
    )
}

/// `code`, with its streams where there are several.
pub fn name(case: &CaseComparison) -> String {
    if case.concurrency == 1 {
        return case.case.clone();
    }
    CaseKey { id: case.case.clone(), streams: case.concurrency }.title()
}

/// The rows of the figure: by metric, those by which cases are judged first.
fn rows(cases: &[&CaseComparison], two: bool) -> Vec<ForestRow> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for role in [Role::Headline, Role::Beside] {
        for ratio in cases.iter().flat_map(|case| &case.against).flat_map(|against| &against.ratios) {
            if ratio.role == role && !metrics.iter().any(|known| known.tag == ratio.metric.tag) {
                metrics.push(ratio.metric);
            }
        }
    }
    let mut rows = Vec::new();
    // What only one side has stands with the first of them.
    let mut first = true;
    for metric in metrics.iter().copied().map(Some).chain(metrics.is_empty().then_some(None)) {
        for case in cases {
            for against in &case.against {
                let label =
                    if two { name(case) } else { [&name(case), " · ", &letter(against.side)].concat() };
                let mut row = ForestRow {
                    label,
                    metric: metric.map_or_else(String::new, |metric| metric.title.to_owned()),
                    better: metric.map_or(Better::Neither, |metric| metric.better),
                    ratio: Estimate::default(),
                    side: against.side,
                    noise: None,
                    split: Vec::new(),
                    n: String::new(),
                    p: String::new(),
                    verdict: found(against),
                };
                let tested = |of: &&Ratio| matches!(of.role, Role::Headline | Role::Beside);
                let of_metric = |of: &&Ratio| metric.is_some_and(|metric| metric.tag == of.metric.tag);
                if let Some(ratio) = against.ratios.iter().filter(tested).find(of_metric) {
                    fill(&mut row, ratio);
                    if ratio.role == Role::Headline {
                        row.noise = case.noise.map(|of| (of.low, of.high));
                    }
                    let decodes = |of: &Ratio| of.metric.tag.ends_with("decode_tok_s");
                    let split = against.ratios.iter().filter(tested).find(|of| decodes(of));
                    if split.is_some_and(|split| split.metric.tag == ratio.metric.tag) {
                        row.split = factors(&against.ratios);
                    }
                } else if !first || against.found == Found::Both || against.found == Found::InNeither {
                    continue;
                }
                rows.push(row);
            }
        }
        first = false;
    }
    rows
}

fn fill(row: &mut ForestRow, ratio: &Ratio) {
    let verdict = ratio.verdict.as_ref();
    row.verdict = verdict.map_or_else(String::new, said);
    row.n = replicates(ratio);
    row.p = ratio.holm_p.map_or_else(String::new, p_value);
    // What does not compare is in the table, and no figure puts it beside what does.
    if !matches!(verdict, Some(Verdict::NotComparable(_))) {
        row.ratio = estimate(ratio);
    }
}

/// `▲ faster`.
pub fn said(verdict: &Verdict) -> String {
    [verdict.sign(), " ", verdict.word()].concat()
}

fn factors(ratios: &[Ratio]) -> Vec<(String, Estimate)> {
    let split = ratios.iter().filter(|ratio| ratio.role == Role::Split);
    split.map(|ratio| (ratio.metric.title.to_owned(), estimate(ratio))).collect()
}

fn estimate(ratio: &Ratio) -> Estimate {
    let (low, high) = (ratio.interval.map(|of| of.low), ratio.interval.map(|of| of.high));
    Estimate { value: ratio.ratio, low, high }
}
