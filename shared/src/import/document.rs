//! From the bytes of a file to JSON values: everything that text may suffer on its way here, mended in one place.

use std::borrow::Cow;

use super::error::ImportError;
use super::tree::{Node, Value};
use crate::json::{Input, Wrong};
use crate::plain::plain;

/// Keys of an unknown file that an error quotes.
const KEYS_QUOTED: usize = 6;

/// The text of a file's bytes: UTF-8, or UTF-16 with a byte order mark, as Windows' shells write it.
///
/// # Errors
/// [`ImportError::NotText`] with the first byte that is none.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            let text = std::str::from_utf8(bytes);
            return text.map(Cow::Borrowed).map_err(|e| ImportError::NotText { at: e.valid_up_to() });
        }
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| unit(pair));
    let mut text = String::with_capacity(bytes.len() / 2);
    let mut at = 0;
    for c in char::decode_utf16(units) {
        let Ok(c) = c else { return Err(ImportError::NotText { at }) };
        text.push(c);
        at += 2 * c.len_utf16();
    }
    if rest.is_empty() { Ok(Cow::Owned(text)) } else { Err(ImportError::NotText { at }) }
}

/// The text with what Python writes and JSON does not know: `NaN` is unknown, and `Infinity` the word `inf`.
pub(super) fn mend(text: &str) -> Cow<'_, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return Cow::Borrowed(text);
    }
    let (mut mended, mut done, mut at, mut in_string) = (String::with_capacity(text.len()), 0, 0, false);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let word = match byte {
            b'"' => {
                in_string = !in_string;
                None
            }
            b'\\' if in_string => {
                at += 1;
                None
            }
            _ if in_string => None,
            b'N' if rest.starts_with(b"NaN") => Some((3, "null")),
            b'I' if rest.starts_with(b"Infinity") => Some((8, "\"inf\"")),
            b'-' if rest.starts_with(b"-Infinity") => Some((9, "\"-inf\"")),
            _ => None,
        };
        let Some((length, instead)) = word else {
            at += 1;
            continue;
        };
        mended.push_str(text.get(done..at).unwrap_or_default());
        mended.push_str(instead);
        at += length;
        done = at;
    }
    mended.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(mended)
}

/// What a file holds: JSON values, or text that is none.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    values: Vec<Value<'a>>,
    /// Lines that are no JSON, around the values.
    noise: usize,
    broken: Option<ImportError>,
}

impl<'a> Document<'a> {
    /// Of the text as it was, and as it was mended.
    pub(super) fn of(text: &'a str, mended: &'a str) -> Self {
        let mut document = Self { text, values: Vec::new(), noise: 0, broken: None };
        if let Err((begin, wrong)) = document.values_of(mended) {
            // A part of a file is not the file.
            document.values.clear();
            document.broken = Some(not_json(mended, begin, &wrong));
        }
        document
    }

    /// Values one after the other: an object, a list, or JSONL. A line that begins no value is passed over, and so is
    /// one like `[INFO] …`, which only seems to begin one.
    fn values_of(&mut self, text: &'a str) -> Result<(), (usize, Wrong)> {
        let mut at = 0;
        let mut first_wrong = None;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.trim_start().is_empty()) {
            at += rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            let line = rest.find('\n').unwrap_or(rest.len());
            if rest.starts_with(['{', '[']) {
                let mut input = Input::new(rest);
                match Value::next(&mut input) {
                    Ok(value) => {
                        self.values.push(value);
                        at += input.position();
                        continue;
                    }
                    Err(wrong) if rest.starts_with('[') && wrong.at() < line => {
                        first_wrong = first_wrong.or(Some((at, wrong)));
                    }
                    Err(wrong) => return Err((at, wrong)),
                }
            }
            self.noise += 1;
            at += line;
        }
        first_wrong.filter(|_| self.values.is_empty()).map_or(Ok(()), Err)
    }

    /// The whole text, for formats that are not JSON.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The elements of a list, the lines of JSONL, or the one object.
    pub fn rows(&self) -> Vec<Node<'_>> {
        match self.values.as_slice() {
            [one @ Value::List(_)] => Node::root(one).items(),
            [one] => vec![Node::root(one)],
            lines => lines.iter().enumerate().map(|(i, line)| Node::element(line, "", i)).collect(),
        }
    }

    /// The object or list, where it is the only one.
    pub fn only(&self) -> Option<Node<'_>> {
        match self.values.as_slice() {
            [one] => Some(Node::root(one)),
            _ => None,
        }
    }

    /// Whether there are rows and the first of them has all these keys, whatever their values.
    pub fn has(&self, keys: &[&str]) -> bool {
        let rows = self.rows();
        rows.first().is_some_and(|row| keys.iter().all(|key| row.has(key)))
    }

    /// What a user should know of the reading.
    pub(super) fn notes(&self) -> Vec<String> {
        let passed_over = (!self.values.is_empty() && self.noise > 0)
            .then(|| format!("{} lines that are no JSON were passed over", self.noise));
        passed_over.into_iter().collect()
    }

    /// Why there are no values, where the text seemed to hold some.
    pub(super) fn broken(&self) -> Option<ImportError> {
        self.broken.clone()
    }

    /// The error where no format is this.
    pub(super) fn unrecognised(&self) -> ImportError {
        if let Some(broken) = self.broken() {
            return broken;
        }
        let rows = self.rows();
        let Some(first) = rows.first() else {
            return ImportError::Unrecognised { found: "it holds no JSON object".into() };
        };
        let keys: Vec<String> =
            first.members().iter().take(KEYS_QUOTED).map(|(key, _)| format!("`{}`", plain(key))).collect();
        let found = if keys.is_empty() { "no keys".into() } else { format!("keys {} …", keys.join(", ")) };
        ImportError::Unrecognised { found }
    }
}

fn not_json(text: &str, begin: usize, wrong: &Wrong) -> ImportError {
    let before = text.get(..begin + wrong.at()).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    ImportError::NotJson {
        line: 1 + before.matches('\n').count(),
        column: 1 + line.chars().count(),
        message: wrong.message(),
        truncated: before.trim_end().len() == text.trim_end().len(),
    }
}
