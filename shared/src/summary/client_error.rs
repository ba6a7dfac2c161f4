//! Whether the client's own error matters beside the figures: its calibration held against each case.
//!
//! Like is held against like. A TTFT is given as a mean, so its error is the mean one. A rate over a stream has two
//! stamps in it, the first and the last: it is wrong by about one gap's error over the whole span, not by one for every
//! gap.

use super::{CaseSummary, Warning, summarize};
use crate::format::{percent, short};
use crate::submission::{Calibration, Case};
use crate::units::Seconds;

/// The share of a figure from which on the client's own error is told.
const TOLD_FROM: f64 = 0.01;

/// The figures of a case of a submission whose client was calibrated: [`summarize`], and what the calibration says.
pub fn summarize_calibrated(case: &Case, calibration: Option<&Calibration>) -> CaseSummary {
    let mut summary = summarize(case);
    if let Some(calibration) = calibration.filter(|_| !case.runs.is_empty()) {
        summary.warnings.extend(warnings(calibration, case.concurrency, &summary));
    }
    summary
}

fn warnings(calibration: &Calibration, streams: u32, summary: &CaseSummary) -> Vec<Warning> {
    let value = |tag| summary.get(tag).and_then(|estimate| estimate.value);
    let ttft = value("client_wall_ttft_s");
    let span = value("client_wall_e2e_s").zip(ttft).map(|(e2e, ttft)| e2e - ttft);
    let ttft_error = calibration.ttft_error_mean_s.or(calibration.ttft_error_median_s);
    [
        lost(calibration),
        too_few_streams(calibration, streams),
        exceeds("TTFT", ttft_error, ttft),
        exceeds("the time from first to last token", calibration.gap_error_p99_s, span),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A warning where the client's error is more than 1 % of a figure in seconds; the error may have either sign.
pub fn exceeds(what: &str, error: Option<Seconds>, figure: Option<f64>) -> Option<Warning> {
    let error = error?.get().abs();
    let share = figure.filter(|figure| *figure > 0.0).map(|figure| error / figure)?;
    (share > TOLD_FROM).then(|| Warning {
        name: "client_error",
        text: format!(
            "the client's own error, {} ms, is {} of {what}",
            short(error * 1e3),
            percent(Some(share))
        ),
    })
}

fn lost(calibration: &Calibration) -> Option<Warning> {
    let wrong = |n: Option<u64>, how| n.filter(|n| *n > 0).map(|n| format!("{how} {n}"));
    let told: Vec<String> =
        [wrong(calibration.lost_tokens, "lost"), wrong(calibration.extra_tokens, "saw too many:")]
            .into_iter()
            .flatten()
            .collect();
    (!told.is_empty()).then(|| Warning {
        name: "client_miscounts",
        text: format!("in its calibration the client {} of the tokens sent", told.join(" and ")),
    })
}

fn too_few_streams(calibration: &Calibration, streams: u32) -> Option<Warning> {
    let calibrated = calibration.streams.filter(|calibrated| *calibrated < streams)?;
    Some(Warning {
        name: "client_uncalibrated",
        text: format!("the client was calibrated at {calibrated} streams, here it had {streams}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::single_stream_case;

    /// TTFT 0.5 s or so, 5 s of decoding: what matters is the share.
    fn names(calibration: &Calibration) -> Vec<&'static str> {
        let case = single_stream_case("code", &[(501, 5.0); 4]);
        let summary = summarize_calibrated(&case, Some(calibration));
        summary.warnings.iter().map(|warning| warning.name).collect()
    }

    fn ttft() -> f64 {
        let summary = summarize(&single_stream_case("code", &[(501, 5.0); 4]));
        summary.get("client_wall_ttft_s").and_then(|estimate| estimate.value).expect("a TTFT")
    }

    fn calibration(ttft_error_s: f64, gap_error_s: f64) -> Calibration {
        Calibration {
            streams: Some(1),
            ttft_error_mean_s: Some(Seconds(ttft_error_s)),
            gap_error_p99_s: Some(Seconds(gap_error_s)),
            lost_tokens: Some(0),
            extra_tokens: Some(0),
            ..Calibration::default()
        }
    }

    #[test]
    fn an_error_above_one_percent_of_a_figure_is_told_and_one_below_is_not() {
        assert!(names(&calibration(ttft() * 0.009, 0.049)).is_empty());
        assert_eq!(names(&calibration(ttft() * 0.011, 0.049)), ["client_error"]);
        assert_eq!(names(&calibration(0.0, 0.051)), ["client_error"]);
        assert_eq!(names(&calibration(ttft() * -0.02, 0.0)), ["client_error"], "too early is as wrong");
        assert!(names(&Calibration::default()).is_empty(), "what is unknown is not told");
    }

    #[test]
    fn the_words_say_how_much_of_what() {
        let told = exceeds("TTFT", Some(Seconds(0.0012)), Some(0.04)).expect("a warning").text;
        assert_eq!(told, "the client's own error, 1.20 ms, is 3.0 % of TTFT");
        assert_eq!(exceeds("TTFT", Some(Seconds(0.0012)), Some(0.0)), None, "no share of nothing");
    }

    #[test]
    fn lost_tokens_always_matter() {
        let lost = Calibration { lost_tokens: Some(1), ..calibration(0.0, 0.0) };
        assert_eq!(names(&lost), ["client_miscounts"]);
        let extra = Calibration { extra_tokens: Some(2), ..calibration(0.0, 0.0) };
        assert_eq!(names(&extra), ["client_miscounts"]);
    }

    #[test]
    fn more_streams_than_were_calibrated_are_told() {
        let mut case = single_stream_case("load", &[(501, 5.0); 4]);
        case.concurrency = 8;
        let told = |streams| {
            let calibration = Calibration { streams: Some(streams), ..calibration(0.0, 0.0) };
            let summary = summarize_calibrated(&case, Some(&calibration));
            summary.warnings.iter().any(|warning| warning.name == "client_uncalibrated")
        };
        assert!(told(4) && !told(8) && !told(16));
    }
}
