//! Drift of the rate over the runs of a case.

use super::{finite, logs, normal, quantile::median, usable};

/// Most runs that are looked at: all pairs of them are compared.
pub const MOST_RUNS: usize = 2_048;

/// How the rate moved in run order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Kendall's τ-b of rate against run order, −1 to 1; `None` if all rates are equal.
    pub kendall_tau: Option<f64>,
    /// Two-sided p value that τ is 0, by the normal approximation of its distribution without ties, corrected for
    /// continuity; `None` where there is no τ.
    pub p: Option<f64>,
    /// Theil–Sen slope of log rate, per run.
    pub log_slope_per_run: f64,
    /// Change from the first run to the last along that slope, as a share: −0.05 is 5 % slower at the end.
    pub change_over_case: f64,
}

impl Drift {
    /// True if the change over the case exceeds the half-width of the case's interval (as a share of its estimate), and
    /// the order of the rates is not one that chance gives: a warning is due. Without the second, half of all steady
    /// cases would be warned of, because the interval of a mean is narrower than the spread of a slope.
    pub fn exceeds(&self, relative_half_width: f64) -> bool {
        self.change_over_case.abs() > relative_half_width && self.p.is_some_and(|p| p < 0.05)
    }
}

/// Drift of positive rates in run order; `None` below two runs or above [`MOST_RUNS`].
pub fn drift(rates_in_run_order: &[f64]) -> Option<Drift> {
    let log_slope_per_run = log_slope(rates_in_run_order)?;
    let steps = (rates_in_run_order.len() - 1) as f64;
    let kendall_tau = kendall_tau(rates_in_run_order);
    Some(Drift {
        kendall_tau,
        p: kendall_tau.and_then(|tau| kendall_p(tau, rates_in_run_order.len())),
        log_slope_per_run,
        change_over_case: finite(libm::expm1(log_slope_per_run * steps))?,
    })
}

/// Kendall's τ-b of the values against their order (Kendall, "The Treatment of Ties in Ranking Problems", 1945):
/// (concordant − discordant)/√(pairs·(pairs − tied)). `None` below two values, above [`MOST_RUNS`], and if all are
/// equal.
pub fn kendall_tau(values: &[f64]) -> Option<f64> {
    if !usable(values) || values.len() > MOST_RUNS {
        return None;
    }
    let (mut rising, mut falling, mut tied) = (0_u32, 0_u32, 0_u32);
    for (index, earlier) in values.iter().enumerate() {
        for later in &values[index + 1..] {
            rising += u32::from(later > earlier);
            falling += u32::from(later < earlier);
            tied += u32::from(later == earlier);
        }
    }
    let untied = f64::from(rising + falling);
    let pairs = untied + f64::from(tied);
    (untied > 0.0)
        .then(|| ((f64::from(rising) - f64::from(falling)) / pairs.sqrt() / untied.sqrt()).clamp(-1.0, 1.0))
}

/// P(|S| ≥ |s|) of Kendall's S = τ·n(n − 1)/2, whose variance is n(n − 1)(2n + 5)/18 (Kendall, "A New Measure of Rank
/// Correlation", 1938).
fn kendall_p(tau: f64, n: usize) -> Option<f64> {
    let n = n as f64;
    let s = tau.abs() * n * (n - 1.0) / 2.0;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    Some((2.0 * normal::cdf(-((s - 1.0).max(0.0) / deviation))?).min(1.0))
}

/// Theil–Sen slope of log rate per run: the median of the slopes between all pairs of runs (Sen, "Estimates of the
/// Regression Coefficient Based on Kendall's Tau", 1968).
pub fn log_slope(rates_in_run_order: &[f64]) -> Option<f64> {
    if rates_in_run_order.len() > MOST_RUNS {
        return None;
    }
    let logs = logs(rates_in_run_order)?;
    let mut slopes = Vec::with_capacity(logs.len() * (logs.len() - 1) / 2);
    for (index, earlier) in logs.iter().enumerate() {
        for (later_index, later) in logs.iter().enumerate().skip(index + 1) {
            slopes.push((later - earlier) / (later_index - index) as f64);
        }
    }
    median(&slopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Against `scipy.stats.kendalltau(order, rates, method="exact")`: close in the middle, and never smaller far out.
    #[test]
    fn an_order_has_the_p_value_of_its_tau() {
        let exact = [0.005_505_952_380_952_381, 0.719_543_650_793_650_8];
        let rising = drift(&[1.0, 1.2, 1.1, 1.3, 1.5, 1.4, 1.7, 1.6]).unwrap().p.unwrap();
        assert!((exact[0]..2.0 * exact[0]).contains(&rising), "{rising}");
        let mixed = drift(&[1.0, 1.4, 1.1, 1.3, 1.2, 1.25, 1.05, 1.35]).unwrap().p.unwrap();
        assert!((mixed - exact[1]).abs() < 0.02, "{mixed}");
        assert_eq!(drift(&[2.0, 2.0, 2.0]).unwrap().p, None);
    }

    /// Half of such cases exceed the half-width; chance is warned of in no more than 5 %.
    #[test]
    fn steady_rates_are_seldom_warned_of() {
        let mut rng = crate::statistics::rng::Rng::new(5);
        let mut steady = || -> Vec<f64> {
            (0..16).map(|_| 100.0 + (0..12).map(|_| rng.next_f64()).sum::<f64>() - 6.0).collect()
        };
        let warned = (0..400).filter(|_| drift(&steady()).unwrap().exceeds(0.005)).count();
        assert!((1..=30).contains(&warned), "{warned} of 400");
    }

    #[test]
    fn a_steady_loss_of_one_percent_is_found_in_spite_of_an_outlier() {
        let mut rates: Vec<f64> = (0..16).map(|run| 100.0 * libm::pow(0.99, f64::from(run))).collect();
        rates[4] = 900.0;
        let found = drift(&rates).unwrap();
        assert!((found.log_slope_per_run - libm::log(0.99)).abs() < 1e-12);
        assert!((found.change_over_case - (libm::pow(0.99, 15.0) - 1.0)).abs() < 1e-10);
        assert!(found.exceeds(0.1) && !found.exceeds(0.2));
    }

    #[test]
    fn equal_rates_do_not_drift_and_have_no_tau() {
        let found = drift(&[100.0; 6]).unwrap();
        assert_eq!(
            found,
            Drift { kendall_tau: None, p: None, log_slope_per_run: 0.0, change_over_case: 0.0 }
        );
    }

    /// `scipy.stats.kendalltau([0, 1, 2, 3, 4], [1, 2, 2, 3, 1])`.
    #[test]
    fn ties_are_corrected_for() {
        let tau = kendall_tau(&[1.0, 2.0, 2.0, 3.0, 1.0]).unwrap();
        assert!((tau - 0.223_606_797_749_978_96).abs() < 1e-14, "{tau}");
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(drift(&[]), None);
        assert_eq!(drift(&[100.0]), None);
        assert_eq!(drift(&[100.0, 0.0, 100.0]), None);
        assert_eq!(drift(&[100.0, f64::NAN]), None);
        assert_eq!(drift(&[1e-300, 1e300]), None, "the change leaves the range");
        assert_eq!(drift(&vec![1.0; MOST_RUNS + 1]), None);
        assert_eq!(kendall_tau(&[1.0]), None);
    }

    proptest! {
        #[test]
        fn run_backwards_it_drifts_the_other_way(rates in prop::collection::vec(1.0..1e3_f64, 2..30)) {
            let backwards: Vec<f64> = rates.iter().rev().copied().collect();
            let (forth, back) = (drift(&rates).unwrap(), drift(&backwards).unwrap());
            prop_assert!((forth.log_slope_per_run + back.log_slope_per_run).abs() < 1e-12);
            prop_assert_eq!(forth.kendall_tau, back.kendall_tau.map(|tau| -tau));
        }
    }
}
