//! What the marks mean: said once, on top.

use dyno_shared::chart::MarkKind;
use yew::Html;

use crate::dom::{El, el};

/// A mark as it stands in the figures, in the colour of the text.
pub fn swatch(kind: MarkKind) -> Html {
    let hollow =
        |shape: El| shape.attr("fill", "none").attr("stroke", "currentColor").attr("stroke-width", "1.75");
    let circle = |radius: &'static str| el("circle").attr("cx", "6").attr("cy", "6").attr("r", radius);
    let shape = match kind {
        MarkKind::ClientSolid => circle("4.5").attr("fill", "currentColor"),
        MarkKind::Stated => hollow(circle("3.6")),
        MarkKind::Engine => hollow(el("path").attr("d", "M1.1 6 6 1.1 10.9 6 6 10.9z")),
    };
    picture("12", "0 0 12 12", shape)
}

fn picture(width: &'static str, view: &'static str, shape: El) -> Html {
    el("svg")
        .class("swatch")
        .attr("width", width)
        .attr("height", "12")
        .attr("viewBox", view)
        .attr("aria-hidden", "true")
        .el(shape)
        .done()
}

/// Every mark with its meaning.
pub fn legend() -> Html {
    let whisker = el("path")
        .attr("d", "M1 6H19M1 2v8M19 2v8")
        .attr("fill", "none")
        .attr("stroke", "currentColor")
        .attr("stroke-width", "1.5");
    let items = [
        (swatch(MarkKind::ClientSolid), "client’s clock"),
        (swatch(MarkKind::Engine), "engine’s own figure"),
        (swatch(MarkKind::Stated), "transcribed or imported summary"),
        (picture("20", "0 0 20 12", whisker), "95 % interval"),
    ];
    let item = |(mark, words): (Html, &'static str)| el("li").with(mark).text(words).done();
    el("ul").class("legend").attr("aria-label", "Marks").each(items.map(item)).done()
}
