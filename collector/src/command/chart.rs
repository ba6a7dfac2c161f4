//! `dyno chart`: a figure of the page as SVG.

mod concurrency;
mod forest;
mod intervals;
mod length;
mod lines;
mod names;
mod runs;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use dyno_shared::chart::theme::Theme;
use dyno_shared::chart::{Drawing, Heading};
use dyno_shared::metric::{self, METRICS, Metric};
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;

use crate::exit::{Exit, Failure};
use crate::output::write_whole;
use crate::talk::say;

/// A figure that can be drawn.
struct Figure {
    /// Its name on the command line.
    name: &'static str,
    /// What it shows, for the help.
    about: &'static str,
    draw: fn(&Asked) -> anyhow::Result<Drawn>,
}

/// Every figure, in documentation order.
const FIGURES: [Figure; 5] =
    [runs::FIGURE, intervals::FIGURE, length::FIGURE, concurrency::FIGURE, forest::FIGURE];

/// What is asked of a figure.
struct Asked {
    shards: Vec<Submission>,
    case: Option<String>,
    metric: Option<&'static Metric>,
    width: u32,
}

/// A figure, and what stands above it.
struct Drawn {
    drawing: Drawing,
    heading: Heading,
}

/// Draw a figure of shards as SVG, as the page draws it: for a pull request, a paper or a post.
#[derive(Debug, clap::Args)]
pub struct ChartArgs {
    /// The figure.
    #[arg(value_name = "FIGURE", value_parser = names_of_figures())]
    pub figure: String,
    /// Shards.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The case, by its name; needed where the figure is of one and the files have several.
    #[arg(long, value_name = "ID")]
    pub case: Option<String>,
    /// The metric, by its tag, such as `client_wall_ttft_s`; else that by which the case is judged.
    #[arg(long, value_name = "TAG", value_parser = known_metric)]
    pub metric: Option<&'static Metric>,
    /// Colours.
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: Colours,
    /// Pixels of the figure's width.
    #[arg(long, value_name = "N", default_value = "800", value_parser = clap::value_parser!(u32).range(280..=1_600))]
    pub width: u32,
    /// The file to write; `-` is stdout.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub out: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
}

/// Colours of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colours {
    /// For a light ground.
    Light,
    /// For a dark ground.
    Dark,
}

fn names_of_figures() -> PossibleValuesParser {
    PossibleValuesParser::new(FIGURES.iter().map(|figure| PossibleValue::new(figure.name).help(figure.about)))
}

fn known_metric(tag: &str) -> Result<&'static Metric, String> {
    metric::find(tag).ok_or_else(|| {
        let tags: Vec<&str> = METRICS.iter().map(|metric| metric.tag).collect();
        format!("there are {}", tags.join(", "))
    })
}

/// Draws.
///
/// # Errors
/// If a file is no shard or has nothing of the figure, or if the file cannot be written.
pub fn run(args: &ChartArgs) -> Result<Exit, Failure> {
    let shards =
        args.files.iter().map(|path| super::load(path).with_context(|| plain(&path.to_string_lossy())));
    let asked = Asked {
        shards: shards.collect::<anyhow::Result<_>>()?,
        case: args.case.clone(),
        metric: args.metric,
        width: args.width,
    };
    let svg = document(&args.figure, &asked, args.theme)?;
    if args.out.as_os_str() == "-" {
        super::print(&svg)?;
    } else {
        write_whole(&args.out, svg.as_bytes(), args.force).map_err(anyhow::Error::from)?;
    }
    Ok(Exit::Done)
}

/// A figure of one shard as a document of its own, in light colours.
///
/// # Errors
/// If the shard has nothing of the figure.
pub(crate) fn standalone(figure: &str, shard: &Submission, case: Option<&str>) -> anyhow::Result<String> {
    let asked = Asked { shards: vec![shard.clone()], case: case.map(Into::into), metric: None, width: 640 };
    drawn(figure, &asked, Colours::Light).map(|(svg, _)| svg)
}

fn document(figure: &str, asked: &Asked, colours: Colours) -> anyhow::Result<String> {
    let (svg, drawing) = drawn(figure, asked, colours)?;
    for left_out in &drawing.left_out {
        say(left_out);
    }
    Ok(svg)
}

fn drawn(figure: &str, asked: &Asked, colours: Colours) -> anyhow::Result<(String, Drawing)> {
    let Some(figure) = FIGURES.iter().find(|known| known.name == figure) else {
        bail!("there is no figure `{}`: see `dyno chart --help`", plain(figure));
    };
    let Drawn { drawing, mut heading } = (figure.draw)(asked)?;
    if asked.shards.iter().any(|shard| shard.system.engine.simulated) {
        heading.notes.push("SIMULATED: Dyno's own simulated engine, an instrument and no result".to_owned());
    }
    let theme = match colours {
        Colours::Light => Theme::Light,
        Colours::Dark => Theme::Dark,
    };
    Ok((drawing.document(theme, &heading), drawing))
}

#[cfg(test)]
mod tests;
