//! The plan for people.

use std::fmt::Write as _;

use dyno_shared::comparison::plan::{Basis, CasePlan, Source, total_seconds};
use dyno_shared::comparison::{FEWEST_PAIRS, Unit};
use dyno_shared::format::{UNKNOWN, count, duration, full, percent};
use dyno_shared::metric::Metric;
use dyno_shared::plain::plain;
use dyno_shared::statistics::sample_size::Design;
use dyno_shared::submission::Submission;

use crate::report::table::{Align, Column, draw, wrapped};

/// A row: a case, unpaired or paired.
struct Row<'a> {
    plan: &'a CasePlan,
    basis: &'a Basis,
}

/// A table for each figure by which cases are judged, then how to read them and what is unknown.
pub(super) fn text(
    first: &Submission,
    second: Option<&Submission>,
    plans: &[CasePlan],
    differences: &[f64],
) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = match second {
        None => writeln!(out, "Planned from {}", plain(&first.label)),
        Some(second) => {
            writeln!(out, "Planned from {} and {}", plain(&first.label), plain(&second.label))
        }
    };
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for metric in plans.iter().filter_map(|plan| plan.metric) {
        if !metrics.iter().any(|known| known.tag == metric.tag) {
            metrics.push(metric);
        }
    }
    for metric in metrics {
        let of = plans.iter().filter(|plan| plan.metric.is_some_and(|of| of.tag == metric.tag));
        let rows: Vec<Row<'_>> = of.flat_map(rows).collect();
        if !rows.is_empty() {
            let unit = metric.unit.symbol();
            let comma = if unit.is_empty() { "" } else { ", " };
            let _ = writeln!(out, "\n{} {}{comma}{unit}", metric.family.title(), metric.title);
            out.push_str(&draw(&columns(&rows, differences)));
        }
    }
    totals(&mut out, plans, differences);
    out.push('\n');
    for line in legend(plans, second.is_some()) {
        out.push_str(&wrapped(&line));
    }
    let unknown = unknown(plans);
    if !unknown.is_empty() {
        out.push_str("\nNot planned\n");
        for line in &unknown {
            out.push_str(&wrapped(line));
        }
    }
    out
}

/// Why no case can be planned.
pub(super) fn why_not(plans: &[CasePlan]) -> String {
    let told = match unknown(plans).join("; ") {
        told if told.is_empty() => "the file has no case".to_owned(),
        told => told,
    };
    format!("nothing can be planned from this file: {told}. Give a file with runs, as `dyno run` writes it")
}

fn rows(plan: &CasePlan) -> impl Iterator<Item = Row<'_>> {
    let bases = [Some(&plan.unpaired), plan.paired.as_ref()];
    bases.into_iter().flatten().filter_map(move |basis| Some(Row { plan, basis: basis.as_ref().ok()? }))
}

fn columns(rows: &[Row<'_>], differences: &[f64]) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&Row<'_>) -> String| rows.iter().map(cell).collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("case", "", Align::Left, cells(&|row| plain(&row.plan.case))),
        Column::new("", "", Align::Left, cells(&|row| design(row.basis.design).to_owned())),
        Column::new("from", "", Align::Left, cells(&from)),
        Column::new("spread", "", Align::Right, cells(&|row| percent(Some(row.basis.spread)))),
    ];
    for &difference in differences {
        let needed = |row: &Row<'_>| row.basis.needed(difference);
        let number = |row: &Row<'_>| needed(row).map_or_else(|| UNKNOWN.to_owned(), |n| n.to_string());
        let time = |row: &Row<'_>| {
            let seconds = needed(row).and_then(|n| row.plan.seconds(row.basis.unit, n));
            seconds.map_or_else(|| UNKNOWN.to_owned(), duration)
        };
        columns.push(Column::new(&share(difference), "runs", Align::Right, cells(&number)));
        columns.push(Column::new("", "time", Align::Right, cells(&time)));
    }
    columns
}

const fn design(design: Design) -> &'static str {
    match design {
        Design::Unpaired => "unpaired",
        Design::Paired => "paired",
    }
}

/// `16 runs`, `8 batches`, `16 pairs`, `3 cycles`.
fn from(row: &Row<'_>) -> String {
    let n = row.basis.n;
    match (row.basis.design, row.basis.unit) {
        (Design::Unpaired, Unit::Run) if row.plan.concurrency > 1 => {
            if n == 1 {
                "1 batch".to_owned()
            } else {
                format!("{n} batches")
            }
        }
        (Design::Paired, Unit::Run) => count(n, "pair"),
        (_, unit) => unit.count(n),
    }
}

/// `1 %`, `0.5 %`.
fn share(difference: f64) -> String {
    // 0.07 · 100 is not quite 7.
    full((difference * 1e8).round() / 1e6) + " %"
}

/// How long all cases take, where there are several.
fn totals(out: &mut String, plans: &[CasePlan], differences: &[f64]) {
    let told = |design: Design| -> Option<String> {
        let several = plans.iter().filter(|plan| rows(plan).any(|row| row.basis.design == design)).count();
        let of = |&difference: &f64| {
            let seconds = total_seconds(plans, design, difference)?;
            Some(format!("{} in {}", share(difference), duration(seconds)))
        };
        let parts: Vec<String> = differences.iter().filter_map(of).collect();
        (several > 1 && !parts.is_empty()).then(|| parts.join(", "))
    };
    for (head, design) in [("unpaired", Design::Unpaired), ("paired", Design::Paired)] {
        if let Some(told) = told(design) {
            out.push('\n');
            out.push_str(&wrapped(&format!("all cases, each as often as it needs, {head}: {told}")));
        }
    }
}

fn legend(plans: &[CasePlan], has_second: bool) -> Vec<String> {
    let any = |is: &dyn Fn(&Row<'_>) -> bool| plans.iter().flat_map(rows).any(|row| is(&row));
    let mut lines = vec![format!(
        "runs: of each configuration that passed (paired: pairs) for a difference of so much to be found four times of \
         five, two-sided at 5 %; never fewer than the {FEWEST_PAIRS} that a test needs. One case alone: Holm's correction \
         over several cases asks for more."
    )];
    if any(&|row| row.basis.unit == Unit::Cycle) {
        lines.push(
            "Of cycles, runs counts cycles: starts of both servers with as many runs as one had.".to_owned(),
        );
    }
    if any(&|row| row.plan.concurrency > 1) {
        lines.push("Of several streams a run is a batch: all streams once.".to_owned());
    }
    if !has_second {
        lines.push(
            "Paired: unknown. Runs of one number, with the same prompt, would pair, and usually far fewer are enough; but \
             how far their ratios spread does not show in one file. Measure once more with the same --series, another \
             start or another set-up, and give both files."
                .to_owned(),
        );
    }
    lines.extend(times(plans, has_second));
    for plan in plans {
        let id = plain(&plan.case);
        let rough = rows(plan).filter(|row| row.basis.n < FEWEST_PAIRS).map(|row| from(&row)).next();
        if let Some(few) = rough {
            lines.push(format!("{id}: a spread of {few} is rough, and so is what follows from it"));
        }
        let more = plan.paces[0].recorded_per_passed.filter(|per| *per > 1.0 && rows(plan).count() > 0);
        if let Some(per) = more {
            lines.push(format!(
                "{id}: {} of its runs failed; runs counts those that pass, time counts all",
                percent(Some(1.0 - 1.0 / per))
            ));
        }
        if let Some(earlier) = plan.rounds_of.and_then(|at| plans.get(at)) {
            lines.push(format!(
                "{id}: measured in the rounds of {}, whose time is its own too",
                plain(&earlier.case)
            ));
        }
    }
    lines
}

/// Where the times come from, and what is in them.
fn times(plans: &[CasePlan], has_second: bool) -> Vec<String> {
    let planned = || plans.iter().filter(|plan| rows(plan).next().is_some());
    let named = |is: &dyn Fn(&CasePlan) -> bool| -> String {
        let names: Vec<String> = planned().filter(|plan| is(plan)).map(|plan| plain(&plan.case)).collect();
        names.join(", ")
    };
    let mut lines = Vec::new();
    if planned().any(|plan| plan.paces[0].run_s.is_some()) {
        let mut warmups: Vec<String> = Vec::new();
        for n in planned().map(|plan| plan.paces[0].warmups) {
            let said = n.to_string();
            if !warmups.contains(&said) {
                warmups.push(said);
            }
        }
        let second = if has_second {
            "each configuration at its own pace, where both files have the case"
        } else {
            "the second configuration taken to be as fast as this one"
        };
        lines.push(format!(
            "time: of both configurations, {second}; with warm-ups ({} each), and without the start of a server. \
             From the start of a recorded run to the start of the next, the median.",
            warmups.join(" or ")
        ));
    }
    let own = named(&|plan| plan.paces[0].source == Some(Source::OwnSpan));
    if !own.is_empty() {
        lines.push(format!(
            "{own}: the file does not say when runs started, so time is from sending to last byte, and what lies between \
             runs is missing"
        ));
    }
    let none = named(&|plan| plan.paces[0].run_s.is_none());
    if !none.is_empty() {
        lines.push(format!("{none}: the file has no times, so how long it takes is unknown"));
    }
    let cold = named(&|plan| plan.paces[0].run_s.is_some() && plan.paces[0].warmup_s.is_none());
    if !cold.is_empty() {
        lines.push(format!("{cold}: its warm-ups have no times, so how long it takes is unknown"));
    }
    lines
}

/// Cases that have no plan, and why.
fn unknown(plans: &[CasePlan]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    let mut put = |reason: String, case: &str| match reasons.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, cases)) => cases.push(plain(case)),
        None => reasons.push((reason, vec![plain(case)])),
    };
    for plan in plans {
        if let Err(why) = &plan.unpaired {
            put(why.clone(), &plan.case);
        }
        if let Some(Err(why)) = &plan.paired {
            put(format!("not paired: {why}"), &plan.case);
        }
    }
    reasons.into_iter().map(|(why, cases)| format!("{}: {}", cases.join(", "), plain(&why))).collect()
}
