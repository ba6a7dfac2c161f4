//! The sides: which submissions they are, how far their shards have come, and what can be done with them.

use dyno_shared::format::count;
use yew::Html;

use super::named;
use crate::badge;
use crate::compare::Asked;
use crate::component::badges;
use crate::dom::{act, all, button, div, el, link, p};
use crate::identity;
use crate::page::submission::name;
use crate::route::{Route, is_id};
use crate::state::{Action, Link, Load, Piece, State};

/// Every side, the first on top.
pub fn list(state: &State, to_app: &Link, asked: &Asked) -> Html {
    let two = asked.sides.len() == 2;
    let item = |(at, ids): (usize, &Vec<String>)| {
        let boots = ids.iter().map(|id| boot(state, to_app, id));
        let pooled = (ids.len() > 1).then(|| {
            p("muted", ["Taken together: ", &count(ids.len(), "boot"), " of one configuration."].concat())
        });
        let letter = dyno_shared::comparison::letter(at);
        let first = if two { "Swap with A" } else { "Make it A" };
        let first = (at > 0).then(|| {
            let to = link(asked.with_first(at).to_hash(), first);
            to.attr("aria-label", [&letter, ": ", first].concat()).done()
        });
        let drop = link(asked.without(at).to_hash(), "Drop").attr("aria-label", ["Drop ", &letter].concat());
        el("li")
            .class("side")
            .with(named(at))
            .el(div("boots").each(boots).when(pooled))
            .el(el("p").class("actions").when(first).el(drop))
            .done()
    };
    el("ol").class("sides").each(asked.sides.iter().enumerate().map(item)).done()
}

/// Whether a shard may still come.
pub fn is_waiting(state: &State, asked: &Asked) -> bool {
    asked.ids().any(|id| is_id(id) && state.shard(id).is_waiting())
}

fn boot(state: &State, to_app: &Link, id: &str) -> Html {
    if !is_id(id) {
        let words = "This is no id of a submission: ids are letters, digits, - and _.";
        return div("boot").el(el("code").text(id.to_owned())).with(p("", words)).done();
    }
    let there = |name: String| link(Route::Submission(id.to_owned()).to_hash(), name);
    let unnamed = || el("code").text(id.to_owned());
    let (title, below) = match state.shard(id) {
        Load::Ready(shard) => {
            let submission = &shard.submission;
            let date = submission.provenance.started_at.as_deref().map_or("", identity::day);
            let parts = [&submission.label, submission.system.hardware.name.as_str(), date];
            let about = p("muted", identity::joined(&parts));
            (there(name(submission)), all([about, badges(&badge::of_submission(submission))]))
        }
        Load::Failed(why) => {
            let piece = id.to_owned();
            let retry = act(to_app, move || Action::Retry(Piece::Shard(piece.clone())));
            (unnamed(), all([p("", why.clone()), button("Try again", retry).done()]))
        }
        Load::Unasked | Load::Asked => (unnamed(), p("muted", "Loading …")),
    };
    div("boot").el(title).with(below).done()
}
