//! A case of a submission: its figures, every run in order, what failed, and what to be careful with.

use dyno_shared::chart::run_strip;
use dyno_shared::figure::runs;
use dyno_shared::format::{full, short};
use dyno_shared::metric;
use dyno_shared::query::CaseKey;
use dyno_shared::submission::{Case, Evidence};
use dyno_shared::summary::{CaseSummary, RunFailure, Warning};
use dyno_shared::workload::{Arrival, Sampling};
use yew::{Html, html};

use super::leaderboard::some;
use super::telemetry::telemetry;
use crate::component::{MarkedFigure, estimates, every_estimate, run_table};
use crate::dom::{div, el, p};
use crate::identity::joined;

/// What a case is shown with.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// What its figures rest on.
    pub evidence: Evidence,
    /// Colour of the engine.
    pub colour: usize,
    /// CSS pixels that figures may take.
    pub width: u32,
}

/// The section of a case.
pub fn section(case: &Case, summary: &CaseSummary, look: Look) -> Html {
    let mut section =
        el("section").class("case").el(el("h3").text(title(case))).with(p("muted", about(case, summary)));
    section = section.when(case.description.clone().map(|words| p("", words)));
    if !summary.warnings.is_empty() {
        let line = |warning: &Warning| {
            let name = el("strong").text(warning.name.replace('_', " "));
            el("li").el(name).text(format!(": {}", warning.text)).done()
        };
        section = section.el(el("ul").class("warnings").each(summary.warnings.iter().map(line)));
    }
    section = section.with(estimates(summary, look.evidence, case.concurrency));
    if case.runs.is_empty() {
        return section.each(told(case)).done();
    }
    let strip = metric::find(case.regime.headline()).map(|headline| {
        let strip = runs::strip(case, summary, headline, look.evidence, look.colour);
        html! {
            <MarkedFigure
                drawing={run_strip(&strip, look.width)}
                about="Runs in order; the arrow keys read them out"
                hint="Point at a run, or use the arrow keys, to read it."
            />
        }
    });
    let more = el("details")
        .el(el("summary").text("Every figure, check and run"))
        .el(div("wide-table")
            .attr("tabindex", "0")
            .attr("role", "region")
            .attr("aria-label", "Every figure")
            .with(every_estimate(summary)))
        .each(told(case))
        .with(telemetry(&case.runs))
        .with(run_table(case));
    section.when(strip).when((!summary.failures.is_empty()).then(|| failures(case, summary))).el(more).done()
}

/// `chat · 8 streams · 3 turns · open loop, Poisson 2/s`.
fn title(case: &Case) -> String {
    let key = CaseKey { id: case.id.clone(), streams: case.concurrency };
    let turns = case.turns.map_or_else(String::new, |turns| some(turns as usize, "turn"));
    let arrival = case.arrival.map_or_else(String::new, |arrival| {
        let how = if matches!(arrival, Arrival::Poisson { .. }) { "Poisson" } else { "evenly" };
        format!("open loop, {how} {}/s", full(arrival.per_s()))
    });
    joined(&[&key.title(), &turns, &arrival])
}

/// How the case was run, in sentences.
fn told(case: &Case) -> impl Iterator<Item = Html> {
    let told = [checks(case), reproducibility(case), sampling(&case.sampling)];
    told.into_iter().flatten().map(|words| p("muted", words))
}

fn failures(case: &Case, summary: &CaseSummary) -> Html {
    let line = |failure: &RunFailure| {
        el("li").text(format!("run {}: {}", failure.run, failure.reasons.join("; "))).done()
    };
    let head = format!("Failed runs, in no figure: {} of {}", summary.failures.len(), case.runs.len());
    div("failures").el(el("h4").text(head)).el(el("ul").each(summary.failures.iter().map(line))).done()
}

/// `code · 13 of 16 runs passed · prompt 48 tok (asked 50) · answer 512 tok`.
fn about(case: &Case, summary: &CaseSummary) -> String {
    let mut parts = Vec::new();
    if case.workload != case.id {
        parts.push(format!("workload {}", case.workload));
    }
    if let (Some(runs), Some(passed)) = (summary.runs, summary.passed) {
        parts.push(format!("{passed} of {runs} runs passed"));
    }
    let served = summary.achieved_concurrency.filter(|served| *served < case.concurrency);
    parts.extend(served.map(|served| format!("{served} of {} streams served at once", case.concurrency)));
    parts.extend(tokens("prompt", summary.prompt_tokens, case.prompt_tokens_target));
    parts.extend(tokens("answer", summary.output_tokens, case.output_tokens_target));
    parts.extend(case.depth_tokens.map(|depth| format!("cached context {depth} tok")));
    parts.extend(
        (!case.warmups.is_empty()).then(|| format!("{} before", some(case.warmups.len(), "warm-up"))),
    );
    parts.join(" · ")
}

/// What was measured, with what was aimed at where that is something else.
fn tokens(name: &str, measured: Option<f64>, target: Option<u64>) -> Option<String> {
    match (measured, target) {
        (None, None) => None,
        (None, Some(target)) => Some(format!("{name} {target} tok aimed at")),
        (Some(measured), Some(target)) if (measured - target as f64).abs() >= 0.5 => {
            Some(format!("{name} {} tok ({target} aimed at)", short(measured)))
        }
        (Some(measured), _) => Some(format!("{name} {} tok", short(measured))),
    }
}

/// `not_empty 16/16, no_replacement_character 16/16`.
fn checks(case: &Case) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for check in case.runs.iter().flat_map(|run| &run.checks) {
        if !names.contains(&check.name.as_str()) {
            names.push(&check.name);
        }
    }
    let counted: Vec<String> = names
        .iter()
        .map(|name| {
            let of_name = || case.runs.iter().flat_map(|run| &run.checks).filter(|check| check.name == *name);
            format!(
                "{} {}/{}",
                name.replace('_', " "),
                of_name().filter(|check| check.passed).count(),
                of_name().count()
            )
        })
        .collect();
    (!counted.is_empty()).then(|| format!("Checks passed: {}", counted.join(", ")))
}

fn reproducibility(case: &Case) -> Option<String> {
    let told = case.reproducibility.as_ref()?;
    let what = match (told.identical, told.first_difference_chars) {
        (true, _) => "gave the same answer every time".to_owned(),
        (false, Some(at)) => format!("gave answers that differ from character {at} on"),
        (false, None) => "gave different answers".to_owned(),
    };
    let times =
        told.attempts.map_or_else(|| "several times".to_owned(), |attempts| format!("{attempts} times"));
    Some(format!("Reproducibility: the first prompt, sent {times}, {what}."))
}

fn sampling(sampling: &Sampling) -> Option<String> {
    let on = |on: bool| if on { "on" } else { "off" }.to_owned();
    let parts: Vec<String> = [
        ("temperature", sampling.temperature.map(full)),
        ("top_p", sampling.top_p.map(full)),
        ("top_k", sampling.top_k.map(|x| x.to_string())),
        ("seed", sampling.seed.map(|x| x.to_string())),
        ("max_tokens", sampling.max_tokens.map(|x| x.to_string())),
        ("ignore_eos", sampling.ignore_eos.map(on)),
        ("thinking", sampling.thinking.map(on)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some(format!("{name} {}", value?)))
    .collect();
    (!parts.is_empty()).then(|| format!("Sampling sent: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_prompt_length_stands_before_the_one_aimed_at() {
        assert_eq!(
            tokens("prompt", Some(7373.2), Some(8192)).as_deref(),
            Some("prompt 7,370 tok (8192 aimed at)")
        );
        assert_eq!(tokens("prompt", Some(512.0), Some(512)).as_deref(), Some("prompt 512 tok"));
        assert_eq!(tokens("prompt", None, Some(512)).as_deref(), Some("prompt 512 tok aimed at"));
        assert_eq!(tokens("prompt", None, None), None);
    }
}
