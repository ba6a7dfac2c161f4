//! A facet: the values that exist, how many rows each has, and which are chosen.

use dyno_shared::query::Facet;
use yew::{Callback, Html};

use crate::dom::el;

/// Values beyond this number are folded; chosen ones never are.
const FEW: usize = 12;

/// A list of boxes to tick.
pub fn facet_list(title: &'static str, facets: &[Facet], on_toggle: &Callback<String>) -> Html {
    let (mut open, mut folded) = (Vec::new(), Vec::new());
    for (i, facet) in facets.iter().enumerate() {
        let list = if i < FEW || facet.chosen { &mut open } else { &mut folded };
        list.push(value(facet, on_toggle));
    }
    let rest = (!folded.is_empty()).then(|| {
        let more = format!("{} more", folded.len());
        el("details").el(el("summary").text(more)).each(folded).done()
    });
    el("fieldset").class("facet").el(el("legend").text(title)).each(open).when(rest).done()
}

fn value(facet: &Facet, on_toggle: &Callback<String>) -> Html {
    let call = {
        let (value, on_toggle) = (facet.value.clone(), on_toggle.clone());
        Callback::from(move |_| on_toggle.emit(value.clone()))
    };
    let name = if facet.value.trim().is_empty() { "unnamed" } else { &facet.value };
    el("label")
        .key(facet.value.clone())
        .attr("title", name.to_owned())
        .el(el("input").attr("type", "checkbox").checked(facet.chosen).on_change(call))
        .el(el("span").class("facet-name").text(name.to_owned()))
        .el(el("span").class("facet-count").text(facet.count.to_string()))
        .done()
}
