//! Which cases are measured.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use dyno_shared::format::significant;

use super::RunArgs;
use crate::exit::Failure;
use crate::workload::suite::Counts;
use crate::workload::{CasePlan, Shape, Until, suite, suite_file};

/// The cases to measure, and what was left out and why.
#[derive(Debug)]
pub(super) struct Choice {
    pub cases: Vec<CasePlan>,
    pub notes: Vec<String>,
}

/// More than anybody writes by hand.
const LARGEST_SUITE_BYTES: u64 = 1 << 20;

/// Runs that a case may have where its figure decides how many it gets.
const MOST_RUNS: u32 = 10_000;

/// The cases that were asked for.
pub(super) fn asked(args: &RunArgs) -> Result<Vec<CasePlan>, Failure> {
    let usual = if args.quick { Counts::QUICK } else { Counts::default() };
    let counts = Counts {
        runs: args.runs.unwrap_or(usual.runs),
        batches: args.runs.unwrap_or(usual.batches),
        warmups: args.warmups.unwrap_or(usual.warmups),
    };
    let own = args.suite.as_deref().map(|path| of_file(args, path)).transpose()?;
    let mut cases = match own {
        Some(own) => chosen(args, own.clone(), own)?,
        None if args.quick => chosen(args, suite::known(counts), suite::quick(counts))?,
        None => chosen(args, suite::known(counts), suite::full(counts))?,
    };
    if let Some(half_width) = args.until {
        let until = Until { half_width, budget_s: args.budget.as_secs_f64() };
        for case in &mut cases {
            (case.until, case.runs) = (Some(until), MOST_RUNS);
        }
    }
    Ok(cases)
}

/// Those of the known cases that are named, else the usual ones.
fn chosen(args: &RunArgs, known: Vec<CasePlan>, usual: Vec<CasePlan>) -> Result<Vec<CasePlan>, Failure> {
    if args.cases.is_empty() {
        return Ok(usual);
    }
    if let Some(name) = args.cases.iter().find(|name| known.iter().all(|case| case.id != **name)) {
        let names: Vec<&str> = known.iter().map(|case| case.id.as_str()).collect();
        return Err(Failure::usage(anyhow!("there is no case `{name}`; there are: {}", names.join(", "))));
    }
    Ok(known.into_iter().filter(|case| args.cases.contains(&case.id)).collect())
}

fn of_file(args: &RunArgs, path: &Path) -> Result<Vec<CasePlan>, Failure> {
    let named = || format!("the suite {}", path.display());
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST_SUITE_BYTES).read_to_string(&mut text))
        .with_context(named)
        .map_err(Failure::usage)?;
    suite_file::parse(&text, args.runs, args.warmups).with_context(named).map_err(Failure::usage)
}

/// Of some cases those that fit into the context. An unknown context is taken to be long enough: the engine will refuse
/// what it cannot take. `slots` are the requests that the engine serves at once, where it tells.
pub(super) fn fitting(
    cases: Vec<CasePlan>,
    context: Option<u64>,
    slots: Option<u32>,
) -> Result<Choice, Failure> {
    let (fits, too_long): (Vec<CasePlan>, Vec<CasePlan>) =
        cases.into_iter().partition(|case| context.is_none_or(|context| case.context_needed() <= context));
    let grouped = |tokens: u64| significant(tokens as f64, tokens.to_string().len());
    let context = grouped(context.unwrap_or(0));
    let mut notes: Vec<String> = too_long
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
    notes.extend(queueing(&fits, slots));
    Ok(Choice { cases: fits, notes })
}

/// What to say of cases that ask for more streams than the engine serves at once.
fn queueing(cases: &[CasePlan], slots: Option<u32>) -> Option<String> {
    let slots = slots.filter(|slots| *slots > 0)?;
    let too_many = |case: &&CasePlan| case.shape() != Shape::OpenLoop && case.concurrency > slots;
    let names: Vec<&str> = cases.iter().filter(too_many).map(|case| case.id.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the engine serves {slots} requests at once, so its queue is measured along in: {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::options::parse_for_tests as parse;
    use super::*;

    fn choose(args: &RunArgs, context: Option<u64>, slots: Option<u32>) -> Result<Choice, Failure> {
        fitting(asked(args)?, context, slots)
    }

    fn names(line: &str, context: Option<u64>) -> Vec<String> {
        choose(&parse(line), context, None).unwrap().cases.into_iter().map(|case| case.id).collect()
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_said() {
        let choice = choose(&parse(""), Some(8_192), None).unwrap();
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
        assert!(choose(&parse("--cases cold_prefill_8k"), Some(2_048), None).is_err());
    }

    #[test]
    fn cases_of_both_suites_can_be_chosen_and_a_wrong_one_is_answered_with_the_right_ones() {
        assert_eq!(names("--cases code_q128,code", None), ["code", "code_q128"]);
        let error = choose(&parse("--cases cod"), None, None).unwrap_err().error.to_string();
        assert!(error.contains("`cod`") && error.contains("code_q128"), "{error}");
    }

    #[test]
    fn runs_and_warm_ups_have_their_defaults_and_can_be_set() {
        let first = |line: &str| {
            let case = choose(&parse(line), None, None).unwrap().cases.remove(0);
            (case.runs, case.warmups)
        };
        assert_eq!(first(""), (16, 2));
        assert_eq!(first("--quick"), (5, 1));
        assert_eq!(first("--quick --runs 3 --warmups 0"), (3, 0));
    }

    #[test]
    fn streams_beyond_the_slots_of_the_engine_are_measured_and_said() {
        let choice = choose(&parse("--cases load4,load8,mixed8,code"), None, Some(4)).unwrap();
        assert_eq!(choice.cases.len(), 4);
        let expected =
            "the engine serves 4 requests at once, so its queue is measured along in: load8, mixed8";
        assert_eq!(choice.notes, [expected]);
    }

    #[test]
    fn until_lets_the_figure_decide_the_number_of_runs() {
        let case = asked(&parse("--cases code --until 2% --budget 90s")).unwrap().remove(0);
        assert_eq!(case.until, Some(Until { half_width: 0.02, budget_s: 90.0 }));
        assert_eq!(case.warmups, 2);
        assert_eq!(asked(&parse("--cases code")).unwrap()[0].until, None);
    }

    #[test]
    fn a_suite_of_ones_own_is_read_and_its_mistakes_are_told_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.toml");
        std::fs::write(&path, "[[case]]\nid = 'a'\nregime = 'load'\n[[case]]\nid = 'b'\nregime = 'load'")
            .unwrap();
        let line = format!("--suite {}", path.display());
        let ids = |line: &str| -> Vec<String> {
            asked(&parse(line)).unwrap().into_iter().map(|case| case.id).collect()
        };
        assert_eq!(ids(&line), ["a", "b"]);
        assert_eq!(ids(&format!("{line} --cases b")), ["b"]);
        let said = |line: &str| format!("{:#}", asked(&parse(line)).unwrap_err().error);
        assert!(said(&format!("{line} --cases code")).contains("there are: a, b"));
        std::fs::write(&path, "[[case]]\nname = 'a'").unwrap();
        let said = said(&line);
        assert!(said.contains("mine.toml") && said.contains("line 2, column 1"), "{said}");
    }
}
