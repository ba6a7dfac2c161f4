//! How many runs would see a difference, and how long that takes: the plan of a measurement from an earlier one.

mod pace;

pub use pace::{Pace, Source};

use super::side::Side;
use super::verdict::{FEWEST_PAIRS, Unit};
use super::{Against, Asked, Found, Ratio, Terms, compare};
use crate::metric::{self, Metric};
use crate::statistics::sample_size::{Design, runs_to_see};
use crate::statistics::{finite, ln, moments};
use crate::submission::{Case, Submission};
use crate::summary::estimate;
use crate::workload::Regime;

/// The plan of a case.
#[derive(Debug, Clone)]
pub struct CasePlan {
    /// Its name.
    pub case: String,
    /// Its regime.
    pub regime: Regime,
    /// Its streams.
    pub concurrency: u32,
    /// The metric by which it is judged; `None` where no run tells any.
    pub metric: Option<&'static Metric>,
    /// The spread of its runs, or why there is none.
    pub unpaired: Result<Basis, String>,
    /// The spread of its log ratios to a second file, or why there is none; `None` where no second file was given,
    /// because the spread of one file says nothing of it.
    pub paired: Option<Result<Basis, String>>,
    /// How long it takes on each of the two configurations; without a second file the second is taken for the first.
    pub paces: [Pace; 2],
    /// Place among the plans of an earlier case that was measured in the same rounds, whose time is this one's too.
    pub rounds_of: Option<usize>,
}

/// What a number of runs is planned from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Basis {
    /// Whether runs pair.
    pub design: Design,
    /// What is counted.
    pub unit: Unit,
    /// So many of them are behind the spread.
    pub n: usize,
    /// Sample standard deviation over the mean; paired, that of the log ratios. Positive.
    pub spread: f64,
}

impl Basis {
    /// Runs a side, or pairs, that see a difference, a share; never fewer than a test needs. `None` beyond 1e12.
    pub fn needed(&self, difference: f64) -> Option<u64> {
        Some(runs_to_see(self.design, self.spread, difference)?.max(FEWEST_PAIRS as u64))
    }
}

impl CasePlan {
    /// Seconds for so many on both configurations, warm-ups included; `None` where the file has no times.
    pub fn seconds(&self, unit: Unit, n: u64) -> Option<f64> {
        let of = |pace: &Pace| match unit {
            Unit::Run => pace.runs_take(n),
            Unit::Cycle | Unit::Boot => pace.starts_take(n),
        };
        finite(of(&self.paces[0])? + of(&self.paces[1])?)
    }

    fn basis(&self, design: Design) -> Option<&Basis> {
        match design {
            Design::Unpaired => self.unpaired.as_ref().ok(),
            Design::Paired => self.paired.as_ref()?.as_ref().ok(),
        }
    }
}

/// Seconds for all cases of a plan, each as often as it needs; cases of the same rounds count once. `None` if any case
/// that has a number has no time, or if none has a number.
pub fn total_seconds(plans: &[CasePlan], design: Design, difference: f64) -> Option<f64> {
    let mut longest: Vec<Option<f64>> = vec![None; plans.len()];
    for (at, plan) in plans.iter().enumerate() {
        let Some(basis) = plan.basis(design) else { continue };
        let seconds = plan.seconds(basis.unit, basis.needed(difference)?)?;
        let round = &mut longest[plan.rounds_of.unwrap_or(at)];
        *round = Some(round.map_or(seconds, |known| known.max(seconds)));
    }
    longest.into_iter().flatten().reduce(|a, b| a + b)
}

/// The plans of a submission's cases; with a second one of the same series, paired ones too.
pub fn plan(first: &Submission, second: Option<&Submission>) -> Vec<CasePlan> {
    let compared = second.map(|second| compare(&[Side::of(first), Side::of(second)], Terms::default()));
    let against = |id: &str| {
        let case = compared.as_ref()?.cases.iter().find(|case| case.case == id)?;
        case.against.first()
    };
    let mut plans: Vec<CasePlan> = Vec::new();
    for (at, case) in first.cases.iter().enumerate() {
        let against = against(&case.id);
        let headline = against.and_then(Against::headline).filter(|ratio| ratio.ratio.is_some());
        let metric = headline.map(|ratio| ratio.metric).or_else(|| own_headline(case));
        let other = second.and_then(|second| second.cases.iter().find(|other| other.id == case.id));
        let pace = Pace::of(case);
        let of_other = other.map(Pace::of).filter(|other| other.run_s.is_some());
        let rounds = |earlier: &usize| pace::are_of_the_same_rounds(&first.cases[*earlier], case);
        plans.push(CasePlan {
            case: case.id.clone(),
            regime: case.regime,
            concurrency: case.concurrency,
            metric,
            unpaired: unpaired(case, metric),
            paired: second.map(|_| against.map_or_else(|| Err(ONLY_IN_FIRST.to_owned()), paired)),
            paces: [pace, of_other.unwrap_or(pace)],
            rounds_of: (0..at).find(rounds),
        });
    }
    plans
}

const ONLY_IN_FIRST: &str = "the second file has no such case";

/// The first headline of the regime that the case's runs tell.
fn own_headline(case: &Case) -> Option<&'static Metric> {
    let mut known = Asked::of(case.regime).headlines.iter().filter_map(|tag| metric::find(tag));
    known.find(|metric| estimate(case, metric).is_some())
}

fn unpaired(case: &Case, metric: Option<&Metric>) -> Result<Basis, String> {
    if case.runs.is_empty() {
        return Err(if case.stated.is_empty() {
            "no run was recorded"
        } else {
            "only what a source states, and no runs: their spread is unknown"
        }
        .to_owned());
    }
    if !case.runs.iter().any(crate::submission::Run::passed) {
        return Err("no run passed".to_owned());
    }
    let told = metric.and_then(|metric| estimate(case, metric));
    let told = told.ok_or("the runs do not tell the figure by which the case is judged")?;
    let n = told.n.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    if n < 2 {
        return Err("one run passed, and one has no spread: measure more".to_owned());
    }
    let spread = told.spread.ok_or("its figures have no mean above zero")?;
    basis(Design::Unpaired, Unit::Run, n, spread)
}

fn paired(against: &Against) -> Result<Basis, String> {
    match against.found {
        Found::Both => {}
        Found::OnlyInFirst | Found::OnlyInOther | Found::InNeither => return Err(ONLY_IN_FIRST.to_owned()),
    }
    if !against.reasons.is_empty() {
        return Err(against.reasons.join("; "));
    }
    let ratio = against.headline().ok_or("the two files tell no figure in common")?;
    let logs = replicates(ratio).ok_or("a figure is no positive number")?;
    if logs.len() < 2 {
        return Err([&ratio.unit.count(logs.len()), " in common: a spread needs two"].concat());
    }
    let spread = moments::standard_deviation(&logs).ok_or("the ratios have no spread")?;
    basis(Design::Paired, ratio.unit, logs.len(), spread)
}

/// The log ratios that are repeated: of the pairs, or the mean of each cycle's.
fn replicates(ratio: &Ratio) -> Option<Vec<f64>> {
    let log = |pair: &super::Pair| Some(ln(pair.b)? - ln(pair.a)?);
    if ratio.unit != Unit::Cycle {
        return ratio.pairs.iter().map(log).collect();
    }
    let cycles = ratio.pairs.chunk_by(|a, b| a.cycle == b.cycle);
    cycles.map(|of| moments::mean(&of.iter().map(log).collect::<Option<Vec<f64>>>()?)).collect()
}

fn basis(design: Design, unit: Unit, n: usize, spread: f64) -> Result<Basis, String> {
    if spread > 0.0 {
        return Ok(Basis { design, unit, n, spread });
    }
    let what = if design == Design::Paired { "ratio" } else { "figure" };
    Err([
        "all ",
        &unit.count(n),
        " have the same ",
        what,
        " to the last digit: there is no spread to plan from",
    ]
    .concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::detectable;
    use crate::submission::StatedEstimate;
    use crate::testing::{shard_of, single_stream_case};

    const SPANS: [f64; 8] = [5.0, 5.7, 4.6, 6.1, 5.2, 4.4, 5.9, 5.5];

    /// The same prompts on a set-up that is so much slower, disturbed run by run.
    fn shard(factor: f64, noise: f64) -> Submission {
        let disturbed =
            |(at, span): (usize, &f64)| (513, span * factor * (1.0 + noise * [1.0, -1.0, 0.5, -0.5][at % 4]));
        let runs: Vec<(u64, f64)> = SPANS.iter().enumerate().map(disturbed).collect();
        shard_of(vec![single_stream_case("code", &runs)])
    }

    #[test]
    fn the_plan_turns_round_what_the_report_detects() {
        let shard = shard(1.0, 0.0);
        let told = estimate(&shard.cases[0], metric::find("client_wall_decode_tok_s").unwrap()).unwrap();
        let plans = plan(&shard, None);
        let basis = *plans[0].unpaired.as_ref().unwrap();
        assert_eq!((basis.n, Some(basis.spread)), (8, told.spread));
        assert_eq!(basis.needed(told.detects.unwrap()), Some(8));
        assert_eq!(plans[0].paired, None, "one file says nothing of pairs");
    }

    #[test]
    fn pairs_see_through_the_spread_of_the_prompts_and_are_never_fewer_than_a_test_needs() {
        let (a, b) = (shard(1.0, 0.0), shard(1.1, 0.004));
        let plans = plan(&a, Some(&b));
        let paired = *plans[0].paired.as_ref().unwrap().as_ref().unwrap();
        let compared = compare(&[Side::of(&a), Side::of(&b)], Terms::default());
        let detects = compared.cases[0].against[0].headline().unwrap().detects.unwrap();
        assert!((detectable::paired_at(paired.spread, 8.0).unwrap() / detects - 1.0).abs() < 1e-9);
        let unpaired = plans[0].unpaired.as_ref().unwrap();
        assert!(unpaired.needed(0.01).unwrap() > 1_000);
        assert_eq!((paired.unit, paired.needed(0.01)), (Unit::Run, Some(6)));
    }

    #[test]
    fn what_cannot_be_planned_says_why() {
        let why = |shard: &Submission| plan(shard, None)[0].unpaired.clone().unwrap_err();
        let with = |runs: &[(u64, f64)]| shard_of(vec![single_stream_case("code", runs)]);
        assert!(why(&with(&[(501, 5.0)])).contains("one has no spread"));
        assert!(why(&with(&[(501, 5.0), (501, 5.0)])).contains("all 2 runs have the same figure"));
        assert_eq!(why(&with(&[])), "no run was recorded");
        let mut stated = with(&[]);
        stated.cases[0].stated = vec![StatedEstimate::default()];
        assert!(why(&stated).contains("only what a source states"));
        let mut failed = with(&[(501, 5.0), (501, 5.1)]);
        failed.cases[0].runs.iter_mut().for_each(|run| run.requests.clear());
        assert_eq!(why(&failed), "no run passed");

        let a = shard(1.0, 0.0);
        let unpaired = |b: &Submission| plan(&a, Some(b))[0].paired.clone().unwrap().unwrap_err();
        let mut b = shard(1.1, 0.01);
        b.provenance.series = Some("another".into());
        assert_eq!(unpaired(&b), "the series differs");
        b.cases[0].id = "prose".into();
        assert_eq!(unpaired(&b), ONLY_IN_FIRST);
        assert!(unpaired(&a).contains("the same runs"));
    }

    #[test]
    fn a_sweep_is_planned_in_cycles() {
        let sweep = |factor, noise| {
            let mut shard = shard(factor, noise);
            shard.cases[0].runs.iter_mut().for_each(|run| run.cycle = Some((run.number - 1) / 2 + 1));
            shard
        };
        let plans = plan(&sweep(1.0, 0.0), Some(&sweep(1.1, 0.01)));
        let paired = *plans[0].paired.as_ref().unwrap().as_ref().unwrap();
        assert_eq!((paired.unit, paired.n), (Unit::Cycle, 4));
        let one = plans[0].paces[0].starts_take(1).unwrap() + plans[0].paces[1].starts_take(1).unwrap();
        assert!((plans[0].seconds(Unit::Cycle, 6).unwrap() / one - 6.0).abs() < 1e-9);
    }

    #[test]
    fn both_configurations_are_timed_and_cases_of_one_round_count_once() {
        let mut a = shard(1.0, 0.0);
        let at = |n: usize| Some(crate::units::Seconds(7.0 * n as f64));
        a.cases[0].runs.iter_mut().enumerate().for_each(|(n, run)| run.started_s = at(n));
        let mut later = a.cases[0].clone();
        later.id = "later".into();
        a.cases.push(later);
        let plans = plan(&a, None);
        assert_eq!(plans[0].seconds(Unit::Run, 10), Some(140.0));
        assert_eq!((plans[0].rounds_of, plans[1].rounds_of), (None, Some(0)));
        let n = plans[0].unpaired.as_ref().unwrap().needed(0.05).unwrap();
        assert_eq!(total_seconds(&plans, Design::Unpaired, 0.05), plans[0].seconds(Unit::Run, n));
        assert_eq!(total_seconds(&plans, Design::Paired, 0.05), None);
        let slower = plan(&a, Some(&shard(2.0, 0.01)));
        assert!(slower[0].seconds(Unit::Run, 10).unwrap() > 160.0, "the second set-up takes its own time");
    }
}
