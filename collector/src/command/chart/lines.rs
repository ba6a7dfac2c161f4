//! What the figures of a metric over something share.

use anyhow::bail;
use dyno_shared::chart::theme::SERIES;
use dyno_shared::chart::{Axis, Curve, Heading, Scale, curves};
use dyno_shared::figure::identity;
use dyno_shared::metric::{Better, Metric};
use dyno_shared::submission::{Case, Submission};
use dyno_shared::summary::{Estimate, estimate, summarize};
use dyno_shared::units::Unit;

use super::names::Names;
use super::{Asked, Drawn};

/// A case's figure of a metric: from its runs, or as it is stated.
pub(super) fn figure(case: &Case, metric: &Metric) -> Option<Estimate> {
    if case.runs.is_empty() {
        return summarize(case).estimates.into_iter().find(|of| of.metric == metric.tag);
    }
    estimate(case, metric)
}

/// What the points of a line have in common: the submission, by its place, and a name within it.
#[derive(PartialEq)]
pub(super) struct Line {
    pub shard: usize,
    pub name: String,
}

/// A point of a line, across and upright.
pub(super) type Placed = (Line, (f64, f64));

/// The points of every case for which `at` has a place, where the metric is told.
pub(super) fn points(
    asked: &Asked,
    metric: &Metric,
    at: impl Fn(&Case) -> Option<(String, f64)>,
) -> Vec<Placed> {
    let mut all = Vec::new();
    for (shard, of) in asked.shards.iter().enumerate() {
        for case in of.cases.iter().filter(|case| asked.case.as_ref().is_none_or(|id| case.id == *id)) {
            if let Some((name, x)) = at(case)
                && let Some(y) = figure(case, metric).and_then(|estimate| estimate.value)
            {
                all.push((Line { shard, name }, (x, y)));
            }
        }
    }
    all
}

/// The figure: points that share a line are joined from the smallest place to the largest.
pub(super) fn draw(
    asked: &Asked,
    metric: &Metric,
    over: &str,
    unit: Unit,
    points: Vec<Placed>,
) -> anyhow::Result<Drawn> {
    let names = Names::of(&asked.shards);
    let mut lines: Vec<(Line, Vec<(f64, f64)>)> = Vec::new();
    for (line, point) in points {
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, points)) => points.push(point),
            None => lines.push((line, vec![point])),
        }
    }
    let several = lines
        .iter()
        .any(|(line, _)| lines.iter().any(|(other, _)| other.shard == line.shard && other.name != line.name));
    for (_, points) in &mut lines {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    if !lines.iter().any(|(_, points)| points.windows(2).any(|pair| pair[0].0 < pair[1].0)) {
        bail!(
            "a line over {over} needs two points of one submission that tell {}, and no file has them",
            metric.tag
        );
    }
    let label = |line: &Line| {
        let name = &names.each[line.shard];
        match (several, asked.shards.len() > 1) {
            (true, true) => format!("{name} · {}", line.name),
            (true, false) => line.name.clone(),
            (false, _) => name.clone(),
        }
    };
    let drawn: Vec<Curve> = lines
        .into_iter()
        .enumerate()
        .map(|(at, (line, points))| Curve {
            label: label(&line),
            // The fifth colour, yellow, is the hardest to read as a label.
            colour: [0, 5, 6, 3, 1, 7, 2, 4][at % SERIES],
            points,
        })
        .collect();
    let values = drawn.iter().flat_map(|curve| &curve.points).map(|(_, y)| *y);
    let across = Axis { label: over.to_owned(), unit, better: Better::Neither, scale: Scale::Log2 };
    let upright = Axis {
        label: metric.title.to_owned(),
        unit: metric.unit,
        better: metric.better,
        scale: Scale::choose(values),
    };
    let title = format!("{} over {over}", metric.title);
    let mark = |shard: &Submission| identity::mark(shard.provenance.evidence, metric.tag).words();
    let mut marks: Vec<&str> = asked.shards.iter().map(mark).collect();
    marks.sort_unstable();
    marks.dedup();
    marks.push("intervals are not drawn");
    let heading = Heading { title, notes: vec![names.shared, marks.join(" · ")] };
    Ok(Drawn { drawing: curves(across, upright, &drawn, asked.width), heading })
}
