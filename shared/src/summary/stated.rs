//! A summary without runs: what the source states, and nothing more.

use super::{CaseSummary, Estimate, Interval};
use crate::metric::{self, METRICS};
use crate::submission::{Case, StatedEstimate};

pub(super) fn summary(case: &Case) -> CaseSummary {
    let of_tag = |tag: &'static str| case.stated.iter().filter(move |stated| stated.metric == tag);
    let known = METRICS.iter().flat_map(|m| of_tag(m.tag));
    let own = case.stated.iter().filter(|stated| metric::find(&stated.metric).is_none());
    let estimates: Vec<Estimate> = known.chain(own).map(estimate).collect();
    CaseSummary {
        estimates,
        runs: None,
        passed: None,
        failures: Vec::new(),
        outliers: Vec::new(),
        drift: None,
        warnings: Vec::new(),
        prompt_tokens: None,
        output_tokens: None,
        achieved_concurrency: None,
    }
}

fn estimate(stated: &StatedEstimate) -> Estimate {
    Estimate {
        metric: stated.metric.clone(),
        unit: stated.unit.clone(),
        statistic: stated.statistic.clone(),
        value: stated.value,
        interval: stated.low.zip(stated.high).map(|(low, high)| Interval {
            low,
            high,
            kind: stated.interval.clone().unwrap_or_else(|| "kind not stated".to_owned()),
        }),
        min: stated.min,
        max: stated.max,
        n: stated.n,
        spread: None,
        detects: None,
        note: match (&stated.note, stated.rate_convention.as_deref()) {
            (note, None) => note.clone(),
            (None, Some(convention)) => Some(format!("rate convention: {convention}")),
            (Some(note), Some(convention)) => Some(format!("{note}; rate convention: {convention}")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summarize;
    use crate::testing::single_stream_case;

    #[test]
    fn a_stated_figure_keeps_its_own_statistic_and_gets_no_interval_that_nobody_measured() {
        let mut case = single_stream_case("code", &[]);
        case.stated = vec![
            StatedEstimate {
                metric: "moe_cache_size".into(),
                value: Some(2606.0),
                ..StatedEstimate::default()
            },
            StatedEstimate {
                metric: "client_wall_decode_tok_s".into(),
                statistic: Some("median".into()),
                value: Some(12.6),
                min: Some(11.4),
                max: Some(13.0),
                n: Some(3),
                ..StatedEstimate::default()
            },
        ];
        let summary = summarize(&case);
        assert_eq!(summary.estimates[0].metric, "client_wall_decode_tok_s");
        assert_eq!(summary.estimates[0].interval, None);
        assert_eq!(summary.estimates[0].statistic.as_deref(), Some("median"));
        assert_eq!((summary.runs, summary.estimates[1].n), (None, None));
    }
}
