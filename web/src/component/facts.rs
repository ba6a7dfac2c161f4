//! Facts as a list of names and values. What is unknown is said to be.

use yew::Html;

use crate::dom::{El, el, text};

/// One fact.
#[derive(Debug)]
pub struct Fact {
    name: String,
    value: Option<Html>,
    /// Whether its absence is worth a line.
    expected: bool,
}

impl Fact {
    /// A fact that a reader asks for: without a value it is said to be unknown.
    pub fn new(name: &str, value: Option<String>) -> Self {
        Self { name: name.to_owned(), value: value.map(text), expected: true }
    }

    /// A fact that not every submission has: without a value there is no line.
    pub fn known(name: &str, value: Option<String>) -> Self {
        Self { expected: false, ..Self::new(name, value) }
    }

    /// A fact that is more than a text.
    pub fn shown(name: &str, value: Html) -> Self {
        Self { name: name.to_owned(), value: Some(value), expected: true }
    }
}

/// Facts under a title.
pub fn facts(title: &'static str, facts: Vec<Fact>) -> Html {
    facts_under(el("h2").text(title), facts)
}

/// Facts under a heading of any level.
pub fn facts_under(heading: El, facts: Vec<Fact>) -> Html {
    let line = |fact: Fact| {
        let unknown = || el("span").class("muted").text("not stated").done();
        let value = fact.value.or_else(|| fact.expected.then(unknown))?;
        Some(el("div").el(el("dt").text(fact.name)).el(el("dd").with(value)).done())
    };
    el("section").class("facts").el(heading).el(el("dl").each(facts.into_iter().filter_map(line))).done()
}
