//! `cargo xtask bench client`: `dyno calibrate` in release at the streams that this project holds itself to.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, anyhow};
use serde_json::Value;

use super::figures;
use crate::cli::BenchClientOptions;
use crate::process;
use crate::site::{self, Profile};
use crate::workshop::Workshop;

/// Tokens that the CPU time is stated for: 1,000 streams of 128.
const CPU_TOKENS: f64 = 128_000.0;
/// Where the figures stand in the docs.
const PAGE: &str = "docs/CLIENT.md";
const CURVE: &str = "docs/client-error.svg";
/// What wrote them.
const COMMAND: &str = "cargo xtask bench client --write";

/// What is asked of the client at a number of streams of 50 tok/s each.
struct Budget {
    streams: u64,
    ttft_mean_ms: f64,
    ttft_p99_ms: f64,
    gap_p99_ms: f64,
    memory_mb: f64,
    /// Seconds for [`CPU_TOKENS`]; asked only where the client has much to do.
    cpu_s: Option<f64>,
}

const BUDGETS: [Budget; 4] = [
    Budget {
        streams: 16,
        ttft_mean_ms: 0.2,
        ttft_p99_ms: 1.0,
        gap_p99_ms: 1.0,
        memory_mb: 30.0,
        cpu_s: None,
    },
    Budget {
        streams: 64,
        ttft_mean_ms: 0.3,
        ttft_p99_ms: 2.0,
        gap_p99_ms: 2.0,
        memory_mb: 40.0,
        cpu_s: None,
    },
    Budget {
        streams: 256,
        ttft_mean_ms: 0.5,
        ttft_p99_ms: 3.0,
        gap_p99_ms: 3.0,
        memory_mb: 40.0,
        cpu_s: None,
    },
    Budget {
        streams: 1_000,
        ttft_mean_ms: 2.0,
        ttft_p99_ms: 15.0,
        gap_p99_ms: 15.0,
        memory_mb: 80.0,
        cpu_s: Some(1.0),
    },
];

/// Measures, prints the table, and with `--write` puts table and curve into the docs.
pub(crate) fn run(shop: &Workshop, options: &BenchClientOptions) -> Result<()> {
    let dyno = site::build_dyno(shop, Profile::Release)?;
    let streams: Vec<String> = BUDGETS.iter().map(|budget| budget.streams.to_string()).collect();
    eprintln!("bench: {} streams, {} batches of 2.6 s each", streams.join(", "), options.batches + 1);
    let mut calibrate = shop.command(&dyno);
    calibrate.args(["calibrate", "--json", "--streams", &streams.join(",")]);
    calibrate.args(["--batches", &options.batches.to_string()]);
    if options.write {
        calibrate.arg("--chart").arg(shop.root.join(CURVE));
    }
    let found: Value = serde_json::from_str(&process::capture(&mut calibrate)?)
        .context("`dyno calibrate --json` did not print JSON")?;
    let rows = found.as_array().ok_or_else(|| anyhow!("`dyno calibrate --json` did not print a list"))?;
    let table = table(rows, options.batches);
    print!("{table}");
    if options.write {
        figures::write(&shop.root.join(PAGE), COMMAND, &format!("{}\n{table}", machine_of_both()))?;
        eprintln!("bench: wrote {PAGE} and {CURVE}");
    }
    Ok(())
}

/// One line of Markdown for each level; a figure over its budget is in bold.
fn table(rows: &[Value], batches: u32) -> String {
    let mut out = format!(
        "\nEach cell: measured, budget in brackets; **bold** is over it. {batches} batches of 128 tokens a stream.\n\n\
         | streams × 50 tok/s | TTFT error mean, ms | TTFT error p99, ms | gap error p99, ms | lost tokens | peak memory, MB \
         | CPU for 128,000 tokens, s |\n|---|---|---|---|---|---|---|\n"
    );
    for budget in &BUDGETS {
        let Some(row) = rows.iter().find(|row| row["streams"] == budget.streams) else { continue };
        let number = |key: &str| row[key].as_f64();
        let ms = |key: &str| number(key).map(|s| s * 1e3);
        let cpu = number("client_cpu_s").zip(number("tokens")).map(|(s, tokens)| s / tokens * CPU_TOKENS);
        let cells = [
            cell(ms("ttft_error_mean_s"), Some(budget.ttft_mean_ms)),
            cell(ms("ttft_error_p99_s"), Some(budget.ttft_p99_ms)),
            cell(ms("gap_error_p99_s"), Some(budget.gap_p99_ms)),
            cell(number("lost_tokens"), Some(0.0)),
            cell(number("client_memory_bytes").map(|bytes| bytes / 1e6), Some(budget.memory_mb)),
            cell(cpu, budget.cpu_s),
        ];
        let _ = writeln!(out, "| {} | {} |", budget.streams, cells.join(" | "));
    }
    out
}

fn cell(measured: Option<f64>, budget: Option<f64>) -> String {
    let Some(measured) = measured else { return "–".to_owned() };
    let decimals = if measured == 0.0 || measured >= 10.0 { 0 } else { 2 };
    let figure = format!("{measured:.decimals$}");
    match budget {
        None => figure,
        Some(budget) if measured > budget => format!("**{figure}** ({budget})"),
        Some(budget) => format!("{figure} ({budget})"),
    }
}

fn machine_of_both() -> String {
    format!("{}, client and engine together on them.", figures::machine())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_over_its_budget_is_bold_and_an_unknown_one_a_dash() {
        let row = json!({
            "streams": 1_000, "tokens": 256_000, "ttft_error_mean_s": 0.0021, "ttft_error_p99_s": 0.0149,
            "lost_tokens": 0, "client_memory_bytes": 20_000_000, "client_cpu_s": 1.8,
        });
        let table = table(&[row], 2);
        let line = table.lines().last().unwrap();
        assert_eq!(line, "| 1000 | **2.10** (2) | 15 (15) | – | 0 (0) | 20 (80) | 0.90 (1) |");
    }
}
