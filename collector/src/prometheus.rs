//! Prometheus text exposition → samples. Pure and total: a line that is not one is left out and counted.
//!
//! Reads format 0.0.4, what `OpenMetrics` 1.0 adds to a line (timestamps and exemplars, both ignored) and the quoted
//! names of Prometheus 3 (`{"a.name", label="x"} 1`).

use std::collections::BTreeMap;

/// One line of an exposition.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The metric's name.
    pub name: String,
    /// Its labels in the order of the line, unescaped.
    pub labels: Vec<(String, String)>,
    /// Its value; may be NaN or infinite.
    pub value: f64,
}

/// All samples of one exposition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// In the order of the text.
    pub samples: Vec<Sample>,
    /// Lines that were neither samples, comments nor blank.
    pub malformed: usize,
}

impl Sample {
    /// A label's value.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

impl Samples {
    /// Reads an exposition. Never fails: what cannot be read is counted in [`Samples::malformed`].
    pub fn parse(text: &str) -> Self {
        let mut parsed = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match sample(line) {
                Some(sample) => parsed.samples.push(sample),
                None => parsed.malformed += 1,
            }
        }
        parsed
    }

    /// The sum over every label set of this name; `None` where the name is missing or any value is not finite.
    pub fn sum(&self, name: &str) -> Option<f64> {
        self.sum_where(name, |_| true)
    }

    /// The sum over the samples of this name that pass; `None` where there is none or any value is not finite.
    pub fn sum_where(&self, name: &str, passes: impl Fn(&Sample) -> bool) -> Option<f64> {
        let of_name = self.samples.iter().filter(|sample| sample.name == name && passes(sample));
        let mut values = of_name.map(|sample| sample.value);
        let first = values.next()?;
        let sum = values.fold(first, |sum, value| sum + value);
        sum.is_finite().then_some(sum)
    }

    /// A counter over every label set. One below zero is none.
    pub fn counter(&self, name: &str) -> Option<f64> {
        self.sum(name).filter(|count| *count >= 0.0)
    }

    /// The first sample of this name, for gauges whose labels are what they tell.
    pub fn first(&self, name: &str) -> Option<&Sample> {
        self.samples.iter().find(|sample| sample.name == name)
    }

    /// When each counter began: its `_created` gauge, by name and labels. A gauge of such a name that belongs to no
    /// counter is not one.
    pub fn births(&self) -> BTreeMap<String, String> {
        let counted = |stem: &str, born: &Sample| {
            self.samples.iter().any(|sample| {
                sample.labels == born.labels
                    && sample.name.strip_prefix(stem).is_some_and(|end| matches!(end, "_total" | "_count"))
            })
        };
        let births = self.samples.iter().filter_map(|sample| {
            let stem = sample.name.strip_suffix("_created").filter(|stem| counted(stem, sample))?;
            Some((format!("{stem}{:?}", sample.labels), sample.value.to_string()))
        });
        births.collect()
    }
}

/// By how much a counter moved between two reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delta {
    /// It moved by this much, at least 0.
    Moved(f64),
    /// It went back: the server was restarted, so what it counted in between is unknown.
    Reset,
    /// It was missing in one of the reads.
    Unknown,
}

/// `after − before` of a counter.
pub fn counter_delta(before: Option<f64>, after: Option<f64>) -> Delta {
    match (before, after) {
        (Some(before), Some(after)) if after >= before => Delta::Moved(after - before),
        (Some(_), Some(_)) => Delta::Reset,
        _ => Delta::Unknown,
    }
}

fn sample(line: &str) -> Option<Sample> {
    let name_end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(name_end);
    let rest = rest.trim_start();
    let (quoted_name, labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (None, Vec::new(), rest),
    };
    let name = match quoted_name {
        Some(quoted) if name.is_empty() => quoted,
        None if is_name(name) => name.to_owned(),
        _ => return None,
    };
    let mut words = rest.split_whitespace();
    let value = words.next()?.parse().ok()?;
    // A timestamp may follow, and an exemplar; both are ignored, but nothing else may stand there.
    let after = match words.next() {
        Some(word) if word != "#" => {
            word.parse::<f64>().ok()?;
            words.next()
        }
        other => other,
    };
    after.is_none_or(|word| word == "#").then_some(Sample { name, labels, value })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))
}

type Labels<'a> = (Option<String>, Vec<(String, String)>, &'a str);

/// What stands after `{`: a quoted name of the metric, the labels, and what follows the closing brace.
fn labels(mut rest: &str) -> Option<Labels<'_>> {
    let (mut metric, mut labels) = (None, Vec::new());
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((metric, labels, after));
        }
        let (name, after) = if let Some(inside) = rest.strip_prefix('"') {
            let (name, after) = quoted(inside)?;
            (name, after.trim_start())
        } else {
            let (name, _) = rest.split_once('=')?;
            (name.trim().to_owned(), rest.get(name.len()..)?)
        };
        match after.strip_prefix('=') {
            Some(value) => {
                let (value, after) = quoted(value.trim_start().strip_prefix('"')?)?;
                labels.push((name, value));
                rest = after;
            }
            None if metric.is_none() && labels.is_empty() => {
                metric = Some(name);
                rest = after;
            }
            None => return None,
        }
    }
}

/// A label's value up to its closing quote, unescaped, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                quoted @ ('\\' | '"') => value.push(quoted),
                // No escape of the format: a path that nobody escaped.
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_escapes_special_values_timestamps_and_exemplars_are_read() {
        let parsed = Samples::parse(
            "# HELP a:b_total words\n# TYPE a:b_total counter\na:b_total 7\n\
             odd{path=\"C:\\\\x\",say=\"a \\\"b\\\"\\n}\",} NaN 1395066363000\n\
             hist_bucket{le=\"+Inf\"} +Inf # {trace=\"x\"} 0.5 1.2\n  low -Inf\ngauge 1.5e-3\r\n",
        );
        assert_eq!(parsed.malformed, 0);
        assert_eq!(parsed.samples.len(), 5);
        assert_eq!(parsed.samples[0].name, "a:b_total");
        assert_eq!(parsed.samples[1].labels[0], ("path".to_owned(), "C:\\x".to_owned()));
        assert_eq!(parsed.samples[1].labels[1].1, "a \"b\"\n}");
        assert!(parsed.samples[1].value.is_nan());
        assert_eq!(parsed.samples[2].value, f64::INFINITY);
        assert_eq!(parsed.samples[3].value, f64::NEG_INFINITY);
        assert_eq!(parsed.sum("gauge"), Some(1.5e-3));
    }

    #[test]
    fn what_is_no_sample_is_counted_and_the_rest_is_read() {
        let parsed = Samples::parse("<html>\nname\nname{a=\"b\nname{a=b} 1\ngood 1\nname x\n");
        assert_eq!((parsed.samples.len(), parsed.malformed), (1, 5));
    }

    #[test]
    fn names_of_any_letters_and_labels_that_nobody_escaped_are_read() {
        let parsed = Samples::parse(
            "{\"a.b-c\",\"a label\"=\"x, y}\"} 2 1700000000.5 # {t=\"1\"} 3 4\np{d=\"C:\\models\"} 1\n# EOF\n",
        );
        assert_eq!(parsed.malformed, 0);
        assert_eq!((parsed.sum("a.b-c"), parsed.samples[0].label("a label")), (Some(2.0), Some("x, y}")));
        assert_eq!(parsed.first("p").and_then(|sample| sample.label("d")), Some("C:\\models"));
        let odd = Samples::parse("a 1 b\na 1 2 3\na{\"b\"} 1\n{\"b\" 1\n{} 1\n");
        assert_eq!((odd.samples.len(), odd.malformed), (0, 5));
    }

    #[test]
    fn a_counter_below_zero_is_none_and_a_birth_belongs_to_a_counter() {
        let parsed = Samples::parse(
            "up_total{m=\"a\"} 3\nup_created{m=\"a\"} 10\nh_count 1\nh_created 11\nmodel_created 12\nlow_total -1\n",
        );
        assert_eq!((parsed.counter("up_total"), parsed.counter("low_total")), (Some(3.0), None));
        let births: Vec<String> = parsed.births().into_values().collect();
        assert_eq!(births, ["11", "10"], "`model_created` counts nothing");
    }

    #[test]
    fn a_sum_is_over_all_label_sets_and_unknown_where_one_is() {
        let parsed = Samples::parse("t{e=\"0\"} 3\nt{e=\"1\"} 4\nt_created 1.7e9\nn 1\nn NaN\n");
        assert_eq!(parsed.sum("t"), Some(7.0));
        assert_eq!(parsed.sum("n"), None);
        assert_eq!(parsed.sum("absent"), None);
    }

    #[test]
    fn a_counter_never_moves_backwards() {
        assert_eq!(counter_delta(Some(5.0), Some(8.0)), Delta::Moved(3.0));
        assert_eq!(counter_delta(Some(5.0), Some(5.0)), Delta::Moved(0.0));
        assert_eq!(counter_delta(Some(5.0), Some(2.0)), Delta::Reset);
        assert_eq!(counter_delta(None, Some(2.0)), Delta::Unknown);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z{}=\"\\\\ ,#\n🦊0-9.+]{0,80}") {
            let lines = text.lines().count();
            let parsed = Samples::parse(&text);
            prop_assert!(parsed.samples.len() + parsed.malformed <= lines);
        }
    }
}
