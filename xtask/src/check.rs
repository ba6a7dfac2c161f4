//! `cargo xtask test`: every check, as stages with their times, and one line at the end for whoever counts.

mod counts;
mod stage;
mod table;

use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum as _;

use crate::cli::TestOptions;
use crate::llama_cpp;
use crate::setup;
use crate::workshop::Workshop;
use counts::Counts;
pub use stage::Stage;

/// How a stage ended.
#[derive(Debug)]
pub enum Outcome {
    Passed(Counts),
    Failed(Counts, String),
    Skipped(String),
}

pub fn run(shop: &Workshop, options: &TestOptions) -> Result<()> {
    let wanted = |stage: &&Stage| options.stages.is_empty() || options.stages.contains(stage);
    let stages: Vec<Stage> = Stage::value_variants().iter().filter(wanted).copied().collect();
    let groups: Vec<setup::Group> = stages.iter().flat_map(|stage| stage.needs()).copied().collect();
    setup::ensure(shop, &groups)?;
    if options.with_engine || in_ci() {
        llama_cpp::build(shop)?;
    }

    let mut rows = Vec::new();
    for stage in stages {
        let (name, about) = stage.describe();
        eprintln!("\n== {name}: {about} ==");
        let start = Instant::now();
        let outcome = stage.run(shop, options.keep_going);
        let failed = matches!(outcome, Outcome::Failed(..));
        if let Outcome::Failed(_, why) | Outcome::Skipped(why) = &outcome {
            eprintln!("{name}: {why}");
        }
        rows.push(table::Row { name, time: start.elapsed(), outcome });
        if failed && !options.keep_going {
            break;
        }
    }
    eprint!("\n{}", table::format(&rows));
    conclude(&rows)
}

/// The last line is `N passed, 0 failed` only when every stage was well.
fn conclude(rows: &[table::Row]) -> Result<()> {
    let mut total = Counts::default();
    let mut failed = Vec::new();
    for row in rows {
        match &row.outcome {
            Outcome::Passed(counts) => total += *counts,
            Outcome::Failed(counts, _) => {
                total += *counts;
                failed.push(row.name.as_str());
            }
            Outcome::Skipped(_) => {}
        }
    }
    if !failed.is_empty() {
        bail!("failed: {} ({} tests passed, {} failed)", failed.join(", "), total.passed, total.failed);
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(())
}

fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(name: &str, outcome: Outcome) -> table::Row {
        table::Row { name: name.into(), time: Duration::ZERO, outcome }
    }

    #[test]
    fn a_stage_that_failed_without_a_failed_test_is_an_error_too() {
        let passed = Counts { passed: 3, ..Counts::default() };
        let rows = [
            row("test", Outcome::Passed(passed)),
            row("clippy", Outcome::Failed(Counts::default(), "no".into())),
        ];
        let error = conclude(&rows).unwrap_err().to_string();
        assert!(error.contains("failed: clippy"), "{error}");
        assert!(conclude(&rows[..1]).is_ok());
    }
}
