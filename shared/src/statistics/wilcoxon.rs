//! Wilcoxon's signed-rank test.

use super::{normal, usable};

/// Most differences other than zero for which the distribution is exact.
pub const MOST_EXACT: usize = 200;

/// Result of the two-sided test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Two-sided p value, 0 < p ≤ 1.
    pub p: f64,
    /// Differences other than zero.
    pub differing: usize,
    /// Sum of the ranks of the positive differences.
    pub positive_rank_sum: f64,
    /// False where the normal approximation was taken.
    pub exact: bool,
}

/// Two-sided signed-rank test that the differences lie around zero (Wilcoxon, 1945).
///
/// Zeros are dropped, ties share the mean rank. Up to 200 differences the distribution given those ranks is exact: the
/// convolution over all 2ⁿ signs, on doubled ranks, which are whole numbers with ties too. Beyond, the normal
/// approximation with the variance corrected for ties (Pratt and Gibbons, 1981), without continuity correction. All
/// differences zero: p = 1.
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if !usable(differences) {
        return None;
    }
    let differing: Vec<f64> = differences.iter().copied().filter(|&difference| difference != 0.0).collect();
    let ascending = super::order(differing.len(), &|a, b| differing[a].abs().total_cmp(&differing[b].abs()));
    let nonzero: Vec<f64> = ascending.into_iter().map(|i| differing[i]).collect();
    let ranks = doubled_ranks(&nonzero);
    let doubled_sum: usize =
        nonzero.iter().zip(&ranks).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| rank).sum();
    let exact = nonzero.len() <= MOST_EXACT;
    let p = if exact { exact_p(&ranks, doubled_sum) } else { normal_p(&ranks, doubled_sum)? };
    Some(SignedRank { p, differing: nonzero.len(), positive_rank_sum: doubled_sum as f64 * 0.5, exact })
}

/// Twice the mean rank of each value, ascending by size; ranks count from 1.
fn doubled_ranks(by_size: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(by_size.len());
    for tied in by_size.chunk_by(|a, b| a.abs() == b.abs()) {
        let before = ranks.len();
        ranks.resize(before + tied.len(), 2 * before + tied.len() + 1);
    }
    ranks
}

/// Twice the smaller tail of the exact distribution of the sum of positive ranks, which is symmetric.
fn exact_p(doubled_ranks: &[usize], doubled_sum: usize) -> f64 {
    let total: usize = doubled_ranks.iter().sum();
    let smaller = doubled_sum.min(total - doubled_sum);
    let mut probability = vec![0.0; smaller + 1];
    probability[0] = 1.0;
    let mut reach = 0;
    for &rank in doubled_ranks {
        reach = smaller.min(reach + rank);
        for sum in (0..=reach).rev() {
            let with_rank = sum.checked_sub(rank).map_or(0.0, |rest| probability[rest]);
            probability[sum] = 0.5 * (probability[sum] + with_rank);
        }
    }
    (2.0 * probability.iter().sum::<f64>()).min(1.0)
}

fn normal_p(doubled_ranks: &[usize], doubled_sum: usize) -> Option<f64> {
    let n = doubled_ranks.len() as f64;
    let ties: f64 = doubled_ranks
        .chunk_by(|a, b| a == b)
        .map(|tied| tied.len() as f64)
        .map(|size| size * size * size - size)
        .sum();
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let z = (doubled_sum as f64 * 0.5 - mean) / variance.sqrt();
    Some((2.0 * normal::cdf(-z.abs())?).clamp(f64::MIN_POSITIVE, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zeros_are_dropped_and_ties_share_their_rank() {
        let test = signed_rank(&[0.0, 1.0, -1.0, 2.0, -0.0]).unwrap();
        assert_eq!((test.differing, test.positive_rank_sum, test.exact), (3, 4.5, true));
    }

    #[test]
    fn nothing_but_zeros_is_no_evidence() {
        assert_eq!(signed_rank(&[0.0; 4]).unwrap().p, 1.0);
    }

    #[test]
    fn five_pairs_never_reach_five_percent_and_six_do() {
        assert_eq!(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().p, 0.0625);
        assert_eq!(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap().p, 0.03125);
    }

    /// All the same sign at n = 200: two of the 2²⁰⁰ assignments of signs.
    #[test]
    fn two_hundred_differences_are_exact_and_one_more_is_not() {
        let all: Vec<f64> = (1..=201).map(f64::from).collect();
        let exact = signed_rank(&all[..200]).unwrap();
        assert!(exact.exact);
        assert_eq!(exact.p, libm::exp2(-199.0));
        assert!(!signed_rank(&all).unwrap().exact);
    }

    /// `scipy.stats.wilcoxon(differences, method="asymptotic", correction=False)`.
    #[test]
    fn beyond_two_hundred_the_normal_is_corrected_for_ties() {
        let differences: Vec<f64> = (0..260).map(|i| f64::from((i * 37) % 23 - 10)).collect();
        let test = signed_rank(&differences).unwrap();
        assert!(!test.exact);
        assert!((test.p / 0.024_332_272_403_343_198 - 1.0).abs() < 1e-12, "{}", test.p);
    }

    #[test]
    fn a_vast_sample_keeps_a_positive_p() {
        let all: Vec<f64> = (1..=5_000).map(f64::from).collect();
        assert_eq!(signed_rank(&all).unwrap().p, f64::MIN_POSITIVE);
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(signed_rank(&[]), None);
        assert_eq!(signed_rank(&[1.0, f64::NAN]), None);
        assert_eq!(signed_rank(&[1.0, f64::NEG_INFINITY]), None);
    }

    proptest! {
        #[test]
        fn p_lies_between_zero_and_one_and_ignores_sign_and_order(
            differences in prop::collection::vec((-20..20_i32).prop_map(f64::from), 1..60),
        ) {
            let p = signed_rank(&differences).unwrap().p;
            prop_assert!(p > 0.0 && p <= 1.0);
            let swapped: Vec<f64> = differences.iter().rev().map(|difference| -difference).collect();
            prop_assert_eq!(p, signed_rank(&swapped).unwrap().p);
        }

        /// Against a count over all assignments of signs.
        #[test]
        fn the_exact_p_counts_all_signs(differences in prop::collection::vec((-6..7_i32).prop_map(f64::from), 1..11)) {
            let mut nonzero: Vec<f64> = differences.iter().copied().filter(|&value| value != 0.0).collect();
            nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            let rank = |value: f64| {
                let below = nonzero.iter().filter(|other| other.abs() < value.abs()).count();
                let up_to = nonzero.iter().filter(|other| other.abs() <= value.abs()).count();
                below + up_to + 1
            };
            let ranks: Vec<usize> = nonzero.iter().map(|&value| rank(value)).collect();
            let total: usize = ranks.iter().sum();
            let distance = |sum: usize| (2 * sum).abs_diff(total);
            let seen: usize = nonzero.iter().zip(&ranks).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
            let sums = (0..1_u32 << ranks.len())
                .map(|signs| ranks.iter().enumerate().filter(|(bit, _)| signs >> bit & 1 == 1).map(|(_, rank)| rank).sum());
            let extreme = sums.filter(|&sum: &usize| distance(sum) >= distance(seen)).count();
            let expected = extreme as f64 / f64::from(1_u32 << ranks.len());
            prop_assert!((signed_rank(&differences).unwrap().p - expected).abs() < 1e-12);
        }
    }
}
