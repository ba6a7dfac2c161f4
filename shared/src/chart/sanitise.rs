//! What may be drawn. Plotters hangs on absurd ranges, panics on NaN and draws zero, negative and missing
//! values at the floor of a log axis as if they were data: nothing reaches it that did not pass here.

use std::fmt;

use super::scale::Scale;

/// The smallest magnitude that is drawn, other than zero.
pub const SMALLEST: f64 = 1e-12;

/// The largest magnitude that is drawn.
pub const LARGEST: f64 = 1e15;

/// Why a value that was given is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// NaN or an infinity.
    NotFinite,
    /// Zero or negative, on an axis that is logarithmic.
    NotPositive,
    /// A magnitude below [`SMALLEST`] or above [`LARGEST`].
    OutOfRange,
    /// An interval of which only one end is given.
    OneEnded,
    /// An interval whose low end is above its high end.
    Reversed,
    /// An interval without the value it belongs to.
    NoValue,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "not a finite number",
            Self::NotPositive => "zero or negative, which a log axis cannot show",
            Self::OutOfRange => "outside of 1e-12 to 1e15",
            Self::OneEnded => "only one end is known",
            Self::Reversed => "its low end is above its high end",
            Self::NoValue => "it belongs to no value",
        })
    }
}

/// What was left out of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The value itself: the row has no mark.
    Value,
    /// The interval: the row has its mark and no whisker.
    Interval,
}

/// Something that was given and is not drawn, for the table beside the figure to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Index of the row or run.
    pub row: usize,
    /// Label of the row, or `run 3`.
    pub label: String,
    /// What is missing from the figure.
    pub part: Part,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Value => "value",
            Part::Interval => "interval",
        };
        write!(f, "{}: {part} not drawn ({})", self.label, self.reason)
    }
}

/// A value and its interval, as far as they are known, in the base unit of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// The value; `None` is "not measured".
    pub value: Option<f64>,
    /// Low end of the interval.
    pub low: Option<f64>,
    /// High end of the interval.
    pub high: Option<f64>,
}

/// An estimate of which every number can be drawn on the axis it was checked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Checked {
    /// The value, `None` where there is none, or why it is not drawn.
    pub value: Result<Option<f64>, Reason>,
    /// The interval, likewise. There is none without a value.
    pub interval: Result<Option<(f64, f64)>, Reason>,
}

impl Estimate {
    pub(super) fn check(self, scale: Scale) -> Checked {
        let value = self.value.map(|x| admit(x, scale)).transpose();
        let interval = match (self.low, self.high) {
            (None, None) => Ok(None),
            (Some(_), None) | (None, Some(_)) => Err(Reason::OneEnded),
            (Some(low), Some(high)) => admit(low, scale).and_then(|low| {
                let high = admit(high, scale)?;
                if low > high { Err(Reason::Reversed) } else { Ok(Some((low, high))) }
            }),
        };
        let interval = match (value, interval) {
            (Ok(Some(_)), interval) => interval,
            (_, Ok(None)) => Ok(None),
            _ => Err(Reason::NoValue),
        };
        Checked { value, interval }
    }
}

impl Checked {
    /// The value, if it is drawn.
    pub(super) fn drawn(&self) -> Option<f64> {
        self.value.ok().flatten()
    }

    /// The interval, if it is drawn.
    pub(super) fn whisker(&self) -> Option<(f64, f64)> {
        self.interval.ok().flatten()
    }

    /// What of it is not drawn although it was given. An interval whose value is left out is not
    /// mentioned a second time.
    pub(super) fn left_out(&self, row: usize, label: &str) -> Vec<LeftOut> {
        let said = |part, reason| LeftOut { row, label: label.to_owned(), part, reason };
        match (self.value, self.interval) {
            (Err(reason), _) => vec![said(Part::Value, reason)],
            (Ok(_), Err(reason)) => vec![said(Part::Interval, reason)],
            _ => Vec::new(),
        }
    }
}

/// `x` if it can be drawn on an axis of this scale, and otherwise why not.
pub fn admit(x: f64, scale: Scale) -> Result<f64, Reason> {
    if !x.is_finite() {
        Err(Reason::NotFinite)
    } else if scale.is_log() && x <= 0.0 {
        Err(Reason::NotPositive)
    } else if x != 0.0 && !(SMALLEST..=LARGEST).contains(&x.abs()) {
        Err(Reason::OutOfRange)
    } else {
        Ok(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_stand_on_a_log_axis_is_named_and_not_moved_to_its_floor() {
        assert_eq!(admit(0.0, Scale::Log), Err(Reason::NotPositive));
        assert_eq!(admit(-0.0, Scale::Log), Err(Reason::NotPositive));
        assert_eq!(admit(-3.0, Scale::Ratio), Err(Reason::NotPositive));
        assert_eq!(admit(f64::NAN, Scale::Log), Err(Reason::NotFinite));
        assert_eq!(admit(f64::NEG_INFINITY, Scale::Linear), Err(Reason::NotFinite));
        assert_eq!(admit(1e300, Scale::Log), Err(Reason::OutOfRange));
        assert_eq!(admit(5e-324, Scale::Linear), Err(Reason::OutOfRange));
        assert_eq!(admit(0.0, Scale::Linear), Ok(0.0));
        assert_eq!(admit(-2.0, Scale::Linear), Ok(-2.0));
        assert_eq!(admit(1e15, Scale::Log), Ok(1e15));
    }

    #[test]
    fn a_bad_interval_leaves_its_value() {
        let cases = [
            (Some(0.0), Some(2.0), Reason::NotPositive),
            (Some(1.0), Some(f64::INFINITY), Reason::NotFinite),
            (Some(2.0), Some(1.0), Reason::Reversed),
            (Some(1.0), None, Reason::OneEnded),
            (None, Some(1.0), Reason::OneEnded),
        ];
        for (low, high, reason) in cases {
            let checked = Estimate { value: Some(1.5), low, high }.check(Scale::Log);
            assert_eq!(checked.drawn(), Some(1.5));
            assert_eq!(checked.whisker(), None);
            let said = checked.left_out(4, "vLLM");
            assert_eq!(said, [LeftOut { row: 4, label: "vLLM".into(), part: Part::Interval, reason }]);
        }
    }

    #[test]
    fn a_missing_value_is_not_a_value_left_out() {
        let missing = Estimate::default().check(Scale::Log);
        assert_eq!((missing.drawn(), missing.left_out(0, "a")), (None, Vec::new()));
        let bad = Estimate { value: Some(0.0), low: Some(-1.0), high: Some(1.0) }.check(Scale::Log);
        assert_eq!(bad.drawn(), None);
        assert_eq!(
            bad.left_out(0, "a")[0].to_string(),
            "a: value not drawn (zero or negative, which a log axis cannot show)"
        );
        assert_eq!(bad.left_out(0, "a").len(), 1);
        let orphan = Estimate { value: None, low: Some(1.0), high: Some(2.0) }.check(Scale::Log);
        assert_eq!(orphan.left_out(0, "a")[0].reason, Reason::NoValue);
    }
}
