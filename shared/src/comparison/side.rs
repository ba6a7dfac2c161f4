//! What is compared: submissions, or boots of one configuration that are taken together.

use super::comparable::pairing;
use crate::metric::{Metric, Sample};
use crate::statistics;
use crate::submission::{Case, Evidence, Run, Submission};
use crate::system::{Configuration, Setting};

/// Submissions that count as one configuration: each of them is a boot, a start of its server.
#[derive(Debug, Clone, Default)]
pub struct Side<'a> {
    /// The boots, in the order in which they were given.
    pub boots: Vec<&'a Submission>,
}

impl<'a> Side<'a> {
    /// One submission alone.
    pub fn of(submission: &'a Submission) -> Self {
        Self { boots: vec![submission] }
    }

    /// The label of its first submission.
    pub fn label(&self) -> &'a str {
        self.boots.first().map_or("", |boot| boot.label.as_str())
    }

    /// Whether both ran the same engine, model, hardware and configuration, as far as the files tell. What does not
    /// tell its configuration has none that could be the same.
    pub fn has_the_configuration_of(&self, other: &Self) -> bool {
        match (self.boots.first(), other.boots.first()) {
            (Some(a), Some(b)) => tells_its_configuration(a) && is_same_configuration(a, b),
            _ => false,
        }
    }

    /// The case of every boot that has it.
    pub(super) fn case(&self, id: &str) -> Option<CaseOf<'a>> {
        let of_boot = |(boot, shard): (usize, &&'a Submission)| {
            let case = shard.cases.iter().find(|case| case.id == id)?;
            Some(BootCase { boot, shard, case })
        };
        let boots: Vec<BootCase<'a>> = self.boots.iter().enumerate().filter_map(of_boot).collect();
        (!boots.is_empty()).then_some(CaseOf { boots })
    }
}

/// Takes submissions of one configuration together, in the order in which they come.
pub fn pool<'a>(submissions: &[&'a Submission]) -> Vec<Side<'a>> {
    let mut sides: Vec<Side<'a>> = Vec::new();
    for submission in submissions {
        match sides.iter_mut().find(|side| is_same_configuration(side.boots[0], submission)) {
            Some(side) => side.boots.push(submission),
            None => sides.push(Side::of(submission)),
        }
    }
    sides
}

fn tells_its_configuration(shard: &Submission) -> bool {
    !(shard.configuration.requested.is_empty() && shard.configuration.effective.is_empty())
}

fn is_same_configuration(a: &Submission, b: &Submission) -> bool {
    a.system == b.system
        && a.provenance.evidence == Evidence::Raw
        && b.provenance.evidence == Evidence::Raw
        && a.configuration.requested == b.configuration.requested
        && settled(&a.configuration).eq(settled(&b.configuration))
}

/// The settings in effect, without what an engine works out at its start from the memory that is free.
fn settled(configuration: &Configuration) -> impl Iterator<Item = (&String, &Setting)> {
    let of_the_start = |name: &str| name.starts_with("kv_capacity_");
    configuration
        .effective
        .iter()
        .filter(move |(name, _)| !of_the_start(name))
        .map(|(name, of)| (name, &of.value))
}

/// One boot's part of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct BootCase<'a> {
    pub boot: usize,
    pub shard: &'a Submission,
    pub case: &'a Case,
}

/// A case of a side.
#[derive(Debug, Clone)]
pub(super) struct CaseOf<'a> {
    pub boots: Vec<BootCase<'a>>,
}

/// What pairs: the cycle, or 0 where the cycle does not count, and the number of a run.
pub(super) type Key = (u32, u32);

/// A run's figure of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub boot: usize,
    pub key: Key,
    /// The natural logarithm of the figure, which is positive.
    pub log: f64,
}

impl<'a> CaseOf<'a> {
    /// The case of the first boot.
    pub fn case(&self) -> &'a Case {
        self.boots[0].case
    }

    /// Whether there are runs, and not only what a source states.
    pub fn has_runs(&self) -> bool {
        self.boots.iter().any(|boot| !boot.case.runs.is_empty())
    }

    /// Passing runs of all boots.
    pub fn passing(&self) -> Vec<&'a Run> {
        self.boots.iter().flat_map(|boot| &boot.case.runs).filter(|run| run.passed()).collect()
    }

    /// Whether this is one boot's file whose runs belong to cycles.
    pub fn has_cycles(&self) -> bool {
        let of = &self.boots[0].case.runs;
        self.boots.len() == 1 && !of.is_empty() && of.iter().all(|run| run.cycle.is_some())
    }

    /// The figures of the runs that pair, in the order of their keys, then of the boots.
    pub fn figures(&self, metric: &Metric, by_cycle: bool) -> Vec<Figure> {
        let mut figures = Vec::new();
        for &BootCase { boot, case, .. } in &self.boots {
            for run in pairing(case) {
                let figure = (metric.sample)(run).and_then(Sample::figure);
                let Some(log) = figure.and_then(statistics::ln) else { continue };
                let cycle = if by_cycle { run.cycle.unwrap_or(0) } else { 0 };
                figures.push(Figure { boot, key: (cycle, run.number), log });
            }
        }
        let place = |i: usize| (figures[i].key, figures[i].boot);
        let ascending = statistics::order(figures.len(), &|a, b| place(a).cmp(&place(b)));
        let mut figures: Vec<Figure> = ascending.into_iter().map(|i| figures[i]).collect();
        // A number that stands twice in a file is not two measurements of it.
        figures.dedup_by_key(|figure| (figure.key, figure.boot));
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Sourced;
    use crate::testing::{run, shard_of, single_stream_case};

    fn configured(label: &str, threads: f64) -> Submission {
        let mut shard = shard_of(vec![single_stream_case("code", &[(501, 5.0), (501, 5.1)])]);
        shard.label = label.into();
        shard.configuration.requested.insert("threads".into(), Setting::Number(threads));
        shard
    }

    fn with_capacity(mut shard: Submission, tokens: f64) -> Submission {
        let of = Sourced { value: Setting::Number(tokens), source: "log".into() };
        shard.configuration.effective.insert("kv_capacity_tokens".into(), of);
        shard
    }

    #[test]
    fn boots_of_one_configuration_are_taken_together_whatever_they_are_called() {
        let [a, b, c] = [configured("first", 1.0), configured("b", 2.0), configured("again", 1.0)];
        let sides = pool(&[&a, &b, &c]);
        let labels: Vec<Vec<&str>> =
            sides.iter().map(|side| side.boots.iter().map(|boot| boot.label.as_str()).collect()).collect();
        assert_eq!(labels, [vec!["first", "again"], vec!["b"]]);
        assert_eq!(sides[0].label(), "first");
    }

    #[test]
    fn what_a_start_works_out_by_itself_is_no_other_configuration() {
        let [a, b] = [1000.0, 1016.0].map(|tokens| with_capacity(configured("a", 1.0), tokens));
        assert_eq!(pool(&[&a, &b]).len(), 1);
        assert!(Side::of(&a).has_the_configuration_of(&Side::of(&b)));
    }

    #[test]
    fn files_that_do_not_tell_their_configuration_are_not_said_to_have_the_same() {
        let a = shard_of(Vec::new());
        assert!(!Side::of(&a).has_the_configuration_of(&Side::of(&a)));
    }

    #[test]
    fn a_number_that_stands_twice_counts_once() {
        let mut shard = configured("a", 1.0);
        shard.cases[0].runs.push(run(2, 501, 50.0));
        let side = Side::of(&shard);
        let metric = crate::metric::find("client_wall_decode_tok_s").unwrap();
        assert_eq!(side.case("code").unwrap().figures(metric, false).len(), 2);
    }
}
