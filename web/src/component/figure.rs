//! Figures. The only place where markup is set: what `dyno_shared::chart` wrote, in which every text is escaped.

use dyno_shared::chart::{Drawing, FittedAxis, Row, interval_cell};
use yew::{AttrValue, Html};

use crate::dom::{again, el};

/// A figure.
pub fn figure(drawing: &Drawing) -> Html {
    Html::from_html_unchecked(drawing.svg.clone().into())
}

/// A dot and its interval in a cell of a table, with its text on hover and focus; where a value was given and is not
/// drawn, the reason in its place.
pub fn mark_cell(axis: &FittedAxis, row: &Row, width: u32, height: u32) -> Html {
    let mut drawing = interval_cell(axis, row, width, height);
    let mark = drawing.marks.pop();
    let label: AttrValue = mark.as_ref().map(|mark| mark.label.clone()).unwrap_or_default().into();
    let drawn = mark.is_some_and(|mark| mark.drawn);
    let why = drawing.left_out.first().filter(|_| !drawn).map(|left| left.reason.to_string());
    el("span")
        .class("mark tip")
        .attr("tabindex", "0")
        .attr("role", "img")
        .attr("aria-label", again(&label))
        .attr("data-tip", label)
        .el(el("span").attr("aria-hidden", "true").with(figure(&drawing)))
        .when(why.map(|why| {
            el("span").class("left-out").attr("aria-hidden", "true").text(format!("not drawn: {why}")).done()
        }))
        .done()
}

#[cfg(test)]
mod tests {
    use dyno_shared::chart::theme::VARIABLES;

    #[test]
    fn the_style_sheet_has_the_inks_of_figures_once_light_and_twice_dark() {
        let css = include_str!("../../style.css");
        for ink in VARIABLES {
            let lines = |value: &str| css.matches(&format!("  {}: {value};\n", ink.name)).count();
            let expected = if ink.light == ink.dark { (3, 3) } else { (1, 2) };
            assert_eq!((lines(ink.light), lines(ink.dark)), expected, "{}", ink.name);
        }
    }
}
