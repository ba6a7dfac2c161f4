//! `dialogue`: what the later turns of a session ask, after a first turn with a long text.

/// Questions that any text and any answer can be followed by, and whose answers run to well over 64 tokens.
const TURNS: [&str; 12] = [
    "Now tell me more about it, with details that you have not mentioned yet.",
    "Write a short scene in which two people talk about what you just said.",
    "Explain the same to a child of eight years, with a comparison from everyday life.",
    "What would somebody say who disagrees? Give their reasons one after the other.",
    "Describe how the same looked a hundred years ago, and what has changed since.",
    "Write a letter to a friend about it, warmly and with a small story of your own.",
    "Which three questions does this leave open? Discuss each of them at some length.",
    "Tell it again as a newspaper report, with a headline and a first paragraph.",
    "Describe the place where this happens: what one sees, hears and smells there.",
    "What could go wrong with it, and what would a careful person do beforehand?",
    "Sum up our conversation so far, then say what you would talk about next.",
    "Write how it goes on the day after, from morning to evening.",
];

/// What the first turn asks of the long text before it.
pub(super) const OPENING: &str =
    "Tell me in your own words what kind of world the text above describes, and who lives in it.";

/// What turn `turn` asks, from 2 on.
pub(super) fn turn(turn: u32) -> &'static str {
    TURNS[turn.saturating_sub(2) as usize % TURNS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_turns_of_a_session_ask_different_things() {
        assert_ne!(turn(2), turn(3));
        assert_eq!(turn(2), turn(2 + 12), "a long session begins anew");
    }
}
