//! The table behind the figure of a regime: every ratio of every case, with the figures that it is made of.
//!
//! The attributes of a row carry its figures to the last digit; the tests hold them against those of `dyno compare`.

use dyno_shared::chart::Scale as AxisScale;
use dyno_shared::chart::sanitise::admit;
use dyno_shared::comparison::{Against, CaseComparison, Ratio, Role, letter};
use dyno_shared::figure::ratios::{found, replicates, said};
use dyno_shared::format::{UNKNOWN, full, p_value, ratio as shown};
use dyno_shared::summary::Estimate;
use yew::Html;

use super::{boxed, named, only_if, pairs};
use crate::compare::{Asked, Compared};
use crate::component::{Scale, figure_cell, unknown};
use crate::dom::{El, el, heads, link, td};
use crate::identity;
use crate::route::Route;

/// Columns of the table.
const COLUMNS: &str = "7";

/// The table.
pub fn table(compared: &Compared, cases: &[&CaseComparison], asked: &Asked) -> Html {
    let two = compared.comparison.sides.len() == 2;
    let (other, ratio) = if two { ("B", "B / A") } else { ("other", "ratio to A") };
    let names = ["figure", "A", other, ratio, "p, Holm#", "n#", "verdict"];
    let mut table = el("table").class("plain ratios").with(heads(&names));
    for case in cases {
        for against in &case.against {
            table = table.el(group(compared, case, against, asked));
        }
    }
    boxed("Every ratio", table.done())
}

/// A case on one side: what is to be known of it, then its ratios.
fn group(compared: &Compared, case: &CaseComparison, against: &Against, asked: &Asked) -> El {
    let key = dyno_shared::query::CaseKey { id: case.case.clone(), streams: case.concurrency };
    let mut head = el("th")
        .attr("scope", "rowgroup")
        .attr("colspan", COLUMNS)
        .el(el("strong").text(key.title()))
        .with(only_if(compared.comparison.sides.len() > 2, || named(against.side)));
    let absent = found(against);
    if !absent.is_empty() {
        head = head.el(el("span").class("muted").text(absent));
    }
    let open = asked.pairs.as_ref() == Some(&case.case);
    let headline = against.headline().filter(|headline| !headline.pairs.is_empty());
    if headline.is_some() {
        let mut other = asked.clone();
        other.pairs = (!open).then(|| case.case.clone());
        let words = if open { "Hide the runs" } else { "Run by run" };
        let label = [&key.id, ", ", &letter(against.side), ": ", words].concat();
        head = head.el(link(other.to_hash(), words).class("run-by-run").attr("aria-label", label));
    }
    if !against.reasons.is_empty() {
        let words = ["Not comparable: ", &against.reasons.join("; "), "."].concat();
        head = head.el(el("small").class("reasons").text(words));
    }
    for remark in &against.remarks {
        head = head.el(el("small").text(remark.clone()));
    }
    let runs = headline.filter(|_| open).map(|headline| {
        el("tr").el(el("td").attr("colspan", COLUMNS).with(pairs::table(headline, against.side))).done()
    });
    el("tbody")
        .attr("data-case", case.case.clone())
        .attr("data-side", letter(against.side))
        .attr("data-found", against.found.word())
        .el(el("tr").class("case-head").el(head))
        .each(against.ratios.iter().map(|ratio| row(compared, case, against, ratio)))
        .when(runs)
}

fn row(compared: &Compared, case: &CaseComparison, against: &Against, ratio: &Ratio) -> Html {
    let metric = ratio.metric;
    let figures: Vec<&Estimate> = ratio.figures.iter().flatten().collect();
    let scale = Scale::of(Some(metric), &figures);
    let cell = |side: usize, figure: &Option<Estimate>| {
        let boot = compared.sides[side].first();
        let cell = match (figure, boot) {
            (Some(figure), Some(boot)) => {
                let evidence = boot.submission.provenance.evidence;
                figure_cell(figure, scale, Some(identity::mark(evidence, metric.tag)))
            }
            _ if matches!(ratio.role, Role::Headline | Role::Beside) => {
                el("td").class("figure").with(unknown("not measured"))
            }
            _ => el("td"),
        };
        cell.attr("data-head", letter(side)).done()
    };
    let behind = |head: &'static str, words: String| -> Html {
        el("td").class("number").attr("data-head", head).text(words).done()
    };
    let role = match ratio.role {
        Role::Headline | Role::Beside => "",
        Role::Shown => " · not tested",
        Role::Split => " · factor of the decode rate",
    };
    let head = el("th")
        .attr("scope", "row")
        .el(link(Route::Method(Some(metric.tag.to_owned())).to_hash(), metric.title))
        .el(el("span").class("unit").text(scale.unit))
        .el(el("small").text([metric.family.title(), role].concat()));
    let mut row = el("tr")
        .class(if ratio.role == Role::Headline { "headline" } else { "" })
        .attr("data-case", case.case.clone())
        .attr("data-side", letter(against.side))
        .attr("data-metric", metric.tag);
    let figures = [
        ("data-ratio", ratio.ratio),
        ("data-low", ratio.interval.map(|of| of.low)),
        ("data-high", ratio.interval.map(|of| of.high)),
        ("data-p", ratio.holm_p),
    ];
    for (name, figure) in figures {
        if let Some(figure) = figure {
            row = row.attr(name, full(figure));
        }
    }
    let verdict = match &ratio.verdict {
        Some(verdict) => {
            row = row.attr("data-verdict", verdict.word());
            said(verdict)
        }
        None => UNKNOWN.to_owned(),
    };
    row.el(head)
        .with(cell(0, &ratio.figures[0]))
        .with(cell(against.side, &ratio.figures[1]))
        .el(number(ratio))
        .with(behind("p", ratio.holm_p.map_or_else(|| UNKNOWN.to_owned(), p_value)))
        .with(behind("n", replicates(ratio)))
        .with(td("verdict-word", verdict))
        .done()
}

/// The ratio with its interval, and why it is not drawn where it is not.
fn number(ratio: &Ratio) -> El {
    let cell = el("td").class("figure").attr("data-head", "ratio");
    let Some(value) = ratio.ratio else { return cell.with(unknown("no two figures meet")) };
    let both = shown(value, ratio.interval.map(|of| (of.low, of.high)));
    let (number, interval) = both.split_once(' ').unwrap_or((&both, "(no interval)"));
    let cell = cell
        .el(el("span").class("value").text(number.to_owned()))
        .text(" ")
        .el(el("span").class("behind").text(interval.to_owned()));
    match admit(value, AxisScale::Ratio) {
        Ok(_) => cell,
        Err(reason) => cell.el(el("small").text(["not drawn: ", &reason.to_string()].concat())),
    }
}
