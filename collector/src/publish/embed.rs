//! Badges and figures that other pages show: two small SVG files for each case, made when the board is published.

use std::collections::BTreeSet;

use dyno_shared::chart::text::{TextSize, clean, cut, escape, measure};
use dyno_shared::format::with_interval;
use dyno_shared::index::Flag;
use dyno_shared::metric;
use dyno_shared::slug::slug;
use dyno_shared::submission::{Case, Evidence, Submission};
use dyno_shared::summary::{Estimate, summarize_calibrated};

use super::Shard;
use crate::command::chart;

/// The folder of all of them.
pub(super) const FOLDER: &str = "embed";
/// CSS pixels of a badge's height, and around its words.
const HEIGHT: f64 = 22.0;
const MARGIN: f64 = 8.0;
/// CSS pixels of the longest words on the left.
const LONGEST: f64 = 420.0;

/// The files of a submission: `embed/<id>/<case>.svg`, a badge, and `embed/<id>/<case>-chart.svg` where there is
/// something to draw.
pub(super) fn files(shard: &Shard, flag: Option<&Flag>) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut taken) = (Vec::new(), BTreeSet::new());
    // A figure is of one case, and a shard may have hundreds.
    let mut alone = Submission { cases: Vec::new(), ..shard.submission.clone() };
    for case in &shard.submission.cases {
        let name = free(&slug(&case.id), &mut taken);
        let path = |end: &str| format!("{FOLDER}/{}/{name}{end}.svg", shard.id);
        files.push((path(""), badge(&shard.submission, case, flag).into_bytes()));
        let figure = if case.runs.is_empty() { "intervals" } else { "runs" };
        alone.cases = vec![case.clone()];
        if let Ok(svg) = chart::standalone(figure, &alone, Some(&case.id)) {
            files.push((path("-chart"), svg.into_bytes()));
        }
    }
    files
}

/// A name that no other case of the submission has.
fn free(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut free = name.to_owned();
    let mut number = 1;
    while !taken.insert(free.clone()) {
        number += 1;
        free = format!("{name}-{number}");
    }
    free
}

/// What was measured on the left, the case and the figure by which it is judged on the right; what qualifies it is in words.
fn badge(shard: &Submission, case: &Case, flag: Option<&Flag>) -> String {
    let system = &shard.system;
    let model = match &system.model.quantisation {
        Some(quantisation) => format!("{} {quantisation}", system.model.name),
        None => system.model.name.clone(),
    };
    let parts = [system.engine.name.as_str(), &model, &system.hardware.name];
    let what = parts.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(" · ");
    let mut figure =
        format!("{}: {}", cut(&clean(&case.id), TextSize::Small, LONGEST / 2.0), figure(shard, case));
    if let Some(flag) = flag {
        figure = format!("{}: {figure}", if flag.superseded_by.is_some() { "superseded" } else { "flagged" });
    }
    let ground = match (flag, shard.provenance.evidence) {
        (Some(_), _) => "#8a4b00",
        (None, Evidence::Raw) => "#0b5a8f",
        (None, _) => "#5c6370",
    };
    drawn(&clean(&what), &clean(&figure), ground)
}

/// `decode rate 39.5 (38.9–40.1) tok/s`, and what it is where no runs are behind it.
fn figure(shard: &Submission, case: &Case) -> String {
    let summary = summarize_calibrated(case, shard.provenance.calibration.as_ref());
    let tag = case.regime.headline();
    let told = |estimate: &&Estimate| estimate.value.is_some();
    let Some(estimate) = summary.get(tag).filter(told).or_else(|| summary.estimates.iter().find(told)) else {
        return "no figure".to_owned();
    };
    let known = metric::find(&estimate.metric);
    let title = known.map_or(estimate.metric.as_str(), |metric| metric.title);
    let unit =
        known.map_or_else(|| estimate.unit.as_deref().unwrap_or_default(), |metric| metric.unit.symbol());
    let interval = estimate.interval.as_ref().map(|interval| (interval.low, interval.high));
    let stated = if shard.provenance.evidence == Evidence::Raw { "" } else { " stated" };
    format!("{title} {} {unit}{stated}", with_interval(estimate.value, interval)).trim_end().to_owned()
}

fn drawn(what: &str, figure: &str, ground: &str) -> String {
    let whole = escape(&format!("{what} · {figure}"));
    let what = cut(what, TextSize::Small, LONGEST);
    let [left, right] = [&what, figure].map(|words| measure(words, TextSize::Small).ceil() + 2.0 * MARGIN);
    let (width, middle) = (left + right, HEIGHT / 2.0);
    let [what, figure] = [&what, figure].map(escape);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{whole}\">\n\
         <title>{whole}</title>\n\
         <clipPath id=\"r\"><rect width=\"{width}\" height=\"{HEIGHT}\" rx=\"3\"/></clipPath>\n\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"{HEIGHT}\" fill=\"#24292f\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"{HEIGHT}\" fill=\"{ground}\"/></g>\n\
         <g fill=\"#ffffff\" font-family=\"system-ui, sans-serif\" font-size=\"{size}\">\
         <text x=\"{MARGIN}\" y=\"{middle}\" dy=\"0.35em\">{what}</text>\
         <text x=\"{at}\" y=\"{middle}\" dy=\"0.35em\">{figure}</text></g>\n</svg>\n",
        size = TextSize::Small.px(),
        at = left + MARGIN,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard() -> Shard {
        let text = r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"transcribed","source":"s"},"evidence":"summary"},
            "system":{"engine":{"name":"<e>"},"model":{"name":"m","quantisation":"Q4"},"hardware":{"name":"h & co"}},
            "cases":[{"id":"co de","regime":"decode","workload":"code","concurrency":1,
                      "stated":[{"metric":"client_wall_decode_tok_s","value":40,"low":39,"high":41}]},
                     {"id":"co-de","regime":"decode","workload":"code","concurrency":1}]}"#;
        Shard {
            id: "0123456789abcdef".into(),
            text: text.into(),
            submission: dyno_shared::shard::parse(text).unwrap(),
        }
    }

    #[test]
    fn each_case_has_a_badge_and_what_can_be_drawn_a_figure() {
        let files = files(&shard(), None);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let at = "embed/0123456789abcdef";
        assert_eq!(
            names,
            [format!("{at}/co-de.svg"), format!("{at}/co-de-chart.svg"), format!("{at}/co-de-2.svg")]
        );
        let badge = String::from_utf8(files[0].1.clone()).unwrap();
        assert!(badge.contains(">&lt;e&gt; · m Q4 · h &amp; co<"), "{badge}");
        assert!(badge.contains(">co de: decode rate 40") && badge.contains("tok/s stated"), "{badge}");
        assert!(String::from_utf8(files[2].1.clone()).unwrap().contains("no figure"));
    }

    #[test]
    fn a_flag_is_on_the_badge() {
        let flag = Flag { reason: "r".into(), link: "https://example.org".into(), superseded_by: None };
        let files = files(&shard(), Some(&flag));
        assert!(String::from_utf8(files[0].1.clone()).unwrap().contains(">flagged: co de: decode rate"));
    }
}
