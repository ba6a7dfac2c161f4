//! A metric over the number of streams.

use anyhow::anyhow;
use dyno_shared::metric::{self, Metric};
use dyno_shared::submission::Case;
use dyno_shared::units::Unit;
use dyno_shared::workload::Regime;

use super::lines::{Placed, draw as draw_lines, points};
use super::{Asked, Drawn, Figure};

pub(super) const FIGURE: Figure =
    Figure { name: "concurrency", about: "A metric over the number of streams at once", draw };

/// What is looked for, in this order, where no metric is asked for.
const METRICS: [&str; 3] =
    ["client_wall_aggregate_tok_s", "client_wall_batch_decode_tok_s", "client_wall_decode_tok_s"];

fn draw(asked: &Asked) -> anyhow::Result<Drawn> {
    let of = |metric: &'static Metric| points(asked, metric, place);
    let chosen = match asked.metric {
        Some(metric) => Some((metric, of(metric))),
        None => METRICS.iter().filter_map(|tag| metric::find(tag)).find_map(|metric| {
            let points = of(metric);
            has_two(&points).then_some((metric, points))
        }),
    };
    let (metric, points) = chosen.ok_or_else(|| {
        anyhow!("no file has a load at two numbers of streams: measure load1, load2, load4 and load8, or give --metric")
    })?;
    draw_lines(asked, metric, "streams", Unit::One, points)
}

/// A closed loop of several streams, by its workload and the length of its prompts: those of one are one line.
fn place(case: &Case) -> Option<(String, f64)> {
    (case.regime == Regime::Load && case.arrival.is_none()).then_some(())?;
    let prompt = case.prompt_tokens_target.map_or_else(String::new, |tokens| format!(", {tokens} tok"));
    Some((format!("{}{prompt}", case.workload), f64::from(case.concurrency)))
}

fn has_two(points: &[Placed]) -> bool {
    points.iter().any(|(line, at)| points.iter().any(|(other, of)| line == other && at.0 < of.0))
}
