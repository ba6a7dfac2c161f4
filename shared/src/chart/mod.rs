//! Figures: data in, SVG out. One figure per file.
//!
//! Plotters' SVG backend draws, natively and in the browser, the same bytes on both: numbers become places
//! with `libm`, text is measured by a table of our own ([`text`]), ticks are ours ([`ticks`]) and nothing
//! that plotters cannot bear reaches it ([`sanitise`]). Colours are custom properties ([`theme`]), so that
//! one drawing serves light and dark. Legends and tables are the page's.

mod axis;
mod curves;
mod dot_interval;
mod forest;
mod frontier;
mod interval_cell;
mod mark;
mod paper;
mod pen;
mod run_strip;
pub mod sanitise;
mod scale;
mod standalone;
pub mod text;
pub mod theme;
pub mod ticks;

pub use axis::{Axis, FittedAxis};
pub use curves::{Curve, curves};
pub use dot_interval::{MOST_ROWS, Row, dot_interval};
pub use forest::{Forest, ForestRow, forest, side_swatch};
pub use frontier::frontier;
pub use interval_cell::{axis_strip, interval_cell};
pub use mark::{Mark, MarkKind};
pub use run_strip::{MOST_RUNS, Run, RunStrip, run_strip};
pub use sanitise::{Estimate, LeftOut, Part, Reason};
pub use scale::{End, Place, Scale, Span};
pub use standalone::Heading;

/// A finished figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// The figure as one `<svg>` element; safe to set as inner HTML, since every text in it is escaped.
    pub svg: String,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// Every mark, in the order of the rows.
    pub marks: Vec<Mark>,
    /// What was given and is not drawn, for the table beside the figure.
    pub left_out: Vec<LeftOut>,
}

impl Drawing {
    /// The figure for a file of its own, which no page gives colours: the light ones, on a light ground.
    pub fn standalone(&self) -> String {
        theme::fixed(&self.svg, theme::Theme::Light)
    }
}
