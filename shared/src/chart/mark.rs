//! Marks: a shape for each kind of evidence, so that colour never says anything alone.

use super::pen::{Pen, Point, Stroke};
use super::scale::{End, Place};
use super::theme::Ink;

/// Where a figure comes from; each kind has its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkKind {
    /// Measured by our client's clock: a solid dot.
    ClientSolid,
    /// Reported by the engine: a hollow diamond.
    Engine,
    /// Stated by a transcribed or imported summary: a hollow circle.
    Stated,
}

impl MarkKind {
    /// As a tooltip says it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ClientSolid => "client clock",
            Self::Engine => "engine’s own figure",
            Self::Stated => "as stated by its source",
        }
    }
}

/// A mark's place in the drawing and what it stands for, so that a page can lay something focusable over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Centre from the left, in CSS pixels.
    pub x: f64,
    /// Centre from the top, in CSS pixels.
    pub y: f64,
    /// Radius in CSS pixels.
    pub r: f64,
    /// Index of the row or run it stands for.
    pub row: usize,
    /// The whole text of it, uncut: for tooltip and screen reader.
    pub label: String,
    /// Whether a value is drawn here. Where none is, `label` says why and words stand in the figure instead.
    pub drawn: bool,
}

/// Radius of marks.
pub(super) const RADIUS: f64 = 4.5;

/// Outer radius of a hollow circle, which looks smaller than a solid one.
const HOLLOW: f64 = 5.0;

/// A diamond of this half diagonal looks as large as a circle of [`RADIUS`].
const DIAMOND: f64 = 6.25;

/// Width of the outline of hollow marks.
const OUTLINE: f64 = 1.75;

/// Half the height of the caps of a whisker. They stand out above and below the mark, so that an interval
/// narrower than the mark is still seen.
const CAP: f64 = 6.5;

/// Draws the mark of a kind.
pub(super) fn mark(pen: &Pen<'_>, kind: MarkKind, at: Point, ink: Ink) {
    match kind {
        MarkKind::ClientSolid => pen.disc(at, RADIUS, ink),
        MarkKind::Stated => {
            let radius = HOLLOW - OUTLINE / 2.0;
            pen.disc(at, radius, Ink::Surface);
            pen.ring(at, radius, Stroke(ink, OUTLINE));
        }
        MarkKind::Engine => {
            let (x, y) = at;
            let d = DIAMOND - OUTLINE / 2.0;
            pen.polygon(&[(x - d, y), (x, y - d), (x + d, y), (x, y + d)], Ink::Surface);
            // Begins in the middle of an edge: at a corner the ends of the line would not meet.
            let h = d / 2.0;
            let outline = [(x - h, y - h), (x, y - d), (x + d, y), (x, y + d), (x - d, y), (x - h, y - h)];
            pen.path(&outline, Stroke(ink, OUTLINE));
        }
    }
}

/// Draws a horizontal interval from its `low` to its `high` end, with a cap at each end that is really there and an
/// arrow head at one beyond the axis. An interval that is wholly beyond it is not drawn.
pub(super) fn whisker(pen: &Pen<'_>, (low, high): (Place, Place), at: impl Fn(f64) -> Point, ink: Ink) {
    if low.beyond.is_some() && low.beyond == high.beyond {
        return;
    }
    pen.line(at(low.at), at(high.at), Stroke(ink, 1.5));
    for (end, inward) in [(low, 4.0), (high, -4.0)] {
        let (x, y) = at(end.at);
        if end.beyond.is_some() {
            pen.path(&[(x + inward, y - 4.0), (x, y), (x + inward, y + 4.0)], Stroke(ink, 1.5));
        } else {
            pen.line((x, y - CAP), (x, y + CAP), Stroke(ink, 1.0));
        }
    }
}

/// Draws the arrow that stands for a value beyond the end of a horizontal axis.
pub(super) fn arrow_across(pen: &Pen<'_>, (x, y): Point, end: End, ink: Ink) {
    let d = if end == End::High { -1.0 } else { 1.0 };
    pen.polygon(&[(x, y), (x + d * 9.0, y - 5.5), (x + d * 9.0, y + 5.5)], ink);
}

/// Draws the arrow that stands for a value beyond the end of an upright axis.
pub(super) fn arrow_upright(pen: &Pen<'_>, (x, y): Point, end: End, ink: Ink) {
    let d = if end == End::High { 1.0 } else { -1.0 };
    pen.polygon(&[(x, y), (x - 4.5, y + d * 8.0), (x + 4.5, y + d * 8.0)], ink);
}
