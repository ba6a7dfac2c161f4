//! A comparison as a forest plot.

use crate::chart::{Estimate, Forest, ForestRow};
use crate::comparison::{Against, CaseComparison, Found, Ratio, Role, Unit, Verdict, Way, letter};
use crate::format::{count, p_value};
use crate::metric::{Better, Metric};

/// The ratios of these cases, by metric: those by which cases are judged first. `sides` of the whole comparison, the
/// first counted.
pub fn forest(cases: &[&CaseComparison], sides: usize) -> Forest {
    let two = sides == 2;
    let (title, faster) = if two { ("B / A", "B faster") } else { ("ratio to A", "faster than A") };
    Forest { title: title.to_owned(), faster: faster.to_owned(), rows: rows(cases, two) }
}

/// `code`, with its streams where there are several.
pub fn name(case: &CaseComparison) -> String {
    if case.concurrency == 1 {
        return case.case.clone();
    }
    [&case.case, " · ", &count(case.concurrency as usize, "stream")].concat()
}

/// Which of the two have the case; empty where both do.
pub fn found(against: &Against) -> String {
    let other = letter(against.side);
    match against.found {
        Found::Both => String::new(),
        Found::OnlyInFirst => "only in A".to_owned(),
        Found::OnlyInOther => ["only in ", &other].concat(),
        Found::InNeither => ["neither in A nor in ", &other].concat(),
    }
}

/// `16 runs`, `3 + 4 boots`, `stated`: what is repeated, and how often; empty where nothing is compared.
pub fn replicates(ratio: &Ratio) -> String {
    let [a, b] = ratio.n;
    match ratio.way {
        Way::Stated => "stated".to_owned(),
        Way::Refused => String::new(),
        Way::Paired if a == b && ratio.unit != Unit::Boot => ratio.unit.count(a),
        _ => [&a.to_string(), " + ", &ratio.unit.count(b)].concat(),
    }
}

/// `▲ faster`.
pub fn said(verdict: &Verdict) -> String {
    [verdict.sign(), " ", verdict.word()].concat()
}

const fn is_tested(ratio: &Ratio) -> bool {
    matches!(ratio.role, Role::Headline | Role::Beside)
}

fn rows(cases: &[&CaseComparison], two: bool) -> Vec<ForestRow> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for role in [Role::Headline, Role::Beside] {
        for ratio in cases.iter().flat_map(|case| &case.against).flat_map(|against| &against.ratios) {
            if ratio.role == role && !metrics.iter().any(|known| known.tag == ratio.metric.tag) {
                metrics.push(ratio.metric);
            }
        }
    }
    let mut rows = Vec::new();
    // What only one side has stands with the first of them.
    let mut first = true;
    for metric in metrics.iter().copied().map(Some).chain(metrics.is_empty().then_some(None)) {
        for case in cases {
            rows.extend(case.against.iter().filter_map(|against| row(case, against, metric, first, two)));
        }
        first = false;
    }
    rows
}

fn row(
    case: &CaseComparison,
    against: &Against,
    metric: Option<&'static Metric>,
    first: bool,
    two: bool,
) -> Option<ForestRow> {
    let mut row = ForestRow {
        label: if two { name(case) } else { [&name(case), " · ", &letter(against.side)].concat() },
        metric: metric.map_or_else(String::new, |metric| metric.title.to_owned()),
        better: metric.map_or(Better::Neither, |metric| metric.better),
        ratio: Estimate::default(),
        side: against.side,
        noise: None,
        split: Vec::new(),
        n: String::new(),
        p: String::new(),
        verdict: found(against),
    };
    let tested = || against.ratios.iter().filter(|ratio| is_tested(ratio));
    if let Some(ratio) = metric.and_then(|metric| tested().find(|of| of.metric.tag == metric.tag)) {
        fill(&mut row, ratio);
        if ratio.role == Role::Headline {
            row.noise = case.noise.map(|of| (of.low, of.high));
        }
        let split = tested().find(|of| of.metric.tag.ends_with("decode_tok_s"));
        if split.is_some_and(|split| split.metric.tag == ratio.metric.tag) {
            row.split = factors(&against.ratios);
        }
        return Some(row);
    }
    (first && matches!(against.found, Found::OnlyInFirst | Found::OnlyInOther)).then_some(row)
}

fn fill(row: &mut ForestRow, ratio: &Ratio) {
    let verdict = ratio.verdict.as_ref();
    row.verdict = verdict.map_or_else(String::new, said);
    row.n = replicates(ratio);
    row.p = ratio.holm_p.map_or_else(String::new, p_value);
    // What does not compare is in the table, and no figure puts it beside what does; what is only stated has no interval
    // that could mislead.
    if ratio.way == Way::Stated || !matches!(verdict, Some(Verdict::NotComparable(_))) {
        row.ratio = estimate(ratio);
    }
}

fn factors(ratios: &[Ratio]) -> Vec<(String, Estimate)> {
    let split = ratios.iter().filter(|ratio| ratio.role == Role::Split);
    split.map(|ratio| (ratio.metric.title.to_owned(), estimate(ratio))).collect()
}

fn estimate(ratio: &Ratio) -> Estimate {
    let (low, high) = (ratio.interval.map(|of| of.low), ratio.interval.map(|of| of.high));
    Estimate { value: ratio.ratio, low, high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Side, Terms, compare};
    use crate::testing::{shard_of, single_stream_case};

    /// Cases of runs that differ by little, and are so much faster on another set-up.
    fn shard(ids: &[&str], factor: f64) -> crate::submission::Submission {
        let runs: Vec<(u64, f64)> = (0..8_u32).map(|i| (501, factor * (5.0 + f64::from(i) * 0.1))).collect();
        shard_of(ids.iter().map(|id| single_stream_case(id, &runs)).collect())
    }

    #[test]
    fn headlines_come_first_and_what_one_side_lacks_is_named_once() {
        let (a, b) = (shard(&["code", "prose"], 1.0), shard(&["code", "list"], 0.8));
        let comparison = compare(&[Side::of(&a), Side::of(&b)], Terms::default());
        let cases: Vec<&CaseComparison> = comparison.cases.iter().collect();
        let forest = forest(&cases, 2);
        let told: Vec<(&str, &str, &str)> = forest
            .rows
            .iter()
            .map(|row| (row.label.as_str(), row.metric.as_str(), row.verdict.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("code", "decode rate", "▲ faster"),
                ("prose", "decode rate", "only in A"),
                ("list", "decode rate", "only in B"),
                ("code", "time to first token", "? not separated"),
            ]
        );
        assert_eq!((forest.title.as_str(), forest.rows[0].n.as_str()), ("B / A", "8 runs"));
        assert!((forest.rows[0].ratio.value.unwrap() - 1.25).abs() < 1e-9);
    }

    #[test]
    fn of_three_sides_every_row_says_which_it_is() {
        let shards = [1.0, 0.8, 0.9].map(|factor| shard(&["code"], factor));
        let sides: Vec<Side<'_>> = shards.iter().map(Side::of).collect();
        let comparison = compare(&sides, Terms::default());
        let forest = forest(&comparison.cases.iter().collect::<Vec<_>>(), 3);
        let labels: Vec<&str> = forest.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["code · B", "code · C", "code · B", "code · C"]);
    }

    #[test]
    fn what_does_not_compare_has_no_mark() {
        let (a, mut b) = (shard(&["code"], 1.0), shard(&["code"], 0.8));
        b.provenance.series = Some("another".into());
        let comparison = compare(&[Side::of(&a), Side::of(&b)], Terms::default());
        let forest = forest(&comparison.cases.iter().collect::<Vec<_>>(), 2);
        assert_eq!((forest.rows[0].ratio.value, forest.rows[0].verdict.as_str()), (None, "× not comparable"));
    }
}
