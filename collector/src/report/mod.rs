//! The report of a shard: the table of the method page for the terminal, and the same as JSON.

mod client;
mod energy;
pub mod json;
mod latency;
mod raw;
mod stated;
pub mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dyno_shared::gaps::{GapDistribution, gap_distribution};
use dyno_shared::plain::plain;
use dyno_shared::submission::{Case, Evidence, Origin, Submission};
use dyno_shared::summary::{CaseSummary, summarize_calibrated};

use table::wrapped;

/// A case and what its runs say.
#[derive(Debug)]
pub struct CaseView<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its figures.
    pub summary: CaseSummary,
    /// Its inter-token latency.
    gaps: Option<GapDistribution>,
}

/// Every case with its figures, in the order of the shard.
pub fn views(shard: &Submission) -> Vec<CaseView<'_>> {
    let calibration = shard.provenance.calibration.as_ref();
    let view = |case| {
        let mut summary = summarize_calibrated(case, calibration);
        let gaps = gap_distribution(case);
        if let Some((calibration, gaps)) = calibration.zip(gaps.as_ref()) {
            summary.warnings.extend(client::gap_warnings(calibration, gaps));
        }
        CaseView { case, summary, gaps }
    };
    shard.cases.iter().map(view).collect()
}

/// The report for people, at most about 100 columns wide.
pub fn text(shard: &Submission) -> String {
    let summary_only = shard.provenance.evidence == Evidence::Summary;
    let (stated, raw): (Vec<CaseView<'_>>, Vec<CaseView<'_>>) =
        views(shard).into_iter().partition(|view| view.case.runs.is_empty() && summary_only);
    let mut out = header(shard);
    raw::write(&mut out, &raw);
    client::write(&mut out, shard);
    latency::fit(&mut out, &shard.cases);
    stated::write(&mut out, &stated, &shard.stated_comparisons);
    if !shard.notes.is_empty() {
        out.push_str("\nNotes\n");
        shard.notes.iter().for_each(|note| out.push_str(&wrapped(&plain(note))));
    }
    out
}

/// Whether the same prompt gave the same answer, of every case that tells.
fn reproducibility(out: &mut String, views: &[CaseView<'_>]) {
    let mut told = Vec::new();
    let mut attempts = BTreeSet::new();
    for view in views {
        let Some(found) = &view.case.reproducibility else { continue };
        attempts.insert(found.attempts);
        let id = plain(&view.case.id);
        told.push(match (found.identical, found.first_difference_chars) {
            (true, _) => format!("{id}: identical"),
            (false, Some(at)) => format!("{id}: differs after {at} characters"),
            (false, None) => format!("{id}: differs"),
        });
    }
    if told.is_empty() {
        return;
    }
    let times = match (attempts.len(), attempts.first()) {
        (1, Some(Some(times))) => format!("{times} times"),
        _ => "several times".to_owned(),
    };
    // Writing to a String cannot fail.
    let _ = write!(out, "\nThe same prompt {times}\n{}", wrapped(&told.join("; ")));
}

/// What was measured, by whom and how far.
fn header(shard: &Submission) -> String {
    let (engine, model) = (&shard.system.engine, &shard.system.model);
    let mut out = String::new();
    let what: Vec<&str> = [
        Some(model.name.as_str()),
        model.quantisation.as_deref(),
        Some("on"),
        Some(&engine.name),
        engine.version.as_deref(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let _ = writeln!(out, "{}", plain(&what.join(" ")));
    let date = shard.provenance.started_at.as_deref().map(|at| at.split('T').next().unwrap_or(at));
    let origin = match &shard.provenance.origin {
        Origin::Collected => None,
        Origin::Imported { tool, .. } => Some(format!("imported from {tool}")),
        Origin::Transcribed { source, .. } => Some(format!("transcribed from {source}")),
        Origin::Unknown => Some("unknown origin".to_owned()),
    };
    let evidence = match shard.provenance.evidence {
        Evidence::Raw => "raw runs",
        Evidence::Summary => "summary only",
        Evidence::Unknown => "unknown evidence",
    };
    let facts: Vec<&str> = [
        Some(shard.label.as_str()),
        Some(shard.system.hardware.name.as_str()).filter(|name| !name.is_empty()),
        date,
        Some(evidence),
    ]
    .into_iter()
    .flatten()
    .collect();
    let _ = writeln!(out, "{}", plain(&facts.join(" · ")));
    if let Some(origin) = origin {
        let _ = writeln!(out, "{}", plain(&origin));
    }
    if engine.simulated {
        out.push_str(
            "SIMULATED: these figures are of Dyno's own simulated engine, an instrument and no result\n",
        );
    }
    if let Some(why) = &shard.provenance.partial {
        let _ = writeln!(out, "PARTIAL: {}", plain(why));
    }
    out
}

#[cfg(test)]
mod tests;
