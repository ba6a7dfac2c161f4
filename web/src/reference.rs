//! One drawing of every kind of figure, from data that are hard on an axis. `web/tests/reference-chart.svg` is what the
//! native build makes of it, and what the browser has to make of it, too.

use dyno_shared::chart::{
    Axis, Estimate, MarkKind, Row, Run, RunStrip, Scale, axis_strip, dot_interval, interval_cell, run_strip,
};
use dyno_shared::metric::Better;
use dyno_shared::units::Unit;

/// The markup of all figures, one below the other.
pub fn drawing() -> String {
    let rows = rows();
    let axis = rate(Scale::Log).fit(rows.iter().map(|row| row.estimate));
    let mut figures =
        vec![dot_interval(&axis, &rows, 720), dot_interval(&axis, &rows, 320), axis_strip(&axis, 240)];
    figures.extend(rows.iter().map(|row| interval_cell(&axis, row, 240, 32)));
    figures.push(run_strip(&strip(), 640));
    figures.into_iter().map(|figure| figure.svg).collect()
}

fn rate(scale: Scale) -> Axis {
    Axis { label: "decode rate".into(), unit: Unit::TokensPerSecond, better: Better::Higher, scale }
}

fn rows() -> Vec<Row> {
    let figures = [
        ("llama.cpp b11434 · SmolLM2", Some(39.512), Some((38.93, 40.08))),
        ("a label with <markup> & \"quotes\"", Some(117.3), Some((111.7, 123.9))),
        ("千问 · 模型 🚀", Some(3.2), None),
        ("zero", Some(0.0), None),
        ("negative", Some(-4.0), Some((-5.0, -3.0))),
        ("absurd", Some(1e300), None),
        ("not measured", None, None),
        ("a hundred times the rest", Some(12_000.0), Some((11_000.0, 13_000.0))),
    ];
    let kinds = [MarkKind::ClientSolid, MarkKind::Engine, MarkKind::Stated];
    figures
        .into_iter()
        .enumerate()
        .map(|(i, (label, value, interval))| {
            let (low, high) = interval.unzip();
            Row {
                label: label.to_owned(),
                group: None,
                estimate: Estimate { value, low, high },
                kind: kinds[i % kinds.len()],
                colour: i,
                note: String::new(),
            }
        })
        .collect()
}

fn strip() -> RunStrip {
    let runs = (0..16_u32)
        .map(|i| Run {
            value: (i != 11).then(|| 40.0 + wave(i)),
            failed: (i == 4 || i == 11).then(|| "not_empty: no text".to_owned()),
            outlier: i == 7,
            note: String::new(),
        })
        .collect();
    RunStrip {
        axis: rate(Scale::Linear),
        kind: MarkKind::ClientSolid,
        colour: 0,
        runs,
        figure: Some(40.2),
        interval: Some((39.6, 40.9)),
        drift: Some((39.0, 41.5)),
    }
}

/// Values that go up and down without any function that platforms compute differently.
fn wave(i: u32) -> f64 {
    f64::from(i * 7 % 5) * 0.61 - 1.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_native_drawing_is_the_committed_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference-chart.svg");
        if std::env::var_os("DYNO_UPDATE").is_some() {
            std::fs::write(path, drawing()).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == drawing(),
            "figures changed: look at them, then write {path} with `DYNO_UPDATE=1 cargo test -p dyno-web reference`"
        );
    }
}
