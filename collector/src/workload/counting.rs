//! `counting`: the one answer that is known beforehand, line by line.

/// The prompt for counting to `last`; only its run tag differs from run to run.
pub(super) fn prompt(last: u32) -> String {
    format!("List all whole numbers from 1 to {last} in order, each on a new line, like this:\n1\n2\n3\n4")
}

/// Whether `text` holds the numbers 1 to `last`, one a line. Blank lines and code fences are passed over. A count that
/// goes on rightly past the last number has no wrong line; one that is cut off while it does may end in half a number.
///
/// # Errors
/// Names the first wrong line.
pub(super) fn check(text: &str, last: u32) -> Result<(), String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("```"));
    let mut lines = lines.peekable();
    let mut expected = 1;
    while let Some(line) = lines.next() {
        let cut_off = expected > last && lines.peek().is_none() && expected.to_string().starts_with(line);
        if line.trim_end_matches(['.', ',']).parse() != Ok(expected) && !cut_off {
            return Err(format!("line {expected} is `{}`", super::check::excerpt(line)));
        }
        expected += 1;
    }
    if expected > last { Ok(()) } else { Err(format!("the count ends at {} of {last}", expected - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(to: u32) -> String {
        (1..=to).map(|n| n.to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_right_count_passes() {
        assert_eq!(check(&count(200), 200), Ok(()));
        assert_eq!(check(&format!("```\n{}\n```\n", count(20)), 20), Ok(()));
        assert_eq!(check("1.\n\n2.\n3.", 3), Ok(()));
        assert_eq!(check(&format!("{}\n21", count(213)), 200), Ok(()), "it went on, and was cut off");
    }

    #[test]
    fn the_first_wrong_line_is_named() {
        assert_eq!(check("1\n2\n4", 4), Err("line 3 is `4`".into()));
        assert_eq!(check("Sure!\n1\n2", 2), Err("line 1 is `Sure!`".into()));
        assert_eq!(check(&count(150), 200), Err("the count ends at 150 of 200".into()));
        assert_eq!(check(&format!("{}\nDone!", count(200)), 200), Err("line 201 is `Done!`".into()));
        assert_eq!(check("", 200), Err("the count ends at 0 of 200".into()));
        assert_eq!(check("1, 2, 3", 3), Err("line 1 is `1, 2, 3`".into()));
    }
}
