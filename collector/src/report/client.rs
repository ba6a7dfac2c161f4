//! What the client itself adds to the figures, as its calibration found.

use std::fmt::Write as _;

use dyno_shared::format::{UNKNOWN, short};
use dyno_shared::gaps::GapDistribution;
use dyno_shared::submission::{Calibration, Evidence, Origin, Submission};
use dyno_shared::summary::{Warning, exceeds};
use dyno_shared::units::Seconds;

use super::table::wrapped;

/// A line on the client of a measurement of our own; of figures from elsewhere nothing is known.
pub(super) fn write(out: &mut String, shard: &Submission) {
    let provenance = &shard.provenance;
    if provenance.origin != Origin::Collected || provenance.evidence != Evidence::Raw {
        return;
    }
    let line = provenance.calibration.as_ref().map_or_else(
        || "the client was not calibrated: how much it adds to these figures is unknown".to_owned(),
        line,
    );
    let _ = write!(out, "\nClient\n{}", wrapped(&line));
}

fn line(c: &Calibration) -> String {
    let ms = |s: Option<Seconds>| s.map_or_else(|| UNKNOWN.to_owned(), |s| short(s.get() * 1e3));
    let number = |n: Option<String>| n.unwrap_or_else(|| UNKNOWN.to_owned());
    format!(
        "its own error at {} stream(s) of {} tok/s each, median / p99: TTFT {} / {} ms, gap {} / {} ms; {} tokens lost (against a \
         simulated engine, before the first case)",
        number(c.streams.map(|n| n.to_string())),
        number(c.rate_tok_s.map(short)),
        ms(c.ttft_error_median_s),
        ms(c.ttft_error_p99_s),
        ms(c.gap_error_median_s),
        ms(c.gap_error_p99_s),
        number(c.lost_tokens.map(|n| n.to_string())),
    )
}

/// Warnings of the table of gaps, where each gap has its own error: median against median, p99 against p99.
pub(super) fn gap_warnings(calibration: &Calibration, gaps: &GapDistribution) -> Vec<Warning> {
    if gaps.per_event.n < super::latency::ENOUGH_GAPS {
        return Vec::new();
    }
    [
        exceeds("the median gap", calibration.gap_error_median_s, Some(gaps.per_event.p50)),
        exceeds("the p99 gap", calibration.gap_error_p99_s, Some(gaps.per_event.p99)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
