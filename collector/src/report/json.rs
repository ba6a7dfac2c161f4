//! The report for programs.

use dyno_shared::submission::Submission;
use dyno_shared::summary::Estimate;
use serde_json::{Value, json};

use super::CaseView;

/// The report as JSON. Unknown is `null`.
pub fn report(file: &str, shard: &Submission) -> Value {
    let system = &shard.system;
    json!({
        "file": file,
        "label": shard.label,
        "engine": system.engine.name,
        "engine_version": system.engine.version,
        "simulated": system.engine.simulated,
        "model": system.model.name,
        "quantisation": system.model.quantisation,
        "hardware": system.hardware.name,
        "series": shard.provenance.series,
        "started_at": shard.provenance.started_at,
        "evidence": shard.provenance.evidence,
        "partial": shard.provenance.partial,
        "cases": super::views(shard).iter().map(case).collect::<Vec<_>>(),
        "prefill_fit": super::latency::fit_json(&shard.cases),
        "stated_comparisons": shard.stated_comparisons,
        "notes": shard.notes,
    })
}

fn case(view: &CaseView<'_>) -> Value {
    let CaseView { case, summary, gaps } = view;
    json!({
        "case": case.id,
        "regime": case.regime,
        "workload": case.workload,
        "concurrency": case.concurrency,
        "achieved_concurrency": summary.achieved_concurrency,
        "depth_tokens": case.depth_tokens,
        "turns": case.turns,
        "arrival": case.arrival,
        "prompt_tokens_target": case.prompt_tokens_target,
        "prompt_tokens": summary.prompt_tokens,
        "output_tokens": summary.output_tokens,
        "runs": summary.runs,
        "passed": summary.passed,
        "estimates": summary.estimates.iter().map(estimate).collect::<Vec<_>>(),
        "inter_token_latency": super::latency::gaps_json(*gaps),
        "failures": summary.failures.iter().map(|f| json!({"run": f.run, "reasons": f.reasons})).collect::<Vec<_>>(),
        "outliers": summary.outliers,
        "drift_over_case": summary.drift.as_ref().map(|d| d.change_over_case),
        "warnings": summary.warnings.iter().map(|w| json!({"name": w.name, "text": w.text})).collect::<Vec<_>>(),
        "reproducibility": case.reproducibility,
        "ended_early": case.ended_early,
    })
}

fn estimate(estimate: &Estimate) -> Value {
    let metric = dyno_shared::metric::find(&estimate.metric);
    json!({
        "metric": estimate.metric,
        "unit": estimate.unit.as_deref().or(metric.map(|m| m.unit.symbol())),
        "statistic": estimate.statistic,
        "value": estimate.value,
        "low": estimate.interval.as_ref().map(|i| i.low),
        "high": estimate.interval.as_ref().map(|i| i.high),
        "interval": estimate.interval.as_ref().map(|i| i.kind.as_str()),
        "min": estimate.min,
        "max": estimate.max,
        "n": estimate.n,
        "spread": estimate.spread,
        "detects": estimate.detects,
        "note": estimate.note,
    })
}
