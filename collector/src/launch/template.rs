//! The line that starts a server, with places for what changes: `llama-server -m {model} --port {port} {flags}`.
//!
//! It is split as a shell would split it, once, before anything is filled in: a model's path with blanks stays one
//! word. No shell ever sees it.

use std::collections::{BTreeMap, BTreeSet};

/// Where the flags go: the only place that becomes several words.
pub const FLAGS: &str = "flags";
/// Where the port goes.
pub const PORT: &str = "port";
/// Where the model goes.
pub const MODEL: &str = "model";

/// A line with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    words: Vec<Vec<Part>>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(String),
}

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It is empty.
    #[error("the launch line is empty: give --launch 'llama-server -m {{model}} --port {{port}} {{flags}}'")]
    Empty,
    /// A quote is open.
    #[error("a quotation mark of the launch line is not closed: {0}")]
    Quotes(String),
    /// A place that nothing goes to.
    #[error("the launch line has the place {{{name}}}, and nothing goes there; there are: {}", known.join(", "))]
    Unknown {
        /// Its name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The flags within a word.
    #[error("{{flags}} becomes several words: let it stand alone in the launch line, not inside `{0}`")]
    FlagsInWord(String),
}

impl Template {
    /// Splits a line. `{name}` is a place; `{{name}}` stands for itself, and so does every other brace: JSON may be
    /// written as it is.
    ///
    /// # Errors
    /// If it is empty, has an open quote, or flags inside a word.
    pub fn parse(line: &str) -> Result<Self, TemplateError> {
        let words = shlex::split(line).ok_or_else(|| TemplateError::Quotes(line.to_owned()))?;
        if words.is_empty() {
            return Err(TemplateError::Empty);
        }
        let template = Self { words: words.iter().map(|word| parts(word)).collect() };
        let is_flags = |part: &Part| matches!(part, Part::Place(name) if name == FLAGS);
        for (word, parts) in words.iter().zip(&template.words) {
            if parts.len() > 1 && parts.iter().any(is_flags) {
                return Err(TemplateError::FlagsInWord(word.clone()));
            }
        }
        Ok(template)
    }

    /// One word with places.
    pub fn word(text: &str) -> Self {
        Self { words: vec![parts(text)] }
    }

    /// Names of its places, each once, in alphabetic order.
    pub fn names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.words.iter().flatten().filter_map(Part::name).collect();
        names.into_iter().collect()
    }

    /// Whether it has a place of that name.
    pub fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// The words, filled.
    ///
    /// # Errors
    /// If nothing goes to one of its places.
    pub fn fill(
        &self,
        values: &BTreeMap<String, String>,
        flags: &[String],
    ) -> Result<Vec<String>, TemplateError> {
        let mut filled = Vec::with_capacity(self.words.len() + flags.len());
        for parts in &self.words {
            if let [Part::Place(name)] = parts.as_slice()
                && name == FLAGS
            {
                filled.extend_from_slice(flags);
                continue;
            }
            let mut word = String::new();
            for part in parts {
                word.push_str(match part {
                    Part::Text(text) => text,
                    Part::Place(name) => values.get(name).ok_or_else(|| unknown(name, values))?,
                });
            }
            filled.push(word);
        }
        Ok(filled)
    }
}

fn unknown(name: &str, values: &BTreeMap<String, String>) -> TemplateError {
    let known = std::iter::once(FLAGS).chain(values.keys().map(String::as_str));
    TemplateError::Unknown { name: name.to_owned(), known: known.map(|name| format!("{{{name}}}")).collect() }
}

impl Part {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Place(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

/// The parts of a word.
fn parts(word: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some((name, after)) = escaped(from) {
            text.extend(["{", name, "}"]);
            rest = after;
        } else if let Some((name, after)) = place(from) {
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(Part::Place(name.to_owned()));
            rest = after;
        } else {
            text.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    text.push_str(rest);
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// `{name}` at the beginning, and what follows it.
fn place(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, after))
}

/// `{{name}}` at the beginning, and what follows it.
fn escaped(text: &str) -> Option<(&str, &str)> {
    let (name, after) = place(text.strip_prefix('{')?)?;
    Some((name, after.strip_prefix('}')?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> BTreeMap<String, String> {
        [("model", "/my models/a.gguf"), ("port", "8081"), ("threads", "2")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    fn filled(line: &str) -> Vec<String> {
        let flags = ["--batch".to_owned(), "8".to_owned()];
        Template::parse(line).unwrap().fill(&values(), &flags).unwrap()
    }

    #[test]
    fn places_are_filled_after_the_line_is_split() {
        assert_eq!(
            filled("'my server' -m {model} --url=127.0.0.1:{port} -t{threads} {flags}"),
            ["my server", "-m", "/my models/a.gguf", "--url=127.0.0.1:8081", "-t2", "--batch", "8"]
        );
        assert!(Template::parse("s {flags}").unwrap().fill(&values(), &[]).unwrap() == ["s"]);
    }

    #[test]
    fn other_braces_stand_for_themselves() {
        let json = r#"s --config '{"method": "ngram", "a": {"b": 1}}' '{{port}}' {} {a b}"#;
        assert_eq!(
            filled(json),
            ["s", "--config", r#"{"method": "ngram", "a": {"b": 1}}"#, "{port}", "{}", "{a", "b}"]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_what_there_is() {
        let error = Template::parse("s {modle}").unwrap().fill(&values(), &[]).unwrap_err().to_string();
        assert_eq!(
            error,
            "the launch line has the place {modle}, and nothing goes there; there are: {flags}, {model}, {port}, \
             {threads}"
        );
        assert_eq!(Template::parse("  "), Err(TemplateError::Empty));
        assert!(matches!(Template::parse("a 'b"), Err(TemplateError::Quotes(_))));
        assert!(matches!(Template::parse("a --x={flags}"), Err(TemplateError::FlagsInWord(_))));
        assert!(TemplateError::Empty.to_string().contains("{model}"));
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic_and_one_without_braces_stays_as_it_is(line in "[ -~é]{0,40}") {
            if let Ok(template) = Template::parse(&line) {
                let filled = template.fill(&values(), &[]);
                if !line.contains('{') {
                    prop_assert_eq!(filled.unwrap(), shlex::split(&line).unwrap());
                }
            }
        }
    }
}
