//! Ratios to a first submission, a row for each case, on a log axis centred on 1: the figure of a comparison.

use super::Drawing;
use super::axis::{Axis, FittedAxis, Lie};
use super::dot_interval::MOST_ROWS;
use super::mark::{self, Mark, RADIUS};
use super::pen::{Anchor, Lettering, Pen, Point, Stroke, sheet};
use super::sanitise::{Checked, Estimate, LeftOut};
use super::scale::{End, Scale};
use super::text::{TextSize, clean, cut, measure};
use super::theme::{Ink, SERIES};
use super::ticks::Tick;
use crate::format;
use crate::metric::Better;
use crate::units::Unit;

/// The figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// What the ratios are: `B / A`.
    pub title: String,
    /// What lies in the better direction: `B faster`.
    pub faster: String,
    /// From top to bottom.
    pub rows: Vec<ForestRow>,
}

/// A row: one metric of one case, as a multiple of the first submission's.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// Name of the case. It comes from files of strangers, and is only ever shown as text.
    pub label: String,
    /// The metric: rows that follow each other with one stand under it.
    pub metric: String,
    /// Which way of the metric is better.
    pub better: Better,
    /// The ratio and its interval. Without an interval the mark is hollow; without a ratio `verdict` stands in its
    /// place.
    pub ratio: Estimate,
    /// Place of the submission among those that are compared, which gives its shape and colour. The first is 0.
    pub side: usize,
    /// How far two starts of one configuration lie apart, drawn as a band.
    pub noise: Option<(f64, f64)>,
    /// Factors of the ratio by their names, drawn thinner below it.
    pub split: Vec<(String, Estimate)>,
    /// What stands behind the interval: `16 runs`.
    pub n: String,
    /// Corrected p value; may be empty.
    pub p: String,
    /// What may be said: `▲ faster`.
    pub verdict: String,
}

/// Widths that a figure can have. Others are taken to the nearest of these.
const WIDTHS: std::ops::RangeInclusive<u32> = 200..=4000;
/// From this width on words stand beside the plot; below, above it.
const WIDE: f64 = 640.0;
const HEADER: f64 = 46.0;
const HEADING: f64 = 30.0;
const ROW: f64 = 40.0;
/// Height of the words above a plot on a narrow figure.
const WORDS: f64 = 34.0;
const SPLIT: f64 = 18.0;
const FOOT: f64 = 28.0;
/// Between the end of the plot and the end of the axis, so that a mark at the end is whole.
const MARGIN: f64 = 8.0;
const GUTTER: f64 = 16.0;
/// Bold letters are so much wider than those of the table.
const BOLD: f64 = 1.1;
/// A factor's mark is so much smaller than the ratio's.
const SMALL: f64 = 0.6;

/// Draws the figure, `width` CSS pixels wide. What lies beyond the axis is an arrow at its end.
pub fn forest(forest: &Forest, width: u32) -> Drawing {
    let width = width.max(*WIDTHS.start()).min(*WIDTHS.end());
    let figure = Figure::new(forest, f64::from(width));
    let height = figure.height();
    let svg = sheet(width, height, &figure.about(), |pen| figure.draw(pen));
    let mut drawing = Drawing { svg, width, height, marks: Vec::new(), left_out: figure.left_out() };
    for line in &figure.lines {
        figure.marks(line, &mut drawing.marks);
    }
    drawing
}

/// The shape and colour of a submission that is compared, for a legend.
pub fn side_swatch(side: usize) -> Drawing {
    const SIZE: u32 = 14;
    let centre = f64::from(SIZE) / 2.0;
    let svg = sheet(SIZE, SIZE, "", |pen| shape(pen, side, (centre, centre), 1.0, true));
    Drawing { svg, width: SIZE, height: SIZE, marks: Vec::new(), left_out: Vec::new() }
}

/// Corners of the shapes, around their centres; the first submission has a disc.
const CORNERS: [&[Point]; SERIES - 1] = [
    &[(-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)],
    &[(0.0, -5.6), (5.4, 4.0), (-5.4, 4.0)],
    &[(0.0, 5.6), (5.4, -4.0), (-5.4, -4.0)],
    &[(0.0, -6.2), (6.2, 0.0), (0.0, 6.2), (-6.2, 0.0)],
    &[(0.0, -5.4), (5.2, -1.5), (3.3, 4.6), (-3.3, 4.6), (-5.2, -1.5)],
    &[(5.2, 0.0), (2.6, 4.6), (-2.6, 4.6), (-5.2, 0.0), (-2.6, -4.6), (2.6, -4.6)],
    &[(-5.4, -4.4), (5.4, -4.4), (-5.4, 4.4), (5.4, 4.4)],
];

/// The mark of a submission, filled or hollow.
fn shape(pen: &Pen<'_>, side: usize, at: Point, scale: f64, filled: bool) {
    const OUTLINE: f64 = 1.75;
    let ink = Ink::Series(side);
    let inside = if filled { ink } else { Ink::Surface };
    let Some(corners) = (side % SERIES).checked_sub(1).map(|i| CORNERS[i]) else {
        pen.disc(at, RADIUS * scale, inside);
        pen.ring(at, RADIUS * scale, Stroke(ink, OUTLINE * scale));
        return;
    };
    let mut points: Vec<Point> = corners.iter().map(|(x, y)| (at.0 + x * scale, at.1 + y * scale)).collect();
    pen.polygon(&points, inside);
    if !filled {
        // Begins in the middle of an edge: at a corner the ends of the line would not meet.
        let (first, last) = (points[0], points[points.len() - 1]);
        let middle = (f64::midpoint(first.0, last.0), f64::midpoint(first.1, last.1));
        points.insert(0, middle);
        points.push(middle);
        pen.path(&points, Stroke(ink, OUTLINE * scale));
    }
}

/// A row with its place.
struct Line<'a> {
    index: usize,
    row: &'a ForestRow,
    checked: Checked,
    split: Vec<(&'a str, Checked)>,
    /// Upper edge.
    top: f64,
    /// Whether the metric stands above it.
    begins: bool,
    /// The ratio in figures; empty where there is none.
    number: String,
    /// `▲ faster · p 0.004`.
    said: String,
}

struct Figure<'a> {
    forest: &'a Forest,
    axis: FittedAxis,
    lines: Vec<Line<'a>>,
    width: f64,
    wide: bool,
    /// Left and right end of the axis.
    plot: (f64, f64),
    bottom: f64,
    ticks: Vec<Tick>,
}

impl<'a> Figure<'a> {
    fn new(forest: &'a Forest, width: f64) -> Self {
        let rows = &forest.rows[..forest.rows.len().min(MOST_ROWS)];
        let mut estimates = Vec::new();
        for row in rows {
            estimates.push(row.ratio);
            estimates.extend(row.split.iter().map(|(_, factor)| *factor));
        }
        let label = forest.title.clone();
        let axis =
            Axis { label, unit: Unit::One, better: Better::Neither, scale: Scale::Ratio }.fit(estimates);
        let wide = width >= WIDE;
        let mut lines: Vec<Line<'a>> = Vec::with_capacity(rows.len());
        let mut bottom = HEADER;
        let (mut labels, mut numbers) = (64.0_f64, 64.0_f64);
        for (index, row) in rows.iter().enumerate() {
            let begins = !row.metric.is_empty()
                && index.checked_sub(1).is_none_or(|before| rows[before].metric != row.metric);
            if begins {
                bottom += if wide || row.better == Better::Neither { HEADING } else { HEADING + SPLIT };
                if row.better == Better::Lower {
                    // Beside it, at the left end of the axis, stands which way is better.
                    labels = labels.max(BOLD * measure(&row.metric, TextSize::Small));
                }
            }
            let line = Line::new(index, row, bottom, begins);
            let names = line.split.iter().map(|(name, _)| measure(name, TextSize::Small));
            labels = names.fold(labels, f64::max).max(measure(&line.row.label, TextSize::Body));
            let said = measure(&line.said, TextSize::Small);
            numbers = numbers.max(said).max(measure(&line.number, TextSize::Body));
            bottom += line.height(wide);
            lines.push(line);
        }
        if rows.is_empty() {
            bottom += ROW;
        }
        let plot = if wide {
            let numbers = numbers.min(0.3 * width).ceil();
            (labels.min(0.26 * width).ceil() + GUTTER, width - numbers - GUTTER)
        } else {
            (0.0, width)
        };
        let plot = (plot.0 + MARGIN, plot.1 - MARGIN);
        let ticks = axis.ticks(plot.1 - plot.0, Lie::Across);
        Self { forest, axis, lines, width, wide, plot, bottom, ticks }
    }

    fn height(&self) -> u32 {
        let foot = if self.more() > 0 { FOOT } else { 0.0 };
        (self.bottom + foot + 1.0).ceil() as u32
    }

    /// Rows that are not drawn.
    fn more(&self) -> usize {
        self.forest.rows.len() - self.lines.len()
    }

    fn about(&self) -> String {
        let rows = format::count(self.forest.rows.len(), "row");
        [&self.forest.title, ", ratios on a log axis centred on 1; ", &rows].concat()
    }

    /// Pixels from the left of a place on the axis.
    fn x(&self, at: f64) -> f64 {
        self.plot.0 + at * (self.plot.1 - self.plot.0)
    }

    /// Height at which a row's mark stands.
    fn y(&self, line: &Line<'_>) -> f64 {
        line.top + if self.wide { ROW / 2.0 } else { WORDS + 10.0 }
    }

    /// Height at which a row's factor stands.
    fn y_of(&self, line: &Line<'_>, factor: usize) -> f64 {
        let factor = factor as f64;
        if self.wide {
            line.top + ROW + (factor + 0.4) * SPLIT - 4.0
        } else {
            self.y(line) + (factor + 1.0) * 2.0 * SPLIT - 4.0
        }
    }

    fn draw(&self, pen: &Pen<'_>) {
        let left = self.plot.0 - MARGIN;
        pen.text((left, 9.0), Lettering::NOTE, &self.axis.title(Lie::Across, self.width - left));
        for tick in &self.ticks {
            let half = measure(&tick.label, TextSize::Small) / 2.0;
            let x = self.x(tick.at).max(half).min((self.width - half).max(half));
            pen.text((x, 30.0), Lettering::NOTE.at(Anchor::Middle), &tick.label);
            pen.down(self.x(tick.at), HEADER - 5.0, HEADER, Ink::Axis);
        }
        pen.across(left, self.plot.1 + MARGIN, HEADER - 5.0, Ink::Axis);
        for line in &self.lines {
            if line.begins {
                self.draw_heading(pen, line);
            }
            self.draw_ground(pen, line);
            self.draw_words(pen, line);
            self.draw_ratio(pen, line);
        }
        if self.lines.is_empty() {
            pen.text((self.plot.0, HEADER + ROW / 2.0), Lettering::NOTE, "no rows");
        }
        if self.more() > 0 {
            let words = [&self.more().to_string(), " more rows are in the table"].concat();
            pen.text((0.0, self.bottom + FOOT / 2.0), Lettering::NOTE, &words);
        }
    }

    /// The metric, and which way is better.
    fn draw_heading(&self, pen: &Pen<'_>, line: &Line<'_>) {
        let (metric, better) = (&line.row.metric, line.row.better);
        let below = if self.wide || better == Better::Neither { 0.0 } else { SPLIT };
        let y = line.top - HEADING / 2.0 + 2.0;
        let room = if self.wide && better == Better::Lower { self.plot.0 - GUTTER } else { 0.8 * self.width };
        let look = Lettering { bold: true, ..Lettering::NOTE };
        pen.text((0.0, y - below), look, &cut(metric, TextSize::Small, room / BOLD));
        let (x, anchor, words) = match better {
            Better::Higher => (self.plot.1, Anchor::End, [&self.forest.faster, " →"].concat()),
            Better::Lower => (self.plot.0, Anchor::Start, ["← ", &self.forest.faster].concat()),
            Better::Neither => return,
        };
        pen.text((x, y), Lettering::NOTE.at(anchor), &words);
    }

    /// Band, grid, and the line below the row.
    fn draw_ground(&self, pen: &Pen<'_>, line: &Line<'_>) {
        let bottom = line.top + line.height(self.wide);
        pen.across(0.0, self.width, bottom, Ink::Grid);
        if line.checked.drawn().is_none() {
            return;
        }
        // On a narrow figure the words stand above the marks, and the ground keeps clear of them.
        let top = if self.wide { line.top } else { line.top + WORDS };
        let band =
            line.row.noise.map(|(low, high)| Estimate { value: Some(1.0), low: Some(low), high: Some(high) });
        if let Some((low, high)) = band.and_then(|band| band.check(Scale::Ratio).whisker()) {
            let x = |ratio: f64| self.x(self.axis.place(ratio).at);
            pen.rectangle((x(low), top), (x(high), bottom), Ink::Muted, 0.2);
        }
        for tick in &self.ticks {
            let ink = if tick.value == 1.0 { Ink::Axis } else { Ink::Grid };
            pen.down(self.x(tick.at), top, bottom, ink);
        }
    }

    fn draw_words(&self, pen: &Pen<'_>, line: &Line<'_>) {
        let (first, second) = (line.top + 12.0, line.top + 28.0);
        let left = self.plot.1 + MARGIN + GUTTER;
        let (x, anchor) = if self.wide { (left, Anchor::Start) } else { (self.width, Anchor::End) };
        let room = if self.wide { self.width - left } else { 0.75 * self.width };
        let put = |y: f64, look: Lettering, words: &str| {
            let shown = cut(words, look.size, room);
            pen.text((x, y), look.at(anchor), &shown);
            if self.wide {
                self.plot.0 - MARGIN - GUTTER
            } else {
                self.width - GUTTER - measure(&shown, look.size)
            }
        };
        let room = put(first, Lettering::BODY, &line.number);
        pen.text((0.0, first), Lettering::BODY, &cut(&line.row.label, TextSize::Body, room));
        let room = put(second, Lettering { size: TextSize::Small, ..Lettering::BODY }, &line.said);
        pen.text((0.0, second), Lettering::NOTE, &cut(&line.row.n, TextSize::Small, room));
        for (i, (name, factor)) in line.split.iter().enumerate() {
            let y = self.y_of(line, i) - if self.wide { 0.0 } else { SPLIT - 2.0 };
            let room = put(y, Lettering::NOTE, &number(factor));
            pen.text((0.0, y), Lettering::NOTE, &cut(name, TextSize::Small, room));
        }
    }

    fn draw_ratio(&self, pen: &Pen<'_>, line: &Line<'_>) {
        let y = self.y(line);
        if line.checked.drawn().is_none() {
            let words = match line.checked.value {
                Err(reason) => ["not drawn: ", &reason.to_string()].concat(),
                Ok(_) => line.row.verdict.clone(),
            };
            pen.text(
                (self.plot.0, y),
                Lettering::NOTE,
                &cut(&words, TextSize::Small, self.plot.1 - self.plot.0),
            );
        }
        self.draw_estimate(pen, line.row.side, &line.checked, y, 1.0);
        for (i, (_, factor)) in line.split.iter().enumerate() {
            self.draw_estimate(pen, line.row.side, factor, self.y_of(line, i), SMALL);
        }
    }

    fn draw_estimate(&self, pen: &Pen<'_>, side: usize, of: &Checked, y: f64, scale: f64) {
        let Some(value) = of.drawn() else { return };
        let ink = Ink::Series(side);
        let interval = of.whisker().map(|(low, high)| (self.axis.place(low), self.axis.place(high)));
        if let Some((low, high)) = interval {
            if scale < 1.0 {
                pen.line((self.x(low.at), y), (self.x(high.at), y), Stroke(ink, 1.0));
            } else {
                mark::whisker(pen, (low, high), |at| (self.x(at), y), ink);
            }
        }
        let place = self.axis.place(value);
        let at = (self.x(place.at), y);
        match place.beyond {
            None => shape(pen, side, at, scale, interval.is_some()),
            Some(end) => {
                mark::arrow_across(
                    pen,
                    (at.0 + if end == End::High { MARGIN } else { -MARGIN }, y),
                    end,
                    ink,
                );
            }
        }
    }

    /// The marks of a row: the ratio, then its factors.
    fn marks(&self, line: &Line<'_>, marks: &mut Vec<Mark>) {
        let mut put = |of: &Checked, y: f64, label: String| {
            let at = of.drawn().map(|value| self.axis.place(value).at);
            marks.push(Mark {
                x: self.x(at.unwrap_or(0.0)),
                y,
                r: RADIUS,
                row: line.index,
                label,
                drawn: at.is_some(),
            });
        };
        let row = line.row;
        let who = clean(&[row.label.as_str(), ", ", &row.metric].concat());
        put(&line.checked, self.y(line), [&who, ": ", &line.tooltip(&self.axis)].concat());
        for (i, (name, factor)) in line.split.iter().enumerate() {
            put(factor, self.y_of(line, i), [&who, ", ", &clean(name), ": ", &number(factor)].concat());
        }
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let mut all = Vec::new();
        for (index, row) in self.forest.rows.iter().enumerate() {
            all.extend(row.ratio.check(Scale::Ratio).left_out(index, &clean(&row.label)));
            for (name, factor) in &row.split {
                let label = clean(&[&row.label, ", ", name].concat());
                all.extend(factor.check(Scale::Ratio).left_out(index, &label));
            }
        }
        all
    }
}

impl<'a> Line<'a> {
    fn new(index: usize, row: &'a ForestRow, top: f64, begins: bool) -> Self {
        let checked = row.ratio.check(Scale::Ratio);
        let split = row.split.iter().map(|(name, of)| (name.as_str(), of.check(Scale::Ratio)));
        let (number, said) = match checked.drawn() {
            Some(_) if row.p.is_empty() => (number(&checked), row.verdict.clone()),
            Some(_) => (number(&checked), [&row.verdict, " · p ", &row.p].concat()),
            None => (String::new(), String::new()),
        };
        Self { index, row, checked, split: split.collect(), top, begins, number, said }
    }

    fn height(&self, wide: bool) -> f64 {
        let splits = self.split.len() as f64;
        if wide { ROW + splits * SPLIT } else { WORDS + 22.0 + splits * 2.0 * SPLIT }
    }

    /// Everything that the row says behind its name.
    fn tooltip(&self, axis: &FittedAxis) -> String {
        let row = self.row;
        let Some(value) = self.checked.drawn() else {
            return match self.checked.value {
                Err(reason) => ["not drawn, ", &reason.to_string()].concat(),
                Ok(_) => clean(&row.verdict),
            };
        };
        let mut said = number(&self.checked);
        let mut add = |part: &str| {
            if !part.is_empty() {
                said.push_str(", ");
                said.push_str(part);
            }
        };
        match self.checked.interval {
            Ok(None) => add("no interval"),
            Ok(_) => {}
            Err(reason) => add(&["interval not drawn: ", &reason.to_string()].concat()),
        }
        if axis.place(value).beyond.is_some() {
            add("beyond the end of the axis");
        }
        add(&clean(&row.n));
        add(&clean(&self.said));
        said
    }
}

/// `1.034 (1.012–1.057)`; empty where there is none.
fn number(of: &Checked) -> String {
    of.drawn().map_or_else(String::new, |ratio| format::ratio(ratio, of.whisker()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, ratio: Option<f64>, interval: Option<(f64, f64)>) -> ForestRow {
        let (low, high) = interval.unzip();
        ForestRow {
            label: label.into(),
            metric: "decode rate".into(),
            better: Better::Higher,
            ratio: Estimate { value: ratio, low, high },
            side: 1,
            noise: None,
            split: Vec::new(),
            n: "16 runs".into(),
            p: "0.004".into(),
            verdict: "▲ faster".into(),
        }
    }

    fn draw(rows: Vec<ForestRow>, width: u32) -> Drawing {
        forest(&Forest { title: "B / A".into(), faster: "B faster".into(), rows }, width)
    }

    fn sample() -> Vec<ForestRow> {
        let mut rows = vec![
            row("code", Some(1.034), Some((1.012, 1.057))),
            row("prose", Some(0.97), None),
            row("structured", None, None),
            row("code", Some(1.12), Some((1.05, 1.2))),
        ];
        rows[0].noise = Some((0.99, 1.01));
        let factor = |x: f64| Estimate { value: Some(x), low: Some(x - 0.01), high: Some(x + 0.01) };
        rows[0].split = vec![("tokens per step".into(), factor(1.2)), ("time per step".into(), factor(1.16))];
        rows[2].verdict = "only in A".into();
        (rows[3].metric, rows[3].better) = ("time to first token".into(), Better::Lower);
        rows[3].verdict = "▼ slower".into();
        rows
    }

    #[test]
    fn the_drawing_is_the_same_to_the_byte() {
        insta::assert_snapshot!("forest_wide", draw(sample(), 900).svg);
        insta::assert_snapshot!("forest_phone", draw(sample(), 340).svg);
    }

    #[test]
    fn faster_lies_where_the_metric_says() {
        let svg = draw(sample(), 900).svg;
        assert!(svg.contains("\nB faster →\n") && svg.contains("\n← B faster\n"), "{svg}");
        let drawing = draw(sample(), 900);
        let at = |i: usize| &drawing.marks[i];
        assert_eq!(at(0).label, "code, decode rate: 1.034 (1.012–1.057), 16 runs, ▲ faster · p 0.004");
        assert_eq!(at(1).label, "code, decode rate, tokens per step: 1.200 (1.190–1.210)");
        assert!(at(0).x > at(3).x, "above 1 lies right of below 1");
        assert!(at(1).y > at(0).y && at(1).row == 0);
        assert_eq!(at(3).label, "prose, decode rate: 0.970, no interval, 16 runs, ▲ faster · p 0.004");
        assert!(!at(4).drawn && at(4).label == "structured, decode rate: only in A", "{:?}", at(4));
    }

    #[test]
    fn ratios_beyond_belief_are_not_drawn_and_that_is_said() {
        let values = [0.0, -5.0, f64::NAN, 1e300, f64::INFINITY];
        let mut rows: Vec<ForestRow> = values.iter().map(|&v| row("bad", Some(v), None)).collect();
        rows.push(row("good", Some(1.1), Some((f64::NAN, 2.0))));
        for width in [0, 320, 900, u32::MAX] {
            let drawing = draw(rows.clone(), width);
            assert_eq!(drawing.marks.iter().filter(|mark| mark.drawn).count(), 1);
            assert_eq!(drawing.left_out.len(), 6);
            assert!(drawing.marks[2].label.ends_with("not drawn, not a finite number"));
        }
    }

    #[test]
    fn one_that_lies_far_off_is_an_arrow_and_the_rest_keeps_its_place() {
        let mut rows: Vec<ForestRow> =
            (0..8).map(|i| row("case", Some(0.97 + 0.01 * f64::from(i)), None)).collect();
        let near = draw(rows.clone(), 900).marks[0].x;
        rows.push(row("far", Some(900.0), None));
        let drawing = draw(rows, 900);
        assert!((drawing.marks[0].x - near).abs() < 1.0, "{} {near}", drawing.marks[0].x);
        assert!(drawing.marks[8].label.contains("beyond the end of the axis"));
        assert_eq!(drawing.svg.matches("<polygon").count(), 9, "eight squares and an arrow");
    }

    #[test]
    fn every_submission_has_its_own_shape() {
        let points: Vec<String> = (0..SERIES)
            .map(|side| {
                let svg = side_swatch(side).svg;
                svg.split_once("points=").map_or("disc", |(_, points)| points).to_owned()
            })
            .collect();
        for (i, one) in points.iter().enumerate() {
            assert!(!points[..i].contains(one), "{points:?}");
        }
    }
}
