//! A metric over the length of the prompt, or of the context before it.

use anyhow::anyhow;
use dyno_shared::metric::{self, Metric};
use dyno_shared::submission::Case;
use dyno_shared::summary::summarize;
use dyno_shared::units::Unit;
use dyno_shared::workload::Regime;

use super::lines::{Placed, draw as draw_lines, points};
use super::{Asked, Drawn, Figure};

pub(super) const FIGURE: Figure = Figure {
    name: "length",
    about: "A metric over the length of the prompt or the depth of the context: cold, cached, at depth",
    draw,
};

/// The regimes in which length matters, in the order in which they are looked for.
const REGIMES: [Regime; 3] = [Regime::ColdPrefill, Regime::CachedPrefix, Regime::DecodeAtDepth];

fn draw(asked: &Asked) -> anyhow::Result<Drawn> {
    let of_regimes = |metric: &'static Metric, regimes: &[Regime]| {
        points(asked, metric, |case| {
            regimes.contains(&case.regime).then_some(())?;
            Some((case.regime.title().to_owned(), length(case)?))
        })
    };
    // A metric that is asked for is drawn wherever it is told; else the headline of the first regime with two lengths.
    let chosen = match asked.metric {
        Some(metric) => Some((metric, of_regimes(metric, &REGIMES))),
        None => REGIMES.iter().find_map(|regime| {
            let metric = metric::find(regime.headline())?;
            let points = of_regimes(metric, &[*regime]);
            has_two(&points).then_some((metric, points))
        }),
    };
    let (metric, points) = chosen.ok_or_else(|| {
        anyhow!("no file has one regime at two lengths: measure cold_prefill_2k and cold_prefill_8k, or give --metric")
    })?;
    draw_lines(asked, metric, "length of prompt or context", Unit::Tokens, points)
}

fn has_two(points: &[Placed]) -> bool {
    points.iter().any(|(line, at)| points.iter().any(|(other, of)| line == other && at.0 < of.0))
}

/// Tokens before the answer: as measured, else as aimed at.
fn length(case: &Case) -> Option<f64> {
    if case.regime == Regime::DecodeAtDepth
        && let Some(depth) = case.depth_tokens
    {
        return Some(depth as f64);
    }
    summarize(case).prompt_tokens.or_else(|| case.prompt_tokens_target.map(|n| n as f64))
}
