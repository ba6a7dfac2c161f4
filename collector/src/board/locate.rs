//! The line of a JSON path.

use std::collections::BTreeSet;

use dyno_shared::json::{Input, Wrong};

/// Line and column, each from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

/// Where a byte of a text stands.
pub(super) fn spot(text: &str, at: usize) -> Spot {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    Spot { line: 1 + before.matches('\n').count(), column: 1 + line.chars().count() }
}

/// Where the value of a path such as `cases[2].runs[0].number` stands; of a member that is not there, the object
/// around it.
pub(super) fn locate(text: &str, path: &str) -> Spot {
    let mut input = Input::new(text);
    let mut at = 0;
    // It was read before as JSON, so what is wrong here is that the search is over.
    let _ = descend(&mut input, path, &mut at);
    spot(text, at)
}

fn descend(input: &mut Input<'_>, path: &str, at: &mut usize) -> Result<(), Wrong> {
    let kind = input.peek();
    *at = input.position();
    match kind {
        b'{' => input.object(&mut |name, input| match inside(path, name) {
            Some(rest) => descend(input, rest, at).and_then(|()| Err(input.wrong(&["found"]))),
            None => input.skip(),
        }),
        b'[' => {
            let index = path.strip_prefix('[').and_then(|path| path.split_once(']'));
            let Some((Ok(index), rest)) = index.map(|(index, rest)| (index.parse::<usize>(), rest)) else {
                return input.skip();
            };
            let mut next = 0;
            input.list(&mut |input| {
                next += 1;
                if next == index + 1 {
                    descend(input, rest, at).and_then(|()| Err(input.wrong(&["found"])))
                } else {
                    input.skip()
                }
            })
        }
        _ => input.skip(),
    }
}

/// Paths of members that stand twice in one object: the file is published with both, and read with one.
pub(super) fn doubled(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    // What is no JSON has been refused for that.
    let _ = look_for_doubles(&mut Input::new(text), "", &mut found);
    found
}

fn look_for_doubles(input: &mut Input<'_>, path: &str, found: &mut Vec<String>) -> Result<(), Wrong> {
    match input.peek() {
        b'{' => {
            let mut names = BTreeSet::new();
            input.object(&mut |name, input| {
                let inside = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                look_for_doubles(input, &inside, found)?;
                if !names.insert(name.to_owned()) {
                    found.push(inside);
                }
                Ok(())
            })
        }
        b'[' => {
            let mut index = 0;
            input.list(&mut |input| {
                let inside = format!("{path}[{index}]");
                index += 1;
                look_for_doubles(input, &inside, found)
            })
        }
        _ => input.skip(),
    }
}

/// What is left of a path behind a member, where it leads there. Keys may hold dots themselves.
fn inside<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let rest = path.strip_prefix(name)?;
    (!path.is_empty() && (rest.is_empty() || rest.starts_with(['.', '[']))).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_stands_twice_is_found_anywhere() {
        assert_eq!(doubled(r#"{"a":[{"b":1},{"b":1,"c":2,"b":3}],"a":0}"#), ["a[1].b", "a"]);
        assert_eq!(doubled(r#"{"a":{"a":1},"b":[1,1]}"#), [""; 0]);
    }

    #[test]
    fn a_path_leads_to_its_line_and_what_is_missing_to_what_should_hold_it() {
        let text = "{\n \"a\": [1,\n  {\"b.c\": \"é\", \"d\": 2}],\n \"e\": {}\n}";
        for (path, line, column) in [
            ("a", 2, 7),
            ("a[0]", 2, 8),
            ("a[1].b.c", 3, 11),
            ("a[1].d", 3, 21),
            ("a[1].missing", 3, 3),
            ("a[9]", 2, 7),
            ("e.f", 4, 7),
            ("", 1, 1),
            ("nowhere", 1, 1),
        ] {
            assert_eq!(locate(text, path), Spot { line, column }, "{path}");
        }
    }
}
