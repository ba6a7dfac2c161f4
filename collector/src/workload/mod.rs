//! Workloads: the prompts, the tags that keep them apart, and what the answers must look like.

pub mod check;
mod code;
mod counting;
mod needle;
mod prose;
mod structured;
pub mod suite;
pub mod tag;

use serde::{Deserialize, Serialize};

pub use suite::CasePlan;
pub use tag::Take;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Workload {
    /// Programs.
    Code,
    /// Explanations.
    Prose,
    /// Numbered lists.
    Structured,
    /// The numbers from 1 on.
    Counting {
        /// The last number.
        last: u32,
    },
    /// A code in a long text.
    Needle,
}

impl Workload {
    /// The name in shards.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Prose => "prose",
            Self::Structured => "structured",
            Self::Counting { .. } => "counting",
            Self::Needle => "needle",
        }
    }
}

/// What an answer must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Nothing in particular.
    Anything,
    /// The numbers from 1, one a line.
    Count {
        /// The last number.
        last: u32,
    },
    /// A numbered list.
    List {
        /// Its lines.
        items: u32,
    },
    /// This code. A model that does not find it is weak, not slow: the run is marked and stays in the summary.
    Code(String),
}

/// How many characters of our long texts make one token.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CharsPerToken(f64);

impl CharsPerToken {
    /// What tokenisers of 2023 and later make of the texts of `needle`, for where nothing could be measured.
    pub const USUAL: Self = Self(5.0);

    /// From two texts and their counts, which cancels what the chat template adds. Rounded to 2 %, so that the
    /// same tokeniser behind two engines gives the same bytes; `None` where the counts make no sense.
    pub fn measured(chars: usize, tokens: u64) -> Option<Self> {
        if tokens < 50 {
            return None;
        }
        let ratio = chars as f64 / tokens as f64;
        let step = 0.1;
        (0.5..=20.0).contains(&ratio).then(|| Self((ratio / step).round() * step))
    }

    /// Characters of that many tokens.
    fn chars(self, tokens: u64) -> usize {
        (tokens as f64 * self.0) as usize
    }
}

/// Tokens that a chat template usually adds to one message; they are part of every count of a prompt.
const TEMPLATE_TOKENS: u64 = 24;

/// One prompt, ready to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The whole message, run tag included.
    pub text: String,
    /// Its run tag.
    pub tag: String,
    /// What the answer must look like.
    pub expected: Expected,
}

/// The prompt of one sending of a case.
pub fn prompt(case: &CasePlan, series: &str, take: Take, ratio: CharsPerToken) -> Prompt {
    let tag = tag::run_tag(series, &case.id, take);
    let number = match take {
        Take::Run(number) => number.saturating_sub(1) as usize,
        Take::Repeat | Take::Prime => 0,
        // From the far end of the tables, so that the first runs do not repeat what was just asked.
        Take::Warmup(number) => 71_usize.saturating_sub(number as usize),
    };
    let (body, expected) = match case.workload {
        Workload::Code => (code::prompt(number), Expected::Anything),
        Workload::Prose => (prose::prompt(number), Expected::Anything),
        Workload::Structured => (structured::prompt(number), Expected::List { items: structured::ITEMS }),
        Workload::Counting { last } => (counting::prompt(last), Expected::Count { last }),
        Workload::Needle => return needle_prompt(case, series, tag, ratio),
    };
    Prompt { text: format!("{}{body}", opening(&tag)), tag, expected }
}

/// How a prompt begins. Small models take it for what it is; a bare tag in brackets they try to explain.
fn opening(tag: &str) -> String {
    format!("Run {tag}.\n\n")
}

/// A cold prompt is new from its first character on; a cached one shares all but its tail with the case's others.
fn needle_prompt(case: &CasePlan, series: &str, tag: String, ratio: CharsPerToken) -> Prompt {
    let cached = case.regime == dyno_shared::workload::Regime::CachedPrefix;
    let text_tag = if cached { tag::case_tag(series, &case.id) } else { tag.clone() };
    let seed = tag::seed_of(&text_tag);
    let code = needle::code(seed);
    let tail = format!("\n\n{}{}", opening(&tag), needle::QUESTION);
    let head = opening(&text_tag);
    let target = case.prompt_tokens.unwrap_or(0).saturating_sub(TEMPLATE_TOKENS);
    let chars = ratio.chars(target).saturating_sub(tail.len() + head.len());
    let text = format!("{head}{}{tail}", needle::haystack(seed, chars, &code));
    Prompt { text, tag, expected: Expected::Code(code) }
}

/// Two texts of the kind that `needle` sends, the second longer, to measure [`CharsPerToken`] with.
pub fn samples() -> [String; 2] {
    let of =
        |seed, chars| format!("{}{}", needle::haystack(seed, chars, &needle::code(seed)), needle::QUESTION);
    [of(1, 200), of(2, 2_400)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const RATIO: CharsPerToken = CharsPerToken::USUAL;

    fn shared_start(a: &str, b: &str) -> usize {
        a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
    }

    #[test]
    fn no_two_sendings_share_a_prefix_and_every_one_begins_with_its_tag() {
        for case in
            suite::full(16, 2).iter().filter(|c| c.id.starts_with("cold") || c.prompt_tokens.is_none())
        {
            let takes =
                (1..=16).map(Take::Run).chain((1..=3).map(Take::Warmup)).chain([Take::Repeat, Take::Prime]);
            let prompts: Vec<Prompt> = takes.map(|take| prompt(case, "s", take, RATIO)).collect();
            for (i, a) in prompts.iter().enumerate() {
                assert!(a.text.starts_with(&format!("Run {}.", a.tag)));
                for b in &prompts[..i] {
                    assert!(shared_start(&a.text, &b.text) < 10, "{}", case.id);
                }
            }
        }
    }

    #[test]
    fn sixteen_runs_of_a_workload_ask_sixteen_things() {
        for case in
            suite::full(16, 2).iter().filter(|c| matches!(c.id.as_str(), "code" | "prose" | "structured"))
        {
            let bodies: BTreeSet<String> = (1..=16)
                .map(|n| prompt(case, "s", Take::Run(n), RATIO).text)
                .filter_map(|text| text.split_once("\n\n").map(|(_, body)| body.to_owned()))
                .collect();
            assert_eq!(bodies.len(), 16, "{}", case.id);
        }
    }

    #[test]
    fn cached_runs_share_all_but_their_tail() {
        let case = suite::full(16, 2).into_iter().find(|c| c.id == "cached_prefix_2k").unwrap();
        let prime = prompt(&case, "s", Take::Prime, RATIO);
        let first = prompt(&case, "s", Take::Run(1), RATIO);
        let shared = shared_start(&prime.text, &first.text);
        assert!(shared as f64 > 0.9 * first.text.len() as f64, "{shared} of {}", first.text.len());
        assert_ne!(prime.text, first.text);
        assert_eq!(prime.text.len(), first.text.len());
        let other = prompt(&case, "t", Take::Run(1), RATIO);
        assert!(shared_start(&first.text, &other.text) < 10, "another series shares nothing");
    }

    #[test]
    fn a_long_prompt_is_as_long_as_the_ratio_says() {
        let case = suite::full(16, 2).into_iter().find(|c| c.id == "cold_prefill_8k").unwrap();
        let chars = prompt(&case, "s", Take::Run(1), RATIO).text.len();
        let tokens = chars as f64 / 5.0;
        assert!((tokens - 8_000.0).abs() < 60.0, "{tokens}");
    }

    #[test]
    fn the_ratio_is_rounded_so_that_engines_agree_and_nonsense_is_refused() {
        let a = CharsPerToken::measured(2_200, 450).unwrap();
        assert_eq!(a, CharsPerToken::measured(2_200, 449).unwrap());
        assert_eq!(CharsPerToken::measured(2_200, 0), None);
        assert_eq!(CharsPerToken::measured(2_200, 60), None);
        assert_eq!(CharsPerToken::measured(20, 450), None);
    }
}
