//! Every run of a case in its order.

use anyhow::{anyhow, bail};
use dyno_shared::chart::{Heading, run_strip};
use dyno_shared::figure::{identity, runs};
use dyno_shared::metric;
use dyno_shared::submission::Case;
use dyno_shared::summary::summarize;

use super::names::Names;
use super::{Asked, Drawn, Figure};

pub(super) const FIGURE: Figure =
    Figure { name: "runs", about: "Every run of a case in order: outliers, failed runs, drift", draw };

fn draw(asked: &Asked) -> anyhow::Result<Drawn> {
    let [shard] = asked.shards.as_slice() else { bail!("runs are of one file: give one") };
    let with_runs: Vec<&Case> = shard.cases.iter().filter(|case| !case.runs.is_empty()).collect();
    let ids = || with_runs.iter().map(|case| case.id.as_str()).collect::<Vec<_>>().join(", ");
    let case = match (&asked.case, with_runs.as_slice()) {
        (_, []) => {
            bail!("no case has runs: the file holds only what a source states. Draw `dyno chart intervals`")
        }
        (Some(id), of) => of.iter().find(|case| case.id == *id).ok_or_else(|| {
            anyhow!("no case `{}` with runs: there are {}", dyno_shared::plain::plain(id), ids())
        })?,
        (None, [only]) => only,
        (None, _) => bail!("which case? --case takes one of {}", ids()),
    };
    let metric = asked
        .metric
        .or_else(|| metric::find(case.regime.headline()))
        .ok_or_else(|| anyhow!("the case has no headline: give --metric"))?;
    if !case.runs.iter().any(|run| (metric.sample)(run).is_some()) {
        bail!("no run of {} tells {}: give another --metric", case.id, metric.tag);
    }
    let summary = summarize(case);
    let colour = identity::colour(&shard.system.engine.name);
    let strip = runs::strip(case, &summary, metric, shard.provenance.evidence, colour);
    let names = Names::of(&asked.shards);
    let title = format!("{}: {}, run by run", case.id, metric.title);
    let passed = format!("{} of {} runs passed", summary.passed.unwrap_or(0), case.runs.len());
    let mut marks = vec![strip.kind.words().to_owned(), "line: median".to_owned()];
    if let Some(interval) = summary.get(metric.tag).and_then(|estimate| estimate.interval.as_ref()) {
        marks.push(format!("band: {}", interval.kind));
    }
    if strip.runs.iter().any(|run| run.failed.is_some()) {
        marks.push("crossed: failed, in no figure".to_owned());
    }
    if strip.runs.iter().any(|run| run.outlier) {
        marks.push("ringed: outlier".to_owned());
    }
    if strip.drift.is_some() {
        marks.push("dashed: drift".to_owned());
    }
    let notes = vec![names.shared, format!("{passed} · {}", marks.join(" · "))];
    Ok(Drawn { drawing: run_strip(&strip, asked.width), heading: Heading { title, notes } })
}
