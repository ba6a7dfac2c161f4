//! Quantiles by linear interpolation.

use super::usable;

/// Quantile of type 7 (Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996; numpy's default):
/// linear between the order statistics around position `(n − 1)·q`, counted from 0. `q` is a share, 0 to 1.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values)?, q)
}

/// Quantile of type 7 at 0.5.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// [`quantile`] of values that are finite and ascending already: for several quantiles of one sample.
pub fn quantile_of_sorted(ascending: &[f64], q: f64) -> Option<f64> {
    let (below, share) = place(ascending.len(), q)?;
    between(ascending[below], *ascending.get(below + 1).unwrap_or(&ascending[below]), share)
}

/// [`quantile`] of values that are finite, in any order: for one or two quantiles of a large sample, which need not be
/// sorted for them. Changes the order.
pub fn quantile_of_unsorted(values: &mut [f64], q: f64) -> Option<f64> {
    let (below, share) = place(values.len(), q)?;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    between(low, above.iter().copied().min_by(f64::total_cmp).unwrap_or(low), share)
}

/// The order statistic below position `(n − 1)·q`, and how far the position lies above it.
fn place(n: usize, q: f64) -> Option<(usize, f64)> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = n.checked_sub(1)?;
    let position = last as f64 * q;
    let below = (position.floor() as usize).min(last);
    Some((below, position - below as f64))
}

fn between(low: f64, high: f64, share: f64) -> Option<f64> {
    let step = high - low;
    // Ends of opposite sign near the limits of `f64`: their difference overflows, the weighted sum does not.
    let value = if step.is_finite() { low + step * share } else { low * (1.0 - share) + high * share };
    (low <= high).then(|| value.max(low).min(high))
}

/// The values in ascending order; `None` if there is none or one is not finite.
pub fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if !usable(values) {
        return None;
    }
    let mut ascending = values.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    Some(ascending)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn between_two_values_the_quantile_is_linear() {
        assert_eq!(quantile(&[10.0, 20.0], 0.25), Some(12.5));
        assert_eq!(quantile(&[3.0], 0.9), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[-f64::MAX, f64::MAX]), Some(0.0));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN, 2.0]), None);
        assert_eq!(median(&[1.0, f64::INFINITY]), None);
        for q in [-0.1, 1.1, f64::NAN] {
            assert_eq!(quantile(&[1.0, 2.0], q), None);
        }
        assert_eq!(quantile_of_sorted(&[], 0.5), None);
    }

    proptest! {
        #[test]
        fn an_unsorted_sample_has_the_quantiles_of_a_sorted_one(
            values in prop::collection::vec((-9..9_i32).prop_map(|x| f64::from(x) / 7.0), 1..60),
            q in 0.0..=1.0_f64,
        ) {
            prop_assert_eq!(quantile_of_unsorted(&mut values.clone(), q), quantile(&values, q));
        }

        #[test]
        fn a_quantile_stays_within_the_sample(
            values in prop::collection::vec(prop::num::f64::NORMAL, 1..50),
            q in 0.0..=1.0_f64,
        ) {
            let ascending = sorted(&values).unwrap();
            let value = quantile(&values, q).unwrap();
            prop_assert!(value >= ascending[0] && value <= ascending[ascending.len() - 1]);
        }

        #[test]
        fn a_higher_share_is_no_lower_quantile(
            values in prop::collection::vec(-1e9..1e9_f64, 1..50),
            q in 0.0..=1.0_f64,
            r in 0.0..=1.0_f64,
        ) {
            let (below, above) = (q.min(r), q.max(r));
            prop_assert!(quantile(&values, below).unwrap() <= quantile(&values, above).unwrap());
        }
    }
}
