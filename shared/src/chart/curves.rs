//! A few quantities over another one: a line through the points of each, labelled at its end.

use super::Drawing;
use super::axis::{Axis, FittedAxis, Lie};
use super::mark::{Mark, RADIUS};
use super::pen::{Anchor, Lettering, Pen, Point, Stroke, sheet};
use super::sanitise::{Estimate, LeftOut, Part, admit};
use super::text::{TextSize, measure};
use super::theme::Ink;

/// Pixels of a figure's width.
const WIDTHS: std::ops::RangeInclusive<u32> = 280..=1_600;
/// Pixels of the plot's height.
const PLOT: f64 = 240.0;
/// Pixels above the plot, for the title of the upright axis.
const HEAD: f64 = 22.0;
/// Pixels below it, for numbers and title of the axis that lies across.
const FOOT: f64 = 38.0;
/// Pixels between things.
const MARGIN: f64 = 8.0;
/// Pixels between two labels of lines.
const LABEL: f64 = 15.0;

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name.
    pub label: String,
    /// Its colour, by the index of the series.
    pub colour: usize,
    /// Its points, each across and upright, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

/// Draws the curves, `width` CSS pixels wide. A point that an axis cannot show is left out.
pub fn curves(across: Axis, upright: Axis, curves: &[Curve], width: u32) -> Drawing {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let figure = Figure::new(across, upright, curves, f64::from(width));
    let height = (HEAD + PLOT + FOOT).ceil() as u32;
    let svg = sheet(width, height, &figure.about(), |pen| figure.draw(pen));
    Drawing { svg, width, height, marks: figure.marks(), left_out: figure.left_out() }
}

struct Figure<'a> {
    across: FittedAxis,
    upright: FittedAxis,
    curves: &'a [Curve],
    left: f64,
    right: f64,
}

impl<'a> Figure<'a> {
    fn new(across: Axis, upright: Axis, curves: &'a [Curve], width: f64) -> Self {
        let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
        let estimate = |x: f64| Estimate { value: Some(x), ..Estimate::default() };
        let across = across.fit(points().map(|(x, _)| estimate(x)));
        let upright = upright.fit(points().map(|(_, y)| estimate(y)));
        let widest = |labels: &mut dyn Iterator<Item = f64>| labels.fold(0.0, f64::max);
        let ticks = upright.ticks(PLOT, Lie::Upright);
        let left = widest(&mut ticks.iter().map(|tick| measure(&tick.label, TextSize::Small))) + MARGIN;
        let labels = widest(&mut curves.iter().map(|curve| measure(&curve.label, TextSize::Small)));
        Self { across, upright, curves, left, right: width - labels - 2.0 * MARGIN }
    }

    /// Where a point stands; `None` where an axis cannot show it.
    fn at(&self, (x, y): (f64, f64)) -> Option<Point> {
        let across = self.across.place(admit(x, self.across.scale()).ok()?).at;
        let upright = self.upright.place(admit(y, self.upright.scale()).ok()?).at;
        Some((self.left + across * (self.right - self.left), HEAD + (1.0 - upright) * PLOT))
    }

    fn drawn<'c>(&'c self, curve: &'c Curve) -> impl Iterator<Item = (Point, (f64, f64))> + 'c {
        curve.points.iter().filter_map(|&point| Some((self.at(point)?, point)))
    }

    fn about(&self) -> String {
        let names: Vec<&str> = self.curves.iter().map(|curve| curve.label.as_str()).collect();
        format!("{} over {}: {}", self.upright.about(), self.across.about(), names.join(", "))
    }

    fn draw(&self, pen: &Pen<'_>) {
        let (top, bottom) = (HEAD, HEAD + PLOT);
        pen.text((0.0, 9.0), Lettering::NOTE, &self.upright.title(Lie::Upright, self.right));
        for tick in self.upright.ticks(PLOT, Lie::Upright) {
            let y = top + (1.0 - tick.at) * PLOT;
            pen.text((self.left - MARGIN, y), Lettering::NOTE.at(Anchor::End), &tick.label);
            pen.across(self.left, self.right, y, Ink::Grid);
        }
        pen.across(self.left, self.right, bottom, Ink::Axis);
        for tick in self.across.ticks(self.right - self.left, Lie::Across) {
            let x = self.left + tick.at * (self.right - self.left);
            pen.down(x, bottom, bottom + 4.0, Ink::Axis);
            pen.text((x, bottom + 13.0), Lettering::NOTE.at(Anchor::Middle), &tick.label);
        }
        let middle = f64::midpoint(self.left, self.right);
        let title = self.across.title(Lie::Across, self.right - self.left);
        pen.text((middle, bottom + 29.0), Lettering::NOTE.at(Anchor::Middle), &title);
        for curve in self.curves {
            let ink = Ink::Series(curve.colour);
            let points: Vec<Point> = self.drawn(curve).map(|(at, _)| at).collect();
            if points.len() > 1 {
                pen.path(&points, Stroke(ink, 2.0));
            }
            for &point in &points {
                pen.disc(point, RADIUS, ink);
            }
        }
        self.draw_labels(pen);
    }

    /// Names at the ends of the lines, from the uppermost down, none upon another.
    fn draw_labels(&self, pen: &Pen<'_>) {
        let mut ends: Vec<(f64, &Curve)> =
            self.curves.iter().filter_map(|curve| Some((self.drawn(curve).last()?.0.1, curve))).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lowest = f64::NEG_INFINITY;
        for (y, curve) in ends {
            lowest = (lowest + LABEL).max(y);
            let look = Lettering { ink: Ink::Series(curve.colour), ..Lettering::NOTE };
            pen.text((self.right + MARGIN, lowest), look, &curve.label);
        }
    }

    fn marks(&self) -> Vec<Mark> {
        let words = |curve: &Curve, (x, y): (f64, f64)| {
            format!("{}: {} at {}", curve.label, self.upright.words(y, None), self.across.words(x, None))
        };
        let mark = |row, curve, ((x, y), point)| Mark {
            x,
            y,
            r: RADIUS,
            row,
            label: words(curve, point),
            drawn: true,
        };
        let of =
            |(row, curve)| self.drawn(curve).map(move |drawn| mark(row, curve, drawn)).collect::<Vec<_>>();
        self.curves.iter().enumerate().flat_map(of).collect()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let reason =
            |&(x, y): &(f64, f64)| admit(x, self.across.scale()).and(admit(y, self.upright.scale())).err();
        let of = |(row, curve): (usize, &Curve)| {
            let said = |reason| LeftOut { row, label: curve.label.clone(), part: Part::Value, reason };
            curve.points.iter().filter_map(reason).map(said).collect::<Vec<_>>()
        };
        self.curves.iter().enumerate().flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scale::Scale;
    use super::*;
    use crate::metric::Better;
    use crate::units::Unit;

    fn axis(label: &str, better: Better) -> Axis {
        Axis { label: label.into(), unit: Unit::One, better, scale: Scale::Log }
    }

    fn draw(points: &[(f64, f64)]) -> Drawing {
        let of = |label: &str, colour, factor| Curve {
            label: label.into(),
            colour,
            points: points.iter().map(|(x, y)| (*x, y * factor)).collect(),
        };
        let both = [of("TTFT", 1, 1.0), of("gap", 5, 1.01)];
        curves(axis("streams", Better::Neither), axis("error, ms", Better::Lower), &both, 640)
    }

    #[test]
    fn every_point_has_its_mark_and_larger_stands_higher_and_further() {
        let drawing = draw(&[(16.0, 0.1), (256.0, 0.5), (1_000.0, 2.0)]);
        assert_eq!(drawing.marks.len(), 6);
        let ttft: Vec<&Mark> = drawing.marks.iter().filter(|mark| mark.row == 0).collect();
        assert!(ttft.windows(2).all(|pair| pair[0].x < pair[1].x && pair[0].y > pair[1].y));
        assert!(ttft[1].label.starts_with("TTFT: 0.500 at 256"), "{}", ttft[1].label);
        assert!(drawing.svg.contains("error, ms (log), lower is better"), "{}", drawing.svg);
    }

    #[test]
    fn names_of_lines_that_end_together_do_not_lie_upon_each_other() {
        let svg = draw(&[(1.0, 1.0), (2.0, 1.0)]).svg;
        let y = |label: &str| -> f64 {
            let (before, _) = svg.split_once(&format!("\n{label}\n")).unwrap();
            let (_, y) = before.rsplit_once(" y=\"").unwrap();
            y.split('"').next().unwrap().parse().unwrap()
        };
        assert!((y("TTFT") - y("gap")).abs() >= 12.0 * 8.0, "{svg}");
    }

    #[test]
    fn what_a_log_axis_cannot_show_is_left_out_and_said() {
        let drawing = draw(&[(0.0, 1.0), (1.0, f64::NAN), (2.0, 1.0)]);
        assert_eq!((drawing.marks.len(), drawing.left_out.len()), (2, 4));
        assert!(draw(&[]).svg.starts_with("<svg"));
    }
}
