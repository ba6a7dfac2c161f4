//! A figure, and a line that reads out the mark under the pointer or the arrow keys.

use dyno_shared::chart::Drawing;
use dyno_shared::format::fixed;
use yew::{Component, Context, Html, KeyboardEvent, Properties};

use super::figure::figure;
use crate::dom::{div, el};

/// The figure.
#[derive(Properties, PartialEq)]
pub struct Props {
    /// What is drawn.
    pub drawing: Drawing,
    /// What it is, and that the arrow keys read it.
    pub about: &'static str,
    /// What the line says while it reads nothing.
    pub hint: &'static str,
}

/// Pixels around a mark in which the pointer means it.
const REACH: &str = "14";

/// The figure, and the mark that is read out.
#[derive(Debug, Default)]
pub struct MarkedFigure {
    chosen: Option<usize>,
}

impl Component for MarkedFigure {
    type Message = usize;
    type Properties = Props;

    fn create(_: &Context<Self>) -> Self {
        Self::default()
    }

    fn update(&mut self, _: &Context<Self>, chosen: usize) -> bool {
        self.chosen.replace(chosen) != Some(chosen)
    }

    fn view(&self, context: &Context<Self>) -> Html {
        let Props { drawing, about, hint } = context.props();
        let marks = &drawing.marks;
        let (at, last) = (self.chosen, marks.len().saturating_sub(1));
        let on_key = context.link().batch_callback(move |event: KeyboardEvent| {
            let next = match (event.key().as_str(), at) {
                ("ArrowRight" | "ArrowDown", at) => at.map_or(0, |i| (i + 1).min(last)),
                ("ArrowLeft" | "ArrowUp", at) => at.map_or(last, |i| i.saturating_sub(1)),
                ("Home", _) => 0,
                ("End", _) => last,
                _ => return None,
            };
            event.prevent_default();
            Some(next)
        });
        let at = at.and_then(|i| marks.get(i));
        let circle = |x: f64, y: f64| el("circle").attr("cx", fixed(x, 2)).attr("cy", fixed(y, 2));
        let choose = context.link().callback(|i: usize| i);
        let targets = marks.iter().enumerate().map(|(i, mark)| {
            let (enter, click) = (choose.clone(), choose.clone());
            circle(mark.x, mark.y)
                .class("target")
                .attr("r", REACH)
                .on_enter(move || enter.emit(i))
                .on_click(move || click.emit(i))
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
        let reading = at.map_or(*hint, |mark| &mark.label);
        div("run-figure")
            .el(div("plot")
                .attr("tabindex", "0")
                .attr("role", "group")
                .attr("aria-label", *about)
                .on_key(on_key)
                .with(figure(drawing))
                .el(over))
            .el(el("p").class("reading").attr("role", "status").text(reading.to_owned()))
            .done()
    }
}
