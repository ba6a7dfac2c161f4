//! Every run of a case in its order: what a mean hides.

use super::Drawing;
use super::axis::{Axis, FittedAxis, Lie};
use super::mark::{self, Mark, MarkKind, RADIUS};
use super::pen::{Anchor, Lettering, Pen, Point, Stroke, sheet};
use super::sanitise::{Checked, Estimate, admit};
use super::text::{TextSize, clean, measure};
use super::theme::Ink;
use super::ticks::Tick;

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its figure in the base unit of the axis; `None` where it has none.
    pub value: Option<f64>,
    /// Why it failed, if it did. A failed run is crossed and has no say in the extent of the axis.
    pub failed: Option<String>,
    /// Whether it is flagged as an outlier. It is ringed.
    pub outlier: bool,
    /// What else the tooltip says; may be empty.
    pub note: String,
}

/// The runs of a case with what they were summed up to.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStrip {
    /// The axis of values.
    pub axis: Axis,
    /// Where the values come from.
    pub kind: MarkKind,
    /// Index in Okabe and Ito's order of colours.
    pub colour: usize,
    /// Recorded runs in their order.
    pub runs: Vec<Run>,
    /// The case's figure, of which the interval is.
    pub figure: Option<f64>,
    /// Interval of the case's estimate, low and high.
    pub interval: Option<(f64, f64)>,
    /// Values of the drift line at the first and at the last run, where drift is warned of.
    pub drift: Option<(f64, f64)>,
}

/// Of more runs than this, every second, third … is drawn, of failed runs and outliers likewise, and the figure
/// says how many.
pub const MOST_RUNS: usize = 1000;

/// Widths that a figure can have. Others are taken to the nearest of these.
const WIDTHS: std::ops::RangeInclusive<u32> = 200..=4000;

const LINE: f64 = 18.0;
const PLOT: f64 = 120.0;
const LANE: f64 = 24.0;
const FOOT: f64 = 22.0;
const MARGIN: f64 = 8.0;

/// What stands beside the axis of run numbers.
const RUN: &str = "run";

/// What stands beside the lane of runs that have no value.
const NO_VALUE: &str = "no value";

/// Draws the runs from left to right, `width` CSS pixels wide.
///
/// A run that failed before it had a value, or whose value cannot be drawn, stands in a lane below the axis of
/// values, never at a number.
pub fn run_strip(strip: &RunStrip, width: u32) -> Drawing {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let figure = Figure::new(strip, width);
    let svg = sheet(width, figure.height(), &figure.about(), |pen| figure.draw(pen));
    let marks = figure.dots.iter().map(|dot| figure.mark(dot)).collect();
    let checked = strip.runs.iter().map(|run| run.estimate().check(strip.axis.scale));
    let left_out = checked.enumerate().flat_map(|(i, c)| c.left_out(i, &format!("run {}", i + 1))).collect();
    Drawing { svg, width, height: figure.height(), marks, left_out }
}

impl Run {
    fn estimate(&self) -> Estimate {
        Estimate { value: self.value, ..Estimate::default() }
    }
}

/// A run with its place.
struct Dot<'a> {
    index: usize,
    run: &'a Run,
    checked: Checked,
    at: Point,
}

/// The figure before it is drawn.
struct Figure<'a> {
    strip: &'a RunStrip,
    axis: FittedAxis,
    dots: Vec<Dot<'a>>,
    width: f64,
    /// What the figure and the interval are, in words.
    summary: String,
    /// Left end of the plot, and its upper and lower edge.
    left: f64,
    top: f64,
    bottom: f64,
    has_lane: bool,
    ticks: Vec<Tick>,
}

impl<'a> Figure<'a> {
    fn new(strip: &'a RunStrip, width: u32) -> Self {
        let width = f64::from(width);
        let scale = strip.axis.scale;
        let passing = strip.runs.iter().filter(|r| r.failed.is_none()).map(Run::estimate);
        let (low, high) = strip.interval.unzip();
        let axis = strip.axis.clone().fit(passing.chain([Estimate { value: strip.figure, low, high }]));
        let mut dots: Vec<Dot<'a>> = drawn_runs(&strip.runs)
            .into_iter()
            .map(|(index, run)| Dot { index, run, checked: run.estimate().check(scale), at: (0.0, 0.0) })
            .collect();
        let has_lane = dots.iter().any(|d| d.checked.drawn().is_none());
        let ticks = axis.ticks(PLOT - 2.0 * MARGIN, Lie::Upright);
        let lane = measure(if has_lane { NO_VALUE } else { RUN }, TextSize::Small);
        let left = ticks.iter().map(|t| measure(&t.label, TextSize::Small)).fold(lane, f64::max) + MARGIN;
        let summary = summary(&axis, strip, dots.len());
        let title = measure(&axis.title(Lie::Upright, width), TextSize::Small);
        let one_line = title + 2.0 * MARGIN + measure(&summary, TextSize::Small) <= width;
        let top = if one_line || summary.is_empty() { LINE } else { 2.0 * LINE } + 4.0;
        let mut figure = Self {
            strip,
            axis,
            dots: Vec::new(),
            width,
            summary,
            left,
            top,
            bottom: top + PLOT,
            has_lane,
            ticks,
        };
        for dot in &mut dots {
            let y = match dot.checked.drawn() {
                Some(value) => figure.y(figure.axis.place(value).at),
                None => figure.bottom + LANE / 2.0,
            };
            dot.at = (figure.x(dot.index), y);
        }
        figure.dots = dots;
        figure
    }

    fn height(&self) -> u32 {
        (self.floor() + FOOT).ceil() as u32
    }

    /// Where the axis of run numbers lies.
    fn floor(&self) -> f64 {
        self.bottom + if self.has_lane { LANE } else { 0.0 }
    }

    /// Pixels from the left of a run.
    fn x(&self, index: usize) -> f64 {
        let runs = self.strip.runs.len().max(1) as f64;
        let plot = self.width - self.left - 2.0 * MARGIN;
        self.left + MARGIN + (index as f64 + 0.5) / runs * plot
    }

    /// Pixels from the top of a place on the axis of values.
    fn y(&self, at: f64) -> f64 {
        self.bottom - MARGIN - at * (PLOT - 2.0 * MARGIN)
    }

    fn about(&self) -> String {
        let failed = self.strip.runs.iter().filter(|r| r.failed.is_some()).count();
        format!(
            "{}; {} runs in order, {failed} failed; {}",
            self.axis.about(),
            self.strip.runs.len(),
            self.summary
        )
    }

    fn draw(&self, pen: &Pen<'_>) {
        self.draw_axes(pen);
        self.draw_summary(pen);
        for dot in &self.dots {
            self.draw_run(pen, dot);
        }
    }

    fn draw_axes(&self, pen: &Pen<'_>) {
        pen.text((0.0, 9.0), Lettering::NOTE, &self.axis.title(Lie::Upright, self.width));
        for tick in &self.ticks {
            let y = self.y(tick.at);
            pen.text((self.left - MARGIN, y), Lettering::NOTE.at(Anchor::End), &tick.label);
            pen.across(self.left, self.width, y, Ink::Grid);
        }
        if self.has_lane {
            let y = self.bottom + LANE / 2.0;
            pen.text((self.left - MARGIN, y), Lettering::NOTE.at(Anchor::End), NO_VALUE);
            pen.across(self.left, self.width, self.bottom, Ink::Grid);
        }
        let floor = self.floor();
        pen.across(self.left, self.width, floor, Ink::Axis);
        for number in self.numbered_runs() {
            let x = self.x(number - 1);
            pen.down(x, floor, floor + 4.0, Ink::Axis);
            pen.text((x, floor + 13.0), Lettering::NOTE.at(Anchor::Middle), &number.to_string());
        }
        pen.text((self.left - MARGIN, floor + 13.0), Lettering::NOTE.at(Anchor::End), RUN);
    }

    /// The runs whose number is written: the first, and every first, second, fifth … that there is room for.
    fn numbered_runs(&self) -> Vec<usize> {
        let runs = self.strip.runs.len();
        if runs == 0 {
            return Vec::new();
        }
        let room = measure(&runs.to_string(), TextSize::Small) + 10.0;
        let apart = if runs > 1 { self.x(1) - self.x(0) } else { room };
        let steps = (0..6).flat_map(|e| [1, 2, 5].map(|m| m * 10_usize.pow(e)));
        let step = steps.into_iter().find(|&s| s as f64 * apart >= room).unwrap_or(runs);
        // The first run has its number unless the next one is too near.
        let first = if step > 1 && (step - 1) as f64 * apart < room { None } else { Some(1) };
        first.into_iter().chain((step..=runs).step_by(step).filter(|&n| n > 1 || first.is_none())).collect()
    }

    fn draw_summary(&self, pen: &Pen<'_>) {
        let scale = self.axis.scale();
        let drawable = |x: f64| admit(x, scale).ok().map(|x| self.axis.place(x).at);
        let ink = Ink::Series(self.strip.colour);
        let (from, to) = (self.left, self.width);
        if let Some((low, high)) = self.strip.interval
            && let (Some(low), Some(high)) = (drawable(low), drawable(high))
        {
            pen.rectangle((from, self.y(high)), (to, self.y(low)), ink, 0.14);
        }
        if let Some(figure) = self.strip.figure.and_then(drawable) {
            pen.across(from, to, self.y(figure), Ink::Text);
        }
        if let Some((first, last)) = self.strip.drift
            && let (Some(first), Some(last)) = (drawable(first), drawable(last))
        {
            let ends = (self.x(0), self.x(self.strip.runs.len().saturating_sub(1)));
            dashed(pen, (ends.0, self.y(first)), (ends.1, self.y(last)), Stroke(ink, 1.5));
        }
        let y = self.top - LINE + 5.0;
        if self.top > 2.0 * LINE {
            pen.text((0.0, y), Lettering::NOTE, &self.summary);
        } else {
            pen.text((self.width, y), Lettering::NOTE.at(Anchor::End), &self.summary);
        }
    }

    fn draw_run(&self, pen: &Pen<'_>, dot: &Dot<'_>) {
        let ink = Ink::Series(self.strip.colour);
        let beyond = dot.checked.drawn().and_then(|value| self.axis.place(value).beyond);
        if dot.run.failed.is_some() {
            cross(pen, dot.at);
        } else if dot.checked.drawn().is_none() {
            pen.text(dot.at, Lettering::NOTE.at(Anchor::Middle), crate::format::UNKNOWN);
        } else if let (Some(end), Some(value)) = (beyond, dot.checked.drawn()) {
            mark::arrow_upright(pen, dot.at, end, ink);
            let (x, y) = dot.at;
            // The number stands on the side on which there is room for it.
            let (x, anchor) =
                if x < self.width / 2.0 { (x + 11.0, Anchor::Start) } else { (x - 11.0, Anchor::End) };
            pen.text((x, y), Lettering::NOTE.at(anchor), &self.axis.number(value));
        } else {
            mark::mark(pen, self.strip.kind, dot.at, ink);
        }
        if dot.run.outlier {
            pen.ring(dot.at, RADIUS + 3.0, Stroke(Ink::Text, 1.0));
        }
    }

    fn mark(&self, dot: &Dot<'_>) -> Mark {
        let (x, y) = dot.at;
        let drawn = dot.checked.drawn().is_some();
        Mark { x, y, r: RADIUS, row: dot.index, label: self.tooltip(dot), drawn }
    }

    fn tooltip(&self, dot: &Dot<'_>) -> String {
        let mut said = vec![match dot.checked.value {
            Ok(Some(value)) => format!("{}, {}", self.axis.words(value, None), self.strip.kind.words()),
            Ok(None) => "no value".to_owned(),
            Err(reason) => format!("value not drawn, {reason}"),
        }];
        if let Some(why) = &dot.run.failed {
            said.push(format!("failed: {}", clean(why)));
        }
        if dot.run.outlier {
            said.push("outlier".to_owned());
        }
        if dot.checked.drawn().is_some_and(|value| self.axis.place(value).beyond.is_some()) {
            said.push("beyond the end of the axis".to_owned());
        }
        let text = format!("run {}: {}", dot.index + 1, said.join(", "));
        let note = clean(&dot.run.note);
        if note.is_empty() { text } else { format!("{text}. {note}") }
    }
}

/// The runs that are drawn, with their indices in order: all of them, if they are not too many.
fn drawn_runs(runs: &[Run]) -> Vec<(usize, &Run)> {
    let kind = |run: &Run| usize::from(run.failed.is_some() || run.outlier);
    let flagged = runs.iter().filter(|run| kind(run) == 1).count();
    let every = [runs.len() - flagged, flagged].map(|of_kind| of_kind.div_ceil(MOST_RUNS).max(1));
    let mut seen = [0_usize; 2];
    let mut is_drawn = |run: &Run| {
        let kind = kind(run);
        seen[kind] += 1;
        (seen[kind] - 1).is_multiple_of(every[kind])
    };
    runs.iter().enumerate().filter(|(_, run)| is_drawn(run)).collect()
}

/// `case 39.5, interval 38.9–40.1`, and how many runs are drawn where not all are.
fn summary(axis: &FittedAxis, strip: &RunStrip, drawn: usize) -> String {
    let drawable = |x: &f64| admit(*x, axis.scale()).is_ok();
    let figure = strip.figure.filter(drawable).map(|m| format!("case {}", axis.number(m)));
    let interval = strip
        .interval
        .filter(|(low, high)| drawable(low) && drawable(high))
        .map(|(low, high)| format!("interval {}–{}", axis.number(low), axis.number(high)));
    let all = strip.runs.len();
    let few = (drawn < all).then(|| format!("{drawn} of {all} runs drawn"));
    [figure, interval, few].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The sign of a failed run.
fn cross(pen: &Pen<'_>, (x, y): Point) {
    let d = 3.5;
    let stroke = Stroke(Ink::Text, 1.5);
    pen.line((x - d, y - d), (x + d, y + d), stroke);
    pen.line((x - d, y + d), (x + d, y - d), stroke);
}

/// A line of dashes.
fn dashed(pen: &Pen<'_>, from: Point, to: Point, stroke: Stroke) {
    const DASH: f64 = 6.0;
    const PERIOD: f64 = 10.0;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = libm::hypot(dx, dy);
    let dashes = (length / PERIOD).ceil().clamp(0.0, 1000.0) as u32;
    for i in 0..dashes {
        let start = f64::from(i) * PERIOD;
        let point = |along: f64| (from.0 + dx * along / length, from.1 + dy * along / length);
        pen.line(point(start), point((start + DASH).min(length)), stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Scale;
    use crate::metric::Better;
    use crate::units::Unit;

    fn run(value: f64) -> Run {
        Run { value: Some(value), failed: None, outlier: false, note: String::new() }
    }

    fn strip(runs: Vec<Run>) -> RunStrip {
        RunStrip {
            axis: Axis {
                label: "decode".into(),
                unit: Unit::TokensPerSecond,
                better: Better::Higher,
                scale: Scale::Linear,
            },
            kind: MarkKind::ClientSolid,
            colour: 0,
            runs,
            figure: Some(40.0),
            interval: Some((39.0, 41.0)),
            drift: None,
        }
    }

    fn steady(n: usize) -> Vec<Run> {
        (0..n).map(|i| run(39.0 + (i % 5) as f64 * 0.5)).collect()
    }

    #[test]
    fn runs_stand_in_their_order() {
        let drawing = run_strip(&strip(steady(16)), 640);
        assert_eq!(drawing.marks.len(), 16);
        assert!(drawing.marks.windows(2).all(|m| m[0].x < m[1].x && m[0].row + 1 == m[1].row));
        assert_eq!(drawing.marks[2].label, "run 3: 40.0 tok/s, client clock");
    }

    #[test]
    fn a_run_without_a_value_stands_in_a_lane_of_its_own_and_says_why() {
        let mut runs = steady(8);
        runs[3] =
            Run { value: None, failed: Some("empty answer".into()), outlier: false, note: String::new() };
        let drawing = run_strip(&strip(runs), 640);
        let lowest = drawing.marks.iter().filter(|m| m.drawn).map(|m| m.y).fold(0.0, f64::max);
        let missing = &drawing.marks[3];
        assert!(!missing.drawn && missing.y > lowest, "{missing:?}");
        assert_eq!(missing.label, "run 4: no value, failed: empty answer");
        assert!(drawing.svg.contains("no value"));
        assert!(!run_strip(&strip(steady(8)), 640).svg.contains("no value"));
    }

    #[test]
    fn a_failed_run_does_not_stretch_the_axis() {
        let mut runs = steady(8);
        runs[3] = Run {
            value: Some(900.0),
            failed: Some("wrong line".into()),
            outlier: false,
            note: String::new(),
        };
        let with = run_strip(&strip(runs), 640);
        let without = run_strip(&strip(steady(8)), 640);
        assert_eq!(with.marks[4].y, without.marks[4].y);
    }

    #[test]
    fn an_outlier_is_ringed_and_beyond_the_axis_says_its_number() {
        let mut runs = steady(16);
        runs[5] = Run { outlier: true, ..run(4000.0) };
        let drawing = run_strip(&strip(runs), 640);
        let plain = run_strip(&strip(steady(16)), 640);
        assert!(drawing.svg.contains(">\n4,000\n<"), "{}", drawing.svg);
        let ring = |line: &&str| line.starts_with("<circle") && line.contains("fill=\"none\"");
        assert_eq!(drawing.svg.lines().filter(ring).count(), 1);
        assert_eq!(plain.svg.lines().filter(ring).count(), 0);
        assert_eq!(drawing.marks[6].y, plain.marks[6].y, "the others stay where they are");
        assert!(
            drawing.marks[5].label.ends_with("outlier, beyond the end of the axis"),
            "{:?}",
            drawing.marks[5]
        );
    }

    #[test]
    fn of_too_many_runs_a_part_is_drawn_with_every_outlier_and_that_is_said() {
        let mut runs = steady(2500);
        runs[701].outlier = true;
        let drawing = run_strip(&strip(runs), 640);
        assert!(drawing.marks.len() <= MOST_RUNS + 1);
        assert!(drawing.marks.iter().any(|m| m.row == 701));
        let said = format!("{} of 2500 runs drawn", drawing.marks.len());
        assert!(drawing.svg.contains(&said), "{said}");
    }

    #[test]
    fn run_numbers_do_not_run_into_each_other() {
        for (n, width) in [(1, 200), (16, 320), (16, 1200), (300, 320), (999, 320)] {
            let strip = strip(steady(n));
            let figure = Figure::new(&strip, width);
            let numbers = figure.numbered_runs();
            assert!(!numbers.is_empty(), "{n} runs");
            for pair in numbers.windows(2) {
                let apart = figure.x(pair[1] - 1) - figure.x(pair[0] - 1);
                assert!(
                    apart >= measure(&pair[1].to_string(), TextSize::Small) + 4.0,
                    "{n} {width}: {pair:?}"
                );
            }
        }
    }
}
