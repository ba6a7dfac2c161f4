//! A Parquet file, a row group at a time.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression as Codec, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::batch::{Batch, Values};
use super::column::{Heading, Kind};
use super::options::Compression;

/// A file that is being written.
pub struct ParquetFile(SerializedFileWriter<File>);

impl std::fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ParquetFile")
    }
}

impl ParquetFile {
    /// Writes the head.
    pub fn new(file: File, headings: &[Heading], compression: Compression) -> Result<Self> {
        let properties = properties(headings, compression)?;
        Ok(Self(SerializedFileWriter::new(file, schema(headings)?, properties)?))
    }

    /// Writes the rows as one row group.
    pub fn write(&mut self, batch: &Batch) -> Result<()> {
        let mut group = self.0.next_row_group()?;
        for cells in &batch.columns {
            let Some(mut column) = group.next_column()? else { break };
            let levels = Some(cells.levels.as_slice());
            match &cells.values {
                Values::Text(values) => column.typed::<ByteArrayType>().write_batch(values, levels, None)?,
                Values::Number(values) => column.typed::<DoubleType>().write_batch(values, levels, None)?,
                Values::Count(values) => column.typed::<Int64Type>().write_batch(values, levels, None)?,
                Values::Flag(values) => column.typed::<BoolType>().write_batch(values, levels, None)?,
            };
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the foot.
    pub fn finish(self) -> Result<()> {
        Ok(self.0.into_inner()?.sync_all()?)
    }
}

fn schema(headings: &[Heading]) -> Result<TypePtr> {
    let fields = headings.iter().map(|heading| {
        let (physical, logical) = match heading.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Count => (Physical::INT64, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(heading.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    });
    Ok(Arc::new(Type::group_type_builder("dyno").with_fields(fields.collect::<Result<_>>()?).build()?))
}

/// Measured times hardly ever repeat, so a dictionary of them would only cost time.
fn properties(headings: &[Heading], compression: Compression) -> Result<WriterPropertiesPtr> {
    let codec = match compression {
        Compression::Zstd => Codec::ZSTD(ZstdLevel::try_new(1)?),
        Compression::Snappy => Codec::SNAPPY,
        Compression::None => Codec::UNCOMPRESSED,
    };
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("dyno ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(codec)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for heading in headings.iter().filter(|heading| heading.kind == Kind::Number) {
        builder = builder.set_column_dictionary_enabled(ColumnPath::from(heading.name), false);
    }
    Ok(Arc::new(builder.build()))
}
