//! What a comparison costs, and how often it is wrong: `cargo xtask bench compare`.
//!
//! The simulated engine in virtual time is the instrument, because its truth is known. Prints one JSON object.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "stdout is what this program gives")]

use std::time::Instant;

use dyno_collector::simulator::Truth;
use dyno_collector::simulator::virtual_time::{Asked, submission};
use dyno_shared::comparison::{Comparison, Ratio, Role, Side, Terms, Verdict, compare};
use dyno_shared::statistics::Bootstrap;
use dyno_shared::submission::Submission;
use dyno_shared::summary::estimate;
use dyno_shared::workload::Regime;
use serde_json::{Value, json};

/// Eight cases of every kind, as a suite has them.
const CASES: [Asked; 8] = [
    decode("code"),
    decode("prose"),
    decode("structured"),
    decode("counting"),
    Asked {
        id: "cold_prefill_2k",
        regime: Regime::ColdPrefill,
        streams: 1,
        prompt_tokens: 2_000,
        output_tokens: 8,
    },
    Asked {
        id: "cached_prefix_2k",
        regime: Regime::CachedPrefix,
        streams: 1,
        prompt_tokens: 100,
        output_tokens: 64,
    },
    Asked {
        id: "decode_at_depth_2k",
        regime: Regime::DecodeAtDepth,
        streams: 1,
        prompt_tokens: 100,
        output_tokens: 256,
    },
    Asked { id: "load4", regime: Regime::Load, streams: 4, prompt_tokens: 2_000, output_tokens: 400 },
];

const fn decode(id: &'static str) -> Asked {
    Asked { id, regime: Regime::Decode, streams: 1, prompt_tokens: 60, output_tokens: 512 }
}

/// Spread from prompt to prompt, the same on both sides: 15 %, as of the published single-stream `code`.
const PROMPT_SPREAD: f64 = 0.15;
/// Spread of a request that is its own, beside the one from token to token.
const REQUEST_SPREAD: f64 = 0.02;
const JITTER: f64 = 0.1;
const RUNS: u32 = 16;
/// The published A/A check.
const A_A: u64 = 200;
/// Measurements for each coverage.
const COVERAGE: u64 = 2_000;

fn truth(seed: u64) -> Truth {
    Truth { seed, jitter: JITTER, request_jitter: REQUEST_SPREAD, decode_tok_s: 100.0, ..Truth::default() }
}

fn main() {
    // `--write FOLDER`: the two submissions whose comparison is timed, for the browser.
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--write") {
        return write(arguments.get(at + 1).map_or("", String::as_str));
    }
    let speed = speed();
    let a_a = a_a();
    let coverage: Vec<Value> = [5, 8, 16, 32].into_iter().map(coverage).collect();
    println!("{}", json!({ "speed": speed, "a_a": a_a, "coverage": coverage }));
}

fn against(a: &Submission, b: &Submission) -> Comparison {
    compare(&[Side::of(a), Side::of(b)], Terms::default())
}

fn ratios(comparison: &Comparison) -> impl Iterator<Item = &Ratio> {
    comparison.cases.iter().flat_map(|case| &case.against).flat_map(|against| &against.ratios)
}

/// Two submissions of 8 cases with 16 runs each.
fn two() -> [Submission; 2] {
    [(1, "a"), (2, "b")].map(|(seed, label)| submission(&truth(seed), label, &CASES, RUNS, PROMPT_SPREAD))
}

fn write(folder: &str) {
    for shard in two() {
        let path = std::path::Path::new(folder).join(format!("{}.json", shard.label));
        let text = serde_json::to_string(&shard).unwrap_or_default();
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("cannot write {}: {error}", path.display());
        }
    }
}

/// Milliseconds of comparing them.
fn speed() -> Value {
    let [a, b] = two();
    let mut times: Vec<f64> = (0..41)
        .map(|_| {
            let start = Instant::now();
            let comparison = against(&a, &b);
            let elapsed = start.elapsed().as_secs_f64() * 1e3;
            assert_eq!(comparison.cases.len(), CASES.len());
            elapsed
        })
        .collect();
    times.sort_by(f64::total_cmp);
    json!({ "cases": CASES.len(), "runs": RUNS, "resamples": Bootstrap::new(0).resamples,
            "median_ms": times[20], "p95_ms": times[38] })
}

/// In how many comparisons of the same truth a winner is named.
fn a_a() -> Value {
    let (mut by_headline, mut by_any, mut by_case, mut cases) = (0_u64, 0_u64, 0_u64, 0_u64);
    for at in 0..A_A {
        let [a, b] =
            [2 * at + 1, 2 * at + 2].map(|seed| submission(&truth(seed), "a", &CASES, RUNS, PROMPT_SPREAD));
        let comparison = against(&a, &b);
        let is_winner = |ratio: &&Ratio| matches!(ratio.verdict, Some(Verdict::Faster | Verdict::Slower));
        let of = |role: Role| ratios(&comparison).filter(move |ratio| ratio.role == role);
        let headline = of(Role::Headline).any(|ratio| is_winner(&ratio));
        by_headline += u64::from(headline);
        by_any += u64::from(headline || of(Role::Beside).any(|ratio| is_winner(&ratio)));
        by_case += of(Role::Headline).filter(|ratio| ratio.p.is_some_and(|p| p < 0.05)).count() as u64;
        cases += of(Role::Headline).count() as u64;
    }
    json!({
        "comparisons": A_A,
        "named_a_winner_by_headline": by_headline,
        "named_a_winner_by_any_test": by_any,
        "tests_of_a_headline": cases,
        "of_them_below_5_percent_before_holm": by_case,
    })
}

/// How often the interval holds the truth.
fn coverage(runs: u32) -> Value {
    let case = [decode("code")];
    let (mut of_ratio, mut of_rate) = (0_u64, 0_u64);
    // B is 5 % faster. The truth of the rate is what very many runs give, whose prompts are drawn anew each time.
    let faster = |seed: u64| Truth { decode_tok_s: 105.0, ..truth(seed) };
    let drawn = |seed: u64| Truth { request_jitter: PROMPT_SPREAD, ..truth(seed) };
    let long_run = submission(&drawn(u64::MAX), "a", &case, 20_000, 0.0);
    let decode = dyno_shared::metric::find("client_wall_decode_tok_s");
    let rate = |shard: &Submission| decode.and_then(|metric| estimate(&shard.cases[0], metric));
    let true_rate = rate(&long_run).and_then(|of| of.value).unwrap_or(f64::NAN);
    for at in 0..COVERAGE {
        let a = submission(&truth(1_000_000 + 2 * at), "a", &case, runs, PROMPT_SPREAD);
        let b = submission(&faster(1_000_001 + 2 * at), "b", &case, runs, PROMPT_SPREAD);
        let comparison = against(&a, &b);
        let interval = ratios(&comparison).find(|of| of.role == Role::Headline).and_then(|of| of.interval);
        of_ratio += u64::from(interval.is_some_and(|of| !of.excludes(1.05)));
        let alone = submission(&drawn(2_000_000 + at), "a", &case, runs, 0.0);
        let interval = rate(&alone).and_then(|of| of.interval);
        of_rate += u64::from(interval.is_some_and(|of| of.low <= true_rate && true_rate <= of.high));
    }
    json!({ "n": runs, "measurements": COVERAGE, "ratio_held_the_truth": of_ratio, "rate_held_the_truth": of_rate })
}
