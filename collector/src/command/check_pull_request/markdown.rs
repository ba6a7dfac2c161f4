//! The report on a pull request. Nothing of a shard is markup in it.

use std::fmt::Write as _;

use dyno_shared::submission::{Evidence, Submission};

use super::Addition;
use super::added::Other;
use crate::board::checkout::RESULTS;
use crate::command::compare::escaped;
use crate::report;

/// Characters of one shard's table, at most.
const LONGEST_TABLE: usize = 20_000;
/// Characters of all tables: a summary of a job takes a mebibyte.
const LONGEST_TABLES: usize = 600_000;

/// The whole report.
pub(super) fn text(additions: &[Addition], others: &[Other], good: bool) -> String {
    let mut out = String::from("## Results of this pull request\n\n");
    out.push_str(if additions.is_empty() && others.is_empty() {
        "It changes nothing in `results/`.\n"
    } else if good {
        "**Fit to be merged**, as far as a program can tell.\n"
    } else {
        "**Not to be merged as it is**: what is marked ✘ below has to change.\n"
    });
    if !additions.is_empty() {
        out.push_str("\n| | shard | evidence | cases | runs | warnings |\n|---|---|---|---:|---:|---:|\n");
        for addition in additions {
            row(&mut out, addition);
        }
    }
    if !others.is_empty() {
        out.push('\n');
    }
    for Other { text, refused } in others {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "- {} {}", if *refused { "✘" } else { "·" }, escaped(text));
    }
    let mut room = LONGEST_TABLES;
    for addition in additions {
        section(&mut out, addition, &mut room);
    }
    out
}

fn row(out: &mut String, addition: &Addition) {
    let examined = &addition.examined;
    let of = |count: fn(&Submission) -> String| examined.shard.as_ref().map_or_else(|| "–".to_owned(), count);
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} |",
        if examined.is_good() { "✔" } else { "✘" },
        escaped(&addition.path),
        of(|shard| match shard.provenance.evidence {
            Evidence::Raw => "raw runs".to_owned(),
            Evidence::Summary => "summary only".to_owned(),
            Evidence::Unknown => "unknown".to_owned(),
        }),
        of(|shard| shard.cases.len().to_string()),
        of(|shard| shard.cases.iter().map(|case| case.runs.len()).sum::<usize>().to_string()),
        examined.warnings.len()
    );
}

fn section(out: &mut String, addition: &Addition, room: &mut usize) {
    let _ = writeln!(out, "\n### {RESULTS}/{}\n", escaped(&addition.path));
    for error in &addition.examined.errors {
        let _ = writeln!(out, "- ✘ {}", escaped(&error.to_string()));
    }
    for warning in &addition.examined.warnings {
        let _ = writeln!(out, "- warning: {}", escaped(&warning.to_string()));
    }
    if let Some(near) = addition.similar.near.first() {
        let _ = writeln!(
            out,
            "- compare: {}",
            code(&format!("dyno compare {RESULTS}/{near} {RESULTS}/{}", addition.path))
        );
    }
    let Some(shard) = &addition.examined.shard else { return };
    let table = report::text(shard);
    let shown: String = table.chars().take(LONGEST_TABLE.min(*room)).collect();
    *room -= shown.chars().count();
    let cut = if shown.len() < table.len() { "\n… cut: the whole is `dyno report`'s\n" } else { "" };
    let fence = "`".repeat(3.max(longest_run(&shown) + 1));
    let _ = writeln!(
        out,
        "\n<details open><summary>Report</summary>\n\n{fence}text\n{}{cut}\n{fence}\n\n</details>",
        shown.trim_end()
    );
    if let Some(chart) = &addition.chart {
        let _ = writeln!(out, "\nFigure: `{chart}` in the artefact `charts` of this run.");
    }
}

/// Code in a line, whatever it holds.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    format!("{fence} {text} {fence}")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!((longest_run("a ``` b ` c"), longest_run("a")), (3, 0));
        assert_eq!(code("a``b"), "``` a``b ```");
    }
}
