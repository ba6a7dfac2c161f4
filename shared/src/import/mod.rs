//! Result files of other tools, read as submissions: the same code on the terminal and on the page.
//!
//! # Adding a format
//!
//! One file, a constant [`Format`] in it, one line in [`FORMATS`], and its row in `docs/FORMATS.md`.
//!
//! - `recognises` looks at the content, never at a file name. It is asked about everything that anybody opens, so it
//!   checks two or three keys that only this tool writes.
//! - `read` gets the [`Document`]: [`Document::rows`] are the elements of a top-level list, the lines of JSONL, or the
//!   one object. A [`Node`] knows its path, so that what is missing or has the wrong type is a [`Problem`] with
//!   `runs[3].ttft_seconds` in it. `null` and absence are "unknown"; a number in quotes is that number.
//! - It gives one submission for each configuration. [`build`] makes submissions, cases, raw requests and stated
//!   figures, [`build::gather`] brings the cases of one configuration together.
//!
//! # What becomes which figure
//!
//! - Requests with their times become raw runs ([`Evidence::Raw`](crate::submission::Evidence)): facts, and Dyno
//!   computes every figure. Where it is not known when requests were sent, no batch is made up of them.
//! - Everything else is stated ([`Evidence::Summary`](crate::submission::Evidence)): the tool's statistic under its
//!   own name (mean, median, p99), never relabelled. It takes the tag of one of our metrics where it is the same
//!   quantity up to the event that closes the window, and its note says which event that is. A figure that is made
//!   differently (a TPOT with the time to first token in it, a prefill rate with a latency taken off) keeps the tool's
//!   own name and unit.
//! - Failed requests stay failed. What the file does not tell stays unknown, and a note says which metrics lack and why.

mod aiperf;
mod bench_py;
pub mod build;
mod document;
mod error;
mod genai_bench;
mod guidellm;
mod inferencex;
mod llama_bench;
mod llama_benchy;
mod local_score;
mod ollama;
mod rigmark;
mod sglang_bench;
mod tree;
mod vllm_bench;

pub use document::{Document, decode};
pub use error::ImportError;
pub use tree::{Node, Value};

use crate::plain::plain;
use crate::shard::{self, LARGEST_SHARD_BYTES};
use crate::submission::Submission;
use crate::validate::Problem;

/// A format of another tool.
#[derive(Debug)]
pub struct Format {
    /// Its name for `--as`.
    pub tag: &'static str,
    /// The tool's name for people, and in the provenance.
    pub title: &'static str,
    /// What the importer was tried on, in words: `0.12.0`, `the documentation of 0.5.5`.
    pub tried: &'static str,
    /// Whether a document is of this format, by its content.
    pub recognises: fn(&Document<'_>) -> bool,
    /// Reads it.
    pub read: fn(&Document<'_>) -> Result<Vec<Submission>, Problem>,
}

/// Every foreign format, in documentation order.
pub const FORMATS: &[&Format] = &[
    &vllm_bench::FORMAT,
    &sglang_bench::FORMAT,
    &guidellm::FORMAT,
    &aiperf::FORMAT,
    &llama_benchy::FORMAT,
    &llama_bench::FORMAT,
    &rigmark::FORMAT,
    &genai_bench::FORMAT,
    &inferencex::FORMAT,
    &ollama::FORMAT,
    &local_score::FORMAT,
    &bench_py::FORMAT,
];

/// Dyno's own shard, which is opened like any other file.
pub const SHARD: &str = "dyno";

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// [`Format::tag`], or [`SHARD`].
    pub format: &'static str,
    /// [`Format::title`].
    pub title: &'static str,
    /// At least one.
    pub submissions: Vec<Submission>,
    /// What a user should know of the reading itself: lines that were passed over, an encoding that was changed.
    pub notes: Vec<String>,
}

/// The format of a tag.
pub fn find(tag: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.tag == tag)
}

/// Reads a result file, as the format whose tag is `forced` or as what it looks like. A shard is read, not validated.
///
/// # Errors
/// Any [`ImportError`]: each names the tool where it is known, the place, and what to do.
pub fn read(text: &str, forced: Option<&str>) -> Result<Imported, ImportError> {
    if text.len() > LARGEST_SHARD_BYTES {
        return Err(ImportError::TooLarge);
    }
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_matches(|c: char| c.is_whitespace() || c == '\0').is_empty() {
        return Err(ImportError::Empty);
    }
    let forced = match forced {
        None | Some(SHARD) => None,
        Some(tag) => Some(find(tag).ok_or_else(|| ImportError::UnknownFormat(plain(tag)))?),
    };
    let mended = document::mend(text);
    let document = Document::of(text, &mended);
    if forced.is_none() && is_shard(&document) {
        let submissions = vec![shard::parse(text).map_err(ImportError::Shard)?];
        return Ok(Imported { format: SHARD, title: "Dyno", submissions, notes: document.notes() });
    }
    let recognised = || FORMATS.iter().copied().find(|format| (format.recognises)(&document));
    let Some(format) = forced.or_else(recognised) else { return Err(document.unrecognised()) };
    if let Some(broken) = document.broken()
        && !(format.recognises)(&document)
    {
        return Err(broken);
    }
    let submissions = (format.read)(&document).map_err(|problem| ImportError::Misfit {
        title: format.title,
        tried: format.tried,
        problem,
    })?;
    if submissions.is_empty() {
        return Err(ImportError::Nothing(format.title));
    }
    Ok(Imported { format: format.tag, title: format.title, submissions, notes: document.notes() })
}

fn is_shard(document: &Document<'_>) -> bool {
    let schema = document.only().and_then(|whole| whole.get("schema"));
    schema.is_some_and(|schema| schema.as_text().is_some_and(|text| text.starts_with("dyno/")))
}

#[cfg(test)]
mod tests;
