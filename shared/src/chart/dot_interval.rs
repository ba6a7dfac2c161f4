//! Rows of a dot and its interval on one axis: the figure in which submissions are compared.

use super::Drawing;
use super::axis::{FittedAxis, Lie};
use super::mark::{self, Mark, MarkKind, RADIUS};
use super::pen::{Anchor, Lettering, Pen, sheet};
use super::sanitise::{Checked, Estimate};
use super::scale::{End, Scale};
use super::text::{TextSize, clean, cut, measure};
use super::theme::Ink;
use super::ticks::Tick;

/// One row of the figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What the row is about. It comes from files of strangers, and is only ever shown as text.
    pub label: String,
    /// Heading under which the row stands; rows that follow each other under one heading share it.
    pub group: Option<String>,
    /// Value and interval, in the base unit of the axis.
    pub estimate: Estimate,
    /// Where the value comes from.
    pub kind: MarkKind,
    /// Index in Okabe and Ito's order of colours.
    pub colour: usize,
    /// What else the tooltip says; may be empty.
    pub note: String,
}

/// Rows beyond this number are counted under the figure and not drawn: nobody reads them in a picture.
pub const MOST_ROWS: usize = 500;

/// From this width on label, dot and number stand on one line; below, the label stands above the dot.
const WIDE: u32 = 560;

/// Widths that a figure can have. Others are taken to the nearest of these.
const WIDTHS: std::ops::RangeInclusive<u32> = 200..=4000;

const HEADER: f64 = 46.0;
const ROW: f64 = 36.0;
const GROUP: f64 = 28.0;
const FOOT: f64 = 28.0;

/// Between the end of the plot and the end of the axis, so that a mark at the end is whole.
const MARGIN: f64 = 8.0;

/// Between a value and its interval.
const SPACE: f64 = 6.0;

/// Between columns.
const GUTTER: f64 = 16.0;

/// Draws `rows` from top to bottom on `axis`, `width` CSS pixels wide.
///
/// A row without a value says "not measured" where its dot would be. A value beyond the end of the axis
/// is an arrow at that end with the number beside it.
pub fn dot_interval(axis: &FittedAxis, rows: &[Row], width: u32) -> Drawing {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let figure = Figure::new(axis, shown, rows.len() - shown.len(), width);
    let svg = sheet(width, figure.height(), &figure.about(), |pen| figure.draw(pen));
    let marks = figure.lines.iter().map(|line| figure.mark(line)).collect();
    let left_out = rows
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.estimate.check(axis.scale()).left_out(i, &clean(&row.label)))
        .collect();
    Drawing { svg, width, height: figure.height(), marks, left_out }
}

/// The text of a row's tooltip: everything the row says, uncut.
pub(super) fn tooltip(axis: &FittedAxis, row: &Row, checked: &Checked) -> String {
    let mut said = Vec::new();
    match checked.value {
        Ok(None) => said.push(NOT_MEASURED.to_owned()),
        Err(reason) => said.push(format!("not drawn, {reason}")),
        Ok(Some(value)) => {
            said.push(axis.words(value, checked.whisker()));
            said.push(row.kind.words().to_owned());
            if let Err(reason) = checked.interval {
                said.push(format!("interval not drawn: {reason}"));
            }
            if axis.place(value).beyond.is_some() {
                said.push("beyond the end of the axis".to_owned());
            }
        }
    }
    let group = row.group.as_deref().map(|g| format!(" · {}", clean(g))).unwrap_or_default();
    let text = format!("{}{group}: {}", clean(&row.label), said.join(", "));
    let note = clean(&row.note);
    if note.is_empty() { text } else { format!("{text}. {note}") }
}

/// What stands in the place of a value that nobody measured.
const NOT_MEASURED: &str = "not measured";

/// A row with its place.
struct Line<'a> {
    index: usize,
    row: &'a Row,
    label: String,
    checked: Checked,
    /// Upper edge.
    top: f64,
    /// A heading above the row, if it begins a group.
    heading: Option<&'a str>,
    /// Value and interval in figures, empty where there are none.
    numbers: (String, String),
}

/// The figure before it is drawn: everything has its place.
struct Figure<'a> {
    axis: &'a FittedAxis,
    lines: Vec<Line<'a>>,
    more: usize,
    width: f64,
    wide: bool,
    /// Left and right end of the axis.
    plot: (f64, f64),
    /// Where values end and intervals begin.
    numbers: f64,
    bottom: f64,
    ticks: Vec<Tick>,
}

impl<'a> Figure<'a> {
    fn new(axis: &'a FittedAxis, rows: &'a [Row], more: usize, width: u32) -> Self {
        let wide = width >= WIDE;
        let width = f64::from(width);
        let (lines, bottom) = lay_out(axis, rows);
        let widest = |texts: &dyn Fn(&Line<'a>) -> f64| lines.iter().map(texts).fold(0.0, f64::max);
        let values = widest(&|l| measure(&l.numbers.0, TextSize::Body)).min(0.2 * width);
        let intervals = widest(&|l| measure(&l.numbers.1, TextSize::Small)).min(0.25 * width).ceil();
        let numbers = width - intervals - if intervals > 0.0 { SPACE } else { 0.0 };
        let plot = if wide {
            let labels = widest(&|l| measure(&l.label, TextSize::Body)).max(64.0).min(0.36 * width);
            (labels + GUTTER, numbers - values - GUTTER)
        } else {
            (0.0, width)
        };
        let plot = (plot.0 + MARGIN, plot.1 - MARGIN);
        let ticks = axis.ticks(plot.1 - plot.0, Lie::Across);
        Self { axis, lines, more, width, wide, plot, numbers, bottom, ticks }
    }

    fn height(&self) -> u32 {
        let foot = if self.more > 0 { FOOT } else { 0.0 };
        (self.bottom + foot + 1.0).ceil() as u32
    }

    fn about(&self) -> String {
        format!("{}; {} rows", self.axis.about(), self.lines.len() + self.more)
    }

    /// Pixels from the left of a place on the axis.
    fn x(&self, at: f64) -> f64 {
        self.plot.0 + at * (self.plot.1 - self.plot.0)
    }

    /// Height at which a row's dot stands.
    fn y(&self, line: &Line<'_>) -> f64 {
        line.top + if self.wide { ROW / 2.0 } else { 27.0 }
    }

    fn draw(&self, pen: &Pen<'_>) {
        self.draw_axis(pen);
        for line in &self.lines {
            self.draw_grid(pen, line);
            self.draw_words(pen, line);
            self.draw_estimate(pen, line);
        }
        if self.lines.is_empty() {
            let y = HEADER + ROW / 2.0;
            pen.text((self.plot.0, y), Lettering::NOTE, "no rows");
        }
        if self.more > 0 {
            let words = format!("{} more rows are in the table", self.more);
            pen.text((0.0, self.bottom + FOOT / 2.0), Lettering::NOTE, &words);
        }
    }

    fn draw_axis(&self, pen: &Pen<'_>) {
        let left = self.plot.0 - MARGIN;
        pen.text((left, 9.0), Lettering::NOTE, &self.axis.title(Lie::Across, self.width - left));
        for tick in &self.ticks {
            let half = measure(&tick.label, TextSize::Small) / 2.0;
            let x = self.x(tick.at).max(half).min((self.width - half).max(half));
            pen.text((x, 30.0), Lettering::NOTE.at(Anchor::Middle), &tick.label);
        }
        pen.across(left, self.plot.1 + MARGIN, HEADER - 5.0, Ink::Axis);
        for tick in &self.ticks {
            pen.down(self.x(tick.at), HEADER - 5.0, HEADER, Ink::Axis);
        }
    }

    fn draw_grid(&self, pen: &Pen<'_>, line: &Line<'_>) {
        let bottom = line.top + ROW;
        // On a narrow figure the label stands above the dot, and the grid keeps clear of it.
        let top = if self.wide { line.top } else { line.top + 20.0 };
        // Where words stand instead of a dot, no line crosses them.
        let ticks: &[Tick] = if line.checked.drawn().is_some() { &self.ticks } else { &[] };
        for tick in ticks {
            let one = self.axis.scale() == Scale::Ratio && tick.value == 1.0;
            pen.down(self.x(tick.at), top, bottom, if one { Ink::Axis } else { Ink::Grid });
        }
        pen.across(0.0, self.width, bottom, Ink::Grid);
    }

    fn draw_words(&self, pen: &Pen<'_>, line: &Line<'_>) {
        if let Some(heading) = line.heading {
            let y = line.top - GROUP / 2.0 + 3.0;
            let shown = cut(heading, TextSize::Small, 0.9 * self.width);
            pen.text((0.0, y), Lettering { bold: true, ..Lettering::NOTE }, &shown);
            pen.across(0.0, self.width, line.top, Ink::Grid);
        }
        let y = line.top + if self.wide { ROW / 2.0 } else { 12.0 };
        let (value, interval) = &line.numbers;
        let numbers_left = if self.wide {
            let left = self.numbers + SPACE;
            let value = cut(value, TextSize::Body, self.numbers - self.plot.1);
            pen.text((self.numbers, y), Lettering::BODY.at(Anchor::End), &value);
            pen.text((left, y), Lettering::NOTE, &cut(interval, TextSize::Small, self.width - left));
            self.plot.0 - MARGIN
        } else {
            let interval_left = self.width - measure(interval, TextSize::Small);
            let value_right = if interval.is_empty() { self.width } else { interval_left - SPACE };
            pen.text((self.width, y), Lettering::NOTE.at(Anchor::End), interval);
            pen.text((value_right, y), Lettering::BODY.at(Anchor::End), value);
            value_right - measure(value, TextSize::Body)
        };
        let label = cut(&line.label, TextSize::Body, numbers_left - GUTTER);
        pen.text((0.0, y), Lettering::BODY, &label);
    }

    fn draw_estimate(&self, pen: &Pen<'_>, line: &Line<'_>) {
        let y = self.y(line);
        let ink = Ink::Series(line.row.colour);
        let Some(value) = line.checked.drawn() else {
            let words = match line.checked.value {
                Err(reason) => format!("not drawn: {reason}"),
                Ok(_) => NOT_MEASURED.to_owned(),
            };
            let shown = cut(&words, TextSize::Small, self.plot.1 - self.plot.0);
            pen.text((self.plot.0, y), Lettering::NOTE, &shown);
            return;
        };
        if let Some((low, high)) = line.checked.whisker() {
            mark::whisker(pen, (self.axis.place(low), self.axis.place(high)), |at| (self.x(at), y), ink);
        }
        let place = self.axis.place(value);
        let x = self.x(place.at);
        match place.beyond {
            None => mark::mark(pen, line.row.kind, (x, y), ink),
            Some(end) => {
                mark::arrow_across(pen, (x, y), end, ink);
                let (x, anchor) = match end {
                    End::Low => (x + 14.0, Anchor::Start),
                    End::High => (x - 14.0, Anchor::End),
                };
                pen.text((x, y), Lettering::NOTE.at(anchor), &self.axis.number(value));
            }
        }
    }

    fn mark(&self, line: &Line<'_>) -> Mark {
        let at = line.checked.drawn().map(|value| self.axis.place(value).at);
        Mark {
            x: self.x(at.unwrap_or(0.0)),
            y: self.y(line),
            r: RADIUS,
            row: line.index,
            label: tooltip(self.axis, line.row, &line.checked),
            drawn: at.is_some(),
        }
    }
}

/// Gives every row its place; returns them with the lower edge of the last.
fn lay_out<'a>(axis: &FittedAxis, rows: &'a [Row]) -> (Vec<Line<'a>>, f64) {
    let mut top = HEADER;
    let mut group = None;
    let mut lines = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let heading = row.group.as_deref().filter(|_| row.group != group);
        group.clone_from(&row.group);
        if heading.is_some() {
            top += GROUP;
        }
        let checked = row.estimate.check(axis.scale());
        let numbers = checked.drawn().map(|v| axis.numbers(v, checked.whisker())).unwrap_or_default();
        lines.push(Line { index, row, label: clean(&row.label), checked, top, heading, numbers });
        top += ROW;
    }
    let bottom = if rows.is_empty() { top + ROW } else { top };
    (lines, bottom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Part, Reason};
    use crate::metric::Better;
    use crate::units::Unit;

    fn row(label: &str, value: Option<f64>, interval: Option<(f64, f64)>) -> Row {
        let (low, high) = interval.unzip();
        Row {
            label: label.into(),
            group: None,
            estimate: Estimate { value, low, high },
            kind: MarkKind::ClientSolid,
            colour: 0,
            note: String::new(),
        }
    }

    fn draw(rows: &[Row], scale: Scale, width: u32) -> Drawing {
        let axis =
            Axis { label: "decode".into(), unit: Unit::TokensPerSecond, better: Better::Higher, scale };
        dot_interval(&axis.fit(rows.iter().map(|r| r.estimate)), rows, width)
    }

    fn sample() -> Vec<Row> {
        let mut rows = vec![
            row("vLLM 0.27 · FP8", Some(136.2), Some((134.1, 138.4))),
            row("llama.cpp b11434 · Q4", Some(29.8), Some((29.5, 30.1))),
            row("llama.cpp b11434 · Q4", Some(31.2), None),
            row("Ollama 0.9", None, None),
        ];
        rows[0].group = Some("Qwen3.8-27B".into());
        rows[0].kind = MarkKind::Stated;
        rows[0].colour = 1;
        rows[2].kind = MarkKind::Engine;
        rows[1].note = "3 of 16 runs failed".into();
        rows
    }

    #[test]
    fn the_drawing_is_the_same_to_the_byte() {
        let rows = sample();
        insta::assert_snapshot!("wide", draw(&rows, Scale::Log, 640).svg);
        insta::assert_snapshot!("phone", draw(&rows, Scale::Log, 320).svg);
    }

    #[test]
    fn a_row_that_nobody_measured_says_so_and_has_no_mark() {
        let drawing = draw(&sample(), Scale::Linear, 640);
        assert!(drawing.svg.contains("not measured"));
        let absent = &drawing.marks[3];
        assert!(!absent.drawn);
        assert_eq!(absent.label, "Ollama 0.9: not measured");
        assert_eq!(drawing.left_out, []);
        // One solid dot: the client's. Neither the absent row nor the hollow marks have one.
        assert_eq!(drawing.svg.matches("fill=\"var(--series-1,#1b1d1f)\"").count(), 1);
    }

    #[test]
    fn what_a_log_axis_cannot_show_is_left_out_and_said() {
        let values = [0.0, -5.0, f64::NAN, 1e300, f64::INFINITY];
        let mut rows: Vec<Row> = values.iter().map(|&v| row("bad", Some(v), None)).collect();
        rows.push(row("good", Some(10.0), Some((0.0, 20.0))));
        let drawing = draw(&rows, Scale::Log, 640);
        assert_eq!(drawing.marks.iter().filter(|m| m.drawn).count(), 1);
        let said: Vec<_> = drawing.left_out.iter().map(|l| (l.row, l.part, l.reason)).collect();
        assert_eq!(
            said,
            [
                (0, Part::Value, Reason::NotPositive),
                (1, Part::Value, Reason::NotPositive),
                (2, Part::Value, Reason::NotFinite),
                (3, Part::Value, Reason::OutOfRange),
                (4, Part::Value, Reason::NotFinite),
                (5, Part::Interval, Reason::NotPositive),
            ]
        );
        assert_eq!(drawing.svg.matches("not drawn: ").count(), 5);
        assert!(drawing.marks[5].label.contains("interval not drawn: zero or negative"));
    }

    #[test]
    fn an_outlier_leaves_the_rest_readable_and_says_its_number() {
        let mut rows: Vec<Row> = (0..7).map(|i| row("rest", Some(10.0 + f64::from(i)), None)).collect();
        rows.push(row("far", Some(1500.0), None));
        for width in [320, 900] {
            let drawing = draw(&rows, Scale::Linear, width);
            let apart = drawing.marks[6].x - drawing.marks[0].x;
            assert!(apart > 40.0, "{width}: the rest has {apart} px");
            let far = &drawing.marks[7];
            assert!(far.drawn && far.x > drawing.marks[6].x && far.x < f64::from(width), "{far:?}");
            assert!(far.label.contains("1,500 tok/s") && far.label.contains("beyond the end"), "{far:?}");
            // In the column of values, and beside the arrow.
            assert_eq!(drawing.svg.matches(">\n1,500\n<").count(), 2, "{width}");
        }
    }

    #[test]
    fn a_label_of_200_characters_is_cut_in_the_figure_and_whole_in_the_tooltip() {
        let long = "x".repeat(200);
        for width in [320, 640] {
            let drawing = draw(&[row(&long, Some(1.0), Some((0.5, 1.5)))], Scale::Linear, width);
            assert!(!drawing.svg.contains(&long));
            assert!(drawing.svg.contains("xx…"));
            assert!(drawing.marks[0].label.starts_with(&long));
        }
    }

    #[test]
    fn a_hostile_label_is_shown_as_text() {
        let hostile = "<img src=x onerror=\"alert('1')\">\u{0}&amp;";
        let mut rows = vec![row(hostile, Some(1.0), None)];
        rows[0].group = Some("</svg><script>alert(1)</script>".into());
        rows[0].note = hostile.into();
        let drawing = draw(&rows, Scale::Linear, 1200);
        assert!(!drawing.svg.contains("<img") && !drawing.svg.contains("<script"), "{}", drawing.svg);
        assert!(
            drawing
                .svg
                .contains("&lt;img src=x onerror=&quot;alert(&apos;1&apos;)&quot;&gt;\u{FFFD}&amp;amp;")
        );
        assert!(drawing.svg.contains("&lt;/svg&gt;&lt;script&gt;"));
        assert_eq!(drawing.svg.matches("</svg>").count(), 1);
    }

    #[test]
    fn an_axis_has_one_unit_whatever_the_size_of_the_values() {
        let rows = [row("a", Some(0.0042), None), row("b", Some(1.9), None)];
        let axis =
            Axis { label: "TTFT".into(), unit: Unit::Seconds, better: Better::Lower, scale: Scale::Log };
        let drawing = dot_interval(&axis.fit(rows.iter().map(|r| r.estimate)), &rows, 640);
        assert!(drawing.svg.contains(">\nTTFT, s (log), ← lower is better\n<"), "{}", drawing.svg);
        assert!(drawing.svg.contains(">\n0.00420\n<") && drawing.svg.contains(">\n1.90\n<"));
        assert!(!drawing.svg.contains("4.20"), "no milliseconds beside seconds");
    }

    #[test]
    fn marks_lie_inside_the_figure_on_every_width() {
        for width in [0, 200, 320, 559, 560, 1200, u32::MAX] {
            let drawing = draw(&sample(), Scale::Log, width);
            for mark in &drawing.marks {
                assert!(
                    mark.x - mark.r >= 0.0 && mark.x + mark.r <= f64::from(drawing.width),
                    "{width} {mark:?}"
                );
                assert!(mark.y + mark.r <= f64::from(drawing.height), "{width} {mark:?}");
            }
        }
    }

    #[test]
    fn a_group_has_one_heading() {
        let mut rows = sample();
        for row in &mut rows {
            row.group = Some("SmolLM2-135M".into());
        }
        let drawing = draw(&rows, Scale::Log, 640);
        assert_eq!(drawing.svg.matches(">\nSmolLM2-135M\n<").count(), 1);
    }

    #[test]
    fn rows_beyond_the_most_are_counted() {
        let rows: Vec<Row> = (0..MOST_ROWS + 7).map(|i| row("r", Some(1.0 + i as f64), None)).collect();
        let drawing = draw(&rows, Scale::Log, 640);
        assert_eq!(drawing.marks.len(), MOST_ROWS);
        assert!(drawing.svg.contains("7 more rows are in the table"));
    }

    #[test]
    fn a_figure_without_rows_says_so() {
        let drawing = draw(&[], Scale::Log, 640);
        assert!(drawing.svg.contains("no rows"));
    }

    #[test]
    fn the_kind_of_evidence_has_its_own_shape() {
        let shapes = [MarkKind::ClientSolid, MarkKind::Engine, MarkKind::Stated].map(|kind| {
            let drawing = draw(&[Row { kind, ..row("a", Some(1.0), None) }], Scale::Linear, 640);
            (drawing.svg.matches("<circle").count(), drawing.svg.matches("<polygon").count())
        });
        assert_eq!(shapes, [(1, 0), (0, 1), (2, 0)]);
    }
}
