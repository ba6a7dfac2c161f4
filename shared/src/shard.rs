//! Reading and writing a shard's text: version probe, refusal of unknown majors, hash, size.

use sha2::{Digest, Sha256};

use crate::json::{Input, Wrong};
use crate::objects;
use crate::plain::plain;
use crate::submission::{SCHEMA_MAJOR, Submission};
use crate::validate::{Problem, validate};

/// The largest shard that is read, in bytes: 50 MB. A collected one is a few hundred KB.
pub const LARGEST_SHARD_BYTES: usize = 50_000_000;

/// Why a text is not a shard that this version reads.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ShardError {
    /// Too large to be a shard.
    #[error("larger than {} MB: split it into one submission per file", LARGEST_SHARD_BYTES / 1_000_000)]
    TooLarge,
    /// Empty.
    #[error("the file is empty: write it again with `dyno run --out FILE`")]
    Empty,
    /// Not JSON at all, or cut off.
    #[error("not JSON at line {line}, column {column}: {message}. {}", if *.truncated {
        "The file is cut off: copy it again, or finish the measurement with `--resume`"
    } else {
        "Copy the file again as `dyno run` wrote it"
    })]
    NotJson {
        /// Line from 1.
        line: usize,
        /// Column from 1.
        column: usize,
        /// What the parser said.
        message: String,
        /// Whether the text ended too soon.
        truncated: bool,
    },
    /// JSON, but not a shard.
    #[error("no `schema` key that starts with `dyno/`: this is not a Dyno shard, as `dyno run` writes one")]
    NotAShard,
    /// A major that this version does not know.
    #[error(
        "written by a newer dyno: {found} (this one reads {SCHEMA_MAJOR}.x). Update dyno, or reload the page"
    )]
    NewerMajor {
        /// What the file says, e.g. `2.0`.
        found: String,
    },
    /// A major that no version ever wrote.
    #[error("unknown schema version `{found}`: this dyno reads dyno/{SCHEMA_MAJOR}.x")]
    UnknownVersion {
        /// What the file says.
        found: String,
    },
    /// A shard whose fields do not have the right form.
    #[error("a field has the wrong form: {0}. See schema/dyno-1.schema.json")]
    WrongForm(Wrong),
    /// A well-formed shard that says something impossible or private.
    #[error("{}", list(.0))]
    Invalid(Vec<Problem>),
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Reads a shard without validating it: the form only.
///
/// # Errors
/// Everything but [`ShardError::Invalid`].
pub fn parse(text: &str) -> Result<Submission, ShardError> {
    if text.len() > LARGEST_SHARD_BYTES {
        return Err(ShardError::TooLarge);
    }
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(ShardError::Empty);
    }
    let mut input = Input::new(text);
    input.skip().and_then(|()| input.end()).map_err(|wrong| not_json(text, &wrong))?;
    probe_version(text)?;
    objects::read(text).map_err(ShardError::WrongForm)
}

fn not_json(text: &str, wrong: &Wrong) -> ShardError {
    let before = text.get(..wrong.at()).unwrap_or(text);
    let line = before.lines().last().filter(|_| !before.ends_with('\n')).unwrap_or_default();
    ShardError::NotJson {
        line: 1 + before.matches('\n').count(),
        column: 1 + line.chars().count(),
        message: wrong.message(),
        truncated: before.len() == text.len(),
    }
}

/// Reads and validates a shard.
///
/// # Errors
/// Any [`ShardError`].
pub fn read(text: &str) -> Result<Submission, ShardError> {
    let submission = parse(text)?;
    let problems = validate(&submission);
    if problems.is_empty() { Ok(submission) } else { Err(ShardError::Invalid(problems)) }
}

/// The text of a shard as it is written: indented by nothing, one line per top-level concern would only grow it.
///
/// # Errors
/// When a number in it is not finite, which a shard cannot hold.
pub fn write(submission: &Submission) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string(submission)?;
    text.push('\n');
    Ok(text)
}

/// The identity of a shard: the first 16 hex digits of the SHA-256 of its bytes.
pub fn content_id(text: &str) -> String {
    let mut id = sha256_hex(text.as_bytes());
    id.truncate(16);
    id
}

/// SHA-256 in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What says of which version a file is.
struct Version {
    schema: String,
}

objects::fields!(Version { schema; });

/// Looks at the version alone, so that a file of another major is refused by name and not by its fields.
fn probe_version(text: &str) -> Result<(), ShardError> {
    let Ok(Version { schema }) = objects::read(text) else { return Err(ShardError::NotAShard) };
    let Some(version) = schema.strip_prefix("dyno/") else { return Err(ShardError::NotAShard) };
    let major = version.split('.').next().and_then(|m| m.parse::<u32>().ok());
    let found = plain(version);
    match major {
        Some(SCHEMA_MAJOR) => Ok(()),
        Some(newer) if newer > SCHEMA_MAJOR => Err(ShardError::NewerMajor { found }),
        _ => Err(ShardError::UnknownVersion { found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALLEST: &str =
        r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw"}}"#;

    #[test]
    fn a_later_minor_with_new_fields_and_words_is_read() {
        let text = SMALLEST.replace("1.0", "1.9").replace("\"raw\"", "\"video\",\"mood\":3");
        let shard = parse(&text).unwrap();
        assert_eq!(shard.schema, "dyno/1.9");
        assert_eq!(shard.provenance.evidence, crate::submission::Evidence::Unknown);
    }

    #[test]
    fn a_newer_major_is_refused_by_name() {
        let error = parse(&SMALLEST.replace("1.0", "2.0").replace("label", "title")).unwrap_err();
        assert_eq!(error, ShardError::NewerMajor { found: "2.0".into() });
        assert!(error.to_string().starts_with("written by a newer dyno: 2.0"), "{error}");
    }

    #[test]
    fn a_truncated_file_says_so_and_where() {
        for cut in 1..SMALLEST.len() {
            let error = parse(&SMALLEST[..cut]).unwrap_err();
            assert!(matches!(error, ShardError::NotJson { truncated: true, line: 1, .. }), "{cut}: {error}");
        }
    }

    #[test]
    fn what_is_not_a_shard_is_told_from_what_is_broken() {
        assert_eq!(parse("  \n").unwrap_err(), ShardError::Empty);
        for text in ["[]", "{}", "3", r#"{"schema":1}"#, r#"{"schema":"other/1"}"#] {
            assert_eq!(parse(text).unwrap_err(), ShardError::NotAShard, "{text}");
        }
        let error = parse(&SMALLEST.replace("\"a\"", "7")).unwrap_err();
        assert!(matches!(error, ShardError::WrongForm(_)), "{error}");
        assert!(matches!(
            parse(&SMALLEST.replace("1.0", "one")).unwrap_err(),
            ShardError::UnknownVersion { .. }
        ));
    }

    #[test]
    fn what_a_file_says_of_itself_is_quoted_without_commands_to_a_terminal() {
        for text in [
            SMALLEST.replace("1.0", "2.0\\u001b[2J"),
            SMALLEST.replace("1.0", "x\\u202e\\n"),
            SMALLEST.replace("\"label\"", "\"configuration\":{\"effective\":{\"\\u001b[2J\":7}},\"label\""),
        ] {
            let said = parse(&text).unwrap_err().to_string();
            assert_eq!(said, crate::plain::plain(&said));
        }
    }

    #[test]
    fn the_identity_is_the_content() {
        assert_eq!(content_id("abc"), "ba7816bf8f01cfea");
    }

    #[test]
    fn a_shard_survives_writing_and_reading() {
        let shard = parse(SMALLEST).unwrap();
        assert_eq!(parse(&write(&shard).unwrap()).unwrap(), shard);
    }
}
