//! A case's figures: from its runs where they are there, else what the source states.
//!
//! No derived number is stored in a shard, so this is the only place where runs become figures, for the terminal
//! and for the page alike.

mod client_error;
mod load;
mod noise;
mod stated;
mod warning;

pub use client_error::{exceeds, summarize_calibrated};
pub use noise::all as noise_warnings;
pub use warning::Warning;

use crate::metric::{METRICS, Metric, Sample};
use crate::statistics::bootstrap::{Bootstrap, BootstrapInterval};
use crate::statistics::drift::{Drift, drift};
use crate::statistics::{detectable, moments, outlier, rate};
use crate::submission::{Case, Run};

/// Seed of every bootstrap, so that the same runs give the same interval wherever they are looked at.
pub const BOOTSTRAP_SEED: u64 = 0x6479_6e6f;

/// One figure of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Tag of the metric, or the source's own name of it.
    pub metric: String,
    /// The unit's symbol, where the metric is the source's own.
    pub unit: Option<String>,
    /// `ratio of totals`, `mean`, or the statistic that a source states; unknown where it does not say.
    pub statistic: Option<String>,
    /// The point.
    pub value: Option<f64>,
    /// Its interval; none below three runs, and none that nobody measured.
    pub interval: Option<Interval>,
    /// Smallest run, or the lower end of a stated range.
    pub min: Option<f64>,
    /// Largest run, or the upper end of a stated range.
    pub max: Option<f64>,
    /// Runs behind it.
    pub n: Option<u64>,
    /// Sample standard deviation over mean, a share.
    pub spread: Option<f64>,
    /// The smallest difference that an unpaired comparison of this many runs finds (95 %, power 80 %), a share.
    pub detects: Option<f64>,
    /// What a reader must know beside it.
    pub note: Option<String>,
}

/// An interval, and what kind it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// In words, e.g. `95 % bootstrap, expanded`, or as a source states it.
    pub kind: String,
}

/// A run that is not in the summary, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFailure {
    /// The run's number.
    pub run: u32,
    /// What failed.
    pub reasons: Vec<String>,
}

/// Everything that a case's runs say, or that a source states of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseSummary {
    /// The figures, in the order of [`METRICS`], the source's own metrics last. Only what is known.
    pub estimates: Vec<Estimate>,
    /// Recorded runs; unknown for a summary without runs.
    pub runs: Option<u64>,
    /// Those that passed.
    pub passed: Option<u64>,
    /// Those that did not.
    pub failures: Vec<RunFailure>,
    /// Numbers of the runs whose headline figure lies far off; they stay in every figure.
    pub outliers: Vec<u32>,
    /// Drift of the headline figure over the passing runs, in order.
    pub drift: Option<Drift>,
    /// What must reach the reader.
    pub warnings: Vec<Warning>,
    /// Mean prompt tokens of the passing runs' requests, as measured.
    pub prompt_tokens: Option<f64>,
    /// Mean output tokens of the passing runs' requests.
    pub output_tokens: Option<f64>,
    /// The most streams that were served at once in each passing run, the least of them.
    pub achieved_concurrency: Option<u32>,
}

impl CaseSummary {
    /// The estimate of a metric.
    pub fn get(&self, tag: &str) -> Option<&Estimate> {
        self.estimates.iter().find(|e| e.metric == tag)
    }
}

/// The figures of a case.
pub fn summarize(case: &Case) -> CaseSummary {
    if case.runs.is_empty() {
        return stated::summary(case);
    }
    let passing: Vec<&Run> = case.runs.iter().filter(|run| run.passed()).collect();
    let failures = case
        .runs
        .iter()
        .filter(|run| !run.passed())
        .map(|run| RunFailure { run: run.number, reasons: run.failures() })
        .collect();
    let estimates: Vec<Estimate> = METRICS
        .iter()
        .filter(|metric| metric.tells_of(case))
        .filter_map(|metric| estimate_of_runs(&passing, metric))
        .collect();
    let headline = Headline::of(case, &passing);
    let mut summary = CaseSummary {
        outliers: headline.outliers(),
        drift: drift(&headline.figures),
        estimates,
        runs: Some(case.runs.len() as u64),
        passed: Some(passing.len() as u64),
        failures,
        warnings: Vec::new(),
        prompt_tokens: mean_over_requests(&passing, |r| r.prompt_tokens.map(|t| t.get() as f64)),
        output_tokens: mean_over_requests(&passing, |r| r.output_tokens.map(|t| t.get() as f64)),
        achieved_concurrency: passing.iter().filter_map(|run| run.achieved_concurrency()).min(),
    };
    summary.warnings = warning::of(case, &passing, &summary);
    summary
}

/// One metric of a case's passing runs; `None` where no passing run tells.
pub fn estimate(case: &Case, metric: &Metric) -> Option<Estimate> {
    let passing: Vec<&Run> = case.runs.iter().filter(|run| run.passed()).collect();
    metric.tells_of(case).then(|| estimate_of_runs(&passing, metric))?
}

/// One metric of these runs, which passed; `None` where none of them tells.
pub fn estimate_of_runs(passing: &[&Run], metric: &Metric) -> Option<Estimate> {
    let samples: Vec<Sample> = passing.iter().filter_map(|run| (metric.sample)(run)).collect();
    let figures: Vec<f64> = samples.iter().filter_map(|sample| sample.figure()).collect();
    if figures.is_empty() || figures.len() != samples.len() {
        return None;
    }
    let (value, interval, statistic) = point_and_interval(&samples, &figures)?;
    let missing = passing.len() - samples.len();
    Some(Estimate {
        metric: metric.tag.to_owned(),
        unit: None,
        statistic: Some(statistic.to_owned()),
        value: Some(value),
        interval: interval.map(describe),
        min: figures.iter().copied().reduce(f64::min),
        max: figures.iter().copied().reduce(f64::max),
        n: Some(samples.len() as u64),
        spread: moments::coefficient_of_variation(&figures),
        detects: detectable::unpaired(&figures),
        note: note(passing, metric, missing),
    })
}

fn note(passing: &[&Run], metric: &Metric, missing: usize) -> Option<String> {
    let missing = (missing > 0).then(|| format!("{missing} of {} passing runs do not tell", passing.len()));
    let convention = passing
        .iter()
        .find_map(|run| run.rate_convention.as_deref())
        .filter(|_| metric.depends_on_convention())
        .map(|convention| format!("rate convention: {convention}"));
    match (missing, convention) {
        (Some(missing), Some(convention)) => Some([missing.as_str(), "; ", &convention].concat()),
        (missing, convention) => missing.or(convention),
    }
}

fn point_and_interval(
    samples: &[Sample],
    figures: &[f64],
) -> Option<(f64, Option<BootstrapInterval>, &'static str)> {
    let bootstrap = Bootstrap::new(BOOTSTRAP_SEED);
    if let Some((amounts, spans)) = Sample::rates(samples) {
        let value = rate::ratio_of_totals(&amounts, &spans)?;
        return Some((value, bootstrap.ratio_of_totals(&amounts, &spans), "ratio of totals"));
    }
    Some((moments::mean(figures)?, bootstrap.mean(figures), "mean"))
}

fn describe(interval: BootstrapInterval) -> Interval {
    Interval {
        low: interval.low,
        high: interval.high,
        kind: format!("95 % bootstrap, {}", interval.kind.name()),
    }
}

fn mean_over_requests(
    passing: &[&Run],
    of: impl Fn(&crate::record::RequestRecord) -> Option<f64>,
) -> Option<f64> {
    let values: Option<Vec<f64>> = passing.iter().flat_map(|run| &run.requests).map(of).collect();
    moments::mean(&values?)
}

/// The figures of the regime's headline metric, run by run.
struct Headline {
    numbers: Vec<u32>,
    figures: Vec<f64>,
}

impl Headline {
    fn of(case: &Case, passing: &[&Run]) -> Self {
        let metric = crate::metric::find(case.regime.headline());
        let (numbers, figures) =
            passing.iter().filter_map(|run| Some((run.number, (metric?.sample)(run)?.figure()?))).unzip();
        Self { numbers, figures }
    }

    fn outliers(&self) -> Vec<u32> {
        let positions = outlier::outliers(&self.figures).unwrap_or_default();
        positions.into_iter().filter_map(|i| self.numbers.get(i).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::Check;
    use crate::testing::{run, single_stream_case};

    fn decode(summary: &CaseSummary) -> &Estimate {
        summary.get("client_wall_decode_tok_s").expect("a decode rate")
    }

    #[test]
    fn a_case_rate_is_the_ratio_of_totals_not_the_mean_of_rates() {
        let summary = summarize(&single_stream_case("code", &[(501, 5.0), (101, 2.0), (301, 3.0)]));
        let decode = decode(&summary);
        assert_eq!(decode.value, Some(900.0 / 10.0));
        assert_eq!(decode.statistic.as_deref(), Some("ratio of totals"));
        assert_eq!((decode.min, decode.max, decode.n), (Some(50.0), Some(100.0), Some(3)));
        let interval = decode.interval.as_ref().expect("an interval from three runs");
        assert!(interval.low <= 90.0 && interval.high >= 90.0);
    }

    #[test]
    fn runs_of_a_tool_that_divides_all_tokens_keep_its_rate_and_say_so() {
        let mut case = single_stream_case("code", &[(500, 5.0); 3]);
        assert_eq!(decode(&summarize(&case)).value, Some(499.0 / 5.0));
        for run in &mut case.runs {
            run.rate_convention = Some("n".into());
        }
        let summary = summarize(&case);
        assert_eq!(decode(&summary).value, Some(100.0));
        assert_eq!(decode(&summary).note.as_deref(), Some("rate convention: n"));
        assert_eq!(summary.get("client_wall_ttft_s").and_then(|e| e.note.as_deref()), None);
    }

    #[test]
    fn below_three_runs_there_is_no_interval_and_a_warning_says_so() {
        let summary = summarize(&single_stream_case("code", &[(501, 5.0), (501, 5.1)]));
        assert_eq!(decode(&summary).interval, None);
        assert!(summary.warnings.iter().any(|w| w.name == "few_runs"), "{:?}", summary.warnings);
    }

    #[test]
    fn failed_runs_are_counted_shown_and_left_out() {
        let mut case = single_stream_case("code", &[(501, 5.0); 16]);
        for i in [2, 7, 9] {
            case.runs[i] = run(i as u32 + 1, 501, 50.0);
            case.runs[i].checks.push(Check {
                name: "not_empty".into(),
                passed: false,
                detail: Some("no text".into()),
            });
        }
        let summary = summarize(&case);
        assert_eq!((summary.runs, summary.passed), (Some(16), Some(13)));
        assert_eq!(decode(&summary).value, Some(100.0));
        assert_eq!(summary.failures[0], RunFailure { run: 3, reasons: vec!["not_empty: no text".into()] });
    }

    #[test]
    fn a_case_whose_runs_all_failed_has_no_figure_and_says_why() {
        let mut case = single_stream_case("code", &[(501, 5.0); 3]);
        for run in &mut case.runs {
            run.flags.push(crate::submission::flag::SERVED_FROM_CACHE.into());
        }
        let summary = summarize(&case);
        assert!(summary.estimates.is_empty());
        assert!(summary.warnings.iter().any(|w| w.name == "no_passing_run"));
        assert!(summary.warnings.iter().any(|w| w.name == "served_from_cache"));
    }

    #[test]
    fn an_outlier_is_named_and_kept() {
        let mut runs = vec![(501, 5.0); 9];
        for (i, run) in runs.iter_mut().enumerate() {
            run.1 += i as f64 * 0.01;
        }
        runs.push((501, 25.0));
        let summary = summarize(&single_stream_case("code", &runs));
        assert_eq!(summary.outliers, vec![10]);
        assert_eq!(decode(&summary).n, Some(10));
    }

    #[test]
    fn a_steady_rise_is_drift_and_noise_is_not() {
        let rising: Vec<(u64, f64)> = (0..16).map(|i| (501, 5.0 + 0.1 * f64::from(i))).collect();
        let summary = summarize(&single_stream_case("code", &rising));
        assert!(summary.warnings.iter().any(|w| w.name == "drift"), "{:?}", summary.warnings);
        let noisy: Vec<(u64, f64)> = (0..16).map(|i| (501, 5.0 + 0.1 * f64::from(i * 7 % 5))).collect();
        let summary = summarize(&single_stream_case("code", &noisy));
        assert!(!summary.warnings.iter().any(|w| w.name == "drift"), "{:?}", summary.warnings);
    }

    #[test]
    fn a_first_run_three_times_slower_is_suspected_to_be_cold() {
        let mut runs = vec![(501, 5.0); 8];
        runs[0].1 = 20.0;
        let summary = summarize(&single_stream_case("code", &runs));
        assert!(summary.warnings.iter().any(|w| w.name == "cold_start_suspected"));
    }
}
