//! One dataset as it is written: rows wait by partition, and go out as row groups.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;

use super::batch::Batch;
use super::column::{Heading, Value};
use super::csv_file::CsvFile;
use super::error::ExportError;
use super::options::Format;
use super::parquet_file::ParquetFile;
use super::partition::Partition;

/// How much may wait and be open.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Rows of a row group.
    pub group_rows: usize,
    /// Bytes of all rows that wait.
    pub waiting_bytes: usize,
    /// Files that are open at a time.
    pub open_files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { group_rows: 32_768, waiting_bytes: 48_000_000, open_files: 48 }
    }
}

/// A dataset that is being written.
#[derive(Debug)]
pub struct Table {
    folder: PathBuf,
    headings: Vec<Heading>,
    format: Format,
    limits: Limits,
    parts: BTreeMap<Partition, Part>,
    waiting_bytes: usize,
    /// Counts the row groups, so that the file that was written to longest ago is known.
    clock: u64,
    /// Rows so far.
    pub rows: u64,
}

#[derive(Debug)]
struct Part {
    waiting: Batch,
    open: Option<Open>,
    /// Files so far.
    files: u32,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: Writer,
    written_at: u64,
}

#[derive(Debug)]
enum Writer {
    Parquet(Box<ParquetFile>),
    Csv(CsvFile),
}

impl Table {
    /// An empty dataset in this folder.
    pub fn new(folder: PathBuf, headings: Vec<Heading>, format: Format, limits: Limits) -> Self {
        Self { folder, headings, format, limits, parts: BTreeMap::new(), waiting_bytes: 0, clock: 0, rows: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If a row group that is full now cannot be written.
    pub fn push<'a>(
        &mut self,
        partition: &Partition,
        row: impl Iterator<Item = Value<'a>>,
    ) -> Result<(), ExportError> {
        if !self.parts.contains_key(partition) {
            let part = Part { waiting: Batch::new(&self.headings), open: None, files: 0 };
            self.parts.insert(partition.clone(), part);
        }
        let Some(part) = self.parts.get_mut(partition) else { return Ok(()) };
        self.waiting_bytes += part.waiting.push(row);
        self.rows += 1;
        if part.waiting.rows >= self.limits.group_rows {
            return self.flush(partition);
        }
        if self.waiting_bytes > self.limits.waiting_bytes {
            let largest = self.parts.iter().max_by_key(|(_, part)| part.waiting.bytes);
            if let Some(largest) = largest.map(|(partition, _)| partition.clone()) {
                return self.flush(&largest);
            }
        }
        Ok(())
    }

    /// Writes what waits, and ends all files.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn finish(mut self) -> Result<u64, ExportError> {
        let partitions: Vec<Partition> = self.parts.keys().cloned().collect();
        for partition in partitions {
            self.flush(&partition)?;
            self.close(&partition)?;
        }
        Ok(self.rows)
    }

    fn flush(&mut self, partition: &Partition) -> Result<(), ExportError> {
        self.make_room(partition)?;
        self.clock += 1;
        let Some(part) = self.parts.get_mut(partition) else { return Ok(()) };
        if part.waiting.rows == 0 {
            return Ok(());
        }
        if part.open.is_none() {
            let folder = self.folder.join(partition.folder());
            let path = folder.join(format!("part-{}.{}", part.files, self.format.extension()));
            fs::create_dir_all(&folder).map_err(ExportError::at(&folder))?;
            let file = Writer::new(&path, &self.headings, self.format)?;
            part.open = Some(Open { path, file, written_at: 0 });
            part.files += 1;
        }
        let batch = std::mem::replace(&mut part.waiting, Batch::new(&self.headings));
        self.waiting_bytes = self.waiting_bytes.saturating_sub(batch.bytes);
        if let Some(open) = &mut part.open {
            open.written_at = self.clock;
            match &mut open.file {
                Writer::Parquet(file) => file.write(&batch).map_err(ExportError::at(&open.path))?,
                Writer::Csv(file) => file.write(&batch).map_err(ExportError::at(&open.path))?,
            }
        }
        Ok(())
    }

    /// Ends the file that was written to longest ago, where one more would be too many.
    fn make_room(&mut self, partition: &Partition) -> Result<(), ExportError> {
        let open = |part: &Part| part.open.as_ref().map(|open| open.written_at);
        if self.parts.get(partition).and_then(open).is_some() {
            return Ok(());
        }
        let written: Vec<(u64, &Partition)> =
            self.parts.iter().filter_map(|(partition, part)| Some((open(part)?, partition))).collect();
        if written.len() < self.limits.open_files {
            return Ok(());
        }
        let oldest = written.into_iter().min().map(|(_, partition)| partition.clone());
        oldest.map_or(Ok(()), |oldest| self.close(&oldest))
    }

    fn close(&mut self, partition: &Partition) -> Result<(), ExportError> {
        let Some(open) = self.parts.get_mut(partition).and_then(|part| part.open.take()) else {
            return Ok(());
        };
        match open.file {
            Writer::Parquet(file) => file.finish().map_err(ExportError::at(&open.path)),
            Writer::Csv(file) => file.finish().map_err(ExportError::at(&open.path)),
        }
    }
}

impl Writer {
    fn new(path: &std::path::Path, headings: &[Heading], format: Format) -> Result<Self, ExportError> {
        let file = File::create(path).map_err(ExportError::at(path))?;
        Ok(match format {
            Format::Parquet(compression) => {
                let file = ParquetFile::new(file, headings, compression).map_err(ExportError::at(path))?;
                Self::Parquet(Box::new(file))
            }
            Format::Csv => Self::Csv(CsvFile::new(file, headings).map_err(ExportError::at(path))?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Kind;
    use super::*;
    use crate::simulator::Truth;
    use crate::simulator::virtual_time::submission;

    #[test]
    fn many_partitions_keep_few_files_open_and_lose_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let headings = vec![Heading { name: "n", kind: Kind::Count, meaning: "" }];
        let limits = Limits { group_rows: 2, waiting_bytes: 200, open_files: 2 };
        let mut table = Table::new(dir.path().to_owned(), headings, Format::Csv, limits);
        let partitions: Vec<Partition> = (0..5)
            .map(|at| {
                let mut of = submission(&Truth::default(), "a", &[], 0, 0.0);
                of.system.engine.name = format!("engine{at}");
                Partition::of(&of)
            })
            .collect();
        for n in 0..50 {
            table.push(&partitions[n % 5], [Value::Count(n as u64)].into_iter()).unwrap();
            assert!(table.parts.values().filter(|part| part.open.is_some()).count() <= 2);
            assert!(table.waiting_bytes <= 200);
        }
        assert_eq!(table.finish().unwrap(), 50);
        for (at, partition) in partitions.iter().enumerate() {
            let mut found: Vec<u64> = Vec::new();
            for file in fs::read_dir(dir.path().join(partition.folder())).unwrap() {
                let text = fs::read_to_string(file.unwrap().path()).unwrap();
                found.extend(text.lines().skip(1).map(|line| line.parse::<u64>().unwrap()));
            }
            found.sort_unstable();
            let all: Vec<u64> = (0..10).map(|i| i * 5 + at as u64).collect();
            assert_eq!(found, all);
        }
    }
}
