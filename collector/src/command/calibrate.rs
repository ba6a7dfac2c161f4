//! `dyno calibrate`: how much the client itself adds to what it measures.

use std::fmt::Write as _;

use anyhow::Context as _;
use dyno_shared::chart::{Axis, Curve, Drawing, Scale, curves};
use dyno_shared::format::{bytes, short};
use dyno_shared::metric::Better;
use dyno_shared::submission::Calibration;
use dyno_shared::units::{Seconds, Unit};

use crate::calibration::{Level, measure};
use crate::exit::{Exit, Failure};
use crate::output::write_whole;
use crate::talk::say;
use crate::transport;

/// Measure the client itself against a simulated engine whose truth is known.
///
/// The engine is a process of its own on this machine, so both share its cores, as they do when the engine that you
/// measure runs here. A busy machine shows in the p99 columns.
#[derive(Debug, Clone, clap::Args)]
pub struct CalibrateArgs {
    /// Concurrent streams, one level each.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,8,64",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub streams: Vec<u32>,
    /// Tokens per second of each stream.
    #[arg(long, value_name = "TOK/S", default_value = "50", value_parser = rate)]
    pub rate: f64,
    /// Tokens of each stream in one batch.
    #[arg(long, value_name = "N", default_value = "128", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub tokens: u32,
    /// Batches that count; one more comes first and warms both sides.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub batches: u32,
    /// Spread of the engine's gaps; 0 lets all streams speak at the same instants, which is hardest.
    #[arg(long, value_name = "SHARE", default_value = "0")]
    pub jitter: f64,
    /// Print JSON: one calibration for each level.
    #[arg(long)]
    pub json: bool,
    /// Draw the errors over the streams into this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub chart: Option<std::path::PathBuf>,
}

/// Measures level by level and prints each as it ends.
///
/// # Errors
/// When the simulated engine cannot be started, too few files may be open, a stream fails, or the chart cannot be
/// written.
pub fn run(args: &CalibrateArgs) -> Result<Exit, Failure> {
    let dyno =
        std::env::current_exe().context("cannot find this program to start it as the simulated engine")?;
    let mut levels: Vec<u32> = args.streams.clone();
    // The peak of memory is the process's: from few streams to many it is that of each level.
    levels.sort_unstable();
    levels.dedup();
    if !args.json {
        say(format_args!(
            "against a simulated engine of {} tok/s a stream, {} batches of {} tokens a stream:",
            short(args.rate),
            args.batches,
            args.tokens
        ));
        super::print(&format!("{}\n", heading()))?;
    }
    let mut found = Vec::new();
    for streams in levels {
        let level = Level {
            streams,
            rate_tok_s: args.rate,
            tokens: args.tokens,
            batches: args.batches,
            jitter: args.jitter,
        };
        let runtime = transport::runtime_for(streams).context("no runtime for the client")?;
        let calibration = runtime.block_on(measure(&dyno, level))?;
        if !args.json {
            super::print(&format!("{}\n", line(&calibration)))?;
        }
        found.push(calibration);
    }
    if args.json {
        super::print_json(&found)?;
    }
    if let Some(file) = &args.chart {
        let svg = chart(&found).standalone();
        write_whole(file, svg.as_bytes(), true).map_err(anyhow::Error::from)?;
    }
    Ok(Exit::Done)
}

/// The p99 errors over the streams, both on log axes.
fn chart(found: &[Calibration]) -> Drawing {
    let axis =
        |label: &str, better| Axis { label: label.to_owned(), unit: Unit::One, better, scale: Scale::Log };
    let curve = |label: &str, colour, of: fn(&Calibration) -> Option<Seconds>| Curve {
        label: label.to_owned(),
        colour,
        points: found.iter().filter_map(|c| Some((f64::from(c.streams?), of(c)?.get() * 1e3))).collect(),
    };
    let all = [
        curve("TTFT, mean", 1, |c| c.ttft_error_mean_s),
        curve("TTFT, p99", 6, |c| c.ttft_error_p99_s),
        curve("gap, p99", 5, |c| c.gap_error_p99_s),
    ];
    curves(axis("streams", Better::Neither), axis("error of the client, ms", Better::Lower), &all, 640)
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|rate| (0.1..=100_000.0).contains(rate))
        .ok_or_else(|| "give tokens per second from 0.1 to 100,000".to_owned())
}

/// Names of the columns, with their widths.
const COLUMNS: [(&str, usize); 10] = [
    ("streams", 7),
    ("TTFT mean", 10),
    ("median", 9),
    ("p99", 9),
    ("gap median", 10),
    ("p99", 9),
    ("lost", 6),
    ("CPU", 8),
    ("of a core", 9),
    ("memory", 9),
];

fn heading() -> String {
    row(&COLUMNS.map(|(name, _)| name.to_owned()))
}

fn line(c: &Calibration) -> String {
    let ms = |s: Option<Seconds>| s.map(|s| format!("{} ms", short(s.get() * 1e3)));
    let percent = |share: f64| format!("{} %", short(share * 100.0));
    let cells = [
        c.streams.map(|n| n.to_string()),
        ms(c.ttft_error_mean_s),
        ms(c.ttft_error_median_s),
        ms(c.ttft_error_p99_s),
        ms(c.gap_error_median_s),
        ms(c.gap_error_p99_s),
        c.lost_tokens.map(|n| n.to_string()),
        c.client_cpu_s.map(|s| format!("{} s", short(s.get()))),
        c.client_cpu_share.map(percent),
        c.client_memory_bytes.map(bytes),
    ];
    row(&cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned())))
}

fn row(cells: &[String; COLUMNS.len()]) -> String {
    let mut line = String::new();
    for (cell, (_, width)) in cells.iter().zip(COLUMNS) {
        let _ = write!(line, "{cell:>width$} ");
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_cell_under_every_name_and_says_what_is_unknown() {
        let known = Calibration {
            streams: Some(64),
            ttft_error_mean_s: Some(Seconds(0.000_12)),
            lost_tokens: Some(0),
            client_memory_bytes: Some(20 << 20),
            ..Calibration::default()
        };
        let line = line(&known);
        assert!(line.contains("0.120 ms") && line.contains("–"), "{line}");
        assert_eq!(line.chars().count(), heading().chars().count(), "{line}\n{}", heading());
    }
}
