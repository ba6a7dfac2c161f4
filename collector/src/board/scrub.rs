//! What says who or where leaves a submission, and the list of it stays.

use anyhow::Context as _;
use dyno_shared::privacy::{find_secret, scrub};
use dyno_shared::submission::Submission;
use serde::Serialize;
use serde_json::Value;

/// Something that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Where it stood in the shard.
    pub path: String,
    /// What it was, in words.
    pub what: &'static str,
}

/// The submission without it.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn scrubbed(shard: &Submission) -> anyhow::Result<(Submission, Vec<Removed>)> {
    let mut whole = serde_json::to_value(shard).context("cannot be written as JSON")?;
    let removed = scrub_value(&mut whole);
    let shard = if removed.is_empty() { shard.clone() } else { serde_json::from_value(whole)? };
    Ok((shard, removed))
}

/// Scrubs any JSON, fields that this version does not know included, and lists what was removed.
pub fn scrub_value(value: &mut Value) -> Vec<Removed> {
    let mut removed = Vec::new();
    walk("", value, &mut removed);
    removed
}

fn walk(path: &str, value: &mut Value, removed: &mut Vec<Removed>) {
    match value {
        Value::String(text) => {
            if let Some(clean) = cleaned(path, text, removed) {
                *text = clean;
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                walk(&format!("{path}[{i}]"), item, removed);
            }
        }
        Value::Object(members) => {
            for (key, mut member) in std::mem::take(members) {
                let inside = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(&inside, &mut member, removed);
                let key = cleaned(path, &key, removed).unwrap_or(key);
                members.insert(key, member);
            }
        }
        _ => {}
    }
}

fn cleaned(path: &str, text: &str, removed: &mut Vec<Removed>) -> Option<String> {
    let secret = find_secret(text)?;
    // A path may be a key of the file itself, which may be the secret.
    removed.push(Removed { path: scrub(path), what: secret.title() });
    Some(scrub(text))
}

#[cfg(test)]
mod tests {
    use dyno_shared::shard::parse;
    use dyno_shared::validate::validate;

    use super::*;

    #[test]
    fn what_is_private_goes_from_values_and_keys_and_the_list_does_not_repeat_it() {
        let text = r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"imported","tool":"t"},"evidence":"raw"},
            "system":{"engine":{"name":"e"},"model":{"name":"m"}},
            "configuration":{"requested":{"/home/alice/x":"http://me:pw@example.org/","fine":0.1}},"notes":["ask a@example.org"]}"#;
        let (shard, removed) = scrubbed(&parse(text).unwrap()).unwrap();
        assert_eq!(validate(&shard), []);
        let said: Vec<String> = removed.iter().map(|r| format!("{} {}", r.path, r.what)).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.iter().all(|line| !line.contains("alice") && !line.contains("me:pw")), "{said:?}");
        assert_eq!(shard.configuration.requested.len(), 2);
        let clean =
            parse(&text.replace("/home/alice/x", "x").replace("me:pw@", "").replace("a@example.org", "us"))
                .unwrap();
        assert_eq!(scrubbed(&clean).unwrap(), (clean, Vec::new()));
    }
}
