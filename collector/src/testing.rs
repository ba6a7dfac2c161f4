//! What several tests share.

use proptest::sample::Index;

/// The bytes in pieces, divided at these places: none is lost, and some may be empty.
pub(crate) fn pieces<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut from = 0;
    ends.into_iter().map(|to| &bytes[std::mem::replace(&mut from, to)..to]).collect()
}
