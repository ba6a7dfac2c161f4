//! Correction for testing several cases at once.

/// Holm's step-down adjusted p values, in the order given (Holm, "A Simple Sequentially Rejective Multiple Test
/// Procedure", 1979): ascending, the i-th of m (from 0) becomes the largest so far of (m − i)·p, at most 1.
///
/// `None` for no test at all and for a p outside 0 to 1.
pub fn adjust(p: &[f64]) -> Option<Vec<f64>> {
    if p.is_empty() || !p.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let ascending = super::order(p.len(), &|a, b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in ascending.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[index]).min(1.0);
        adjusted[index] = largest;
    }
    Some(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(adjust(&[]), None);
        for p in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert_eq!(adjust(&[0.5, p]), None);
        }
    }

    #[test]
    fn one_test_needs_no_correction() {
        assert_eq!(adjust(&[0.03]), Some(vec![0.03]));
        assert_eq!(adjust(&[0.0, 1.0]), Some(vec![0.0, 1.0]));
    }

    proptest! {
        #[test]
        fn adjusted_is_never_below_raw_and_keeps_its_order(p in prop::collection::vec(0.0..=1.0_f64, 1..30)) {
            let adjusted = adjust(&p).unwrap();
            for i in 0..p.len() {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
