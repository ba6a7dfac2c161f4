//! Long messages of a wanted number of tokens.
//!
//! A long message is an opening, a text, some filler and a tail. The text depends on the seed and its length in
//! characters alone, the filler on the seed and its number of words. Where the engine counts tokens, the filler is
//! chosen so that the count is exact; elsewhere there is none, and the text has about the length aimed at.

use dyno_shared::statistics::rng::Rng;

use super::{CharsPerToken, needle};

/// Tokens that a chat template usually adds to one message, where the engine does not let us know.
const TEMPLATE_TOKENS: u64 = 24;

/// The share of the wanted tokens that the text is made of before it is filled up to the last token: a length in
/// characters is a count of tokens to within 2 %.
const TEXT_SHARE: f64 = 0.98;

/// How often the engine is asked to count one message.
const MOST_COUNTS: u32 = 8;

/// Words that the tokenisers of all usual models take for one token each, with the space before them.
const FILLER: [&str; 24] = [
    " and", " the", " of", " to", " in", " is", " it", " for", " on", " with", " as", " at", " by", " this",
    " but", " not", " or", " from", " that", " so", " all", " one", " we", " then",
];

/// How long tokens are, and what a message costs beside its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    /// Characters of a token of our long texts.
    pub chars_per_token: CharsPerToken,
    /// Tokens that the chat template adds to one message.
    pub template_tokens: Option<u64>,
}

impl Lengths {
    fn template(self) -> u64 {
        self.template_tokens.unwrap_or(TEMPLATE_TOKENS)
    }
}

/// A long message before its length is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongText {
    /// What it begins with: a run tag.
    pub(super) opening: String,
    /// Seed of its words.
    pub(super) seed: u64,
    /// The code that is hidden in it.
    pub(super) code: Option<String>,
    /// What it ends with: what is asked.
    pub(super) tail: String,
    /// Tokens wanted, those of the chat template included.
    pub(super) target_tokens: u64,
    /// Whether the tail's tokens are among them; else they are those of the context before it.
    pub(super) tail_counts: bool,
}

impl LongText {
    /// The message at about the wanted length.
    pub fn about(&self, lengths: Lengths) -> String {
        let chars = lengths.chars_per_token.chars(self.wanted(lengths));
        let beside = self.opening.len() + if self.tail_counts { self.tail.len() } else { 0 };
        self.text(chars.saturating_sub(beside), 0)
    }

    /// The message at exactly the wanted length by `count`, which tells the tokens of a text; the nearest that could
    /// be had where no number of words gives it exactly. `None` where `count` does not tell.
    pub async fn exact(&self, lengths: Lengths, count: impl AsyncFn(&str) -> Option<u64>) -> Option<String> {
        let wanted = self.wanted(lengths);
        let mut counts = 0;
        let mut chars = lengths.chars_per_token.chars((wanted as f64 * TEXT_SHARE) as u64);
        // The text alone first, and by nothing that tells runs apart: what they have in common must be the same.
        let room = wanted.saturating_sub(self.tail_room());
        loop {
            let tokens = count(&self.head(chars)).await?;
            counts += 1;
            if tokens <= room || chars == 0 || counts >= MOST_COUNTS / 2 {
                break;
            }
            chars = (chars as f64 * (room as f64 / tokens as f64) * TEXT_SHARE) as usize;
        }
        let (mut words, mut best) = (0_usize, (u64::MAX, 0));
        // Tokens of a word of the filler: 1, until two counts say otherwise.
        let (mut per_word, mut last) = (1.0, None::<(usize, u64)>);
        while counts < MOST_COUNTS {
            let tokens = count(&self.measured(chars, words)).await?;
            counts += 1;
            best = best.min((tokens.abs_diff(wanted), words));
            if let Some((words_then, tokens_then)) = last {
                let (more_words, more) =
                    (words as f64 - words_then as f64, tokens as f64 - tokens_then as f64);
                per_word = (more / more_words).max(0.1);
            }
            last = Some((words, tokens));
            let step = ((wanted as f64 - tokens as f64) / per_word).round();
            let next = (words as f64 + step).max(0.0) as usize;
            if next == words {
                break;
            }
            words = next;
        }
        Some(self.text(chars, best.1))
    }

    /// Tokens that are left for the tail, more than it has: by its length, which is the same for all runs of a case,
    /// and not by its tokens, since one tag may have more of them than another.
    fn tail_room(&self) -> u64 {
        if self.tail_counts { self.tail.len() as u64 / 3 + 16 } else { 0 }
    }

    /// Tokens of what is measured of the message itself.
    fn wanted(&self, lengths: Lengths) -> u64 {
        self.target_tokens.saturating_sub(lengths.template())
    }

    fn head(&self, chars: usize) -> String {
        format!("{}{}", self.opening, needle::haystack(self.seed, chars, self.code.as_deref()))
    }

    fn filled(&self, chars: usize, words: usize) -> String {
        let mut text = self.head(chars);
        let mut rng = Rng::new(self.seed.rotate_left(17));
        for at in 0..words {
            let word = FILLER[(rng.next_u64() % FILLER.len() as u64) as usize];
            // The text ends in a space.
            text.push_str(if at == 0 { word.trim_start() } else { word });
        }
        text
    }

    fn measured(&self, chars: usize, words: usize) -> String {
        if self.tail_counts { self.text(chars, words) } else { self.filled(chars, words) }
    }

    fn text(&self, chars: usize, words: usize) -> String {
        self.filled(chars, words) + &self.tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulator::token;
    use crate::workload::tag;

    fn lengths(template: u64) -> Lengths {
        Lengths { chars_per_token: CharsPerToken::USUAL, template_tokens: Some(template) }
    }

    fn long(target_tokens: u64, tail_counts: bool) -> LongText {
        LongText {
            opening: "Run 12ab34cd56.\n\n".into(),
            seed: 7,
            code: Some("QX-4471".into()),
            tail: "\n\nRun 0123456789.\n\nWhat is the access code?".into(),
            target_tokens,
            tail_counts,
        }
    }

    fn exact(long: &LongText, lengths: Lengths, count: impl Fn(&str) -> Option<u64>) -> Option<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(long.exact(lengths, async |text: &str| count(text)))
    }

    fn tokens(text: &str) -> u64 {
        token::pieces(text).count() as u64
    }

    #[test]
    fn a_message_has_exactly_the_tokens_that_were_wanted() {
        for target in [300, 1_000, 2_000, 8_000, 32_000] {
            let text = exact(&long(target, true), lengths(3), |text| Some(tokens(text))).unwrap();
            assert_eq!(tokens(&text), target - 3, "{target}");
            assert_eq!(text.matches("QX-4471").count(), 1);
            let context = exact(&long(target, false), lengths(3), |text| Some(tokens(text))).unwrap();
            let context = context.strip_suffix(&long(target, false).tail).unwrap();
            assert_eq!(tokens(context), target - 3, "{target} of context");
        }
    }

    #[test]
    fn a_tokeniser_of_another_length_is_met_as_well() {
        for per_token in [1, 2, 9] {
            let by_chars = |text: &str| Some(text.chars().count() as u64 / per_token);
            let text = exact(&long(2_000, true), lengths(24), by_chars).unwrap();
            let off = by_chars(&text).unwrap().abs_diff(1_976);
            assert!(off <= 5, "{off} tokens off at {per_token} characters a token");
        }
    }

    #[test]
    fn what_runs_have_in_common_does_not_depend_on_their_tails() {
        for target in [400, 1_000, 1_001, 1_002, 1_003, 2_000] {
            let mut first = None::<String>;
            for n in 0..60 {
                // Tags of 4 to 10 tokens.
                let tag = tag::run_tag("s", "case", tag::Take::Run(n), 0);
                let long = LongText { tail: format!("\n\nRun {tag}. Which code?"), ..long(target, true) };
                let text = exact(&long, lengths(3), |text| Some(tokens(text))).unwrap();
                assert_eq!(tokens(&text), target - 3);
                let first = first.get_or_insert_with(|| text.clone());
                let shared = text.bytes().zip(first.bytes()).take_while(|(a, b)| a == b).count();
                assert!(text.len() - shared < 120, "{shared} of {}", text.len());
            }
        }
    }

    #[test]
    fn without_a_tokeniser_the_length_is_about_right_and_a_tiny_target_is_no_trouble() {
        let text = long(8_000, true).about(lengths(24));
        assert!((text.len() as f64 / 5.0 - 7_976.0).abs() < 60.0, "{}", text.len());
        assert_eq!(exact(&long(8_000, true), lengths(24), |_| None), None);
        for target in [0, 1, 30] {
            assert!(
                exact(&long(target, true), lengths(24), |text| Some(tokens(text)))
                    .unwrap()
                    .contains("access code")
            );
        }
    }
}
