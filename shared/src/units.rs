//! Units as newtypes in SI base units, so that a second is never mistaken for a millisecond.

use serde::{Deserialize, Serialize};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// The bare number in the base unit.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
    };
}

unit!(
    /// A span of time, or an offset from the start of a run, in seconds.
    Seconds
);
unit!(
    /// Energy in joules.
    Joules
);
unit!(
    /// A token rate in tokens per second.
    TokensPerSecond
);

/// A count of tokens, as the server reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// The bare count.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The shortest span over which a rate is believed (docs/METHOD.md §1): 1 ms.
pub const SHORTEST_PLAUSIBLE_SPAN: Seconds = Seconds(1e-3);

impl TokensPerSecond {
    /// `tokens / span`, or `None` where the span is below 1 ms, the tokens are not positive, or
    /// either is not finite. A rate over nothing is unknown, never infinite.
    pub fn over(tokens: f64, span: Seconds) -> Option<Self> {
        let plausible =
            tokens.is_finite() && tokens > 0.0 && span.0.is_finite() && span.0 >= SHORTEST_PLAUSIBLE_SPAN.0;
        plausible.then(|| Self(tokens / span.0))
    }
}

/// The unit of a metric, as shown beside every number of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Tokens per second.
    TokensPerSecond,
    /// Tokens.
    Tokens,
    /// Joules per token.
    JoulesPerToken,
    /// A pure number: a share or a ratio.
    One,
}

impl Unit {
    /// The symbol printed on an axis or in a column head; empty for a pure number.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::TokensPerSecond => "tok/s",
            Self::Tokens => "tok",
            Self::JoulesPerToken => "J/tok",
            Self::One => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_over_nothing_is_unknown() {
        assert_eq!(TokensPerSecond::over(8.0, Seconds(0.0)), None);
        assert_eq!(TokensPerSecond::over(8.0, Seconds(0.000_9)), None);
        assert_eq!(TokensPerSecond::over(0.0, Seconds(1.0)), None);
        assert_eq!(TokensPerSecond::over(f64::NAN, Seconds(1.0)), None);
        assert_eq!(TokensPerSecond::over(8.0, Seconds(f64::INFINITY)), None);
        assert_eq!(TokensPerSecond::over(8.0, Seconds(2.0)), Some(TokensPerSecond(4.0)));
    }
}
