//! A cycle's figure, and the ratio of two variants in one cycle.

use std::collections::BTreeMap;

use crate::metric::{Metric, Sample};
use crate::statistics::{moments, paired, rate};
use crate::submission::{Case, Run};

/// Two variants in one cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CycleRatio {
    /// The cycle.
    pub cycle: u32,
    /// Runs that passed on both sides.
    pub pairs: usize,
    /// Mean of ln(B / A) over them.
    pub log_ratio: f64,
}

/// A metric's figure in each cycle that tells it: the ratio of totals of a rate, else the mean, of the passing runs.
/// Runs that belong to no cycle are left out.
pub fn by_cycle(case: &Case, metric: &Metric) -> Vec<(u32, f64)> {
    cycles(case)
        .into_iter()
        .filter_map(|(cycle, runs)| {
            let samples: Vec<Sample> = runs.iter().filter_map(|run| (metric.sample)(run)).collect();
            Some((cycle, figure(&samples)?))
        })
        .collect()
}

/// The mean log ratio B / A of each cycle, over the runs of one number that passed on both sides and tell the metric.
pub fn ratios(a: &Case, b: &Case, metric: &Metric) -> Vec<CycleRatio> {
    let of_b = cycles(b);
    cycles(a)
        .into_iter()
        .filter_map(|(cycle, runs)| {
            let figure = |run: &Run| (metric.sample)(run)?.figure();
            let partner = |run: &Run| of_b.get(&cycle)?.iter().find(|b| b.number == run.number).copied();
            let (a, b): (Vec<f64>, Vec<f64>) =
                runs.into_iter().filter_map(|run| Some((figure(run)?, figure(partner(run)?)?))).unzip();
            let log_ratio = moments::mean(&paired::log_ratios(&a, &b)?)?;
            Some(CycleRatio { cycle, pairs: a.len(), log_ratio })
        })
        .collect()
}

/// The passing runs by their cycle.
fn cycles(case: &Case) -> BTreeMap<u32, Vec<&Run>> {
    let mut cycles = BTreeMap::<u32, Vec<&Run>>::new();
    for run in case.runs.iter().filter(|run| run.passed()) {
        if let Some(cycle) = run.cycle {
            cycles.entry(cycle).or_default().push(run);
        }
    }
    cycles
}

fn figure(samples: &[Sample]) -> Option<f64> {
    if let Some((amounts, spans)) = Sample::rates(samples) {
        return rate::ratio_of_totals(&amounts, &spans);
    }
    let figures: Option<Vec<f64>> = samples.iter().map(|sample| sample.figure()).collect();
    moments::mean(&figures?)
}
