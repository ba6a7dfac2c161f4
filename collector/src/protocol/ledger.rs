//! What has been measured so far: the same whether it was measured just now or read from the journal.

use dyno_shared::submission::{Reproducibility, Run};
use serde::{Deserialize, Serialize};

use crate::workload::CasePlan;

/// One thing that was measured. The journal is a list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "entry")]
pub enum Entry {
    /// An unrecorded repetition.
    Warmup {
        /// Its case.
        case: String,
        /// What was observed.
        run: Run,
    },
    /// A recorded one.
    Run {
        /// Its case.
        case: String,
        /// What was observed.
        run: Run,
    },
    /// Whether the repeated answers agree.
    Reproducibility {
        /// Its case.
        case: String,
        /// What was found.
        found: Reproducibility,
    },
}

/// What there is of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseLedger {
    /// What was planned.
    pub plan: CasePlan,
    /// The unrecorded repetitions.
    pub warmups: Vec<Run>,
    /// The recorded ones.
    pub runs: Vec<Run>,
    /// Whether the repeated answers agree.
    pub reproducibility: Option<Reproducibility>,
    /// Why there are fewer runs than planned. Not in the journal: whoever resumes tries again.
    pub ended_early: Option<String>,
}

impl CaseLedger {
    /// Whether all its runs are there.
    pub fn is_complete(&self) -> bool {
        self.runs.len() as u64 >= u64::from(self.plan.runs)
    }

    /// Numbers of the runs that are still to do.
    pub fn missing(&self) -> impl Iterator<Item = u32> + use<> {
        self.runs.len() as u32 + 1..=self.plan.runs
    }

    /// Whether anything of it was tried.
    pub fn is_begun(&self) -> bool {
        !self.runs.is_empty() || !self.warmups.is_empty() || self.ended_early.is_some()
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
        let empty = |plan: &CasePlan| CaseLedger {
            plan: plan.clone(),
            warmups: Vec::new(),
            runs: Vec::new(),
            reproducibility: None,
            ended_early: None,
        };
        Self { cases: plan.iter().map(empty).collect() }
    }

    /// What a journal's entries say. Warm-ups of a case without a recorded run are forgotten: it begins anew.
    pub fn replay(plan: &[CasePlan], entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut ledger = Self::new(plan);
        for entry in entries {
            ledger.enter(entry);
        }
        for case in ledger.cases.iter_mut().filter(|case| case.runs.is_empty()) {
            case.warmups.clear();
            case.reproducibility = None;
        }
        ledger
    }

    /// Adds an entry. One of a case that is not planned, or a run that is there already, changes nothing.
    pub fn enter(&mut self, entry: Entry) {
        let (Entry::Warmup { case, .. } | Entry::Run { case, .. } | Entry::Reproducibility { case, .. }) =
            &entry;
        let Some(of) = self.cases.iter_mut().find(|of| of.plan.id == *case) else { return };
        match entry {
            Entry::Warmup { run, .. } => of.warmups.push(run),
            Entry::Run { run, .. } => {
                if of.runs.iter().all(|known| known.number != run.number) {
                    of.runs.push(run);
                }
            }
            Entry::Reproducibility { found, .. } => of.reproducibility = Some(found),
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

    /// Recorded runs that did not pass.
    pub fn failed(&self) -> usize {
        self.cases.iter().flat_map(|case| &case.runs).filter(|run| !run.passed()).count()
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
        Entry::Run { case: case.into(), run: run(number) }
    }

    fn warmup(case: &str) -> Entry {
        Entry::Warmup { case: case.into(), run: run(1) }
    }

    #[test]
    fn only_what_is_missing_is_left_to_do() {
        let plan = suite::quick(suite::Counts { runs: 3, ..suite::Counts::QUICK });
        let entries =
            [warmup("code_q128"), entry("code_q128", 1), entry("code_q128", 2), warmup("counting_q50")];
        let ledger = Ledger::replay(&plan, entries);
        assert_eq!(ledger.cases[0].missing().collect::<Vec<_>>(), [3]);
        assert_eq!(ledger.cases[0].warmups.len(), 1);
        assert_eq!(ledger.cases[1].missing().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(ledger.cases[1].warmups.is_empty(), "a case without runs is warmed anew");
        assert!(!ledger.is_complete());
        assert_eq!(ledger.recorded(), 2);
    }

    #[test]
    fn a_run_is_entered_once_and_a_foreign_case_not_at_all() {
        let plan = suite::quick(suite::Counts { runs: 1, batches: 1, warmups: 0 });
        let entries = plan.iter().flat_map(|c| [entry(&c.id, 1), entry(&c.id, 1)]).chain([entry("other", 1)]);
        let ledger = Ledger::replay(&plan, entries);
        assert!(ledger.is_complete());
        assert_eq!(ledger.recorded(), plan.len());
    }
}
