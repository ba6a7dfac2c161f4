//! A comparison for the terminal.

use std::fmt::Write as _;

use dyno_shared::comparison::{
    Against, CaseComparison, Comparison, Fact, Found, Ratio, Role, Side, again, letter, meanings, method,
    sentence,
};
use dyno_shared::figure::ratios::{replicates, said};
use dyno_shared::format::{self, UNKNOWN};
use dyno_shared::metric::{Better, Family};
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;
use dyno_shared::summary::Estimate;

use crate::report::table::{Align, Column, draw, wrapped};

/// Characters of a value among the differences.
const LONGEST_VALUE: usize = 36;

/// A ratio, with the case and the side that it belongs to.
struct Line<'a> {
    case: &'a CaseComparison,
    against: &'a Against,
    ratio: &'a Ratio,
}

/// The sides, what differs, the sentences, the ratios, the figures behind them, and how they were made.
pub(super) fn text(of: &Comparison, sides: &[Side<'_>]) -> String {
    let mut out = String::new();
    heads(&mut out, of, sides);
    differences(&mut out, &of.facts, of.sides.len());
    out.push('\n');
    for side in 1..of.sides.len() {
        out.push_str(&wrapped(&plain(&sentence(of, side))));
        if is_noise(of, side) {
            out.push_str(&wrapped(&again(side)));
        }
    }
    for (role, title) in [
        (Role::Headline, "What each case is judged by"),
        (Role::Beside, "Tested beside it"),
        (Role::Shown, "Shown, not tested"),
        (Role::Split, "Where it comes from: decode rate = tokens per step / time per step"),
    ] {
        let lines = lines(of, role);
        if !lines.is_empty() {
            let _ = write!(out, "\n{title}\n{}", draw(&ratios(&lines, of.sides.len())));
        }
    }
    figures(&mut out, of);
    boots(&mut out, of);
    absent(&mut out, of);
    foot(&mut out, of);
    out
}

/// Whether a side is the first configuration again, and something of it was compared.
pub(super) fn is_noise(of: &Comparison, side: usize) -> bool {
    let all = of.cases.iter().flat_map(|case| &case.against).filter(|against| against.side == side);
    of.sides[side].is_the_first_again
        && all.flat_map(|against| &against.ratios).any(|ratio| ratio.ratio.is_some())
}

fn heads(out: &mut String, of: &Comparison, sides: &[Side<'_>]) {
    for (at, side) in sides.iter().enumerate() {
        let boots =
            if of.sides[at].boots > 1 { format!(", {} boots", of.sides[at].boots) } else { String::new() };
        let about = side.boots.first().map(|shard| about(shard)).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}  {}{boots}  {about}", letter(at), plain(side.label()));
    }
}

pub(super) fn about(shard: &Submission) -> String {
    let system = &shard.system;
    let version = system.engine.version.as_deref().unwrap_or_default();
    let engine = format!("{} {version}", system.engine.name);
    let quantisation = system.model.quantisation.as_deref().unwrap_or_default();
    let model = format!("{} {quantisation}", system.model.name);
    let date = shard.provenance.started_at.as_deref().and_then(|at| at.get(..10)).unwrap_or_default();
    let parts = [engine.trim(), model.trim(), system.hardware.name.as_str(), date];
    plain(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "))
}

fn differences(out: &mut String, facts: &[Fact], sides: usize) {
    let (differ, same): (Vec<&Fact>, Vec<&Fact>) = facts.iter().partition(|fact| fact.differs());
    if differ.is_empty() {
        out.push_str("\nNothing differs that the files tell.\n");
    } else {
        let names = differ.iter().map(|fact| plain(&format!("{} {}", fact.group, fact.name))).collect();
        let mut columns = vec![Column::new("what differs", "", Align::Left, names)];
        for side in 0..sides {
            let value = |fact: &&Fact| fact.values[side].as_deref().map_or_else(|| UNKNOWN.to_owned(), cut);
            let cells = differ.iter().map(value).collect();
            columns.push(Column::new(&letter(side), "", Align::Left, cells));
        }
        let _ = write!(out, "\n{}", draw(&columns));
    }
    if !same.is_empty() {
        let names: Vec<&str> = same.iter().map(|fact| fact.name.as_str()).collect();
        out.push_str(&wrapped(&plain(&format!("same: {}", names.join(", ")))));
    }
}

fn cut(value: &str) -> String {
    let value = plain(value);
    if value.chars().count() <= LONGEST_VALUE {
        return value;
    }
    value.chars().take(LONGEST_VALUE - 1).chain(['…']).collect()
}

fn lines(of: &Comparison, role: Role) -> Vec<Line<'_>> {
    of.cases
        .iter()
        .flat_map(|case| case.against.iter().map(move |against| (case, against)))
        .flat_map(|(case, against)| against.ratios.iter().map(move |ratio| Line { case, against, ratio }))
        .filter(|line| line.ratio.role == role)
        .collect()
}

fn ratios(lines: &[Line<'_>], sides: usize) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&Line<'_>) -> String| lines.iter().map(cell).collect::<Vec<_>>();
    let mut columns = vec![
        Column::new("case", "", Align::Left, cells(&|line| plain(&line.case.case))),
        Column::new("metric", "", Align::Left, cells(&|line| name(line.ratio))),
    ];
    let head = if sides > 2 { "ratio" } else { "B / A" };
    if sides > 2 {
        let side = |line: &Line<'_>| format!("{} / A", letter(line.against.side));
        columns.push(Column::new("", "", Align::Left, cells(&side)));
    }
    columns.extend([
        Column::new(head, "95 % interval", Align::Left, cells(&|line| interval(line.ratio))),
        Column::new("n", "", Align::Left, cells(&|line| n(line.ratio))),
    ]);
    if lines.iter().any(|line| line.ratio.verdict.is_some()) {
        columns.extend([
            Column::new("p", "Holm", Align::Right, cells(&|line| p(line.ratio))),
            Column::new("verdict", "", Align::Left, cells(&|line| verdict(line.ratio))),
        ]);
    }
    if lines.iter().any(|line| line.case.noise.is_some()) && lines[0].ratio.role == Role::Headline {
        let band = |line: &Line<'_>| {
            let band = line
                .case
                .noise
                .map(|of| format!("{}–{}", format::fixed(of.low, 3), format::fixed(of.high, 3)));
            band.unwrap_or_else(|| UNKNOWN.to_owned())
        };
        columns.push(Column::new("noise", "A against A", Align::Left, cells(&band)));
    }
    columns
}

/// `client decode rate`, or an engine's title, which says that it is one; with ↓ where less is better.
pub(super) fn name(ratio: &Ratio) -> String {
    let lower = if ratio.metric.better == Better::Lower { " ↓" } else { "" };
    let title = ratio.metric.title;
    match ratio.metric.family {
        Family::Client => format!("client {title}{lower}"),
        Family::Engine | Family::Both => format!("{title}{lower}"),
    }
}

pub(super) fn interval(ratio: &Ratio) -> String {
    match (ratio.ratio, ratio.interval) {
        (None, _) => UNKNOWN.to_owned(),
        (Some(of), None) => format!("{} (no interval)", format::ratio(of, None)),
        (Some(of), Some(ends)) => format::ratio(of, Some((ends.low, ends.high))),
    }
}

/// What stands behind the interval: `16 runs`, `3 cycles`, `3 + 4 boots`.
pub(super) fn n(ratio: &Ratio) -> String {
    Some(replicates(ratio)).filter(|n| !n.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned())
}

pub(super) fn p(ratio: &Ratio) -> String {
    ratio.holm_p.map_or_else(|| UNKNOWN.to_owned(), format::p_value)
}

pub(super) fn verdict(ratio: &Ratio) -> String {
    ratio.verdict.as_ref().map_or_else(|| UNKNOWN.to_owned(), said)
}

/// The sides' own figures of what is tested.
fn figures(out: &mut String, of: &Comparison) {
    let all: Vec<Line<'_>> =
        [Role::Headline, Role::Beside].into_iter().flat_map(|role| lines(of, role)).collect();
    if all.is_empty() {
        return;
    }
    let mut rows: Vec<(&CaseComparison, &Ratio, Vec<Option<&Estimate>>)> = Vec::new();
    for Line { case, against, ratio } in &all {
        let known = rows
            .iter()
            .position(|(of, other, _)| of.case == case.case && other.metric.tag == ratio.metric.tag);
        let at = known.unwrap_or_else(|| {
            rows.push((*case, *ratio, vec![None; of.sides.len()]));
            rows.len() - 1
        });
        rows[at].2[0] = rows[at].2[0].or(ratio.figures[0].as_ref());
        rows[at].2[against.side] = ratio.figures[1].as_ref();
    }
    let mut columns = vec![
        Column::new("case", "", Align::Left, rows.iter().map(|row| plain(&row.0.case)).collect()),
        Column::new("metric", "", Align::Left, rows.iter().map(|row| name(row.1)).collect()),
        Column::new(
            "unit",
            "",
            Align::Left,
            rows.iter().map(|row| row.1.metric.unit.symbol().to_owned()).collect(),
        ),
    ];
    for side in 0..of.sides.len() {
        let cells = rows.iter().map(|row| row.2[side].map_or_else(|| UNKNOWN.to_owned(), figure)).collect();
        columns.push(Column::new(&letter(side), "", Align::Left, cells));
    }
    let _ = write!(out, "\nThe figures of each side (95 % interval), n\n{}", draw(&columns));
}

fn figure(of: &Estimate) -> String {
    let shown = format::with_interval(of.value, of.interval.as_ref().map(|of| (of.low, of.high)));
    of.n.map_or_else(|| shown.clone(), |n| format!("{shown}, {n}"))
}

/// What a start of the server changes by itself, where a side has several.
fn boots(out: &mut String, of: &Comparison) {
    if of.sides.iter().all(|side| side.boots < 2) {
        return;
    }
    out.push_str("\nBetween boots: standard deviation of their mean figures, a share\n");
    for Line { case, against, ratio } in lines(of, Role::Headline) {
        let [a, b] = ratio.between_boots.map(format::percent);
        let (case, side) = (plain(&case.case), letter(against.side));
        out.push_str(&wrapped(&format!("{case}, {}: A {a}, {side} {b}", name(ratio))));
    }
}

/// Cases that do not compare, and why; remarks of those that do. What is true of several cases is said once.
fn absent(out: &mut String, of: &Comparison) {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for case in &of.cases {
        for against in &case.against {
            let side = letter(against.side);
            let told: Vec<String> = match against.found {
                Found::OnlyInFirst if of.sides.len() == 2 => vec!["only in A".to_owned()],
                Found::OnlyInFirst => vec![format!("not in {side}")],
                Found::OnlyInOther if of.sides.len() == 2 => vec![format!("only in {side}")],
                Found::OnlyInOther => vec![format!("in {side}, not in A")],
                Found::InNeither => Vec::new(),
                Found::Both => {
                    let reasons = against.reasons.iter().map(|what| format!("{side}: {}", plain(what)));
                    reasons.chain(against.remarks.iter().map(|what| plain(what))).collect()
                }
            };
            for what in told {
                let name = plain(&case.case);
                match said.iter_mut().find(|(known, _)| *known == what) {
                    Some((_, cases)) => cases.push(name),
                    None => said.push((what, vec![name])),
                }
            }
        }
    }
    if !said.is_empty() {
        out.push_str("\nRemarks\n");
        for (what, cases) in &said {
            out.push_str(&wrapped(&format!("{what} ({})", cases.join(", "))));
        }
    }
}

fn foot(out: &mut String, of: &Comparison) {
    out.push('\n');
    for line in method(of) {
        out.push_str(&wrapped(&line));
    }
    for line in meanings(of) {
        out.push_str(&wrapped(&plain(&line)));
    }
}
