//! What the tables of the regimes leave out: how inter-token latency is distributed, and what cold prefill costs by
//! its length.

use std::fmt::Write as _;

use dyno_shared::format::{UNKNOWN, significant, with_interval};
use dyno_shared::gaps::{GapDistribution, Quantiles};
use dyno_shared::plain::plain;
use dyno_shared::prefill_fit::{PrefillFit, prefill_fit};
use dyno_shared::statistics::Interval;
use dyno_shared::submission::Case;
use serde_json::{Value, json};

use super::CaseView;
use super::table::{Align, Column, draw, wrapped};

/// Fewer gaps than these have no 99th percentile worth the name.
pub(super) const ENOUGH_GAPS: u64 = 100;

/// The table of inter-token latencies, in milliseconds; nothing where no case has enough gaps.
pub(super) fn gaps(out: &mut String, views: &[CaseView<'_>]) {
    let rows: Vec<(&str, GapDistribution)> = views
        .iter()
        .filter_map(|view| Some((view.case.id.as_str(), view.gaps?)))
        .filter(|(_, gaps)| gaps.per_event.n >= ENOUGH_GAPS)
        .collect();
    if rows.is_empty() {
        return;
    }
    let ms = |of: &dyn Fn(&GapDistribution) -> Option<f64>| {
        rows.iter()
            .map(|(_, gaps)| of(gaps).map_or_else(|| UNKNOWN.to_owned(), |s| significant(s * 1e3, 3)))
            .collect::<Vec<_>>()
    };
    let column = |head: &str, unit: &str, cells| Column::new(head, unit, Align::Right, cells);
    let ids = rows.iter().map(|(id, _)| plain(id)).collect();
    let counts = rows.iter().map(|(_, gaps)| gaps.per_event.n.to_string()).collect();
    let table = draw(&[
        Column::new("inter-token latency", "", Align::Left, ids),
        column("per event", "p50 ms", ms(&|g| Some(g.per_event.p50))),
        column("", "p90 ms", ms(&|g| Some(g.per_event.p90))),
        column("", "p99 ms", ms(&|g| Some(g.per_event.p99))),
        column("", "max ms", ms(&|g| Some(g.per_event.max))),
        column("gaps", "", counts),
        column("per token", "p50 ms", ms(&|g| g.per_token.map(|q| q.p50))),
        column("", "p99 ms", ms(&|g| g.per_token.map(|q| q.p99))),
    ]);
    let _ = write!(
        out,
        "\n{table}client's clock, all passing runs together; no interval, since the gaps of a run depend on each other\n"
    );
}

/// The line through cold prefill, in words; nothing where fewer than two lengths were measured.
pub(super) fn fit(out: &mut String, cases: &[Case]) {
    let Some(PrefillFit { line, shortest, longest }) = prefill_fit(cases) else { return };
    let ends = |interval: Option<Interval>| interval.map(|i| (i.low, i.high));
    let rate = line.marginal_rate().map_or_else(
        || "no marginal rate, since longer prompts were not slower".to_owned(),
        |rate| {
            format!(
                "marginal prefill rate {} tok/s",
                with_interval(Some(rate), ends(line.marginal_rate_interval()))
            )
        },
    );
    let text = format!(
        "TTFT = a + b·tokens, client's clock, {} runs of {shortest:.0} to {longest:.0} uncached tokens: fixed overhead {} \
         s, {rate} (95 % t intervals)",
        line.points,
        with_interval(Some(line.intercept), ends(line.intercept_interval)),
    );
    let _ = write!(out, "\nCold prefill by length\n{}", wrapped(&text));
}

/// A case's inter-token latency for programs, in seconds.
pub(super) fn gaps_json(gaps: Option<GapDistribution>) -> Value {
    let quantiles =
        |q: Quantiles| json!({"p50_s": q.p50, "p90_s": q.p90, "p99_s": q.p99, "max_s": q.max, "n": q.n});
    gaps.map_or(
        Value::Null,
        |gaps| json!({"per_event": quantiles(gaps.per_event), "per_token": gaps.per_token.map(quantiles)}),
    )
}

/// The line through cold prefill for programs.
pub(super) fn fit_json(cases: &[Case]) -> Value {
    let ends = |interval: Option<Interval>| interval.map(|i| [i.low, i.high]);
    prefill_fit(cases).map_or(Value::Null, |PrefillFit { line, shortest, longest }| {
        json!({
            "overhead_s": line.intercept,
            "overhead_interval": ends(line.intercept_interval),
            "marginal_prefill_tok_s": line.marginal_rate(),
            "marginal_prefill_interval": ends(line.marginal_rate_interval()),
            "n": line.points,
            "shortest_tokens": shortest,
            "longest_tokens": longest,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_and_the_gaps_of_the_published_shard_are_said_with_their_unit_and_n() {
        let mut shard = dyno_shared::shard::parse(include_str!(
            "../../../results/llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct--t1-c4096.json"
        ))
        .unwrap();
        let mut out = String::new();
        gaps(&mut out, &super::super::views(&shard));
        assert!(out.contains("inter-token latency") && out.contains("p99 ms"), "{out}");
        assert_eq!(fit_json(&shard.cases), Value::Null, "one length");

        // The same runs at twice the length and twice the time lie on a line through the origin.
        let mut longer = shard.cases.iter().find(|case| case.id == "cold_prefill_2k").cloned().unwrap();
        longer.prompt_tokens_target = longer.prompt_tokens_target.map(|n| n * 2);
        for request in longer.runs.iter_mut().flat_map(|run| &mut run.requests) {
            let double = |n: dyno_shared::units::Tokens| dyno_shared::units::Tokens(n.get() * 2);
            request.prompt_tokens = request.prompt_tokens.map(double);
            request.cached_prompt_tokens = request.cached_prompt_tokens.map(double);
            if let Some(engine) = &mut request.engine {
                engine.cached_tokens = engine.cached_tokens.map(double);
            }
            request.t_first_s = request.t_first_s.zip(request.t_send_s).map(|(f, s)| f + (f - s));
        }
        shard.cases.push(longer);
        let mut out = String::new();
        fit(&mut out, &shard.cases);
        assert!(out.contains("fixed overhead") && out.contains("32 runs") && out.contains("tok/s"), "{out}");
    }
}
