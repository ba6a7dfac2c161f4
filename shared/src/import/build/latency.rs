//! Statistics that serving benchmarks spread over keys: `mean_ttft_ms`, `p99.9_itl_ms`.

use super::super::Node;
use super::{joined, seconds_of_ms, spread_note, stated};
use crate::submission::StatedEstimate;
use crate::validate::Problem;

/// One latency of a tool's file.
#[derive(Debug)]
pub struct Latency {
    /// Its name within the keys: `ttft` of `mean_ttft_ms`.
    pub key: &'static str,
    /// The metric of ours that it is, in seconds; `None` where it is the tool's own, which keeps name and unit.
    pub metric: Option<&'static str>,
    /// What a reader must know of its definition.
    pub note: &'static str,
    /// Whether there is one value for each request, so that `n` is known.
    pub per_request: bool,
}

/// Everything that `row` states of these latencies, in the order of the file: keys `<statistic>_<key>_ms`. A standard
/// deviation stands in the note of its mean.
///
/// # Errors
/// Where one is no number.
pub fn latencies(
    row: &Node<'_>,
    known: &[Latency],
    requests: Option<u64>,
) -> Result<Vec<StatedEstimate>, Problem> {
    let mut figures = Vec::new();
    for (name, value) in row.members() {
        let Some((statistic, latency)) = known.iter().find_map(|latency| {
            let statistic = name.strip_suffix("_ms")?.strip_suffix(latency.key)?.strip_suffix('_')?;
            is_statistic(statistic).then_some((statistic, latency))
        }) else {
            continue;
        };
        let ms = value.as_number()?;
        let (value, scale, unit) = match latency.metric {
            Some(_) => (seconds_of_ms(ms), 1e-3, "s"),
            None => (ms, 1.0, "ms"),
        };
        let deviation = match statistic {
            "mean" => row.number(&format!("std_{}_ms", latency.key))?.map(|ms| ms * scale),
            _ => None,
        };
        let spread = spread_note("population", deviation, unit);
        figures.extend(stated(latency.metric.unwrap_or(latency.key), Some(statistic), value).map(|figure| {
            StatedEstimate {
                unit: latency.metric.is_none().then(|| unit.to_owned()),
                n: requests.filter(|_| latency.per_request),
                note: joined(&[Some(latency.note), spread.as_deref()]),
                ..figure
            }
        }));
    }
    Ok(figures)
}

/// `mean`, `median`, or a percentile such as `p99` and `p99.9`.
fn is_statistic(name: &str) -> bool {
    let is_percentile = |digits: &str| {
        digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    matches!(name, "mean" | "median") || name.strip_prefix('p').is_some_and(is_percentile)
}

/// A figure of the tool's own name and unit, under the key that it has in the file.
///
/// # Errors
/// Where it is no number.
pub fn own(
    row: &Node<'_>,
    key: &str,
    unit: &str,
    note: Option<&str>,
) -> Result<Option<StatedEstimate>, Problem> {
    // Old files of vLLM have a colon in one of their keys.
    let value = match row.number(key)? {
        None => row.number(&format!("{key}:"))?,
        known => known,
    };
    Ok(stated(key, None, value).map(|figure| StatedEstimate {
        unit: Some(unit.to_owned()),
        note: note.map(str::to_owned),
        ..figure
    }))
}
