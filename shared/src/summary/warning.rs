//! Warnings are values that reach the reader, on the terminal and on the page.

use super::{CaseSummary, load, noise};
use crate::format::fixed;
use crate::metric;
use crate::record::TokenCountSource;
use crate::statistics::Interval;
use crate::statistics::quantile::median;
use crate::submission::{Case, Run, flag};

/// One warning of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Its short name, as in an index row and on a badge.
    pub name: &'static str,
    /// What a reader should know, in a sentence.
    pub text: String,
}

/// A first run this many times slower than the median of the rest is suspected to be cold.
const COLD_START_FACTOR: f64 = 3.0;

/// An engine that took longer than this until its model was ready, in seconds, had to load it. Ollama takes some
/// hundredths for a model that is in memory.
const LOADED_S: f64 = 1.0;

pub(super) fn of(case: &Case, passing: &[&Run], summary: &CaseSummary) -> Vec<Warning> {
    [
        failed_runs(summary),
        flagged(case, flag::SERVED_FROM_CACHE, "were answered by the prefix cache and leave the summary"),
        flagged(case, flag::NOT_CACHED, "missed the prefix cache and leave the summary"),
        flagged(case, flag::COUNTER_RESET, "saw an engine counter go back, so that its delta is unknown"),
        flagged(
            case,
            flag::NEEDLE_MISSED,
            "did not find the needle: the prompt was processed, the answer is wrong",
        ),
        flagged(
            case,
            flag::MADE_AGAIN,
            "were in flight when the measurement broke off, and made again with a prompt of their own: they pair \
             with no other submission's",
        ),
        few_runs(passing),
        cold_start(passing),
        model_loaded(&case.runs),
        load::concurrency_not_reached(case, summary),
        load::ttft_dominates(case, summary),
        outliers(summary),
        drift(case, summary),
        noise::noisy_host(&case.runs),
        noise::throttled(&case.runs),
        noise::gpu_shared(&case.runs),
        implausible_engine(case),
        counted_events(passing),
        ended_early(case),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn failed_runs(summary: &CaseSummary) -> Option<Warning> {
    let (runs, passed) = (summary.runs?, summary.passed?);
    if passed == 0 {
        return Some(Warning {
            name: "no_passing_run",
            text: format!("none of {runs} runs passed: no figure"),
        });
    }
    (passed < runs).then(|| Warning { name: "checks_failed", text: format!("{passed} of {runs} passed") })
}

fn flagged(case: &Case, name: &'static str, what: &str) -> Option<Warning> {
    let count = case.runs.iter().filter(|run| run.flags.iter().any(|f| f == name)).count();
    (count > 0).then(|| Warning { name, text: format!("{count} of {} runs {what}", case.runs.len()) })
}

fn few_runs(passing: &[&Run]) -> Option<Warning> {
    (1..3)
        .contains(&passing.len())
        .then(|| Warning { name: "few_runs", text: "no interval: fewer than 3 passing runs".to_owned() })
}

fn cold_start(passing: &[&Run]) -> Option<Warning> {
    let latency = metric::find("client_wall_e2e_s")?;
    let (first, rest) = passing.split_first()?;
    let per_token = |run: &Run| {
        // Per output token, so that a longer answer is not taken for a cold start.
        let tokens: u64 =
            run.requests.iter().filter_map(|r| r.output_tokens).map(crate::units::Tokens::get).sum();
        Some((latency.sample)(run)?.figure()? / tokens.max(1) as f64)
    };
    let first = per_token(first)?;
    let rest: Vec<f64> = rest.iter().filter_map(|run| per_token(run)).collect();
    let usual = median(&rest)?;
    (first > COLD_START_FACTOR * usual).then(|| Warning {
        name: "cold_start_suspected",
        text: format!(
            "the first run took {} times as long per token as the rest: warm up longer",
            fixed(first / usual, 1)
        ),
    })
}

fn model_loaded(runs: &[Run]) -> Option<Warning> {
    let loaded = |run: &&Run| {
        run.requests
            .iter()
            .filter_map(|request| request.engine.as_ref()?.load_s)
            .any(|load| load.get() > LOADED_S)
    };
    let count = runs.iter().filter(loaded).count();
    (count > 0).then(|| Warning {
        name: "model_loaded",
        text: format!(
            "the engine loaded its model within {count} of {} runs, and their times include that: keep it in memory",
            runs.len()
        ),
    })
}

fn outliers(summary: &CaseSummary) -> Option<Warning> {
    if summary.outliers.is_empty() {
        return None;
    }
    let numbers: Vec<String> = summary.outliers.iter().map(ToString::to_string).collect();
    Some(Warning {
        name: "outliers",
        text: format!("far off the rest, and kept: run {}", numbers.join(", ")),
    })
}

fn drift(case: &Case, summary: &CaseSummary) -> Option<Warning> {
    let drift = summary.drift.as_ref()?;
    let headline = summary.get(case.regime.headline())?;
    let interval = headline.interval.as_ref()?;
    let half_width =
        Interval { low: interval.low, high: interval.high }.relative_half_width(headline.value?)?;
    drift.exceeds(half_width).then(|| Warning {
        name: "drift",
        text: format!(
            "{} over the case, more than the interval's half-width: the machine was not steady",
            crate::format::percent(Some(drift.change_over_case))
        ),
    })
}

fn implausible_engine(case: &Case) -> Option<Warning> {
    let worst = case.runs.iter().filter_map(metric::implausible_decode).reduce(f64::max)?;
    Some(Warning {
        name: "engine_rate_implausible",
        text: format!(
            "the engine's counter says {} tok/s: not believed, not averaged",
            crate::format::short(worst)
        ),
    })
}

fn counted_events(passing: &[&Run]) -> Option<Warning> {
    let counted = passing
        .iter()
        .flat_map(|run| &run.requests)
        .any(|r| r.token_count_source == Some(TokenCountSource::CountedEvents));
    counted.then(|| Warning {
        name: "counted_events",
        text: "the server does not report token counts: events were counted, which is a lower bound"
            .to_owned(),
    })
}

fn ended_early(case: &Case) -> Option<Warning> {
    case.ended_early.as_ref().map(|why| Warning { name: "ended_early", text: why.clone() })
}

#[cfg(test)]
mod tests {
    use crate::record::EngineTimings;
    use crate::summary::summarize;
    use crate::testing::single_stream_case;
    use crate::units::Seconds;

    #[test]
    fn a_run_within_which_the_model_was_loaded_is_named_and_a_moment_of_readiness_is_none() {
        let mut case = single_stream_case("code", &[(501, 5.0); 3]);
        let names = |case: &_| summarize(case).warnings.iter().map(|w| w.name).collect::<Vec<_>>();
        for (load_s, warns) in [(0.08, false), (7.5, true)] {
            let timings = EngineTimings { load_s: Some(Seconds(load_s)), ..EngineTimings::default() };
            case.runs[1].requests[0].engine = Some(timings);
            assert_eq!(names(&case).contains(&"model_loaded"), warns, "{load_s} s");
        }
    }
}
