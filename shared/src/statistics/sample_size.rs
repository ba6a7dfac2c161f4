//! How many runs a difference takes: [`detectable`](super::detectable) turned round.

use super::{detectable, finite};

/// How two configurations are held against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// All runs of one against all runs of the other: their spread counts in full.
    Unpaired,
    /// Run by run with the same prompts: only the spread of the ratios counts.
    Paired,
}

/// More than this many are not counted.
const MOST: f64 = 1e12;

impl Design {
    /// What so many runs a side, or pairs, detect: a share of the mean unpaired, a log ratio paired.
    pub fn detects(self, spread: f64, n: u64) -> Option<f64> {
        match self {
            Self::Unpaired => detectable::unpaired_at(spread, n as f64),
            Self::Paired => detectable::paired_at(spread, n as f64),
        }
    }

    /// A difference, given as a share, on the scale of [`Self::detects`].
    pub fn on_its_scale(self, difference: f64) -> f64 {
        match self {
            Self::Unpaired => difference,
            Self::Paired => libm::log1p(difference),
        }
    }
}

/// The fewest runs a side, or pairs, that detect a difference (two-sided at 5 %, power 80 %).
///
/// `spread` is the sample standard deviation over the mean, or that of the log ratios; `difference` is a share, 0.01 for
/// 1 %. `None` for a spread or a difference that is not positive and finite, and beyond 1e12 runs.
pub fn runs_to_see(design: Design, spread: f64, difference: f64) -> Option<u64> {
    let limit = finite(design.on_its_scale(difference)).filter(|&limit| limit > 0.0)?;
    let alone = design.detects(spread, 1).filter(|&alone| alone > 0.0)?;
    let root = alone / limit;
    let about = finite(root * root).filter(|&about| about < MOST)?;
    let is_enough = |n: u64| design.detects(spread, n).is_some_and(|detected| detected <= limit);
    // The square is rounded; the formula itself decides.
    let mut n = (about.ceil() as u64).max(1);
    while n > 1 && is_enough(n - 1) {
        n -= 1;
    }
    while !is_enough(n) {
        n += 1;
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::rng::Rng;
    use crate::statistics::{normal, paired, welch, wilcoxon};

    #[test]
    fn known_numbers_come_out() {
        // 2·((1.959964 + 0.841621)·0.02/0.01)² = 62.8; ((…)·0.02/ln 1.01)² = 31.7.
        assert_eq!(runs_to_see(Design::Unpaired, 0.02, 0.01), Some(63));
        assert_eq!(runs_to_see(Design::Paired, 0.02, 0.01), Some(32));
        assert_eq!(runs_to_see(Design::Paired, 0.000_1, 0.05), Some(1));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        for design in [Design::Unpaired, Design::Paired] {
            for (spread, difference) in [
                (0.0, 0.01),
                (-0.1, 0.01),
                (f64::NAN, 0.01),
                (f64::INFINITY, 0.01),
                (0.1, 0.0),
                (0.1, -0.01),
                (0.1, f64::NAN),
                (1e200, 1e-200),
                (1e3, 1e-9),
            ] {
                assert_eq!(runs_to_see(design, spread, difference), None, "{design:?} {spread} {difference}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_number_detects_the_difference_and_one_fewer_does_not(
            spread in 1e-4..1.0_f64,
            difference in 1e-3..0.5_f64,
        ) {
            for design in [Design::Unpaired, Design::Paired] {
                let n = runs_to_see(design, spread, difference).unwrap();
                let limit = design.on_its_scale(difference);
                prop_assert!(design.detects(spread, n).unwrap() <= limit);
                prop_assert!(n == 1 || design.detects(spread, n - 1).unwrap() > limit);
            }
        }
    }

    const EXPERIMENTS: usize = 1_500;
    /// Three standard deviations of a binomial share at 80 %.
    const ERROR: f64 = 0.031;

    /// The share of experiments in which a test finds the difference.
    fn found(mut experiment: impl FnMut() -> bool) -> f64 {
        (0..EXPERIMENTS).filter(|_| experiment()).count() as f64 / EXPERIMENTS as f64
    }

    fn gaussian(rng: &mut Rng) -> f64 {
        normal::ppf(rng.next_f64().max(1e-300)).unwrap()
    }

    #[test]
    fn four_of_five_planned_experiments_find_the_difference_unpaired() {
        let (cv, difference) = (0.05, 0.02);
        let n = runs_to_see(Design::Unpaired, cv, difference).unwrap();
        assert_eq!(n, 99);
        let mut rng = Rng::new(7);
        let share = found(|| {
            let mut side = |mean: f64| -> Vec<f64> {
                (0..n).map(|_| mean * libm::exp(cv * gaussian(&mut rng))).collect()
            };
            let (a, b) = (side(100.0), side(100.0 * (1.0 + difference)));
            welch::welch(&a, &b).unwrap().p < 0.05
        });
        assert!((share - 0.8).abs() < ERROR, "{share}");
    }

    /// Signed ranks find a little less than the formula promises on Gaussian ratios: 3/π of the pairs count.
    #[test]
    fn four_of_five_planned_experiments_find_the_difference_paired() {
        let (sd, difference) = (0.05, 0.02);
        let n = runs_to_see(Design::Paired, sd, difference).unwrap();
        assert_eq!(n, 51);
        let mut rng = Rng::new(11);
        let (mut by_t, mut by_ranks) = (0, 0);
        for _ in 0..EXPERIMENTS {
            let logs: Vec<f64> = (0..n).map(|_| libm::log1p(difference) + sd * gaussian(&mut rng)).collect();
            by_t += usize::from(paired::t_interval(&logs).unwrap().excludes(1.0));
            by_ranks += usize::from(wilcoxon::signed_rank(&logs).unwrap().p < 0.05);
        }
        let share = |count: usize| count as f64 / EXPERIMENTS as f64;
        assert!((share(by_t) - 0.8).abs() < ERROR, "{}", share(by_t));
        assert!((share(by_ranks) - 0.77).abs() < ERROR, "{}", share(by_ranks));
    }
}
