//! What was asked for beside what the engine says it runs; differences are said in words.

use dyno_shared::system::{Configuration, Setting, Sourced};
use yew::Html;

use crate::component::unknown;
use crate::dom::{El, el, heads, p};

/// The table of settings.
pub fn table(configuration: &Configuration) -> Html {
    let section = el("section").class("facts").el(el("h2").text("Configuration"));
    let effective = configuration.effective.iter();
    let only_effective = effective.filter(|(key, _)| !configuration.requested.contains_key(*key));
    let requested = configuration
        .requested
        .iter()
        .map(|(key, value)| row(key, Some(value), configuration.effective.get(key)));
    let rows: Vec<Html> =
        requested.chain(only_effective.map(|(key, value)| row(key, None, Some(value)))).collect();
    if rows.is_empty() {
        let words = "Neither what was asked for nor what was in effect is stated.";
        return section.with(p("muted", words)).done();
    }
    let table = el("table")
        .class("plain configuration")
        .with(heads(&["setting", "requested", "in effect"]))
        .el(el("tbody").each(rows));
    section.el(table).done()
}

fn row(key: &str, requested: Option<&Setting>, effective: Option<&Sourced>) -> Html {
    let differs = requested.zip(effective).is_some_and(|(r, e)| *r != e.value);
    let code = |value: &Setting| -> El { el("td").el(el("code").text(value.to_string())) };
    let asked = requested.map_or_else(|| el("td").with(unknown("not asked for")), code);
    let runs = effective.map_or_else(
        || el("td").with(unknown("the engine does not say")),
        |sourced| {
            code(&sourced.value)
                .when(differs.then(|| el("strong").text(" differs").done()))
                .el(el("small").text(format!("says {}", sourced.source)))
        },
    );
    el("tr").el(el("th").attr("scope", "row").el(el("code").text(key.to_owned()))).el(asked).el(runs).done()
}
