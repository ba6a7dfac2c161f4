//! Output checks: a fast engine that answers rubbish is not fast. A failed check fails the run.

use std::collections::HashMap;

use dyno_shared::record::RequestRecord;
use dyno_shared::submission::Check;

use super::{Expected, counting, structured};

/// What a case asks of its answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Demands {
    /// What the answer must look like.
    pub expected: Expected,
    /// A script that must not occur; `None` allows every one.
    pub unexpected_script: Option<Script>,
    /// Tokens that must come because the end of sequence is ignored; `None` where it is not.
    pub tokens: Option<u64>,
}

/// The answer to one request: its text without the reasoning, and what was recorded.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The answer itself.
    pub text: &'a str,
    /// The reasoning before it.
    pub reasoning: &'a str,
    /// What was observed.
    pub record: &'a RequestRecord,
}

/// Runs every check that applies, in the order of the method page.
pub fn run_all(answer: Answer<'_>, demands: &Demands) -> Vec<Check> {
    let cut_off = answer.record.finish_reason.as_deref() == Some("length");
    let mut checks = vec![
        named("not_empty", not_empty(answer)),
        named("no_replacement_character", no_replacement_character(answer.text)),
    ];
    if let Some(script) = demands.unexpected_script {
        checks.push(named("expected_script", expected_script(answer.text, script)));
    }
    match demands.expected {
        Expected::Count { last } => checks.push(named("counting", counting::check(answer.text, last))),
        Expected::List { items } => {
            checks.push(named("structured", structured::check(answer.text, items, cut_off)));
        }
        Expected::Anything | Expected::Code(_) => {}
    }
    checks.push(named("finish_reason", finish_reason(answer.record.finish_reason.as_deref())));
    // A count that nobody knows cannot be too small.
    if let (Some(wanted), Some(got)) = (demands.tokens, answer.record.output_tokens) {
        checks.push(named("enough_tokens", enough_tokens(got.get(), wanted)));
    }
    checks.push(named("no_repetition", no_repetition(answer.text)));
    checks
}

/// The first 60 characters, for messages.
pub(super) fn excerpt(text: &str) -> String {
    let mut start: String = text.chars().take(60).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

fn named(name: &str, outcome: Result<(), String>) -> Check {
    Check { name: name.to_owned(), passed: outcome.is_ok(), detail: outcome.err() }
}

fn not_empty(answer: Answer<'_>) -> Result<(), String> {
    match (answer.text.trim().is_empty(), answer.reasoning.trim().is_empty()) {
        (false, _) => Ok(()),
        (true, true) => Err("the answer is empty".to_owned()),
        (true, false) => {
            Err("only reasoning came and no answer, although thinking was turned off".to_owned())
        }
    }
}

fn no_replacement_character(text: &str) -> Result<(), String> {
    text.chars()
        .position(|c| c == char::REPLACEMENT_CHARACTER)
        .map_or(Ok(()), |at| Err(format!("U+FFFD at character {}", at + 1)))
}

/// A script that an English answer has no use for: a sign of wrong tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Script {
    /// Korean.
    Hangul,
    /// Chinese characters.
    Han,
    /// Japanese kana.
    Kana,
    /// Russian and its neighbours.
    Cyrillic,
    /// Arabic.
    Arabic,
}

impl Script {
    fn holds(self, c: char) -> bool {
        match self {
            Self::Hangul => {
                matches!(c, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}')
            }
            Self::Han => {
                matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
            }
            Self::Kana => matches!(c, '\u{3040}'..='\u{30FF}'),
            Self::Cyrillic => matches!(c, '\u{0400}'..='\u{052F}'),
            Self::Arabic => matches!(c, '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}'),
        }
    }
}

fn expected_script(text: &str, unexpected: Script) -> Result<(), String> {
    text.chars()
        .enumerate()
        .find(|(_, c)| unexpected.holds(*c))
        .map_or(Ok(()), |(at, c)| Err(format!("{unexpected:?} `{c}` at character {}", at + 1)))
}

/// `stop` and `length` are how an answer ends; everything else is how it is broken off.
fn finish_reason(reason: Option<&str>) -> Result<(), String> {
    match reason {
        Some("stop" | "length") => Ok(()),
        Some(other) => Err(format!("the engine ended the answer with `{}`", excerpt(other))),
        None => Err("the engine gave no finish reason, so the answer may be cut off".to_owned()),
    }
}

fn enough_tokens(got: u64, wanted: u64) -> Result<(), String> {
    if got >= wanted {
        Ok(())
    } else {
        Err(format!(
            "{got} tokens of {wanted}, although the end of sequence was to be ignored (an engine that cannot is measured with \
             --no-ignore-eos)"
        ))
    }
}

/// Units (words) of the piece that is looked for again.
const GRAM: usize = 20;
/// How often a piece must stand in the answer to count as repeated.
const OFTEN: usize = 3;
/// The share of the answer that repeated pieces must fill before the answer is rubbish.
const SHARE: f64 = 0.5;

/// Fails an answer more than half of which is pieces of 20 words that each stand in it three times or more.
///
/// A refrain, a licence header or a table passes; a model that says the same sentence to the end does not.
fn no_repetition(text: &str) -> Result<(), String> {
    let units = units(text);
    if units.len() < GRAM * OFTEN {
        return Ok(());
    }
    let mut places: HashMap<&[&str], Vec<usize>> = HashMap::new();
    for (at, gram) in units.windows(GRAM).enumerate() {
        places.entry(gram).or_default().push(at);
    }
    let mut repeated = vec![false; units.len()];
    for starts in places.values().filter(|starts| starts.len() >= OFTEN) {
        for &start in starts {
            repeated[start..start + GRAM].fill(true);
        }
    }
    let share = repeated.iter().filter(|r| **r).count() as f64 / units.len() as f64;
    if share <= SHARE {
        return Ok(());
    }
    // The most frequent piece; of equals the first, so that the message does not depend on the hash's order.
    let worst = places.values().filter_map(|starts| Some((starts.len(), *starts.first()?)));
    let (times, start) =
        worst.max_by_key(|&(times, start)| (times, std::cmp::Reverse(start))).unwrap_or((0, 0));
    let piece = units[start..start + GRAM].join(" ");
    Err(format!("{:.0} % of the answer repeats itself: {times} times `{}`", share * 100.0, excerpt(&piece)))
}

/// The words; for scripts without blanks between words, the characters.
fn units(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() * 30 >= text.chars().count() {
        return words;
    }
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    starts.windows(2).filter_map(|pair| text.get(pair[0]..pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use dyno_shared::units::Tokens;

    use super::*;

    fn prose(words: usize) -> String {
        (0..words).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ")
    }

    fn record(tokens: u64, reason: &str) -> RequestRecord {
        RequestRecord {
            output_tokens: Some(Tokens(tokens)),
            finish_reason: Some(reason.into()),
            ..RequestRecord::default()
        }
    }

    fn failed(text: &str, record: &RequestRecord, demands: &Demands) -> Vec<String> {
        let answer = Answer { text, reasoning: "", record };
        run_all(answer, demands).into_iter().filter(|c| !c.passed).map(|c| c.name).collect()
    }

    fn demands() -> Demands {
        Demands { expected: Expected::Anything, unexpected_script: Some(Script::Hangul), tokens: Some(512) }
    }

    #[test]
    fn an_honest_answer_passes_everything() {
        assert_eq!(failed(&prose(380), &record(512, "length"), &demands()), Vec::<String>::new());
    }

    #[test]
    fn each_fault_fails_its_own_check_and_no_other() {
        let good = record(512, "length");
        let cases = [
            (String::from("  \n"), good.clone(), "not_empty"),
            (prose(380) + " caf\u{FFFD}", good.clone(), "no_replacement_character"),
            (prose(380) + " 한국어", good.clone(), "expected_script"),
            (prose(380), record(512, "content_filter"), "finish_reason"),
            (prose(380), record(300, "stop"), "enough_tokens"),
            ("round and round goes the wheel ".repeat(60), good, "no_repetition"),
        ];
        for (text, record, name) in cases {
            assert_eq!(failed(&text, &record, &demands()), [name]);
        }
    }

    #[test]
    fn an_unknown_token_count_is_not_too_small_and_an_early_end_is_allowed_where_it_is_not_ignored() {
        let unknown = RequestRecord { output_tokens: None, ..record(0, "stop") };
        assert_eq!(failed(&prose(99), &unknown, &demands()), Vec::<String>::new());
        let free = Demands { tokens: None, ..demands() };
        assert_eq!(failed(&prose(99), &record(99, "stop"), &free), Vec::<String>::new());
    }

    #[test]
    fn reasoning_without_an_answer_is_named_as_such() {
        let record = record(512, "length");
        let answer = Answer { text: "", reasoning: "let me think", record: &record };
        let failed: Vec<Check> = run_all(answer, &demands()).into_iter().filter(|c| !c.passed).collect();
        assert_eq!(failed.len(), 1);
        assert!(failed[0].detail.as_ref().unwrap().contains("thinking was turned off"));
    }

    #[test]
    fn counting_and_lists_are_checked_where_they_were_asked_for() {
        let count = Demands { expected: Expected::Count { last: 3 }, tokens: None, ..demands() };
        assert_eq!(failed("1\n2\n4", &record(6, "stop"), &count), ["counting"]);
        let list = Demands { expected: Expected::List { items: 2 }, tokens: None, ..demands() };
        assert_eq!(failed("1. a\n3. b", &record(6, "stop"), &list), ["structured"]);
    }

    #[test]
    fn only_real_degeneration_is_repetition() {
        let paragraph = prose(60) + " ";
        assert!(no_repetition(&paragraph.repeat(6)).is_err(), "a paragraph over and over");
        assert!(no_repetition(&(paragraph.clone() + &"the end ".repeat(100))).is_err(), "a loop at the end");
        assert_eq!(no_repetition(&paragraph.repeat(2)), Ok(()), "said twice");
        assert_eq!(
            no_repetition(&(prose(200) + &"and then there was light ".repeat(20))),
            Ok(()),
            "a third of it"
        );
        assert_eq!(no_repetition(&"ha ".repeat(40)), Ok(()), "too short to tell");
        let count: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
        assert_eq!(no_repetition(&count.join("\n")), Ok(()));
        let message = no_repetition(&"round and round goes the wheel ".repeat(60)).unwrap_err();
        assert!(message.starts_with("100 % of the answer repeats itself: "), "{message}");
    }

    #[test]
    fn text_without_blanks_is_looked_at_by_character() {
        let distinct: String = (0x4E00..0x4E00 + 300_u32).filter_map(char::from_u32).collect();
        assert_eq!(no_repetition(&distinct), Ok(()));
        assert!(no_repetition(&"天地玄黄宇宙洪荒".repeat(40)).is_err());
    }
}
