//! The variants of a sweep: every combination of the values given.

use std::collections::BTreeSet;

use dyno_shared::plain::plain;
use dyno_shared::slug::slug;
use serde::{Deserialize, Serialize};

use crate::command::run::without_folder;

/// A grid of more is a mistake.
const MOST: usize = 100;
/// Characters of a label.
const LONGEST_LABEL: usize = 160;

/// A key and the values that it takes in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vary {
    /// The key.
    pub key: String,
    /// Its values, in the order given.
    pub values: Vec<String>,
}

/// A key and its value.
pub type Setting = (String, String);

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// What tells it from the others, such as `threads=2`.
    pub label: String,
    /// The same as a part of a file's name.
    pub slug: String,
    /// What all variants share, then what is varied, as it was given.
    pub settings: Vec<Setting>,
}

impl Vary {
    /// Of `KEY=A,B`. A comma inside a value is written `\,`.
    ///
    /// # Errors
    /// What to give instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, values) = setting(text).map_err(|_| "give KEY=A,B, such as --vary threads=1,2")?;
        let values = split(&values);
        if values.len() < 2 {
            return Err(format!(
                "{key} has one value: give two or more (--vary {key}=A,B), or fix it with --set {key}={}",
                values.first().map_or("", String::as_str)
            ));
        }
        Ok(Self { key, values })
    }
}

/// Of `KEY=VALUE`.
///
/// # Errors
/// What to give instead.
pub fn setting(text: &str) -> Result<Setting, String> {
    match text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
        Some((key, value)) if !key.is_empty() && !key.contains(char::is_whitespace) => {
            Ok((key.to_owned(), value.to_owned()))
        }
        _ => Err("give KEY=VALUE, such as --set ctx-size=4096".to_owned()),
    }
}

/// Splits at commas that are not escaped.
fn split(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek() == Some(&',') => value.extend(rest.next()),
            ',' => values.push(std::mem::take(&mut value)),
            _ => value.push(c),
        }
    }
    values.push(value);
    values.iter().map(|value| value.trim().to_owned()).collect()
}

/// Every combination, the last key changing fastest. A combination that stands twice is two variants: what they differ
/// by is what this sweep takes for a difference where there is none.
///
/// # Errors
/// A key that is given twice, or a grid that is no use.
pub fn grid(vary: &[Vary], set: &[Setting]) -> Result<Vec<Variant>, String> {
    let mut keys = BTreeSet::new();
    for key in vary.iter().map(|vary| &vary.key).chain(set.iter().map(|(key, _)| key)) {
        if !keys.insert(key) {
            return Err(format!(
                "{key} is given twice: name all its values in one --vary {key}=A,B, or fix it with one --set"
            ));
        }
    }
    let combinations = vary.iter().try_fold(1_usize, |n, vary| n.checked_mul(vary.values.len()));
    let Some(2..=MOST) = combinations else {
        return Err(match combinations {
            Some(0 | 1) => {
                "nothing is varied: give --vary KEY=A,B; one configuration is measured by dyno run".into()
            }
            _ => format!("the grid has more than {MOST} variants: vary fewer keys or values at a time"),
        });
    };
    let mut combinations = vec![Vec::<Setting>::new()];
    for Vary { key, values } in vary {
        combinations = combinations
            .iter()
            .flat_map(|before| {
                values.iter().map(|value| {
                    let mut settings = before.clone();
                    settings.push((key.clone(), value.clone()));
                    settings
                })
            })
            .collect();
    }
    let mut variants: Vec<Variant> = Vec::new();
    for varied in combinations {
        let label = distinct(&label(&varied), |label| variants.iter().any(|v| v.label == label), " (", ")");
        let slug = distinct(&slug(&label), |slug| variants.iter().any(|v| v.slug == slug), "-", "");
        variants.push(Variant { label, slug, settings: set.iter().cloned().chain(varied).collect() });
    }
    Ok(variants)
}

/// The name, or the first of `name (2)`, `name (3)`, … that is not taken.
fn distinct(name: &str, taken: impl Fn(&str) -> bool, before: &str, after: &str) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    (2..=MOST + 1)
        .map(|number| format!("{name}{before}{number}{after}"))
        .find(|name| !taken(name))
        .unwrap_or_else(|| name.to_owned())
}

/// `threads=2 flash-attn=on`: without folders, on one line.
fn label(varied: &[Setting]) -> String {
    let parts: Vec<String> =
        varied.iter().map(|(key, value)| format!("{key}={}", without_folder(value))).collect();
    let label = plain(&parts.join(" "));
    label.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST_LABEL).collect()
}

/// The variants of one cycle in the order in which they are measured: forth in the first cycle, back in the second,
/// and so on, so that a drift loads on all of them.
pub fn order(variants: usize, cycle: u32) -> Vec<usize> {
    let forth = 0..variants;
    if cycle.is_multiple_of(2) { forth.rev().collect() } else { forth.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(vary: &[&str], set: &[&str]) -> Result<Vec<String>, String> {
        let vary: Vec<Vary> = vary.iter().map(|text| Vary::parse(text)).collect::<Result<_, _>>()?;
        let set: Vec<Setting> = set.iter().map(|text| setting(text)).collect::<Result<_, _>>()?;
        Ok(grid(&vary, &set)?.into_iter().map(|variant| variant.label).collect())
    }

    #[test]
    fn the_grid_is_every_combination_and_no_other() {
        assert_eq!(labels(&["threads=1,2"], &[]).unwrap(), ["threads=1", "threads=2"]);
        assert_eq!(
            labels(&["a=1,2", "b=x,y,z"], &["c=3"]).unwrap(),
            ["a=1 b=x", "a=1 b=y", "a=1 b=z", "a=2 b=x", "a=2 b=y", "a=2 b=z"]
        );
        let vary = [Vary::parse("a=1,2").unwrap()];
        let variants = grid(&vary, &[("c".into(), "3".into())]).unwrap();
        assert_eq!(variants[1].settings, [("c".into(), "3".into()), ("a".into(), "2".into())]);
        assert_eq!(variants[1].slug, "a-2");
    }

    #[test]
    fn the_same_value_twice_is_two_variants_of_one_configuration() {
        let vary = [Vary::parse("threads=2,2").unwrap()];
        let variants = grid(&vary, &[]).unwrap();
        let names: Vec<(&str, &str)> = variants.iter().map(|v| (v.label.as_str(), v.slug.as_str())).collect();
        assert_eq!(names, [("threads=2", "threads-2"), ("threads=2 (2)", "threads-2-2")]);
        assert_eq!(variants[0].settings, variants[1].settings);
    }

    #[test]
    fn values_that_differ_only_in_punctuation_have_files_of_their_own() {
        let variants = grid(&[Vary::parse("a=1/2,1-2").unwrap()], &[]).unwrap();
        assert_ne!(variants[0].slug, variants[1].slug);
    }

    #[test]
    fn a_folder_is_in_no_label_and_an_escaped_comma_in_its_value() {
        let labels = labels(&[r"model=/home/jo/a.gguf,~/b.gguf", r"split=3\,1,1\,1"], &[]).unwrap();
        assert_eq!(labels[0], "model=a.gguf split=3,1");
        assert_eq!(labels[3], "model=b.gguf split=1,1");
        assert_eq!(without_folder("org/model"), "org/model");
    }

    #[test]
    fn what_is_no_grid_is_refused_with_what_to_do() {
        for (vary, set, said) in [
            (&["threads"][..], &[][..], "KEY=A,B"),
            (&["threads=2"], &[], "--set threads=2"),
            (&["a=1,2", "a=3,4"], &[], "a is given twice"),
            (&["a=1,2"], &["a=3"], "a is given twice"),
            (&[], &[], "dyno run"),
            (&["a=1,2,3,4,5,6,7,8,9,10,11", "b=1,2,3,4,5,6,7,8,9,10"], &[], "100 variants"),
            (&["a=1,2"], &["c"], "KEY=VALUE"),
        ] {
            let error = labels(vary, set).unwrap_err();
            assert!(error.contains(said), "{vary:?}: {error}");
        }
    }

    #[test]
    fn cycles_go_forth_and_back() {
        assert_eq!((1..=3).map(|cycle| order(2, cycle)).collect::<Vec<_>>(), [[0, 1], [1, 0], [0, 1]]);
        assert_eq!(order(3, 2), [2, 1, 0]);
    }
}
