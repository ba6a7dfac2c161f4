//! One metric of a case, one side against another.

use super::side::{BootCase, CaseOf, Figure, Key};
use super::verdict::{Evidence, FEWEST_BOOTS, Unit, Verdict};
use crate::metric::{Better, Metric};
use crate::statistics::cycles::over_cycles;
use crate::statistics::equivalence::tost;
use crate::statistics::{
    self, Bootstrap, BootstrapInterval, Interval, detectable, moments, paired, welch, wilcoxon,
};
use crate::summary::{self, BOOTSTRAP_SEED, Estimate, estimate, estimate_of_runs, summarize};

/// What a metric is in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The metric by which the regime is judged; tested, corrected over the headlines of all cases and sides.
    Headline,
    /// Tested as well, corrected over all of these of all cases and sides.
    Beside,
    /// Shown with its interval and not tested.
    Shown,
    /// A factor of the decode rate, which says where a difference comes from; not tested.
    Split,
}

/// How the ratio was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Of runs of one number.
    Paired,
    /// Of all runs of each side, which do not pair.
    Unpaired,
    /// Of what the sources state.
    Stated,
    /// Not at all: the runs were not asked the same.
    Refused,
}

/// Two figures of one run number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The cycle, where the comparison goes by cycles.
    pub cycle: Option<u32>,
    /// Number of the run.
    pub run: u32,
    /// The first side's figure; of several boots the geometric mean.
    pub a: f64,
    /// The other side's.
    pub b: f64,
}

/// The ratio of one metric, and how sure it is.
#[derive(Debug, Clone)]
pub struct Ratio {
    /// The metric.
    pub metric: &'static Metric,
    /// What it is in the comparison.
    pub role: Role,
    /// Figures of the first side and of the other; `None` where a side does not tell, or where nobody asks.
    pub figures: [Option<Estimate>; 2],
    /// How the ratio was made.
    pub way: Way,
    /// What is repeated, and how often on each side: both are the pairs where runs pair.
    pub unit: Unit,
    /// So many on each side; 0 where nothing is compared.
    pub n: [usize; 2],
    /// Geometric-mean ratio to the first side; `None` where no two figures meet.
    pub ratio: Option<f64>,
    /// Its 95 % interval: bootstrap (expanded) over runs, t over cycles and boots, Welch's t over runs that do not pair.
    pub interval: Option<Interval>,
    /// Two-sided p value: Wilcoxon's signed-rank test over runs, a t test over cycles and boots, Welch's where runs do
    /// not pair. `None` where it is not tested.
    pub p: Option<f64>,
    /// The same, corrected.
    pub holm_p: Option<f64>,
    /// p value of the two one-sided tests of equivalence.
    pub equivalence_p: Option<f64>,
    /// The smallest ratio that as many pairs with this spread detect (95 %, power 80 %), as a log ratio.
    pub detects: Option<f64>,
    /// Sample standard deviation of the boots' mean log figures, on each side: what a start changes by itself. `None`
    /// below two boots.
    pub between_boots: [Option<f64>; 2],
    /// What may be said; `None` where it is not tested.
    pub verdict: Option<Verdict>,
    /// The pairs, in the order of their cycles and numbers.
    pub pairs: Vec<Pair>,
}

impl Ratio {
    /// Whether it is tested, and with enough behind it that a test can say something.
    pub(super) fn counts_as_test(&self) -> bool {
        self.p.is_some() && self.n[0].min(self.n[1]) >= self.unit.fewest()
    }

    /// The verdict, once the p values are corrected.
    pub(super) fn judge(&mut self, reasons: &[String]) {
        if !matches!(self.role, Role::Headline | Role::Beside) {
            return;
        }
        self.verdict = Some(if reasons.is_empty() || self.way == Way::Unpaired {
            Verdict::of(
                self.metric.better,
                &Evidence {
                    unit: self.unit,
                    n: self.n[0].min(self.n[1]),
                    ratio: self.ratio,
                    interval: self.interval,
                    holm_p: self.holm_p,
                    equivalence_p: self.equivalence_p,
                },
            )
        } else {
            Verdict::NotComparable(reasons.to_vec())
        });
    }
}

/// How a case's sides are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub way: Way,
    pub margin_ratio: f64,
}

/// The ratio of one metric; `None` where neither side tells it.
pub(super) fn ratio(
    metric: &'static Metric,
    role: Role,
    a: &CaseOf<'_>,
    b: &CaseOf<'_>,
    plan: Plan,
) -> Option<Ratio> {
    // Unpaired, a cycle is a start of the server like any boot.
    let by_cycle = plan.way == Way::Unpaired || (a.has_cycles() && b.has_cycles());
    let sides = [a.figures(metric, by_cycle), b.figures(metric, by_cycle)];
    let mut ratio = Ratio {
        metric,
        role,
        figures: [None, None],
        way: plan.way,
        unit: Unit::Run,
        n: [0, 0],
        ratio: None,
        interval: None,
        p: None,
        holm_p: None,
        equivalence_p: None,
        detects: None,
        between_boots: [None, None],
        verdict: None,
        pairs: Vec::new(),
    };
    match plan.way {
        Way::Stated | Way::Refused => {}
        Way::Unpaired => ratio.unpaired(&sides, plan.margin_ratio),
        Way::Paired => ratio.paired(&sides, by_cycle, plan.margin_ratio),
    }
    if matches!(role, Role::Headline | Role::Beside) || plan.way == Way::Stated {
        ratio.figures = [a, b].map(|side| figure(side, metric));
    }
    if plan.way == Way::Stated {
        ratio.stated();
    }
    if metric.better == Better::Neither || !matches!(role, Role::Headline | Role::Beside) {
        (ratio.p, ratio.equivalence_p) = (None, None);
    }
    let is_told = ratio.ratio.is_some() || ratio.figures.iter().any(Option::is_some);
    is_told.then_some(ratio)
}

/// The side's own figure of the case, from all its boots. Its interval is over runs, and over boots where there are
/// three or more.
fn figure(side: &CaseOf<'_>, metric: &Metric) -> Option<Estimate> {
    if !side.has_runs() {
        return summarize(side.case()).estimates.into_iter().find(|of| of.metric == metric.tag);
    }
    let mut pooled = estimate_of_runs(&side.passing(), metric)?;
    if side.boots.len() >= FEWEST_BOOTS {
        let of_boot = |boot: &BootCase<'_>| estimate(boot.case, metric)?.value.and_then(statistics::ln);
        let logs: Vec<f64> = side.boots.iter().filter_map(of_boot).collect();
        pooled.interval = paired::t_interval(&logs).map(|of| summary::Interval {
            low: of.low,
            high: of.high,
            kind: ["95 % t, over ", &Unit::Boot.count(logs.len())].concat(),
        });
    }
    Some(pooled)
}

impl Ratio {
    fn stated(&mut self) {
        let [Some(a), Some(b)] = self.figures.each_ref().map(|of| of.as_ref()?.value) else { return };
        self.ratio = paired::log_ratios(&[a], &[b]).and_then(|logs| paired::geometric_mean_ratio(&logs));
    }

    fn paired(&mut self, sides: &[Vec<Figure>; 2], by_cycle: bool, margin_ratio: f64) {
        let logs = sides.each_ref().map(|side| over_boots(side));
        let met = meet(&logs[0], &logs[1]);
        self.pairs = met
            .iter()
            .filter_map(|&((cycle, run), a, b)| {
                let figure = |log: f64| statistics::ratio_of_log(log);
                Some(Pair { cycle: by_cycle.then_some(cycle), run, a: figure(a)?, b: figure(b)? })
            })
            .collect();
        let cycles = if by_cycle { cycle_means(&met) } else { Vec::new() };
        let common = numbers(sides);
        let boots = sides.each_ref().map(|side| boot_means(side, Some(&common)));
        self.between_boots = boots.each_ref().map(|means| moments::standard_deviation(means));
        if cycles.len() >= Unit::Cycle.fewest() {
            self.over_cycles(&cycles, margin_ratio);
        } else if boots.iter().all(|means| means.len() >= FEWEST_BOOTS) {
            self.over_boots(&boots, margin_ratio);
        } else {
            let ratios: Vec<f64> = met.iter().map(|&(_, a, b)| b - a).collect();
            self.over_runs(&ratios, margin_ratio);
        }
    }

    fn over_runs(&mut self, log_ratios: &[f64], margin_ratio: f64) {
        (self.unit, self.n) = (Unit::Run, [log_ratios.len(); 2]);
        self.ratio = paired::geometric_mean_ratio(log_ratios);
        let plan = Bootstrap::new(BOOTSTRAP_SEED);
        self.interval = paired::bootstrap_interval(log_ratios, &plan).map(BootstrapInterval::ends);
        self.p = wilcoxon::signed_rank(log_ratios).map(|test| test.p);
        self.equivalence_p = tost(log_ratios, margin_ratio);
        self.detects = detectable::paired(log_ratios);
    }

    fn over_cycles(&mut self, log_ratios: &[f64], margin_ratio: f64) {
        (self.unit, self.n) = (Unit::Cycle, [log_ratios.len(); 2]);
        let over = over_cycles(log_ratios);
        self.ratio = over.map(|over| over.ratio);
        self.interval = over.and_then(|over| over.interval);
        self.p = over.and_then(|over| over.p);
        self.equivalence_p = tost(log_ratios, margin_ratio);
        self.detects = detectable::paired(log_ratios);
    }

    fn over_boots(&mut self, means: &[Vec<f64>; 2], margin_ratio: f64) {
        (self.unit, self.n) = (Unit::Boot, [means[0].len(), means[1].len()]);
        self.welch(means, margin_ratio);
    }

    fn unpaired(&mut self, sides: &[Vec<Figure>; 2], margin_ratio: f64) {
        let boots = sides.each_ref().map(|side| boot_means(side, None));
        self.between_boots = boots.each_ref().map(|means| moments::standard_deviation(means));
        if boots.iter().all(|means| means.len() >= FEWEST_BOOTS) {
            return self.over_boots(&boots, margin_ratio);
        }
        let logs = sides.each_ref().map(|side| side.iter().map(|figure| figure.log).collect::<Vec<f64>>());
        (self.unit, self.n) = (Unit::Run, [logs[0].len(), logs[1].len()]);
        self.welch(&logs, margin_ratio);
    }

    fn welch(&mut self, logs: &[Vec<f64>; 2], margin_ratio: f64) {
        let difference = moments::mean(&logs[1]).zip(moments::mean(&logs[0])).map(|(b, a)| b - a);
        self.ratio = difference.and_then(statistics::ratio_of_log);
        let Some(test) = welch::of_logs(&logs[0], &logs[1]) else { return };
        (self.interval, self.p) = (Some(test.interval), Some(test.p));
        self.equivalence_p = test.equivalence_p(margin_ratio);
    }
}

/// A key's mean log figure over the boots. The figures are in the order of their keys.
fn over_boots(figures: &[Figure]) -> Vec<(Key, f64)> {
    figures
        .chunk_by(|a, b| a.key == b.key)
        .map(|of| (of[0].key, of.iter().map(|figure| figure.log).sum::<f64>() / of.len() as f64))
        .collect()
}

/// What both sides have, in order.
fn meet(a: &[(Key, f64)], b: &[(Key, f64)]) -> Vec<(Key, f64, f64)> {
    let partner = |key: &Key| b.binary_search_by_key(key, |of| of.0).ok().map(|at| b[at].1);
    a.iter().filter_map(|&(key, log)| Some((key, log, partner(&key)?))).collect()
}

/// Mean log ratio of each cycle.
fn cycle_means(met: &[(Key, f64, f64)]) -> Vec<f64> {
    met.chunk_by(|a, b| a.0.0 == b.0.0)
        .map(|of| of.iter().map(|&(_, a, b)| b - a).sum::<f64>() / of.len() as f64)
        .collect()
}

/// The keys that every boot of both sides has, so that each boot's mean is of the same prompts.
fn numbers(sides: &[Vec<Figure>; 2]) -> Vec<Key> {
    let boots = |side: &[Figure]| side.iter().map(|figure| figure.boot + 1).max().unwrap_or(0);
    let wanted = sides.each_ref().map(|side| boots(side));
    let whole = |side: &[Figure], wanted: usize| -> Vec<Key> {
        side.chunk_by(|a, b| a.key == b.key).filter(|of| of.len() == wanted).map(|of| of[0].key).collect()
    };
    let of_b = whole(&sides[1], wanted[1]);
    let mut keys = whole(&sides[0], wanted[0]);
    keys.retain(|key| of_b.binary_search(key).is_ok());
    keys
}

/// Mean log figure of each boot, over these keys or over all. A boot is a submission, or a cycle of one where the keys
/// have cycles.
fn boot_means(figures: &[Figure], keys: Option<&[Key]>) -> Vec<f64> {
    let mut starts: Vec<((usize, u32), Vec<f64>)> = Vec::new();
    for figure in figures.iter().filter(|of| keys.is_none_or(|keys| keys.binary_search(&of.key).is_ok())) {
        // Over keys that both sides share, a cycle is a pair's and not a boot's.
        let start = (figure.boot, if keys.is_some() { 0 } else { figure.key.0 });
        match starts.iter_mut().find(|(known, _)| *known == start) {
            Some((_, logs)) => logs.push(figure.log),
            None => starts.push((start, vec![figure.log])),
        }
    }
    starts.iter().filter_map(|(_, logs)| moments::mean(logs)).collect()
}
