//! Student's t distribution.

use super::incomplete_beta;

/// Smallest tail for which [`ppf`] answers.
const SMALLEST_TAIL: f64 = 1e-100;

/// P(T ≤ t) for finite t and degrees of freedom ≥ 1 (fractions allowed).
pub fn cdf(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    sf(-t, degrees_of_freedom)
}

/// P(T > t) = ½·Iₓ(ν/2, ½) with x = ν/(ν + t²) for t ≥ 0 (DLMF 8.17); keeps its digits far out in the tail.
pub fn sf(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    if !t.is_finite() || !degrees_of_freedom.is_finite() || degrees_of_freedom < 1.0 {
        return None;
    }
    let tail = 0.5 * upper_half(t.abs(), degrees_of_freedom)?;
    Some(if t >= 0.0 { tail } else { 1.0 - tail })
}

/// Two-sided p value of a t statistic: P(|T| ≥ |t|).
pub fn two_sided(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    Some((2.0 * sf(t.abs(), degrees_of_freedom)?).min(1.0))
}

/// The t below which a share p of the distribution lies, 0 < p < 1; both tails at least 1e-100.
///
/// Newton's method on the tail probability, held inside a bracket that is halved where a step would leave it.
pub fn ppf(p: f64, degrees_of_freedom: f64) -> Option<f64> {
    let tail = p.min(1.0 - p);
    if tail.is_nan() || tail < SMALLEST_TAIL || degrees_of_freedom.is_nan() || degrees_of_freedom < 1.0 {
        return None;
    }
    let t = upper_quantile(tail, degrees_of_freedom)?;
    Some(if p < 0.5 { -t } else { t })
}

/// The t ≥ 0 with P(T > t) = tail, for a tail of at most ½.
fn upper_quantile(tail: f64, degrees_of_freedom: f64) -> Option<f64> {
    if tail == 0.5 {
        return Some(0.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while sf(high, degrees_of_freedom)? > tail {
        low = high;
        high *= 2.0;
    }
    let mut t = 0.5 * (low + high);
    for _ in 0..200 {
        let excess = sf(t, degrees_of_freedom)? - tail;
        if excess > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t + excess / density(t, degrees_of_freedom)?;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let settled = (next - t).abs() <= 2.0 * f64::EPSILON * t;
        t = next;
        if settled {
            break;
        }
    }
    Some(t)
}

fn upper_half(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    let square = t * t;
    if square.is_infinite() {
        return Some(0.0);
    }
    let sum = degrees_of_freedom + square;
    incomplete_beta::regularised(0.5 * degrees_of_freedom, 0.5, degrees_of_freedom / sum, square / sum)
}

/// Density of the distribution: (1 + t²/ν)^(−(ν+1)/2) / (√ν·B(ν/2, ½)).
fn density(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    let exponent = -0.5 * (degrees_of_freedom + 1.0) * libm::log1p(t * t / degrees_of_freedom);
    let log_density = exponent
        - incomplete_beta::ln_beta(0.5 * degrees_of_freedom, 0.5)
        - 0.5 * libm::log(degrees_of_freedom);
    let density = libm::exp(log_density);
    (density > 0.0).then_some(density)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// t, degrees of freedom and upper tail, from mpmath with 40 digits.
    const STUDENT: [(f64, f64, f64); 11] = [
        (12.706_204_736_432_095, 1.0, 0.024_999_999_999_495_65),
        (0.05, 3.0, 0.481_632_572_295_693_2),
        (2.776_445_105_197_798_7, 4.0, 0.024_999_999_999_999_887),
        (6.5, 4.0, 0.001_445_003_558_550_367_5),
        (40.0, 7.5, 2.559_528_381_854_895_4e-10),
        (2.131_449_545_559_323, 15.0, 0.025_000_000_000_021_394),
        (1.0, 99.0, 0.159_874_237_069_650_7),
        (9.0, 199.0, 9.094_412_944_485_667e-17),
        (1.96, 10_000.0, 0.025_011_760_115_916_524),
        (5.0, 1e6, 2.866_998_935_445_371e-7),
        (300.0, 2.5, 4.614_441_830_976_745e-7),
    ];

    #[test]
    fn known_values_agree() {
        for (t, degrees_of_freedom, tail) in STUDENT {
            let ours = sf(t, degrees_of_freedom).unwrap();
            assert!(
                (ours / tail - 1.0).abs() < 1e-11,
                "sf({t}, {degrees_of_freedom}): {ours} against {tail}"
            );
            let back = ppf(tail, degrees_of_freedom).unwrap();
            assert!(
                (back + t).abs() <= 1e-10 * t.abs().max(1.0),
                "ppf({tail}, {degrees_of_freedom}): {back}"
            );
        }
    }

    /// One degree of freedom is Cauchy's distribution, two have a closed form.
    #[test]
    fn closed_forms_agree() {
        for t in [0.001, 0.3, 1.0, 12.706, 1e6, 1e60] {
            let cauchy = libm::atan(1.0 / t) / core::f64::consts::PI;
            assert!((sf(t, 1.0).unwrap() / cauchy - 1.0).abs() < 1e-12);
            let two = 1.0 / ((2.0 + t * t).sqrt() * ((2.0 + t * t).sqrt() + t));
            assert!((sf(t, 2.0).unwrap() / two - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_has_no_answer_has_none() {
        assert_eq!(sf(1.0, 0.0), None);
        assert_eq!(sf(1.0, f64::INFINITY), None);
        assert_eq!(cdf(f64::NAN, 3.0), None);
        assert_eq!(cdf(f64::INFINITY, 3.0), None);
        for p in [0.0, 1.0, f64::NAN, 1e-200] {
            assert_eq!(ppf(p, 3.0), None);
        }
        assert_eq!(ppf(0.5, 3.0), Some(0.0));
        assert_eq!(sf(1e300, 3.0), Some(0.0));
    }

    proptest! {
        #[test]
        fn the_quantile_undoes_the_distribution(p in 1e-9..0.999_999_f64, degrees_of_freedom in 1.0..5000.0_f64) {
            let t = ppf(p, degrees_of_freedom).unwrap();
            prop_assert!((cdf(t, degrees_of_freedom).unwrap() - p).abs() <= 1e-11 * p.max(1e-3));
            prop_assert_eq!(ppf(0.25, degrees_of_freedom).unwrap(), -ppf(0.75, degrees_of_freedom).unwrap());
        }
    }
}
