//! The standard normal distribution.

/// Φ(x) = erfc(−x/√2)/2, accurate in relative terms down to Φ(−37). `None` for NaN.
pub fn cdf(x: f64) -> Option<f64> {
    (!x.is_nan()).then(|| 0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2))
}

/// Φ⁻¹(p) for 0 < p < 1 with about 16 digits: algorithm AS 241, PPND16 (Wichura, "The Percentage Points of the Normal
/// Distribution", Applied Statistics 37, 1988).
pub fn ppf(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.425 * 0.425 - q * q;
        return Some(q * polynomial(&as_241::CENTRE_OVER, r) / polynomial(&as_241::CENTRE_UNDER, r));
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-libm::log(tail)).sqrt();
    let x = if r <= 5.0 {
        polynomial(&as_241::MIDDLE_OVER, r - 1.6) / polynomial(&as_241::MIDDLE_UNDER, r - 1.6)
    } else {
        polynomial(&as_241::FAR_OVER, r - 5.0) / polynomial(&as_241::FAR_UNDER, r - 5.0)
    };
    Some(if q < 0.0 { -x } else { x })
}

/// Horner's rule; the constant term comes first.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The coefficients of AS 241.
#[expect(clippy::excessive_precision, reason = "the digits are those that the paper prints")]
mod as_241 {
    pub(super) const CENTRE_OVER: [f64; 8] = [
        3.387_132_872_796_366_608,
        1.331_416_678_917_843_774_5e2,
        1.971_590_950_306_551_442_7e3,
        1.373_169_376_550_946_112_5e4,
        4.592_195_393_154_987_145_7e4,
        6.726_577_092_700_870_085_3e4,
        3.343_057_558_358_812_810_5e4,
        2.509_080_928_730_122_672_7e3,
    ];
    pub(super) const CENTRE_UNDER: [f64; 8] = [
        1.0,
        4.231_333_070_160_091_125_2e1,
        6.871_870_074_920_579_083_0e2,
        5.394_196_021_424_751_107_7e3,
        2.121_379_430_158_659_586_7e4,
        3.930_789_580_009_271_061_0e4,
        2.872_908_573_572_194_267_4e4,
        5.226_495_278_852_854_561_0e3,
    ];
    pub(super) const MIDDLE_OVER: [f64; 8] = [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_90,
        5.769_497_221_460_691_405_50,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        2.417_807_251_774_506_117_70e-1,
        2.272_384_498_926_918_458_33e-2,
        7.745_450_142_783_414_076_40e-4,
    ];
    pub(super) const MIDDLE_UNDER: [f64; 8] = [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_40,
        6.897_673_349_851_000_045_50e-1,
        1.481_039_764_274_800_745_90e-1,
        1.519_866_656_361_645_719_66e-2,
        5.475_938_084_995_344_946_00e-4,
        1.050_750_071_644_416_843_24e-9,
    ];
    pub(super) const FAR_OVER: [f64; 8] = [
        6.657_904_643_501_103_777_20,
        5.463_784_911_164_114_369_90,
        1.784_826_539_917_291_335_80,
        2.965_605_718_285_048_912_30e-1,
        2.653_218_952_657_612_309_30e-2,
        1.242_660_947_388_078_438_60e-3,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ];
    pub(super) const FAR_UNDER: [f64; 8] = [
        1.0,
        5.998_322_065_558_879_376_90e-1,
        1.369_298_809_227_358_053_10e-1,
        1.487_536_129_085_061_485_25e-2,
        7.868_691_311_456_132_591_00e-4,
        1.846_318_317_510_054_681_80e-5,
        1.421_511_758_316_445_888_70e-7,
        2.044_263_103_389_939_785_64e-15,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// x and Φ(x), from mpmath with 40 digits.
    const NORMAL: [(f64, f64); 9] = [
        (-37.0, 5.725_571_222_524_577e-300),
        (-17.968, 1.735_004_431_912_466e-72),
        (-8.2, 1.201_935_154_273_585_9e-16),
        (-5.0, 2.866_515_718_791_939e-7),
        (-1.959_963_984_540_054, 0.025_000_000_000_000_012),
        (-0.841_621_233_572_914_3, 0.199_999_999_999_999_98),
        (-0.1, 0.460_172_162_722_971),
        (0.3, 0.617_911_422_188_952_7),
        (1.25, 0.894_350_226_333_144_8),
    ];

    #[test]
    fn known_values_agree() {
        for (x, p) in NORMAL {
            assert!((cdf(x).unwrap() / p - 1.0).abs() < 1e-12, "cdf({x})");
            assert!((ppf(p).unwrap() - x).abs() <= 4e-15 * x.abs().max(1.0), "ppf({p})");
        }
        assert_eq!(ppf(0.5), Some(0.0));
        assert_eq!(cdf(0.0), Some(0.5));
    }

    #[test]
    fn what_has_no_answer_has_none() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(ppf(p), None);
        }
        assert_eq!(cdf(f64::NAN), None);
        assert_eq!((cdf(f64::NEG_INFINITY), cdf(f64::INFINITY)), (Some(0.0), Some(1.0)));
    }

    proptest! {
        #[test]
        fn the_quantile_undoes_the_distribution(p in 1e-12..1.0_f64) {
            prop_assert!((cdf(ppf(p).unwrap()).unwrap() / p - 1.0).abs() < 1e-13);
        }
    }
}
