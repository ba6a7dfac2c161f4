//! Which cases are measured.

use anyhow::anyhow;
use dyno_shared::format::significant;

use super::RunArgs;
use crate::exit::Failure;
use crate::workload::suite::Counts;
use crate::workload::{CasePlan, suite};

/// The cases to measure, and what was left out and why.
#[derive(Debug)]
pub(super) struct Choice {
    pub cases: Vec<CasePlan>,
    pub notes: Vec<String>,
}

/// The cases that were asked for.
pub(super) fn asked(args: &RunArgs) -> Result<Vec<CasePlan>, Failure> {
    let usual = if args.quick { Counts::QUICK } else { Counts::default() };
    let counts = Counts {
        runs: args.runs.unwrap_or(usual.runs),
        batches: args.runs.unwrap_or(usual.batches),
        warmups: args.warmups.unwrap_or(usual.warmups),
    };
    if args.cases.is_empty() {
        return Ok(if args.quick { suite::quick(counts) } else { suite::full(counts) });
    }
    let known: Vec<CasePlan> = [suite::full(counts), suite::quick(counts), suite::extra(counts)].concat();
    for name in &args.cases {
        if !known.iter().any(|case| case.id == *name) {
            let names: Vec<&str> = known.iter().map(|case| case.id.as_str()).collect();
            return Err(Failure::usage(anyhow!(
                "there is no case `{name}`; there are: {}",
                names.join(", ")
            )));
        }
    }
    Ok(known.into_iter().filter(|case| args.cases.contains(&case.id)).collect())
}

/// Of the cases that were asked for, those that fit into the context. An unknown context is taken to be long enough:
/// the engine will refuse what it cannot take.
pub(super) fn choose(args: &RunArgs, context: Option<u64>) -> Result<Choice, Failure> {
    let (fits, too_long): (Vec<CasePlan>, Vec<CasePlan>) = asked(args)?
        .into_iter()
        .partition(|case| context.is_none_or(|context| case.context_needed() <= context));
    let grouped = |tokens: u64| significant(tokens as f64, tokens.to_string().len());
    let context = grouped(context.unwrap_or(0));
    let notes: Vec<String> = too_long
        .iter()
        .map(|case| {
            format!(
                "left out: {} needs a context of {} tokens, the engine has {context}",
                case.id,
                grouped(case.context_needed())
            )
        })
        .collect();
    if fits.is_empty() {
        return Err(Failure::usage(anyhow!(
            "no case fits into the engine's context of {context} tokens: start the engine with a longer one, or \
             choose others with --cases"
        )));
    }
    Ok(Choice { cases: fits, notes })
}

#[cfg(test)]
mod tests {
    use super::super::options::parse_for_tests as parse;
    use super::*;

    fn names(line: &str, context: Option<u64>) -> Vec<String> {
        choose(&parse(line), context).unwrap().cases.into_iter().map(|case| case.id).collect()
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_said() {
        let choice = choose(&parse(""), Some(8_192)).unwrap();
        assert_eq!(choice.cases.len(), 16);
        assert_eq!(
            choice.notes,
            [
                "left out: cold_prefill_32k needs a context of 32,368 tokens, the engine has 8,192",
                "left out: cached_prefix_32k needs a context of 32,368 tokens, the engine has 8,192",
                "left out: decode_at_depth_8k needs a context of 8,528 tokens, the engine has 8,192",
                "left out: decode_at_depth_32k needs a context of 32,768 tokens, the engine has 8,192",
            ]
        );
        assert_eq!(names("", None).len(), 20, "an unknown context leaves nothing out");
        assert!(choose(&parse("--cases cold_prefill_8k"), Some(2_048)).is_err());
    }

    #[test]
    fn cases_of_both_suites_can_be_chosen_and_a_wrong_one_is_answered_with_the_right_ones() {
        assert_eq!(names("--cases code_q128,code", None), ["code", "code_q128"]);
        let error = choose(&parse("--cases cod"), None).unwrap_err().error.to_string();
        assert!(error.contains("`cod`") && error.contains("code_q128"), "{error}");
    }

    #[test]
    fn runs_and_warm_ups_have_their_defaults_and_can_be_set() {
        let first = |line: &str| {
            let case = choose(&parse(line), None).unwrap().cases.remove(0);
            (case.runs, case.warmups)
        };
        assert_eq!(first(""), (16, 2));
        assert_eq!(first("--quick"), (5, 1));
        assert_eq!(first("--quick --runs 3 --warmups 0"), (3, 0));
    }
}
