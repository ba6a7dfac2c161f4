//! Submissions against each other: the sides, what differs, and a figure and a table for each regime.

mod differences;
mod pairs;
mod regime;
mod sides;
mod table;

use dyno_shared::comparison::{Comparison, Way, again, letter, margin, meanings, method, sentence};
use dyno_shared::query::Query;
use dyno_shared::workload::Regime;
use yew::{Callback, Html};

use super::leaderboard::select;
use super::rows::PHONE;
use crate::browser;
use crate::compare::{Asked, Compared};
use crate::component::notice;
use crate::dom::{div, el, link, nothing, p};
use crate::route::Route;
use crate::state::{Link, State};

/// Margins to choose from.
const MARGINS: [f64; 4] = [1.01, 1.02, 1.05, 1.1];

/// The page.
pub fn compare(state: &State, to_app: &Link, asked: &Asked, compared: Option<&Compared>) -> Html {
    let page = el("article").class("compare").el(el("h1").text("Compare"));
    let pick = || {
        let query = Query { picks: state.picks.clone(), ..Query::default() };
        link(Route::Leaderboard(query).to_hash(), "Pick on the leaderboard").class("action")
    };
    if asked.sides.is_empty() {
        let why = "Tick the boxes of two or more submissions on the leaderboard, then choose Compare.";
        return page
            .with(notice("Nothing to compare yet", why))
            .el(el("p").class("center").el(pick()))
            .done();
    }
    let page = page.with(sides::list(state, to_app, asked));
    let compared = compared.filter(|compared| compared.answers(state, asked));
    let body = match compared {
        Some(compared) => content(state, asked, compared),
        None if asked.sides.len() < 2 => {
            let why = "A comparison needs two: tick another on the leaderboard, then choose Compare.";
            notice("Only one submission", why)
        }
        None if sides::is_waiting(state, asked) => notice("Loading what is compared …", ""),
        None => notice(
            "This cannot be compared yet",
            "Not every submission is here: try the missing again, or drop it.",
        ),
    };
    page.el(el("p").class("actions").el(pick())).with(body).done()
}

fn content(state: &State, asked: &Asked, compared: &Compared) -> Html {
    let of = &compared.comparison;
    let width = match state.window {
        PHONE.. => state.window.min(1440) - 48,
        _ => state.window.saturating_sub(32),
    };
    let regimes = Regime::ALL
        .into_iter()
        .chain([Regime::Other])
        .filter_map(|regime| regime::section(compared, regime, asked, width));
    let mut lines = method(of);
    lines.extend(meanings(of));
    let made = (!lines.is_empty()).then(|| {
        let lines = lines.into_iter().map(|line| el("li").text(line).done());
        el("section")
            .class("regime")
            .el(el("h2").text("How these figures were made"))
            .el(el("ul").class("method-lines").each(lines))
            .done()
    });
    div("compared")
        .with(said(of))
        .with(terms(asked, of))
        .with(differences::section(&of.facts, of.sides.len()))
        .each(regimes)
        .when(made)
        .done()
}

/// What each side is against the first, in words.
fn said(of: &Comparison) -> Html {
    let mut words = el("div").class("said").attr("role", "status");
    for side in 1..of.sides.len() {
        words = words.with(p("lead", sentence(of, side)));
        if of.sides[side].is_the_first_again && !of.is_refused() {
            words = words.with(p("", again(side)));
        }
    }
    if of.is_refused() && !of.reasons().is_empty() {
        words = words.with(p("banner", ["Not comparable: ", &of.reasons().join("; "), "."].concat()));
    }
    words.done()
}

/// The margin, and whether what was not asked the same is compared all the same.
fn terms(asked: &Asked, of: &Comparison) -> Html {
    let mut margins = MARGINS.to_vec();
    if !margins.contains(&asked.terms.margin_ratio) {
        margins.push(asked.terms.margin_ratio);
    }
    let options: Vec<(String, bool)> =
        margins.iter().map(|of| (margin(*of), *of == asked.terms.margin_ratio)).collect();
    let with_margin = asked.clone();
    let list = select("equivalent within", options, move |chosen| {
        let mut asked = with_margin.clone();
        asked.terms.margin_ratio = margins.get(chosen).copied().unwrap_or(asked.terms.margin_ratio);
        browser::push(&asked.to_hash());
    });
    let mut all = of.cases.iter().flat_map(|case| &case.against).flat_map(|against| &against.ratios);
    let could = all.any(|ratio| ratio.way == Way::Refused);
    let mismatch = (asked.terms.allow_mismatch || could).then(|| {
        let mut other = asked.clone();
        other.terms.allow_mismatch = !asked.terms.allow_mismatch;
        let call = Callback::from(move |_| browser::push(&other.to_hash()));
        let tick = el("input").attr("type", "checkbox").checked(asked.terms.allow_mismatch).on_change(call);
        el("label").class("mismatch").el(tick).text("compare what was not asked the same, unpaired").done()
    });
    div("selects").with(list).when(mismatch).done()
}

/// `A` or another letter, in its colour and shape.
fn named(side: usize) -> Html {
    let swatch = dyno_shared::chart::side_swatch(side);
    el("span")
        .class("side-name")
        .el(el("span").attr("aria-hidden", "true").with(crate::component::figure(&swatch)))
        .text(letter(side))
        .done()
}

/// A table in a box of its own, in which it may be wider than the page.
fn boxed(about: &'static str, table: Html) -> Html {
    div("wide-table")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", about)
        .with(table)
        .done()
}

/// Something, if it is so.
fn only_if(is: bool, what: impl FnOnce() -> Html) -> Html {
    if is { what() } else { nothing() }
}
