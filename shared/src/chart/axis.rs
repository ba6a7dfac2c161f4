//! What an axis says, and the axis fitted to data.

use super::sanitise::Estimate;
use super::scale::{Place, Scale, Span};
use super::text::{TextSize, cut, measure};
use super::ticks::{Tick, ticks};
use crate::format;
use crate::metric::Better;
use crate::units::Unit;

/// Pixels between two labels of an axis that lies across.
const GAP_ACROSS: f64 = 14.0;

/// Pixels between two labels of an upright axis.
const GAP_UPRIGHT: f64 = 10.0;

/// What an axis measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name of the quantity; may be empty.
    pub label: String,
    /// The unit of every number on it.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// How it runs.
    pub scale: Scale,
}

impl Axis {
    /// The axis over the stretch that shows `estimates`; see [`Span::fit`].
    pub fn fit(self, estimates: impl IntoIterator<Item = Estimate>) -> FittedAxis {
        let span = Span::fit(self.scale, estimates);
        FittedAxis { axis: self, span }
    }
}

/// An axis with the stretch of numbers it shows. Figures that share one can be read against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedAxis {
    axis: Axis,
    span: Span,
}

/// The two ways in which an axis can lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lie {
    Across,
    Upright,
}

impl FittedAxis {
    /// The stretch it shows.
    pub const fn span(&self) -> &Span {
        &self.span
    }

    pub(super) const fn scale(&self) -> Scale {
        self.span.scale()
    }

    /// Where `x` stands; `x` must have been [admitted](super::sanitise::admit) for its scale.
    pub(super) fn place(&self, x: f64) -> Place {
        self.span.place(x)
    }

    /// Ticks of the axis drawn `length` pixels long.
    pub(super) fn ticks(&self, length: f64, lie: Lie) -> Vec<Tick> {
        ticks(&self.span, length, |label| match lie {
            Lie::Across => measure(label, TextSize::Small) + GAP_ACROSS,
            Lie::Upright => TextSize::Small.px() + GAP_UPRIGHT,
        })
    }

    /// `decode, tok/s (log), higher is better →` in at most `room` pixels: what has to go is the name.
    pub(super) fn title(&self, lie: Lie, room: f64) -> String {
        let unit = self.axis.unit.symbol();
        let log = if self.scale().is_log() { " (log)" } else { "" };
        let words = self.axis.better.words();
        let better = match (self.axis.better, lie) {
            (Better::Higher, Lie::Across) => format!(", {words} →"),
            (Better::Lower, Lie::Across) => format!(", ← {words}"),
            (Better::Higher, Lie::Upright) => format!(", {words} ↑"),
            (Better::Lower, Lie::Upright) => format!(", {words} ↓"),
            (Better::Neither, _) => String::new(),
        };
        let comma = if unit.is_empty() { "" } else { ", " };
        let rest = format!("{comma}{unit}{log}{better}");
        let name = cut(&self.axis.label, TextSize::Small, room - measure(&rest, TextSize::Small));
        // Three letters and an ellipsis name nothing.
        if name.is_empty() || (name.ends_with('…') && name.chars().count() < 5) {
            return cut(rest.trim_start_matches([',', ' ']), TextSize::Small, room);
        }
        name + &rest
    }

    /// What a screen reader says of the axis.
    pub(super) fn about(&self) -> String {
        self.title(Lie::Across, f64::INFINITY).replace(" →", "").replace("← ", "")
    }

    /// A number of the axis without its unit, as `39.5`. Ratios have three decimals: with three digits, half a
    /// percent would be lost above 1 and not below it.
    pub(super) fn number(&self, x: f64) -> String {
        if self.scale() == Scale::Ratio && (0.1..100.0).contains(&x) {
            format::fixed(x, 3)
        } else {
            format::short(x)
        }
    }

    /// A value and its interval without unit, as `39.5` and `(38.9–40.1)`.
    pub(super) fn numbers(&self, value: f64, interval: Option<(f64, f64)>) -> (String, String) {
        if self.scale() == Scale::Ratio {
            let interval =
                interval.map(|(low, high)| format!("({}–{})", self.number(low), self.number(high)));
            return (self.number(value), interval.unwrap_or_default());
        }
        let both = format::with_interval(Some(value), interval);
        let (value, interval) = both.split_once(' ').unwrap_or((&both, ""));
        (value.to_owned(), interval.to_owned())
    }

    /// The same in words with the unit: `39.5 tok/s (38.9–40.1)`.
    pub(super) fn words(&self, value: f64, interval: Option<(f64, f64)>) -> String {
        let (value, interval) = self.numbers(value, interval);
        let parts = [value.as_str(), self.axis.unit.symbol(), interval.as_str()];
        parts.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(unit: Unit, better: Better, scale: Scale) -> FittedAxis {
        Axis { label: "decode".into(), unit, better, scale }.fit([])
    }

    #[test]
    fn the_title_says_unit_and_direction() {
        let rate = axis(Unit::TokensPerSecond, Better::Higher, Scale::Log);
        assert_eq!(rate.title(Lie::Across, 500.0), "decode, tok/s (log), higher is better →");
        let span = axis(Unit::Seconds, Better::Lower, Scale::Linear);
        assert_eq!(span.title(Lie::Across, 500.0), "decode, s, ← lower is better");
        assert_eq!(span.title(Lie::Upright, 500.0), "decode, s, lower is better ↓");
        let share = axis(Unit::One, Better::Neither, Scale::Linear);
        assert_eq!(share.title(Lie::Across, 500.0), "decode");
    }

    #[test]
    fn a_narrow_title_gives_up_its_name_before_its_direction() {
        let rate = axis(Unit::TokensPerSecond, Better::Higher, Scale::Linear);
        assert_eq!(rate.title(Lie::Across, 175.0), "tok/s, higher is better →");
    }

    #[test]
    fn a_value_and_its_interval_share_one_unit() {
        let span = axis(Unit::Seconds, Better::Lower, Scale::Linear);
        assert_eq!(span.words(0.0312, Some((0.0301, 0.0324))), "0.0312 s (0.0301–0.0324)");
        assert_eq!(span.words(1.9, None), "1.90 s");
        let ratio = axis(Unit::One, Better::Neither, Scale::Ratio);
        assert_eq!(ratio.words(0.9968, Some((0.98, 1.0151))), "0.997 (0.980–1.015)");
        assert_eq!(ratio.title(Lie::Across, 500.0), "decode (log)");
    }
}
