//! Progress on stderr: a bar on a terminal, plain lines elsewhere, both with an estimate of the time left.

use std::time::{Duration, Instant};

use dyno_shared::format::duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Plain lines come at most this often.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// How long the rest will take, from what was sent so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forecast {
    cases: Vec<Expected>,
}

#[derive(Debug, Clone, PartialEq)]
struct Expected {
    weight: f64,
    left: u32,
    sent: u32,
    seconds: f64,
}

impl Forecast {
    /// Adds a case: the weight of one of its requests, and how many are to be sent.
    pub fn add(&mut self, weight: f64, requests: u32) {
        self.cases.push(Expected { weight, left: requests, sent: 0, seconds: 0.0 });
    }

    /// A request of the case was sent and took that long.
    pub fn sent(&mut self, case: usize, seconds: f64) {
        if let Some(case) = self.cases.get_mut(case) {
            case.left = case.left.saturating_sub(1);
            case.sent += 1;
            case.seconds += seconds;
        }
    }

    /// Nothing more of the case will be sent.
    pub fn leave(&mut self, case: usize) {
        if let Some(case) = self.cases.get_mut(case) {
            case.left = 0;
        }
    }

    /// Seconds left: a case's own mean where it has one, else by its weight. Unknown before the first request.
    pub fn left_s(&self) -> Option<f64> {
        let (seconds, weight) = self
            .cases
            .iter()
            .fold((0.0, 0.0), |(s, w), case| (s + case.seconds, w + case.weight * f64::from(case.sent)));
        if weight <= 0.0 {
            return None;
        }
        let per_weight = seconds / weight;
        let of_case = |case: &Expected| {
            let each =
                if case.sent > 0 { case.seconds / f64::from(case.sent) } else { case.weight * per_weight };
            each * f64::from(case.left)
        };
        Some(self.cases.iter().map(of_case).sum())
    }

    /// Requests sent, and all.
    fn counts(&self) -> (u64, u64) {
        let sent = self.cases.iter().map(|c| u64::from(c.sent)).sum();
        let left: u64 = self.cases.iter().map(|c| u64::from(c.left)).sum();
        (sent, sent + left)
    }
}

/// Shows how far a measurement is.
#[derive(Debug)]
pub struct Progress {
    forecast: Forecast,
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Progress {
    /// A bar where stderr is a terminal, lines elsewhere.
    pub fn new(forecast: Forecast) -> Self {
        let bar = std::io::IsTerminal::is_terminal(&std::io::stderr()).then(|| bar(&forecast));
        Self { forecast, bar, last_line: None }
    }

    /// A case begins; `doing` says what.
    pub fn begin_case(&mut self, doing: &str) {
        self.show(doing, true);
    }

    /// A request of the case was sent.
    pub fn sent(&mut self, case: usize, seconds: f64, doing: &str) {
        self.forecast.sent(case, seconds);
        self.show(doing, false);
    }

    /// Nothing more of the case will be sent.
    pub fn leave(&mut self, case: usize) {
        self.forecast.leave(case);
    }

    /// A remark that stays on the screen.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, doing: &str, at_once: bool) {
        let left =
            self.forecast.left_s().map_or_else(String::new, |s| format!(", about {} left", duration(s)));
        let (sent, all) = self.forecast.counts();
        if let Some(bar) = &self.bar {
            bar.set_length(all);
            bar.set_position(sent);
            bar.set_message(format!("{doing}{left}"));
        } else if at_once || self.last_line.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
            eprintln!("[{sent}/{all}] {doing}{left}");
            self.last_line = Some(Instant::now());
        }
    }
}

fn bar(forecast: &Forecast) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(forecast.counts().1), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}") {
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
        forecast.add(512.0, 16);
        assert_eq!(forecast.left_s(), None);
        assert_eq!(Forecast::default().left_s(), None);
    }

    #[test]
    fn a_case_is_forecast_by_its_own_pace_and_the_others_by_their_weight() {
        let mut forecast = Forecast::default();
        forecast.add(500.0, 4);
        forecast.add(100.0, 10);
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
}
