//! Text from outside on its way to a terminal or into a message.

/// The text without what moves a cursor, changes colours, breaks the line or turns the direction of reading: each
/// such character is a blank. What joins letters (zero-width joiners) stays, because some scripts need it.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect()
}

/// Controls, line separators, marks and overrides of direction, and characters without width.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_can_neither_paint_nor_turn_nor_break_the_line() {
        assert_eq!(plain("red \u{1b}[31mname\r\n\u{9b}2J"), "red  [31mname   2J");
        assert_eq!(plain("a\u{202e}gnirts\u{2066}\u{2028}b"), "a gnirts  b");
    }

    #[test]
    fn every_script_and_joined_pictures_stay() {
        for text in ["モデル", "कर्‍म", "می‌خواهم", "👩‍🚀", "TP=4 · é"] {
            assert_eq!(plain(text), text);
        }
    }
}
