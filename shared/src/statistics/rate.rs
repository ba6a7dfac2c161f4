//! The rate of a case.

use super::finite;

/// Ratio of totals, Σ tokens / Σ seconds, in tokens per second.
///
/// Not the mean of the runs' rates, which would give a short run the weight of a long one. `None` unless there is a
/// run, every run has both, tokens are not negative and seconds are positive.
pub fn ratio_of_totals(tokens: &[f64], seconds: &[f64]) -> Option<f64> {
    if !are_runs(tokens, seconds) {
        return None;
    }
    let (mut sum_of_tokens, mut sum_of_seconds) = (0.0, 0.0);
    for (&tokens, &seconds) in tokens.iter().zip(seconds) {
        sum_of_tokens += tokens;
        sum_of_seconds += seconds;
    }
    let total = finite(sum_of_seconds)?;
    finite(sum_of_tokens / total)
}

/// True for at least one run, all of them with finite tokens ≥ 0 and finite seconds > 0.
pub(crate) fn are_runs(tokens: &[f64], seconds: &[f64]) -> bool {
    !tokens.is_empty()
        && tokens.len() == seconds.len()
        && tokens.iter().all(|&tokens| tokens.is_finite() && tokens >= 0.0)
        && seconds.iter().all(|&seconds| seconds.is_finite() && seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_weighs_more_than_a_short_one() {
        assert_eq!(ratio_of_totals(&[100.0, 900.0], &[2.0, 3.0]), Some(200.0));
        assert_eq!(ratio_of_totals(&[0.0], &[3.0]), Some(0.0));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(ratio_of_totals(&[], &[]), None);
        assert_eq!(ratio_of_totals(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(ratio_of_totals(&[1.0], &[0.0]), None);
        assert_eq!(ratio_of_totals(&[-1.0], &[1.0]), None);
        assert_eq!(ratio_of_totals(&[f64::NAN], &[1.0]), None);
        assert_eq!(ratio_of_totals(&[1.0], &[f64::INFINITY]), None);
        assert_eq!(ratio_of_totals(&[1.0, 1.0], &[f64::MAX, f64::MAX]), None);
        assert_eq!(ratio_of_totals(&[f64::MAX], &[0.5]), None);
    }
}
