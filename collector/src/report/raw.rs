//! The tables of measured cases: one for each regime, because their headline figures differ.

use std::collections::BTreeSet;

use dyno_shared::format::{UNKNOWN, maybe, percent, with_interval};
use dyno_shared::metric;
use dyno_shared::plain::plain;
use dyno_shared::summary::Estimate;
use dyno_shared::workload::Regime;

use super::CaseView;
use super::table::{Align, Column, draw, wrapped};

/// Failed runs that are told one by one; a case whose runs all fail fails them all in the same way.
const FAILURES_TOLD: usize = 3;

/// Where a column of figures comes from.
struct Figure {
    head: &'static str,
    metric: &'static str,
    interval: bool,
}

const fn with(head: &'static str, metric: &'static str) -> Figure {
    Figure { head, metric, interval: true }
}

const fn bare(head: &'static str, metric: &'static str) -> Figure {
    Figure { head, metric, interval: false }
}

/// The figures of a regime: the headline first, with its spread and what it detects, then the others.
fn figures(regime: Regime) -> (Figure, Vec<Figure>) {
    let ttft = || with("TTFT", "client_wall_ttft_s");
    let decode = || with("decode", "client_wall_decode_tok_s");
    match regime {
        Regime::ColdPrefill => (
            with("prefill", "client_wall_prefill_tok_s"),
            vec![ttft(), bare("engine", "engine_prefill_tok_s"), bare("cached", "cached_prompt_share")],
        ),
        Regime::CachedPrefix | Regime::Session => (
            ttft(),
            vec![bare("cached", "cached_prompt_share"), decode(), bare("engine", "engine_decode_tok_s")],
        ),
        Regime::Load => (
            with("aggregate", "client_wall_aggregate_tok_s"),
            vec![ttft(), decode(), bare("steady", "client_wall_steady_tok_s")],
        ),
        Regime::Decode | Regime::DecodeAtDepth | Regime::Other => (
            decode(),
            vec![
                ttft(),
                bare("engine", "engine_decode_tok_s"),
                bare("client/", "client_engine_decode_ratio"),
            ],
        ),
    }
}

/// Writes a table for each regime that has cases, then what must be read beside them.
pub(super) fn write(out: &mut String, views: &[CaseView<'_>]) {
    for regime in Regime::ALL.into_iter().chain([Regime::Other]) {
        let of: Vec<&CaseView<'_>> = views.iter().filter(|view| view.case.regime == regime).collect();
        if !of.is_empty() {
            out.push('\n');
            out.push_str(&draw(&columns(regime, &of)));
        }
    }
    if views.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&legend(views));
    super::latency::gaps(out, views);
    super::energy::write(out, views);
    super::reproducibility(out, views);
    warnings(out, views);
}

fn columns(regime: Regime, views: &[&CaseView<'_>]) -> Vec<Column> {
    let cells =
        |cell: &dyn Fn(&CaseView<'_>) -> String| views.iter().map(|view| cell(view)).collect::<Vec<_>>();
    let (headline, mut others) = figures(regime);
    others.extend(further(views));
    let of_headline = |view: &CaseView<'_>, share: fn(&Estimate) -> Option<f64>| {
        percent(view.summary.get(headline.metric).and_then(share))
    };
    let mut columns = vec![Column::new(regime.title(), "", Align::Left, cells(&|view| plain(&view.case.id)))];
    if regime == Regime::Load || views.iter().any(|view| view.case.concurrency > 1) {
        columns.push(Column::new("streams", "", Align::Right, cells(&|view| streams(view))));
    }
    if views.iter().any(|view| view.case.prompt_tokens_target.is_some()) {
        columns.push(Column::new(
            "prompt",
            "tok",
            Align::Right,
            cells(&|view| maybe_whole(view.summary.prompt_tokens)),
        ));
    }
    columns.push(figure_column(&headline, views));
    columns.push(Column::new("runs", "", Align::Right, cells(&|view| runs(view))));
    columns.push(Column::new("spread", "", Align::Right, cells(&|view| of_headline(view, |e| e.spread))));
    columns.push(Column::new("detects", "", Align::Right, cells(&|view| of_headline(view, |e| e.detects))));
    columns.extend(others.iter().map(|figure| figure_column(figure, views)));
    columns
}

/// Figures that only some cases of a regime have.
fn further(views: &[&CaseView<'_>]) -> Vec<Figure> {
    let two_length = with("two lengths", "client_wall_two_length_decode_tok_s");
    let has = |figure: &Figure| views.iter().any(|view| view.summary.get(figure.metric).is_some());
    let mut figures = Vec::new();
    if has(&two_length) {
        figures.push(two_length);
    }
    if views.iter().any(|view| view.case.arrival.is_some()) {
        figures.push(with("from due", "client_wall_latency_from_due_s"));
        figures.push(bare("our wait", "client_wall_queue_s"));
    }
    figures
}

/// Streams at once, with those that the engine really served at once where they were fewer; of an open loop its rate.
fn streams(view: &CaseView<'_>) -> String {
    let asked = view.case.concurrency;
    match (view.case.arrival, view.summary.achieved_concurrency) {
        (Some(arrival), _) => format!("{}/s", arrival.per_s()),
        (None, Some(served)) if served < asked && view.case.regime == Regime::Load => {
            format!("{served} of {asked}")
        }
        _ => asked.to_string(),
    }
}

fn figure_column(figure: &Figure, views: &[&CaseView<'_>]) -> Column {
    let unit = match figure.metric {
        "client_engine_decode_ratio" => "engine",
        "cached_prompt_share" => "share",
        tag => metric::find(tag).map_or("", |metric| metric.unit.symbol()),
    };
    let cell = |view: &&CaseView<'_>| {
        let estimate = view.summary.get(figure.metric);
        let value = estimate.and_then(|e| e.value);
        if figure.metric == "cached_prompt_share" {
            return percent(value);
        }
        let interval = estimate.and_then(|e| e.interval.as_ref()).map(|i| (i.low, i.high));
        if figure.interval { with_interval(value, interval) } else { maybe(value) }
    };
    let align = if figure.interval { Align::Left } else { Align::Right };
    Column::new(figure.head, unit, align, views.iter().map(cell).collect())
}

/// Runs that passed, of those recorded.
fn runs(view: &CaseView<'_>) -> String {
    match (view.summary.passed, view.summary.runs) {
        (Some(passed), Some(runs)) => format!("{passed}/{runs}"),
        // A case that ended before its first run.
        _ => "0/0".to_owned(),
    }
}

fn maybe_whole(tokens: Option<f64>) -> String {
    tokens.map_or_else(|| UNKNOWN.to_owned(), |tokens| format!("{tokens:.0}"))
}

/// How to read the columns, and of which kind the intervals are.
fn legend(views: &[CaseView<'_>]) -> String {
    let kinds: BTreeSet<&str> = views
        .iter()
        .flat_map(|view| &view.summary.estimates)
        .filter_map(|estimate| Some(estimate.interval.as_ref()?.kind.as_str()))
        .collect();
    let intervals = if kinds.is_empty() {
        "No intervals: fewer than 3 passing runs in every case.".to_owned()
    } else {
        format!("Intervals in brackets: {}.", kinds.into_iter().collect::<Vec<_>>().join("; "))
    };
    format!(
        "{intervals} runs: passed/recorded.\n\
         spread: standard deviation over mean. detects: the smallest difference that a comparison of as many\n\
         runs would find. {UNKNOWN}: unknown.\n"
    )
}

fn warnings(out: &mut String, views: &[CaseView<'_>]) {
    let mut told = Vec::new();
    for view in views {
        let id = plain(&view.case.id);
        told.extend(view.summary.warnings.iter().map(|warning| format!("{id}: {}", plain(&warning.text))));
        // A case without a single run has no summary of its own to say it.
        if let Some(why) = view.case.ended_early.as_ref().filter(|_| view.case.runs.is_empty()) {
            told.push(format!("{id}: no run was recorded: {}", plain(why)));
        }
        for failure in view.summary.failures.iter().take(FAILURES_TOLD) {
            told.push(format!("{id}, run {}: {}", failure.run, plain(&failure.reasons.join("; "))));
        }
        let untold = view.summary.failures.len().saturating_sub(FAILURES_TOLD);
        if untold > 0 {
            told.push(format!("{id}: {untold} more failed runs stand in the file"));
        }
    }
    if !told.is_empty() {
        out.push_str("\nWarnings\n");
        for line in told {
            out.push_str(&wrapped(&line));
        }
    }
}
