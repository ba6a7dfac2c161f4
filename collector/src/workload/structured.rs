//! `structured`: a numbered list that is longer than the answer may be, so that it is a list to its last token.

/// Lines asked for. Sixty sentences of ten words are some 800 tokens, well over the 512 that the answer may have.
pub(super) const ITEMS: u32 = 60;

/// Lines that must be there even where the answer was cut off: a cut list of fewer shows no form.
const FEWEST: u32 = 3;

/// Lines of talk that are allowed before the list begins ("Here is the list:").
const PREAMBLE: usize = 3;

const THINGS: [&str; 24] = [
    "kinds of weather and what each one does to a garden",
    "tools of a workshop and what each one is for",
    "professions and what people in each of them do in the morning",
    "animals and what each of them eats",
    "cities of the world and what each one is known for",
    "dishes and the main thing that each is made of",
    "inventions and what each one made easier",
    "musical instruments and how each of them is played",
    "trees and where each of them grows",
    "kinds of boats and where each one sails",
    "rooms of a large house and what is kept in each",
    "sports and what players need for each",
    "plants of a kitchen garden and when each is harvested",
    "stars and planets and one fact about each",
    "vehicles and who drives each of them",
    "materials and one thing that is made of each",
    "buildings of a town and who works in each",
    "birds and how to know each of them by its song",
    "games and how many people play each of them",
    "fruits and how each of them tastes",
    "rivers and a country that each flows through",
    "things on a desk and what each is used for",
    "festivals and the season in which each is held",
    "pieces of clothing and when each is worn",
];

/// The prompt of this number, from 0; after the things are used up, they are asked for in another way.
pub(super) fn prompt(number: usize) -> String {
    let things = THINGS[number % THINGS.len()];
    let manner =
        ["", " Begin with the least known ones.", " Sort them by their names."][number / THINGS.len() % 3];
    format!(
        "Write a numbered list of {ITEMS} {things}.{manner} Each line holds its number, a full stop, a space and one \
         sentence of about ten words. Start with line 1, leave out no number, and write nothing but the list."
    )
}

/// Whether `text` is a list numbered from 1 without a gap, up to `items` or up to where the answer was cut.
///
/// What follows the last item asked for is not looked at: an engine that was told to ignore the end of sequence
/// goes on talking.
///
/// # Errors
/// Says which line is wrong and how.
pub(super) fn check(text: &str, items: u32, cut_off: bool) -> Result<(), String> {
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("```")).collect();
    let Some(start) = lines.iter().take(PREAMBLE + 1).position(|line| numbered(line).is_some()) else {
        return Err("there is no numbered list".to_owned());
    };
    let mut expected = 1;
    for (at, line) in lines.iter().enumerate().skip(start) {
        if expected > items {
            return Ok(());
        }
        let last_and_cut = cut_off && at + 1 == lines.len();
        match numbered(line) {
            Some((number, text)) if number == expected && (!text.is_empty() || last_and_cut) => expected += 1,
            // The last line may stop anywhere, even inside its number.
            _ if last_and_cut => break,
            Some((number, "")) if number == expected => return Err(format!("item {expected} is empty")),
            Some((number, _)) => return Err(format!("item {expected} is numbered {number}")),
            None => {
                return Err(format!("in place of item {expected} stands `{}`", super::check::excerpt(line)));
            }
        }
    }
    let seen = expected - 1;
    if seen >= items || (cut_off && seen >= FEWEST.min(items)) {
        Ok(())
    } else {
        Err(format!("the list ends at item {seen} of {items}"))
    }
}

/// The number and the text of `12. text`, `12) text` or `**12.** text`.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start_matches(['*', '_', ' ']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line.get(..digits)?.parse().ok()?;
    let rest = line.get(digits..)?.strip_prefix(['.', ')'])?;
    Some((number, rest.trim_start_matches(['*', '_', ' '])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: impl IntoIterator<Item = u32>) -> String {
        use std::fmt::Write as _;
        numbers.into_iter().fold(String::new(), |mut text, n| {
            writeln!(text, "{n}. A thing of its own kind.").unwrap();
            text
        })
    }

    #[test]
    fn seventy_two_prompts_differ() {
        let prompts: std::collections::BTreeSet<String> = (0..72).map(prompt).collect();
        assert_eq!(prompts.len(), 72);
    }

    #[test]
    fn a_whole_list_passes_and_what_follows_it_does_not_matter() {
        assert_eq!(check(&list(1..=60), 60, false), Ok(()));
        assert_eq!(check(&format!("{}\nAnd so on and so forth.", list(1..=60)), 60, true), Ok(()));
        assert_eq!(check(&format!("Here is the list:\n\n{}", list(1..=60)), 60, false), Ok(()));
        assert_eq!(check("**1.** One\n\n**2.** Two\n3) Three", 3, false), Ok(()));
    }

    #[test]
    fn a_list_that_was_cut_off_passes_as_far_as_it_goes() {
        for end in ["", "3", "31", "31.", "31. A th"] {
            assert_eq!(check(&(list(1..=30) + end), 60, true), Ok(()), "{end}");
        }
    }

    #[test]
    fn a_wrong_list_is_named() {
        let gap = list((1..=10).chain(12..=60));
        assert_eq!(check(&gap, 60, false), Err("item 11 is numbered 12".into()));
        assert_eq!(check(&list(1..=20), 60, false), Err("the list ends at item 20 of 60".into()));
        assert_eq!(check("1. One\nTwo", 60, false), Err("in place of item 2 stands `Two`".into()));
        assert_eq!(check("1. One\n2.\n3. Three", 3, false), Err("item 2 is empty".into()));
        assert!(check("I would rather talk about something else.", 60, true).is_err());
        assert!(check("", 60, true).is_err());
        assert!(check("1. One\n2. Two", 60, true).is_err());
    }
}
