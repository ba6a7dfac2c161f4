//! Whether a case of two submissions can be compared run by run, and if not, why.

use crate::statistics;
use crate::submission::{Case, Run, Submission, flag};

/// What beside the system differs between two submissions' sides of a case, in words; empty where runs of one number
/// were asked the same.
pub fn reasons(a: &Submission, of_a: &Case, b: &Submission, of_b: &Case) -> Vec<String> {
    let series = (&a.provenance.series, &b.provenance.series);
    [
        (series.0.is_none() || series.1.is_none(), "no series is told, so runs cannot be known to pair"),
        (series.0 != series.1 && series.0.is_some() && series.1.is_some(), "the series differs"),
        (of_a.workload != of_b.workload || of_a.regime != of_b.regime, "the workload differs"),
        (of_a.concurrency != of_b.concurrency || of_a.arrival != of_b.arrival, "the load differs"),
        (of_a.turns != of_b.turns || of_a.depth_tokens != of_b.depth_tokens, "the context differs"),
        (of_a.prompt_tokens_target != of_b.prompt_tokens_target, "the length of the prompts differs"),
        (of_a.output_tokens_target != of_b.output_tokens_target, "the length of the answers differs"),
        (of_a.sampling != of_b.sampling, "the sampling differs"),
        (prompts_differ(of_a, of_b), "the prompts differ"),
    ]
    .into_iter()
    .filter(|(differs, _)| *differs)
    .map(|(_, what)| what.to_owned())
    .collect()
}

/// Whether runs of one number sent other bytes. What is not known to differ does not.
fn prompts_differ(a: &Case, b: &Case) -> bool {
    any_pair(a, b, |a, b| {
        a.requests.iter().zip(&b.requests).any(|(a, b)| match (&a.prompt_sha256, &b.prompt_sha256) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        })
    })
}

/// Whether both sides hold the very same measurements: every run of one number has the same times on both.
pub fn are_the_same_runs(a: &Case, b: &Case) -> bool {
    let same = |a: &Run, b: &Run| a.requests == b.requests && a.started_s == b.started_s;
    any_pair(a, b, same) && !any_pair(a, b, |a, b| !same(a, b))
}

/// Whether any two runs of one number are so.
fn any_pair(a: &Case, b: &Case, are: impl Fn(&Run, &Run) -> bool) -> bool {
    let runs: Vec<&Run> = pairing(b).collect();
    let ascending = statistics::order(runs.len(), &|a, b| runs[a].number.cmp(&runs[b].number));
    let of_b: Vec<&Run> = ascending.into_iter().map(|i| runs[i]).collect();
    pairing(a).any(|run| {
        of_b.binary_search_by_key(&run.number, |other| other.number).is_ok_and(|at| are(run, of_b[at]))
    })
}

/// The runs that pair with runs of other submissions: those that passed, with the bytes of their number.
pub fn pairing(case: &Case) -> impl Iterator<Item = &Run> {
    case.runs.iter().filter(|run| run.passed() && !run.flags.iter().any(|known| known == flag::MADE_AGAIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{shard_of, single_stream_case};

    #[test]
    fn every_reason_is_named() {
        let a = shard_of(vec![single_stream_case("code", &[(501, 5.0), (501, 5.1)])]);
        let mut b = a.clone();
        assert_eq!(reasons(&a, &a.cases[0], &b, &b.cases[0]), Vec::<String>::new());
        b.provenance.series = Some("another".into());
        b.cases[0].workload = "prose".into();
        b.cases[0].concurrency = 2;
        b.cases[0].turns = Some(2);
        b.cases[0].prompt_tokens_target = Some(8);
        b.cases[0].output_tokens_target = Some(8);
        b.cases[0].sampling.seed = Some(7);
        let mut of_a = a.clone();
        of_a.cases[0].runs[1].requests[0].prompt_sha256 = Some("1".into());
        b.cases[0].runs[1].requests[0].prompt_sha256 = Some("2".into());
        assert_eq!(reasons(&of_a, &of_a.cases[0], &b, &b.cases[0]).len(), 8);
    }

    #[test]
    fn runs_without_a_series_do_not_pair() {
        let mut a = shard_of(vec![single_stream_case("code", &[(501, 5.0)])]);
        a.provenance.series = None;
        let found = reasons(&a, &a.cases[0], &a, &a.cases[0]);
        assert!(found.len() == 1 && found[0].starts_with("no series is told"), "{found:?}");
    }

    #[test]
    fn a_cold_run_that_was_made_again_has_other_bytes_and_pairs_with_none() {
        let a = shard_of(vec![single_stream_case("code", &[(501, 5.0), (501, 5.1)])]);
        let mut b = a.clone();
        for (shard, hash) in [(&a, "1"), (&b.clone(), "2")] {
            let mut shard = shard.clone();
            shard.cases[0].runs[0].requests[0].prompt_sha256 = Some(hash.into());
            if hash == "2" {
                shard.cases[0].runs[0].flags.push(flag::MADE_AGAIN.into());
                b = shard;
            }
        }
        assert_eq!(reasons(&a, &a.cases[0], &b, &b.cases[0]), Vec::<String>::new());
        assert_eq!(pairing(&b.cases[0]).count(), 1);
    }

    #[test]
    fn the_same_file_twice_is_seen_and_a_repetition_is_not_taken_for_it() {
        let a = single_stream_case("code", &[(501, 5.0), (501, 5.1)]);
        assert!(are_the_same_runs(&a, &a));
        let mut b = a.clone();
        b.runs.truncate(1);
        assert!(are_the_same_runs(&a, &b), "a part of it");
        assert!(!are_the_same_runs(&a, &single_stream_case("code", &[(501, 5.0), (501, 5.2)])));
        assert!(!are_the_same_runs(&a, &single_stream_case("code", &[])));
    }
}
