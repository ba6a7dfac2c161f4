//! `cargo xtask bench compare`: what a comparison costs, and how often it is wrong.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::figures;
use crate::cli::BenchCompareOptions;
use crate::process;
use crate::site::{self, Profile};
use crate::workshop::Workshop;

/// Where the figures stand in the docs.
const PAGE: &str = "docs/COMPARE.md";
/// What wrote them.
const COMMAND: &str = "cargo xtask bench compare --write";

/// Milliseconds for two submissions of 8 cases with 16 runs each.
const BUDGET_MS: f64 = 30.0;
/// The same in the browser.
const PAGE_BUDGET_MS: f64 = 150.0;
/// The error that a verdict is allowed.
const ALPHA: f64 = 0.05;
/// Of 95 % intervals this share should hold the truth.
const COVERAGE: (f64, f64) = (0.92, 0.97);
/// The upper 97.5 % quantile of the normal distribution.
const Z: f64 = 1.96;

/// Measures, prints the figures, and with `--write` puts them into the docs.
pub(crate) fn run(shop: &Workshop, options: &BenchCompareOptions) -> Result<()> {
    let mut found: Value = serde_json::from_str(&process::capture(&mut native(shop))?)
        .context("the benchmark of comparisons did not print JSON")?;
    found["page"] = page(shop)?;
    let text = text(&found);
    print!("{text}");
    if options.write {
        let text = format!("{}.\n\n{text}", figures::machine());
        figures::write(&shop.root.join(PAGE), COMMAND, &text)?;
        eprintln!("bench: wrote {PAGE}");
    }
    Ok(())
}

fn native(shop: &Workshop) -> Command {
    let mut bench = shop.command("cargo");
    bench.args(["bench", "--quiet", "-p", "dyno", "--bench", "compare", "--"]);
    bench
}

/// Milliseconds of the same comparison in the browser, drawn.
fn page(shop: &Workshop) -> Result<Value> {
    let shards = shop.target.join("xtask/bench-compare");
    fs::create_dir_all(&shards).with_context(|| format!("cannot make {}", shards.display()))?;
    process::run(native(shop).arg("--write").arg(&shards))?;
    let out = shop.target.join("xtask/bench-site");
    site::build(shop, &out)?;
    let dyno = site::build_dyno(shop, Profile::Release)?;
    site::publish(shop, &dyno, &shards, &out)?;
    let mut node = shop.command("node");
    node.arg(shop.root.join("web/bench/compare.mjs"))
        .env("DYNO_SITE", &out)
        .env("DYNO_NPM", shop.cache.npm());
    node.env("DYNO_CHROMIUM", shop.chromium().context("there is no Chromium here: run `cargo xtask setup`")?);
    serde_json::from_str(&process::capture(&mut node)?).context("web/bench/compare.mjs did not print JSON")
}

/// The figures as Markdown; one beyond what is asked is in bold.
fn text(found: &Value) -> String {
    let mut out = String::new();
    let speed = &found["speed"];
    let number = |of: &Value| of.as_f64().unwrap_or(f64::NAN);
    let bold = |text: String, is_good: bool| if is_good { text } else { format!("**{text}**") };
    let median = number(&speed["median_ms"]);
    let of_page = number(&found["page"]["median_ms"]);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "Comparing two submissions of {} cases with {} runs, {} resamples: median {} ms, p95 {:.1} ms (budget {BUDGET_MS} \
         ms).\n\nIn Chromium, from the new address to the changed page, with figures and tables: median {} ms, p95 {:.1} ms \
         (budget {PAGE_BUDGET_MS} ms).\n",
        speed["cases"],
        speed["runs"],
        speed["resamples"],
        bold(format!("{median:.1}"), median <= BUDGET_MS),
        number(&speed["p95_ms"]),
        bold(format!("{of_page:.1}"), of_page <= PAGE_BUDGET_MS),
        number(&found["page"]["p95_ms"]),
    );
    let a_a = &found["a_a"];
    let comparisons = number(&a_a["comparisons"]);
    let allowed = ALPHA + Z * (ALPHA * (1.0 - ALPHA) / comparisons).sqrt();
    let _ = writeln!(
        out,
        "| {comparisons} comparisons of one truth with itself | share | interval | asked |\n|---|---|---|---|"
    );
    for (key, what, of, most) in [
        ("named_a_winner_by_headline", "a winner by a headline, after Holm", "comparisons", Some(allowed)),
        ("named_a_winner_by_any_test", "a winner by any test, each kind after its Holm", "comparisons", None),
        (
            "of_them_below_5_percent_before_holm",
            "one headline with p < 0.05, before Holm",
            "tests_of_a_headline",
            None,
        ),
    ] {
        let (hits, n) = (number(&a_a[key]), number(&a_a[of]));
        let share = bold(format!("{:.1} %", 100.0 * hits / n), most.is_none_or(|most| hits / n <= most));
        let asked = most.map_or_else(|| "–".to_owned(), |most| format!("≤ {:.1} %", 100.0 * most));
        let _ = writeln!(out, "| {what} | {share} ({hits} of {n}) | {} | {asked} |", wilson(hits, n));
    }
    let _ = writeln!(
        out,
        "\n| 95 % interval over n runs holds the truth | of a ratio | of a rate | asked |\n|---|---|---|---|"
    );
    for row in found["coverage"].as_array().map_or(&[][..], Vec::as_slice) {
        let n = number(&row["measurements"]);
        let cell = |key: &str| {
            let hits = number(&row[key]);
            let is_good = (COVERAGE.0..=COVERAGE.1).contains(&(hits / n));
            format!("{} ({})", bold(format!("{:.1} %", 100.0 * hits / n), is_good), wilson(hits, n))
        };
        let _ = writeln!(
            out,
            "| n = {} | {} | {} | {:.0}–{:.0} % |",
            row["n"],
            cell("ratio_held_the_truth"),
            cell("rate_held_the_truth"),
            100.0 * COVERAGE.0,
            100.0 * COVERAGE.1
        );
    }
    out
}

/// 95 % interval of a share (Wilson, 1927), in percent.
fn wilson(hits: f64, n: f64) -> String {
    let share = hits / n;
    let square = Z * Z / n;
    let centre = (share + square / 2.0) / (1.0 + square);
    let half = Z * (share * (1.0 - share) / n + square / (4.0 * n)).sqrt() / (1.0 + square);
    format!("{:.1}–{:.1} %", 100.0 * (centre - half).max(0.0), 100.0 * (centre + half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_beyond_what_was_asked_is_bold() {
        let found = json!({
            "speed": { "cases": 8, "runs": 16, "resamples": 10_000, "median_ms": 31.0, "p95_ms": 33.0 },
            "page": { "median_ms": 90.0, "p95_ms": 120.0 },
            "a_a": { "comparisons": 200, "named_a_winner_by_headline": 20, "named_a_winner_by_any_test": 21,
                     "tests_of_a_headline": 1_600, "of_them_below_5_percent_before_holm": 80 },
            "coverage": [{ "n": 5, "measurements": 2_000, "ratio_held_the_truth": 1_900, "rate_held_the_truth": 1_500 }],
        });
        let text = text(&found);
        for part in [
            "median **31.0** ms",
            "**10.0 %** (20 of 200)",
            "| 5.0 % (80 of 1600)",
            "95.0 % (94.0–95.9 %)",
            "**75.0 %**",
        ] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
    }
}
