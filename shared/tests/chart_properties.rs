//! Figures bear whatever a file of a stranger holds: they return, and what they return is well-formed.

#![expect(clippy::expect_used, reason = "helpers of tests fail by panicking")]

use dyno_shared::chart::{
    Axis, Drawing, Estimate, FittedAxis, MarkKind, Row, Run, RunStrip, Scale, axis_strip, dot_interval,
    interval_cell, run_strip, text,
};
use dyno_shared::metric::Better;
use dyno_shared::units::Unit;
use proptest::prelude::*;

/// Panics unless `svg` is one element, every tag in it closed, every attribute quoted, every character and
/// reference allowed in XML, and every attribute that holds a number free of `NaN` and `inf`.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    let mut elements = 0;
    while let Some(start) = rest.find('<') {
        assert_text(&rest[..start]);
        let end = rest.find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what is open");
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |t| (t, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(
            matches!(name, "svg" | "text" | "circle" | "polyline" | "polygon" | "rect" | "line"),
            "<{name}>"
        );
        assert!(!open.is_empty() || elements == 0, "one root element");
        elements += 1;
        assert_attributes(attributes);
        if !empty {
            open.push(name);
        }
    }
    assert_eq!(rest.trim(), "", "nothing behind the root");
    assert!(open.is_empty() && elements > 0, "everything is closed: {open:?}");
}

fn assert_attributes(mut attributes: &str) {
    while !attributes.trim().is_empty() {
        let (name, after) = attributes.split_once("=\"").expect("an attribute with a value");
        let (value, after) = after.split_once('"').expect("a value that ends");
        let name = name.trim();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "attribute {name}");
        assert!(!name.starts_with("on") && name != "style" && name != "href", "attribute {name}");
        assert_text(value);
        if name != "aria-label" {
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
        }
        attributes = after;
    }
}

fn assert_text(text: &str) {
    assert!(!text.contains('<') && !text.contains('>'), "{text:?}");
    for (at, _) in text.match_indices('&') {
        let known = ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;"];
        assert!(known.iter().any(|k| text[at..].starts_with(k)), "{text:?}");
    }
    let allowed = |c: char| c == '\n' || (!c.is_control() && !matches!(c, '\u{FFFE}' | '\u{FFFF}'));
    assert!(text.chars().all(allowed), "{text:?}");
}

fn assert_sound(drawing: &Drawing) {
    assert_well_formed(&drawing.svg);
    for mark in &drawing.marks {
        let inside = |v: f64, length: u32| (0.0..=f64::from(length)).contains(&v);
        assert!(inside(mark.x, drawing.width) && inside(mark.y, drawing.height), "{mark:?}");
    }
}

/// Numbers as they come, with the awkward ones often enough to meet each other.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => proptest::num::f64::ANY,
        2 => prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, 39.5, 1e15, -1e15, 1e-12, 1e300, 5e-324, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY,
            f64::NEG_INFINITY,
        ]),
        3 => 0.001..2000.0,
    ]
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[<>&\"'/a-z =#;-]{0,40}",
        prop::collection::vec(any::<char>(), 150..300).prop_map(String::from_iter),
        Just("\"#C0DE05\" fill=\"#C0DE01\" ]]> <!-- -->".to_owned()),
    ]
}

fn scale() -> impl Strategy<Value = Scale> {
    prop::sample::select(vec![Scale::Linear, Scale::Log, Scale::Log2, Scale::Ratio])
}

fn kind() -> impl Strategy<Value = MarkKind> {
    prop::sample::select(vec![MarkKind::ClientSolid, MarkKind::Engine, MarkKind::Stated])
}

fn row() -> impl Strategy<Value = Row> {
    let maybe = || prop::option::of(number());
    (label(), prop::option::of(label()), maybe(), maybe(), maybe(), kind(), any::<usize>(), label()).prop_map(
        |(label, group, value, low, high, kind, colour, note)| Row {
            label,
            group,
            estimate: Estimate { value, low, high },
            kind,
            colour,
            note,
        },
    )
}

fn fitted(label: &str, scale: Scale, estimates: Vec<Estimate>) -> FittedAxis {
    runs_along(label, scale).fit(estimates)
}

fn runs_along(label: &str, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), unit: Unit::TokensPerSecond, better: Better::Higher, scale }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_chart_of_any_rows_returns_and_is_well_formed(
        rows in prop::collection::vec(row(), 0..12),
        title in label(),
        scale in scale(),
        width in any::<u32>().prop_map(|w| w % 2000),
    ) {
        let axis = fitted(&title, scale, rows.iter().map(|r| r.estimate).collect());
        let drawing = dot_interval(&axis, &rows, width);
        assert_sound(&drawing);
        prop_assert_eq!(drawing.marks.len(), rows.len());
        for (mark, row) in drawing.marks.iter().zip(&rows) {
            let drawable = row.estimate.value.is_some_and(|v| {
                v.is_finite() && (v == 0.0 || (1e-12..=1e15).contains(&v.abs())) && (scale == Scale::Linear || v > 0.0)
            });
            prop_assert_eq!(mark.drawn, drawable, "{:?}", row);
            let said = drawing.left_out.iter().any(|l| l.row == mark.row);
            prop_assert!(drawable || row.estimate.value.is_none() || said, "left out without a word: {row:?}");
        }
        assert_sound(&axis_strip(&axis, width));
        for row in &rows {
            assert_sound(&interval_cell(&axis, row, width, width / 10));
        }
    }

    #[test]
    fn a_chart_of_any_runs_returns_and_is_well_formed(
        values in prop::collection::vec((prop::option::of(number()), prop::option::of(label()), any::<bool>(), label()), 0..40),
        title in label(),
        scale in scale(),
        kind in kind(),
        median in prop::option::of(number()),
        interval in prop::option::of((number(), number())),
        drift in prop::option::of((number(), number())),
        width in any::<u32>().prop_map(|w| w % 2000),
    ) {
        let runs: Vec<Run> = values
            .into_iter()
            .map(|(value, failed, outlier, note)| Run { value, failed, outlier, note })
            .collect();
        let count = runs.len();
        let strip = RunStrip { axis: runs_along(&title, scale), kind, colour: count, runs, figure: median, interval, drift };
        let drawing = run_strip(&strip, width);
        assert_sound(&drawing);
        prop_assert_eq!(drawing.marks.len(), count);
    }

    #[test]
    fn a_chart_label_is_never_wider_than_its_room(words in label(), room in 0.0..400.0) {
        for size in [text::TextSize::Small, text::TextSize::Body] {
            let shown = text::cut(&words, size, room);
            prop_assert!(text::measure(&shown, size) <= room + 1e-6, "{shown:?}");
        }
    }
}

#[test]
fn a_chart_of_ten_thousand_rows_and_runs_is_bounded() {
    let rows: Vec<Row> = (0..10_000_u32)
        .map(|i| Row {
            label: "x".repeat(200),
            group: None,
            estimate: Estimate { value: Some(f64::from(i)), low: None, high: None },
            kind: MarkKind::ClientSolid,
            colour: 0,
            note: String::new(),
        })
        .collect();
    let axis = fitted("", Scale::Log, rows.iter().map(|r| r.estimate).collect());
    let drawing = dot_interval(&axis, &rows, 320);
    assert!(drawing.marks.len() <= 2000, "{}", drawing.marks.len());
    let run = |i: u32| Run {
        value: Some(f64::from(i)),
        failed: None,
        outlier: i.is_multiple_of(2),
        note: String::new(),
    };
    let strip = RunStrip {
        axis: runs_along("decode", Scale::Linear),
        kind: MarkKind::Engine,
        colour: 1,
        runs: (0..10_000).map(run).collect(),
        figure: None,
        interval: None,
        drift: None,
    };
    let drawing = run_strip(&strip, 320);
    assert!(drawing.marks.len() <= 2000, "{}", drawing.marks.len());
}
