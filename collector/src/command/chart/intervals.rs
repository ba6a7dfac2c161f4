//! A metric of several submissions: dot and interval on one axis.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};
use dyno_shared::chart::{Axis, Estimate, Heading, Row, Scale, dot_interval};
use dyno_shared::figure::identity;
use dyno_shared::metric::{self, Metric};
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;
use dyno_shared::summary;

use super::names::Names;
use super::{Asked, Drawn, Figure};

pub(super) const FIGURE: Figure = Figure {
    name: "intervals",
    about: "A metric of one or more submissions, case by case: dot and interval on one axis",
    draw,
};

fn draw(asked: &Asked) -> anyhow::Result<Drawn> {
    let mut ids = cases(asked)?;
    let metric = match asked.metric {
        Some(metric) => metric,
        None => told(&asked.shards, &ids).ok_or_else(|| {
            anyhow!("no case tells the figure by which it is judged: give --metric, and see `dyno report`")
        })?,
    };
    if asked.metric.is_none() {
        // Answers of a few tokens have a decode rate too, and nobody judges them by it.
        let judged = |id: &str| {
            let mut of = asked.shards.iter().flat_map(|shard| &shard.cases).filter(|case| case.id == id);
            of.any(|case| case.regime.headline() == metric.tag)
        };
        ids.retain(|id| judged(id));
    }
    let names = Names::of(&asked.shards);
    let mut kinds = BTreeSet::new();
    let mut marks = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let one = ids.len() == 1;
    for id in &ids {
        for (shard, name) in asked.shards.iter().zip(&names.each) {
            let Some(estimate) = estimate(shard, id, metric) else { continue };
            let interval = estimate.interval.as_ref();
            kinds.extend(interval.map(|of| of.kind.clone()));
            let kind = identity::mark(shard.provenance.evidence, metric.tag);
            if !marks.contains(&kind.words()) {
                marks.push(kind.words());
            }
            rows.push(Row {
                label: if asked.shards.len() == 1 { (*id).to_owned() } else { name.clone() },
                group: (!one && asked.shards.len() > 1).then(|| (*id).to_owned()),
                estimate: Estimate {
                    value: estimate.value,
                    low: interval.map(|of| of.low),
                    high: interval.map(|of| of.high),
                },
                kind,
                colour: identity::colour(&shard.system.engine.name),
                note: estimate.statistic.clone().unwrap_or_default(),
            });
        }
    }
    if rows.is_empty() {
        bail!("no case of these files tells {}: give another --metric, and see `dyno report`", metric.tag);
    }
    let axis = Axis {
        label: metric.title.to_owned(),
        unit: metric.unit,
        better: metric.better,
        scale: Scale::choose(rows.iter().filter_map(|row| row.estimate.value)),
    };
    let axis = axis.fit(rows.iter().map(|row| row.estimate));
    let title = match ids.as_slice() {
        [only] => format!("{only}: {}", metric.title),
        _ => metric.title.to_owned(),
    };
    marks.extend(kinds.iter().map(String::as_str));
    let notes = vec![names.shared, marks.join(" · ")];
    Ok(Drawn { drawing: dot_interval(&axis, &rows, asked.width), heading: Heading { title, notes } })
}

/// The case that is asked for, or all of them, in the order of the files.
fn cases(asked: &Asked) -> anyhow::Result<Vec<&str>> {
    let mut ids: Vec<&str> = Vec::new();
    for case in asked.shards.iter().flat_map(|shard| &shard.cases) {
        if !ids.contains(&case.id.as_str()) {
            ids.push(&case.id);
        }
    }
    if let Some(id) = &asked.case {
        let known = ids.join(", ");
        ids.retain(|known| known == id);
        if ids.is_empty() {
            bail!("no file has a case `{}`: there are {}", plain(id), plain(&known));
        }
    }
    Ok(ids)
}

/// The headline of the first of these cases that tells its own.
fn told(shards: &[Submission], ids: &[&str]) -> Option<&'static Metric> {
    let all = || shards.iter().flat_map(|shard| shard.cases.iter().map(move |case| (shard, case)));
    ids.iter().flat_map(|id| all().filter(move |(_, case)| case.id == *id)).find_map(|(shard, case)| {
        let metric = metric::find(case.regime.headline())?;
        estimate(shard, &case.id, metric).map(|_| metric)
    })
}

/// A figure of a case, where there is a point to draw.
fn estimate(shard: &Submission, id: &str, metric: &Metric) -> Option<summary::Estimate> {
    let case = shard.cases.iter().find(|case| case.id == id)?;
    super::lines::figure(case, metric).filter(|estimate| estimate.value.is_some())
}
