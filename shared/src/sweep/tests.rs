use super::*;
use crate::submission::Check;
use crate::testing::{run, shard_of, single_stream_case};

/// A variant with these decode rates in each cycle, `runs` runs a cycle, every other one a little slower.
fn variant(label: &str, rates: &[f64], runs: u32) -> Submission {
    let mut case = single_stream_case("code", &[]);
    for (at, rate) in rates.iter().enumerate() {
        for within in 0..runs {
            let number = at as u32 * runs + within + 1;
            let slower = 1.0 + 0.1 * f64::from(within % 2);
            let mut of = run(number, 501, 500.0 / rate * slower);
            of.cycle = Some(at as u32 + 1);
            case.runs.push(of);
        }
    }
    Submission { label: label.into(), ..shard_of(vec![case]) }
}

fn only(variants: &[&Submission]) -> CaseComparison {
    let mut cases = compare(variants);
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

fn verdict(comparison: &CaseComparison, row: usize) -> &Verdict {
    comparison.headline.rows[row].against.as_ref().and_then(|against| against.verdict.as_ref()).unwrap()
}

#[test]
fn twice_as_fast_is_faster_and_the_other_way_round_slower() {
    let (a, b) = (variant("a", &[20.0, 20.4, 19.8], 3), variant("b", &[40.2, 40.0, 40.4], 3));
    let forth = only(&[&a, &b]);
    let rows = &forth.headline.rows;
    assert_eq!(forth.headline.metric.tag, "client_wall_decode_tok_s");
    assert!(rows[0].against.is_none());
    let against = rows[1].against.as_ref().unwrap();
    assert!((against.over.unwrap().ratio - 2.0).abs() < 0.02, "{against:?}");
    assert_eq!(
        against.ratios.iter().map(|r| (r.cycle, r.pairs)).collect::<Vec<_>>(),
        [(1, 3), (2, 3), (3, 3)]
    );
    assert_eq!(verdict(&forth, 1), &Verdict::Faster);
    assert_eq!(verdict(&only(&[&b, &a]), 1), &Verdict::Slower);
}

#[test]
fn a_cycle_counts_once_however_many_runs_it_has() {
    // 100 runs of one cycle each say the same; one start of the server is still one start.
    let (a, b) = (variant("a", &[20.0], 100), variant("b", &[40.0], 100));
    let one = only(&[&a, &b]);
    assert_eq!(verdict(&one, 1), &Verdict::TooFew { unit: Unit::Cycle, n: 1 });
    let said = verdict(&one, 1).meaning(DEFAULT_MARGIN_RATIO).unwrap();
    assert!(said.contains("one cycle") && said.contains("because") && said.contains("2 cycles"), "{said}");
    let row = &one.headline.rows[1];
    assert_eq!((row.spread(), row.against.as_ref().unwrap().over.unwrap().p), (None, None));
}

#[test]
fn a_quiet_a_a_is_equivalent_and_a_noisy_one_is_not_separated() {
    let a = variant("a", &[20.0, 20.02, 19.99, 20.01], 2);
    let b = variant("b", &[20.01, 20.0, 20.02, 19.98], 2);
    assert_eq!(verdict(&only(&[&a, &b]), 1), &Verdict::Equivalent);
    let c = variant("c", &[21.5, 18.9, 20.6, 19.0], 2);
    let noisy = only(&[&a, &c]);
    assert_eq!(verdict(&noisy, 1), &Verdict::NotSeparated);
    assert!(verdict(&noisy, 1).meaning(DEFAULT_MARGIN_RATIO).unwrap().contains("does not mean the same"));
}

#[test]
fn less_is_better_for_a_time() {
    let cached = |label: &str, ttfts: [f64; 3]| {
        let mut shard = variant(label, &[20.0; 3], 1);
        shard.cases[0].regime = Regime::CachedPrefix;
        for (run, ttft) in shard.cases[0].runs.iter_mut().zip(ttfts) {
            let request = &mut run.requests[0];
            request.t_first_s = Some(crate::units::Seconds(ttft));
            request.gaps = None;
        }
        shard
    };
    let (slow, fast) = (cached("slow", [0.20, 0.21, 0.20]), cached("fast", [0.10, 0.10, 0.101]));
    assert_eq!(verdict(&only(&[&slow, &fast]), 1), &Verdict::Faster);
    assert_eq!(verdict(&only(&[&fast, &slow]), 1), &Verdict::Slower);
}

#[test]
fn more_variants_need_stronger_evidence() {
    let a = variant("a", &[20.0, 20.0, 20.0], 1);
    let b = variant("b", &[20.9, 20.6, 21.3], 1);
    let alone = only(&[&a, &b]);
    assert_eq!(verdict(&alone, 1), &Verdict::Faster);
    let others: Vec<Submission> =
        (0..5).map(|at| variant(&format!("c{at}"), &[19.0, 21.0 + 0.1 * f64::from(at), 20.0], 1)).collect();
    let all: Vec<&Submission> = [&a, &b].into_iter().chain(&others).collect();
    let many = only(&all);
    let against = many.headline.rows[1].against.as_ref().unwrap();
    assert!(against.holm_p > against.over.unwrap().p, "{against:?}");
    assert_eq!(verdict(&many, 1), &Verdict::NotSeparated);
}

#[test]
fn a_failed_run_leaves_its_pair_and_a_failed_cycle_its_ratio() {
    let (mut a, b) = (variant("a", &[20.0, 20.5, 20.2], 2), variant("b", &[40.0, 40.1, 40.5], 2));
    a.cases[0].runs[1].checks.push(Check { name: "not_empty".into(), passed: false, detail: None });
    a.cases[0].runs.truncate(4);
    let comparison = only(&[&a, &b]);
    let against = comparison.headline.rows[1].against.as_ref().unwrap();
    assert_eq!(against.ratios.iter().map(|r| (r.cycle, r.pairs)).collect::<Vec<_>>(), [(1, 1), (2, 2)]);
    assert_eq!(comparison.headline.rows[0].figures.len(), 2);
    assert_eq!(comparison.headline.rows[1].figures.len(), 3);
}

#[test]
fn what_else_differs_is_named_and_no_ratio_is_given() {
    let a = variant("a", &[20.0, 20.5], 2);
    let mut b = variant("b", &[40.0, 40.1], 2);
    b.provenance.series = Some("another".into());
    b.cases[0].sampling.seed = Some(7);
    b.cases[0].runs[0].requests[0].prompt_sha256 = Some("1".into());
    let mut of_a = a.clone();
    of_a.cases[0].runs[0].requests[0].prompt_sha256 = Some("2".into());
    let comparison = only(&[&of_a, &b]);
    assert_eq!(
        verdict(&comparison, 1).meaning(DEFAULT_MARGIN_RATIO).unwrap(),
        "not comparable: the series differs; the sampling differs; the prompts differ"
    );
    assert!(comparison.headline.rows[1].against.as_ref().unwrap().over.is_none());
}

#[test]
fn a_variant_without_a_run_of_the_case_is_said() {
    let a = variant("a", &[20.0, 20.5], 2);
    let mut b = a.clone();
    b.label = "b".into();
    b.cases.clear();
    for order in [[&a, &b], [&b, &a]] {
        let said = verdict(&only(&order), 1).meaning(DEFAULT_MARGIN_RATIO).unwrap();
        assert_eq!(said, "not comparable: b has no run of the case");
    }
}

#[test]
fn runs_without_a_cycle_compare_nothing() {
    let a = shard_of(vec![single_stream_case("code", &[(501, 5.0); 4])]);
    let comparison = only(&[&a, &a]);
    assert_eq!(verdict(&comparison, 1), &Verdict::TooFew { unit: Unit::Cycle, n: 0 });
    assert!(comparison.headline.rows[0].figures.is_empty());
}

#[test]
fn what_only_one_variant_tells_is_not_shown() {
    let (a, b) = (variant("a", &[20.0, 20.5], 2), variant("b", &[40.0, 40.1], 2));
    let tags =
        |variants: &[&Submission]| only(variants).also.iter().map(|of| of.metric.tag).collect::<Vec<_>>();
    assert_eq!(tags(&[&a, &b]), ["client_wall_ttft_s"]);
    assert!(only(&[&a, &b]).also[0].rows[1].against.as_ref().unwrap().verdict.is_none());
    let mut silent = b.clone();
    silent.cases[0].runs.iter_mut().for_each(|run| run.requests[0].t_first_s = None);
    assert_eq!(tags(&[&a, &silent]), Vec::<&str>::new());
}
