//! What no text and no number anywhere in a shard may be: private, endless, negative.

use std::fmt::Write as _;

use serde_json::Value;

use super::Problems;
use crate::privacy::find_secret;
use crate::submission::Submission;

/// Characters of a name, at most.
const LONGEST_NAME: usize = 200;
/// Characters of any other text, at most.
const LONGEST_TEXT: usize = 10_000;

/// Keys whose text is a name: it stands in tables, titles and paths.
const NAMES: [&str; 24] = [
    "label",
    "name",
    "id",
    "workload",
    "version",
    "commit",
    "revision",
    "quantisation",
    "format",
    "architecture",
    "cpu",
    "link",
    "driver",
    "os",
    "series",
    "submitter",
    "tool",
    "metric",
    "unit",
    "statistic",
    "interval",
    "run_tag",
    "schema",
    "collector_version",
];

/// Looks through every text and number of the shard, keys of settings included.
pub(super) fn check(problems: &mut Problems, shard: &Submission) {
    match serde_json::to_value(shard) {
        Ok(value) => walk(problems, &mut String::new(), "", &value),
        Err(error) => problems.add("", &format!("cannot be written as JSON: {error}"), "Measure again"),
    }
}

fn walk(problems: &mut Problems, path: &mut String, key: &str, value: &Value) {
    match value {
        Value::String(text) => {
            report_private(problems, path, text);
            let longest = match key {
                // With `--keep-output` all of it is kept; the size of the whole file is limited.
                "output_text" => usize::MAX,
                key if NAMES.contains(&key) => LONGEST_NAME,
                _ => LONGEST_TEXT,
            };
            report_length(problems, path, text, longest);
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                let length = path.len();
                // Writing to a String cannot fail.
                let _ = write!(path, "[{i}]");
                walk(problems, path, key, item);
                path.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(key);
                report_private(problems, path, key);
                report_length(problems, path, key, LONGEST_NAME);
                walk(problems, path, key, field);
                path.truncate(length);
            }
        }
        Value::Number(number) => report_number(problems, path, key, number.as_f64()),
        _ => {}
    }
}

fn report_private(problems: &mut Problems, path: &str, text: &str) {
    if let Some(secret) = find_secret(text) {
        problems.add(
            path,
            &["holds ", secret.title()].concat(),
            "Remove it before you publish: a shard never says who or where. `dyno submit` removes it for you",
        );
    }
}

fn report_length(problems: &mut Problems, path: &str, text: &str, longest: usize) {
    // A character has a byte at least.
    if text.len() > longest && text.chars().nth(longest).is_some() {
        let path: String = path.chars().take(LONGEST_NAME).collect();
        problems.add(
            &path,
            &["is longer than ", &longest.to_string(), " characters"].concat(),
            "Shorten it: names stand in tables, and long texts belong behind a link",
        );
    }
}

/// The key says what the number is; what a flag is called says nothing.
fn report_number(problems: &mut Problems, path: &str, key: &str, number: Option<f64>) {
    let Some(number) = number else { return };
    // Times of requests are looked at in their order, and an error of the client's may be negative.
    if path.starts_with("configuration") || key.starts_with("t_") || key.contains("error") {
        return;
    }
    let is_share = key.starts_with("host_") && key.ends_with("_share") || key == "gpu_throttled_share";
    let is_size = ["_s", "_j", "_w", "_bytes", "_tokens", "_mhz"].iter().any(|unit| key.ends_with(unit));
    if number < 0.0 && (is_size || is_share || key == "gpu_utilisation") {
        problems.add(path, "is negative", "Measure again, or leave it out: absent means unknown");
    }
    if number > 1.001 && (is_share || key == "gpu_utilisation") {
        problems.add(path, "is above 1", "Give a share from 0 to 1, not per cent");
    }
}
