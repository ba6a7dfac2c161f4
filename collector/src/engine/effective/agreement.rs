//! Whether an engine runs what it was launched with: a flag that it ignores in silence is found by what it answers.

use std::collections::BTreeMap;
use std::fmt;

use dyno_shared::system::{Setting, Sourced};

use crate::engine::Identified;

/// What was asked for, by flag without leading dashes.
pub type Requested = BTreeMap<String, Setting>;
/// What is in effect, by key.
pub type Effective = BTreeMap<String, Sourced>;

/// A launch flag that shows in what the engine answers.
#[derive(Debug)]
pub struct Flag {
    /// Its spellings without leading dashes, words joined by dashes: `ctx-size`, `c`.
    pub names: &'static [&'static str],
    /// The key of the effective configuration that tells: see [`super::KEYS`].
    pub key: &'static str,
    /// What the key's value is once the flag took effect.
    pub means: Meaning,
}

/// What the value under a key is once a flag took effect.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    /// The flag's own value.
    Same,
    /// On, or any kind that is not off.
    On,
    /// Off.
    Off,
    /// One of these, from the flag's value, everything that was asked for, and everything in effect. None at all where
    /// this value leaves it to the engine.
    OneOf(fn(&Setting, &Requested, &Effective) -> Vec<Setting>),
}

/// One flag that was asked for, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The flag as it was written.
    pub flag: String,
    /// Its value.
    pub requested: Setting,
    /// What the engine's answers say.
    pub outcome: Outcome,
}

/// What the engine's answers say of one flag.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It took effect.
    InEffect,
    /// Something else is in effect.
    Otherwise {
        /// The key that tells.
        key: &'static str,
        /// What it would be.
        expected: Vec<Setting>,
        /// What it is, and who says so.
        effective: Sourced,
    },
    /// Nothing that the engine answers tells, which is no error.
    NotVerifiable,
}

/// A flag that did not take effect. Its words name both sides.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{engine} was launched with {flag} {requested}, so {key} should be {}, but {source_} says it is {effective}: \
     correct the flag, or find out why the engine ignores it",
    either(expected)
)]
pub struct Disagreement {
    /// The engine's name.
    pub engine: String,
    /// The flag as it was written.
    pub flag: String,
    /// Its value.
    pub requested: Setting,
    /// The key that tells.
    pub key: &'static str,
    /// What it would be: one of these.
    pub expected: Vec<Setting>,
    /// What it is.
    pub effective: Setting,
    /// Who says so.
    pub source_: String,
}

/// Checks every flag that was asked for against what the engine says it runs. Flags are taken with or without leading
/// dashes, words joined by dashes or underscores.
pub fn check(requested: &Requested, identified: &Identified) -> Vec<Checked> {
    let requested: BTreeMap<String, (String, Setting)> =
        requested.iter().map(|(flag, value)| (plain_name(flag), (flag.clone(), value.clone()))).collect();
    let values: Requested =
        requested.iter().map(|(name, (_, value))| (name.clone(), value.clone())).collect();
    requested
        .iter()
        .map(|(name, (flag, value))| Checked {
            flag: flag.clone(),
            requested: value.clone(),
            outcome: outcome(name, value, &values, identified.engine.flags, &identified.effective),
        })
        .collect()
}

/// The flags that did not take effect: [`check`] without the rest.
pub fn disagreements(requested: &Requested, identified: &Identified) -> Vec<Disagreement> {
    check(requested, identified).into_iter().filter_map(|checked| checked.disagreement(identified)).collect()
}

impl Checked {
    /// What to say where the flag did not take effect.
    pub fn disagreement(self, identified: &Identified) -> Option<Disagreement> {
        let Outcome::Otherwise { key, expected, effective } = self.outcome else { return None };
        Some(Disagreement {
            engine: identified.system.name.clone(),
            flag: self.flag,
            requested: self.requested,
            key,
            expected,
            effective: effective.value,
            source_: effective.source,
        })
    }
}

fn outcome(
    name: &str,
    value: &Setting,
    requested: &Requested,
    flags: &[Flag],
    effective: &Effective,
) -> Outcome {
    let Some(flag) = flags.iter().find(|flag| flag.names.contains(&name)) else {
        return Outcome::NotVerifiable;
    };
    let Some(found) = effective.get(flag.key) else { return Outcome::NotVerifiable };
    let expected = match flag.means {
        Meaning::Same => vec![value.clone()],
        Meaning::On => vec![Setting::Flag(!is_off(value))],
        Meaning::Off => vec![Setting::Flag(is_off(value))],
        Meaning::OneOf(of) => of(value, requested, effective),
    };
    // A word where a number is in effect (`auto`, `8k`) leaves it to the engine, or says it in the engine's own way.
    let comparable: Vec<Setting> =
        expected.into_iter().filter(|wanted| compares(wanted, &found.value)).collect();
    if comparable.is_empty() {
        Outcome::NotVerifiable
    } else if comparable.iter().any(|wanted| agrees(wanted, &found.value)) {
        Outcome::InEffect
    } else {
        Outcome::Otherwise { key: flag.key, expected: comparable, effective: found.clone() }
    }
}

/// `--Max_Model-Len` → `max-model-len`. Letters stay as they are where there is only one: `-c` and `-C` differ.
fn plain_name(flag: &str) -> String {
    let name = flag.trim().trim_start_matches('-').replace('_', "-");
    if name.chars().count() > 1 { name.to_lowercase() } else { name }
}

/// The number that a setting is, or is written as.
pub(in crate::engine) fn as_number(setting: &Setting) -> Option<f64> {
    match setting {
        Setting::Number(number) => Some(*number),
        Setting::Text(text) => text.trim().parse().ok(),
        Setting::Flag(_) => None,
    }
    .filter(|number: &f64| number.is_finite())
}

/// The number in effect under a key.
pub(in crate::engine) fn told(effective: &Effective, key: &str) -> Option<f64> {
    as_number(&effective.get(key)?.value)
}

/// Whether a setting says that something is off. A flag without a value is on.
fn is_off(setting: &Setting) -> bool {
    match setting {
        Setting::Flag(on) => !on,
        Setting::Number(number) => *number == 0.0,
        Setting::Text(text) => {
            matches!(text.trim().to_lowercase().as_str(), "off" | "none" | "false" | "0" | "no" | "disabled")
        }
    }
}

fn compares(wanted: &Setting, found: &Setting) -> bool {
    match found {
        Setting::Number(_) => as_number(wanted).is_some(),
        Setting::Flag(_) | Setting::Text(_) => true,
    }
}

fn agrees(wanted: &Setting, found: &Setting) -> bool {
    match (wanted, found) {
        (Setting::Flag(on), found) => *on != is_off(found),
        (wanted, Setting::Flag(on)) => is_off(wanted) != *on,
        (Setting::Text(wanted), Setting::Text(found)) if wanted.trim().eq_ignore_ascii_case(found.trim()) => {
            true
        }
        (wanted, found) => match (as_number(wanted), as_number(found)) {
            // As far as a number of an engine's report is exact.
            (Some(wanted), Some(found)) => (wanted - found).abs() <= wanted.abs() * 1e-6,
            _ => false,
        },
    }
}

fn either(settings: &[Setting]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flag, requested, outcome } = self;
        match outcome {
            Outcome::InEffect => write!(f, "{flag} {requested}: in effect"),
            Outcome::NotVerifiable => {
                write!(f, "{flag} {requested}: not verifiable, the engine does not say what it runs")
            }
            Outcome::Otherwise { key, expected, effective } => write!(
                f,
                "{flag} {requested}: not in effect, {key} is {} and not {} ({})",
                effective.value,
                either(expected),
                effective.source
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_shared::system;

    use super::*;
    use crate::engine::{ENGINES, effective};

    /// An engine of the list that says it runs this.
    fn identified(engine: &str, runs: &[(&str, Setting)]) -> Identified {
        let sourced = |value: &Setting| Sourced { value: value.clone(), source: "/props".to_owned() };
        let known = ENGINES.into_iter().find(|known| known.name == engine).unwrap();
        Identified {
            engine: known,
            dialect: known.dialect,
            system: system::Engine { name: engine.to_owned(), ..system::Engine::default() },
            model_id: "m".into(),
            model: system::Model::default(),
            models: Vec::new(),
            context_limit_tokens: None,
            total_slots: None,
            topology: system::Topology::default(),
            effective: runs.iter().map(|(key, value)| ((*key).to_owned(), sourced(value))).collect(),
            has_metrics: false,
            has_tokenizer: false,
            warnings: Vec::new(),
        }
    }

    fn asked(flags: &[(&str, &str)]) -> Requested {
        let value = |text: &str| match text {
            "" => Setting::Flag(true),
            text => text.parse().map_or_else(|_| Setting::Text(text.to_owned()), Setting::Number),
        };
        flags.iter().map(|(flag, text)| ((*flag).to_owned(), value(text))).collect()
    }

    fn llama(context: f64, slots: f64, speculative: Setting) -> Identified {
        identified(
            "llama.cpp",
            &[
                (effective::CONTEXT_LIMIT_TOKENS, Setting::Number(context)),
                (effective::MAX_RUNNING_REQUESTS, Setting::Number(slots)),
                (effective::SPECULATIVE, speculative),
            ],
        )
    }

    #[test]
    fn a_flag_that_is_ignored_in_silence_is_an_error_that_names_both_values() {
        let found = llama(2_048.0, 4.0, Setting::Flag(false));
        let wrong = disagreements(&asked(&[("--spec-type", "ngram-simple"), ("-np", "4")]), &found);
        assert_eq!(wrong.len(), 1);
        let words = wrong[0].to_string();
        for part in ["--spec-type", "ngram-simple", "speculative", "off", "/props", "llama.cpp"] {
            assert!(words.contains(part), "{part} is not in: {words}");
        }
        let capped = disagreements(
            &asked(&[("-c", "65536"), ("--parallel", "4")]),
            &llama(8_192.0, 4.0, Setting::Flag(false)),
        );
        assert!(capped[0].to_string().contains("16384 or 65536"), "{}", capped[0]);
    }

    #[test]
    fn the_context_is_shared_out_among_the_slots_and_rounded_up() {
        let agree =
            |flags: &[(&str, &str)], found: &Identified| disagreements(&asked(flags), found).is_empty();
        let off = || Setting::Flag(false);
        assert!(agree(&[("c", "8192"), ("np", "4")], &llama(2_048.0, 4.0, off())));
        assert!(
            agree(&[("ctx_size", "8192"), ("np", "4")], &llama(8_192.0, 4.0, off())),
            "one cache for all"
        );
        assert!(
            agree(&[("--ctx-size", "8192")], &llama(2_048.0, 4.0, off())),
            "the slots that the server chose"
        );
        assert!(agree(&[("c", "1000")], &llama(1_024.0, 1.0, off())));
        assert!(agree(&[("c", "0"), ("np", "-1")], &llama(2_048.0, 4.0, off())), "left to the server");
        assert!(!agree(&[("c", "8192"), ("np", "4")], &llama(1_024.0, 4.0, off())));
        assert!(agree(&[("spec-type", "none")], &llama(1.0, 1.0, off())));
        assert!(agree(
            &[("spec-type", "ngram-simple")],
            &llama(1.0, 1.0, Setting::Text("ngram-simple".into()))
        ));
        assert!(
            agree(&[("spec-type", "ngram-simple")], &llama(1.0, 1.0, Setting::Flag(true))),
            "some kind is on"
        );
        assert!(!agree(&[("model-draft", "d.gguf")], &llama(1.0, 1.0, off())));
    }

    #[test]
    fn what_the_engine_does_not_tell_is_not_verifiable_and_no_error() {
        let found = llama(2_048.0, 4.0, Setting::Flag(false));
        let flags = asked(&[("--threads", "8"), ("--flash-attn", "on"), ("-np", "4")]);
        let checked = check(&flags, &found);
        let of = |flag: &str| &checked.iter().find(|checked| checked.flag == flag).unwrap().outcome;
        assert_eq!((of("--threads"), of("-np")), (&Outcome::NotVerifiable, &Outcome::InEffect));
        assert!(disagreements(&flags, &found).is_empty());
        assert!(checked.iter().any(|checked| checked.to_string().contains("not verifiable")));
        let silent = identified("vLLM", &[]);
        assert_eq!(check(&asked(&[("max-model-len", "2048")]), &silent)[0].outcome, Outcome::NotVerifiable);
    }

    #[test]
    fn switches_that_turn_something_off_are_read_as_such() {
        let vllm = |on: bool| identified("vLLM", &[(effective::PREFIX_CACHE, Setting::Flag(on))]);
        assert!(disagreements(&asked(&[("--no-enable-prefix-caching", "")]), &vllm(false)).is_empty());
        assert_eq!(disagreements(&asked(&[("--no-enable-prefix-caching", "")]), &vllm(true)).len(), 1);
        assert_eq!(disagreements(&asked(&[("--enable-prefix-caching", "")]), &vllm(false)).len(), 1);
        let sglang = identified("SGLang", &[(effective::SPECULATIVE, Setting::Text("EAGLE".into()))]);
        assert!(disagreements(&asked(&[("--speculative-algorithm", "NEXTN")]), &sglang).is_empty());
        assert_eq!(disagreements(&asked(&[("--speculative-algorithm", "NGRAM")]), &sglang).len(), 1);
        let vllm = identified("vLLM", &[(effective::GPU_MEMORY_SHARE, Setting::Number(0.92))]);
        assert!(disagreements(&asked(&[("gpu-memory-utilization", "0.92")]), &vllm).is_empty());
    }
}
