//! What was measured of a case, as a shard holds it.

use dyno_shared::submission::Case;
use dyno_shared::workload::Sampling;

use super::ledger::{CaseLedger, Part};
use super::until;

impl CaseLedger {
    /// The case; of sessions two: their first turns and the later ones.
    pub fn cases(&self, sampling: &Sampling) -> Vec<Case> {
        self.parts().into_iter().map(|part| self.case(part, sampling.clone())).collect()
    }

    fn case(&self, part: Part<'_>, sampling: Sampling) -> Case {
        let plan = &self.plan;
        Case {
            id: format!("{}{}", plan.id, part.suffix),
            regime: plan.regime,
            workload: plan.workload.name().to_owned(),
            concurrency: plan.concurrency,
            prompt_tokens_target: plan.prompt_tokens,
            output_tokens_target: Some(plan.max_tokens),
            depth_tokens: plan.depth_tokens,
            arrival: plan.arrival,
            turns: plan.turns,
            sampling,
            description: None,
            warmups: part.warmups.to_vec(),
            runs: part.runs.to_vec(),
            stated: Vec::new(),
            reproducibility: self.reproducibility.clone(),
            ended_early: self.ended_early.clone().or_else(|| until::shortfall(self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Ledger;
    use crate::workload::suite;

    #[test]
    fn a_session_becomes_two_cases_and_every_other_case_one() {
        let ledger = Ledger::new(&suite::full(suite::Counts::default()));
        let ids: Vec<String> = ledger
            .cases
            .iter()
            .flat_map(|case| case.cases(&Sampling::default()))
            .map(|case| case.id)
            .collect();
        assert_eq!(ids.len(), ledger.cases.len() + 1);
        assert_eq!(ids[ids.len() - 2..], ["session4_admission", "session4_continuation"]);
    }
}
