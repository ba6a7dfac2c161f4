use super::*;
use crate::submission::{Check, StatedEstimate, Submission};
use crate::testing::{run, shard_of, single_stream_case};

/// Decode spans of a case whose answers differ in difficulty as real prompts do: 16 runs, 15 % apart.
const SPANS: [f64; 16] = [5.0, 5.7, 4.6, 6.1, 5.2, 4.4, 5.9, 5.5, 4.8, 6.3, 5.1, 4.9, 5.6, 6.0, 4.5, 5.3];

/// A submission whose spans are these times `factor`, each disturbed by up to `noise`, as a seed says.
fn shard(label: &str, factor: f64, noise: f64, seed: u64) -> Submission {
    let mut rng = crate::statistics::rng::Rng::new(seed);
    let mut spans = || SPANS.map(|span| (513, span * factor * (1.0 + noise * (2.0 * rng.next_f64() - 1.0))));
    let cases = ["code", "prose"].map(|id| single_stream_case(id, &spans()));
    Submission { label: label.into(), ..shard_of(cases.to_vec()) }
}

fn compared(shards: &[&Submission], terms: Terms) -> Comparison {
    let sides: Vec<Side<'_>> = shards.iter().map(|shard| Side::of(shard)).collect();
    compare(&sides, terms)
}

fn headline(comparison: &Comparison, case: usize, side: usize) -> &Ratio {
    comparison.cases[case].against[side - 1].headline().expect("a headline")
}

fn word(comparison: &Comparison, case: usize, side: usize) -> &'static str {
    headline(comparison, case, side).verdict.as_ref().map_or("", Verdict::word)
}

#[test]
fn three_percent_is_seen_through_fifteen_percent_between_prompts() {
    let [a, b] = [shard("a", 1.0, 0.01, 1), shard("b", 1.0 / 1.03, 0.01, 2)];
    let comparison = compared(&[&a, &b], Terms::default());
    let of = headline(&comparison, 0, 1);
    assert_eq!(
        (of.metric.tag, of.unit, of.way, of.n),
        ("client_wall_decode_tok_s", Unit::Run, Way::Paired, [16; 2])
    );
    assert!((of.ratio.unwrap() - 1.03).abs() < 0.006, "{of:?}");
    assert!(of.interval.unwrap().excludes(1.0) && of.holm_p.unwrap() < 0.01);
    assert_eq!(word(&comparison, 0, 1), "faster");
    assert_eq!(word(&compared(&[&b, &a], Terms::default()), 0, 1), "slower");
    let said = sentence(&comparison, 1);
    assert!(said.starts_with("B decodes faster on code and prose (+"), "{said}");
    // The TTFT is the same to the last digit on both sides: no p of equivalence exists.
    let ttft = comparison.cases[0].against[0].ratios.iter().find(|of| of.role == Role::Beside).unwrap();
    assert_eq!((ttft.metric.tag, ttft.ratio), ("client_wall_ttft_s", Some(1.0)));
    assert_eq!(ttft.verdict.as_ref().map(Verdict::word), Some("not separated"));
}

#[test]
fn two_boots_of_one_configuration_are_not_called_different() {
    let [mut a, mut b] = [shard("first", 1.0, 0.004, 3), shard("second", 1.0, 0.004, 4)];
    for shard in [&mut a, &mut b] {
        let threads = crate::system::Setting::Number(2.0);
        shard.configuration.requested.insert("threads".into(), threads);
    }
    let comparison = compared(&[&a, &b], Terms::default());
    assert!(comparison.sides[1].is_the_first_again);
    assert_eq!(word(&comparison, 0, 1), "equivalent");
    let noise = comparison.cases[0].noise.expect("a band");
    assert!(
        noise.high > 1.0 && noise.high < 1.01 && (noise.low * noise.high - 1.0).abs() < 1e-12,
        "{noise:?}"
    );
}

#[test]
fn the_band_of_two_boots_stands_beside_a_third_side() {
    let threads = |mut shard: Submission, n: f64| {
        shard.configuration.requested.insert("threads".into(), crate::system::Setting::Number(n));
        shard
    };
    let a = threads(shard("a", 1.0, 0.01, 5), 1.0);
    let again = threads(shard("again", 1.0, 0.01, 6), 1.0);
    let b = threads(shard("b", 0.5, 0.01, 7), 2.0);
    assert!(compared(&[&a, &again, &b], Terms::default()).cases[0].noise.is_some());
    assert!(compared(&[&a, &b], Terms::default()).cases[0].noise.is_none());
}

#[test]
fn holm_goes_over_the_cases_and_the_sides_and_apart_over_what_stands_beside() {
    let [a, b, c] = [shard("a", 1.0, 0.05, 1), shard("b", 0.97, 0.05, 2), shard("c", 0.99, 0.05, 3)];
    let two = compared(&[&a, &b], Terms::default());
    let three = compared(&[&a, &b, &c], Terms::default());
    assert_eq!((two.headline_tests, three.headline_tests), (2, 4));
    assert_eq!((two.tests_beside, three.tests_beside), (2, 4));
    let (alone, among) = (headline(&two, 0, 1), headline(&three, 0, 1));
    assert_eq!(alone.p, among.p);
    assert!(among.holm_p >= alone.holm_p && alone.holm_p >= alone.p);
    let raw: Vec<f64> = (1..3)
        .flat_map(|side| (0..2).map(move |case| (case, side)))
        .map(|(case, side)| headline(&three, case, side).p.unwrap())
        .collect();
    let smallest = raw.iter().copied().fold(1.0, f64::min);
    let corrected = (1..3)
        .flat_map(|side| (0..2).map(move |case| (case, side)))
        .map(|(case, side)| headline(&three, case, side).holm_p.unwrap())
        .fold(1.0, f64::min);
    assert!((corrected - (4.0 * smallest).min(1.0)).abs() < 1e-12);
}

#[test]
fn five_pairs_are_too_few_and_take_no_part_in_the_correction() {
    let [mut a, b] = [shard("a", 1.0, 0.01, 1), shard("b", 0.5, 0.01, 2)];
    a.cases[1].runs.truncate(5);
    let comparison = compared(&[&a, &b], Terms::default());
    assert_eq!(word(&comparison, 1, 1), "too few");
    let few = headline(&comparison, 1, 1);
    assert_eq!((few.n, few.holm_p, comparison.headline_tests), ([5; 2], None, 1));
    assert_eq!(few.p, Some(0.0625));
    assert_eq!(
        comparison.cases[1].against[0].remarks,
        ["5 pairs: A has 5 passing runs, B has 16 passing runs"]
    );
    assert!(sentence(&comparison, 1).contains("has too few runs on prose"), "{}", sentence(&comparison, 1));
}

#[test]
fn one_run_a_side_has_a_ratio_and_no_interval() {
    let [a, b] = [5.0, 4.0].map(|span| shard_of(vec![single_stream_case("code", &[(501, span)])]));
    let comparison = compared(&[&a, &b], Terms::default());
    let of = headline(&comparison, 0, 1);
    assert!((of.ratio.unwrap() - 1.25).abs() < 1e-12);
    assert_eq!((of.interval, of.n, word(&comparison, 0, 1)), (None, [1; 2], "too few"));
}

#[test]
fn all_runs_failed_on_one_side_leaves_nothing_to_compare_and_says_so() {
    let [a, mut b] = [shard("a", 1.0, 0.01, 1), shard("b", 1.0, 0.01, 2)];
    for run in &mut b.cases[0].runs {
        run.checks.push(Check { name: "not_empty".into(), passed: false, detail: None });
    }
    let comparison = compared(&[&a, &b], Terms::default());
    let of = headline(&comparison, 0, 1);
    assert_eq!((of.ratio, of.n, word(&comparison, 0, 1)), (None, [0; 2], "too few"));
    assert!(of.figures[0].is_some() && of.figures[1].is_none());
    assert_eq!(
        comparison.cases[0].against[0].remarks,
        ["0 pairs: A has 16 passing runs, B has 0 passing runs"]
    );
}

#[test]
fn the_same_file_twice_is_no_comparison() {
    let a = shard("a", 1.0, 0.01, 1);
    let comparison = compared(&[&a, &a], Terms::default());
    assert!(comparison.is_refused());
    assert_eq!(comparison.reasons(), ["both sides hold the same runs: measure twice"]);
    assert_eq!(word(&comparison, 0, 1), "not comparable");
}

#[test]
fn what_was_asked_differently_is_refused_and_compared_unpaired_on_demand() {
    let [a, mut b] = [shard("a", 1.0, 0.01, 1), shard("b", 0.5, 0.01, 2)];
    b.provenance.series = Some("another".into());
    let refused = compared(&[&a, &b], Terms::default());
    assert!(refused.is_refused());
    assert_eq!((refused.reasons(), refused.headline_tests), (vec!["the series differs"], 0));
    let of = headline(&refused, 0, 1);
    assert_eq!((of.way, of.ratio, of.pairs.len()), (Way::Refused, None, 0), "no ratio of other prompts");
    assert!(of.figures.iter().all(Option::is_some));
    let allowed = compared(&[&a, &b], Terms { allow_mismatch: true, ..Terms::default() });
    assert!(!allowed.is_refused());
    let of = headline(&allowed, 0, 1);
    assert_eq!((of.way, of.n, of.pairs.len()), (Way::Unpaired, [16; 2], 0));
    assert_eq!(word(&allowed, 0, 1), "faster");
    assert!(method(&allowed).iter().any(|line| line.starts_with("Unpaired")));
}

#[test]
fn a_case_that_one_side_lacks_is_named_and_the_rest_compares() {
    let [mut a, mut b] = [shard("a", 1.0, 0.01, 1), shard("b", 0.5, 0.01, 2)];
    a.cases[1].id = "only in a".into();
    b.cases[1].id = "only in b".into();
    let comparison = compared(&[&a, &b], Terms::default());
    let found: Vec<Found> = comparison.cases.iter().map(|case| case.against[0].found).collect();
    assert_eq!(found, [Found::Both, Found::OnlyInFirst, Found::OnlyInOther]);
    assert_eq!(word(&comparison, 0, 1), "faster");
}

#[test]
fn a_zero_rate_is_no_pair() {
    let [a, mut b] = [shard("a", 1.0, 0.01, 1), shard("b", 0.5, 0.01, 2)];
    b.cases[0].runs[3].requests[0].output_tokens = Some(crate::units::Tokens(0));
    let comparison = compared(&[&a, &b], Terms::default());
    assert_eq!(headline(&comparison, 0, 1).n, [15; 2]);
}

#[test]
fn a_summary_against_runs_has_the_ratio_of_what_is_stated_and_no_interval() {
    let a = shard("a", 1.0, 0.01, 1);
    let mut b = a.clone();
    for case in &mut b.cases {
        case.runs.clear();
        case.stated = vec![StatedEstimate {
            metric: "client_wall_decode_tok_s".into(),
            value: Some(200.0),
            low: Some(190.0),
            high: Some(210.0),
            rate_convention: Some("n".into()),
            ..StatedEstimate::default()
        }];
    }
    let comparison = compared(&[&a, &b], Terms { allow_mismatch: true, ..Terms::default() });
    let of = headline(&comparison, 0, 1);
    assert_eq!((of.way, of.interval, of.p), (Way::Stated, None, None));
    assert!((of.ratio.unwrap() - 200.0 / of.figures[0].as_ref().unwrap().value.unwrap()).abs() < 1e-12);
    assert_eq!(word(&comparison, 0, 1), "not comparable");
    assert!(comparison.cases[0].against[0].reasons[0].contains("only what is stated"));
    assert!(comparison.cases[0].against[0].remarks[0].contains("all tokens over the span"));
    assert!(!comparison.is_refused() && comparison.headline_tests == 0);
    assert_eq!(sentence(&comparison, 1), "B is comparable by what is stated alone on code and prose.");
}

/// A start of the server that is off by a few percent in every run.
fn boots(label: &str, factors: &[f64]) -> Vec<Submission> {
    factors.iter().enumerate().map(|(at, &factor)| shard(label, factor, 0.002, at as u64 + 1)).collect()
}

#[test]
fn three_boots_a_side_are_compared_between_boots_and_two_between_runs() {
    let (a, b) = (boots("a", &[1.0, 1.06, 0.95]), boots("b", &[0.99, 1.05, 0.94]));
    let sides = |n: usize| [&a, &b].map(|all| Side { boots: all.iter().take(n).collect() });
    let three = compare(&sides(3), Terms::default());
    let of = headline(&three, 0, 1);
    assert_eq!((of.unit, of.n), (Unit::Boot, [3; 2]));
    assert!(of.between_boots.iter().all(|sd| sd.is_some_and(|sd| (0.03..0.09).contains(&sd))), "{of:?}");
    // 1 % is nothing beside what a start changes.
    assert_eq!(word(&three, 0, 1), "not separated");
    assert_eq!(of.figures[0].as_ref().unwrap().interval.as_ref().unwrap().kind, "95 % t, over 3 boots");
    assert!(method(&three).iter().any(|line| line.contains("unit of replication is the boot")));
    let two = compare(&sides(2), Terms::default());
    let of = headline(&two, 0, 1);
    assert_eq!((of.unit, of.n), (Unit::Run, [16; 2]));
    assert!(method(&two).iter().any(|line| line.contains("unit of replication is the run")));
    assert!(of.between_boots.iter().all(Option::is_some));
}

#[test]
fn a_run_that_one_boot_lacks_is_in_no_boots_mean() {
    let (mut a, b) = (boots("a", &[1.0, 1.0, 1.0]), boots("b", &[0.5, 0.5, 0.5]));
    // The slowest prompt fails once: the other boots must not be judged by it.
    a[1].cases[0].runs[9].checks.push(Check { name: "not_empty".into(), passed: false, detail: None });
    let sides = [&a, &b].map(|all| Side { boots: all.iter().collect() });
    let of = compare(&sides, Terms::default());
    let spread = headline(&of, 0, 1).between_boots[0].unwrap();
    assert!(spread < 0.002, "{spread}");
}

#[test]
fn a_sweep_is_compared_cycle_by_cycle() {
    let sweep = |label: &str, factor: f64| {
        let mut shard = shard(label, factor, 0.01, 9);
        shard.cases[0].runs.iter_mut().for_each(|run| run.cycle = Some((run.number - 1) / 4 + 1));
        shard
    };
    let comparison = compared(&[&sweep("a", 1.0), &sweep("b", 0.5)], Terms::default());
    let of = headline(&comparison, 0, 1);
    assert_eq!((of.unit, of.n, of.pairs.len()), (Unit::Cycle, [4; 2], 16));
    assert_eq!(of.pairs[4].cycle, Some(2));
    assert_eq!(headline(&comparison, 1, 1).unit, Unit::Run);
}

#[test]
fn cycles_that_do_not_pair_are_boots_and_not_so_many_runs() {
    let sweep = |label: &str, series: &str, seed: u64| {
        let mut shard = shard(label, 1.0, 0.01, seed);
        shard.provenance.series = Some(series.into());
        shard.cases[0].runs.iter_mut().for_each(|run| run.cycle = Some((run.number - 1) / 4 + 1));
        shard
    };
    let terms = Terms { allow_mismatch: true, ..Terms::default() };
    let comparison = compared(&[&sweep("a", "one", 1), &sweep("b", "two", 2)], terms);
    let of = headline(&comparison, 0, 1);
    assert_eq!((of.way, of.unit, of.n), (Way::Unpaired, Unit::Boot, [4; 2]));
    assert_eq!(headline(&comparison, 1, 1).unit, Unit::Run);
}

#[test]
fn the_split_tells_easier_answers_from_faster_steps() {
    let speculating = |label: &str, tokens_per_step: f64, steps_factor: f64| {
        let mut shard = shard(label, steps_factor / tokens_per_step, 0.001, 4);
        for run in shard.cases.iter_mut().flat_map(|case| &mut case.runs) {
            let steps = 512.0 / tokens_per_step;
            run.counters = Some(crate::submission::EngineCounters {
                source: "/metrics".into(),
                accepted_tokens: Some(512.0 - steps),
                draft_tokens: Some(3.0 * steps),
                verify_steps: Some(steps),
                ..Default::default()
            });
        }
        shard
    };
    let comparison = compared(&[&speculating("a", 2.0, 1.0), &speculating("b", 3.0, 1.0)], Terms::default());
    let split: Vec<(&str, f64)> = comparison.cases[0].against[0]
        .ratios
        .iter()
        .filter(|of| of.role == Role::Split)
        .map(|of| (of.metric.tag, of.ratio.unwrap()))
        .collect();
    assert_eq!(split.iter().map(|of| of.0).collect::<Vec<_>>(), ["tokens_per_step", "time_per_step_s"]);
    assert!((split[0].1 - 1.5).abs() < 0.01 && (split[1].1 - 1.0).abs() < 0.01, "{split:?}");
    assert!((headline(&comparison, 0, 1).ratio.unwrap() - 1.5).abs() < 0.01);
}

#[test]
fn a_busy_machine_is_told_beside_the_ratios() {
    let [a, mut b] = [shard("a", 1.0, 0.01, 1), shard("b", 0.5, 0.01, 2)];
    b.cases[0].runs[2].telemetry =
        Some(crate::submission::Telemetry { host_cpu_other_share: Some(0.4), ..Default::default() });
    let comparison = compared(&[&a, &b], Terms::default());
    let remarks = &comparison.cases[0].against[0].remarks;
    assert!(remarks.len() == 1 && remarks[0].starts_with("B: the host was busy"), "{remarks:?}");
    assert!(comparison.cases[1].against[0].remarks.is_empty());
    assert!(method(&comparison).iter().any(|line| line.starts_with("Each side is one start")));
}

#[test]
fn a_hundred_sides_still_have_names() {
    assert_eq!([0, 1, 25, 26].map(letter), ["A", "B", "Z", "27"]);
}

#[test]
fn a_single_run_number_out_of_order_pairs_all_the_same() {
    let a = shard("a", 1.0, 0.01, 1);
    let mut b = shard("b", 0.5, 0.01, 2);
    b.cases[0].runs.reverse();
    b.cases[0].runs.push(run(99, 501, 1.0));
    let comparison = compared(&[&a, &b], Terms::default());
    assert_eq!(headline(&comparison, 0, 1).n, [16; 2]);
}
