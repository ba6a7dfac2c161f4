//! A comparison for a pull request.

use std::fmt::Write as _;

use dyno_shared::comparison::{Comparison, Found, Role, Side, again, letter, meanings, method, sentence};
use dyno_shared::plain::plain;

use super::table::{about, interval, is_noise, n, name, p, verdict};

/// The sentences, the ratios of what is tested, and how they were made. Names from the files are text, never markup.
pub(super) fn text(of: &Comparison, sides: &[Side<'_>]) -> String {
    let mut out = String::new();
    for (at, side) in of.sides.iter().enumerate() {
        let boots = if side.boots > 1 { format!(", {} boots", side.boots) } else { String::new() };
        // Writing to a String cannot fail.
        let about =
            sides.get(at).and_then(|side| side.boots.first()).map(|shard| about(shard)).unwrap_or_default();
        let _ = writeln!(out, "- **{}**: {}{boots}: {}", letter(at), escaped(&side.label), escaped(&about));
    }
    out.push('\n');
    for side in 1..of.sides.len() {
        let _ = writeln!(out, "{}\n", escaped(&sentence(of, side)));
        if is_noise(of, side) {
            let _ = writeln!(out, "{}\n", again(side));
        }
    }
    let differ: Vec<_> = of.facts.iter().filter(|fact| fact.differs()).collect();
    if !differ.is_empty() {
        let letters: Vec<String> = (0..of.sides.len()).map(letter).collect();
        let _ = writeln!(out, "| what differs | {} |", letters.join(" | "));
        let _ = writeln!(out, "|---|{}", "---|".repeat(of.sides.len()));
        for fact in differ {
            let value = |value: &Option<String>| value.as_deref().map_or_else(|| "–".to_owned(), escaped);
            let values: Vec<String> = fact.values.iter().map(value).collect();
            let _ = writeln!(out, "| {} {} | {} |", fact.group, escaped(&fact.name), values.join(" | "));
        }
        out.push('\n');
    }
    for side in 1..of.sides.len() {
        let _ = writeln!(
            out,
            "| workload | metric | {} / A (95 % interval) | n | p (Holm) | verdict |\n|---|---|---|---|---|---|",
            letter(side)
        );
        rows(&mut out, of, side);
        out.push('\n');
    }
    remarks(&mut out, of);
    let made: Vec<String> = method(of).into_iter().chain(meanings(of)).collect();
    if made.is_empty() {
        return out;
    }
    out.push_str("<details><summary>How this was made</summary>\n\n");
    for line in &made {
        let _ = writeln!(out, "- {}", escaped(line));
    }
    out.push_str("\n</details>\n");
    out
}

fn remarks(out: &mut String, of: &Comparison) {
    let mut said = Vec::new();
    for case in &of.cases {
        for remark in case.against.iter().flat_map(|against| &against.remarks) {
            let line = format!("- {}: {}", escaped(&case.case), escaped(remark));
            if !said.contains(&line) {
                said.push(line);
            }
        }
    }
    if !said.is_empty() {
        let _ = writeln!(out, "{}\n", said.join("\n"));
    }
}

fn rows(out: &mut String, of: &Comparison, side: usize) {
    for case in &of.cases {
        let Some(against) = case.against.iter().find(|against| against.side == side) else { continue };
        let name_of_case = escaped(&case.case);
        let absent = match against.found {
            Found::Both => None,
            Found::OnlyInFirst => Some("only in A".to_owned()),
            Found::OnlyInOther => Some(format!("only in {}", letter(side))),
            Found::InNeither => continue,
        };
        if let Some(absent) = absent {
            let _ = writeln!(out, "| {name_of_case} | – | – | – | – | {absent} |");
            continue;
        }
        for ratio in against.ratios.iter().filter(|of| matches!(of.role, Role::Headline | Role::Beside)) {
            let why = if against.reasons.is_empty() {
                String::new()
            } else {
                format!(": {}", escaped(&against.reasons.join("; ")))
            };
            let _ = writeln!(
                out,
                "| {name_of_case} | {} | {} | {} | {} | {}{why} |",
                name(ratio),
                interval(ratio),
                n(ratio),
                p(ratio),
                verdict(ratio)
            );
        }
    }
}

/// Text in which nothing is markup: every mark of Markdown's is escaped, and so is what HTML reads.
pub(in crate::command) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A name in a pull request calls nobody, and links to nothing.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_markup() {
        assert_eq!(
            escaped("<img src=x> | [a](b) @all *x* `y`\nz"),
            "&lt;img src=x&gt; \\| \\[a\\](b) &#64;all \\*x\\* \\`y\\` z"
        );
    }
}
