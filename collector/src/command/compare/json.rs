//! A comparison for programs. Unknown is `null`.

use dyno_shared::comparison::{
    Against, CaseComparison, Comparison, Pair, Ratio, Role, Unit, Verdict, Way, letter, method, sentence,
};
use dyno_shared::summary::Estimate;
use serde_json::{Value, json};

/// The whole of it.
pub(super) fn comparison(of: &Comparison) -> Value {
    let sides = of.sides.iter().enumerate().map(|(at, side)| {
        json!({
            "side": letter(at),
            "label": side.label,
            "boots": side.boots,
            "same_configuration_as_the_first": (at > 0).then_some(side.is_the_first_again),
            "sentence": (at > 0).then(|| sentence(of, at)),
        })
    });
    let differences = of.facts.iter().filter(|fact| fact.differs());
    json!({
        "margin_ratio": of.terms.margin_ratio,
        "allow_mismatch": of.terms.allow_mismatch,
        "sides": sides.collect::<Vec<_>>(),
        "differences": differences
            .map(|fact| json!({ "group": fact.group, "name": fact.name, "values": fact.values }))
            .collect::<Vec<_>>(),
        "cases": of.cases.iter().map(case).collect::<Vec<_>>(),
        "holm_over": { "headline": of.headline_tests, "beside": of.tests_beside },
        "method": method(of),
    })
}

fn case(case: &CaseComparison) -> Value {
    json!({
        "case": case.case,
        "regime": case.regime,
        "concurrency": case.concurrency,
        "noise_band": case.noise.map(|band| json!({ "low": band.low, "high": band.high })),
        "against": case.against.iter().map(against).collect::<Vec<_>>(),
    })
}

fn against(of: &Against) -> Value {
    json!({
        "side": letter(of.side),
        "found": of.found.word(),
        "reasons": of.reasons,
        "remarks": of.remarks,
        "ratios": of.ratios.iter().map(ratio).collect::<Vec<_>>(),
    })
}

fn ratio(of: &Ratio) -> Value {
    let role = match of.role {
        Role::Headline => "headline",
        Role::Beside => "beside",
        Role::Shown => "shown",
        Role::Split => "split",
    };
    let way = match of.way {
        Way::Paired => "paired",
        Way::Unpaired => "unpaired",
        Way::Stated => "stated",
        Way::Refused => "refused",
    };
    let statistic = match (of.way, of.unit) {
        (Way::Stated | Way::Refused, _) => None,
        (Way::Paired, Unit::Run) => Some("bootstrap, expanded; exact Wilcoxon signed-rank"),
        (Way::Paired, Unit::Cycle) => Some("t over cycles"),
        (_, Unit::Boot) => Some("Welch's t over boots"),
        (Way::Unpaired, _) => Some("Welch's t over runs"),
    };
    json!({
        "metric": of.metric.tag,
        "unit": of.metric.unit.symbol(),
        "family": of.metric.family.title(),
        "better": of.metric.better.words(),
        "role": role,
        "way": way,
        "unit_of_replication": of.unit.word(),
        "statistic": statistic,
        "n": { "first": of.n[0], "this": of.n[1] },
        "first": of.figures[0].as_ref().map(figure),
        "this": of.figures[1].as_ref().map(figure),
        "ratio": of.ratio,
        "low": of.interval.map(|of| of.low),
        "high": of.interval.map(|of| of.high),
        "p": of.p,
        "holm_p": of.holm_p,
        "equivalence_p": of.equivalence_p,
        "detects_log_ratio": of.detects,
        "between_boots_log_sd": { "first": of.between_boots[0], "this": of.between_boots[1] },
        "verdict": of.verdict.as_ref().map(Verdict::word),
        "pairs": of.pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}

fn figure(of: &Estimate) -> Value {
    json!({
        "value": of.value,
        "low": of.interval.as_ref().map(|of| of.low),
        "high": of.interval.as_ref().map(|of| of.high),
        "interval": of.interval.as_ref().map(|of| &of.kind),
        "statistic": of.statistic,
        "n": of.n,
    })
}

fn pair(of: &Pair) -> Value {
    json!({ "cycle": of.cycle, "run": of.run, "first": of.a, "this": of.b })
}
