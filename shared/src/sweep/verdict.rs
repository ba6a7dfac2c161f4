//! What may be said of a variant against another.

use std::collections::BTreeMap;

use super::Against;
use crate::metric::Better;
use crate::statistics::cycles::{FEWEST, half_width_in_deviations};
use crate::submission::{Case, Submission};

/// The error that is allowed.
const ALPHA: f64 = 0.05;

/// What may be said, in the order in which it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Something else differs too: what.
    NotComparable(Vec<String>),
    /// Too few cycles to name a winner.
    TooFew {
        /// Those that both sides passed.
        cycles: usize,
    },
    /// Better than the first variant.
    Faster,
    /// Worse.
    Slower,
    /// Within ±2 %, and that is shown.
    Equivalent,
    /// Neither a difference nor equivalence is shown.
    NotSeparated,
}

impl Verdict {
    /// Of a comparison between sides that can be compared.
    pub(super) fn of(better: Better, against: &Against) -> Self {
        let cycles = against.ratios.len();
        let (Some(over), true) = (against.over, cycles >= FEWEST) else { return Self::TooFew { cycles } };
        let is_shown = against.holm_p.is_some_and(|p| p < ALPHA)
            && over.interval.is_some_and(|interval| interval.excludes(1.0));
        if is_shown {
            return if (over.ratio > 1.0) == (better == Better::Lower) { Self::Slower } else { Self::Faster };
        }
        if against.equivalence_p.is_some_and(|p| p < ALPHA) { Self::Equivalent } else { Self::NotSeparated }
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

    /// What it means, in a sentence or two; `None` where the word says it all.
    pub fn meaning(&self) -> Option<String> {
        match self {
            Self::NotComparable(differences) => {
                Some(format!("not comparable: {}", differences.join("; ")))
            }
            Self::TooFew { cycles: 0 } => {
                Some("too few: no cycle has a run that passed on both sides.".to_owned())
            }
            Self::TooFew { .. } => Some(one_cycle()),
            Self::Faster | Self::Slower => None,
            Self::Equivalent => Some("equivalent: the ratio is shown to lie within ±2 %.".to_owned()),
            Self::NotSeparated => Some(
                "not separated: neither a difference nor equivalence within ±2 % is shown. It does not mean the \
                 same: more cycles may separate them."
                    .to_owned(),
            ),
        }
    }
}

fn one_cycle() -> String {
    let narrower = half_width_in_deviations(2)
        .zip(half_width_in_deviations(3))
        .map_or_else(String::new, |(two, three)| {
            format!(", and with 3 it is {:.1} times narrower than with 2", two / three)
        });
    format!(
        "too few: one cycle. No winner is named, because what changes from one start of a server to the next cannot \
         be told from what the variants change. The t interval needs at least {FEWEST} cycles{narrower}: --cycles 3 or \
         more."
    )
}

/// What beside the variant differs between two sides, in words; empty where they can be compared.
pub(super) fn differences(
    a: &Submission,
    of_a: Option<&Case>,
    b: &Submission,
    of_b: Option<&Case>,
) -> Vec<String> {
    let (Some(of_a), Some(of_b)) = (of_a, of_b) else {
        let lacks = if of_a.is_none() { a } else { b };
        return vec![format!("{} has no run of the case", lacks.label)];
    };
    let series = (&a.provenance.series, &b.provenance.series);
    [
        (series.0 != series.1 || series.0.is_none(), "the series differs"),
        (of_a.workload != of_b.workload || of_a.regime != of_b.regime, "the workload differs"),
        (of_a.concurrency != of_b.concurrency || of_a.arrival != of_b.arrival, "the load differs"),
        (of_a.turns != of_b.turns || of_a.depth_tokens != of_b.depth_tokens, "the context differs"),
        (of_a.prompt_tokens_target != of_b.prompt_tokens_target, "the length of the prompts differs"),
        (of_a.output_tokens_target != of_b.output_tokens_target, "the length of the answers differs"),
        (of_a.sampling != of_b.sampling, "the sampling differs"),
        (prompts_differ(of_a, of_b), "the prompts differ"),
    ]
    .into_iter()
    .filter(|(differs, _)| *differs)
    .map(|(_, what)| what.to_owned())
    .collect()
}

/// Whether runs of one number sent other bytes. What is not known to differ does not.
fn prompts_differ(a: &Case, b: &Case) -> bool {
    let hashes = |case: &Case| -> BTreeMap<u32, Vec<Option<String>>> {
        let of = |run: &crate::submission::Run| {
            run.requests.iter().map(|request| request.prompt_sha256.clone()).collect()
        };
        case.runs.iter().filter(|run| run.passed()).map(|run| (run.number, of(run))).collect()
    };
    let of_b = hashes(b);
    hashes(a).iter().any(|(number, of_a)| {
        of_b.get(number)
            .is_some_and(|of_b| of_a.iter().zip(of_b).any(|(a, b)| a.is_some() && b.is_some() && a != b))
    })
}
