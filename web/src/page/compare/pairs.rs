//! The runs of a case side by side.

use dyno_shared::comparison::{Pair, Ratio, letter};
use dyno_shared::format::{fixed, short};
use yew::Html;

use crate::dom::{el, heads, row_head, td};

/// A line per pair.
pub fn table(headline: &Ratio, side: usize) -> Html {
    let metric = headline.metric;
    let other = letter(side);
    let unit = [", ", metric.unit.symbol(), "#"].concat();
    let (of_a, of_b, over) =
        (["A", &unit].concat(), [other.as_str(), &unit].concat(), [&other, " / A#"].concat());
    let cycles = headline.pairs.iter().any(|pair| pair.cycle.is_some());
    let mut names = vec!["run", &of_a, &of_b, &over];
    if cycles {
        names.insert(1, "cycle#");
    }
    let row = |pair: &Pair| {
        let cycle = cycles.then(|| td("number", pair.cycle.map_or_else(String::new, |n| n.to_string())));
        el("tr")
            .with(row_head(pair.run.to_string()))
            .when(cycle)
            .with(td("number", short(pair.a)))
            .with(td("number", short(pair.b)))
            .with(td("number", fixed(pair.b / pair.a, 3)))
            .done()
    };
    el("table")
        .class("plain pairs")
        .el(el("caption").text(["Run by run: ", metric.title].concat()))
        .with(heads(&names))
        .el(el("tbody").each(headline.pairs.iter().map(row)))
        .done()
}
