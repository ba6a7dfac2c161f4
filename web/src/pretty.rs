//! A JSON text, indented. It is not parsed into numbers on the way, so that every digit stays as it was written.

/// Lists longer than this many characters are broken into lines, unless they hold numbers only.
const LINE: usize = 100;

/// The text with one member to a line; short objects and lists, and lists of plain values, stay on theirs. What is not
/// JSON comes out with all its characters, too.
pub fn indent(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json.trim();
    while let Some(c) = rest.chars().next() {
        let token = match c {
            '"' => string_length(rest),
            '{' | '[' => flat_length(rest).unwrap_or(c.len_utf8()),
            _ => c.len_utf8(),
        };
        let (text, tail) = rest.split_at(token);
        match c {
            '{' | '[' if token > 1 => out.push_str(&spaced(text)),
            '{' | '[' => {
                out.push(c);
                depth += 1;
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ if c.is_ascii_whitespace() => {}
            _ => out.push_str(text),
        }
        rest = tail;
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(40)));
}

/// Bytes of the string literal that `text` begins with; all of it where it does not end.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return i + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Bytes of the list or object that `text` begins with, if it is better left on one line: a short one, or a list of
/// plain values.
fn flat_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_list = bytes.first() == Some(&b'[');
    let (mut i, mut depth, mut plain) = (0, 0_usize, is_list);
    while i < bytes.len() && (plain || i <= LINE) {
        match bytes[i] {
            b'"' => {
                i += string_length(&text[i..]);
                plain = false;
                continue;
            }
            b'{' | b'[' => {
                plain &= depth == 0;
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (plain || i <= LINE).then_some(i + 1);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// A flat list or object with a blank after each comma and colon, as far as they are not in a string.
fn spaced(flat: &str) -> String {
    let mut out = String::with_capacity(flat.len() + 16);
    let mut rest = flat;
    while let Some(c) = rest.chars().next() {
        let length = if c == '"' { string_length(rest) } else { c.len_utf8() };
        let (text, tail) = rest.split_at(length);
        match c {
            ',' | ':' => {
                out.push(c);
                out.push(' ');
            }
            _ if c.is_ascii_whitespace() => {}
            _ => out.push_str(text),
        }
        rest = tail;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_white_space_changes() {
        let json = r#"{"a":{"text":"x: {\"y\", [1]} \\","n":1e300,"long":12345678901234567890},"b":[1,2,3],"rows":[{"s":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]}"#;
        let pretty = indent(json);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&pretty), value(json));
        assert!(pretty.contains("12345678901234567890"), "{pretty}");
        assert!(pretty.contains("\n  \"b\": [1, 2, 3],\n"), "{pretty}");
    }

    #[test]
    fn a_long_list_of_numbers_stays_on_one_line_and_short_objects_do() {
        let ticks = vec!["31000"; 500].join(",");
        let pretty = indent(&format!(
            "{{\"gaps\":{{\"tick_s\":1e-6,\"ticks\":[{ticks}]}},\"engine\":{{\"name\":\"x\"}}}}"
        ));
        assert_eq!(pretty.lines().count(), 7, "{pretty}");
        assert!(pretty.contains("\"engine\": {\"name\": \"x\"}"), "{pretty}");
    }

    #[test]
    fn what_is_not_json_keeps_its_characters() {
        for text in ["", "{\"a\":\"cut", "]]]}", "{\"é\\", "[[[[", "{\"a\":1", "plain 文字"] {
            let visible = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(visible(&indent(text)), visible(text));
        }
    }
}
