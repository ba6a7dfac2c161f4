//! What has been measured so far: the same whether it was measured just now or read from the journal.

use std::collections::BTreeSet;

use dyno_shared::submission::{Reproducibility, Run};

use super::entry::Entry;
use super::proof::Proof;
use super::until::{self, Standing};
use crate::workload::{CasePlan, Shape, Take};

/// Repetitions of a case or of a part of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaterTurns {
    /// The unrecorded repetitions.
    pub warmups: Vec<Run>,
    /// The recorded ones.
    pub runs: Vec<Run>,
}

/// What there is of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseLedger {
    /// What was planned.
    pub plan: CasePlan,
    /// The unrecorded repetitions; of sessions their first turns.
    pub warmups: Vec<Run>,
    /// The recorded ones; of sessions their first turns.
    pub runs: Vec<Run>,
    /// The later turns of sessions: a run for each of the others.
    pub later_turns: LaterTurns,
    /// Whether the repeated answers agree.
    pub reproducibility: Option<Reproducibility>,
    /// The run that was begun and did not end: an engine that still lives may have seen its bytes.
    pub in_flight: Option<InFlight>,
    /// Why there are fewer runs than planned. Not in the journal: whoever resumes tries again.
    pub ended_early: Option<String>,
}

/// A run that was begun and did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Its number.
    pub number: u32,
    /// How often it was begun.
    pub attempts: u32,
}

/// A part of a case that is reported by itself.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// What its name adds to that of the case.
    pub suffix: &'static str,
    /// The unrecorded repetitions.
    pub warmups: &'a [Run],
    /// The recorded ones.
    pub runs: &'a [Run],
}

impl CaseLedger {
    /// Nothing yet.
    pub fn new(plan: CasePlan) -> Self {
        Self {
            plan,
            warmups: Vec::new(),
            runs: Vec::new(),
            later_turns: LaterTurns::default(),
            reproducibility: None,
            in_flight: None,
            ended_early: None,
        }
    }

    /// What is reported apart: the first and the later turns of sessions, else the case as it is.
    pub fn parts(&self) -> Vec<Part<'_>> {
        let whole = Part { suffix: "", warmups: &self.warmups, runs: &self.runs };
        if self.plan.shape() != Shape::Session {
            return vec![whole];
        }
        let LaterTurns { warmups, runs } = &self.later_turns;
        vec![Part { suffix: "_admission", ..whole }, Part { suffix: "_continuation", warmups, runs }]
    }

    /// Whether all its runs are there.
    pub fn is_complete(&self) -> bool {
        self.next_run().is_none()
    }

    /// Numbers of the runs that are still to do, at most.
    pub fn missing(&self) -> impl Iterator<Item = u32> + use<> {
        self.missing_after(self.plan.runs_before)
    }

    /// The same where so many runs were to be made before.
    pub fn missing_after(&self, before: u32) -> impl Iterator<Item = u32> + use<> {
        let done: BTreeSet<u32> = self.runs.iter().map(|run| run.number).collect();
        (before + 1..=before.saturating_add(self.plan.runs)).filter(move |number| !done.contains(number))
    }

    /// The next recorded run, unless all are there or the figure is known well enough.
    pub fn next_run(&self) -> Option<Take> {
        let number = self.missing().next()?;
        if self.plan.until.is_some_and(|until| until::standing(self, until) != Standing::GoOn) {
            return None;
        }
        // Bytes that an engine has seen would not be cold again.
        let cold = Proof::of(self.plan.regime) == Proof::Cold;
        let again = self.in_flight.filter(|run| run.number == number && cold);
        Some(again.map_or(Take::Run(number), |run| Take::Again { number, attempts: run.attempts }))
    }

    /// What is sent before the next recorded run: all warm-ups where none of its runs is there, else the few that an
    /// interruption makes necessary.
    pub fn warmup_takes(&self) -> Vec<Take> {
        if self.is_complete() {
            return Vec::new();
        }
        if self.runs.iter().all(|run| run.number <= self.plan.runs_before) {
            self.plan.warmup_takes()
        } else {
            self.plan.rewarm_takes(self.warmups.len() as u32)
        }
    }

    /// Whether anything of it was tried.
    pub fn is_begun(&self) -> bool {
        !self.runs.is_empty() || !self.warmups.is_empty() || self.ended_early.is_some()
    }

    fn enter(&mut self, entry: Entry) {
        match entry {
            Entry::Warmup { run, continuation, .. } => {
                self.warmups.push(run);
                self.later_turns.warmups.extend(continuation);
            }
            Entry::Begun { number, .. } => {
                let before = self.in_flight.filter(|run| run.number == number);
                self.in_flight =
                    Some(InFlight { number, attempts: before.map_or(0, |run| run.attempts) + 1 });
            }
            Entry::Unsent { number, .. } => {
                let sent = self.in_flight.filter(|run| run.number == number && run.attempts > 1);
                self.in_flight = sent.map(|run| InFlight { attempts: run.attempts - 1, ..run });
            }
            Entry::Run { run, continuation, .. } => {
                self.in_flight = None;
                if self.runs.iter().all(|known| known.number != run.number) {
                    self.runs.push(run);
                    self.later_turns.runs.extend(continuation);
                }
            }
            Entry::Reproducibility { found, .. } => self.reproducibility = Some(found),
        }
    }
}

/// What there is of all cases, in the order of the plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    /// The cases.
    pub cases: Vec<CaseLedger>,
}

impl Ledger {
    /// Nothing yet.
    pub fn new(plan: &[CasePlan]) -> Self {
        Self { cases: plan.iter().cloned().map(CaseLedger::new).collect() }
    }

    /// What a journal's entries say. Warm-ups of a case without a recorded run are forgotten: it begins anew.
    pub fn replay(plan: &[CasePlan], entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut ledger = Self::new(plan);
        for entry in entries {
            ledger.enter(entry);
        }
        for case in ledger.cases.iter_mut().filter(|case| case.runs.is_empty()) {
            case.warmups.clear();
            case.later_turns.warmups.clear();
            case.reproducibility = None;
        }
        ledger
    }

    /// Adds an entry. One of a case that is not planned, or a run that is there already, changes nothing.
    pub fn enter(&mut self, entry: Entry) {
        if let Some(of) = self.cases.iter_mut().find(|of| of.plan.id == entry.case()) {
            of.enter(entry);
        }
    }

    /// Whether every run of every case is there.
    pub fn is_complete(&self) -> bool {
        self.cases.iter().all(CaseLedger::is_complete)
    }

    /// Recorded runs in all.
    pub fn recorded(&self) -> usize {
        self.cases.iter().map(|case| case.runs.len()).sum()
    }

    /// Recorded runs that did not pass; of sessions those whose first or later turns did not.
    pub fn failed(&self) -> usize {
        let failed = |case: &CaseLedger| -> BTreeSet<u32> {
            let runs = case.runs.iter().chain(&case.later_turns.runs);
            runs.filter(|run| !run.passed()).map(|run| run.number).collect()
        };
        self.cases.iter().map(|case| failed(case).len()).sum()
    }

    /// How far it is, in words: `7 of 20 runs`; without the whole where nobody knows it beforehand.
    pub fn so_far(&self) -> String {
        let recorded = self.recorded();
        self.planned()
            .map_or_else(|| format!("{recorded} runs"), |planned| format!("{recorded} of {planned} runs"))
    }

    /// Recorded runs that there will be; `None` where the figures decide it.
    pub fn planned(&self) -> Option<u64> {
        let runs = |case: &CaseLedger| case.plan.until.is_none().then(|| u64::from(case.plan.runs));
        self.cases.iter().map(runs).sum()
    }

    /// What readers must know of cases that ended by a rule and not by a number.
    pub fn remarks(&self) -> Vec<String> {
        self.cases.iter().filter_map(until::remark).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::suite;

    fn run(number: u32) -> Run {
        Run { number, ..Run::default() }
    }

    fn entry(case: &str, number: u32) -> Entry {
        Entry::Run { case: case.into(), run: run(number), continuation: None }
    }

    fn begun(case: &str, number: u32) -> Entry {
        Entry::Begun { case: case.into(), number }
    }

    fn warmup(case: &str) -> Entry {
        Entry::Warmup { case: case.into(), run: run(1), continuation: None }
    }

    fn three_runs() -> Vec<CasePlan> {
        suite::quick(suite::Counts { runs: 3, ..suite::Counts::QUICK })
    }

    #[test]
    fn only_what_is_missing_is_left_to_do() {
        let plan = three_runs();
        let entries =
            [warmup("code_q128"), entry("code_q128", 1), entry("code_q128", 2), warmup("counting_q50")];
        let ledger = Ledger::replay(&plan, entries);
        assert_eq!(ledger.cases[0].missing().collect::<Vec<_>>(), [3]);
        assert_eq!(ledger.cases[0].warmups.len(), 1);
        assert_eq!(ledger.cases[1].missing().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(ledger.cases[1].warmups.is_empty(), "a case without runs is warmed anew");
        assert!(!ledger.is_complete());
        assert_eq!((ledger.recorded(), ledger.so_far().as_str()), (2, "2 of 12 runs"));
    }

    #[test]
    fn a_later_cycle_lacks_its_own_runs_whatever_became_of_the_earlier_ones() {
        let mut ledger = Ledger::replay(&three_runs(), [1, 2, 5].map(|number| entry("code_q128", number)));
        let case = &mut ledger.cases[0];
        assert_eq!(case.missing().collect::<Vec<_>>(), [3]);
        case.plan.runs_before = 3;
        assert_eq!(case.missing().collect::<Vec<_>>(), [4, 6]);
        assert!(!case.is_complete());
        case.plan.runs_before = 6;
        assert_eq!(case.warmup_takes(), case.plan.warmup_takes(), "a fresh server is warmed like the first");
    }

    #[test]
    fn a_run_is_entered_once_and_a_foreign_case_not_at_all() {
        let plan = suite::quick(suite::Counts { runs: 1, batches: 1, warmups: 0 });
        let entries = plan.iter().flat_map(|c| [entry(&c.id, 1), entry(&c.id, 1)]).chain([entry("other", 1)]);
        let ledger = Ledger::replay(&plan, entries);
        assert!(ledger.is_complete());
        assert_eq!(ledger.recorded(), plan.len());
    }

    #[test]
    fn a_cold_run_that_was_in_flight_is_made_again_with_bytes_of_its_own_and_others_with_the_same() {
        let plan = three_runs();
        for (id, again) in [("cold_prefill_q1k", true), ("cached_prefix_q1k", false), ("code_q128", false)] {
            let ledger = Ledger::replay(&plan, [begun(id, 1), entry(id, 1), begun(id, 2)]);
            let case = ledger.cases.iter().find(|case| case.plan.id == id).unwrap();
            let expected = if again { Take::Again { number: 2, attempts: 1 } } else { Take::Run(2) };
            assert_eq!(case.next_run(), Some(expected), "{id}");
            let twice = Ledger::replay(&plan, [entry(id, 1), begun(id, 2), begun(id, 2)]);
            let case = twice.cases.iter().find(|case| case.plan.id == id).unwrap();
            let expected = if again { Take::Again { number: 2, attempts: 2 } } else { Take::Run(2) };
            assert_eq!(case.next_run(), Some(expected), "{id}: no attempt sends what another one sent");
            let unsent = Entry::Unsent { case: id.into(), number: 2 };
            for (entries, why) in [
                (vec![begun(id, 1), entry(id, 1)], "it ended"),
                (vec![entry(id, 1), begun(id, 2), unsent], "no connection could be opened"),
            ] {
                let ledger = Ledger::replay(&plan, entries);
                let case = ledger.cases.iter().find(|case| case.plan.id == id).unwrap();
                assert_eq!(case.next_run(), Some(Take::Run(2)), "{id}: nothing was in flight: {why}");
            }
        }
    }

    #[test]
    fn a_session_has_two_parts_and_one_number_of_runs() {
        let plan: Vec<CasePlan> =
            suite::full(suite::Counts::default()).into_iter().filter(|case| case.id == "session4").collect();
        let both = |number| Entry::Run {
            case: "session4".into(),
            run: run(number),
            continuation: Some(run(number)),
        };
        let ledger = Ledger::replay(&plan, [both(1), both(1), both(2)]);
        let parts = ledger.cases[0].parts();
        assert_eq!(parts.iter().map(|part| part.suffix).collect::<Vec<_>>(), ["_admission", "_continuation"]);
        assert!(parts.iter().all(|part| part.runs.len() == 2));
        assert_eq!((ledger.recorded(), ledger.failed()), (2, 2), "a run without a request has failed");
    }
}
