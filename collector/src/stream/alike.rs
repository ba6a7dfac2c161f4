//! Chunks of a stream are alike but for their text: what was read of one is not read again.
//!
//! A chunk whose bytes before and after its text are those of the chunk before says the same with another text, where
//! that text needs no unescaping. Nothing is assumed of a server: that the text stands where it seems to is proven by
//! reading the chunk once more with another text in its place.

use crate::endpoint::{Dialect, Event};

/// The key whose text may differ.
const KEY: &[u8] = b"\"content\":";
/// A text that no chunk has, to prove the place.
const PROBE: &str = "probe of dyno";
/// The longest chunk that is remembered: one of log probabilities differs in more than its text.
const LONGEST: usize = 4 << 10;
/// After so many chunks in a row that were not alike, a stream is taken for one whose chunks never are.
const MOST_MISSES: u32 = 8;

/// What the last chunk was.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Its bytes up to its text.
    before: Vec<u8>,
    /// Its bytes from the end of its text on.
    after: Vec<u8>,
    misses: u32,
}

impl Alike {
    /// The text of a chunk that says nothing but a text, as the last one did.
    pub(super) fn text<'a>(&mut self, data: &'a [u8]) -> Option<&'a str> {
        if self.before.is_empty() {
            return None;
        }
        let text = data.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())?;
        let is_plain = |&byte: &u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
        if text.is_empty() || !text.iter().all(is_plain) {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?;
        self.misses = 0;
        Some(text)
    }

    /// Takes note of a chunk that was read because it was not alike.
    pub(super) fn learn(&mut self, dialect: Dialect, data: &[u8], event: &Event) {
        if self.misses >= MOST_MISSES || event.answer.is_empty() {
            return;
        }
        self.misses += 1;
        let Some((before, after)) = around_text(data, event) else { return };
        let probe = [before, PROBE.as_bytes(), after].concat();
        let proven = Event { answer: PROBE.to_owned(), ..Event::default() };
        if dialect.event(&probe).is_ok_and(|read| read == proven) {
            self.before = before.to_vec();
            self.after = after.to_vec();
        }
    }
}

/// What stands before and after the text, where the chunk says nothing else and says it plainly.
fn around_text<'a>(data: &'a [u8], event: &Event) -> Option<(&'a [u8], &'a [u8])> {
    if data.len() > LONGEST {
        return None;
    }
    let key = memchr::memmem::find(data, KEY)? + KEY.len();
    let blanks = data.get(key..)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (before, rest) = data.split_at_checked(key + blanks + 1)?;
    let after = rest.strip_prefix(event.answer.as_bytes())?;
    (before.ends_with(b"\"") && after.starts_with(b"\"")).then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENAI: Dialect = Dialect::OpenAiChat;

    fn learned(chunk: &str) -> Alike {
        let mut alike = Alike::default();
        alike.learn(OPENAI, chunk.as_bytes(), &OPENAI.event(chunk.as_bytes()).unwrap());
        alike
    }

    fn chunk(inside: &str) -> String {
        format!(r#"{{"id":"x","choices":[{{"index":0,"delta":{{{inside}}},"finish_reason":null}}]}}"#)
    }

    #[test]
    fn a_chunk_that_differs_in_its_text_alone_gives_its_text() {
        for space in ["", " "] {
            let say = |text: &str| chunk(&format!(r#""content":{space}"{text}""#));
            let mut alike = learned(&say("a"));
            assert_eq!(alike.text(say("naïve 🦊").as_bytes()), Some("naïve 🦊"));
            for other in [r"a\n", r#"a\""#, r"\u00e9", ""] {
                assert_eq!(alike.text(say(other).as_bytes()), None, "{other}");
            }
            alike.learn(OPENAI, say(r"a\n").as_bytes(), &OPENAI.event(say(r"a\n").as_bytes()).unwrap());
            assert_eq!(alike.text(say("b").as_bytes()), Some("b"), "what was learned before stands");
            assert_eq!(alike.text(b"{\"id\":\"x\"}"), None);
            assert_eq!(alike.text(&say("a").into_bytes()[1..]), None);
        }
    }

    #[test]
    fn what_says_more_than_a_text_is_read_every_time() {
        let usage = r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":1}}"#;
        let last = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
        let both = chunk(r#""content":"a","reasoning":"b""#);
        // The text is the other one: what seems to be it is a remark of the server's.
        let elsewhere = r#"{"note":{"content":"a"},"choices":[{"delta":{"content":"a"}}]}"#;
        for chunk in [usage, last, &both, elsewhere] {
            assert_eq!(learned(chunk).text(chunk.as_bytes()), None, "{chunk}");
        }
    }

    #[test]
    fn a_stream_whose_chunks_are_never_alike_is_no_longer_learned_from() {
        let mut alike = Alike::default();
        let say = |n: u32| format!(r#"{{"created":{n},"choices":[{{"delta":{{"content":"a"}}}}]}}"#);
        let learn = |alike: &mut Alike, n| {
            alike.learn(OPENAI, say(n).as_bytes(), &OPENAI.event(say(n).as_bytes()).unwrap());
        };
        for n in 0..=MOST_MISSES {
            learn(&mut alike, n);
        }
        assert_eq!(alike.text(say(MOST_MISSES).as_bytes()), None);
        let mut alike = Alike::default();
        for n in 0..=MOST_MISSES {
            learn(&mut alike, n);
            assert_eq!(alike.text(say(n).as_bytes()), Some("a"), "one alike makes up for those before");
        }
    }
}
