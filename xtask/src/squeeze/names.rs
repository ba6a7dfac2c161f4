//! Short names for what JavaScript and WebAssembly call each other's by.
//!
//! wasm-bindgen names them after what they do, with a hash behind it, such as `__wbg_createElement_de4a31ed2fb252be`.
//! Every name stands in both files, and hashes do not compress.

use std::collections::BTreeMap;

/// The names that only wasm-bindgen gives, each with a short one, in the order in which they come.
pub fn shorten(names: &[String]) -> BTreeMap<String, String> {
    let mut short = BTreeMap::new();
    for name in names {
        let ours =
            ["__wb", "__externref", "wasm_bindgen__", "./"].iter().any(|start| name.starts_with(start));
        if ours && !short.contains_key(name) {
            short.insert(name.clone(), nth(short.len()));
        }
    }
    short
}

/// `a`, `b`, …, `z`, `aa`, `ab`, …
fn nth(mut n: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'a' + (n % 26) as u8);
        n /= 26;
        if n == 0 {
            break;
        }
        n -= 1;
    }
    name.reverse();
    name.into_iter().map(char::from).collect()
}

/// Puts the new names into a script, wherever an old one stands whole.
pub fn replace(script: &str, new: &BTreeMap<String, String>) -> String {
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '/' | '-');
    let mut out = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find(of_name) {
        let (before, word) = rest.split_at(at);
        let (word, after) = word.split_at(word.find(|c| !of_name(c)).unwrap_or(word.len()));
        out.push_str(before);
        out.push_str(&renamed(word, new));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A path of a module as a whole, or names with dots between them.
fn renamed(word: &str, new: &BTreeMap<String, String>) -> String {
    let one = |name: &str| new.get(name).map_or(name, String::as_str).to_owned();
    if new.contains_key(word) { one(word) } else { word.split('.').map(one).collect::<Vec<_>>().join(".") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str]) -> BTreeMap<String, String> {
        shorten(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_is_replaced_where_it_stands_whole_and_nowhere_else() {
        let new = short(&["./x_bg.js", "__wbg_set_01", "__wbg_set_01", "__wbindgen_free", "memory", "main"]);
        assert_eq!(new.len(), 3);
        assert_eq!(
            replace(
                "{\"./x_bg.js\":{__wbg_set_01:(a=>{F.__wbindgen_free(a)}),__wbg_set_012:0,x:a.memory.__wbg_set_01}}",
                &new
            ),
            "{\"a\":{b:(a=>{F.c(a)}),__wbg_set_012:0,x:a.memory.b}}"
        );
    }

    #[test]
    fn no_two_names_become_one() {
        let many: std::collections::BTreeSet<String> = (0..2000).map(nth).collect();
        assert_eq!(many.len(), 2000);
        assert_eq!([nth(0), nth(25), nth(26), nth(701), nth(702)], ["a", "z", "aa", "zz", "aaa"]);
    }
}
