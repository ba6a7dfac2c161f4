//! What the code of the explorer is made of.

use std::collections::BTreeMap;

/// What one crate brings, with what of others was made for it alone.
#[derive(Debug, PartialEq, Eq)]
pub struct Weight {
    /// The crate.
    pub name: String,
    /// Functions of it.
    pub functions: usize,
    /// Bytes of WebAssembly, before compression.
    pub bytes: usize,
}

/// The heaviest crates first. A function that was written into its callers counts as theirs.
pub fn by_crate(bodies: &[(&str, &[u8])]) -> Vec<Weight> {
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (name, body) in bodies {
        let (functions, bytes) = crates.entry(crate_of(name)).or_default();
        *functions += 1;
        *bytes += body.len();
    }
    let weight = |(name, (functions, bytes)): (&str, _)| Weight { name: name.to_owned(), functions, bytes };
    let mut weights: Vec<Weight> = crates.into_iter().map(weight).collect();
    weights.sort_by_key(|weight| std::cmp::Reverse(weight.bytes));
    weights
}

/// `core` of `<core::iter::Map<I,F> as core::iter::Iterator>::next`.
fn crate_of(name: &str) -> &str {
    let path = name.trim_start_matches(['<', '&', '[', '(', '*']).trim_start_matches("mut ");
    let end = path.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(path.len());
    match &path[..end] {
        "" => "without a name",
        known if path[end..].starts_with([':', '[']) => known,
        _ => "others",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_counts_for_the_crate_that_its_name_begins_with() {
        let name = |name| crate_of(name).to_owned();
        assert_eq!(name("<core::iter::Map<I,F> as core::iter::Iterator>::next"), "core");
        assert_eq!(name("dyno_shared::summary::summarize::h0123456789abcdef"), "dyno_shared");
        assert_eq!(name("core[c5930c85a12de822]::fmt::write"), "core");
        assert_eq!(name("memcmp"), "others");
        let weights = by_crate(&[("a::f", b"12"), ("b::g", b"12345"), ("<a::T as b::U>::h", b"1")]);
        let weight = |name: &str, functions, bytes| Weight { name: name.to_owned(), functions, bytes };
        assert_eq!(weights, [weight("b", 1, 5), weight("a", 2, 3)]);
    }
}
