//! A CSV file as RFC 4180 has it: UTF-8, a head line, CRLF, and quotes where a cell needs them. An unknown cell is empty.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::batch::{Batch, Cells, Values};
use super::column::Heading;

/// A file that is being written.
#[derive(Debug)]
pub struct CsvFile(BufWriter<File>);

impl CsvFile {
    /// Writes the head line.
    pub fn new(file: File, headings: &[Heading]) -> io::Result<Self> {
        let mut out = BufWriter::new(file);
        let names: Vec<&str> = headings.iter().map(|heading| heading.name).collect();
        write!(out, "{}\r\n", names.join(","))?;
        Ok(Self(out))
    }

    /// Writes the rows.
    pub fn write(&mut self, batch: &Batch) -> io::Result<()> {
        write_rows(&mut self.0, batch)
    }

    /// Writes what is left.
    pub fn finish(self) -> io::Result<()> {
        self.0.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

fn write_rows(out: &mut impl Write, batch: &Batch) -> io::Result<()> {
    let mut next = vec![0; batch.columns.len()];
    for row in 0..batch.rows {
        for (at, (cells, next)) in batch.columns.iter().zip(&mut next).enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            if cells.levels.get(row) == Some(&1) {
                write_cell(out, cells, *next)?;
                *next += 1;
            }
        }
        out.write_all(b"\r\n")?;
    }
    Ok(())
}

fn write_cell(out: &mut impl Write, cells: &Cells, at: usize) -> io::Result<()> {
    match &cells.values {
        Values::Text(values) => values.get(at).map_or(Ok(()), |text| write_text(out, text.data())),
        Values::Number(values) => values.get(at).map_or(Ok(()), |number| write!(out, "{number}")),
        Values::Count(values) => values.get(at).map_or(Ok(()), |count| write!(out, "{count}")),
        Values::Flag(values) => values.get(at).map_or(Ok(()), |flag| write!(out, "{flag}")),
    }
}

fn write_text(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    let needs_quotes = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    if !text.iter().any(needs_quotes) {
        return out.write_all(text);
    }
    out.write_all(b"\"")?;
    for (at, part) in text.split(|byte| *byte == b'"').enumerate() {
        if at > 0 {
            out.write_all(b"\"\"")?;
        }
        out.write_all(part)?;
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::super::column::{Kind, Value};
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_and_unknown_ones_are_empty() {
        let heading = |kind| Heading { name: "x", kind, meaning: "" };
        let mut batch = Batch::new(&[heading(Kind::Text), heading(Kind::Number), heading(Kind::Flag)]);
        batch.push([Value::from("a, \"b\"\nc"), Value::Number(0.1), Value::Unknown].into_iter());
        batch.push([Value::Unknown, Value::Unknown, Value::Flag(false)].into_iter());
        let mut out = Vec::new();
        write_rows(&mut out, &batch).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\"a, \"\"b\"\"\nc\",0.1,\r\n,,false\r\n");
    }
}
