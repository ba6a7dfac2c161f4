//! Published data: `latest.json` and the columnar index pages that the leaderboard reads.
//!
//! `dyno publish` writes `latest.json` (never cached), `index-<hash>.json` pages (cached for ever) and
//! `shards/<id>.json`. The page reads them in that order.

use serde::{Deserialize, Serialize};

use crate::metric;
use crate::named::Named;
use crate::objects::fields;
use crate::submission::{Evidence, Origin, Submission};
use crate::summary::{Estimate, summarize_calibrated};
use crate::workload::Regime;

/// The schema of the published data.
pub const SITE_SCHEMA: &str = "dyno-site/1.0";

/// The entry point of the published data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latest {
    /// [`SITE_SCHEMA`].
    pub schema: String,
    /// Hash of everything published: a permalink carries it.
    pub data_version: String,
    /// Index pages, newest rows first.
    pub index: Vec<IndexFile>,
    /// Shards that were published.
    pub submissions: u64,
    /// Shards that were not, each with its reason. They block nothing.
    #[serde(default)]
    pub rejected: Vec<Rejected>,
}

/// One index page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexFile {
    /// Path relative to `latest.json`.
    pub path: String,
    /// Rows in it.
    pub rows: u64,
}

/// A shard that could not be published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Its path below `results/`.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What the leaderboard knows of one submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Content hash; the raw shard is `shards/<id>.json`.
    pub id: String,
    /// The submission's label.
    pub label: String,
    /// Engine.
    pub engine: String,
    /// Engine version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_version: Option<String>,
    /// Model.
    pub model: String,
    /// Quantisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantisation: Option<String>,
    /// Hardware.
    pub hardware: String,
    /// When it was measured or published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// `collected`, `imported`, `transcribed`.
    pub origin: String,
    /// Raw runs or a summary.
    pub evidence: Evidence,
    /// Whether the engine is Dyno's simulated one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// Whether the measurement ended early.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// What the maintainers of the board say of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flag: Option<Flag>,
}

/// A maintainer's mark on a submission, which stays published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// Why, in a sentence.
    pub reason: String,
    /// Where it was discussed; begins with `https://`.
    pub link: String,
    /// Content hash of the submission that stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// One row of the leaderboard: a case of a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Index into the page's entries.
    pub entry: usize,
    /// The case's id.
    pub case: String,
    /// Its regime.
    pub regime: Regime,
    /// Its workload.
    pub workload: String,
    /// Concurrent streams.
    pub concurrency: u32,
    /// Prompt tokens, as measured on average, else as aimed at.
    pub prompt_tokens: Option<f64>,
    /// Cached context before the prompt.
    pub depth_tokens: Option<u64>,
    /// Recorded runs; for a summary what it states.
    pub runs: Option<u64>,
    /// Runs that failed their checks.
    pub failed: u64,
    /// Short warning names: `drift`, `outliers`, `served_from_cache`, ….
    pub warnings: Vec<String>,
    /// The figures, by metric tag.
    pub cells: Named<Cell>,
}

/// One figure of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The point; unknown where only a range is stated.
    pub value: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Lowest and highest observation, where a summary states a range and no point.
    pub range: Option<(f64, f64)>,
    /// Runs behind it.
    pub n: Option<u64>,
    /// Name of the statistic.
    pub statistic: Option<String>,
}

/// A page of the index: entries, and their rows column by column, which compresses to a few bytes a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexPage {
    /// The submissions of this page.
    pub entries: Vec<Entry>,
    /// Words that the columns refer to by number.
    words: Vec<String>,
    entry: Vec<u32>,
    case: Vec<u32>,
    regime: Vec<u32>,
    workload: Vec<u32>,
    concurrency: Vec<u32>,
    prompt_tokens: Vec<Option<f64>>,
    depth_tokens: Vec<Option<u64>>,
    runs: Vec<Option<u64>>,
    failed: Vec<u64>,
    warnings: Vec<Vec<u32>>,
    metrics: Named<Column>,
}

/// One metric's cells, for the rows that have one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Column {
    row: Vec<u32>,
    value: Vec<Option<f64>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    n: Vec<Option<u64>>,
    statistic: Vec<Option<u32>>,
    /// By position in `row`: only where there is no point.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    range: Named<(f64, f64)>,
}

fields!(Latest { schema, data_version, index, submissions; rejected });

fields!(IndexFile { path, rows; });

fields!(Rejected { path, reason; });

fields!(Entry {
    id, label, engine, model, hardware, origin, evidence;
    engine_version, quantisation, date, simulated, partial, flag,
});

fields!(Flag { reason, link; superseded_by });

fields!(IndexPage {
    entries, words, entry, case, regime, workload, concurrency, prompt_tokens, depth_tokens, runs, failed, warnings,
    metrics;
});

fields!(Column { row, value, low, high, n, statistic; range });

impl IndexPage {
    /// Adds a submission and its cases.
    pub fn push(&mut self, id: &str, submission: &Submission) {
        let entry = self.entries.len();
        self.entries.push(entry_of(id, submission));
        for row in rows_of(entry, submission) {
            self.push_row(&row);
        }
    }

    /// How many rows the page holds.
    pub fn len(&self) -> usize {
        self.entry.len()
    }

    /// Whether the page holds no row.
    pub fn is_empty(&self) -> bool {
        self.entry.is_empty()
    }

    /// Adds another page's entries and rows to this one.
    pub fn append(&mut self, other: Self) {
        let shift = self.entries.len();
        let rows = other.rows();
        self.entries.extend(other.entries);
        for mut row in rows {
            row.entry += shift;
            self.push_row(&row);
        }
    }

    /// The rows, one by one. Columns of unequal length (a damaged page) end at the shortest.
    pub fn rows(&self) -> Vec<Row> {
        let length = [
            self.entry.len(),
            self.case.len(),
            self.regime.len(),
            self.workload.len(),
            self.concurrency.len(),
            self.prompt_tokens.len(),
            self.depth_tokens.len(),
            self.runs.len(),
            self.failed.len(),
            self.warnings.len(),
        ]
        .into_iter()
        .min()
        .unwrap_or(0);
        let mut cells: Vec<Named<Cell>> = vec![Named::default(); length];
        for (tag, column) in self.metrics.iter() {
            for (position, &row) in column.row.iter().enumerate() {
                let Some(of_row) = cells.get_mut(row as usize) else { continue };
                let at = |values: &[Option<f64>]| values.get(position).copied().flatten();
                of_row.get_or_insert(tag, || Cell {
                    value: at(&column.value),
                    low: at(&column.low),
                    high: at(&column.high),
                    range: column.range.get(&position.to_string()).copied(),
                    n: column.n.get(position).copied().flatten(),
                    statistic: column.statistic.get(position).copied().flatten().map(|w| self.word(w)),
                });
            }
        }
        cells
            .into_iter()
            .enumerate()
            .filter(|(i, _)| (self.entry[*i] as usize) < self.entries.len())
            .map(|(i, cells)| Row {
                entry: self.entry[i] as usize,
                case: self.word(self.case[i]),
                regime: Regime::from_tag(&self.word(self.regime[i])),
                workload: self.word(self.workload[i]),
                concurrency: self.concurrency[i],
                prompt_tokens: self.prompt_tokens[i],
                depth_tokens: self.depth_tokens[i],
                runs: self.runs[i],
                failed: self.failed[i],
                warnings: self.warnings[i].iter().map(|&w| self.word(w)).collect(),
                cells,
            })
            .collect()
    }

    fn push_row(&mut self, row: &Row) {
        let number = self.entry.len() as u32;
        self.entry.push(row.entry as u32);
        for (text, column) in [(row.case.as_str(), 0), (row.regime.tag(), 1), (row.workload.as_str(), 2)] {
            let word = self.intern(text);
            [&mut self.case, &mut self.regime, &mut self.workload][column].push(word);
        }
        self.concurrency.push(row.concurrency);
        self.prompt_tokens.push(row.prompt_tokens.map(round_to_six));
        self.depth_tokens.push(row.depth_tokens);
        self.runs.push(row.runs);
        self.failed.push(row.failed);
        let warnings = row.warnings.iter().map(|w| self.intern(w)).collect();
        self.warnings.push(warnings);
        for (tag, cell) in row.cells.iter() {
            let statistic = cell.statistic.as_deref().map(|s| self.intern(s));
            let column = self.metrics.get_or_insert(tag, Column::default);
            if let Some((min, max)) = cell.range {
                let place = column.row.len().to_string();
                column.range.get_or_insert(&place, || (round_to_six(min), round_to_six(max)));
            }
            column.row.push(number);
            column.value.push(cell.value.map(round_to_six));
            column.low.push(cell.low.map(round_to_six));
            column.high.push(cell.high.map(round_to_six));
            column.n.push(cell.n);
            column.statistic.push(statistic);
        }
    }

    fn intern(&mut self, text: &str) -> u32 {
        let known = self.words.iter().position(|w| w == text);
        known.unwrap_or_else(|| {
            self.words.push(text.to_owned());
            self.words.len() - 1
        }) as u32
    }

    fn word(&self, number: u32) -> String {
        self.words.get(number as usize).cloned().unwrap_or_default()
    }
}

/// Six significant digits: three more than are shown. The exact figures are in the raw shard.
fn round_to_six(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

fn entry_of(id: &str, submission: &Submission) -> Entry {
    let system = &submission.system;
    Entry {
        id: id.to_owned(),
        label: submission.label.clone(),
        engine: system.engine.name.clone(),
        engine_version: system.engine.version.clone(),
        model: system.model.name.clone(),
        quantisation: system.model.quantisation.clone(),
        hardware: system.hardware.name.clone(),
        date: submission.provenance.started_at.clone(),
        origin: match submission.provenance.origin {
            Origin::Collected => "collected",
            Origin::Imported { .. } => "imported",
            Origin::Transcribed { .. } => "transcribed",
            Origin::Unknown => "unknown",
        }
        .to_owned(),
        evidence: submission.provenance.evidence,
        simulated: system.engine.simulated,
        partial: submission.provenance.partial.is_some(),
        flag: None,
    }
}

fn rows_of(entry: usize, submission: &Submission) -> Vec<Row> {
    submission
        .cases
        .iter()
        .map(|case| {
            let summary = summarize_calibrated(case, submission.provenance.calibration.as_ref());
            Row {
                entry,
                case: case.id.clone(),
                regime: case.regime,
                workload: case.workload.clone(),
                concurrency: case.concurrency,
                prompt_tokens: summary.prompt_tokens.or(case.prompt_tokens_target.map(|t| t as f64)),
                depth_tokens: case.depth_tokens,
                runs: summary.runs,
                failed: summary.failures.len() as u64,
                warnings: summary.warnings.iter().map(|w| w.name.to_owned()).collect(),
                cells: cells_of(&summary.estimates),
            }
        })
        .collect()
}

/// One cell per metric. Where a source states several statistics of one, the first stands for it.
fn cells_of(estimates: &[Estimate]) -> Named<Cell> {
    let mut cells = Named::default();
    for estimate in estimates {
        cells.get_or_insert(&name_of(estimate), || cell_of(estimate));
    }
    cells
}

/// The metric's tag; a source's own metric with its unit, so that no column mixes two.
fn name_of(estimate: &Estimate) -> String {
    match estimate.unit.as_deref() {
        Some(unit) if !unit.is_empty() && metric::find(&estimate.metric).is_none() => {
            format!("{}, {unit}", estimate.metric)
        }
        _ => estimate.metric.clone(),
    }
}

fn cell_of(estimate: &Estimate) -> Cell {
    Cell {
        value: estimate.value,
        low: estimate.interval.as_ref().map(|i| i.low),
        high: estimate.interval.as_ref().map(|i| i.high),
        range: estimate.value.is_none().then_some(estimate.min.zip(estimate.max)).flatten(),
        n: estimate.n,
        statistic: estimate.statistic.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{shard_of, single_stream_case};

    #[test]
    fn rows_come_back_from_the_columns_as_they_went_in() {
        let shard = shard_of(vec![
            single_stream_case("code", &[(501, 5.0), (501, 5.2), (501, 5.1)]),
            single_stream_case("prose", &[]),
        ]);
        let mut page = IndexPage::default();
        page.push("a", &shard);
        page.push("b", &shard);
        let read: IndexPage = serde_json::from_str(&serde_json::to_string(&page).unwrap()).unwrap();
        let rows = read.rows();
        assert_eq!((rows.len(), read.entries.len()), (4, 2));
        assert_eq!((rows[2].entry, rows[2].case.as_str(), rows[2].runs), (1, "code", Some(3)));
        let cell = rows[2].cells.get("client_wall_decode_tok_s").unwrap();
        assert_eq!((cell.value, cell.n), (Some(98.0392), Some(3)));
        assert!(cell.low < cell.value && cell.value < cell.high);
        assert!(rows[3].cells.is_empty());
        let mut both = read.clone();
        both.append(read);
        assert_eq!((both.rows().len(), both.rows()[7].entry), (8, 3));
    }

    #[test]
    fn a_source_s_own_metric_has_its_unit_in_its_name_and_the_first_of_two_statistics_stands() {
        let stated = |metric: &str, unit: Option<&str>, value| crate::submission::StatedEstimate {
            metric: metric.into(),
            unit: unit.map(Into::into),
            value: Some(value),
            ..Default::default()
        };
        let mut case = single_stream_case("code", &[]);
        case.stated = vec![
            stated("wall time", Some("s"), 3.0),
            stated("wall time", Some("min"), 4.0),
            stated("client_wall_ttft_s", Some("s"), 0.5),
            stated("client_wall_ttft_s", None, 0.7),
        ];
        let mut page = IndexPage::default();
        page.push("a", &shard_of(vec![case]));
        let cells = &page.rows()[0].cells;
        let values: Vec<_> = cells.iter().map(|(name, cell)| (name, cell.value)).collect();
        let expected = [("client_wall_ttft_s", 0.5), ("wall time, min", 4.0), ("wall time, s", 3.0)];
        assert_eq!(values, expected.map(|(name, value)| (name, Some(value))));
    }

    #[test]
    fn a_damaged_page_gives_the_rows_that_it_has() {
        let mut page = IndexPage::default();
        page.push(
            "a",
            &shard_of(vec![single_stream_case("code", &[(501, 5.0); 3]), single_stream_case("b", &[])]),
        );
        page.failed.truncate(1);
        page.words.truncate(1);
        assert_eq!(page.rows().len(), 1);
        page.entry[0] = 9;
        assert!(page.rows().is_empty());
    }
}
