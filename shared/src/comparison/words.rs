//! A comparison in words.

use super::side::CaseOf;
use super::verdict::{Unit, Verdict, margin};
use super::{Against, Comparison, Found, Ratio, Role, Way};
use crate::format;
use crate::submission::Case;
use crate::summary::noise_warnings;

/// So many cases are named before the rest is counted.
const MOST_NAMED: usize = 4;

/// `A` for the first side, `B` for the next; `27` after `Z`.
pub fn letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => (side + 1).to_string(),
    }
}

/// What a side is against the first, in a sentence: `B decodes faster on code (+3.1 %) and is not separated on prose.`
pub fn sentence(comparison: &Comparison, side: usize) -> String {
    let of_side = || {
        comparison.cases.iter().filter_map(move |case| {
            let against = case.against.iter().find(|against| against.side == side)?;
            Some((case.case.as_str(), against))
        })
    };
    let ratios = |role: Role| -> Vec<(&str, &Ratio)> {
        let of = |(case, against)| {
            let against: &Against = against;
            against.ratios.iter().filter(move |ratio| ratio.role == role).map(move |ratio| (case, ratio))
        };
        of_side().flat_map(of).collect()
    };
    let mut clauses = winners(&ratios(Role::Headline));
    for (what, is) in states(comparison.terms.margin_ratio) {
        let cases: Vec<&str> =
            ratios(Role::Headline).iter().filter(|(_, ratio)| is(ratio)).map(|(case, _)| *case).collect();
        if !cases.is_empty() {
            clauses.push([what.as_str(), " on ", &named(&cases)].concat());
        }
    }
    clauses.extend(winners(&ratios(Role::Beside)));
    let name = letter(side);
    if clauses.is_empty() {
        let shares = of_side().any(|(_, against)| against.found == Found::Both);
        let why = if shares { " and A have no figure in common." } else { " and A have no case in common." };
        return [&name, why].concat();
    }
    [&name, " ", &listed(&clauses), "."].concat()
}

/// Whether a ratio is of a kind.
type Kind = fn(&Ratio) -> bool;

/// What is not a winner, and how to say it.
fn states(margin_ratio: f64) -> [(String, Kind); 5] {
    [
        (["is equivalent within ", &margin(margin_ratio)].concat(), |of| {
            of.verdict == Some(Verdict::Equivalent)
        }),
        ("is not separated".to_owned(), |of| of.verdict == Some(Verdict::NotSeparated)),
        ("has too few runs".to_owned(), |of| matches!(of.verdict, Some(Verdict::TooFew { .. }))),
        ("is comparable by what is stated alone".to_owned(), |of| of.way == Way::Stated),
        ("is not comparable".to_owned(), |of| of.way == Way::Refused),
    ]
}

/// A clause for each verb: `decodes faster on code and prose (+3.1 to +4.0 %)`.
fn winners(ratios: &[(&str, &Ratio)]) -> Vec<String> {
    let mut clauses: Vec<(&'static str, Vec<(&str, f64)>)> = Vec::new();
    for (case, ratio) in ratios {
        let verb = match ratio.verdict {
            Some(Verdict::Faster) => verbs(ratio.metric.tag).0,
            Some(Verdict::Slower) => verbs(ratio.metric.tag).1,
            _ => continue,
        };
        let Some(change) = ratio.ratio else { continue };
        match clauses.iter_mut().find(|(known, _)| *known == verb) {
            Some((_, cases)) => cases.push((case, change)),
            None => clauses.push((verb, vec![(case, change)])),
        }
    }
    let clause = |(verb, cases): (&str, Vec<(&str, f64)>)| {
        let names: Vec<&str> = cases.iter().map(|(case, _)| *case).collect();
        let smallest = cases.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
        let largest = cases.iter().map(|of| of.1).fold(0.0, f64::max);
        let (low, high) = (change(smallest), change(largest));
        let range = if low == high { high } else { [&low, " to ", &high].concat() };
        [verb, " on ", &named(&names), " (", &range, " %)"].concat()
    };
    clauses.into_iter().map(clause).collect()
}

fn verbs(tag: &str) -> (&'static str, &'static str) {
    match tag {
        "client_wall_decode_tok_s" | "client_wall_two_length_decode_tok_s" => {
            ("decodes faster", "decodes slower")
        }
        "engine_decode_tok_s" => {
            ("decodes faster by the engine's count", "decodes slower by the engine's count")
        }
        "client_wall_prefill_tok_s" => ("prefills faster", "prefills slower"),
        "engine_prefill_tok_s" => {
            ("prefills faster by the engine's count", "prefills slower by the engine's count")
        }
        "client_wall_ttft_s" => ("answers the first token earlier", "answers the first token later"),
        "engine_ttft_s" => (
            "answers the first token earlier by the engine's count",
            "answers it later by the engine's count",
        ),
        _ => ("serves more tokens per second in all", "serves fewer tokens per second in all"),
    }
}

/// A ratio as a change in percent, without its sign `%`: `+3.1`, `−12`.
fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let size = percent.abs();
    let shown = format::fixed(size, usize::from(size < 10.0));
    [if percent < 0.0 { "−" } else { "+" }, &shown].concat()
}

fn named(cases: &[&str]) -> String {
    let mut names: Vec<String> = cases.iter().take(MOST_NAMED).map(|case| (*case).to_owned()).collect();
    if cases.len() > MOST_NAMED {
        names.push([&(cases.len() - MOST_NAMED).to_string(), " more"].concat());
    }
    listed(&names)
}

fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => [&first.join(", "), " and ", last].concat(),
    }
}

/// How the figures of a comparison were made, in lines for its foot.
pub fn method(comparison: &Comparison) -> Vec<String> {
    let ratios = || comparison.cases.iter().flat_map(|case| &case.against).flat_map(|of| &of.ratios);
    let any =
        |unit: Unit, way: Way| ratios().any(|of| of.unit == unit && of.way == way && of.ratio.is_some());
    let mut lines = Vec::new();
    if any(Unit::Run, Way::Paired) {
        lines.push(
            "Runs of one number, with the same prompt, pair. Ratio: geometric mean; 95 % interval: bootstrap over the \
             pairs (expanded, 10,000 resamples); p: exact Wilcoxon signed-rank test, two-sided."
                .to_owned(),
        );
        if comparison.sides.iter().all(|side| side.boots == 1) {
            lines.push(
                "Each side is one start of its server: what a start changes by itself, or the machine between the two \
                 measurements, is taken for a difference between the sides. Boots taken together or the cycles of a \
                 sweep tell them apart."
                    .to_owned(),
            );
        }
    }
    if any(Unit::Cycle, Way::Paired) {
        lines.push(
            "The unit of replication is the cycle, a fresh server for each side: mean log ratio of each cycle, 95 % t \
             interval and t test on cycles − 1 degrees of freedom."
                .to_owned(),
        );
    }
    if ratios().any(|of| of.unit == Unit::Boot) {
        lines.push(
            "The unit of replication is the boot, since each side has three or more: mean log figure of each boot, \
             Welch's t interval and test between them. What a start of the server changes by itself is in it."
                .to_owned(),
        );
    } else if comparison.sides.iter().any(|side| side.boots > 1) {
        lines.push(
            "The unit of replication is the run: boots of a side are averaged run by run, because an interval over \
             boots needs three of them on each side. What a start of the server changes by itself is not in it."
                .to_owned(),
        );
    }
    if ratios().any(|of| of.way == Way::Unpaired && of.ratio.is_some()) {
        lines.push(
            "Unpaired, because what was asked differs: Welch's t interval and test on log figures. What the prompts differ \
             in is in the ratio."
                .to_owned(),
        );
    }
    let (headlines, beside) = (comparison.headline_tests, comparison.tests_beside);
    if headlines + beside > 0 {
        lines.push(
            [
                "p is corrected by Holm: over ",
                &format::count(headlines, "headline"),
                ", and apart over ",
                &format::count(beside, "other test"),
                ". A winner needs p < 0.05 and an interval without 1; equivalence needs p < 0.05 in two one-sided \
                 tests at ",
                &margin(comparison.terms.margin_ratio),
                " (they are not corrected, and go with a 90 % interval, narrower than the one shown)",
                ".",
            ]
            .concat(),
        );
    }
    lines
}

/// What the verdicts of a comparison mean, each once.
pub fn meanings(comparison: &Comparison) -> Vec<String> {
    let mut meanings = Vec::new();
    for ratio in comparison.cases.iter().flat_map(|case| &case.against).flat_map(|of| &of.ratios) {
        // Reasons stand with their case.
        let verdict = ratio.verdict.as_ref().filter(|of| !matches!(of, Verdict::NotComparable(_)));
        if let Some(meaning) = verdict.and_then(|verdict| verdict.meaning(comparison.terms.margin_ratio))
            && !meanings.contains(&meaning)
        {
            meanings.push(meaning);
        }
    }
    meanings
}

/// What to make of a side that ran the first side's configuration again.
pub fn again(side: usize) -> String {
    [
        "As far as the files tell, ",
        &letter(side),
        " ran the same configuration as A: what is shown is the noise between two starts.",
    ]
    .concat()
}

/// What a reader must know beside the ratios of a case.
pub(super) fn remarks(side: usize, of: [&CaseOf<'_>; 2], against: &Against) -> Vec<String> {
    let mut remarks = Vec::new();
    let name = letter(side);
    let [passed_a, passed_b] = of.map(|case| case.passing().len());
    if let Some(headline) = against.headline().filter(|of| of.unit == Unit::Run && of.way == Way::Paired)
        && of.iter().all(|case| case.boots.len() == 1)
        && (headline.n[0] < passed_a || headline.n[0] < passed_b)
    {
        let [pairs, a, b] = [(headline.n[0], "pair"), (passed_a, "passing run"), (passed_b, "passing run")]
            .map(|(n, what)| format::count(n, what));
        remarks.push([&pairs, ": A has ", &a, ", ", &name, " has ", &b].concat());
    }
    for (at, case) in [0, side].into_iter().zip(of) {
        // The first side's stand beside the first comparison alone.
        if at == 0 && side > 1 {
            continue;
        }
        for boot in &case.boots {
            let which = if case.boots.len() > 1 {
                [&letter(at), ", boot ", &(boot.boot + 1).to_string()].concat()
            } else {
                letter(at)
            };
            for warning in noise_warnings(&boot.case.runs) {
                remarks.push([&which, ": ", &warning.text].concat());
            }
        }
    }
    let conventions = of.map(|case| convention(case.case()));
    if conventions[0] != conventions[1] {
        let [a, b] = conventions;
        remarks.push(["rates are made differently: ", a, " (A), ", b, " (", &name, ")"].concat());
    }
    remarks
}

/// Which tokens a case's rates are made of.
fn convention(case: &Case) -> &'static str {
    let of_runs = case.runs.iter().find_map(|run| run.rate_convention.as_deref());
    let of_figures = case.stated.iter().find_map(|of| of.rate_convention.as_deref());
    match if case.runs.is_empty() { of_figures } else { of_runs } {
        Some("n") => "all tokens over the span",
        _ => "the tokens after the first event over the span",
    }
}
