//! The simulator's tokens: a fixed rule, so that every count can be foretold.
//!
//! From left to right a token is the longest of
//! 1. up to 8 letters, or up to 3 digits, or one other character, each with one space before it if there is one;
//! 2. a run of white space. When the run ends in a space and something follows, that space belongs to what follows.
//!
//! Longer words and numbers go on as further tokens without a space. English prose has about 1.4 of these
//! tokens per word. Joining the tokens of a text gives the text back.
//!
//! A chat is framed: one token opens each message (it stands for the role), one closes it, and one more opens
//! the answer. So a prompt of one message counts its content's tokens plus 3.

/// Letters of one word token at most.
const WORD: usize = 8;
/// Digits of one number token at most.
const NUMBER: usize = 3;

/// Splits `text` into its tokens.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = first_piece(rest);
        let (piece, tail) = rest.split_at_checked(length)?;
        rest = tail;
        (length > 0).then_some(piece)
    })
}

/// Bytes of the first token of `text`; 0 only for an empty text.
fn first_piece(text: &str) -> usize {
    let spaces: usize = text.chars().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum();
    let lead = if text.starts_with(' ') { usize::from(spaces == 1) } else { 0 };
    let Some(first) = text.get(spaces..).and_then(|body| body.chars().next()) else {
        return spaces;
    };
    if spaces > lead {
        let gives_one = text.get(..spaces).is_some_and(|run| run.ends_with(' '));
        return spaces - usize::from(gives_one);
    }
    let same: (fn(char) -> bool, usize) = if first.is_alphabetic() {
        (char::is_alphabetic, WORD)
    } else if first.is_ascii_digit() {
        (|c| c.is_ascii_digit(), NUMBER)
    } else {
        return lead + first.len_utf8();
    };
    let body = text.get(lead..).unwrap_or_default();
    lead + body.chars().take_while(|c| same.0(*c)).take(same.1).map(char::len_utf8).sum::<usize>()
}

/// A token's number: 32-bit FNV-1a of its bytes. Two different tokens may share one; no count depends on it.
pub fn id(piece: &str) -> u32 {
    hash32(piece.as_bytes())
}

fn hash32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Appends one framed message of a chat. The frame's numbers cannot be written in a message.
pub fn push_message(role: &str, content: &str, out: &mut Vec<u32>) {
    out.push(hash32(format!("<|{role}|>").as_bytes()));
    out.extend(pieces(content).map(id));
    out.push(hash32(b"<|end|>"));
}

/// The token that opens the answer; the same one opens an earlier answer when a chat is continued.
pub fn push_answer(out: &mut Vec<u32>) {
    out.push(hash32(b"<|assistant|>"));
}

/// 64-bit FNV-1a over token numbers: names a prompt.
pub fn fingerprint(tokens: &[u32]) -> u64 {
    tokens.iter().flat_map(|token| token.to_le_bytes()).fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        pieces(text).collect()
    }

    #[test]
    fn words_numbers_marks_and_white_space_are_split_as_documented() {
        assert_eq!(split("The cat sat."), ["The", " cat", " sat", "."]);
        assert_eq!(split("12345 and 7"), ["123", "45", " and", " 7"]);
        assert_eq!(split("internationalisation"), ["internat", "ionalisa", "tion"]);
        assert_eq!(split("1\n2\n\n3"), ["1", "\n", "2", "\n\n", "3"]);
        assert_eq!(split("if x:\n    return"), ["if", " x", ":", "\n   ", " return"]);
        assert_eq!(split("a  \n"), ["a", "  \n"]);
        assert_eq!(split(" "), [" "]);
        assert_eq!(split(""), Vec::<&str>::new());
    }

    #[test]
    fn a_chat_counts_three_tokens_of_frame_for_one_message() {
        let mut tokens = Vec::new();
        push_message("user", "Say hello.", &mut tokens);
        push_answer(&mut tokens);
        assert_eq!(tokens.len(), 3 + 3);
    }

    #[test]
    fn an_earlier_answer_opens_with_the_token_that_opened_it() {
        let (mut asked, mut continued) = (Vec::new(), Vec::new());
        push_message("user", "Hi", &mut asked);
        push_answer(&mut asked);
        push_message("user", "Hi", &mut continued);
        push_message("assistant", "Hello", &mut continued);
        assert!(continued.starts_with(&asked));
    }

    proptest! {
        #[test]
        fn the_tokens_of_any_text_join_to_the_text(text in any::<String>()) {
            prop_assert_eq!(split(&text).concat(), text);
        }

        #[test]
        fn no_token_is_empty(text in "[ \n\ta-z0-9.é한]{0,40}") {
            prop_assert!(split(&text).iter().all(|piece| !piece.is_empty()));
        }
    }
}
