//! Variants of one sweep against the first of them, cycle by cycle, from their runs.

mod figures;

pub use figures::{CycleRatio, by_cycle, ratios};

use crate::comparison::{Evidence, Unit, Verdict, reasons};
use crate::metric::{self, Metric};
use crate::statistics::cycles::{OverCycles, over_cycles};
use crate::statistics::equivalence::{DEFAULT_MARGIN_RATIO, tost};
use crate::statistics::{holm, moments, quantile};
use crate::submission::{Case, Submission};
use crate::workload::Regime;

/// A case, compared over all variants.
#[derive(Debug, Clone)]
pub struct CaseComparison {
    /// Its name.
    pub case: String,
    /// Its regime.
    pub regime: Regime,
    /// Its streams.
    pub concurrency: u32,
    /// The regime's headline metric, the only one that is tested: every further test would need stronger evidence.
    pub headline: MetricComparison,
    /// What is shown beside it, as far as two variants tell it: one alone compares nothing.
    pub also: Vec<MetricComparison>,
}

/// One metric of a case.
#[derive(Debug, Clone)]
pub struct MetricComparison {
    /// The metric.
    pub metric: &'static Metric,
    /// One row for each variant, the first is what the others are compared with.
    pub rows: Vec<Row>,
}

/// One variant's figures of a metric.
#[derive(Debug, Clone)]
pub struct Row {
    /// The variant's label.
    pub label: String,
    /// Cycle and figure, as far as there is one.
    pub figures: Vec<(u32, f64)>,
    /// Against the first variant; `None` for the first itself.
    pub against: Option<Against>,
}

impl Row {
    /// Median over the cycles.
    pub fn median(&self) -> Option<f64> {
        quantile::median(&self.values())
    }

    /// Sample standard deviation of the cycles over their mean; `None` below two.
    pub fn spread(&self) -> Option<f64> {
        moments::coefficient_of_variation(&self.values())
    }

    fn values(&self) -> Vec<f64> {
        self.figures.iter().map(|&(_, figure)| figure).collect()
    }
}

/// A variant against the first one.
#[derive(Debug, Clone)]
pub struct Against {
    /// Mean log ratio of each cycle.
    pub ratios: Vec<CycleRatio>,
    /// What they say together; `None` without a cycle that both sides passed.
    pub over: Option<OverCycles>,
    /// p value, corrected by Holm over all variants and cases.
    pub holm_p: Option<f64>,
    /// p value of the two one-sided tests of equivalence.
    pub equivalence_p: Option<f64>,
    /// What may be said; `None` for what is shown and not tested.
    pub verdict: Option<Verdict>,
}

/// Compares every variant with the first. The variants are in the order of the sweep.
pub fn compare(variants: &[&Submission]) -> Vec<CaseComparison> {
    let mut cases: Vec<CaseComparison> = ids(variants).into_iter().map(|id| case(variants, id)).collect();
    let raw: Vec<f64> = tested(&mut cases).filter_map(|against| against.over?.p).collect();
    let mut adjusted = holm::adjust(&raw).unwrap_or_default().into_iter();
    for comparison in &mut cases {
        let metric = comparison.headline.metric;
        for against in comparison.headline.rows.iter_mut().filter_map(|row| row.against.as_mut()) {
            against.holm_p = against.over.and_then(|over| over.p).and_then(|_| adjusted.next());
            if against.verdict.is_none() {
                against.verdict = Some(Verdict::of(metric.better, &evidence(against)));
            }
        }
    }
    cases
}

/// What is tested, in order.
fn tested(cases: &mut [CaseComparison]) -> impl Iterator<Item = &Against> {
    cases.iter().flat_map(|case| &case.headline.rows).filter_map(|row| row.against.as_ref())
}

/// Cases of any variant, in the order of the first that has them.
fn ids<'a>(variants: &[&'a Submission]) -> Vec<&'a str> {
    let mut ids = Vec::new();
    for id in variants.iter().flat_map(|shard| &shard.cases).map(|case| case.id.as_str()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn case(variants: &[&Submission], id: &str) -> CaseComparison {
    let of = |shard: &&Submission| shard.cases.iter().find(|case| case.id == id).cloned();
    let cases: Vec<Option<Case>> = variants.iter().map(of).collect();
    let known = cases.iter().flatten().next();
    let (regime, concurrency) = known.map_or((Regime::Other, 1), |case| (case.regime, case.concurrency));
    let side = |at: usize| Side { shard: variants[at], case: cases[at].as_ref() };
    let rows = |metric: &'static Metric, is_tested: bool| {
        (0..variants.len()).map(|at| row(side(0), side(at), at, metric, is_tested)).collect::<Vec<Row>>()
    };
    let also = beside(regime)
        .iter()
        .filter_map(|tag| metric::find(tag))
        .map(|metric| MetricComparison { metric, rows: rows(metric, false) })
        .filter(|of| of.rows.iter().filter(|row| !row.figures.is_empty()).count() > 1)
        .collect();
    let metric = headline(regime);
    CaseComparison {
        case: id.to_owned(),
        regime,
        concurrency,
        headline: MetricComparison { metric, rows: rows(metric, true) },
        also,
    }
}

/// One variant's side of a case.
#[derive(Clone, Copy)]
struct Side<'a> {
    shard: &'a Submission,
    case: Option<&'a Case>,
}

fn row(first: Side<'_>, variant: Side<'_>, at: usize, metric: &'static Metric, is_tested: bool) -> Row {
    let against = (at > 0).then(|| {
        let differences = differences(first, variant);
        let ratios = match (first.case, variant.case) {
            (Some(a), Some(b)) if differences.is_empty() => ratios(a, b, metric),
            _ => Vec::new(),
        };
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.log_ratio).collect();
        Against {
            over: over_cycles(&logs),
            holm_p: None,
            equivalence_p: tost(&logs, DEFAULT_MARGIN_RATIO),
            verdict: (is_tested && !differences.is_empty()).then_some(Verdict::NotComparable(differences)),
            ratios,
        }
    });
    Row {
        label: variant.shard.label.clone(),
        figures: variant.case.map(|case| by_cycle(case, metric)).unwrap_or_default(),
        against,
    }
}

/// What a sweep's verdict is made of: cycles.
fn evidence(against: &Against) -> Evidence {
    Evidence {
        unit: Unit::Cycle,
        n: against.ratios.len(),
        ratio: against.over.map(|over| over.ratio),
        interval: against.over.and_then(|over| over.interval),
        holm_p: against.holm_p,
        equivalence_p: against.equivalence_p,
    }
}

/// What beside the variant differs between two sides, in words; empty where they can be compared.
fn differences(a: Side<'_>, b: Side<'_>) -> Vec<String> {
    let (Some(of_a), Some(of_b)) = (a.case, b.case) else {
        let lacks = if a.case.is_none() { a.shard } else { b.shard };
        return vec![format!("{} has no run of the case", lacks.label)];
    };
    reasons(a.shard, of_a, b.shard, of_b)
}

fn headline(regime: Regime) -> &'static Metric {
    // Every headline is declared: a test of `workload` says so.
    metric::find(regime.headline()).unwrap_or(metric::METRICS[0])
}

/// What is shown beside the headline of a regime.
const fn beside(regime: Regime) -> &'static [&'static str] {
    match regime {
        Regime::ColdPrefill => &["client_wall_ttft_s", "engine_prefill_tok_s"],
        Regime::CachedPrefix | Regime::Session => &["client_wall_decode_tok_s", "cached_prompt_share"],
        Regime::Load => &["client_wall_decode_tok_s", "client_wall_ttft_s", "client_wall_steady_tok_s"],
        Regime::Decode | Regime::DecodeAtDepth | Regime::Other => {
            &["client_wall_ttft_s", "engine_decode_tok_s", "tokens_per_step", "time_per_step_s"]
        }
    }
}

#[cfg(test)]
mod tests;
