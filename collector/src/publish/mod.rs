//! From a folder of shards to what the explorer reads. One bad shard never blocks the rest.

mod embed;
mod gather;
mod pages;
mod write;

use std::path::Path;

use dyno_shared::index::{Latest, Rejected, SITE_SCHEMA};
use dyno_shared::shard::{content_id, sha256_hex};

use crate::board::flags::Flags;

pub use gather::{Gathered, Shard};
pub use write::PublishError;

/// What a publication holds: every file below the output folder with its bytes, and the entry point.
#[derive(Debug)]
pub struct Publication {
    /// The hashed files, by their path.
    pub files: Vec<(String, Vec<u8>)>,
    /// What `latest.json` says.
    pub latest: Latest,
    /// Shards that are the same as another, each with that other's path.
    pub duplicates: Vec<(String, String)>,
    /// What flags name and is not there.
    pub lost_flags: Vec<String>,
}

/// Reads the shards of `folder` and writes their publication into `out`.
///
/// # Errors
/// If the folder or its flags cannot be read, or the output cannot be written. A bad shard is no error: it is listed as
/// rejected.
pub fn publish(folder: &Path, out: &Path) -> Result<Publication, PublishError> {
    let gathered = gather::gather(folder, out)?;
    let publication = compose(gathered, &Flags::of(folder)?);
    write::write(&publication, out)?;
    Ok(publication)
}

/// Lays out a publication. The same shards give the same bytes.
fn compose(gathered: Gathered, flags: &Flags) -> Publication {
    let Gathered { mut shards, rejected, duplicates, ids } = gathered;
    let (flags, lost_flags) = flags.resolve(&ids);
    // Newest first; of one moment by content, so that the order does not depend on file names.
    shards.sort_by(|a, b| {
        let started = |shard: &Shard| shard.submission.provenance.started_at.clone();
        started(b).cmp(&started(a)).then_with(|| a.id.cmp(&b.id))
    });
    let pages = pages::pages(&shards, &flags);
    let submissions = shards.len() as u64;
    let mut files: Vec<(String, Vec<u8>)> =
        shards.iter().flat_map(|shard| embed::files(shard, flags.get(&shard.id))).collect();
    files.extend(
        shards.into_iter().map(|shard| (format!("shards/{}.json", shard.id), shard.text.into_bytes())),
    );
    let mut index = Vec::new();
    for (entry, bytes) in pages {
        files.push((entry.path.clone(), bytes));
        index.push(entry);
    }
    let schema = schema_file();
    files.push(schema);
    let data_version = version(&files, &rejected);
    let latest = Latest { schema: SITE_SCHEMA.to_owned(), data_version, index, submissions, rejected };
    Publication { files, latest, duplicates, lost_flags }
}

/// The JSON Schema of the shards, so that whoever downloads one can check it.
fn schema_file() -> (String, Vec<u8>) {
    ("dyno-1.schema.json".to_owned(), crate::command::schema::text().into_bytes())
}

/// Names the whole content: all paths (which carry hashes) and all rejections.
fn version(files: &[(String, Vec<u8>)], rejected: &[Rejected]) -> String {
    let mut text = String::new();
    for (path, bytes) in files {
        text.push_str(path);
        text.push('\n');
        text.push_str(&sha256_hex(bytes));
        text.push('\n');
    }
    for Rejected { path, reason } in rejected {
        text.push_str(path);
        text.push('\n');
        text.push_str(reason);
        text.push('\n');
    }
    content_id(&text)
}

#[cfg(test)]
mod tests;
