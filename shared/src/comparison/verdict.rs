//! What may be said of one side against another.

use crate::format;
use crate::metric::Better;
use crate::statistics::Interval;
use crate::statistics::cycles::{FEWEST, half_width_in_deviations};

/// The error that is allowed.
pub const ALPHA: f64 = 0.05;

/// The fewest pairs of runs that are tested: at five, no exact two-sided p value is below 0.05.
pub const FEWEST_PAIRS: usize = 6;

/// The fewest boots of a side between which the interval is made, instead of between runs.
pub const FEWEST_BOOTS: usize = 3;

/// What is repeated: the number of these stands behind an interval, and not the number of what is within them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A run.
    Run,
    /// A cycle of a sweep: one start of the server for each side.
    Cycle,
    /// A boot: one start of the server.
    Boot,
}

impl Unit {
    /// The fewest that name a winner.
    pub const fn fewest(self) -> usize {
        match self {
            Self::Run => FEWEST_PAIRS,
            Self::Cycle => FEWEST,
            Self::Boot => FEWEST_BOOTS,
        }
    }

    /// In a table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Cycle => "cycle",
            Self::Boot => "boot",
        }
    }

    /// `1 run`, `16 runs`.
    pub fn count(self, n: usize) -> String {
        format::count(n, self.word())
    }
}

/// What may be said, in the order in which it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Something else differs too: what.
    NotComparable(Vec<String>),
    /// Too few to name a winner.
    TooFew {
        /// Of what.
        unit: Unit,
        /// Those that both sides passed.
        n: usize,
    },
    /// Better than the first side.
    Faster,
    /// Worse.
    Slower,
    /// Within the margin, and that is shown.
    Equivalent,
    /// Neither a difference nor equivalence is shown.
    NotSeparated,
}

/// What a verdict is made of.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// What is repeated.
    pub unit: Unit,
    /// How often, on the side that has fewer.
    pub n: usize,
    /// The ratio to the first side.
    pub ratio: Option<f64>,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Its p value, corrected by Holm.
    pub holm_p: Option<f64>,
    /// p value of the two one-sided tests of equivalence.
    pub equivalence_p: Option<f64>,
}

impl Verdict {
    /// Of a comparison between sides that can be compared.
    pub fn of(better: Better, evidence: &Evidence) -> Self {
        let Evidence { unit, n, ratio, interval, holm_p, equivalence_p } = *evidence;
        let (Some(ratio), true) = (ratio, n >= unit.fewest()) else { return Self::TooFew { unit, n } };
        let is_shown = holm_p.is_some_and(|p| p < ALPHA) && interval.is_some_and(|of| of.excludes(1.0));
        if is_shown {
            return if (ratio > 1.0) == (better == Better::Lower) { Self::Slower } else { Self::Faster };
        }
        if equivalence_p.is_some_and(|p| p < ALPHA) { Self::Equivalent } else { Self::NotSeparated }
    }

    /// In a table.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotComparable(_) => "not comparable",
            Self::TooFew { .. } => "too few",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::NotSeparated => "not separated",
        }
    }

    /// The sign before the word.
    pub const fn sign(&self) -> &'static str {
        match self {
            Self::NotComparable(_) => "×",
            Self::TooFew { .. } | Self::NotSeparated => "?",
            Self::Faster => "▲",
            Self::Slower => "▼",
            Self::Equivalent => "≈",
        }
    }

    /// What it means, in a sentence or two; `None` where the word says it all.
    pub fn meaning(&self, margin_ratio: f64) -> Option<String> {
        let within = margin(margin_ratio);
        Some(match self {
            Self::Faster | Self::Slower => return None,
            Self::NotComparable(differences) => ["not comparable: ", &differences.join("; ")].concat(),
            Self::TooFew { unit: Unit::Cycle, n: 0 } => {
                "too few: no cycle has a run that passed on both sides.".to_owned()
            }
            Self::TooFew { unit: Unit::Cycle, .. } => one_cycle(),
            Self::TooFew { unit: Unit::Run, .. } => [
                "too few: no winner is named below ",
                &FEWEST_PAIRS.to_string(),
                " runs that passed on each side: of 5 pairs no exact two-sided p value can be below 0.05.",
            ]
            .concat(),
            Self::TooFew { unit: Unit::Boot, .. } => {
                "too few boots have a run that all others have.".to_owned()
            }
            Self::Equivalent => ["equivalent: the ratio is shown to lie within ", &within, "."].concat(),
            Self::NotSeparated => [
                "not separated: neither a difference nor equivalence within ",
                &within,
                " is shown. It does not mean the same: more runs may separate them.",
            ]
            .concat(),
        })
    }
}

/// `±2 %`.
pub fn margin(margin_ratio: f64) -> String {
    // 1.02 − 1 is not quite 0.02.
    ["±", &format::full(((margin_ratio - 1.0) * 1e6).round() / 1e4), " %"].concat()
}

fn one_cycle() -> String {
    let narrower = half_width_in_deviations(2).zip(half_width_in_deviations(3)).map_or_else(
        String::new,
        |(two, three)| {
            [", and with 3 it is ", &format::fixed(two / three, 1), " times narrower than with 2"].concat()
        },
    );
    [
        "too few: one cycle. No winner is named, because what changes from one start of a server to the next cannot \
         be told from what the variants change. The t interval needs at least ",
        &FEWEST.to_string(),
        " cycles",
        &narrower,
        ": --cycles 3 or more.",
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(n: usize, ratio: f64, half: f64, holm_p: f64, equivalence_p: f64) -> Evidence {
        Evidence {
            unit: Unit::Run,
            n,
            ratio: Some(ratio),
            interval: Interval::new(ratio - half, ratio + half),
            holm_p: Some(holm_p),
            equivalence_p: Some(equivalence_p),
        }
    }

    #[test]
    fn the_words_are_looked_for_in_the_order_of_the_method() {
        let of =
            |n, ratio, half, holm, tost| Verdict::of(Better::Higher, &evidence(n, ratio, half, holm, tost));
        assert_eq!(of(5, 2.0, 0.1, 0.001, 0.9), Verdict::TooFew { unit: Unit::Run, n: 5 });
        assert_eq!(of(6, 1.01, 0.005, 0.03, 0.001), Verdict::Faster, "a difference before equivalence");
        assert_eq!(of(6, 0.99, 0.005, 0.03, 0.001), Verdict::Slower);
        assert_eq!(of(6, 1.01, 0.02, 0.03, 0.001), Verdict::Equivalent, "the interval holds 1");
        assert_eq!(of(6, 1.5, 0.1, 0.05, 0.9), Verdict::NotSeparated, "5 % itself is not below 5 %");
    }

    #[test]
    fn less_is_faster_where_less_is_better() {
        let longer = evidence(16, 1.2, 0.1, 0.001, 0.9);
        assert_eq!(Verdict::of(Better::Lower, &longer), Verdict::Slower);
        assert_eq!(Verdict::of(Better::Higher, &longer), Verdict::Faster);
    }

    #[test]
    fn without_a_p_value_or_an_interval_nothing_is_separated() {
        let mut of = evidence(16, 1.2, 0.1, 0.001, 0.9);
        of.holm_p = None;
        assert_eq!(Verdict::of(Better::Higher, &of), Verdict::NotSeparated);
        let mut of = evidence(16, 1.2, 0.1, 0.001, 0.9);
        of.interval = None;
        assert_eq!(Verdict::of(Better::Higher, &of), Verdict::NotSeparated);
        of.ratio = None;
        assert_eq!(Verdict::of(Better::Higher, &of), Verdict::TooFew { unit: Unit::Run, n: 16 });
    }

    #[test]
    fn not_separated_is_never_worded_as_the_same() {
        let said = Verdict::NotSeparated.meaning(1.05).unwrap_or_default();
        assert!(said.contains("±5 %") && said.contains("does not mean the same"), "{said}");
    }
}
