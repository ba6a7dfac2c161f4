//! What the simulated engine says: the same words for the same prompt, and right where a right answer exists.
//!
//! It counts when asked to count, numbers its lines when asked for a list, finds a code that is hidden in the
//! prompt, writes something like code when asked for code, and else something like prose. It understands
//! nothing: it looks for a few words of English.

use super::fault::Fault;
use super::random::Random;
use super::token;

/// What the prompt asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Topic {
    /// Whole numbers from the first to the second, one a line.
    Count(u64, u64),
    /// This many numbered lines.
    List(u64),
    /// A code that stands in the prompt.
    Needle(String),
    Code,
    Prose,
}

/// Looks for the few words that decide the topic. Numbers are read near those words only.
fn topic(prompt: &str) -> Topic {
    let lower = prompt.to_ascii_lowercase();
    if let Some(code) = needle(prompt, &lower) {
        return Topic::Needle(code);
    }
    if let Some((from, to)) =
        ["count", "numbers", "integers"].iter().find_map(|word| range_after(&lower, word))
    {
        return Topic::Count(from, to);
    }
    if let Some(after) =
        after_word(&lower, "list").filter(|_| lower.contains("numbered") || lower.contains("list of"))
    {
        let asked =
            numbers(nearby(after)).next().or_else(|| numbers(&lower).find(|n| (2..1_000).contains(n)));
        return Topic::List(asked.unwrap_or(10));
    }
    let code = ["function", "code", "program", "implement", "class", "python", "rust", "script"];
    if code.iter().any(|word| after_word(&lower, word).is_some()) { Topic::Code } else { Topic::Prose }
}

/// The word after the last "code is" of a prompt that goes on to ask for a code.
fn needle(prompt: &str, lower: &str) -> Option<String> {
    let (_, at) = ["code is", "number is", "password is"]
        .iter()
        .filter_map(|words| lower.rfind(words).map(|at| (words.len(), at + words.len())))
        .max_by_key(|(_, at)| *at)?;
    let hidden = prompt.get(at..)?.trim_start();
    let code: String = hidden.chars().take_while(|c| c.is_alphanumeric() || *c == '-').take(64).collect();
    let asks = hidden.get(code.len()..)?.to_ascii_lowercase();
    (!code.is_empty() && asks.contains('?')).then_some(code)
}

/// `from A to B`, or `to B` from 1, soon after `word`.
fn range_after(lower: &str, word: &str) -> Option<(u64, u64)> {
    let near = nearby(after_word(lower, word)?);
    let (before, after) = [" up to ", " to ", " through "].iter().find_map(|to| near.split_once(to))?;
    let last = after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let first = numbers(before).last().unwrap_or(1);
    (first <= last).then_some((first, last))
}

/// What follows the first `word` that stands alone.
fn after_word<'a>(lower: &'a str, word: &str) -> Option<&'a str> {
    lower.match_indices(word).find_map(|(at, _)| {
        let (before, after) = (lower.get(..at)?, lower.get(at + word.len()..)?);
        let alone = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        alone.then_some(after)
    })
}

/// The first 120 characters.
fn nearby(text: &str) -> &str {
    text.char_indices().nth(120).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| word.parse().ok())
}

/// An answer, token by token.
///
/// It is made in units (a line, a sentence). Each unit but the first begins with white space and none ends with
/// it, so that the tokens of the units are the tokens of the whole text.
#[derive(Debug)]
pub struct Speech {
    topic: Topic,
    random: Random,
    /// Goes on after the natural end.
    endless: bool,
    spoilt: Spoilt,
    units: u64,
    unit: String,
    at: usize,
}

/// Faults of the text.
#[derive(Debug, Default)]
struct Spoilt {
    extra: Option<&'static str>,
    looping: bool,
    miscounting: bool,
}

impl Speech {
    /// The answer to `prompt`, worded by `seed`. `endless` is a request's `ignore_eos`.
    pub fn answer(prompt: &str, seed: u64, endless: bool, faults: &[Fault]) -> Self {
        Self::new(topic(prompt), seed, endless, faults)
    }

    /// Something to think before the answer; it never ends by itself.
    pub fn thought(seed: u64) -> Self {
        Self::new(Topic::Prose, !seed, true, &[])
    }

    fn new(topic: Topic, seed: u64, endless: bool, faults: &[Fault]) -> Self {
        let spoilt = Spoilt {
            extra: faults.iter().find_map(|fault| match fault {
                Fault::Replacement => Some(" \u{FFFD}"),
                Fault::Hangul => Some(" 한국어"),
                _ => None,
            }),
            looping: faults.contains(&Fault::Loop),
            miscounting: faults.contains(&Fault::Miscount),
        };
        let random = Random::new(seed, 0);
        Self { topic, random, endless, spoilt, units: 0, unit: String::new(), at: 0 }
    }

    /// Appends the next token to `out` and gives its number; `None` at the end of the answer.
    pub fn say(&mut self, out: &mut String) -> Option<u32> {
        if self.is_over() {
            return None;
        }
        let piece = token::pieces(self.unit.get(self.at..)?).next()?;
        out.push_str(piece);
        self.at += piece.len();
        Some(token::id(piece))
    }

    /// Whether all has been said.
    pub fn is_over(&mut self) -> bool {
        if self.at < self.unit.len() {
            return false;
        }
        self.unit.clear();
        self.at = 0;
        if self.units == 1
            && let Some(extra) = self.spoilt.extra.take()
        {
            self.unit.push_str(extra);
            return false;
        }
        let more = self.compose();
        if self.units == 0 {
            self.unit = self.unit.trim_start().to_owned();
        }
        self.units += 1;
        !more
    }

    /// Writes the next unit; false when there is none.
    fn compose(&mut self) -> bool {
        let out = &mut self.unit;
        if self.spoilt.looping {
            out.push_str(ROUND);
            return true;
        }
        let slip = u64::from(self.spoilt.miscounting && self.units == 2);
        match &self.topic {
            Topic::Count(from, to) => {
                let number = from.saturating_add(self.units);
                if number > *to && !self.endless {
                    return false;
                }
                out.push('\n');
                out.push_str(&(number + slip).to_string());
            }
            Topic::List(items) => {
                if self.units >= *items && !self.endless {
                    return false;
                }
                out.push('\n');
                out.push_str(&(self.units + 1 + slip).to_string());
                out.push('.');
                sentence(&mut self.random, out);
            }
            Topic::Needle(code) if self.units == 0 => out.push_str(code),
            Topic::Needle(_) if !self.endless => return false,
            Topic::Code => statement(&mut self.random, self.units, out),
            Topic::Needle(_) | Topic::Prose => sentence(&mut self.random, out),
        }
        true
    }
}

/// Twenty-six tokens.
const ROUND: &str = " Round and round goes the wheel of the mill, and what it says it says again, \
    for it knows no other word at all.";
const ADJECTIVES: [&str; 24] = [
    "old", "quiet", "bright", "narrow", "heavy", "patient", "early", "distant", "plain", "careful", "warm",
    "steep", "hidden", "broad", "curious", "gentle", "rough", "silver", "hollow", "steady", "green",
    "northern", "naïve", "slow",
];
const NOUNS: [&str; 32] = [
    "river", "engine", "garden", "letter", "bridge", "teacher", "market", "window", "harbour", "machine",
    "forest", "station", "library", "village", "captain", "morning", "answer", "orchard", "signal", "valley",
    "workshop", "journey", "lantern", "meadow", "kitchen", "compass", "mountain", "story", "café", "winter",
    "clock", "road",
];
const VERBS: [&str; 20] = [
    "follows",
    "remembers",
    "crosses",
    "measures",
    "carries",
    "watches",
    "repairs",
    "leaves",
    "finds",
    "answers",
    "passes",
    "keeps",
    "turns towards",
    "listens to",
    "opens",
    "draws",
    "waits for",
    "describes",
    "reaches",
    "counts",
];

fn pick<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words.get(random.below(words.len())).copied().unwrap_or_default()
}

/// One sentence, with a space before it.
fn sentence(random: &mut Random, out: &mut String) {
    let parts = [
        " The ",
        pick(random, &ADJECTIVES),
        " ",
        pick(random, &NOUNS),
        " ",
        pick(random, &VERBS),
        " the ",
        pick(random, &ADJECTIVES),
        " ",
        pick(random, &NOUNS),
        pick(random, &[" of the ", " near the ", ", and so does the ", " beyond the "]),
        pick(random, &NOUNS),
        ".",
    ];
    out.push_str(&parts.concat());
}

/// One line of something like Python, with a new line before it.
fn statement(random: &mut Random, line: u64, out: &mut String) {
    let number = random.below(1_000).to_string();
    let (a, b, c) = (pick(random, &NOUNS[..22]), pick(random, &NOUNS[..22]), pick(random, &NOUNS[..22]));
    let parts: [&str; 8] = match line % 6 {
        0 => ["\n\n\ndef measure_", a, "(", b, ", ", c, "):", ""],
        1 => ["\n    ", a, " = ", b, " + ", &number, "", ""],
        2 => ["\n    for ", a, " in range(", &number, "):", "", "", ""],
        3 => ["\n        ", b, " = ", c, " * ", a, "", ""],
        4 => ["\n    if ", b, " > ", &number, ":", "", "", ""],
        _ => ["\n        return ", a, " - ", b, "", "", "", ""],
    };
    out.push_str(&parts.concat());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text, and its tokens as they came.
    fn listen(mut speech: Speech, most: usize) -> (String, Vec<String>) {
        let mut tokens = Vec::new();
        while tokens.len() < most {
            let mut piece = String::new();
            if speech.say(&mut piece).is_none() {
                break;
            }
            tokens.push(piece);
        }
        (tokens.concat(), tokens)
    }

    fn answer(prompt: &str) -> String {
        listen(Speech::answer(prompt, 1, false, &[]), 2_000).0
    }

    fn lines(from: u64, to: u64) -> String {
        (from..=to).map(|n| n.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn it_counts_as_far_as_it_is_asked_to() {
        assert_eq!(answer("[run 77ab] Count from 1 to 200, one number per line."), lines(1, 200));
        assert_eq!(answer("Count up to 12."), lines(1, 12));
        assert_eq!(answer("Write the numbers from 5 to 7, each on its own line"), lines(5, 7));
    }

    #[test]
    fn a_word_that_holds_count_is_not_a_request_to_count() {
        assert_eq!(
            topic("On account of 3 friends, go to 5 places in this country, says the story"),
            Topic::Prose
        );
        assert_eq!(topic("Write a function that counts to 10"), Topic::Code);
    }

    #[test]
    fn a_list_has_the_numbered_lines_asked_for() {
        let list = answer("Give me a numbered list of 12 rivers.");
        let numbers: Vec<&str> =
            list.lines().filter_map(|line| line.split_once(". ")).map(|(n, _)| n).collect();
        let expected: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn a_code_in_the_prompt_is_found_and_told() {
        let hay = "The river runs. ".repeat(400);
        let prompt = format!("{hay}The access code is QX-4471. {hay}What is the access code?");
        assert_eq!(answer(&prompt), "QX-4471");
    }

    #[test]
    fn the_tokens_said_are_the_tokens_of_the_text() {
        let prompts =
            ["Tell a story", "Write a Python function", "a numbered list of 30 things", "Count to 300"];
        for prompt in prompts {
            let (text, tokens) = listen(Speech::answer(prompt, 9, true, &[]), 1_500);
            assert_eq!(token::pieces(&text).collect::<Vec<_>>(), tokens, "{prompt}");
            assert_eq!(tokens.len(), 1_500, "{prompt}");
        }
    }

    #[test]
    fn no_run_of_twenty_tokens_comes_twice() {
        for prompt in ["Tell a story", "Write a Python function"] {
            let (_, tokens) = listen(Speech::answer(prompt, 3, true, &[]), 4_000);
            let mut seen = std::collections::HashSet::new();
            assert!(tokens.windows(20).all(|window| seen.insert(window.to_vec())), "{prompt}");
        }
    }

    #[test]
    fn the_seed_words_it_and_the_same_seed_words_it_the_same() {
        let tell = |seed| listen(Speech::answer("Tell a story", seed, true, &[]), 50).0;
        assert_eq!(tell(1), tell(1));
        assert_ne!(tell(1), tell(2));
    }

    #[test]
    fn faults_of_the_text_are_in_the_text() {
        let spoil = |fault| listen(Speech::answer("Count to 50", 1, false, &[fault]), 400).0;
        assert!(spoil(Fault::Replacement).contains('\u{FFFD}'));
        assert!(spoil(Fault::Hangul).contains('한'));
        assert_eq!(spoil(Fault::Miscount).lines().nth(2), Some("4"));
        assert_eq!(spoil(Fault::Miscount).lines().count(), 50);
        let (_, round) = listen(Speech::answer("Count to 50", 1, false, &[Fault::Loop]), 200);
        assert!(round.windows(20).filter(|window| *window == &round[1..21]).count() > 3);
    }
}
