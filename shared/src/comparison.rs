//! Submissions against each other: paired ratios with intervals, exact tests, and what may be said in words.
//!
//! The terminal and the page show what [`compare`] gives, so they show the same numbers. What is compared is a
//! [`Side`]: a submission, or several boots of one configuration. Every side is compared with the first.

mod comparable;
mod facts;
mod noise;
pub mod plan;
mod ratio;
mod side;
mod verdict;
mod words;

pub use comparable::reasons;
pub use facts::{Fact, facts};
pub use noise::NoiseBand;
pub use ratio::{Pair, Ratio, Role, Way};
pub use side::{Side, pool};
pub use verdict::{ALPHA, Evidence, FEWEST_BOOTS, FEWEST_PAIRS, Unit, Verdict, margin};
pub use words::{again, letter, meanings, method, sentence};

use ratio::Plan;
use side::CaseOf;

use crate::metric::{self, Metric};
use crate::statistics::equivalence::DEFAULT_MARGIN_RATIO;
use crate::statistics::holm;
use crate::workload::Regime;

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// Sides are equivalent if the ratio is shown to lie between 1/margin and margin; above 1.
    pub margin_ratio: f64,
    /// Compare cases whose runs were not asked the same, unpaired.
    pub allow_mismatch: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { margin_ratio: DEFAULT_MARGIN_RATIO, allow_mismatch: false }
    }
}

/// Every side against the first.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// How it was compared.
    pub terms: Terms,
    /// The sides' labels and how many boots each has.
    pub sides: Vec<Named>,
    /// What each of them says of its system, configuration and method.
    pub facts: Vec<Fact>,
    /// The cases, in the order of the first side, then of the others.
    pub cases: Vec<CaseComparison>,
    /// Tests of headlines, which Holm's correction is over.
    pub headline_tests: usize,
    /// Tests of other metrics, over which theirs is.
    pub tests_beside: usize,
}

/// A side by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its label.
    pub label: String,
    /// Submissions in it.
    pub boots: usize,
    /// Whether it ran the configuration of the first side, as far as the files tell: what differs is noise then.
    pub is_the_first_again: bool,
}

/// A case over all sides.
#[derive(Debug, Clone)]
pub struct CaseComparison {
    /// Its name.
    pub case: String,
    /// Its regime.
    pub regime: Regime,
    /// Its streams.
    pub concurrency: u32,
    /// How far two boots of one configuration lie apart in its headline, where the sides tell.
    pub noise: Option<NoiseBand>,
    /// Every side but the first, against it.
    pub against: Vec<Against>,
}

/// Which of two sides have the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Both.
    Both,
    /// The first alone.
    OnlyInFirst,
    /// The other alone.
    OnlyInOther,
    /// Neither: a third side has it.
    InNeither,
}

impl Found {
    /// For programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::OnlyInFirst => "only in A",
            Self::OnlyInOther => "only in this side",
            Self::InNeither => "in neither",
        }
    }
}

/// A side against the first, in one case.
#[derive(Debug, Clone)]
pub struct Against {
    /// Its place among the sides, from 1.
    pub side: usize,
    /// Which of the two have the case.
    pub found: Found,
    /// Why their runs do not compare; empty where they do.
    pub reasons: Vec<String>,
    /// What a reader must know beside the ratios.
    pub remarks: Vec<String>,
    /// The ratios: the headline first, then what is tested beside it, then what is shown, then the split.
    pub ratios: Vec<Ratio>,
}

impl Against {
    /// The ratio by which the case is judged.
    pub fn headline(&self) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.role == Role::Headline)
    }
}

/// Compares every side with the first.
pub fn compare(sides: &[Side<'_>], terms: Terms) -> Comparison {
    let mut cases: Vec<CaseComparison> =
        ids(sides).into_iter().filter_map(|id| case(sides, id, terms)).collect();
    let headline_tests = correct(&mut cases, Role::Headline);
    let tests_beside = correct(&mut cases, Role::Beside);
    for against in cases.iter_mut().flat_map(|case| &mut case.against) {
        for ratio in &mut against.ratios {
            ratio.judge(&against.reasons);
        }
    }
    let named = |(at, side): (usize, &Side<'_>)| Named {
        label: side.label().to_owned(),
        boots: side.boots.len(),
        is_the_first_again: at > 0 && side.has_the_configuration_of(&sides[0]),
    };
    let named: Vec<Named> = sides.iter().enumerate().map(named).collect();
    for case in &mut cases {
        case.noise = noise::band(case, &named);
    }
    Comparison { terms, facts: facts(sides), sides: named, cases, headline_tests, tests_beside }
}

impl Comparison {
    /// Whether no case of any side could be compared: neither run by run, nor unpaired where that was allowed, nor by
    /// what is stated.
    pub fn is_refused(&self) -> bool {
        let all = self.cases.iter().flat_map(|case| &case.against).filter(|of| of.found == Found::Both);
        all.flat_map(|against| &against.ratios).all(|ratio| ratio.way == Way::Refused)
    }

    /// Every reason for which a case was not compared, each once.
    pub fn reasons(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self.cases.iter().flat_map(|case| &case.against).flat_map(|against| &against.reasons) {
            if !reasons.contains(&reason.as_str()) {
                reasons.push(reason);
            }
        }
        reasons
    }
}

/// Cases of any side, in the order of the first that has them.
fn ids<'a>(sides: &[Side<'a>]) -> Vec<&'a str> {
    let mut ids = Vec::new();
    for case in sides.iter().flat_map(|side| &side.boots).flat_map(|boot| &boot.cases) {
        if !ids.contains(&case.id.as_str()) {
            ids.push(case.id.as_str());
        }
    }
    ids
}

fn case(sides: &[Side<'_>], id: &str, terms: Terms) -> Option<CaseComparison> {
    let of: Vec<Option<CaseOf<'_>>> = sides.iter().map(|side| side.case(id)).collect();
    let known = of.iter().flatten().next()?.case();
    let against = (1..sides.len()).map(|at| against(at, of[0].as_ref(), of[at].as_ref(), terms)).collect();
    Some(CaseComparison {
        case: id.to_owned(),
        regime: known.regime,
        concurrency: known.concurrency,
        noise: None,
        against,
    })
}

fn against(side: usize, a: Option<&CaseOf<'_>>, b: Option<&CaseOf<'_>>, terms: Terms) -> Against {
    let found = match (a, b) {
        (Some(_), Some(_)) => Found::Both,
        (Some(_), None) => Found::OnlyInFirst,
        (None, Some(_)) => Found::OnlyInOther,
        (None, None) => Found::InNeither,
    };
    let mut against = Against { side, found, reasons: Vec::new(), remarks: Vec::new(), ratios: Vec::new() };
    if let (Some(a), Some(b)) = (a, b) {
        let way;
        (against.reasons, way) = way_of(a, b, terms);
        against.ratios = ratios(a, b, Plan { way, margin_ratio: terms.margin_ratio });
        against.remarks = words::remarks(side, [a, b], &against);
    }
    against
}

/// How two sides of a case are compared, and why not run by run.
fn way_of(a: &CaseOf<'_>, b: &CaseOf<'_>, terms: Terms) -> (Vec<String>, Way) {
    if !(a.has_runs() && b.has_runs()) {
        let who = match (a.has_runs(), b.has_runs()) {
            (false, false) => "neither side has runs",
            (false, true) => "the first side has no runs",
            _ => "this side has no runs",
        };
        return (
            vec![[who, ", only what is stated: no interval of the ratio can be made"].concat()],
            Way::Stated,
        );
    }
    let mut all: Vec<String> = Vec::new();
    let first = a.boots[0];
    for other in a.boots.iter().skip(1).chain(&b.boots) {
        for reason in comparable::reasons(first.shard, first.case, other.shard, other.case) {
            if !all.contains(&reason) {
                all.push(reason);
            }
        }
    }
    if a.boots.iter().any(|a| b.boots.iter().any(|b| comparable::are_the_same_runs(a.case, b.case))) {
        return (vec!["both sides hold the same runs: measure twice".to_owned()], Way::Refused);
    }
    let way = match (all.is_empty(), terms.allow_mismatch) {
        (true, _) => Way::Paired,
        (false, true) => Way::Unpaired,
        (false, false) => Way::Refused,
    };
    (all, way)
}

fn ratios(a: &CaseOf<'_>, b: &CaseOf<'_>, plan: Plan) -> Vec<Ratio> {
    let asked = Asked::of(a.case().regime);
    let find = |tag: &str| metric::find(tag).filter(|metric| metric.tells_of(a.case()));
    let ratio = |metric: &'static Metric, role: Role| ratio::ratio(metric, role, a, b, plan);
    let mut told = asked.headlines.iter().filter_map(|tag| ratio(find(tag)?, Role::Headline));
    // The first that both sides tell; none at all shows what the first is.
    let mut first = told.next();
    if first.as_ref().is_none_or(|first| first.ratio.is_none()) {
        first = told.find(|other| other.ratio.is_some()).or(first);
    }
    let headline = first.as_ref().map(|ratio| ratio.metric.tag);
    let mut all: Vec<Ratio> = first.into_iter().collect();
    for (tags, role) in [(asked.beside, Role::Beside), (asked.shown, Role::Shown), (&SPLIT[..], Role::Split)]
    {
        let others = tags.iter().filter(|tag| Some(**tag) != headline);
        all.extend(others.filter_map(|tag| ratio(find(tag)?, role)).filter(|ratio| ratio.ratio.is_some()));
    }
    all
}

/// Holm over every test of a role; how many there are.
fn correct(cases: &mut [CaseComparison], role: Role) -> usize {
    let mut tested: Vec<&mut Ratio> = cases
        .iter_mut()
        .flat_map(|case| &mut case.against)
        .flat_map(|against| &mut against.ratios)
        .filter(|ratio| ratio.role == role && ratio.counts_as_test())
        .collect();
    let raw: Vec<f64> = tested.iter().filter_map(|ratio| ratio.p).collect();
    for (ratio, p) in tested.iter_mut().zip(holm::adjust(&raw).unwrap_or_default()) {
        ratio.holm_p = Some(p);
    }
    tested.len()
}

/// The factors of a decode rate.
const SPLIT: [&str; 2] = ["tokens_per_step", "time_per_step_s"];

/// What is asked of a regime.
struct Asked {
    /// The metric by which it is judged, and those that stand in for it where a source does not tell it.
    headlines: &'static [&'static str],
    beside: &'static [&'static str],
    shown: &'static [&'static str],
}

impl Asked {
    const fn of(regime: Regime) -> Self {
        let (headlines, beside, shown): (&[_], &[_], &[_]) = match regime {
            Regime::ColdPrefill => (
                &["client_wall_prefill_tok_s", "engine_prefill_tok_s"],
                &["client_wall_ttft_s"],
                &["engine_prefill_tok_s", "energy_per_token_j"],
            ),
            Regime::CachedPrefix | Regime::Session => (
                &["client_wall_ttft_s", "engine_ttft_s"],
                &["client_wall_decode_tok_s"],
                &["engine_ttft_s", "energy_per_token_j"],
            ),
            Regime::Load => (
                &["client_wall_aggregate_tok_s", "client_wall_batch_decode_tok_s", "engine_decode_tok_s"],
                &["client_wall_decode_tok_s", "client_wall_ttft_s"],
                &["client_wall_steady_tok_s", "engine_decode_tok_s", "energy_per_token_j"],
            ),
            Regime::Decode | Regime::DecodeAtDepth | Regime::Other => (
                &["client_wall_decode_tok_s", "client_wall_two_length_decode_tok_s", "engine_decode_tok_s"],
                &["client_wall_ttft_s"],
                &["client_wall_prefill_tok_s", "engine_decode_tok_s", "energy_per_token_j"],
            ),
        };
        Self { headlines, beside, shown }
    }
}

#[cfg(test)]
mod tests;
