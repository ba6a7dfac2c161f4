//! The same dot and interval without words, for a cell of a table, and the axis that stands in its head.

use super::Drawing;
use super::axis::{FittedAxis, Lie};
use super::dot_interval::{Row, tooltip};
use super::mark::{self, Mark, RADIUS};
use super::pen::{Anchor, Lettering, sheet};
use super::scale::Scale;
use super::text::{TextSize, clean, measure};
use super::theme::Ink;

/// Sizes that a cell can have, in CSS pixels. Others are taken to the nearest of these.
const WIDTHS: std::ops::RangeInclusive<u32> = 24..=2000;
const HEIGHTS: std::ops::RangeInclusive<u32> = 16..=200;

/// Height of the strip in the head of the column.
const STRIP: u32 = 20;

/// Between the edge of the cell and the end of the axis, so that a mark at the end is whole.
const MARGIN: f64 = 8.0;

/// Pixels from the left of a place on an axis in a cell.
fn x(at: f64, width: u32) -> f64 {
    MARGIN + at * length(width)
}

fn length(width: u32) -> f64 {
    f64::from(width) - 2.0 * MARGIN
}

/// The dot and interval of `row` on `axis`, without a word in it. Cells of one width line up with each other and
/// with the [`axis_strip`] of that width. A row without a value has no mark; its text is in `marks`.
pub fn interval_cell(axis: &FittedAxis, row: &Row, width: u32, height: u32) -> Drawing {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let height = height.clamp(*HEIGHTS.start(), *HEIGHTS.end());
    let checked = row.estimate.check(axis.scale());
    let label = tooltip(axis, row, &checked);
    let y = f64::from(height) / 2.0;
    let place = checked.drawn().map(|value| axis.place(value));
    let svg = sheet(width, height, &label, |pen| {
        for tick in axis.ticks(length(width), Lie::Across) {
            let one = axis.scale() == Scale::Ratio && tick.value == 1.0;
            let ink = if one { Ink::Axis } else { Ink::Grid };
            pen.down(x(tick.at, width), 0.0, f64::from(height), ink);
        }
        let ink = Ink::Series(row.colour);
        if let Some((low, high)) = checked.whisker() {
            mark::whisker(pen, (axis.place(low), axis.place(high)), |at| (x(at, width), y), ink);
        }
        if let Some(place) = place {
            let at = (x(place.at, width), y);
            match place.beyond {
                None => mark::mark(pen, row.kind, at, ink),
                Some(end) => mark::arrow_across(pen, at, end, ink),
            }
        }
    });
    let mark = Mark {
        x: x(place.map_or(0.0, |p| p.at), width),
        y,
        r: RADIUS,
        row: 0,
        label,
        drawn: place.is_some(),
    };
    Drawing { svg, width, height, marks: vec![mark], left_out: checked.left_out(0, &clean(&row.label)) }
}

/// The ticks of `axis` with their numbers, for the head of a column of [`interval_cell`]s.
pub fn axis_strip(axis: &FittedAxis, width: u32) -> Drawing {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let bottom = f64::from(STRIP);
    let svg = sheet(width, STRIP, &axis.about(), |pen| {
        for tick in axis.ticks(length(width), Lie::Across) {
            let half = measure(&tick.label, TextSize::Small) / 2.0;
            let centre = x(tick.at, width).max(half).min((f64::from(width) - half).max(half));
            pen.text((centre, 7.0), Lettering::NOTE.at(Anchor::Middle), &tick.label);
            pen.down(x(tick.at, width), bottom - 4.0, bottom, Ink::Axis);
        }
        pen.across(0.0, f64::from(width), bottom - 1.0, Ink::Axis);
    });
    Drawing { svg, width, height: STRIP, marks: Vec::new(), left_out: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Estimate, MarkKind};
    use crate::metric::Better;
    use crate::units::Unit;

    fn axis() -> FittedAxis {
        let values = [10.0, 200.0].map(|v| Estimate { value: Some(v), ..Estimate::default() });
        Axis {
            label: "decode".into(),
            unit: Unit::TokensPerSecond,
            better: Better::Higher,
            scale: Scale::Log,
        }
        .fit(values)
    }

    fn row(value: Option<f64>) -> Row {
        Row {
            label: "<b>".into(),
            group: None,
            estimate: Estimate { value, low: value.map(|v| v * 0.9), high: value.map(|v| v * 1.1) },
            kind: MarkKind::ClientSolid,
            colour: 3,
            note: String::new(),
        }
    }

    #[test]
    fn a_cell_has_no_words_in_it() {
        let cell = interval_cell(&axis(), &row(Some(50.0)), 200, 36);
        assert!(!cell.svg.contains("<text"));
        assert!(
            cell.svg.contains("aria-label=\"&lt;b&gt;: 50.0 tok/s (45.0–55.0), client clock\""),
            "{}",
            cell.svg
        );
    }

    #[test]
    fn cells_and_their_strip_line_up() {
        let axis = axis();
        let strip = axis_strip(&axis, 200);
        let cell = interval_cell(&axis, &row(Some(100.0)), 200, 36);
        let at = (cell.marks[0].x.floor() + 0.5) * super::super::paper::UNITS;
        assert!(strip.svg.contains(">\n100\n<"), "{}", strip.svg);
        assert!(strip.svg.contains(&format!("points=\"{at},128 ")), "{at} {}", strip.svg);
    }

    #[test]
    fn a_cell_of_nothing_is_empty_and_says_why() {
        let cell = interval_cell(&axis(), &row(None), 200, 36);
        assert!(!cell.svg.contains("<circle"));
        assert!(!cell.marks[0].drawn);
        assert_eq!(cell.marks[0].label, "<b>: not measured");
        let zero = interval_cell(&axis(), &row(Some(0.0)), 200, 36);
        assert!(!zero.svg.contains("<circle"));
        assert_eq!(zero.left_out.len(), 1);
    }

    #[test]
    fn a_value_beyond_the_axis_is_an_arrow() {
        let cell = interval_cell(&axis(), &row(Some(1e9)), 200, 36);
        assert!(cell.svg.contains("<polygon") && !cell.svg.contains("<circle"));
    }
}
