//! What differs between the sides; what is the same is folded.

use dyno_shared::comparison::{Fact, letter};
use yew::Html;

use super::boxed;
use crate::component::{self, unknown};
use crate::dom::{el, heads, p, text};

/// The table of what differs.
pub fn section(facts: &[Fact], sides: usize) -> Html {
    let mut rows = Vec::new();
    let mut same = Vec::new();
    for fact in facts {
        if fact.differs() {
            rows.push(row(fact));
        } else {
            let name = [fact.group, ": ", &fact.name].concat();
            same.push(component::Fact::new(&name, fact.values.first().cloned().flatten()));
        }
    }
    let section = el("section").class("regime").el(el("h2").text("Differences"));
    let section = if rows.is_empty() {
        section.with(p("muted", "Nothing differs that the files tell."))
    } else {
        let letters: Vec<String> = (0..sides).map(letter).collect();
        let names: Vec<&str> = ["what"].into_iter().chain(letters.iter().map(String::as_str)).collect();
        let table = el("table").class("plain differences").with(heads(&names)).el(el("tbody").each(rows));
        section.with(boxed("Differences", table.done()))
    };
    let folded = (!same.is_empty()).then(|| {
        let title = ["Told the same by all: ", &dyno_shared::format::count(same.len(), "fact")].concat();
        let heading = el("h3").class("hidden").text("The same");
        el("details").el(el("summary").text(title)).with(component::facts_under(heading, same)).done()
    });
    section.when(folded).done()
}

fn row(fact: &Fact) -> Html {
    let value = |value: &Option<String>| {
        let words = match value {
            Some(value) => text(value.clone()),
            None => unknown("not stated"),
        };
        el("td").with(words).done()
    };
    let head = el("th").attr("scope", "row").text(fact.name.clone()).el(el("small").text(fact.group));
    el("tr").el(head).each(fact.values.iter().map(value)).done()
}
