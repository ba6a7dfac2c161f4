//! `needle`: long texts of about a given length, each with one code in it and a question for that code at the end.
//!
//! The words depend on nothing but the seed, so the same run sends the same text on every set-up of a series.

use dyno_shared::statistics::rng::Rng;

const ADJECTIVES: [&str; 32] = [
    "old", "quiet", "bright", "narrow", "heavy", "patient", "early", "distant", "plain", "careful", "warm",
    "steep", "hidden", "broad", "curious", "gentle", "rough", "silver", "hollow", "steady", "green",
    "northern", "wooden", "slow", "famous", "empty", "clever", "golden", "young", "busy", "lonely",
    "friendly",
];
const NOUNS: [&str; 40] = [
    "river", "engine", "garden", "letter", "bridge", "teacher", "market", "window", "harbour", "machine",
    "forest", "station", "library", "village", "captain", "morning", "answer", "orchard", "signal", "valley",
    "workshop", "journey", "lantern", "meadow", "kitchen", "compass", "mountain", "story", "island",
    "winter", "clock", "road", "baker", "painter", "railway", "castle", "school", "farmer", "tower", "ship",
];
const VERBS: [&str; 24] = [
    "follows",
    "remembers",
    "crosses",
    "measures",
    "carries",
    "watches",
    "repairs",
    "leaves",
    "finds",
    "visits",
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
    "protects",
    "paints",
    "admires",
    "sells",
];
const LINKS: [&str; 8] = [
    " of the ",
    " near the ",
    " behind the ",
    ", and so does the ",
    " beyond the ",
    " before the ",
    " with the ",
    " above the ",
];

/// A text of about `chars` characters, which ends in a space. Where there is a `code`, a sentence with it stands
/// somewhere in its middle part.
pub(super) fn haystack(seed: u64, chars: usize, code: Option<&str>) -> String {
    let mut words = Words(Rng::new(seed));
    let needle_at = (0.2 + 0.6 * words.0.next_f64()) * chars as f64;
    let mut text = String::with_capacity(chars + 100);
    let mut to_hide = code;
    while text.len() < chars {
        if text.len() as f64 >= needle_at
            && let Some(code) = to_hide.take()
        {
            hide(&mut text, code);
        }
        words.sentence(&mut text);
    }
    if let Some(code) = to_hide {
        hide(&mut text, code);
    }
    text
}

fn hide(text: &mut String, code: &str) {
    text.push_str("The access code is ");
    text.push_str(code);
    text.push_str(". ");
}

/// The question at the end.
pub(super) const QUESTION: &str =
    "What is the access code in the text above? Answer with the access code and nothing else.";

/// The code that a seed stands for, such as `QX-4471`.
pub(super) fn code(seed: u64) -> String {
    // Another stream than that of the words.
    let mut rng = Rng::new(!seed);
    let letter = |rng: &mut Rng| char::from(b'A' + (rng.next_u64() % 26) as u8);
    let (first, second) = (letter(&mut rng), letter(&mut rng));
    format!("{first}{second}-{:04}", rng.next_u64() % 10_000)
}

struct Words(Rng);

impl Words {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[(self.0.next_u64() % from.len() as u64) as usize]
    }

    /// One sentence and a space.
    fn sentence(&mut self, out: &mut String) {
        out.push_str("The ");
        for part in [
            self.pick(&ADJECTIVES),
            " ",
            self.pick(&NOUNS),
            " ",
            self.pick(&VERBS),
            " the ",
            self.pick(&ADJECTIVES),
            " ",
            self.pick(&NOUNS),
            self.pick(&LINKS),
            self.pick(&NOUNS),
            ". ",
        ] {
            out.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_length_asked_for_and_holds_the_code_once() {
        for chars in [100, 5_000, 150_000] {
            let code = code(7);
            let text = haystack(7, chars, Some(&code));
            assert!(text.len() >= chars && text.len() < chars + 150, "{} for {chars}", text.len());
            assert_eq!(text.matches(&code).count(), 1);
        }
    }

    #[test]
    fn the_seed_decides_every_word_and_nothing_else_does() {
        assert_eq!(haystack(1, 2_000, Some("AB-1")), haystack(1, 2_000, Some("AB-1")));
        let (a, b) = (haystack(1, 2_000, None), haystack(2, 2_000, None));
        let shared = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
        assert!(shared < 40, "two texts share a beginning of {shared} characters");
        assert_ne!(code(1), code(2));
    }

    #[test]
    fn the_words_have_no_secrets_in_them() {
        assert_eq!(dyno_shared::privacy::find_secret(&haystack(3, 20_000, Some(&code(3)))), None);
    }
}
