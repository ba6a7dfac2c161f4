//! What is wrong with the text of a shard, and what is hard to believe in it, each with its place in the file.

use dyno_shared::plain::plain;
use dyno_shared::plausible::doubts;
use dyno_shared::privacy::scrub;
use dyno_shared::shard::{ShardError, parse};
use dyno_shared::submission::Submission;
use dyno_shared::validate::{Problem, validate};
use serde_json::Value;

use super::locate::{Spot, doubled, locate, spot};
use super::scrub::scrub_value;

/// Findings of one kind that are shown; a broken generator repeats its mistake in every request.
const MOST: usize = 20;

/// The largest file that is taken into a board, in bytes: 5 MB. A collected shard is a few hundred KB.
pub const LARGEST_SUBMISSION_BYTES: usize = 5_000_000;

/// What keeps a valid shard out of a board.
pub fn refusals(shard: &Submission) -> Vec<String> {
    let mut reasons = Vec::new();
    if shard.system.engine.simulated {
        reasons.push("system.engine: is Dyno's own simulated engine, an instrument and no result".to_owned());
    }
    if shard.cases.is_empty() && shard.stated_comparisons.is_empty() {
        reasons.push(
            "cases: is empty. Measure something with `dyno run`, or state what a source says".to_owned(),
        );
    }
    reasons
}

/// What is said of one place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where in the text, if it is of a place.
    pub spot: Option<Spot>,
    /// Path, what is wrong and what to do.
    pub text: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(Spot { line, column }) = self.spot {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.text)
    }
}

impl Finding {
    /// One that is of the whole file.
    pub fn whole(text: impl Into<String>) -> Self {
        Self { spot: None, text: text.into() }
    }
}

/// A file that was looked at.
#[derive(Debug, Default)]
pub struct Examined {
    /// What it says, if it has the form of a shard.
    pub shard: Option<Submission>,
    /// What keeps it from being published.
    pub errors: Vec<Finding>,
    /// What somebody should look at.
    pub warnings: Vec<Finding>,
}

impl Examined {
    /// Whether it may be published.
    pub fn is_good(&self) -> bool {
        self.shard.is_some() && self.errors.is_empty()
    }
}

/// Looks at a text that should be a shard.
pub fn examine(text: &str) -> Examined {
    let text = text.trim_start_matches('\u{feff}');
    let shard = match parse(text) {
        Ok(shard) => shard,
        Err(error) => {
            let spot = match &error {
                ShardError::WrongForm(wrong) => Some(spot(text, wrong.at())),
                _ => None,
            };
            return Examined {
                errors: vec![Finding { spot, text: error.to_string() }],
                ..Examined::default()
            };
        }
    };
    let mut problems = validate(&shard);
    problems.extend(doubled_names(text));
    let mut unknown = Vec::new();
    // The file is published byte for byte, so what this version does not read counts too.
    if let (Ok(mut raw), Ok(read)) = (serde_json::from_str::<Value>(text), serde_json::to_value(&shard)) {
        unread("", &raw, &read, &mut unknown);
        for removed in scrub_value(&mut raw) {
            if !problems.iter().any(|problem| problem.path == plain(&removed.path)) {
                problems.push(Problem {
                    path: plain(&removed.path),
                    message: format!("holds {}", removed.what),
                    remedy: "Remove it before you publish, or let `dyno submit` remove it".to_owned(),
                });
            }
        }
    }
    unknown.extend(doubts(&shard));
    Examined { shard: Some(shard), errors: located(text, &problems), warnings: located(text, &unknown) }
}

/// Members that stand twice in one object of a text.
pub fn doubled_names(text: &str) -> Vec<Problem> {
    let problem = |path: String| Problem {
        // The path may hold what nobody looked at yet.
        path: plain(&scrub(&path)),
        message: "stands twice".to_owned(),
        remedy: "Leave one of them out: only the last is read".to_owned(),
    };
    doubled(text).into_iter().map(problem).collect()
}

fn located(text: &str, problems: &[Problem]) -> Vec<Finding> {
    let shown = problems.iter().take(MOST).map(|problem| Finding {
        spot: (!problem.path.is_empty()).then(|| locate(text, &problem.path)),
        text: problem.to_string(),
    });
    let mut findings: Vec<Finding> = shown.collect();
    if let Some(more) = problems.len().checked_sub(MOST).filter(|more| *more > 0) {
        findings.push(Finding::whole(format!("and {more} more of this kind")));
    }
    findings
}

/// Members of the file that became nothing: a misspelt name is read as absent, and its figure is lost without a word.
fn unread(path: &str, raw: &Value, read: &Value, found: &mut Vec<Problem>) {
    match (raw, read) {
        (Value::Object(raw), Value::Object(read)) => {
            for (key, member) in raw {
                let inside = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match read.get(key) {
                    Some(read) => unread(&inside, member, read, found),
                    None if is_nothing(member) => {}
                    None => found.push(Problem {
                        path: plain(&inside),
                        message: "is no field that this version reads".to_owned(),
                        remedy: "Look at its spelling in the schema (`dyno schema`), or put it into `notes`"
                            .to_owned(),
                    }),
                }
            }
        }
        (Value::Array(raw), Value::Array(read)) => {
            for (i, (raw, read)) in raw.iter().zip(read).enumerate() {
                unread(&format!("{path}[{i}]"), raw, read, found);
            }
        }
        _ => {}
    }
}

/// What is not written, and means the same.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{
 "schema": "dyno/1.0",
 "label": "a",
 "provenance": {"origin": {"kind": "collected"}, "evidence": "summary"},
 "system": {"engine": {"name": "e"}, "model": {"name": "m"}},
 "cases": [
  {"id": "code", "regime": "decode", "workload": "code", "concurrency": 1, "runs": [], "description": null,
   "stated": [{"metric": "client_wall_decode_tok_s", "value": 40}]}
 ]
}"#;

    fn said(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_file_has_no_findings_whatever_it_leaves_out() {
        let found = examine(GOOD);
        assert!(found.is_good() && found.warnings.is_empty(), "{found:?}");
    }

    #[test]
    fn errors_have_a_path_a_line_and_a_remedy() {
        let found = examine(&GOOD.replace("\"concurrency\": 1", "\"concurrency\": 0"));
        assert_eq!(
            said(&found.errors),
            ["line 7, column 73: cases[0].concurrency: is 0. A case has at least one stream"]
        );
        let found = examine(&GOOD.replace("\"value\": 40", "\"value\": \"40 tok/s\""));
        let said = said(&found.errors);
        assert!(
            said[0].starts_with("line 8, column 63: ") && said[0].contains("cases[0].stated[0].value"),
            "{said:?}"
        );
        assert!(!found.is_good());
    }

    #[test]
    fn a_misspelt_field_is_said_and_a_secret_in_it_is_an_error() {
        let found =
            examine(&GOOD.replace("\"description\": null", "\"depth\": 4096, \"host\": \"10.1.2.3\""));
        assert_eq!(found.errors.len(), 1);
        assert!(found.errors[0].text.starts_with("cases[0].host: holds an IP address"), "{found:?}");
        assert!(said(&found.warnings).iter().any(|line| line.contains("cases[0].depth: is no field")));
    }

    #[test]
    fn a_thousand_mistakes_are_not_a_thousand_lines() {
        let stated = vec![r#"{"metric":"x","value":1,"low":3,"high":2}"#; 1000].join(",");
        let text = GOOD.replace(r#"{"metric": "client_wall_decode_tok_s", "value": 40}"#, &stated);
        let found = examine(&text);
        assert_eq!(found.errors.len(), MOST + 1);
        assert_eq!(found.errors[MOST].to_string(), "and 980 more of this kind");
    }
}
