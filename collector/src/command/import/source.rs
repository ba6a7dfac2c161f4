//! The bytes of a result file, whatever it is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use dyno_shared::import::ImportError;
use dyno_shared::shard::LARGEST_SHARD_BYTES;

/// Reads a file, or stdin where it is called `-`; no more than an importer takes.
pub(super) fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        return bounded(io::stdin().lock(), LARGEST_SHARD_BYTES);
    }
    if path.is_dir() {
        return Err(anyhow!("is a folder: name the result files in it"));
    }
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow!("there is no such file: check the name"),
        _ => anyhow!("cannot be read: {error}"),
    })?;
    bounded(file, LARGEST_SHARD_BYTES)
}

fn bounded(source: impl Read, largest: usize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(largest as u64 + 1).read_to_end(&mut bytes).context("cannot be read")?;
    if bytes.len() > largest {
        return Err(ImportError::TooLarge.into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_end_is_too_large_and_does_not_fill_the_memory() {
        assert!(bounded(io::repeat(0), 1000).unwrap_err().to_string().starts_with("larger than"));
        assert_eq!(bounded(&b"12345"[..], 5).unwrap(), b"12345");
    }
}
