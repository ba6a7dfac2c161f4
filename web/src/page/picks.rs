//! Picking submissions to compare: a box in every row, what is picked so far, and a way from a submission.

use dyno_shared::query::{Board, MOST_PICKS, Query};
use yew::{Callback, Html};

use super::leaderboard::{go, some};
use crate::compare::Asked;
use crate::dom::{El, el, link};
use crate::identity;
use crate::route::Route;
use crate::state::State;

/// The cell of a row with its box.
pub fn cell(query: &Query, id: &str, name: &str) -> El {
    let is = query.picks.iter().any(|known| known == id);
    let full = !is && query.picks.len() >= MOST_PICKS;
    let toggled = toggled(query, id);
    let title =
        if full { format!("At most {MOST_PICKS} are compared") } else { "Pick to compare".to_owned() };
    let tick = el("input")
        .attr("type", "checkbox")
        .attr("aria-label", format!("Compare {name}"))
        .maybe("disabled", full.then_some("disabled"))
        .checked(is)
        .on_change(Callback::from(move |_| go(toggled.clone())));
    el("td").class("pick").el(el("label").attr("title", title).el(tick))
}

fn toggled(query: &Query, id: &str) -> Query {
    let mut next = query.clone();
    next.pick(id);
    next
}

/// What is picked, each with a way to let it go, and the way to the comparison.
pub fn bar(board: &Board, query: &Query) -> Option<Html> {
    if query.picks.is_empty() {
        return None;
    }
    let chip = |id: &String| {
        let entry = board.entries.iter().find(|entry| entry.id == *id);
        let name = entry
            .map_or_else(|| id.clone(), |entry| identity::joined(&[&entry.label, &identity::name(entry)]));
        let chip = link(Route::Leaderboard(toggled(query, id)).to_hash(), String::new())
            .class("chip")
            .attr("title", name.clone())
            .attr("aria-label", format!("Do not compare {name}"))
            .el(el("span").class("chip-text").text(name))
            .el(el("span").attr("aria-hidden", "true").text(" ×"));
        el("li").el(chip).done()
    };
    let n = query.picks.len();
    let next = if n < 2 {
        el("span").class("muted").text("Pick another to compare it with.")
    } else {
        link(Asked::of(&query.picks).to_hash(), format!("Compare {n}")).class("action")
    };
    let none = Query { picks: Vec::new(), ..query.clone() };
    Some(
        el("section")
            .class("picked")
            .attr("aria-label", "Picked to compare")
            .el(el("p").attr("role", "status").text(format!("{n} picked")))
            .el(el("ul").class("chips").each(query.picks.iter().map(chip)))
            .el(next)
            .el(link(Route::Leaderboard(none).to_hash(), "Let all go"))
            .done(),
    )
}

/// From a submission's page to a comparison with what is picked, or to the leaderboard to pick.
pub fn with(state: &State, id: &str) -> Html {
    let mut query = Query { picks: state.picks.clone(), ..Query::default() };
    let others = query.picks.iter().filter(|known| *known != id).count();
    if others == query.picks.len() {
        query.pick(id);
    }
    let compare = (others > 0).then(|| {
        let words = format!("Compare with {} picked", some(others, "submission"));
        link(Asked::of(&query.picks).to_hash(), words).class("action").done()
    });
    let pick = if others > 0 { "Pick more to compare with" } else { "Compare with …" };
    let pick = link(Route::Leaderboard(query.clone()).to_hash(), pick).class("action");
    el("p").class("actions").when(compare).el(pick).done()
}
