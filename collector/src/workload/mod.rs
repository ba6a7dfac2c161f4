//! Workloads: the prompts, the tags that keep them apart, and what the answers must look like.

mod case;
pub mod check;
mod code;
mod counting;
mod dialogue;
mod long;
mod needle;
mod prose;
mod structured;
pub mod suite;
pub mod suite_file;
pub mod tag;

use serde::{Deserialize, Serialize};

pub use case::{CasePlan, Shape, Until};
pub use long::{Lengths, LongText};
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
    /// Programs, explanations and lists, one after the other over the streams.
    Mixed,
    /// An explanation after a long text that has nothing to do with it.
    LongText,
    /// A conversation that begins with a long text.
    Dialogue,
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
            Self::Mixed => "mixed",
            Self::LongText => "long_text",
            Self::Dialogue => "dialogue",
        }
    }

    /// Whether its prompts have a length of their choice.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::Needle | Self::LongText | Self::Dialogue)
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

/// A prompt whose length may not be settled yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its run tag.
    pub tag: String,
    /// What the answer must look like.
    pub expected: Expected,
    /// The message.
    pub message: Message,
}

/// The text of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// As it is sent.
    Whole(String),
    /// To be brought to its length.
    Long(LongText),
}

impl Draft {
    /// The prompt with this text.
    pub fn with(self, text: String) -> Prompt {
        Prompt { text, tag: self.tag, expected: self.expected }
    }

    /// The prompt, of about the wanted length where it is a long one.
    pub fn about(self, lengths: Lengths) -> Prompt {
        let text = match &self.message {
            Message::Whole(text) => text.clone(),
            Message::Long(long) => long.about(lengths),
        };
        self.with(text)
    }
}

/// The message of one stream of one sending of a case; of a session its first turn.
pub fn draft(case: &CasePlan, series: &str, take: Take, stream: u32) -> Draft {
    let tag = tag::run_tag(series, &case.id, take, stream);
    let number = number(case, take, stream);
    let (body, expected) = match case.workload {
        Workload::Code => (code::prompt(number), Expected::Anything),
        Workload::Prose => (prose::prompt(number), Expected::Anything),
        Workload::Structured => list(number),
        Workload::Counting { last } => (counting::prompt(last), Expected::Count { last }),
        Workload::Mixed => match stream % MIXED {
            0 => (code::prompt(number), Expected::Anything),
            1 => (prose::prompt(number), Expected::Anything),
            _ => list(number),
        },
        Workload::Needle | Workload::LongText | Workload::Dialogue => {
            return long_draft(case, series, tag, stream, number);
        }
    };
    Draft { message: Message::Whole(format!("{}{body}", opening(&tag))), tag, expected }
}

/// The workloads of [`Workload::Mixed`].
const MIXED: u32 = 3;

fn list(number: usize) -> (String, Expected) {
    (structured::prompt(number), Expected::List { items: structured::ITEMS })
}

/// Where in the tables of tasks a stream of a sending stands: two streams of one sending and two runs never ask the
/// same, as long as the tables last.
fn number(case: &CasePlan, take: Take, stream: u32) -> usize {
    let (streams, stream) = match case.workload {
        Workload::Mixed => (case.streams().div_ceil(MIXED), stream / MIXED),
        _ => (case.streams(), stream),
    };
    let of_run = |number: u32| number as usize * streams as usize + stream as usize;
    match take {
        Take::Run(number) | Take::Again { number, .. } => of_run(number.saturating_sub(1)),
        Take::Repeat | Take::Prime => of_run(0),
        // From the far end of the tables, so that the first runs do not repeat what was just asked.
        Take::Warmup(number) => TABLE.wrapping_sub(1 + of_run(number) % TABLE),
    }
}

/// Tasks in each table.
const TABLE: usize = 72;

/// How a prompt begins. Small models take it for what it is; a bare tag in brackets they try to explain.
fn opening(tag: &str) -> String {
    format!("Run {tag}.\n\n")
}

/// A cold prompt is new from its first character on; a cached one shares all but its tail with the case's others.
fn long_draft(case: &CasePlan, series: &str, tag: String, stream: u32, number: usize) -> Draft {
    let (text_tag, again) = if case.is_primed() {
        (tag::case_tag(series, &case.id, stream), opening(&tag))
    } else {
        (tag.clone(), String::new())
    };
    let seed = tag::seed_of(&text_tag);
    let code = (case.workload == Workload::Needle).then(|| needle::code(seed));
    let question = match case.workload {
        // The tag once more, so that an answer that quotes the end of the prompt is seen to be of this run.
        Workload::Needle => format!("{}{}", opening(&tag), needle::QUESTION),
        Workload::Dialogue => format!("{again}{}", dialogue::OPENING),
        _ => format!("{again}Leave the text above aside. {}", prose::prompt(number)),
    };
    let long = LongText {
        opening: opening(&text_tag),
        seed,
        code: code.clone(),
        tail: format!("\n\n{question}"),
        target_tokens: case.depth_tokens.or(case.prompt_tokens).unwrap_or(0),
        tail_counts: case.depth_tokens.is_none(),
    };
    let expected = code.map_or(Expected::Anything, Expected::Code);
    Draft { tag, expected, message: Message::Long(long) }
}

/// What a later turn of a session asks, from 2 on, with its tag. `first` is the tag of the session's first turn.
pub fn later_turn(first: &str, turn: u32) -> Prompt {
    let tag = tag::turn_tag(first, turn);
    let text = format!("{}{}", opening(&tag), dialogue::turn(turn));
    Prompt { text, tag, expected: Expected::Anything }
}

/// Two texts of the kind that `needle` sends, the second longer, to measure [`CharsPerToken`] with.
pub fn samples() -> [String; 2] {
    let of = |seed, chars| {
        format!("{}{}", needle::haystack(seed, chars, Some(&needle::code(seed))), needle::QUESTION)
    };
    [of(1, 200), of(2, 2_400)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dyno_shared::workload::Regime;

    use super::*;

    fn prompt(case: &CasePlan, series: &str, take: Take, stream: u32) -> Prompt {
        let lengths = Lengths { chars_per_token: CharsPerToken::USUAL, template_tokens: None };
        draft(case, series, take, stream).about(lengths)
    }

    fn standard(id: &str) -> CasePlan {
        suite::full(suite::Counts::default()).into_iter().find(|case| case.id == id).unwrap()
    }

    fn shared_start(a: &str, b: &str) -> usize {
        a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
    }

    #[test]
    fn no_two_sendings_or_streams_share_a_prefix_and_every_one_begins_with_its_tag() {
        let cached = |case: &CasePlan| matches!(case.regime, Regime::CachedPrefix | Regime::DecodeAtDepth);
        for case in suite::full(suite::Counts::default()).iter().filter(|case| !cached(case)) {
            let takes: Vec<Take> = (1..=6)
                .flat_map(|number| [Take::Run(number), Take::Again { number, attempts: 1 }])
                .chain([Take::Warmup(1), Take::Warmup(2), Take::Repeat, Take::Prime])
                .collect();
            let streams = 0..case.streams();
            let sendings = takes.iter().flat_map(|take| streams.clone().map(|stream| (*take, stream)));
            let prompts: Vec<Prompt> =
                sendings.map(|(take, stream)| prompt(case, "s", take, stream)).collect();
            for (i, a) in prompts.iter().enumerate() {
                assert!(a.text.starts_with(&format!("Run {}.", a.tag)));
                for b in &prompts[..i] {
                    assert!(shared_start(&a.text, &b.text) < 10, "{}", case.id);
                }
            }
        }
    }

    #[test]
    fn sixteen_runs_of_a_workload_ask_sixteen_things_and_so_do_the_streams_of_mixed_batches() {
        let body = |prompt: Prompt| prompt.text.split_once("\n\n").map(|(_, body)| body.to_owned()).unwrap();
        for id in ["code", "prose", "structured"] {
            let case = standard(id);
            let bodies: BTreeSet<String> =
                (1..=16).map(|n| body(prompt(&case, "s", Take::Run(n), 0))).collect();
            assert_eq!(bodies.len(), 16, "{id}");
        }
        let case = standard("mixed8");
        let bodies: BTreeSet<String> = (1..=8)
            .flat_map(|n| (0..8).map(move |stream| (n, stream)))
            .map(|(n, stream)| body(prompt(&case, "s", Take::Run(n), stream)))
            .collect();
        assert_eq!(bodies.len(), 64);
        let expects_list =
            |stream| matches!(prompt(&case, "s", Take::Run(1), stream).expected, Expected::List { .. });
        assert_eq!([0, 1, 2, 3, 4, 5].map(expects_list), [false, false, true, false, false, true]);
    }

    #[test]
    fn cached_runs_and_those_at_depth_share_all_but_their_tail() {
        for id in ["cached_prefix_2k", "decode_at_depth_2k"] {
            let case = standard(id);
            let prime = prompt(&case, "s", Take::Prime, 0);
            let first = prompt(&case, "s", Take::Run(1), 0);
            let shared = shared_start(&prime.text, &first.text);
            assert!(shared as f64 > 0.9 * first.text.len() as f64, "{shared} of {}", first.text.len());
            assert_ne!(prime.text, first.text);
            let other = prompt(&case, "t", Take::Run(1), 0);
            assert!(shared_start(&first.text, &other.text) < 10, "another series shares nothing");
        }
    }

    #[test]
    fn the_context_of_a_case_at_depth_is_as_deep_as_its_name_says() {
        let text = prompt(&standard("decode_at_depth_8k"), "s", Take::Run(1), 0).text;
        let context = text.find("\n\nRun ").unwrap();
        assert!((context as f64 / 5.0 - 8_000.0).abs() < 60.0, "{context}");
    }

    #[test]
    fn a_long_prompt_is_as_long_as_the_ratio_says() {
        let chars = prompt(&standard("cold_prefill_8k"), "s", Take::Run(1), 0).text.len();
        let tokens = chars as f64 / 5.0;
        assert!((tokens - 8_000.0).abs() < 60.0, "{tokens}");
    }

    #[test]
    fn the_turns_of_a_session_have_tags_of_their_own() {
        let first = prompt(&standard("session4"), "s", Take::Run(1), 2).tag;
        let turns = [2, 3, 4].map(|turn| later_turn(&first, turn));
        assert!(turns.iter().all(|turn| turn.text.starts_with(&format!("Run {}.", turn.tag))));
        assert_ne!(turns[0].text, turns[1].text);
        assert_ne!(turns[0].tag, first);
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
