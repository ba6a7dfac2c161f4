//! Every run of a case in order, and a line that reads out the one under the pointer or the arrow keys.

use dyno_shared::chart::{RunStrip, run_strip};
use yew::{Callback, Html, KeyboardEvent, Properties, component, use_state};

use super::figure::figure;
use crate::dom::{div, el};

/// The runs.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// What is drawn.
    pub strip: RunStrip,
    /// CSS pixels.
    pub width: u32,
}

/// Pixels around a mark in which the pointer means it.
const REACH: &str = "14";

/// The figure.
#[component]
pub fn RunFigure(props: &Props) -> Html {
    let chosen = use_state(|| None::<usize>);
    let mut drawing = run_strip(&props.strip, props.width);
    let marks = std::mem::take(&mut drawing.marks);
    let on_key = {
        let (chosen, last) = (chosen.clone(), marks.len().saturating_sub(1));
        Callback::from(move |event: KeyboardEvent| {
            let next = match (event.key().as_str(), *chosen) {
                ("ArrowRight", at) => at.map_or(0, |i| (i + 1).min(last)),
                ("ArrowLeft", at) => at.map_or(last, |i| i.saturating_sub(1)),
                ("Home", _) => 0,
                ("End", _) => last,
                _ => return,
            };
            event.prevent_default();
            chosen.set(Some(next));
        })
    };
    let at = (*chosen).and_then(|i| marks.get(i));
    let circle = |x: f64, y: f64| el("circle").attr("cx", x.to_string()).attr("cy", y.to_string());
    let targets = marks.iter().enumerate().map(|(i, mark)| {
        let (enter, click) = (chosen.clone(), chosen.clone());
        circle(mark.x, mark.y)
            .class("target")
            .attr("r", REACH)
            .on_enter(move || enter.set(Some(i)))
            .on_click(move || click.set(Some(i)))
            .done()
    });
    let over = el("svg")
        .class("over")
        .attr("width", drawing.width.to_string())
        .attr("height", drawing.height.to_string())
        .attr("viewBox", format!("0 0 {} {}", drawing.width, drawing.height))
        .attr("aria-hidden", "true")
        .when(at.map(|mark| circle(mark.x, mark.y).class("chosen").attr("r", "9").done()))
        .each(targets);
    let reading = at.map_or("Point at a run, or use the arrow keys, to read it.", |mark| &mark.label);
    div("run-figure")
        .el(div("plot")
            .attr("tabindex", "0")
            .attr("role", "group")
            .attr("aria-label", "Runs in order; the arrow keys read them out")
            .on_key(on_key)
            .with(figure(drawing))
            .el(over))
        .el(el("p").class("reading").attr("role", "status").text(reading.to_owned()))
        .done()
}
