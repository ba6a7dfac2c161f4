//! Whether a variant's server runs what the variant asks for.

use std::collections::BTreeMap;

use anyhow::anyhow;
use dyno_shared::system::Setting;

use super::variants::Variant;
use crate::command::run::setting;
use crate::engine::Identified;
use crate::engine::effective::{Checked, Outcome, check};
use crate::launch::flags::variable;

/// Holds every flag against what the engine says that it runs, and gives those of which it says nothing.
///
/// # Errors
/// Names what was asked for and what is in effect instead: figures of another configuration would be no figures of
/// this one.
pub(super) fn verify(variant: &Variant, identified: &Identified) -> anyhow::Result<Vec<String>> {
    let (unverifiable, told): (Vec<Checked>, Vec<Checked>) = check(&requested(variant), identified)
        .into_iter()
        .partition(|checked| checked.outcome == Outcome::NotVerifiable);
    let wrong: Vec<String> = told
        .into_iter()
        .filter_map(|checked| checked.disagreement(identified))
        .map(|d| d.to_string())
        .collect();
    if !wrong.is_empty() {
        return Err(anyhow!("{}", wrong.join("; ")));
    }
    Ok(unverifiable.into_iter().map(|checked| checked.flag).collect())
}

/// The flags of a variant. Variables of the environment are not among them, nor is the model.
fn requested(variant: &Variant) -> BTreeMap<String, Setting> {
    let is_flag = |key: &str| variable(key).is_none() && key != crate::launch::template::MODEL;
    let settings = variant.settings.iter().filter(|(key, _)| is_flag(key));
    settings.filter_map(|(key, value)| setting(&format!("{key}={value}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_held_against_the_engine_and_variables_are_not() {
        let settings = [("threads", "2"), ("env:X", "1"), ("model", "a.gguf"), ("flash-attn", "on")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec();
        let variant = Variant { label: "a".into(), slug: "a".into(), settings };
        let expected = [("flash-attn", Setting::Flag(true)), ("threads", Setting::Number(2.0))];
        assert_eq!(requested(&variant), expected.map(|(key, value)| (key.to_owned(), value)).into());
    }
}
