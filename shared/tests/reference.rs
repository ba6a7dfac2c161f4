//! Every entry of the reference values from numpy, scipy and statsmodels.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says by panicking what it found")]

use dyno_shared::statistics::{
    Bootstrap, IntervalKind, bootstrap, detectable, drift, equivalence, holm, moments, outlier, paired,
    quantile::quantile, rate, wilcoxon,
};
use serde_json::Value;

/// For closed forms: what is left is rounding, ours and theirs.
const ROUNDING: f64 = 1e-12;

/// For what goes through quantiles and tails of Student's t.
const TAILS: f64 = 1e-10;

#[test]
fn quantiles_are_those_of_numpy() {
    for entry in entries("quantiles") {
        let values = numbers(&entry["values"]);
        for (q, expected) in numbers(&entry["q"]).into_iter().zip(numbers(&entry["type7"])) {
            assert_close(quantile(&values, q), expected, ROUNDING, &entry);
        }
    }
}

#[test]
fn signed_rank_p_values_are_those_of_scipy() {
    for entry in entries("wilcoxon_signed_rank") {
        let p = wilcoxon::signed_rank(&numbers(&entry["differences"])).map(|test| test.p);
        assert_close(p, number(&entry["p_two_sided"]), ROUNDING, &entry);
    }
}

#[test]
fn adjusted_p_values_are_those_of_statsmodels() {
    for entry in entries("holm") {
        assert_all_close(holm::adjust(&numbers(&entry["p"])), &numbers(&entry["adjusted"]), &entry);
    }
}

#[test]
fn outliers_and_their_scores_agree() {
    for entry in entries("modified_z") {
        let values = numbers(&entry["values"]);
        assert_all_close(outlier::modified_z(&values), &numbers(&entry["modified_z"]), &entry);
        let flagged: Vec<f64> =
            outlier::outliers(&values).unwrap().into_iter().map(|index| index as f64).collect();
        assert_eq!(flagged, numbers(&entry["outliers_over_3_5"]), "{entry}");
    }
}

#[test]
fn detectable_differences_agree() {
    for entry in entries("minimum_detectable_difference") {
        let values = numbers(&entry["values"]);
        assert_close(moments::coefficient_of_variation(&values), number(&entry["cv"]), ROUNDING, &entry);
        assert_close(detectable::unpaired(&values), number(&entry["unpaired_share"]), ROUNDING, &entry);
    }
}

/// The reference drew 400,000 resamples, ours are 10,000, under several seeds. At n = 5 the expanded tail holds ten
/// resamples of a distribution in lumps, and about one seed in seventy ends at a neighbouring lump, 3 % away: none of these.
#[test]
fn rate_intervals_agree_within_the_stated_tolerance() {
    for entry in entries("rate_intervals") {
        let (tokens, seconds) = (numbers(&entry["tokens"]), numbers(&entry["seconds"]));
        let n = tokens.len();
        assert_close(
            rate::ratio_of_totals(&tokens, &seconds),
            number(&entry["ratio_of_totals"]),
            ROUNDING,
            &entry,
        );
        assert_close(
            bootstrap::tail(IntervalKind::Expanded, n),
            number(&entry["expanded_alpha"]),
            TAILS,
            &entry,
        );

        let tolerance = number(&entry["relative_tolerance"]);
        for (kind, field) in
            [(IntervalKind::Expanded, "expanded_percentile_95"), (IntervalKind::Percentile, "percentile_95")]
        {
            for seed in 0..8 {
                let interval = Bootstrap::new(seed).with_kind(kind).ratio_of_totals(&tokens, &seconds);
                if n < bootstrap::FEWEST_RUNS {
                    // The reference resamples two runs all the same; the method gives them no interval.
                    assert_eq!(interval, None, "{entry}");
                    continue;
                }
                let expected = numbers(&entry[field]);
                assert_close(interval.map(|interval| interval.low), expected[0], tolerance, &entry);
                assert_close(interval.map(|interval| interval.high), expected[1], tolerance, &entry);
            }
        }
    }
}

#[test]
fn paired_comparisons_agree() {
    for entry in entries("paired") {
        let log_ratios = paired::log_ratios(&numbers(&entry["a"]), &numbers(&entry["b"])).unwrap();
        let ratio = paired::geometric_mean_ratio(&log_ratios);
        assert_close(ratio, number(&entry["geometric_mean_ratio"]), ROUNDING, &entry);

        let interval = paired::t_interval(&log_ratios);
        let expected = numbers(&entry["t_interval_95"]);
        assert_close(interval.map(|interval| interval.low), expected[0], TAILS, &entry);
        assert_close(interval.map(|interval| interval.high), expected[1], TAILS, &entry);

        let p = wilcoxon::signed_rank(&log_ratios).map(|test| test.p);
        assert_close(p, number(&entry["wilcoxon_p"]), ROUNDING, &entry);
        let p = equivalence::tost(&log_ratios, number(&entry["equivalence_margin_ratio"]));
        assert_close(p, number(&entry["tost_p"]), TAILS, &entry);
    }
}

#[test]
fn drifts_are_those_of_scipy() {
    for entry in entries("drift") {
        let found = drift::drift(&numbers(&entry["rates_in_run_order"])).unwrap();
        assert_close(found.kendall_tau, number(&entry["kendall_tau"]), ROUNDING, &entry);
        let slope = number(&entry["theil_sen_log_slope_per_run"]);
        assert_close(Some(found.log_slope_per_run), slope, ROUNDING, &entry);
    }
}

/// A section of the file that no test reads would be a reference that nothing is held to.
#[test]
fn every_section_of_the_reference_is_read() {
    let sections: Vec<String> = reference().as_object().unwrap().keys().cloned().collect();
    let mut read = vec![
        "made_with",
        "quantiles",
        "wilcoxon_signed_rank",
        "holm",
        "modified_z",
        "minimum_detectable_difference",
        "rate_intervals",
        "paired",
        "drift",
    ];
    read.sort_unstable();
    let mut sections: Vec<&str> = sections.iter().map(String::as_str).collect();
    sections.sort_unstable();
    assert_eq!(sections, read);
}

fn reference() -> Value {
    serde_json::from_str(include_str!("data/statistics.json")).unwrap()
}

fn entries(section: &str) -> Vec<Value> {
    let entries = reference()[section].as_array().unwrap().clone();
    assert!(!entries.is_empty(), "no entry in {section}");
    entries
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Relative agreement; a reference of zero is met exactly.
#[track_caller]
fn assert_close(ours: Option<f64>, expected: f64, tolerance: f64, entry: &Value) {
    let ours = ours.unwrap_or_else(|| panic!("no answer to {entry}"));
    assert!((ours - expected).abs() <= tolerance * expected.abs(), "{ours} against {expected} in {entry}");
}

#[track_caller]
fn assert_all_close(ours: Option<Vec<f64>>, expected: &[f64], entry: &Value) {
    let ours = ours.unwrap_or_else(|| panic!("no answer to {entry}"));
    assert_eq!(ours.len(), expected.len(), "{entry}");
    for (ours, expected) in ours.into_iter().zip(expected) {
        assert_close(Some(ours), *expected, ROUNDING, entry);
    }
}
