//! Shards as Parquet or CSV, for people whose questions outgrow the page: one row for each request, and one for each
//! figure of a case, in partitions by engine and month (docs/EXPORT.md).
//!
//! One shard is written while the next is read, and rows go out in row groups, so that memory does not grow with the
//! number of shards.

mod batch;
mod column;
mod csv_file;
mod error;
mod folder;
mod inputs;
mod options;
mod parquet_file;
mod partition;
mod place;
mod request;
mod summary;
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use dyno_shared::summary::summarize_calibrated;

pub use column::{Heading, Kind};
pub use error::ExportError;
pub use inputs::Bad;
pub use options::{Compression, Dataset, Format, Options};
use partition::Partition;
use place::{PLACE, Place, Source};
use request::{REQUEST, RequestRow};
use summary::{SUMMARY, SummaryRow};
use table::{Limits, Table};

/// What was exported.
#[derive(Debug, Default)]
pub struct Exported {
    /// Shards in it.
    pub shards: u64,
    /// Rows of the dataset of requests.
    pub requests: u64,
    /// Rows of the dataset of summaries.
    pub summaries: u64,
    /// What was left out.
    pub bad: Vec<Bad>,
    /// Files whose content another one had already.
    pub duplicates: Vec<PathBuf>,
}

/// The columns of a dataset, in order. The partitions `engine` and `month` are no columns of its files.
pub fn headings(dataset: Dataset) -> Vec<Heading> {
    let shared = PLACE.iter().map(|column| column.heading);
    match dataset {
        Dataset::Requests => shared.chain(REQUEST.iter().map(|column| column.heading)).collect(),
        Dataset::Summaries => shared.chain(SUMMARY.iter().map(|column| column.heading)).collect(),
    }
}

/// Exports the shards. Where none is good, nothing is written and an earlier export stays.
///
/// # Errors
/// If the folder may not be replaced, or something cannot be written. A bad shard is no error: it is left out and listed.
pub fn export(options: &Options) -> Result<Exported, ExportError> {
    let aside = folder::prepare(&options.out, options.force)?;
    let mut exported = Exported::default();
    let paths = inputs::list(&options.inputs, &mut exported.bad);
    let mut tables = Tables::new(aside.path(), options);
    let mut known = BTreeSet::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(0);
        scope.spawn(move || {
            for path in paths {
                let loaded = inputs::load(&path);
                // Whoever received has given up: the disk is full, say.
                if sender.send((path, loaded)).is_err() {
                    break;
                }
            }
        });
        for (path, loaded) in receiver {
            match loaded {
                Ok(source) if known.insert(source.id.clone()) => {
                    exported.shards += 1;
                    tables.add(&source)?;
                }
                Ok(_) => exported.duplicates.push(path),
                Err(reason) => exported.bad.push(Bad { path, reason }),
            }
        }
        Ok::<(), ExportError>(())
    })?;
    if exported.shards > 0 {
        (exported.requests, exported.summaries) = tables.finish()?;
        folder::publish(aside, &options.out)?;
    }
    Ok(exported)
}

/// Both datasets, or the one that is wanted.
struct Tables {
    requests: Option<Table>,
    summaries: Option<Table>,
}

impl Tables {
    fn new(folder: &Path, options: &Options) -> Self {
        let table = |dataset: Dataset| {
            options.only.is_none_or(|only| only == dataset).then(|| {
                let folder = folder.join(dataset.folder());
                Table::new(folder, headings(dataset), options.format, Limits::default())
            })
        };
        Self { requests: table(Dataset::Requests), summaries: table(Dataset::Summaries) }
    }

    fn add(&mut self, source: &Source) -> Result<(), ExportError> {
        let partition = Partition::of(&source.submission);
        for case in &source.submission.cases {
            let place = Place { source, case };
            if let Some(table) = &mut self.requests {
                add_requests(table, &partition, place)?;
            }
            if let Some(table) = &mut self.summaries {
                add_figures(table, &partition, place)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(u64, u64), ExportError> {
        let rows = |table: Option<Table>| table.map_or(Ok(0), Table::finish);
        Ok((rows(self.requests)?, rows(self.summaries)?))
    }
}

fn add_requests(table: &mut Table, partition: &Partition, place: Place<'_>) -> Result<(), ExportError> {
    for run in &place.case.runs {
        let passed = run.passed();
        for request in &run.requests {
            let row = RequestRow { run, passed, request };
            let shared = PLACE.iter().map(|column| (column.cell)(place));
            table.push(partition, shared.chain(REQUEST.iter().map(|column| (column.cell)(row))))?;
        }
    }
    Ok(())
}

fn add_figures(table: &mut Table, partition: &Partition, place: Place<'_>) -> Result<(), ExportError> {
    let calibration = place.source.submission.provenance.calibration.as_ref();
    let summary = summarize_calibrated(place.case, calibration);
    for estimate in &summary.estimates {
        let row = SummaryRow { regime: place.case.regime, summary: &summary, estimate };
        let shared = PLACE.iter().map(|column| (column.cell)(place));
        table.push(partition, shared.chain(SUMMARY.iter().map(|column| (column.cell)(row))))?;
    }
    Ok(())
}
