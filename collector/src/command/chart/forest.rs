//! A comparison: ratios to the first submission.

use anyhow::bail;
use dyno_shared::chart::{Heading, forest as draw_forest};
use dyno_shared::comparison::{CaseComparison, Side, Terms, compare, letter};
use dyno_shared::figure::ratios;
use dyno_shared::plain::plain;

use super::names::Names;
use super::{Asked, Drawn, Figure};

pub(super) const FIGURE: Figure = Figure {
    name: "forest",
    about: "A comparison: ratios to the first file with intervals, p and verdict, as `dyno compare` finds them",
    draw,
};

fn draw(asked: &Asked) -> anyhow::Result<Drawn> {
    if asked.shards.len() < 2 {
        bail!("a comparison takes two files or more: give another");
    }
    let sides: Vec<Side<'_>> = asked.shards.iter().map(Side::of).collect();
    // All cases are compared, whichever are drawn: the correction goes over all of them.
    let comparison = compare(&sides, Terms::default());
    if comparison.is_refused() {
        let reasons = comparison.reasons().join("; ");
        let why = if reasons.is_empty() { "they have no case in common".to_owned() } else { reasons };
        bail!("these files cannot be compared: {why}. See `dyno compare`");
    }
    let wanted = |case: &&CaseComparison| asked.case.as_ref().is_none_or(|id| case.case == *id);
    let cases: Vec<&CaseComparison> = comparison.cases.iter().filter(wanted).collect();
    let mut figure = ratios::forest(&cases, sides.len());
    if let Some(metric) = asked.metric {
        figure.rows.retain(|row| row.metric == metric.title);
    }
    if figure.rows.is_empty() {
        let known: Vec<&str> = comparison.cases.iter().map(|case| case.case.as_str()).collect();
        bail!(
            "nothing to draw: the cases are {}, and see `dyno compare` for their metrics",
            plain(&known.join(", "))
        );
    }
    let names = Names::of(&asked.shards);
    let sides: Vec<String> =
        names.each.iter().enumerate().map(|(side, name)| format!("{}: {name}", letter(side))).collect();
    let title = if sides.len() == 2 {
        format!("{} against {}", names.each[1], names.each[0])
    } else {
        format!("{} submissions against {}", sides.len() - 1, names.each[0])
    };
    let mut notes = vec![names.shared, sides.join(" · ")];
    if figure.rows.iter().any(|row| row.noise.is_some()) {
        notes.push("grey: how far two starts of one configuration lie apart".to_owned());
    }
    Ok(Drawn { drawing: draw_forest(&figure, asked.width), heading: Heading { title, notes } })
}
