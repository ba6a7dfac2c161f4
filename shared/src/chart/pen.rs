//! The strokes that figures are made of, in CSS pixels.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, ShapeStyle, TextStyle};

use super::paper::{Paper, UNITS};
use super::text::{TextSize, clean, escape};
use super::theme::Ink;

/// A point in CSS pixels from the upper left corner.
pub(super) type Point = (f64, f64);

/// The sans of the system. The widths of [`super::text`] hold for what it usually is.
const FONT: &str = "system-ui, sans-serif";

/// Beyond this many pixels from the corner nothing is drawn: it is outside of every figure, and near the
/// end of what plotters' integers hold.
const FARTHEST: f64 = 1e6;

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lettering {
    pub size: TextSize,
    pub ink: Ink,
    pub anchor: Anchor,
    pub bold: bool,
}

impl Lettering {
    /// Small text of second rank, starting at its point.
    pub const NOTE: Self =
        Self { size: TextSize::Small, ink: Ink::Muted, anchor: Anchor::Start, bold: false };
    /// Text of a row, starting at its point.
    pub const BODY: Self = Self { size: TextSize::Body, ink: Ink::Text, anchor: Anchor::Start, bold: false };

    /// The same, standing at its point with another part.
    pub const fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}

/// A line's ink and width in CSS pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke(pub Ink, pub f64);

/// Draws on one sheet. Whatever is not finite is not drawn.
pub(super) struct Pen<'a> {
    area: DrawingArea<Paper<'a>, Shift>,
}

/// Draws a figure of `width` × `height` CSS pixels and returns its SVG. `about` is what a screen reader
/// says of the figure as a whole.
pub(super) fn sheet(width: u32, height: u32, about: &str, figure: impl FnOnce(&Pen<'_>)) -> String {
    let units = UNITS as u32;
    let size = (width.saturating_mul(units), height.saturating_mul(units));
    let mut body = String::new();
    let pen = Pen { area: Paper::new(&mut body, size).into_drawing_area() };
    figure(&pen);
    drop(pen);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" font-family=\"{FONT}\" \
         font-variant=\"tabular-nums\">\n{body}</svg>\n",
        size.0,
        size.1,
        escape(&clean(about)),
    )
}

impl<'a> Pen<'a> {
    /// A straight line.
    pub(super) fn line(&self, from: Point, to: Point, stroke: Stroke) {
        self.path(&[from, to], stroke);
    }

    /// A horizontal hairline, on the middle of a row of pixels so that it is one pixel and sharp.
    pub(super) fn across(&self, from_x: f64, to_x: f64, y: f64, ink: Ink) {
        let y = y.floor() + 0.5;
        self.line((from_x, y), (to_x, y), Stroke(ink, 1.0));
    }

    /// A vertical hairline, on the middle of a column of pixels.
    pub(super) fn down(&self, x: f64, from_y: f64, to_y: f64, ink: Ink) {
        let x = x.floor() + 0.5;
        self.line((x, from_y), (x, to_y), Stroke(ink, 1.0));
    }

    /// A line through `points`.
    pub(super) fn path(&self, points: &[Point], Stroke(ink, width): Stroke) {
        if let Some(points) = units(points) {
            let style = shape(ink, 1.0, false).stroke_width((width * UNITS).round() as u32);
            self.put(&PathElement::new(points, style));
        }
    }

    /// A filled shape with straight edges.
    pub(super) fn polygon(&self, points: &[Point], ink: Ink) {
        if let Some(points) = units(points) {
            self.put(&Polygon::new(points, shape(ink, 1.0, true)));
        }
    }

    /// A filled rectangle, `opacity` between 0 and 1.
    pub(super) fn rectangle(&self, from: Point, to: Point, ink: Ink, opacity: f64) {
        if let (Some(from), Some(to)) = (unit(from), unit(to)) {
            self.put(&Rectangle::new([from, to], shape(ink, opacity, true)));
        }
    }

    /// A filled circle.
    pub(super) fn disc(&self, centre: Point, radius: f64, ink: Ink) {
        if let Some(centre) = unit(centre) {
            self.put(&Circle::new(centre, (radius * UNITS).round() as i32, shape(ink, 1.0, true)));
        }
    }

    /// The outline of a circle.
    pub(super) fn ring(&self, centre: Point, radius: f64, Stroke(ink, width): Stroke) {
        if let Some(centre) = unit(centre) {
            let style = shape(ink, 1.0, false).stroke_width((width * UNITS).round() as u32);
            self.put(&Circle::new(centre, (radius * UNITS).round() as i32, style));
        }
    }

    /// One line of text, vertically centred on its point.
    pub(super) fn text(&self, at: Point, look: Lettering, text: &str) {
        let Some(at) = unit(at) else { return };
        let shown = clean(text);
        if shown.is_empty() {
            return;
        }
        let weight = if look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let size = look.size.px() * UNITS;
        let h_pos = match look.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let colour = look.ink.colour();
        let style = TextStyle::from(FontDesc::new(FontFamily::Name("inherit"), size, weight))
            .color(&colour)
            .pos(Pos::new(h_pos, VPos::Center));
        self.put(&Text::new(shown, at, style));
    }

    fn put<'e, E>(&self, element: &'e E)
    where
        &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<Paper<'a>>,
    {
        let drawn = self.area.draw(element);
        debug_assert!(drawn.is_ok(), "a string takes every write");
    }
}

fn shape(ink: Ink, opacity: f64, filled: bool) -> ShapeStyle {
    ShapeStyle { color: ink.colour().mix(opacity), filled, stroke_width: 1 }
}

/// The point in drawing units, unless it is not a number or absurdly far.
fn unit((x, y): Point) -> Option<(i32, i32)> {
    let near = |v: f64| (v.abs() < FARTHEST).then(|| (v * UNITS).round() as i32);
    Some((near(x)?, near(y)?))
}

fn units(points: &[Point]) -> Option<Vec<(i32, i32)>> {
    points.iter().map(|&p| unit(p)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hairline_lies_on_the_middle_of_a_pixel() {
        let svg = sheet(40, 20, "", |pen| pen.across(0.0, 40.0, 7.3, Ink::Grid));
        assert!(svg.contains("stroke-width=\"8\" points=\"0,60 320,60 \""), "{svg}");
    }

    #[test]
    fn the_root_is_in_pixels_and_the_drawing_in_eighths_of_them() {
        let svg = sheet(40, 20, "a & \"b\"", |pen| pen.text((5.0, 10.0), Lettering::NOTE, "x"));
        assert!(svg.contains("width=\"40\" height=\"20\" viewBox=\"0 0 320 160\""), "{svg}");
        assert!(svg.contains("aria-label=\"a &amp; &quot;b&quot;\""), "{svg}");
        assert!(svg.contains("font-size=\"96\""), "{svg}");
        assert!(svg.contains("fill=\"var(--chart-muted,#5c6370)\""), "{svg}");
        assert!(svg.ends_with("</svg>\n"), "{svg}");
    }

    #[test]
    fn what_is_not_finite_is_not_drawn() {
        let svg = sheet(40, 20, "", |pen| {
            pen.disc((f64::NAN, 1.0), 3.0, Ink::Text);
            pen.line((0.0, 0.0), (f64::INFINITY, 0.0), Stroke(Ink::Text, 1.0));
            pen.text((1e300, 0.0), Lettering::NOTE, "x");
        });
        assert_eq!(svg.lines().count(), 2, "{svg}");
    }
}
