//! `prose`: explanations whose answers run to well over 512 tokens.

const READERS: [&str; 3] =
    ["a curious reader", "a student in their first year", "somebody who will have to teach it"];

const TOPICS: [&str; 24] = [
    "how a sailing boat can travel against the wind",
    "why the sky is blue at noon and red in the evening",
    "how bread rises, from the flour to the oven",
    "how a bicycle stays upright",
    "how the tides follow the moon and the sun",
    "why old cities have narrow streets",
    "how bees find flowers and tell each other about them",
    "how a piano makes its sound, from the key to the ear",
    "how letters travelled across Europe in the eighteenth century",
    "why some bridges hang and others stand on arches",
    "how a lighthouse was run before electricity",
    "how glass is made and why it is transparent",
    "how a river changes its valley over ten thousand years",
    "how the printing press changed the work of a scribe",
    "why languages change and how we know what they were",
    "how a refrigerator moves heat out of the cold",
    "how a forest grows back after a fire",
    "how maps of the sea were drawn before satellites",
    "why coffee tastes different from one cup to the next",
    "how a mechanical clock keeps time",
    "how birds find their way over a whole continent",
    "how a canal lock lifts a ship up a hill",
    "why metal rusts and how people have kept it from rusting",
    "how a market town lived through the four seasons",
];

/// The prompt of this number, from 0; after the topics are used up, they are told to the next reader.
pub(super) fn prompt(number: usize) -> String {
    let topic = TOPICS[number % TOPICS.len()];
    let reader = READERS[number / TOPICS.len() % READERS.len()];
    format!(
        "Explain to {reader} {topic}. Write a long essay in flowing English paragraphs, without headings or lists, \
         with examples and with a new thought in every paragraph."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventy_two_prompts_differ() {
        let prompts: std::collections::BTreeSet<String> = (0..72).map(prompt).collect();
        assert_eq!(prompts.len(), 72);
    }
}
