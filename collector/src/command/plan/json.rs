//! The plan for programs. Unknown is `null`.

use dyno_shared::comparison::plan::{Basis, CasePlan, Pace, Source, total_seconds};
use dyno_shared::statistics::sample_size::Design;
use serde_json::{Value, json};

/// All cases, with what each difference needs.
pub(super) fn plans(labels: [Option<&str>; 2], plans: &[CasePlan], differences: &[f64]) -> Value {
    let totals = differences.iter().map(|&difference| {
        json!({
            "difference": difference,
            "unpaired_s": total_seconds(plans, Design::Unpaired, difference),
            "paired_s": total_seconds(plans, Design::Paired, difference),
        })
    });
    json!({
        "label": labels[0],
        "second_label": labels[1],
        "differences": differences,
        "cases": plans.iter().map(|plan| case(plan, plans, differences)).collect::<Vec<_>>(),
        "totals": totals.collect::<Vec<_>>(),
    })
}

fn case(plan: &CasePlan, plans: &[CasePlan], differences: &[f64]) -> Value {
    let paired = plan.paired.as_ref();
    let same_rounds = plan.rounds_of.and_then(|at| plans.get(at)).map(|of| of.case.as_str());
    json!({
        "case": plan.case,
        "regime": plan.regime,
        "concurrency": plan.concurrency,
        "metric": plan.metric.map(|of| of.tag),
        "unit": plan.metric.map(|of| of.unit.symbol()),
        "family": plan.metric.map(|of| of.family.title()),
        "unpaired": plan.unpaired.as_ref().ok().map(|of| basis(plan, of, differences)),
        "unpaired_unknown": plan.unpaired.as_ref().err(),
        "paired": paired.and_then(|of| of.as_ref().ok()).map(|of| basis(plan, of, differences)),
        "paired_unknown": match paired {
            None => Some("it takes a second file"),
            Some(of) => of.as_ref().err().map(String::as_str),
        },
        "same_rounds_as": same_rounds,
        "first": pace(&plan.paces[0]),
        "second": pace(&plan.paces[1]),
    })
}

fn basis(plan: &CasePlan, basis: &Basis, differences: &[f64]) -> Value {
    let needed = differences.iter().map(|&difference| {
        let needed = basis.needed(difference);
        json!({
            "difference": difference,
            "needed": needed,
            "seconds": needed.and_then(|n| plan.seconds(basis.unit, n)),
        })
    });
    json!({
        "counted": basis.unit.word(),
        "n": basis.n,
        "spread": basis.spread,
        "plans": needed.collect::<Vec<_>>(),
    })
}

fn pace(pace: &Pace) -> Value {
    json!({
        "run_s": pace.run_s,
        "run_s_source": pace.source.map(|of| match of {
            Source::StartToStart => "start to start",
            Source::OwnSpan => "own span",
        }),
        "warmups": pace.warmups,
        "warmup_s": pace.warmup_s,
        "recorded_per_passed": pace.recorded_per_passed,
        "runs_per_start": pace.runs_per_start,
    })
}
