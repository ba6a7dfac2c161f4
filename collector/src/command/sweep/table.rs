//! The comparison for people and for programs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dyno_shared::comparison::Verdict;
use dyno_shared::format::{self, UNKNOWN, maybe, percent};
use dyno_shared::metric::{Family, Metric};
use dyno_shared::plain::plain;
use dyno_shared::statistics::equivalence::DEFAULT_MARGIN_RATIO;
use dyno_shared::submission::Submission;
use dyno_shared::summary::summarize;
use dyno_shared::sweep::{CaseComparison, MetricComparison, Row};
use serde_json::{Value, json};

use crate::command::run::SIMULATED;
use crate::report::table::{Align, Column, draw, wrapped};

/// Characters of a name in the head of a column.
const LONGEST_HEAD: usize = 20;

/// A table for each case, and how to read them.
pub(super) fn text(cases: &[CaseComparison]) -> String {
    let mut out = String::new();
    let mut meanings = BTreeSet::new();
    for case in cases {
        write_case(&mut out, case);
        for row in &case.headline.rows {
            meanings.extend(
                row.against.as_ref().and_then(|of| of.verdict.as_ref()?.meaning(DEFAULT_MARGIN_RATIO)),
            );
        }
    }
    let tests = cases.iter().flat_map(|case| &case.headline.rows).filter(|row| p_of(row).is_some()).count();
    legend(&mut out, tests);
    for meaning in &meanings {
        out.push_str(&wrapped(&plain(meaning)));
    }
    out
}

fn write_case(out: &mut String, case: &CaseComparison) {
    let CaseComparison { case: id, regime, concurrency, headline, also } = case;
    let Metric { title, better, .. } = headline.metric;
    let streams = if *concurrency == 1 { "1 stream".to_owned() } else { format!("{concurrency} streams") };
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{} · {} · {streams}\n{} {title}, {}",
        plain(id),
        regime.title(),
        headline.metric.family.title(),
        better.words()
    );
    out.push_str(&draw(&columns(headline, also)));
    out.push('\n');
}

fn columns(headline: &MetricComparison, also: &[MetricComparison]) -> Vec<Column> {
    let rows = &headline.rows;
    let cells = |cell: &dyn Fn(&Row) -> String| rows.iter().map(cell).collect::<Vec<_>>();
    let first = rows.first().map(|row| name(&row.label)).unwrap_or_default();
    let first = if first.chars().count() <= LONGEST_HEAD { first } else { "the first".to_owned() };
    let unit = headline.metric.unit.symbol();
    let mut columns = vec![
        Column::new("variant", "", Align::Left, cells(&|row| name(&row.label))),
        Column::new("cycles", "", Align::Right, cells(&|row| row.figures.len().to_string())),
        Column::new("median", unit, Align::Right, cells(&|row| maybe(row.median()))),
        Column::new("spread", "", Align::Right, cells(&|row| percent(row.spread()))),
        Column::new("ratio to", &first, Align::Left, cells(&ratio)),
        Column::new(
            "p",
            "",
            Align::Right,
            cells(&|row| p_of(row).map_or_else(|| UNKNOWN.to_owned(), format::p_value)),
        ),
        Column::new("verdict", "", Align::Left, cells(&|row| verdict(row).to_owned())),
    ];
    for MetricComparison { metric, rows } in also {
        let cells = rows.iter().map(|row| maybe(row.median())).collect();
        let (head, unit) = short_name(metric);
        columns.push(Column::new(head, unit, Align::Right, cells));
    }
    columns
}

/// A column head: the engine's figures say that they are the engine's.
fn short_name(metric: &Metric) -> (&'static str, &'static str) {
    let unit = metric.unit.symbol();
    match metric.tag {
        "client_wall_ttft_s" => ("TTFT", unit),
        "client_wall_decode_tok_s" => ("per stream", unit),
        "client_wall_steady_tok_s" => ("steady", unit),
        "cached_prompt_share" => ("cached", "share"),
        "tokens_per_step" => ("tokens/", "step"),
        "time_per_step_s" => ("time/step", unit),
        _ if metric.family == Family::Engine => ("engine", unit),
        _ => (metric.title, unit),
    }
}

/// A variant's name: that it is simulated stands above the table.
fn name(label: &str) -> String {
    plain(label.strip_prefix(SIMULATED).map_or(label, str::trim_start))
}

/// `1.884 (1.770–2.005)`; narrow ones have a further digit.
fn ratio(row: &Row) -> String {
    let Some(over) = row.against.as_ref().and_then(|of| of.over) else { return UNKNOWN.to_owned() };
    format::ratio(over.ratio, over.interval.map(|of| (of.low, of.high)))
}

fn p_of(row: &Row) -> Option<f64> {
    row.against.as_ref()?.holm_p
}

fn verdict(row: &Row) -> &'static str {
    match &row.against {
        None => "(first)",
        Some(against) => against.verdict.as_ref().map_or(UNKNOWN, Verdict::word),
    }
}

fn legend(out: &mut String, tests: usize) {
    let corrected = if tests > 1 { format!(", Holm over {tests} comparisons") } else { String::new() };
    let _ = write!(
        out,
        "median, spread (standard deviation over mean): of the cycles. ratio: geometric mean over the cycles of runs\n\
         with the same prompts, 95 % t interval on cycles − 1 degrees of freedom. p: two-sided t test{corrected}.\n"
    );
}

/// The same for programs. Unknown is `null`.
pub(super) fn json(cases: &[CaseComparison]) -> Value {
    let metric = |of: &MetricComparison| {
        json!({
            "metric": of.metric.tag,
            "unit": of.metric.unit.symbol(),
            "family": of.metric.family.title(),
            "variants": of.rows.iter().map(row).collect::<Vec<_>>(),
        })
    };
    let case = |case: &CaseComparison| {
        json!({
            "case": case.case,
            "regime": case.regime,
            "concurrency": case.concurrency,
            "headline": metric(&case.headline),
            "also": case.also.iter().map(metric).collect::<Vec<_>>(),
        })
    };
    cases.iter().map(case).collect()
}

fn row(row: &Row) -> Value {
    let by_cycle = |figures: &[(u32, f64)]| -> Vec<Value> {
        figures.iter().map(|(cycle, figure)| json!({ "cycle": cycle, "figure": figure })).collect()
    };
    let against = row.against.as_ref();
    let over = against.and_then(|of| of.over);
    json!({
        "label": row.label,
        "cycles": by_cycle(&row.figures),
        "median": row.median(),
        "spread": row.spread(),
        "ratio": over.map(|of| of.ratio),
        "low": over.and_then(|of| of.interval).map(|of| of.low),
        "high": over.and_then(|of| of.interval).map(|of| of.high),
        "p": over.and_then(|of| of.p),
        "holm_p": against.and_then(|of| of.holm_p),
        "equivalence_p": against.and_then(|of| of.equivalence_p),
        "ratios": against.map(|of| of.ratios.iter().map(|ratio| json!({
            "cycle": ratio.cycle,
            "pairs": ratio.pairs,
            "log_ratio": ratio.log_ratio,
        })).collect::<Vec<_>>()),
        "verdict": against.and_then(|of| of.verdict.as_ref()).map(Verdict::word),
        "meaning": against.and_then(|of| of.verdict.as_ref()?.meaning(DEFAULT_MARGIN_RATIO)),
    })
}

/// The figure of one measurement for its line: `39.97 tok/s`, of several cases each with its name.
pub(super) fn figures(of: &[(&str, &Metric, Option<f64>)]) -> String {
    let one = |&(case, metric, figure): &(&str, &Metric, Option<f64>)| {
        let figure = figure.map_or_else(
            || "no figure".to_owned(),
            |figure| format!("{} {}", dyno_shared::format::significant(figure, 4), metric.unit.symbol()),
        );
        if of.len() > 1 { format!("{} {figure}", plain(case)) } else { figure }
    };
    of.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What must be read beside the figures, of every variant: that it stands in its own report too does not help a reader
/// of this one.
pub(super) fn warnings(variants: &[&Submission]) -> String {
    let mut told = Vec::new();
    for shard in variants {
        for case in &shard.cases {
            // Few runs are what a sweep is made of: its cycles count.
            let warnings = summarize(case).warnings.into_iter().filter(|warning| warning.name != "few_runs");
            let place = format!("{}, {}", name(&shard.label), plain(&case.id));
            told.extend(warnings.map(|warning| format!("{place}: {}", plain(&warning.text))));
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = told.iter().map(|line| wrapped(line)).collect();
    format!("\nWarnings\n{}", lines.concat())
}

/// Seconds for people: `4.2 s`, `49 s`, `2 min 05 s`.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 60.0 => format!("{s:.0} s"),
        s => dyno_shared::format::duration(s),
    }
}
