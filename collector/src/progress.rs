//! Progress on stderr: a bar on a terminal, plain lines elsewhere, both with an estimate of the time left.

use std::time::{Duration, Instant};

use dyno_shared::format::duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::talk::say;

/// Plain lines come at most this often.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// How long the rest will take, from what was sent so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forecast {
    cases: Vec<Expected>,
}

#[derive(Debug, Clone, PartialEq)]
struct Expected {
    /// Weights of the requests in the order in which they are sent.
    weights: Vec<f64>,
    sent: usize,
    seconds: f64,
    left_early: bool,
}

impl Expected {
    fn weight_sent(&self) -> f64 {
        self.weights.iter().take(self.sent).sum()
    }

    fn left(&self) -> &[f64] {
        if self.left_early { &[] } else { self.weights.get(self.sent..).unwrap_or_default() }
    }
}

impl Forecast {
    /// Adds a case with the weights of its requests: how long one takes, compared with the others.
    pub fn add(&mut self, weights: Vec<f64>) {
        self.cases.push(Expected { weights, sent: 0, seconds: 0.0, left_early: false });
    }

    /// The next request of the case was sent and took that long.
    pub fn sent(&mut self, case: usize, seconds: f64) {
        if let Some(case) = self.cases.get_mut(case) {
            case.sent += 1;
            case.seconds += seconds;
            // More than foreseen: as heavy as the last one.
            if let Some(last) = case.weights.last().copied().filter(|_| case.sent > case.weights.len()) {
                case.weights.push(last);
            }
        }
    }

    /// Nothing more of the case will be sent.
    pub fn leave(&mut self, case: usize) {
        if let Some(case) = self.cases.get_mut(case) {
            case.left_early = true;
        }
    }

    /// Seconds left: at a case's own pace where it has one, else at that of all. Unknown before the first request.
    pub fn left_s(&self) -> Option<f64> {
        let seconds: f64 = self.cases.iter().map(|case| case.seconds).sum();
        let weight: f64 = self.cases.iter().map(Expected::weight_sent).sum();
        if weight <= 0.0 {
            return None;
        }
        let of_case = |case: &Expected| {
            let own = case.weight_sent();
            let pace = if own > 0.0 { case.seconds / own } else { seconds / weight };
            pace * case.left().iter().sum::<f64>()
        };
        Some(self.cases.iter().map(of_case).sum())
    }

    /// Requests sent, and all.
    fn counts(&self) -> (u64, u64) {
        let sent: usize = self.cases.iter().map(|case| case.sent).sum();
        let left: usize = self.cases.iter().map(|case| case.left().len()).sum();
        (sent as u64, (sent + left) as u64)
    }
}

/// Shows how far a measurement is.
#[derive(Debug)]
pub struct Progress {
    forecast: Forecast,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
    /// What the measurement is a part of; its beginning and end are said elsewhere.
    part: Option<String>,
}

impl Progress {
    /// A bar where stderr is a terminal, lines elsewhere.
    pub fn new(forecast: Forecast) -> Self {
        let bar = std::io::IsTerminal::is_terminal(&std::io::stderr()).then(|| bar(&forecast));
        Self { forecast, bar, last_line: None, part: None }
    }

    /// The progress of a part of something larger: every line says which, and none comes before there is something to
    /// wait for.
    #[must_use]
    pub fn of_part(self, part: String) -> Self {
        Self { part: Some(part), last_line: Some(Instant::now()), ..self }
    }

    /// The next request is about to be sent; `doing` says which.
    pub fn begin(&mut self, doing: &str, first_of_case: bool) {
        self.show(doing, first_of_case);
    }

    /// A request of the case was sent.
    pub fn sent(&mut self, case: usize, seconds: f64) {
        self.forecast.sent(case, seconds);
    }

    /// Nothing more of the case will be sent.
    pub fn leave(&mut self, case: usize) {
        self.forecast.leave(case);
    }

    /// A remark that stays on the screen.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, doing: &str, at_once: bool) {
        // The time first: a narrow terminal cuts the end.
        let left = self.forecast.left_s().map_or_else(String::new, |s| format!("about {} left: ", about(s)));
        let doing = self.part.as_ref().map_or_else(|| doing.to_owned(), |part| format!("{part}: {doing}"));
        let at_once = at_once && self.part.is_none();
        let (sent, all) = self.forecast.counts();
        if let Some(bar) = &self.bar {
            bar.set_length(all);
            bar.set_position(sent);
            bar.set_message(format!("{left}{doing}"));
        } else if at_once || self.last_line.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
            say(format_args!("[{sent}/{all}] {left}{doing}"));
            self.last_line = Some(Instant::now());
        }
    }
}

/// A span whose parts of a second nobody can foretell.
fn about(seconds: f64) -> String {
    if seconds < 60.0 { format!("{:.0} s", seconds.ceil()) } else { duration(seconds) }
}

fn bar(forecast: &Forecast) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(forecast.counts().1), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:16} {pos}/{len}  {wide_msg}") {
        bar.set_style(style);
    }
    // The clock in the message moves even while a long request runs.
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_promised_before_the_first_request() {
        let mut forecast = Forecast::default();
        forecast.add(vec![512.0; 16]);
        assert_eq!(forecast.left_s(), None);
        assert_eq!(Forecast::default().left_s(), None);
    }

    #[test]
    fn a_case_is_forecast_by_its_own_pace_and_the_others_by_their_weight() {
        let mut forecast = Forecast::default();
        forecast.add(vec![500.0; 4]);
        forecast.add(vec![100.0; 10]);
        forecast.sent(0, 20.0);
        forecast.sent(0, 30.0);
        // Two more of 25 s, and ten that weigh a fifth of it.
        assert_eq!(forecast.left_s(), Some(2.0 * 25.0 + 10.0 * 5.0));
        forecast.sent(1, 1.0);
        assert_eq!(forecast.left_s(), Some(2.0 * 25.0 + 9.0));
        forecast.leave(0);
        assert_eq!(forecast.left_s(), Some(9.0));
        assert_eq!(forecast.counts(), (3, 12));
    }

    #[test]
    fn the_long_request_that_fills_a_cache_does_not_make_the_short_ones_after_it_look_long() {
        let mut forecast = Forecast::default();
        forecast.add(vec![1_000.0, 50.0, 50.0]);
        forecast.sent(0, 20.0);
        assert_eq!(forecast.left_s(), Some(2.0));
    }

    #[test]
    fn seconds_are_whole() {
        assert_eq!(
            (about(0.2), about(12.3), about(245.0)),
            ("1 s".into(), "13 s".into(), "4 min 05 s".into())
        );
    }
}
