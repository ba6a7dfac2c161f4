//! How far two boots of one configuration lie apart: what a start of the server changes by itself.

use super::{CaseComparison, Named};

/// Ratios between two boots of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseBand {
    /// The lower end, 1 over the upper one.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The band of a case's headline: as far from 1 as the interval of any side that is the first configuration again. A
/// difference that lies within is one that a restart makes, too. `None` where no side is.
pub(super) fn band(case: &CaseComparison, sides: &[Named]) -> Option<NoiseBand> {
    let again = case.against.iter().filter(|against| sides[against.side].is_the_first_again);
    let farthest = again
        .filter_map(|against| against.headline()?.interval)
        .map(|of| of.high.max(1.0 / of.low))
        .reduce(f64::max)?;
    farthest.is_finite().then(|| NoiseBand { low: 1.0 / farthest, high: farthest })
}
