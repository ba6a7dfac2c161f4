//! A figure as the page writes it.

use dyno_shared::format::{UNKNOWN, short, with_interval};
use dyno_shared::index::Cell;
use dyno_shared::metric::{self, METRICS};
use dyno_shared::summary::Estimate;
use dyno_shared::units::Unit;

/// A number and what stands behind it in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// `39.5`, `24.5–24.7`, or `–`.
    pub value: String,
    /// `(38.9–40.1)`, `(range)`, or nothing.
    pub behind: String,
}

impl Written {
    /// Whether there is no number.
    pub fn is_unknown(&self) -> bool {
        self.value == UNKNOWN
    }

    fn of(value: Option<f64>, interval: Option<(f64, f64)>, range: Option<(f64, f64)>) -> Self {
        if let (None, Some((low, high))) = (value, range) {
            return Self { value: format!("{}–{}", short(low), short(high)), behind: "(range)".to_owned() };
        }
        let both = with_interval(value, interval);
        let (value, behind) = both.split_once(' ').unwrap_or((&both, ""));
        Self { value: value.to_owned(), behind: behind.to_owned() }
    }
}

/// A figure of the leaderboard.
pub fn of_cell(cell: Option<&Cell>) -> Written {
    cell.map_or_else(|| Written::of(None, None, None), |c| Written::of(c.value, c.low.zip(c.high), c.range))
}

/// A figure of a submission, in a unit so many times smaller than its own.
pub fn of_estimate(estimate: &Estimate, factor: f64) -> Written {
    let both = |(low, high): (f64, f64)| (low * factor, high * factor);
    let interval = estimate.interval.as_ref().map(|i| both((i.low, i.high)));
    Written::of(estimate.value.map(|x| x * factor), interval, estimate.min.zip(estimate.max).map(both))
}

/// A metric's name for people; a tag that we do not know is its own name.
pub fn title(tag: &str) -> String {
    metric::find(tag).map_or_else(|| tag.to_owned(), |m| m.title.to_owned())
}

/// A metric's unit; a pure number where we do not know it.
pub fn unit(tag: &str) -> Unit {
    metric::find(tag).map_or(Unit::One, |m| m.unit)
}

/// Why a row has no figure of a metric, as its `–` says it: what it has in its place, of the same kind.
pub fn why_unknown<'a>(tag: &str, known: impl Iterator<Item = &'a str>) -> String {
    let unit = unit(tag);
    let likes: Vec<&str> = known
        .filter_map(metric::find)
        .filter(|m| m.unit == unit && same_quantity(m.tag, tag))
        .map(|m| m.title)
        .collect();
    if likes.is_empty() {
        return "not measured".to_owned();
    }
    format!("not measured; this submission has: {}", likes.join(", "))
}

/// Whether two metrics are the client's and the engine's view of one quantity.
fn same_quantity(a: &str, b: &str) -> bool {
    let quantity = |tag: &str| {
        let known = METRICS.iter().any(|m| m.tag == tag);
        known.then(|| tag.trim_start_matches("client_wall_").trim_start_matches("engine_").to_owned())
    };
    quantity(a).is_some() && quantity(a) == quantity(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: Option<f64>, ends: Option<(f64, f64)>, range: Option<(f64, f64)>) -> Cell {
        let (low, high) = ends.unzip();
        Cell { value, low, high, range, n: None, statistic: None }
    }

    #[test]
    fn a_figure_is_a_number_with_its_interval_a_range_or_a_dash() {
        let written = |c: &Cell| {
            let w = of_cell(Some(c));
            format!("{} {}", w.value, w.behind).trim().to_owned()
        };
        assert_eq!(written(&cell(Some(39.512), Some((38.93, 40.08)), None)), "39.5 (38.9–40.1)");
        assert_eq!(written(&cell(None, None, Some((24.5, 24.7)))), "24.5–24.7 (range)");
        assert_eq!(written(&cell(Some(12.6), None, Some((11.4, 13.0)))), "12.6");
        assert_eq!(written(&cell(None, None, None)), "–");
        assert_eq!(written(&cell(Some(0.0), None, None)), "0");
        assert!(of_cell(None).is_unknown());
    }

    #[test]
    fn a_missing_client_figure_names_the_engine_s_own() {
        let has = ["engine_decode_tok_s", "engine_prefill_tok_s", "own_metric"];
        let why = |tag| why_unknown(tag, has.into_iter());
        assert_eq!(
            why("client_wall_decode_tok_s"),
            "not measured; this submission has: decode rate, by the engine"
        );
        assert_eq!(why("client_wall_ttft_s"), "not measured");
        assert_eq!(why("never_heard_of"), "not measured");
    }
}
