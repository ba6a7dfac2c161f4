//! Makes the shard of what was measured, with nothing private in it.

use std::collections::BTreeMap;

use dyno_shared::privacy::scrub;
use dyno_shared::record::RequestRecord;
use dyno_shared::submission::{Evidence, Origin, Provenance, Run, SCHEMA, Submission};
use dyno_shared::system::{Configuration, Engine, Hardware, Model, Setting, Sourced, System, Topology};
use dyno_shared::workload::{Regime, Sampling};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calendar::rfc3339;
use crate::engine::Identified;
use crate::journal::Header;
use crate::protocol::{Ledger, cached_tokens};

/// Commit of this collector, where the build knew it.
const COMMIT: Option<&str> = option_env!("DYNO_COMMIT");

/// What is known of the engine and what it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::command) struct Facts {
    /// The engine.
    pub engine: Engine,
    /// The model.
    pub model: Model,
    /// How the model is spread over accelerators, as far as the engine says.
    #[serde(default)]
    pub topology: Topology,
    /// What the engine says that it runs.
    pub effective: BTreeMap<String, Sourced>,
}

impl Facts {
    /// Of an engine that was looked at.
    pub fn of(identified: &Identified) -> Self {
        let Identified { system, model, topology, effective, .. } = identified;
        Self {
            engine: system.clone(),
            model: model.clone(),
            topology: topology.clone(),
            effective: effective.clone(),
        }
    }
}

/// How the label of every simulated submission begins.
pub(in crate::command) const SIMULATED: &str = "simulated";

/// Everything that a shard is made of.
pub(in crate::command) struct Measured<'a> {
    /// Plan, beginning, and what the user said.
    pub header: &'a Header,
    /// What was measured.
    pub ledger: &'a Ledger,
    /// What was sent with each case, in the order of the ledger.
    pub samplings: Vec<Sampling>,
    /// The engine.
    pub facts: &'a Facts,
    /// The machine.
    pub hardware: Hardware,
    /// The engine's address where it is another machine's, so that it can be kept out of the shard.
    pub url: Option<&'a str>,
    /// The command line, cleaned.
    pub command: String,
    /// When it ended.
    pub ended_unix_s: f64,
    /// Why it is only a part.
    pub partial: Option<String>,
}

impl Measured<'_> {
    /// The shard.
    pub fn submission(self) -> Submission {
        let url = self.url.map(str::to_owned);
        let shard = self.bare();
        clean(shard, url.as_deref())
    }

    fn bare(self) -> Submission {
        let Header { plan, details, started_unix_s, calibration, .. } = self.header;
        let simulated = self.facts.engine.simulated;
        let mut engine = self.facts.engine.clone();
        if let Some(name) = details.engine_name.clone().filter(|_| !simulated) {
            engine.name = name;
        }
        let mut model = self.facts.model.clone();
        if let Some(name) = details.model_name.clone() {
            model.name = name;
        }
        model.quantisation = details.quantisation.clone().or(model.quantisation);
        let mut hardware = self.hardware;
        if let Some(name) = details.hardware.clone() {
            hardware.name = name;
        }
        // What is simulated never passes for a result, whatever its label was to be.
        let label = details.label.as_deref();
        let label = if simulated { simulated_label(label) } else { label.unwrap_or("default").to_owned() };
        let mut notes = details.notes.clone();
        notes.extend(remarks(self.ledger));
        notes.extend(self.ledger.remarks());
        let cases = self.ledger.cases.iter().zip(self.samplings);
        Submission {
            schema: SCHEMA.to_owned(),
            label,
            provenance: Provenance {
                origin: Origin::Collected,
                evidence: Evidence::Raw,
                collector_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                collector_commit: COMMIT.map(str::to_owned),
                started_at: Some(rfc3339(*started_unix_s)),
                ended_at: Some(rfc3339(self.ended_unix_s)),
                series: Some(plan.series.clone()),
                submitter: details.submitter.clone(),
                command: Some(self.command),
                partial: self.partial,
                calibration: calibration.clone(),
            },
            system: System { engine, model, hardware, topology: self.facts.topology.clone() },
            configuration: Configuration {
                requested: details.set.iter().filter_map(|text| setting(text)).collect(),
                effective: self.facts.effective.clone(),
            },
            cases: cases
                .filter(|(case, _)| case.is_begun())
                .flat_map(|(case, sampling)| case.cases(&sampling))
                .collect(),
            stated_comparisons: Vec::new(),
            notes,
        }
    }
}

/// `simulated`, and behind it the label that was asked for.
fn simulated_label(label: Option<&str>) -> String {
    match label {
        None => SIMULATED.to_owned(),
        Some(label) if label.starts_with(SIMULATED) => label.to_owned(),
        Some(label) => format!("{SIMULATED} {label}"),
    }
}

/// `key=value`: on and off, numbers, or words.
pub(in crate::command) fn setting(text: &str) -> Option<(String, Setting)> {
    let (key, value) = text.split_once('=')?;
    let value = value.trim();
    let setting = match value {
        "true" | "on" => Setting::Flag(true),
        "false" | "off" => Setting::Flag(false),
        _ => match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Setting::Number(number),
            _ => Setting::Text(value.to_owned()),
        },
    };
    Some((key.trim().to_owned(), setting))
}

/// What readers must know of all cases: what the engine does not tell.
fn remarks(ledger: &Ledger) -> Vec<String> {
    let runs = |of: fn(Regime) -> bool| {
        ledger
            .cases
            .iter()
            .filter(move |case| of(case.plan.regime))
            .flat_map(|case| case.parts().into_iter().flat_map(|part| part.runs))
            .filter(|run| run.passed())
    };
    let about_cache = |regime: Regime| !matches!(regime, Regime::Decode | Regime::Other);
    let decodes = |regime: Regime| !matches!(regime, Regime::ColdPrefill | Regime::CachedPrefix);
    let mut remarks = Vec::new();
    if runs(about_cache).any(|run| cached_tokens(run).is_none()) {
        remarks.push(
            "the engine does not report cached prompt tokens: that cold runs were cold and cached ones were cached is \
             not proven"
                .to_owned(),
        );
    }
    let assumed =
        |request: &RequestRecord| request.first_event_tokens.is_none() && request.output_tokens.is_some();
    let says_nothing = |run: &Run| run.requests.iter().any(assumed);
    if runs(decodes).any(says_nothing) {
        remarks.push(
            "the server does not say how many tokens its first event carried: 1 is assumed in decode rates"
                .to_owned(),
        );
    }
    remarks
}

/// The shard without keys, addresses, home folders, and the name of another machine, wherever they may stand: in what
/// the user typed, in what the server said, in what the model wrote.
fn clean(shard: Submission, url: Option<&str>) -> Submission {
    // A submission is JSON in both directions; what could not be read back is left as it is, and validation sees it.
    let Ok(mut value) = serde_json::to_value(&shard) else { return shard };
    clean_value(&mut value, "", url.map(Remote::of).as_ref());
    serde_json::from_value(value).unwrap_or(shard)
}

/// What would give the machine of a remote engine away.
struct Remote<'a> {
    url: &'a str,
    authority: &'a str,
    host: &'a str,
}

impl<'a> Remote<'a> {
    /// Keys whose text is made of what the transport says, which may name the host alone.
    const TALK: [&'static str; 4] = ["message", "partial", "ended_early", "notes"];

    fn of(url: &'a str) -> Self {
        let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or(url);
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => authority,
        };
        Self { url, authority, host }
    }

    fn remove(&self, key: &str, text: &str) -> String {
        const INSTEAD: &str = "[the engine]";
        let mut text = text.replace(self.url, INSTEAD);
        if self.authority != self.host {
            text = text.replace(self.authority, INSTEAD);
        }
        // A host may have the name of an engine or a model (`http://vllm:8000`), which is no secret elsewhere.
        if Self::TALK.contains(&key) { replace_word(&text, self.host, INSTEAD) } else { text }
    }
}

/// Replaces `word` where it stands alone.
fn replace_word(text: &str, word: &str, instead: &str) -> String {
    let part_of_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(word).filter(|_| !word.is_empty()) {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        // A full stop at the end of a sentence does not belong to the word.
        let joined = |c: char| part_of_word(c) && c != '.';
        if !before.is_some_and(part_of_word) && !after.is_some_and(joined) {
            out.push_str(&text[done..at]);
            out.push_str(instead);
            done = at + word.len();
        }
    }
    out.push_str(&text[done..]);
    out
}

fn clean_value(value: &mut Value, key: &str, remote: Option<&Remote<'_>>) {
    let clean_text =
        |key: &str, text: &str| remote.map_or_else(|| scrub(text), |remote| scrub(&remote.remove(key, text)));
    match value {
        Value::String(text) => *text = clean_text(key, text),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_value(item, key, remote)),
        Value::Object(fields) => {
            let cleaned = std::mem::take(fields).into_iter().map(|(key, mut field)| {
                clean_value(&mut field, &key, remote);
                (clean_text("", &key), field)
            });
            *fields = cleaned.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_what_they_look_like() {
        assert_eq!(setting("tp=4"), Some(("tp".into(), Setting::Number(4.0))));
        assert_eq!(setting("cache=on"), Some(("cache".into(), Setting::Flag(true))));
        assert_eq!(
            setting("moe-backend = hybrid"),
            Some(("moe-backend".into(), Setting::Text("hybrid".into())))
        );
        assert_eq!(setting("limit=inf"), Some(("limit".into(), Setting::Text("inf".into()))));
        assert_eq!(setting("nothing"), None);
    }

    #[test]
    fn nothing_private_is_left_wherever_it_stands() {
        let text = r#"{"schema":"dyno/1.0","label":"/home/jo/x","provenance":{"origin":{"kind":"collected"},"evidence":"raw",
            "partial":"cannot connect to gpu-box.example:8080"},"configuration":{"requested":{"/home/jo/k":"sk-abcdefghijklmnopqrst"}},
            "notes":["see http://gpu-box.example:8080/v1"]}"#;
        let shard = dyno_shared::shard::parse(text).unwrap();
        let cleaned = clean(shard, Some("http://gpu-box.example:8080"));
        let written = dyno_shared::shard::write(&cleaned).unwrap();
        assert_eq!(dyno_shared::privacy::find_secret(&written), None, "{written}");
        assert!(
            !written.contains("gpu-box") && written.contains("cannot connect to [the engine]"),
            "{written}"
        );
    }
}
