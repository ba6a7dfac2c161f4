//! Why two figures that stand side by side were not made alike: what a baseline of another engine or tool is told with.

use crate::index::{Entry, Row};
use crate::metric::{self, Family};
use crate::submission::Evidence;

/// A figure: its submission, its case, and the tag of the metric.
#[derive(Debug, Clone, Copy)]
pub struct Figure<'a> {
    /// The submission.
    pub entry: &'a Entry,
    /// The case.
    pub row: &'a Row,
    /// Tag of the metric that is shown.
    pub tag: &'a str,
}

/// Prompts that differ by more than this factor are other prompts.
const SAME_LENGTH: f64 = 1.25;

/// What differs between two figures beside the engine, in words; empty where they are like for like. What one of them
/// does not state counts as differing, and is said as such. The index knows of a tool only how a submission came about.
pub fn differences(a: Figure<'_>, b: Figure<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut differ = |what: &str, a: Option<&str>, b: Option<&str>| match (a, b) {
        (Some(a), Some(b)) if a == b => {}
        (None, None) => reasons.push([what, " not stated"].concat()),
        (a, b) => {
            let word = |of: Option<&str>| of.unwrap_or("not stated").to_owned();
            reasons.push([what, ": ", &word(a), " against ", &word(b)].concat());
        }
    };
    differ("workload", stated(&a.row.workload), stated(&b.row.workload));
    differ("quantisation", a.entry.quantisation.as_deref(), b.entry.quantisation.as_deref());
    differ("measured how", stated(&a.entry.origin), stated(&b.entry.origin));
    differ("evidence", evidence(a.entry.evidence), evidence(b.entry.evidence));
    differ("clock", Some(clock(a.tag)), Some(clock(b.tag)));
    if a.row.concurrency != b.row.concurrency {
        reasons.push("streams differ".to_owned());
    }
    match (a.row.prompt_tokens, b.row.prompt_tokens) {
        (Some(a), Some(b)) if a.max(b) <= a.min(b) * SAME_LENGTH => {}
        (Some(_), Some(_)) => reasons.push("prompt lengths differ".to_owned()),
        _ => reasons.push("prompt length not stated".to_owned()),
    }
    reasons
}

fn stated(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn evidence(of: Evidence) -> Option<&'static str> {
    match of {
        Evidence::Raw => Some("raw runs"),
        Evidence::Summary => Some("summary"),
        Evidence::Unknown => None,
    }
}

/// Whose clock a rate is by.
fn clock(tag: &str) -> &'static str {
    match metric::find(tag).map(|metric| metric.family) {
        Some(Family::Client) => "client’s",
        Some(Family::Engine) => "engine’s",
        Some(Family::Both) => "both",
        None => "the source’s own",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexPage;
    use crate::testing::{shard_of, single_stream_case};

    #[test]
    fn the_same_case_measured_alike_has_no_reason_but_what_is_not_stated() {
        let mut page = IndexPage::default();
        let mut shard = shard_of(vec![single_stream_case("code", &[(501, 5.0), (501, 5.2)])]);
        shard.system.model.quantisation = Some("Q4_1".into());
        page.push("a", &shard);
        shard.system.model.quantisation = Some("FP8".into());
        page.push("b", &shard);
        let mut rows = page.rows();
        for row in &mut rows {
            row.prompt_tokens = Some(100.0);
        }
        let figure = |i: usize, tag| Figure { entry: &page.entries[i], row: &rows[i], tag };
        let (client, engine) = ("client_wall_decode_tok_s", "engine_decode_tok_s");
        assert!(differences(figure(0, client), figure(0, client)).is_empty());
        assert_eq!(
            differences(figure(0, client), figure(1, engine)),
            ["quantisation: Q4_1 against FP8", "clock: client’s against engine’s"]
        );
        let mut other = rows[0].clone();
        (other.prompt_tokens, other.concurrency, other.workload) = (Some(75_000.0), 8, String::new());
        let other = Figure { row: &other, ..figure(0, client) };
        assert_eq!(
            differences(figure(0, client), other),
            ["workload: code against not stated", "streams differ", "prompt lengths differ"]
        );
    }
}
