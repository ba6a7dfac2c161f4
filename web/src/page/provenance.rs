//! Where a submission comes from, how it was measured, and how far the client is to be trusted.

use dyno_shared::format::{bytes, percent, short};
use dyno_shared::submission::{Evidence, Origin, Provenance};
use dyno_shared::units::Seconds;
use yew::Html;

use crate::badge;
use crate::component::{Fact, facts};
use crate::dom::{el, link, nothing, p, text};

/// How much it proves, and its source.
pub fn evidence(provenance: &Provenance) -> Html {
    let badge = badge::of_provenance(provenance);
    let mut list = vec![Fact::new(&badge.word, Some(badge.meaning))];
    match &provenance.origin {
        Origin::Collected | Origin::Unknown => {}
        Origin::Imported { tool, version } => {
            list.push(Fact::new("tool", Some(tool.clone())));
            list.push(Fact::new("its version", version.clone()));
        }
        Origin::Transcribed { source, location, author } => {
            list.push(Fact::new("source", Some(source.clone())));
            list.push(
                location.as_ref().map_or_else(
                    || Fact::new("where", None),
                    |location| Fact::shown("where", place(location)),
                ),
            );
            list.push(Fact::new("published by", author.clone()));
        }
    }
    facts("Evidence", list)
}

/// A link where the text is an address of the web, else the text.
fn place(location: &str) -> Html {
    if location.starts_with("https://") || location.starts_with("http://") {
        link(location.to_owned(), location.to_owned()).attr("rel", "noopener noreferrer nofollow").done()
    } else {
        text(location.to_owned())
    }
}

/// When, by whom, with what.
pub fn measurement(provenance: &Provenance) -> Html {
    let collector = match (&provenance.collector_version, &provenance.collector_commit) {
        (Some(version), Some(commit)) => Some(format!("{version}, commit {commit}")),
        (version, _) => version.clone(),
    };
    let command = provenance.command.as_ref().map_or_else(
        || Fact::new("command", None),
        |command| Fact::shown("command", el("code").text(command.clone()).done()),
    );
    let list = vec![
        Fact::new("started", provenance.started_at.clone()),
        Fact::known("ended", provenance.ended_at.clone()),
        Fact::known("series", provenance.series.clone()),
        Fact::known("submitter", provenance.submitter.clone()),
        Fact::known("collector", collector),
        command,
    ];
    facts("Measurement", list)
}

/// What the client itself adds to a measurement of our own.
pub fn calibration(provenance: &Provenance) -> Html {
    let title = "Calibration of the client";
    if provenance.origin != Origin::Collected || provenance.evidence != Evidence::Raw {
        return nothing();
    }
    let Some(calibration) = &provenance.calibration else {
        let words = "The client was not calibrated: how much it adds to these figures is unknown.";
        return el("section").class("facts").el(el("h2").text(title)).with(p("muted", words)).done();
    };
    let time = |seconds: Option<Seconds>| seconds.map(|s| short(s.get() * 1e3) + " ms");
    let count = |n: Option<u64>| n.map(|n| n.to_string());
    let list = vec![
        Fact::new("streams", count(calibration.streams.map(u64::from))),
        Fact::new("rate of each", calibration.rate_tok_s.map(|x| short(x) + " tok/s")),
        Fact::known("requests", count(calibration.requests)),
        Fact::known("TTFT error, mean", time(calibration.ttft_error_mean_s)),
        Fact::new("TTFT error, median", time(calibration.ttft_error_median_s)),
        Fact::new("TTFT error, p99", time(calibration.ttft_error_p99_s)),
        Fact::known("gap error, median", time(calibration.gap_error_median_s)),
        Fact::new("gap error, p99", time(calibration.gap_error_p99_s)),
        Fact::new("lost tokens", count(calibration.lost_tokens)),
        Fact::known("tokens too many", count(calibration.extra_tokens)),
        Fact::new("own CPU time", calibration.client_cpu_s.map(|s| short(s.get()) + " s")),
        Fact::known("of one core", calibration.client_cpu_share.map(|share| percent(Some(share)))),
        Fact::known("own memory", calibration.client_memory_bytes.map(bytes)),
    ];
    facts(title, list)
}

/// The submitter's remarks.
pub fn notes(notes: &[String]) -> Html {
    if notes.is_empty() {
        return nothing();
    }
    let lines = notes.iter().map(|note| el("li").text(note.clone()).done());
    el("section").class("facts").el(el("h2").text("Notes")).el(el("ul").class("notes").each(lines)).done()
}
