//! The figures of a case: the client's beside the engine's, and what both together say.

use dyno_shared::chart::MarkKind;
use dyno_shared::format::{UNKNOWN, percent, short};
use dyno_shared::metric::{self, Family, METRICS, Metric};
use dyno_shared::submission::Evidence;
use dyno_shared::summary::{CaseSummary, Estimate};
use dyno_shared::units::Unit;
use yew::Html;

use super::legend::swatch;
use super::words::unknown;
use crate::dom::{El, all, el, heads, link, row_head, td, text};
use crate::route::Route;
use crate::{figure, identity};

/// Client, engine, and the metric that is their ratio, of one quantity.
const PAIRS: [(&str, &str, Option<&str>); 3] = [
    ("client_wall_ttft_s", "engine_ttft_s", None),
    ("client_wall_prefill_tok_s", "engine_prefill_tok_s", None),
    ("client_wall_decode_tok_s", "engine_decode_tok_s", Some("client_engine_decode_ratio")),
];

/// Metrics that a reader asks for last: those that say of one stream what another says already, and those of the
/// client itself.
const LAST: [&str; 6] = [
    "client_wall_gap_s",
    "client_wall_token_gap_s",
    "client_wall_aggregate_tok_s",
    "client_wall_batch_decode_tok_s",
    "client_wall_connect_s",
    "client_wall_queue_s",
];

/// One quantity: whose figures of it are known.
struct Line<'a> {
    metric: &'static Metric,
    client: Option<&'a Estimate>,
    engine: Option<&'a Estimate>,
    both: Option<&'a Estimate>,
    /// Whether client and engine could both have it.
    pair: bool,
}

/// The first figures of a case, a line per quantity. Of a summary without runs they are all there is.
pub fn estimates(summary: &CaseSummary, evidence: Evidence, streams: u32) -> Html {
    let first =
        |line: &Line<'_>| evidence != Evidence::Raw || streams > 1 || !LAST.contains(&line.metric.tag);
    let ours: Vec<Html> =
        lines(summary).iter().filter(|line| first(line)).map(|line| row(line, evidence)).collect();
    let theirs: Vec<Html> =
        summary.estimates.iter().filter(|e| metric::find(&e.metric).is_none()).map(own_row).collect();
    let heads_of_ours =
        ["quantity", "client", "engine", "client / engine, or both", "n#", "spread#", "detects#"];
    all([table(&heads_of_ours, ours), table(&["in the source’s own words", "figure", "n#"], theirs)])
}

/// Every figure of a case, a line each, with all that is known of it.
pub fn every_estimate(summary: &CaseSummary) -> Html {
    let rows = summary.estimates.iter().map(|estimate| {
        let scale = Scale::of(metric::find(&estimate.metric), &[estimate]);
        let range = estimate.min.zip(estimate.max).map(|(min, max)| scale.range(min, max));
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
        let name = with_unit(&estimate.metric, estimate.unit.as_deref().unwrap_or(scale.unit));
        el("tr")
            .with(row_head(name))
            .el(figure_cell(estimate, scale, None))
            .with(td("number", or_dash(range)))
            .with(td("number", or_dash(estimate.n.map(|n| n.to_string()))))
            .with(td("number", percent(estimate.spread)))
            .with(td("number", percent(estimate.detects)))
            .with(td("", statistic(estimate)))
            .with(td("verdict", estimate.note.clone().unwrap_or_default()))
            .done()
    });
    let names = ["metric", "figure", "runs from–to#", "n#", "spread#", "detects#", "statistic", "note"];
    table(&names, rows.collect())
}

fn table(names: &[&str], rows: Vec<Html>) -> Html {
    if rows.is_empty() {
        return Html::default();
    }
    el("table").class("plain estimates").with(heads(names)).el(el("tbody").each(rows)).done()
}

fn lines(summary: &CaseSummary) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for metric in METRICS.iter().copied() {
        let tag = metric.tag;
        let of = |family| summary.get(tag).filter(|_| metric.family == family);
        let pair = PAIRS
            .iter()
            .find(|(client, engine, ratio)| *client == tag || *engine == tag || *ratio == Some(tag));
        let line = match pair {
            Some((client, engine, ratio)) if *client == tag => Line {
                metric,
                client: summary.get(client),
                engine: summary.get(engine),
                both: ratio.and_then(|tag| summary.get(tag)),
                pair: true,
            },
            // The engine's and the ratio stand on the client's line.
            Some(_) => continue,
            None => Line {
                metric,
                client: of(Family::Client),
                engine: of(Family::Engine),
                both: of(Family::Both),
                pair: false,
            },
        };
        if line.client.or(line.engine).or(line.both).is_some() {
            lines.push(line);
        }
    }
    lines
}

fn row(line: &Line<'_>, evidence: Evidence) -> Html {
    let of_quantity: Vec<&Estimate> = [line.client, line.engine].into_iter().flatten().collect();
    let of_line: Vec<&Estimate> = of_quantity.iter().copied().chain(line.both).collect();
    let scale = Scale::of(Some(line.metric), &of_quantity);
    let name = link(Route::Method(Some(line.metric.tag.to_owned())).to_hash(), line.metric.title);
    let cell = |estimate: Option<&Estimate>, head: &'static str, why: &'static str| match estimate {
        Some(estimate) => figure_cell(estimate, scale, Some(identity::mark(evidence, &estimate.metric)))
            .attr("data-head", head),
        None if line.pair => el("td").class("figure").attr("data-head", head).with(unknown(why)),
        None => el("td"),
    };
    let ratio_of_points = || Some(short(line.client?.value? / line.engine?.value?));
    let both = match (line.both, ratio_of_points()) {
        (Some(both), _) => figure_cell(both, Scale::of(metric::find(&both.metric), &[both]), None),
        // No metric is their ratio run by run: a number without an interval.
        (None, Some(ratio)) => {
            el("td").class("figure").attr("title", "of the two figures; not run by run").text(ratio)
        }
        (None, None) => el("td"),
    };
    let notes = of_line.iter().filter_map(|e| e.note.clone());
    let first = of_line.first().copied();
    let head = el("th").attr("scope", "row").el(name).el(el("span").class("unit").text(scale.unit));
    el("tr")
        .el(asides(head, first.map(name_of_statistic).into_iter().chain(notes)))
        .el(cell(line.client, "client", "not measured by the client"))
        .el(cell(line.engine, "engine", "not reported by the engine"))
        .el(both.attr("data-head", if line.pair { "client / engine" } else { "both" }))
        .each(facts(first))
        .done()
}

/// With lines of small print.
fn asides(cell: El, lines: impl Iterator<Item = String>) -> El {
    cell.each(lines.map(|line| el("small").text(line).done()))
}

/// How many runs, how spread, and what they detect.
fn facts(estimate: Option<&Estimate>) -> [Html; 3] {
    let n = estimate.and_then(|e| e.n).map_or_else(|| unknown("not stated"), |n| text(n.to_string()));
    let fact =
        |head: &'static str, fact: Html| el("td").class("number").attr("data-head", head).with(fact).done();
    let share = |of: fn(&Estimate) -> Option<f64>| text(percent(estimate.and_then(of)));
    [fact("n", n), fact("spread", share(|e| e.spread)), fact("detects", share(|e| e.detects))]
}

fn own_row(estimate: &Estimate) -> Html {
    let name = with_unit(&estimate.metric, estimate.unit.as_deref().unwrap_or_default());
    let head = el("th").attr("scope", "row").text(name);
    let [n, _, _] = facts(Some(estimate));
    el("tr")
        .el(asides(head, std::iter::once(name_of_statistic(estimate)).chain(estimate.note.clone())))
        .el(figure_cell(estimate, Scale::of(None, &[]), Some(MarkKind::Stated)).attr("data-head", "figure"))
        .with(n)
        .done()
}

/// `● 39.5 (38.9–40.1)`.
pub fn figure_cell(estimate: &Estimate, scale: Scale, mark: Option<MarkKind>) -> El {
    let written = figure::of_estimate(estimate, scale.factor);
    let mut value = el("span").class("value");
    if let Some(mark) = mark {
        value = value.with(swatch(mark));
    }
    let cell = el("td").class("figure").el(value.text(written.value));
    if written.behind.is_empty() {
        return cell;
    }
    // The blank stands between them, so that what is behind may go to the next line.
    cell.text(" ").el(el("span").class("behind").text(written.behind))
}

fn name_of_statistic(estimate: &Estimate) -> String {
    estimate.statistic.clone().unwrap_or_else(|| "statistic not stated".to_owned())
}

/// `ratio of totals; 95 % bootstrap, expanded`.
fn statistic(estimate: &Estimate) -> String {
    let name = name_of_statistic(estimate);
    estimate.interval.as_ref().map_or_else(|| name.clone(), |interval| format!("{name}; {}", interval.kind))
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}, {unit}") }
}

/// The unit of a line: the metric's own, or for times that are all short, milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    factor: f64,
    /// Its symbol.
    pub unit: &'static str,
}

impl Scale {
    /// In which all of these can be read.
    pub fn of(metric: Option<&Metric>, estimates: &[&Estimate]) -> Self {
        let unit = metric.map_or(Unit::One, |m| m.unit);
        let short = |estimate: &&Estimate| estimate.value.or(estimate.max).is_some_and(|x| x.abs() < 0.1);
        if unit == Unit::Seconds && !estimates.is_empty() && estimates.iter().all(short) {
            return Self { factor: 1e3, unit: "ms" };
        }
        Self { factor: 1.0, unit: unit.symbol() }
    }

    fn range(self, min: f64, max: f64) -> String {
        format!("{}–{}", short(min * self.factor), short(max * self.factor))
    }
}
