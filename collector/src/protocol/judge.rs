//! Whether a run's answers are worth anything: the checks of all its requests, and its flags.

use std::fmt;

use dyno_shared::submission::{Check, Run, flag};

use super::Plan;
use super::proof::{Proof, cache_flag};
use crate::stream::Observed;
use crate::workload::Expected;
use crate::workload::check::{Answer, Demands, run_all};

/// How much of the answer of a failed request is kept.
const KEPT_BYTES: usize = 2_048;

/// Failures of one check that are told with their place.
const PLACES_TOLD: usize = 3;

/// Which of a run's requests, where there are several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The stream, from 0.
    pub(super) stream: Option<u32>,
    /// The turn of a session, from 1.
    pub(super) turn: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.stream, self.turn) {
            (Some(stream), Some(turn)) => write!(f, "session {stream}, turn {turn}: "),
            (Some(stream), None) => write!(f, "stream {stream}: "),
            (None, Some(turn)) => write!(f, "turn {turn}: "),
            (None, None) => Ok(()),
        }
    }
}

/// One request's answer, and what it must be.
#[derive(Debug)]
pub(super) struct Answered {
    /// What the answer must look like.
    pub(super) expected: Expected,
    /// Tokens that must come because the end of sequence is ignored.
    pub(super) tokens: Option<u64>,
    /// Which request it is.
    pub(super) place: Place,
    /// What was observed.
    pub(super) observed: Observed,
}

/// Gives the run its requests and, where `proof` says that it is a recorded one, its checks and flags. The text of a
/// request whose check failed is kept; one that failed itself has no answer to check.
pub(super) fn judge(plan: &Plan, run: &mut Run, answers: Vec<Answered>, proof: Option<Proof>) {
    let mut verdicts: Vec<(Place, Check)> = Vec::new();
    let mut missed = false;
    for answered in answers {
        let Answered { expected, tokens, place, observed } = answered;
        let Observed { mut record, text, reasoning } = observed;
        if proof.is_some() {
            let mut failed = false;
            if record.error.is_none() {
                missed |= matches!(&expected, Expected::Code(code) if !text.contains(code.as_str()));
                let demands = Demands { expected, unexpected_script: plan.unexpected_script, tokens };
                let answer = Answer { text: &text, reasoning: &reasoning, record: &record };
                let checks = run_all(answer, &demands);
                failed = checks.iter().any(|check| !check.passed);
                verdicts.extend(checks.into_iter().map(|check| (place, check)));
            }
            let kept = match (plan.keep_output, failed) {
                (true, _) => Some(format!("{reasoning}{text}")),
                (false, true) => Some(beginning(&format!("{reasoning}{text}"), KEPT_BYTES)),
                (false, false) => None,
            };
            record.output_text = kept.filter(|text| !text.is_empty());
        }
        run.requests.push(record);
    }
    run.checks.extend(together(verdicts));
    if missed {
        run.flags.push(flag::NEEDLE_MISSED.to_owned());
    }
    if let Some(proof) = proof
        && run.requests.iter().all(|request| request.error.is_none())
    {
        run.flags.extend(cache_flag(proof, run).map(str::to_owned));
    }
}

/// One check of each name, in the order in which the names came: passed where all passed, with the places where it
/// did not.
fn together(verdicts: Vec<(Place, Check)>) -> Vec<Check> {
    let mut all: Vec<(Check, usize)> = Vec::new();
    for (place, check) in verdicts {
        let at = all.iter().position(|(known, _)| known.name == check.name).unwrap_or_else(|| {
            all.push((Check { name: check.name.clone(), passed: true, detail: None }, 0));
            all.len() - 1
        });
        let Some((known, failures)) = all.get_mut(at).filter(|_| !check.passed) else { continue };
        known.passed = false;
        *failures += 1;
        let told = format!("{place}{}", check.detail.unwrap_or_else(|| "failed".to_owned()));
        known.detail = match known.detail.take() {
            None => Some(told),
            Some(before) if *failures <= PLACES_TOLD => Some(format!("{before}; {told}")),
            before => before,
        };
    }
    let with_rest = |(mut check, failures): (Check, usize)| {
        if let Some(detail) = check.detail.as_mut().filter(|_| failures > PLACES_TOLD) {
            *detail = format!("{detail}; and {} more", failures - PLACES_TOLD);
        }
        check
    };
    all.into_iter().map(with_rest).collect()
}

/// The first `most` bytes, cut between two characters.
fn beginning(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(stream: u32, name: &str, detail: Option<&str>) -> (Place, Check) {
        let place = Place { stream: Some(stream), turn: None };
        let check = Check { name: name.into(), passed: detail.is_none(), detail: detail.map(str::to_owned) };
        (place, check)
    }

    #[test]
    fn a_kept_text_is_cut_between_two_characters() {
        assert_eq!(beginning("naïve", 3), "na");
        assert_eq!(beginning("naïve", 4), "naï");
        assert_eq!(beginning("naïve", 400), "naïve");
    }

    #[test]
    fn a_batch_has_one_check_of_each_name_and_a_failed_one_names_its_streams() {
        let checks = together(vec![
            verdict(0, "not_empty", None),
            verdict(0, "counting", Some("line 3 is `4`")),
            verdict(1, "not_empty", None),
            verdict(1, "counting", None),
            verdict(2, "not_empty", None),
            verdict(2, "counting", Some("line 9 is `x`")),
        ]);
        assert_eq!(checks.len(), 2);
        assert!(checks[0].passed && checks[0].detail.is_none());
        assert_eq!(checks[1].detail.as_deref(), Some("stream 0: line 3 is `4`; stream 2: line 9 is `x`"));
    }

    #[test]
    fn a_thousand_failures_are_told_in_a_line() {
        let all = (0..1_000).map(|stream| verdict(stream, "enough_tokens", Some("few"))).collect();
        let checks = together(all);
        let detail = checks[0].detail.as_deref();
        assert_eq!(detail, Some("stream 0: few; stream 1: few; stream 2: few; and 997 more"));
    }

    #[test]
    fn a_place_is_named_only_where_there_are_several() {
        assert_eq!(Place::default().to_string(), "");
        assert_eq!(Place { stream: Some(2), turn: Some(3) }.to_string(), "session 2, turn 3: ");
    }
}
