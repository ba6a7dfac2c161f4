//! Rows that wait to be written, column by column.

use bytes::Bytes;
use parquet::data_type::ByteArray;

use super::column::{Heading, Kind, Value};

/// The cells of one column: what is known, and which rows know.
#[derive(Debug)]
pub struct Cells {
    /// For each row 1 where the cell is known, else 0: definition levels, as Parquet calls them.
    pub levels: Vec<i16>,
    /// The known cells in order.
    pub values: Values,
}

/// Known cells of one kind.
#[derive(Debug)]
pub enum Values {
    /// Text.
    Text(Vec<ByteArray>),
    /// Numbers.
    Number(Vec<f64>),
    /// Counts.
    Count(Vec<i64>),
    /// Flags.
    Flag(Vec<bool>),
}

impl Cells {
    const fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Number => Values::Number(Vec::new()),
            Kind::Count => Values::Count(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Self { levels: Vec::new(), values }
    }

    /// Adds a cell and returns the bytes that it takes. A count that no signed integer holds, and a cell of another kind,
    /// are unknown.
    fn push(&mut self, value: &Value<'_>) -> usize {
        let bytes = match (&mut self.values, value) {
            (Values::Text(cells), Value::Text(text)) => push_text(cells, text),
            (Values::Number(cells), Value::Number(number)) => {
                cells.push(*number);
                size_of::<f64>()
            }
            (Values::Count(cells), Value::Count(count)) => match i64::try_from(*count) {
                Ok(count) => {
                    cells.push(count);
                    size_of::<i64>()
                }
                Err(_) => 0,
            },
            (Values::Flag(cells), Value::Flag(flag)) => {
                cells.push(*flag);
                size_of::<bool>()
            }
            _ => 0,
        };
        self.levels.push(i16::from(bytes > 0));
        size_of::<i16>() + bytes
    }
}

/// Neighbours that say the same share one text: most of a shard's columns say the same in every row.
fn push_text(cells: &mut Vec<ByteArray>, text: &str) -> usize {
    if let Some(last) = cells.last().filter(|last| last.data() == text.as_bytes()) {
        let shared = last.clone();
        cells.push(shared);
        size_of::<ByteArray>()
    } else {
        cells.push(ByteArray::from(Bytes::copy_from_slice(text.as_bytes())));
        size_of::<ByteArray>() + text.len()
    }
}

/// Rows of one partition.
#[derive(Debug)]
pub struct Batch {
    /// The columns, in order.
    pub columns: Vec<Cells>,
    /// How many rows.
    pub rows: usize,
    /// About the memory that they take.
    pub bytes: usize,
}

impl Batch {
    /// No rows of these columns.
    pub fn new(headings: &[Heading]) -> Self {
        let columns = headings.iter().map(|heading| Cells::new(heading.kind)).collect();
        Self { columns, rows: 0, bytes: 0 }
    }

    /// Adds a row and returns the bytes that it takes.
    pub fn push<'a>(&mut self, row: impl Iterator<Item = Value<'a>>) -> usize {
        let bytes = self.columns.iter_mut().zip(row).map(|(cells, value)| cells.push(&value)).sum();
        self.rows += 1;
        self.bytes += bytes;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADINGS: [Heading; 2] = [
        Heading { name: "name", kind: Kind::Text, meaning: "" },
        Heading { name: "n", kind: Kind::Count, meaning: "" },
    ];

    #[test]
    fn an_unknown_cell_takes_a_level_and_no_value() {
        let mut batch = Batch::new(&HEADINGS);
        for row in [[Value::from("a"), Value::Count(0)], [Value::Unknown, Value::Count(u64::MAX)]] {
            batch.push(row.into_iter());
        }
        assert_eq!(batch.rows, 2);
        assert_eq!(batch.columns[0].levels, [1, 0]);
        assert_eq!(batch.columns[1].levels, [1, 0], "no count is negative");
        assert!(matches!(&batch.columns[1].values, Values::Count(counts) if *counts == [0]));
    }

    #[test]
    fn a_text_that_is_repeated_is_kept_once() {
        let mut batch = Batch::new(&HEADINGS[..1]);
        let long = "x".repeat(10_000);
        let first = batch.push([Value::from(long.as_str())].into_iter());
        let second = batch.push([Value::from(long.as_str())].into_iter());
        assert!(first > 10_000 && second < 100, "{first}, {second}");
    }
}
